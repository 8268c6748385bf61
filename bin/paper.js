// What a checkout adds to the command: the targets of `graduate reproduce`, from the workspace paper/, which is built
// when they are first asked for. In an installed package there are none.
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

/** Options of the program's `main` and `runCommand`. */
export const paperTargets = hasPaper() ? { loadTargets } : {};
