// A process that runs one command after another and, after each, leaves the engine's call counts in a folder of its own:
// node count-calls.js FOLDER, with NODE_V8_COVERAGE set and lists of arguments as JSON on standard input. Counts begin
// anew with every command; a worker thread leaves its own when it ends.
import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { takeCoverage } from "node:v8";
import { runCommand } from "../../dist/node/cli.js";

const counts = process.env.NODE_V8_COVERAGE;
const commands = JSON.parse(readFileSync(0, "utf8"));

/** Standard output and standard error. */
const OWN = new Set(["PipeWrap"]);
/** Milliseconds in which a command's threads have ended. */
const PATIENCE = 10_000;

async function settle() {
  const started = performance.now();
  const isRunning = () => process.getActiveResourcesInfo().some((what) => !OWN.has(what));
  do await new Promise((resolve) => setImmediate(resolve));
  while (isRunning() && performance.now() - started < PATIENCE);
}

takeCoverage();
for (const [k, args] of commands.entries()) {
  await runCommand([process.argv[0], "graduate", ...args]);
  if (process.exitCode) process.exit();
  await settle();
  takeCoverage();
  const own = join(process.argv[2], String(k));
  mkdirSync(own);
  for (const file of readdirSync(counts)) renameSync(join(counts, file), join(own, file));
}
