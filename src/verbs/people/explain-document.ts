/** The document that `explain --json` prints: an explanation as plain JSON, null with a reason where it is absent. */
import { isAbsent, type Reasons } from "../../core/measured.ts";
import type { Explanation } from "./explain.ts";
import type { Breakdown, ExplainedTime } from "./explained-quantities.ts";

/** One quantity, taken apart. */
export interface BreakdownEntry {
  readonly baseline: number;
  readonly prediction: number;
  readonly contributions: readonly {
    readonly column: string;
    readonly contribution: number;
    readonly standardError: number;
  }[];
}

/** What each column contributes by one time. */
export interface TimeEntry {
  readonly time: number;
  readonly survival: number;
  readonly logHazard: BreakdownEntry | null;
  readonly risk: BreakdownEntry;
  readonly additive: boolean;
  readonly absent: Reasons;
}

/** What `explain --json` prints. */
export interface ExplainDocument {
  /** 1-based. */
  readonly row: number;
  readonly id: string | null;
  readonly columns: Explanation["columns"];
  readonly times: readonly TimeEntry[];
  /** The cause that `times` speaks of; only of a model of several. */
  readonly cause?: string;
  /** All of them, in the model's order; only of a model of several. */
  readonly causes?: readonly { readonly name: string; readonly times: readonly TimeEntry[] }[];
  readonly background: Explanation["background"];
  readonly method: Explanation["method"];
  readonly pairs: number | null;
  readonly seed: number;
  readonly warnings: readonly string[];
}

/** `id` is whose row it is; `warnings` are sentences on what is doubtful about it. */
export function explainDocument(
  explanation: Explanation,
  { id, warnings }: { readonly id: string | null; readonly warnings: readonly string[] },
): ExplainDocument {
  const { row, columns, times, byCause, background, method, pairs, seed } = explanation;
  const list = ({ baseline, prediction, contributions, standardErrors }: Breakdown): BreakdownEntry => ({
    baseline,
    prediction,
    contributions: columns.map(({ name }, c) => ({
      column: name,
      contribution: contributions[c],
      standardError: standardErrors[c],
    })),
  });
  const enter = ({ time, survival, logHazard, risk, isAdditive }: ExplainedTime): TimeEntry => ({
    time,
    survival,
    logHazard: isAbsent(logHazard) ? null : list(logHazard),
    risk: list(risk),
    additive: isAdditive,
    absent: isAbsent(logHazard) ? { logHazard: logHazard.absent } : {},
  });
  return {
    row: row + 1,
    id,
    columns,
    times: times.map(enter),
    ...(byCause && {
      cause: byCause.cause,
      causes: byCause.all.map((one) => ({ name: one.name, times: one.times.map(enter) })),
    }),
    background,
    method,
    pairs,
    seed,
    warnings,
  };
}
