/**
 * The columns of the score tables: what a reader needs in the first table, everything else in the second. A column has
 * its value, its format, what stands below it, and the path under which the audit says why there is no value. A count
 * that must not be printed, and anything it could be computed from, has no value.
 */
import { namesOf } from "../../core/names.ts";
import type { Interval } from "../../stats/scores/bootstrap.ts";
import { METRICS, type MetricName, metricOf } from "../../stats/scores/metrics.ts";
import type { ReportGroup } from "../data/report-data.ts";
import type { Cells } from "../data/small-cells.ts";
import { ratioOf, rootGapOf } from "../words/report-words.ts";
import { formatNumber, formatP, formatRange } from "../words/text-table.ts";

export interface ScoreColumn {
  readonly key: string;
  readonly title: string;
  readonly small?: string;
  readonly value: (group: ReportGroup) => number | null;
  /** Four digits by default. */
  readonly format?: (value: number, group: ReportGroup) => string;
  /** A second line: interval, bound, or what to compare with. */
  readonly below?: (group: ReportGroup) => string | null;
  /** The path under which the audit says why there is no value; the key by default. */
  readonly path?: string;
  /** The order in which it is sorted first; descending by default. */
  readonly first?: "ascending" | "descending";
}

/** A metric's column, following its definition, with the worst group first. */
function columnOf(name: MetricName, more: Pick<ScoreColumn, "small" | "below"> = {}): ScoreColumn {
  const { column, better } = metricOf(name);
  const { title, digits: count } = column ?? { title: name, digits: 4 };
  return {
    key: name,
    title,
    ...more,
    value: ({ scores }) => scores[name],
    format: digits(count),
    first: better === "higher" ? "ascending" : "descending",
  };
}

const digits = (count: number) => (value: number) => formatNumber(value, count);

function between(interval: Interval | undefined, count: number): string | null {
  return interval?.lower == null ? null : formatRange(interval.lower, interval.upper, count);
}

/** What a reader needs. */
export function mainColumns(cells: Cells, unit: "person" | "row"): readonly ScoreColumn[] {
  return [
    {
      key: "n",
      title: unit === "row" ? "Rows" : "People",
      value: ({ scores }) => cells.value(scores.n),
      format: (_, { scores }) => cells.text(scores.n),
    },
    {
      key: "events",
      title: "Events",
      value: ({ scores }) => cells.value(scores.events, scores.n),
      format: (_, { scores }) => cells.text(scores.events, scores.n),
    },
    columnOf("concordance", {
      small: "interval",
      below: ({ scores }) => between(scores.intervals?.concordance, 3),
    }),
    columnOf("ece", {
      small: "95 % of chance",
      below: ({ scores }) =>
        scores.noiseFloor === null ? null : `≤ ${formatNumber(scores.noiseFloor.eceCritical)}`,
    }),
    {
      key: "rootGap",
      title: "R.m.s. gap",
      value: ({ scores }) => rootGapOf(scores),
      path: "distanceL2",
    },
    {
      key: "bound",
      title: "Could be up to",
      value: ({ verdict }) => verdict.bound,
    },
    {
      key: "ratio",
      title: "Events, ratio",
      small: "obs ÷ pred",
      value: ({ scores }) => (cells.shows(scores.events, scores.n) ? ratioOf(scores).ratio : null),
      format: (value) => value.toFixed(2),
      below: ({ scores: { logrankIndividual: one, events, n } }) =>
        one.observed === null || one.expected === null || !cells.shows(events, n)
          ? null
          : `${Number.isInteger(one.observed) ? one.observed : one.observed.toFixed(1)} ÷ ${one.expected.toFixed(1)}`,
      path: "logrankIndividual",
    },
  ];
}

/** Columns with a fixed place in the second table. */
const FURTHER_COLUMNS: readonly ScoreColumn[] = [
  {
    key: "noiseFloor.ece",
    title: "ECE by chance",
    small: "mean",
    value: ({ scores }) => scores.noiseFloor?.ece ?? null,
    path: "noiseFloor",
  },
  {
    key: "noiseFloor.adjustedP",
    title: "ECE p",
    small: "adj. / alone",
    value: ({ scores }) => scores.noiseFloor?.adjustedP ?? null,
    format: formatP,
    below: ({ scores }) => (scores.noiseFloor === null ? null : formatP(scores.noiseFloor.p)),
    path: "noiseFloor",
    first: "ascending",
  },
  {
    key: "logrankIndividual.adjustedP",
    title: "Logrank p",
    small: "adj. / alone",
    value: ({ verdict }) => verdict.logrankAdjustedP,
    format: formatP,
    below: ({ scores }) => (scores.logrankIndividual.p === null ? null : formatP(scores.logrankIndividual.p)),
    path: "logrankIndividual",
    first: "ascending",
  },
  columnOf("distanceVariance"),
  {
    key: "intervals.ece",
    title: "ECE below",
    small: "alone",
    value: ({ scores }) => scores.intervals?.ece.upper ?? null,
  },
  {
    key: "intervals.distanceL2Root",
    title: "Gap below",
    small: "alone",
    value: ({ scores }) => scores.intervals?.distanceL2Root.upper ?? null,
  },
  columnOf("ibs", {
    small: "interval",
    below: ({ scores }) => between(scores.intervals?.ibs, 3),
  }),
];

const PLACED: ReadonlySet<string> = new Set(["concordance", "ece", ...FURTHER_COLUMNS.map(({ key }) => key)]);

/** Everything else: a metric that has a column but no fixed place comes last. */
export const MORE_COLUMNS: readonly ScoreColumn[] = [
  ...FURTHER_COLUMNS,
  ...namesOf(METRICS)
    .filter((name) => metricOf(name).column !== null && !PLACED.has(name))
    .map((name) => columnOf(name)),
];

/** Used where certificates were asked for. */
export const CERTIFIED: ScoreColumn = {
  key: "certificate",
  title: "Certified gap",
  small: "tight",
  value: ({ certificate }) => certificate?.exact ?? null,
  format: digits(3),
  below: ({ certificate }) => (certificate?.tight == null ? null : `< ${formatNumber(certificate.tight, 3)}`),
};
