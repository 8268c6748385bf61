/**
 * From a command's plan to the form in which it is submitted. What identifies a plan is the hash of the command, of
 * what all its runs depend on (table, request, version) and of the runs' keys: the same command finds its plan again,
 * and another table or option makes another plan, even under the same file names.
 */

import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { InputError } from "../../core/errors.ts";
import { quoteArgument } from "../../report/words/command-words.ts";
import type { Runner } from "../../verbs/runs.ts";
import { programVersion, type TableFile } from "../io/provenance.ts";
import { hashKey } from "../io/run-results.ts";
import { listTableFiles, stemOfTable } from "../io/table-files.ts";
import { warn } from "../print/output.ts";
import { programName } from "../program-name.ts";
import { openQueue } from "./open-queue.ts";
import type { PlanHead } from "./plan-heads.ts";
import { type QueuedPlan, runInQueue } from "./run-in-queue.ts";
import type { QueuedSubject } from "./run-kinds.ts";

/** Bytes of a table that may travel through Redis, which holds everything in memory. */
const MOST_SHIPPED = 64e6;

/** Digits of the id in a plan's name. */
const NAME_DIGITS = 8;

/** A plan to submit: its runs, what they share, and where the results go. */
export interface SubmittedPlan<Task, Result>
  extends Pick<QueuedPlan<Task, Result>, "keyOf" | "nameOf" | "lost"> {
  /** The address of the queue, as it was given. */
  readonly url: string;
  readonly command: string;
  /** What the plan is about, for its name: the table's file or the plan's. */
  readonly about: string;
  readonly files: PlanHead["files"];
  /** Whether the first file's bytes travel. */
  readonly ship: boolean;
  /** All runs, those that are done included. */
  readonly tasks: readonly Task[];
  readonly shared: unknown;
  /** Where results are kept. */
  readonly results: string;
  /** Prints nothing but errors. */
  readonly quiet: boolean;
}

/** A runner that submits what it is given and collects the results. */
export function runSubmitted<Task, Result>(
  asked: SubmittedPlan<Task, Result>,
  signal: AbortSignal,
): Runner<Task, Result> {
  const { url, command, about, files, ship, tasks, shared, results, quiet, ...plan } = asked;
  const keys = tasks.map(plan.keyOf);
  const id = hashKey([command, programVersion, files.map(({ sha256 }) => sha256), [...keys].sort()]);
  const tell = (sentence: string) => {
    if (!quiet) warn(sentence);
  };
  const head: Omit<PlanHead, "submitted"> = {
    queue: 1,
    id,
    name: `${about}.${command}-${id.slice(0, NAME_DIGITS)}`,
    command,
    version: programVersion,
    files: [...files],
    isShipped: ship,
    total: tasks.length,
    results: basename(results),
    said: sayCommand(process.argv.slice(2)),
  };
  return async function* (open) {
    if (open.length === 0) return;
    const table = ship ? await readShipped(files[0].path, tell) : null;
    yield* runInQueue<Task, Result>(
      { ...plan, head, keys, shared, table },
      { open: () => openQueue(url, { onTrouble: tell }), signal, tell },
    )(open);
  };
}

/** The table of a sweep or a comparison, and what its runs share. */
export function describeSubject(
  { path, sha256 }: TableFile,
  subject: QueuedSubject,
): Pick<SubmittedPlan<unknown, unknown>, "about" | "files" | "shared"> {
  return { about: stemOfTable(path), files: [{ path: resolve(path), sha256 }], shared: subject };
}

async function readShipped(path: string, tell: (sentence: string) => void): Promise<Buffer> {
  if ((await listTableFiles(path)) !== null) {
    throw new InputError("several files cannot be shipped: --ship-table takes a table in one file", {
      code: "queue.ship",
      where: path,
      hint: "give the workers a folder that holds them, and leave --ship-table out",
    });
  }
  const { size } = await stat(path);
  if (size > MOST_SHIPPED) {
    throw new InputError(
      `the table is too large to be shipped: ${sayMegabytes(size)}, and the most is ${sayMegabytes(MOST_SHIPPED)}`,
      {
        code: "queue.size",
        where: path,
        hint: "give the workers a folder that holds it, and leave --ship-table out",
      },
    );
  }
  tell(`the table itself goes into Redis (${sayMegabytes(size)}): whoever can read there can read its rows`);
  return readFile(path);
}

function sayMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e6 ? 3 : 1)} MB`;
}

/** The command as it was given, without the queue's address. */
export function sayCommand(args: readonly string[]): string {
  const kept = args.filter(
    (arg, k) => arg !== "--queue" && args[k - 1] !== "--queue" && !arg.startsWith("--queue="),
  );
  return [programName(), ...kept.map(quoteArgument)].join(" ");
}
