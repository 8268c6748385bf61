/**
 * The verdict on a model: the audit of rows it has not learnt from, and the report made of it, as `graduate train
 * --report` and `graduate audit` make them. Of several causes it is cause-verdict.ts.
 */
import {
  type AuditedRows,
  auditModel,
  type Backend,
  type Model,
  openStudy,
  type Table,
} from "graduate-survival";
import { present } from "graduate-survival/core";
import {
  describeCommand,
  describeOutcome,
  findingsFor,
  type GatherInput,
  timeLabelOf,
} from "graduate-survival/report";
import { bootstrapScores } from "graduate-survival/stats";
import type { Study } from "graduate-survival/study";
import {
  addIntervals,
  chooseJudgedRows,
  DEFAULT_DRAWS,
  REPORT_REPLICATES,
  studyOf,
} from "graduate-survival/verbs";
import { judgeOpenedCauses, judgeTrainedCauses, SEEN } from "./cause-verdict.ts";
import { PROGRAM, renderPage } from "./pages.ts";
import type { TrainedRun } from "./run.ts";

export type Say = (words: string, share: number) => void;

/** Rows times groups that are resampled 200 times in about half a minute; beyond, intervals are left to a terminal. */
const MOST_RESAMPLED = 2_000_000;

export interface Judged {
  /** With the scores of its test rows, where it was trained here. */
  readonly model: Model;
  readonly audited: AuditedRows | null;
  /** Mean chance to be without any event at the end of every bin, of the rows that were judged. */
  readonly mean: readonly number[] | null;
  readonly report: string | null;
  readonly warnings: readonly string[];
}

export interface Judging {
  readonly backend: Backend;
  readonly seed: number;
  readonly unit: string;
  readonly sha256: string | null;
  readonly command: string;
  readonly say: Say;
}

/** A model of which nothing is judged. */
export function unjudged(model: Model, ...warnings: readonly string[]): Judged {
  return { model, audited: null, mean: null, report: null, warnings };
}

/** Of a model that was just trained: scores and report of its test rows. */
export async function judgeTrained({ model, study }: TrainedRun, judging: Judging): Promise<Judged> {
  const { test: rows } = study.split;
  if (rows.length === 0) return unjudged(model, "there are no test rows");
  if (model.causes !== undefined) return judgeTrainedCauses({ model, study }, judging);
  const own = studyOf(model, study, study.split);
  const { backend, seed, say } = judging;
  const onProgress = (phase: string, done: number, total: number) => say(phase, done / total);
  const options = { seed, draws: DEFAULT_DRAWS, onProgress };
  const scored = await auditModel(own, rows, backend, { ...options, replicates: 0 });
  const kept = { ...model, metrics: scored.audit };
  const audited = await addReplicates(scored, judging);
  const report = await render(own, audited, judging, {
    title: `${study.table.name}: ${model.method} model`,
    cohort: { which: "test rows", relation: "heldOut", split: model.training.rows },
  });
  return { model: kept, audited, mean: meanOf(audited), report, warnings: [] };
}

/** Of a model from a file: rows of the table that it has not seen. */
export async function judgeOpened(
  model: Model,
  name: string,
  table: Table,
  judging: Judging,
): Promise<Judged> {
  const { backend, seed, say, sha256 } = judging;
  if (model.causes !== undefined) return judgeOpenedCauses(model, name, table, judging);
  const study = await openStudy(model, table, backend, { sha256 });
  const { rows, which, isTest, isSeen, warning } = chooseJudgedRows(study);
  const onProgress = (phase: string, done: number, total: number) => say(phase, done / total);
  const unbounded = isSeen ? SEEN : undefined;
  const scored = await auditModel(study, rows, backend, {
    ...{ seed, draws: DEFAULT_DRAWS, replicates: 0, onProgress },
    ...present({ unbounded }),
  });
  const audited = await addReplicates(scored, judging);
  const report = await render(study, audited, judging, {
    title: `${name} on ${table.name}`,
    cohort: {
      which,
      relation: isSeen ? "seen" : isTest ? "heldOut" : "newTable",
      ...(isTest ? { split: model.training.rows } : {}),
    },
  });
  const warnings = [...(warning === null ? [] : [warning]), ...study.warnings];
  return { model, audited, mean: meanOf(audited), report, warnings };
}

function meanOf({ curves: { N, T, survival } }: AuditedRows): number[] {
  const mean = new Array<number>(T).fill(0);
  for (let i = 0; i < N; i++) for (let t = 0; t < T; t++) mean[t] += survival[i * T + t] / N;
  return mean;
}

async function addReplicates(scored: AuditedRows, judging: Judging): Promise<AuditedRows> {
  const replicates = countReplicates(scored);
  if (replicates === 0) return scored;
  const { seed, say } = judging;
  return addIntervals(scored, { seed, replicates, bootstrap: resample(say) });
}

function countReplicates({ curves, groups }: AuditedRows): number {
  return curves.N * (groups.length + 1) <= MOST_RESAMPLED ? REPORT_REPLICATES : 0;
}

/** One replicate after the other, with a turn for the page's questions between them. */
export function resample(say: Say) {
  return async (...[groups, options]: Parameters<typeof bootstrapScores>) => {
    const steps = bootstrapScores(groups, options);
    let done = 0;
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value;
      say("resampling for intervals", ++done / options.replicates);
    }
  };
}

interface Titled {
  readonly title: string;
  readonly cohort: Omit<GatherInput["cohort"], "table" | "rows">;
}

async function render(
  study: Study & { readonly model: Model },
  audited: AuditedRows,
  judging: Judging,
  { title, cohort }: Titled,
): Promise<string> {
  const { model, table, columns } = study;
  const { rows, ...shown } = audited;
  const { unit, sha256, seed, command } = judging;
  return renderPage({
    title,
    ...shown,
    ...present({ timeLabel: timeLabelOf(unit === "" ? undefined : unit, columns.origin) }),
    outcome: describeOutcome(columns, study.eventRule),
    findings: findingsFor(study.findings(), model, columns.id ?? null),
    model,
    rowNumbers: rows.map((row) => row + 1),
    cohort: { table: table.name, rows: table.rows, ...cohort },
    provenance: {
      program: PROGRAM,
      command,
      files: [{ role: "table", name: table.name, ...present({ sha256: sha256 ?? undefined }) }],
      settings: { seed, draws: DEFAULT_DRAWS, replicates: countReplicates(audited) },
    },
  });
}

export function describeAudit(model: string, table: string, unit: string): string {
  const label = unit === "" ? [] : ["--time-unit", unit];
  return describeCommand(["audit", model, table, ...label, "--report", "report.html"]);
}
