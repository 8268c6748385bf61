// What a checkout adds to the command: the targets of `graduate reproduce`, and how `graduate worker` makes their runs,
// from the workspace paper/, which is built when they are first asked for. In an installed package there are none.
import { ensurePaperBuilt, hasPaper } from "./build.js";

let loaded;

/** Once a process. */
function loadTargets() {
  loaded ??= load();
  return loaded;
}

async function load() {
  ensurePaperBuilt();
  return (await import("../paper/dist/commands/reproduce.js")).addTargets;
}

async function loadRunKinds() {
  ensurePaperBuilt();
  return (await import("../paper/dist/runs/queue.js")).runKinds;
}

/** Options of the program's `main` and `runCommand`. */
export const paperTargets = hasPaper() ? { loadTargets, loadRunKinds } : {};
