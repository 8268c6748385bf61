/**
 * From a command's plan to the form in which it is submitted. What identifies a plan is the hash of the command, of
 * what all its runs depend on (table, request, version) and of the runs' keys: the same command finds its plan again,
 * and another table or option makes another plan, even under the same file names.
 */

import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { safeLine } from "../../core/text.ts";
import type { Runner } from "../../verbs/runs.ts";
import { programVersion, type TableFile } from "../io/provenance.ts";
import { hashKey } from "../io/run-results.ts";
import { listTableFiles, stemOfTable } from "../io/table-files.ts";
import { warn } from "../print/output.ts";
import { openQueue } from "./open-queue.ts";
import { MOST_SHIPPED, type PlanDraft } from "./plan-heads.ts";
import { nameTable } from "./plan-tables.ts";
import { readQueueKey } from "./queue-key.ts";
import { type QueuedPlan, runInQueue } from "./run-in-queue.ts";
import type { QueuedSubject } from "./run-kinds.ts";

/** Digits of the id in a plan's name. */
const NAME_DIGITS = 8;
/** Characters of what a plan is about in its name. */
const MOST_ABOUT = 200;

/** A plan to submit: its runs, what they share, and where the results go. */
export interface SubmittedPlan<Task, Result>
  extends Pick<QueuedPlan<Task, Result>, "keyOf" | "nameOf" | "readResult" | "lost"> {
  /** The address of the queue, as it was given. */
  readonly url: string;
  readonly command: string;
  /** What the plan is about, for its name: the table's file or the plan's. */
  readonly about: string;
  readonly files: readonly { readonly path: string; readonly sha256: string | null }[];
  /** Whether the first file's bytes travel, and where they are here. */
  readonly ship: boolean;
  readonly table?: string;
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
  const { url, command, about, files, ship, tasks, shared, results, quiet } = asked;
  const { keyOf, nameOf, readResult, lost } = asked;
  const plan = { keyOf, nameOf, readResult, ...present({ lost }) };
  const keys = tasks.map(plan.keyOf);
  const { mark } = readQueueKey();
  const known = files.map(requireHash);
  const hashes = known.map(({ sha256 }) => sha256);
  const id = hashKey([command, programVersion, hashes, [...keys].sort(), ...(mark === null ? [] : [mark])]);
  const tell = (sentence: string) => {
    if (!quiet) warn(sentence);
  };
  const head: PlanDraft = {
    id,
    name: `${safeLine(about).slice(0, MOST_ABOUT)}.${command}-${id.slice(0, NAME_DIGITS)}`,
    command,
    version: programVersion,
    files: known,
    isShipped: ship,
    total: tasks.length,
    results: basename(results),
    said: wordsOfCommand(process.argv.slice(2)),
  };
  return async function* (open) {
    if (open.length === 0) return;
    const table = ship ? await readShipped(asked.table ?? "", tell) : null;
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
): Pick<SubmittedPlan<unknown, unknown>, "about" | "files" | "table" | "shared"> {
  const files = [{ path: nameTable(path), sha256 }];
  return { about: stemOfTable(path), files, table: path, shared: subject };
}

/** A worker reads nothing that it cannot check. */
function requireHash({ path, sha256 }: { readonly path: string; readonly sha256: string | null }) {
  if (sha256 !== null) return { path, sha256 };
  throw new InputError(`--queue needs tables in files, and this is none: "${path}"`, {
    code: "queue.table",
    hint: "write it to a file first: workers check its SHA-256",
  });
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

/** The words of the command as it was given, without the queue's address. */
export function wordsOfCommand(args: readonly string[]): string[] {
  return args.filter(
    (arg, k) => arg !== "--queue" && args[k - 1] !== "--queue" && !arg.startsWith("--queue="),
  );
}
