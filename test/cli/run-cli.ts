// Runs commands as a person would. Most share one process that has the program loaded already (warm-process.js): their
// own arguments, folder, stdout, stderr and exit code are real, only the start is saved. `runFresh` gives a command a
// process of its own.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { expect } from "vitest";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const launcher = join(root, "bin", "graduate.js");

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder for each file of tests: several of them may run in one process, one after another. */
const folders = new Map<string, string>();

function scratchFolder(): string {
  const { testPath = "" } = expect.getState();
  const known = folders.get(testPath);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "graduate-cli-"));
  folders.set(testPath, folder);
  return folder;
}

/** In a process of its own; `input` is its standard input. */
export function runFresh(args: readonly string[], input = "", cwd = root): CliResult {
  const result = spawnSync(process.execPath, [launcher, ...args], {
    cwd,
    encoding: "utf8",
    input,
    maxBuffer: 2 ** 26,
  });
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}

interface WarmProcess {
  readonly port: MessagePort;
  readonly answered: Int32Array<SharedArrayBuffer>;
  readonly stdout: string;
  readonly stderr: string;
}

/** Milliseconds: a command of a test that takes longer hangs. */
const PATIENCE = 300_000;

let warm: WarmProcess | null = null;

function startWarm(): WarmProcess {
  const { port1, port2 } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const [stdout, stderr] = ["stdout", "stderr"].map((name) => writeScratch(`warm.${name}`, ""));
  const program = fileURLToPath(new URL("warm-process.js", import.meta.url));
  const workerData = { port: port2, answered, program, launcher, stdout, stderr };
  const thread = new Worker(new URL("warm-thread.js", import.meta.url), {
    workerData,
    transferList: [port2],
    execArgv: [],
  });
  thread.unref();
  port1.unref();
  return { port: port1, answered, stdout, stderr };
}

/** In the warm process; commands that read their standard input get a process of their own. */
export function runCli(args: readonly string[], input = "", cwd = root): CliResult {
  if (input !== "") return runFresh(args, input, cwd);
  warm ??= startWarm();
  const { port, answered, stdout, stderr } = warm;
  for (const file of [stdout, stderr]) truncateSync(file);
  Atomics.store(answered, 0, 0);
  port.postMessage({ args, cwd });
  if (Atomics.wait(answered, 0, 0, PATIENCE) === "timed-out") throw new Error(`hangs: ${args.join(" ")}`);
  const { message } = receiveMessageOnPort(port) ?? { message: null };
  const { code, running } = message as { readonly code: number; readonly running: readonly string[] };
  if (running.length > 0) throw new Error(`${args.join(" ")} left behind: ${running.join(", ")}`);
  return { code, stdout: readFileSync(stdout, "utf8"), stderr: readFileSync(stderr, "utf8") };
}

/** The document a command prints with --json; fails loudly when it prints anything else. */
export function runJson<T>(args: readonly string[]): T {
  const { code, stdout, stderr } = runCli([...args, "--json"]);
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** A file in a folder of its own that outlives the test only until the machine clears it. */
export function writeScratch(name: string, content: string | Uint8Array): string {
  const path = join(scratchFolder(), name);
  writeFileSync(path, content);
  return path;
}
