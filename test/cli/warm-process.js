// A process that has the program loaded and runs one command after another, each from its arguments to its exit code as
// bin/graduate.js does. Its stdout and stderr are files, which whoever asked empties before and reads after.
import { paperTargets } from "../../bin/paper.js";
import { runCommand } from "../../dist/node/cli.js";

const [node, launcher] = [process.argv[0], process.argv[2]];

/** The channel to whoever asks. */
const OWN = new Set(["PipeWrap"]);
/** Milliseconds in which files are closed and threads have ended. */
const PATIENCE = 10_000;

/** What would keep a process of its own from ending. */
async function listRunning() {
  const started = performance.now();
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    const running = process.getActiveResourcesInfo().filter((what) => !OWN.has(what));
    if (running.length === 0 || performance.now() - started > PATIENCE) return running;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

process.on("message", async ({ args, cwd }) => {
  process.chdir(cwd);
  process.argv = [node, launcher, ...args];
  process.exitCode = 0;
  await runCommand(process.argv, paperTargets);
  const code = process.exitCode;
  process.exitCode = 0;
  process.send({ code, running: await listRunning() });
});
process.on("disconnect", () => process.exit());
