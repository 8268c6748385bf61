/**
 * What a command writes: one JSON document on stdout, or text that fits the terminal; progress and errors go to stderr.
 * All text passes through here (test/layers.test.ts checks this), so control characters from tables and files reach no
 * terminal. A reader that goes away (`| head`) ends the program quietly; output that cannot be written ends it with an
 * error message.
 */
import { fstatSync, writeSync } from "node:fs";
import { createMemoryError, GraduateError, InputError, isMemoryFailure } from "../../core/errors.ts";
import type { PhaseProgress } from "../../core/progress.ts";
import { safeLine, safeText, shortenValues } from "../../core/text.ts";
import { formatTable, MAX_WIDTH, shorten, type TextColumn, wrapText } from "../../report/words/text-table.ts";
import { endBySignal } from "../io/process-end.ts";
import { explainErrno } from "../io/write-errors.ts";

/** Exit code if the input cannot be used. */
export const EXIT_INPUT = 1;
export const EXIT_BUG = 70;
/** Exit code after Ctrl-C. */
export const EXIT_INTERRUPTED = 130;

/** Narrower terminals still get lines of this width. */
const MIN_WIDTH = 40;
/** For a terminal that does not report its width, or reports 0. */
const USUAL_COLUMNS = 80;

export function terminalWidth(): number {
  return Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, process.stdout.columns ?? MAX_WIDTH));
}

/** Writes text to stdout. */
export function print(text: string): void {
  writeOut(`${safeText(text)}\n`);
}

/** Prints a paragraph that fits the terminal; its later lines are indented. */
export function printWrapped(text: string, indent = ""): void {
  print(wrapText(text, terminalWidth(), indent));
}

/** The same after an empty line. */
export function printNote(text: string, indent = ""): void {
  print("");
  printWrapped(text, indent);
}

/** Prints a table that fits the terminal. */
export function printTable(columns: readonly TextColumn[], rows: readonly (readonly string[])[]): void {
  print(formatTable(columns, rows, terminalWidth()));
}

/** Typed arrays become lists; a mathematically undefined value (NaN, infinite) becomes null. */
function toPlainJson(_key: string, value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number>);
  if (typeof value === "number" && !Number.isFinite(value)) return null;
  return value;
}

/** Characters that JSON leaves alone but a terminal would act on get JSON escapes: the document means the same. */
export function printJson(document: unknown): void {
  writeOut(`${safeText(JSON.stringify(document, toPlainJson))}\n`);
}

let stdoutIsFile: boolean | undefined;

function isStdoutFile(): boolean {
  try {
    stdoutIsFile ??= fstatSync(1).isFile();
  } catch {
    stdoutIsFile = false;
  }
  return stdoutIsFile;
}

/** Writes text that is already safe. */
export function writeOut(text: string): void {
  if (isStdoutFile()) writeFileOut(Buffer.from(text));
  else process.stdout.write(text);
}

/** Writes bytes that are not text for people, such as a table; resolves when they may be overwritten. */
export async function writeOutBytes(bytes: Uint8Array): Promise<void> {
  if (isStdoutFile()) writeFileOut(bytes);
  // A reader that went away, or a device that accepts no more, ends the program (leaveQuietly).
  else await new Promise<void>((resolve) => process.stdout.write(bytes, () => resolve()));
}

/** Node's stream to a file treats a short write, which a disk that fills up returns, as a complete one. */
function writeFileOut(bytes: Uint8Array): void {
  try {
    for (let from = 0; from < bytes.length; ) from += writeSync(1, bytes, from, bytes.length - from);
  } catch (error) {
    throw refuseStandardOutput(error);
  }
}

function refuseStandardOutput(error: unknown): InputError {
  return new InputError(`cannot write to standard output (${explainErrno(error)})`, {
    code: "stdout.unwritable",
    hint: "what was printed is not complete",
  });
}

/** One or more lines about progress. */
export function say(text: string): void {
  process.stderr.write(`${safeText(text)}\n`);
}

/** A warning that does not stop the work. */
export function warn(text: string): void {
  say(`graduate: ${wrapText(shortenValues(text), terminalWidth() - 10, "  ")}`);
}

/** Says what was found, one line each. */
export function tellFindings(findings: readonly { readonly message: string }[]): void {
  for (const { message } of findings) warn(message);
}

/** Whether a line can be overwritten, which is when stderr is a terminal. */
export function isLive(): boolean {
  return process.stderr.isTTY === true;
}

/** A line that the next one overwrites, cut to the terminal however narrow: a wrapped line could not be overwritten. */
export function showLive(line: string): void {
  const width = Math.max(1, (process.stderr.columns || USUAL_COLUMNS) - 1);
  process.stderr.write(`\r\x1b[K${shorten(safeLine(line), width)}`);
}

/** Removes the line that `showLive` showed. */
export function clearLive(): void {
  if (isLive()) process.stderr.write("\r\x1b[K");
}

/** The note for an option given by its former name. */
export function renamedNote(before: string, now: string): string {
  return `${before} is now ${now}; the old name still works here`;
}

/** Prints why the command stopped and returns the exit code: people see a sentence, bugs show their stack. */
export function explainFailure(error: unknown): number {
  const told = isMemoryFailure(error) ? createMemoryError(error) : error;
  if (told instanceof GraduateError) {
    say(describeRefusal(told));
    return EXIT_INPUT;
  }
  const text = told instanceof Error ? (told.stack ?? told.message) : String(told);
  say(`graduate: a bug, please report it with the command you ran\n${text}`);
  return EXIT_BUG;
}

function describeRefusal({ message, where, hint }: GraduateError): string {
  // Our own extra lines are indented and point at a character; any other line feed is part of a value.
  const ours = message.replace(/\n(?! {2})/g, "\\n");
  const [first, ...pointing] = ours.split("\n");
  const lines = [`graduate: ${wrapText(first, terminalWidth() - 10, "  ")}`, ...pointing];
  if (where !== undefined) lines.push(`  in ${safeLine(where)}`);
  if (hint !== undefined) lines.push(`  ${wrapText(hint, terminalWidth() - 2, "  ")}`);
  return lines.join("\n");
}

/** Ctrl-C, closed pipes and full disks end the program at once, without a stack. */
export function leaveQuietly(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    process.exit(explainFailure(refuseStandardOutput(error)));
  });
  // Nobody reads the progress any more, but the work and its result are still wanted.
  process.stderr.on("error", () => undefined);
  process.once("SIGINT", () => {
    say("\ngraduate: interrupted");
    endBySignal("SIGINT");
  });
}

/** A line about work under way. */
export interface Progress {
  /** Shows how much of it is done; nothing where the total is not known. */
  update(done: number, total: number | undefined): void;
  /** Removes the line. */
  finish(): void;
}

/** A progress line on a terminal, nothing when stderr goes to a file or a pipe. */
export function createProgress(label: string): Progress {
  const live = isLive();
  const started = performance.now();
  return {
    update(counted, total) {
      if (!live || total === undefined) return;
      const done = Math.min(counted, total);
      const share = total > 0 ? done / total : 0;
      const bar = "█".repeat(Math.round(share * 24)).padEnd(24, "░");
      const left = share > 0 ? ((performance.now() - started) / 1000) * (1 / share - 1) : Number.NaN;
      const time = Number.isNaN(left) ? "" : `, ${left < 10 ? left.toFixed(1) : Math.round(left)} s left`;
      showLive(`${label} ${bar} ${done}/${total}${time}`);
    },
    finish: clearLive,
  };
}

/** A progress line for each phase of some work, one after the other. */
export function followPhases(): PhaseProgress {
  let shown: { readonly phase: string; readonly progress: Progress } | null = null;
  return (phase, done, total) => {
    if (shown?.phase !== phase) shown = { phase, progress: createProgress(phase) };
    if (done < total) shown.progress.update(done, total);
    else shown.progress.finish();
  };
}

/** A column of names. */
export function nameColumn(title: string): TextColumn {
  return { title, flexible: true };
}

/** One column of numbers for each title. */
export function numberColumns(...titles: readonly string[]): TextColumn[] {
  return titles.map((title) => ({ title, align: "right" }));
}
