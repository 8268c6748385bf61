/**
 * What a command writes: one JSON document on stdout, or text that fits the terminal; complaints go to stderr. A reader
 * that goes away (`| head`) ends the program quietly.
 */
import { GraduateError } from "../core/errors.ts";
import { MAX_WIDTH, wrapText } from "../report/text-table.ts";

export const EXIT_INPUT = 1;
export const EXIT_BUG = 70;
export const EXIT_INTERRUPTED = 130;

/** Terminals narrower than this get lines of this width all the same. */
const MIN_WIDTH = 40;

export function terminalWidth(): number {
  return Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, process.stdout.columns ?? MAX_WIDTH));
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Typed arrays become lists; a value that is undefined in the mathematics (NaN, infinite) becomes null. */
function toPlainJson(_key: string, value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number>);
  if (typeof value === "number" && !Number.isFinite(value)) return null;
  return value;
}

export function printJson(document: unknown): void {
  process.stdout.write(`${JSON.stringify(document, toPlainJson)}\n`);
}

export function warn(text: string): void {
  process.stderr.write(`graduate: ${wrapText(text, terminalWidth() - 10, "  ")}\n`);
}

/** What is said of an option that is given by the name it had before. */
export function renamedNote(before: string, now: string): string {
  return `${before} is now ${now}; the old name still works here`;
}

/** Prints why the command stopped and returns the exit code: people see a sentence, bugs show their stack. */
export function explainFailure(error: unknown): number {
  if (error instanceof GraduateError) {
    // A message of several lines points at a character: it stays as it is.
    const message = error.message.includes("\n")
      ? error.message
      : wrapText(error.message, terminalWidth() - 10, "  ");
    const lines = [`graduate: ${message}`];
    if (error.where !== undefined) lines.push(`  in ${error.where}`);
    if (error.hint !== undefined) lines.push(`  ${wrapText(error.hint, terminalWidth() - 2, "  ")}`);
    process.stderr.write(`${lines.join("\n")}\n`);
    return EXIT_INPUT;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`graduate: a bug, please report it with the command you ran\n${text}\n`);
  return EXIT_BUG;
}

/** Ctrl-C and closed pipes end the program at once, without a stack. */
export function leaveQuietly(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  // Nobody reads the progress any more: the work and its result are wanted all the same.
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  process.once("SIGINT", () => {
    process.stderr.write("\ngraduate: interrupted\n");
    process.exit(EXIT_INTERRUPTED);
  });
}

/** A progress line on a terminal, nothing when stderr goes to a file or a pipe. */
export function createProgress(label: string): { update(done: number, total: number): void; finish(): void } {
  const live = process.stderr.isTTY === true;
  const started = performance.now();
  return {
    update(done, total) {
      if (!live) return;
      const share = total > 0 ? done / total : 0;
      const bar = "█".repeat(Math.round(share * 24)).padEnd(24, "░");
      const left = share > 0 ? ((performance.now() - started) / 1000) * (1 / share - 1) : Number.NaN;
      const time = Number.isNaN(left) ? "" : `, ${left < 10 ? left.toFixed(1) : Math.round(left)} s left`;
      process.stderr.write(`\r\x1b[K${label} ${bar} ${done}/${total}${time}`);
    },
    finish() {
      if (live) process.stderr.write("\r\x1b[K");
    },
  };
}
