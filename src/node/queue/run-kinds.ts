/**
 * From a plan in Redis to what makes its runs here. The table is read below this worker's folder, or from bytes that
 * were shipped, after its SHA-256 is found to be the plan's; then it is prepared as the command would prepare it. An
 * error here is this worker's reason to take no run of the plan: another worker may well have the right table.
 */
import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { InputError } from "../../core/errors.ts";
import { type CellWriting, pickWriting } from "../../data/reading/containers.ts";
import { readTable, tableSourceFromBytes } from "../../data/reading/read-table.ts";
import type { Table } from "../../data/table.ts";
import { toPlainStudy } from "../../study/prepare.ts";
import type { NamedSplit } from "../../verbs/comparison/method-run.ts";
import { prepare, type TrainRequest } from "../../verbs/train-request.ts";
import { hideTestRows } from "../../verbs/tune.ts";
import { tableSourceFromPath } from "../io/input-file.ts";
import { COMPARE_LINES, TUNE_LINES } from "../io/run-lines.ts";
import type { CompareShared, TuneShared } from "../workers/plan-runs.ts";
import { workerModule } from "../workers/run-pool.ts";
import type { PlanHead } from "./plan-heads.ts";
import { requirePlanFile } from "./plan-tables.ts";
import type { RunSource } from "./run-lane.ts";
import { parseSubject } from "./subject-schema.ts";

/** What a plan is opened with. */
export interface PlanAbout {
  /** The table, if it was shipped. */
  readonly bytes: Buffer | null;
  /** The folder below which tables are read. */
  readonly tables: string;
  /** How many runs go on at once. */
  readonly lanes: number;
}

/** Opens the plans of one command. */
export type OpenRuns = (head: PlanHead, shared: unknown, about: PlanAbout) => Promise<RunSource>;

/** What runs of a sweep or a comparison share, as it travels. */
export interface QueuedSubject {
  /** How the table is read. */
  readonly reading: CellWriting;
  readonly request: TrainRequest;
  /** Of a comparison. */
  readonly splits?: readonly NamedSplit[];
  readonly deterministic: boolean;
}

const PLAN_RUNS = { module: workerModule("plan-worker"), place: "thread" } as const;

/** The commands whose runs every worker can make. */
export const RUN_KINDS: Readonly<Record<string, OpenRuns>> = {
  async tune(head, shared, about) {
    const { reading, request, deterministic } = parseSubject(head, shared);
    const study = prepare(await readPlanTable(head, reading, about), request, head.files[0].sha256);
    const source: TuneShared = {
      kind: "tune",
      study: toPlainStudy(hideTestRows(study)),
      request,
      deterministic,
    };
    return { ...PLAN_RUNS, shared: source, readTask: TUNE_LINES.readTask };
  },
  async compare(head, shared, about) {
    const { reading, request, splits = [], deterministic } = parseSubject(head, shared);
    const [{ split, seed }] = splits;
    const table = await readPlanTable(head, reading, about);
    const study = prepare(table, { ...request, split, seed }, head.files[0].sha256);
    const source: CompareShared = {
      kind: "compare",
      study: toPlainStudy(study),
      request,
      splits,
      threads: Math.max(1, Math.floor(availableParallelism() / about.lanes)),
      deterministic,
    };
    return { ...PLAN_RUNS, shared: source, readTask: COMPARE_LINES.readTask };
  },
};

async function readPlanTable(
  { files: [file] }: PlanHead,
  reading: CellWriting,
  { bytes, tables }: PlanAbout,
): Promise<Table> {
  const options = pickWriting(reading);
  if (bytes === null)
    return readTable(await tableSourceFromPath(await requirePlanFile(file, tables)), options);
  if (createHash("sha256").update(bytes).digest("hex") !== file.sha256) {
    throw new InputError(`the table "${file.path}" in Redis does not have the plan's SHA-256`, {
      code: "queue.table",
      hint: "the same command with --ship-table puts it there again",
    });
  }
  return readTable(tableSourceFromBytes(basename(file.path), bytes), options);
}
