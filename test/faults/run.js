// Every write of every command is made to fail once, one after the other: opening, writing, writing half, synchronising, renaming; with
// a full disk, a disk error, no permission. After each, a file is what it was before or what it was to become, nothing lies beside
// it, and the command said one sentence and ended with exit code 1. Run by `npm run test:faults`; exits with 1 when anything did not hold.
import { fork } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { COMMANDS, makeIncidence, makeTable, makeWeighed, PLAN } from "./commands.js";
import { tryFullDevice } from "./full-device.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CODES = {
  open: ["ENOSPC", "EIO", "EACCES"],
  write: ["ENOSPC", "EIO", "SHORT"],
  fsync: ["ENOSPC", "EIO"],
  rename: ["ENOSPC", "EIO", "EACCES"],
};
const WORKERS = 2;
/** Milliseconds: a command that takes longer hangs. */
const PATIENCE = 60_000;
const OLD = "what was there before\n";

/** A process to run commands in, started with the preload. */
function startWorker(name, scratch) {
  const files = ["stdout", "stderr"].map((what) => join(scratch, `${name}.${what}`));
  for (const file of files) writeFileSync(file, "");
  const [out, err] = files.map((file) => openSync(file, "a"));
  const child = fork(fileURLToPath(new URL("worker.js", import.meta.url)), [], {
    cwd: ROOT,
    execArgv: ["--import", new URL("preload.js", import.meta.url).href],
    stdio: ["ignore", out, err, "ipc"],
  });
  for (const file of [out, err]) closeSync(file);
  return {
    async run(args, folder, fault) {
      for (const file of files) truncateSync(file);
      const answer = await new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`hangs: ${args.join(" ")}`)), PATIENCE);
        const settle = (what) => (value) => {
          clearTimeout(timer);
          child.removeAllListeners();
          what(value);
        };
        child.once("message", settle(resolve));
        child.once(
          "exit",
          settle(() => reject(new Error(`the process ended: ${args.join(" ")}`))),
        );
        child.send({ args, folder, fault });
      });
      const [stdout, stderr] = files.map((file) => readFileSync(file, "utf8"));
      return { ...answer, stdout, stderr };
    },
    end: () => child.disconnect(),
  };
}

/** A folder with what a command reads, and its arguments with the paths in it. */
function prepare(command, scratch) {
  const folder = join(scratch, `${command.name.replaceAll(" ", "-")}/`);
  mkdirSync(folder);
  for (const name of [
    "table.csv",
    "others.csv",
    "weighed.csv",
    "incidence.csv",
    "plan.json",
    "given.model",
  ]) {
    if (existsSync(join(scratch, name))) copyFileSync(join(scratch, name), join(folder, name));
  }
  const args = command.args.map((arg) => arg.replaceAll(/\{(.*?)\}/g, (_, name) => folder + name));
  return { folder, args, inputs: readdirSync(folder) };
}

function setBack({ folder, inputs }, { outputs }, before) {
  for (const name of readdirSync(folder)) if (!inputs.includes(name)) rmSync(join(folder, name));
  if (before === "old") for (const name of outputs) writeFileSync(join(folder, name), OLD);
}

const readIfThere = (path) => (existsSync(path) ? readFileSync(path, "latin1") : null);

/** Lines without the seconds that they took. */
function readLines(path) {
  const text = readIfThere(path);
  if (text === null) return [];
  if (!text.endsWith("\n") && text !== "") return null;
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.stringify(JSON.parse(line), (key, value) => (key === "seconds" ? 0 : value)));
}

const isBeginning = (lines, whole) => lines?.every((line, k) => line === whole[k]) === true;

/** What did not hold, in sentences. */
function complain(command, place, result, whole, before) {
  const { folder, inputs } = place;
  const complaints = [];
  if (!result.failed) complaints.push("the operation was not reached");
  if (result.code !== 1) complaints.push(`exit code ${result.code}`);
  const sentences = result.stderr.split("\n").filter((line) => line.startsWith("graduate: cannot "));
  if (sentences.length !== 1)
    complaints.push(`${sentences.length} sentences: ${result.stderr.slice(0, 300)}`);
  if (/^\s+at |a bug/m.test(result.stderr)) complaints.push(`a stack: ${result.stderr.slice(0, 300)}`);
  for (const name of command.outputs) {
    const now = readIfThere(join(folder, name));
    if (now !== before && now !== whole.files.get(name))
      complaints.push(`${name} is neither the old nor the new one`);
  }
  for (const name of command.lines) {
    if (!isBeginning(readLines(join(folder, name)), whole.lines.get(name)))
      complaints.push(`${name} is no beginning of what it was to become`);
  }
  const known = [...inputs, ...command.outputs, ...command.lines, ...command.mayLeave];
  const others = readdirSync(folder).filter((name) => !known.includes(name));
  if (others.length > 0) complaints.push(`left behind: ${others.join(", ")}`);
  return complaints;
}

/** Returns how many faults there were and what did not hold. */
async function tryCommand(worker, command, scratch) {
  const place = prepare(command, scratch);
  const { folder, args } = place;
  const first = await worker.run(args, folder, null);
  if (first.code !== 0)
    return { faults: 0, complaints: [`${command.name}: it fails by itself: ${first.stderr}`] };
  const whole = {
    files: new Map(command.outputs.map((name) => [name, readIfThere(join(folder, name))])),
    lines: new Map(command.lines.map((name) => [name, readLines(join(folder, name))])),
  };
  const complaints = [];
  let faults = 0;
  const lastOut = first.seen.findLastIndex(({ path }) => path.includes("standard output"));
  for (const [at, { kind, path }] of first.seen.entries()) {
    // Of the lines that are printed, the first and the last.
    const isPrinted = path.includes("standard output");
    if (isPrinted && at !== lastOut && first.seen.findIndex((one) => one.path === path) !== at) continue;
    for (const [k, code] of CODES[kind].entries()) {
      const before = k % 2 === 0 ? "old" : "nothing";
      setBack(place, command, before);
      const result = await worker.run(args, folder, { at, code });
      const found = complain(command, place, result, whole, before === "old" ? OLD : null);
      complaints.push(...found.map((what) => `${command.name}, ${code} at ${kind} of ${path}: ${what}`));
      faults++;
    }
  }
  // As the last fault left it: the same command makes it whole.
  const again = await worker.run(args, folder, null);
  const isWhole =
    again.code === 0 &&
    command.outputs.every((name) => readIfThere(join(folder, name)) === whole.files.get(name)) &&
    command.lines.every((name) => {
      const lines = readLines(join(folder, name));
      return isBeginning(lines, whole.lines.get(name)) && lines.length === whole.lines.get(name).length;
    });
  if (!isWhole) complaints.push(`${command.name}: afterwards it is not made whole: ${again.stderr}`);
  return { faults, complaints };
}

const scratch = mkdtempSync(join(tmpdir(), "graduate-faults-"));
const started = performance.now();
const workers = Array.from({ length: WORKERS }, (_, k) => startWorker(`worker${k}`, scratch));
const complaints = [];
let faults = 0;
let printed = 0;
try {
  writeFileSync(join(scratch, "table.csv"), makeTable(90));
  writeFileSync(join(scratch, "others.csv"), makeTable(241));
  writeFileSync(join(scratch, "weighed.csv"), makeWeighed(241));
  writeFileSync(join(scratch, "incidence.csv"), makeIncidence(241));
  writeFileSync(join(scratch, "plan.json"), JSON.stringify(PLAN));
  const { args, folder } = prepare({ ...COMMANDS[0], name: "given" }, scratch);
  const made = await workers[0].run(args, folder, null);
  if (made.code !== 0) throw new Error(`no model to begin with: ${made.stderr}`);
  copyFileSync(join(folder, "new.model"), join(scratch, "given.model"));
  const left = [...COMMANDS];
  await Promise.all(
    workers.map(async (worker) => {
      for (let command = left.shift(); command !== undefined; command = left.shift()) {
        const result = await tryCommand(worker, command, scratch);
        faults += result.faults;
        complaints.push(...result.complaints);
        const said = result.complaints.length === 0 ? "held" : `${result.complaints.length} did not hold`;
        process.stdout.write(`${command.name}: ${result.faults} faults, ${said}\n`);
      }
    }),
  );
  const full = await tryFullDevice(join(ROOT, "bin/graduate.js"), scratch);
  printed = full.commands;
  complaints.push(...full.complaints);
} finally {
  for (const worker of workers) worker.end();
  rmSync(scratch, { recursive: true, force: true });
}
const seconds = ((performance.now() - started) / 1000).toFixed(0);
for (const complaint of complaints) process.stdout.write(`  ${complaint}\n`);
process.stdout.write(
  complaints.length === 0
    ? `${faults} writes of ${COMMANDS.length} commands were made to fail, one at a time: each left the old file or the new one, ` +
        `one sentence and exit code 1; and so did ${printed} commands printing to a full device (${seconds} s)\n`
    : `${complaints.length} complaints after ${faults} writes that were made to fail (${seconds} s)\n`,
);
process.exitCode = complaints.length === 0 ? 0 : 1;
