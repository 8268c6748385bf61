/**
 * Kaplan-Meier curves over the distinct times, by group, with the logrank test between them and the values read off
 * them: survival at chosen times, the median, the restricted mean. It turns a table into the document that `graduate
 * km` prints; a page may call it as well.
 */

import { isAbsent, type Reasons, toPlainNumbers } from "../../core/measured.ts";
import type { PhaseProgress } from "../../core/progress.ts";
import { checkGroupColumns } from "../../data/checks/check-cells.ts";
import { type PlainFinding, toPlainFinding } from "../../data/checks/findings.ts";
import { groupByColumns } from "../../data/groups/group-by.ts";
import { joinGroupedTimes, joinIntervals } from "../../data/outcomes/intervals.ts";
import { type Outcomes, pickOutcomes, requireSingleCause } from "../../data/outcomes/outcomes.ts";
import { haveSeveralRows } from "../../data/outcomes/people.ts";
import { type HistoryColumns, isPlainOutcome, readHistory } from "../../data/outcomes/read-history.ts";
import type { Table } from "../../data/table.ts";
import { medianSurvival, restrictedMean, survivalAt } from "../../stats/curve-summary.ts";
import { jackknifeRestrictedMean } from "../../stats/jackknife.ts";
import { type IntervalScale, type KaplanMeier, kaplanMeier } from "../../stats/kaplan-meier.ts";
import { logrank } from "../../stats/logrank.ts";

/** Which curves to estimate, and what to read off them. */
export interface KmRequest extends Omit<HistoryColumns, "causes" | "censored"> {
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
  /** What should be said of the outcome beside the curves. */
  readonly findings: readonly PlainFinding[];
  /** How rows were observed, where an entry, weights or an id are named; absent for plain outcomes. */
  readonly observed?: KmObserved;
}

/** What an outcome has beyond time and event. */
export interface KmObserved {
  /** The column of entries, or of starts. */
  readonly entry: string | null;
  readonly weights: string | null;
  readonly id: { readonly column: string; readonly people: number } | null;
  /** Robust by person with weights or where people have several rows, else Greenwood's. */
  readonly variance: "greenwood" | "robust";
}

/** One curve, and the values read off it. */
export interface KmGroup
  extends Pick<
    KaplanMeier,
    | "time"
    | "atRisk"
    | "events"
    | "censored"
    | "survival"
    | "variance"
    | "lower"
    | "upper"
    | "cumulativeHazard"
    | "cumulativeHazardVariance"
  > {
  readonly name: string;
  /** People (rows, where no id is named) in the group; only beside `observed`. */
  readonly n?: number;
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
  const { outcomes: read, people, told } = readHistory(table, request);
  const by = groupByColumns(table, request.by ?? []);
  const outcomes = timefix ? joinGroupedTimes(read, by.groupOfRow) : read;
  const isRobust = read.weight !== undefined || (people !== null && haveSeveralRows(people));
  const variance = isRobust ? "robust" : "greenwood";
  const tell = (done: number) => onProgress?.("estimating", done, by.groups.length + 1);
  const curves = by.groups.map(({ name, rows }, g) => {
    tell(g);
    const own = joinIntervals(pickOutcomes(outcomes, rows));
    return {
      name,
      own,
      km: kaplanMeier(requireSingleCause(own, "Kaplan-Meier"), { interval, variance, timefix: false }),
    };
  });
  tell(curves.length);
  const until = request.rmst ?? curves.reduce((last, { km }) => Math.max(last, km.time.at(-1) ?? 0), 0);
  const isPlain = isPlainOutcome(request);
  const groups = curves.map(({ name, own, km }) => ({
    name,
    ...(isPlain ? {} : { n: new Set(own.id ?? own.time.keys()).size }),
    time: km.time,
    atRisk: km.atRisk,
    events: km.events,
    censored: km.censored,
    survival: km.survival,
    variance: km.variance,
    lower: km.lower,
    upper: km.upper,
    cumulativeHazard: km.cumulativeHazard,
    cumulativeHazardVariance: km.cumulativeHazardVariance,
    median: toPlainNumbers(medianSurvival(km)),
    rmst: readMean(km, own, until, variance),
    at: (request.at ?? []).map((time) => {
      const { atRisk, survival, standardError, lower, upper } = survivalAt(km, time);
      return { time, atRisk, ...toPlainNumbers({ survival, standardError, lower, upper }) };
    }),
  }));
  const kind = isRobust ? "robust" : "hypergeometric";
  const test =
    groups.length > 1
      ? logrank(requireSingleCause(outcomes, "the logrank test"), by.groupOfRow, groups.length, {
          timefix: false,
          variance: kind,
        })
      : null;
  tell(groups.length + 1);
  const { entry = null, start = entry, weights = null, id = "" } = request;
  return {
    groups,
    logrank: test === null || isAbsent(test) ? null : { chi2: test.chi2, df: test.df, p: test.p },
    omitted: by.omitted,
    interval,
    timeUnit,
    timefix,
    findings: [...told, ...checkGroupColumns(table, request.by ?? [])].map(toPlainFinding),
    ...(isPlain
      ? {}
      : {
          observed: { entry: start, weights, id: people && { column: id, people: people.count }, variance },
        }),
  };
}

/** The restricted mean, its error robust where the curve's is. */
function readMean(km: KaplanMeier, own: Outcomes, until: number, variance: KmObserved["variance"]) {
  const mean = restrictedMean(km, until);
  if (variance === "greenwood") return mean;
  return { ...mean, standardError: jackknifeRestrictedMean(own, km, own.weight, until) };
}
