/** How an audit by cause is told, of curves of any program and of models: report, requirements, terminal or JSON. */

import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { toPlainFinding } from "../../data/checks/findings.ts";
import { haveSeveralRows } from "../../data/outcomes/people.ts";
import { findBin, type TimeGrid } from "../../data/outcomes/time-grid.ts";
import { timeLabelOf } from "../../report/data/describe-model.ts";
import type { AuditedRelation } from "../../report/data/report-data.ts";
import type { CauseAuditOptions, CauseAuditTable } from "../../verbs/causes/audit-causes.ts";
import { judgeCauseRequirements } from "../../verbs/causes/cause-requirements.ts";
import type { CauseOptions, CausePredictions } from "../io/read-cause-predictions.ts";
import { printCauseAudit } from "./audit-causes.ts";
import { followPhases, print, printJson, warn } from "./output.ts";
import {
  printRequirements,
  type ReportOptions,
  type RequireOptions,
  readRequirements,
  settleRequirements,
  toleranceOf,
  writeCauseReport,
} from "./write-report.ts";

/** Options by which an audit by cause is told. */
export type ToldOptions = ReportOptions &
  RequireOptions & { readonly origin?: string; readonly json?: boolean };

/** What the options ask of an audit by cause. */
export function causeSettings(
  { seed, draws, at }: Pick<ReportOptions, "seed" | "draws"> & Pick<CauseOptions, "at">,
  grid: TimeGrid,
): CauseAuditOptions {
  const bins = at?.map((time) => binOfScore(grid, time));
  return { seed, draws, onProgress: followPhases(), ...present({ bins }) };
}

/** What was audited by cause, as it is told. */
export interface ToldCauses
  extends Pick<
    CausePredictions,
    "title" | "table" | "curves" | "grid" | "groups" | "people" | "findings" | "notes" | "files"
  > {
  readonly audit: CauseAuditTable;
  readonly outcome: { readonly event: string; readonly time: string };
  /** "test rows", "rows of the table". */
  readonly which: string;
  /** What a model has to do with these people. */
  readonly relation?: AuditedRelation;
  /** Whether the model learnt from start–stop rows. */
  readonly staysAsItIs?: boolean;
}

/** Writes the report, where one is asked for. */
export async function writeCausePage(told: ToldCauses, options: ToldOptions): Promise<void> {
  if (options.report === undefined) return;
  const { people } = told;
  const input = {
    ...told,
    timeLabel: timeLabelOf(options.timeUnit, options.origin),
    tolerance: toleranceOf(options),
    showSmallCells: options.smallCells === "show",
    table: told.table.name,
    people: people !== null && haveSeveralRows(people) ? people.count : null,
  };
  await writeCauseReport(options.report, input, options);
}

/** Writes the report, judges the requirements and prints: for curves of any program and for models. */
export async function tellCauseAudit(told: ToldCauses, options: ToldOptions): Promise<void> {
  const { audit: table, curves, grid, which } = told;
  const requirements = readRequirements(options);
  const found = told.findings.map(({ message }) => message);
  const warnings = [...found, ...told.notes, ...sayUnjudged(table.unjudged, curves.N)];
  for (const warning of warnings) warn(warning);
  await writeCausePage(told, options);
  const results = settleRequirements(judgeCauseRequirements(requirements, table, options), options);
  if (options.json) {
    printJson({
      ...table,
      edges: Array.from(grid.edges),
      tolerance: toleranceOf(options),
      rows: { which, judged: curves.N - table.unjudged },
      findings: told.findings.map(toPlainFinding),
      warnings,
      ...(requirements.length === 0 ? {} : { requirements: results }),
      ...(options.report === undefined ? {} : { report: options.report }),
    });
    return;
  }
  printCauseAudit(table, grid, toleranceOf(options), timeLabelOf(options.timeUnit, options.origin));
  printRequirements(results);
  if (options.report !== undefined) print(`\nreport written to ${options.report}`);
}

/** The bin at whose end a score is given. */
function binOfScore(grid: TimeGrid, time: number): number {
  const horizon = grid.edges[grid.T];
  if (time > 0 && time <= horizon) return findBin(grid, time);
  throw new InputError(`time of a score is not after 0 and up to ${horizon}: ${time}`, {
    code: "time.range",
    where: "--at",
    hint: "the curves end there",
  });
}

function sayUnjudged(unjudged: number, N: number): string[] {
  if (unjudged === 0) return [];
  return [
    `${unjudged} of ${N} rows enter and leave within one time bin: they are at risk in none and not judged`,
  ];
}
