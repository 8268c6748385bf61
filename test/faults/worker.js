// A process that has the program loaded, and preload.js before it: runs one command after the other, with one
// operation failing, and says how it ended. Its stdout and stderr are files, which whoever asked empties before and
// reads after.
import { paperTargets } from "../../bin/paper.js";
import { runCommand } from "../../dist/node/cli.js";

process.on("message", async ({ args, folder, fault }) => {
  process.argv = [process.argv[0], "graduate", ...args];
  process.exitCode = 0;
  globalThis.faults.begin(folder, fault);
  await runCommand(process.argv, paperTargets);
  const { seen, failed } = globalThis.faults.end();
  const code = process.exitCode;
  process.exitCode = 0;
  process.send({ code, seen, failed });
});
process.on("disconnect", () => process.exit());
