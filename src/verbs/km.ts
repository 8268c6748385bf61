/**
 * Kaplan-Meier curves over the distinct times, by group, with the logrank test between them and the values read off
 * them: survival at chosen times, the median, the restricted mean. It turns a table into the document that `graduate
 * km` prints; a page may call it as well.
 */

import { joinTimes } from "../core/ascending.ts";
import { isAbsent, type Reasons, toPlainNumbers } from "../core/measured.ts";
import type { PhaseProgress } from "../core/progress.ts";
import { groupByColumns } from "../data/groups/group-by.ts";
import { pickOutcomes } from "../data/outcomes/outcomes.ts";
import { type OutcomeColumns, readOutcomes } from "../data/outcomes/read-outcomes.ts";
import type { Table } from "../data/table.ts";
import {
  type IntervalScale,
  type KaplanMeier,
  kaplanMeier,
  medianSurvival,
  restrictedMean,
  survivalAt,
} from "../stats/kaplan-meier.ts";
import { logrank } from "../stats/logrank.ts";

/** Which curves to estimate, and what to read off them. */
export interface KmRequest extends OutcomeColumns {
  /** One curve for each value of these columns. */
  readonly by?: readonly string[];
  /** The scale on which the limits are symmetric; "log" unless given. */
  readonly interval?: IntervalScale;
  /** Times at which to report survival. */
  readonly at?: readonly number[];
  /** The end of the restricted mean; the last time of all groups unless given. */
  readonly rmst?: number;
  /** The unit of the times, for axis and table. */
  readonly timeUnit?: string;
  /** Whether times that differ only by rounding are tied, by R's rule; true unless given. */
  readonly timefix?: boolean;
}

/** What `graduate km --json` prints (schemas/km.schema.json) and its text is made from. */
export interface KmDocument {
  readonly groups: readonly KmGroup[];
  readonly logrank: { readonly chi2: number; readonly df: number; readonly p: number } | null;
  /** Rows left out because a --by column is missing there. */
  readonly omitted: number;
  /** The scale of all limits; R's conf.type. */
  readonly interval: IntervalScale;
  readonly timeUnit: string | null;
  readonly timefix: boolean;
}

/** One curve, and the values read off it. */
export interface KmGroup
  extends Pick<
    KaplanMeier,
    "time" | "atRisk" | "events" | "censored" | "survival" | "variance" | "lower" | "upper"
  > {
  readonly name: string;
  readonly median: {
    readonly estimate: number | null;
    readonly lower: number | null;
    readonly upper: number | null;
    readonly absent: Reasons;
  };
  readonly rmst: { readonly until: number; readonly estimate: number; readonly standardError: number };
  /** At the times asked for. */
  readonly at: readonly {
    readonly time: number;
    readonly atRisk: number;
    readonly survival: number | null;
    readonly standardError: number | null;
    readonly lower: number | null;
    readonly upper: number | null;
    readonly absent: Reasons;
  }[];
}

/** Told how many of the curves are there; the test is one more. */
export type KmProgress = PhaseProgress<"estimating">;

/** Estimates the curves, reads off the values and tests. */
export function kmDocument(table: Table, request: KmRequest, onProgress?: KmProgress): KmDocument {
  const { interval = "log", timefix = true, timeUnit = null } = request;
  const read = readOutcomes(table, request);
  const by = groupByColumns(table, request.by ?? []);
  const outcomes = timefix ? { ...read, time: joinGrouped(read.time, by.groupOfRow) } : read;
  const tell = (done: number) => onProgress?.("estimating", done, by.groups.length + 1);
  const curves = by.groups.map(({ name, rows }, g) => {
    tell(g);
    return { name, km: kaplanMeier(pickOutcomes(outcomes, rows), { interval, timefix: false }) };
  });
  tell(curves.length);
  const until = request.rmst ?? curves.reduce((last, { km }) => Math.max(last, km.time.at(-1) ?? 0), 0);
  const groups = curves.map(({ name, km }) => ({
    name,
    time: km.time,
    atRisk: km.atRisk,
    events: km.events,
    censored: km.censored,
    survival: km.survival,
    variance: km.variance,
    lower: km.lower,
    upper: km.upper,
    median: toPlainNumbers(medianSurvival(km)),
    rmst: restrictedMean(km, until),
    at: (request.at ?? []).map((time) => {
      const { atRisk, survival, standardError, lower, upper } = survivalAt(km, time);
      return { time, atRisk, ...toPlainNumbers({ survival, standardError, lower, upper }) };
    }),
  }));
  const test = groups.length > 1 ? logrank(outcomes, by.groupOfRow, groups.length, { timefix: false }) : null;
  tell(groups.length + 1);
  return {
    groups,
    logrank: test === null || isAbsent(test) ? null : { chi2: test.chi2, df: test.df, p: test.p },
    omitted: by.omitted,
    interval,
    timeUnit,
    timefix,
  };
}

/**
 * Joins tied times over the rows of all groups together, as R does: which times are tied must not depend on the group.
 */
function joinGrouped(time: Float64Array, groupOfRow: Int32Array): Float64Array {
  const joined = joinTimes(time.filter((_, row) => groupOfRow[row] >= 0));
  let next = 0;
  return time.map((own, row) => (groupOfRow[row] >= 0 ? joined[next++] : own));
}
