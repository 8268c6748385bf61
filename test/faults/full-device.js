// Every command with its standard output on a device that is full: one sentence and exit code 1.
import { spawn } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { join } from "node:path";

const OUTCOME = "--time time --event event";
const SMALL = `${OUTCOME} --bins 6 --hidden 2`;

const LINES = [
  "--help",
  "train --help",
  "--version",
  `describe {table.csv} ${OUTCOME}`,
  `km {table.csv} ${OUTCOME}`,
  `km {table.csv} ${OUTCOME} --json`,
  `cox {table.csv} ${OUTCOME}`,
  `train {table.csv} ${SMALL} --steps 1 --draws 0`,
  `train {table.csv} ${SMALL} --steps 1 --draws 0 --json`,
  "predict {given.model} {table.csv}",
  "audit {given.model} {table.csv} --draws 0",
  "discover {given.model} {others.csv}",
  "boost {given.model} {others.csv}",
  `compare {table.csv} ${OUTCOME} --bins 6 --methods cox,nll --steps 1 --replicates 100`,
  `tune {table.csv} ${SMALL} --steps 1 --sweep rate=0.01 --results {full.jsonl}`,
  "summary {given.model}",
  "explain {given.model} {table.csv} --row 2",
  "export {given.model} --onnx {full.onnx}",
  "reproduce goals",
  "reproduce claims",
];

/** Returns how many commands there were and what did not hold; nothing of either where there is no such device. */
export async function tryFullDevice(launcher, scratch) {
  if (!existsSync("/dev/full")) return { commands: 0, complaints: [] };
  const complaints = [];
  const left = [...LINES];
  const work = async () => {
    for (let line = left.shift(); line !== undefined; line = left.shift()) {
      const args = line.split(" ").map((arg) => arg.replace(/^\{(.*)\}$/, (_, name) => join(scratch, name)));
      const { code, stderr } = await run(launcher, args);
      const sentences = stderr.split("\n").filter((text) => text.startsWith("graduate: cannot write to "));
      const isCalm = code === 1 && sentences.length === 1 && !/^\s+at |a bug/m.test(stderr);
      if (!isCalm) complaints.push(`${line} > /dev/full: exit code ${code}, ${stderr.slice(0, 400)}`);
    }
  };
  await Promise.all([work(), work()]);
  return { commands: LINES.length, complaints };
}

function run(launcher, args) {
  const child = spawn(process.execPath, [launcher, ...args], {
    stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (part) => {
    stderr += part;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stderr })));
}
