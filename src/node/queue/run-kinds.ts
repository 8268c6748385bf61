/**
 * From a plan in Redis to what makes its runs here. The table is read by its path, or from bytes that were shipped,
 * after its SHA-256 is found to be the plan's; then it is prepared as the command would prepare it. An error here is
 * this worker's reason to take no run of the plan: another worker may well have the right table.
 */
import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { z } from "zod";
import { FormatError, InputError } from "../../core/errors.ts";
import { type CellWriting, pickWriting } from "../../data/reading/containers.ts";
import { readTable, type TableSource, tableSourceFromBytes } from "../../data/reading/read-table.ts";
import type { Table } from "../../data/table.ts";
import { toPlainStudy } from "../../study/prepare.ts";
import type { NamedSplit } from "../../verbs/comparison/method-run.ts";
import { prepare, type TrainRequest } from "../../verbs/train-request.ts";
import { hideTestRows } from "../../verbs/tune.ts";
import { tableSourceFromPath } from "../io/input-file.ts";
import { hashFile } from "../io/provenance.ts";
import type { CompareShared, TuneShared } from "../workers/plan-runs.ts";
import { workerModule } from "../workers/run-pool.ts";
import type { PlanHead } from "./plan-heads.ts";
import type { RunSource } from "./run-lane.ts";

/** Opens the plans of one command. `bytes` is the table, if it was shipped; `lanes` is how many runs go on at once. */
export type OpenRuns = (
  head: PlanHead,
  shared: unknown,
  about: { readonly bytes: Buffer | null; readonly lanes: number },
) => Promise<RunSource>;

/** What runs of a sweep or a comparison share, as it travels. */
export interface QueuedSubject {
  /** How the table is read. */
  readonly reading: CellWriting;
  readonly request: TrainRequest;
  /** Of a comparison. */
  readonly splits?: readonly NamedSplit[];
  readonly deterministic: boolean;
}

const names = z.array(z.string()).exactOptional();
const subjectSchema = z.strictObject({
  reading: z.strictObject({
    category: names,
    number: names,
    decimal: z.enum(["point", "comma"]).exactOptional(),
    thousands: z.enum(["point", "comma", "space", "none"]).exactOptional(),
    dateOrder: z.enum(["month-first", "day-first"]).exactOptional(),
    ids: names,
    asWritten: names,
  }),
  request: z.looseObject({ time: z.string(), event: z.string() }),
  splits: z
    .array(z.strictObject({ name: z.string(), seed: z.int(), split: z.looseObject({}) }))
    .exactOptional(),
  deterministic: z.boolean(),
});

/** The commands whose runs every worker can make. */
export const RUN_KINDS: Readonly<Record<string, OpenRuns>> = {
  async tune(head, shared, { bytes }) {
    const { reading, request, deterministic } = parseSubject(head, shared);
    const study = prepare(await readPlanTable(head, reading, bytes), request, head.files[0].sha256);
    const source: TuneShared = {
      kind: "tune",
      study: toPlainStudy(hideTestRows(study)),
      request,
      deterministic,
    };
    return { module: workerModule("plan-worker"), shared: source, place: "thread" };
  },
  async compare(head, shared, { bytes, lanes }) {
    const { reading, request, splits = [], deterministic } = parseSubject(head, shared);
    const [first] = splits;
    if (first === undefined) throw refuseShared(head);
    const { split, seed } = first;
    const table = await readPlanTable(head, reading, bytes);
    const study = prepare(table, { ...request, split, seed }, head.files[0].sha256);
    const source: CompareShared = {
      kind: "compare",
      study: toPlainStudy(study),
      request,
      splits,
      threads: Math.max(1, Math.floor(availableParallelism() / lanes)),
      deterministic,
    };
    return { module: workerModule("plan-worker"), shared: source, place: "thread" };
  },
};

function parseSubject(head: PlanHead, shared: unknown): QueuedSubject {
  const parsed = subjectSchema.safeParse(shared);
  if (!parsed.success || head.files.length !== 1) throw refuseShared(head);
  return parsed.data as unknown as QueuedSubject;
}

function refuseShared({ name }: PlanHead): FormatError {
  return new FormatError(`what the runs of ${name} share is not what this program writes`, {
    code: "queue.damaged",
  });
}

async function readPlanTable(
  { files: [file] }: PlanHead,
  reading: CellWriting,
  bytes: Buffer | null,
): Promise<Table> {
  const source = await openSource(file, bytes);
  return readTable(source, pickWriting(reading));
}

async function openSource(
  { path, sha256 }: PlanHead["files"][number],
  bytes: Buffer | null,
): Promise<TableSource> {
  if (bytes === null) {
    await requireSameFile(path, path, sha256);
    return tableSourceFromPath(path);
  }
  if (createHash("sha256").update(bytes).digest("hex") !== sha256) throw refuseOther(path);
  return tableSourceFromBytes(path.replace(/^.*[\\/]/, ""), bytes);
}

/** Refuses a file that is not the one the plan was made with; `named` is what the plan calls it. */
export async function requireSameFile(path: string, named: string, sha256: string | null): Promise<void> {
  const found = await hashFile(path).catch(() => undefined);
  if (found === undefined) {
    throw new InputError(`no such table here: "${named}"`, {
      code: "queue.table",
      hint: "give this machine the folder that holds it, or submit with --ship-table",
    });
  }
  if (found !== sha256) throw refuseOther(named);
}

function refuseOther(path: string): InputError {
  return new InputError(`another table: "${path}" does not have the SHA-256 that the plan was made with`, {
    code: "queue.table",
    hint: "copy the submitter's table here, or submit again with this one",
  });
}
