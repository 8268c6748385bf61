/**
 * Arithmetic on the printed tables themselves. The total score is the harmonic mean H of C and 1 − ECE, and H is
 * concave: the mean of the repeats' totals cannot exceed H of the mean C and mean ECE (Jensen), and to second order it
 * falls short of it by at most 2 (b s_a + a s_b)² / (a + b)³, where a, b are the means and s their standard deviations.
 * The rounding of all printed numbers is allowed for.
 */

import { formatMarkdown } from "../pages/markdown.ts";
import type { SystemName } from "../runs/plan.ts";
import { METRIC_NAMES } from "../summaries/labels.ts";
import { METRICS, type Metric, type PrintedCell, type Published } from "../summaries/published.ts";
import { type ClaimInputs, parseWins, printedBoard, SIX, TARGETS, VARIANTS } from "./board.ts";
import { type Claim, labelsOf } from "./entry.ts";

/** Half a unit of the second decimal. */
const TWO_DECIMALS = 0.005;

/** The totals that are possible given C and ECE as printed. */
export interface ImpliedTotal {
  readonly table: number;
  readonly cohort: string;
  readonly system: string;
  readonly printed: string;
  /** H of the printed C and ECE. */
  readonly implied: number;
  readonly least: number;
  readonly most: number;
  /** Whether the printed total, allowing for its rounding, is in this range. */
  readonly follows: boolean;
}

export function implyTotals({ population }: Published): ImpliedTotal[] {
  return population.flatMap(({ table, cohort, rows }) =>
    Object.entries(rows).map(([system, { concordance, ece, total }]) => {
      const [c, e] = [Number(concordance.value), Number(ece.value)];
      const [dc, de, dt] = [halfUnit(concordance.value), halfUnit(ece.value), halfUnit(total.value)];
      const shortfall = spreadShortfall(c, 1 - e, concordance, ece);
      const least = harmonic(c - dc, 1 - e - de) - shortfall;
      const most = harmonic(c + dc, 1 - e + de);
      const printed = Number(total.value);
      return {
        table,
        cohort,
        system,
        printed: total.value,
        implied: harmonic(c, 1 - e),
        least,
        most,
        follows: printed + dt >= least && printed - dt <= most,
      };
    }),
  );
}

function harmonic(a: number, b: number): number {
  return (2 * a * b) / (a + b);
}

/** Half a unit of the last printed digit. */
function halfUnit(text: string): number {
  return 0.5 * 10 ** -(text.split(".")[1]?.length ?? 0);
}

function spreadShortfall(a: number, b: number, first: PrintedCell, second: PrintedCell): number {
  const [sa, sb] = [first, second].map(({ sd }) => (sd === undefined ? 0 : Number(sd) + halfUnit(sd)));
  return (2 * (b * sa + a * sb) ** 2) / (a + b) ** 3;
}

export function totalsClaim({ published }: ClaimInputs): Claim {
  const totals = implyTotals(published);
  const off = totals.filter(({ follows }) => !follows);
  const variance = totals.find(
    ({ cohort, system }) => cohort === "flchain" && system === "graduate variance",
  );
  return {
    title: "Total scores follow from C-index and ECE",
    place: "§6.2; Tables 2 to 4",
    statement: "The total score is the harmonic mean of C-index and 1 − ECE.",
    check:
      "For each printed row the range that its C-index and ECE leave for the total: no more than their harmonic " +
      "mean (Jensen), less of it by what the standard deviations allow, all numbers give or take their rounding.",
    findings: [
      {
        source: "printed",
        text: off.length === 0 ? "holds" : `does not hold for ${off.length} of ${totals.length} rows`,
      },
    ],
    table: formatMarkdown(
      ["row", "printed total", "harmonic mean of printed C and 1 − ECE", "possible"],
      off.map(({ table, cohort, system, printed, implied, least, most }) => [
        `Table ${table}, ${cohort}, ${labelsOf([system as SystemName])[0]}`,
        printed,
        implied.toFixed(4),
        `${least.toFixed(4)} to ${most.toFixed(4)}`,
      ]),
    ),
    note:
      `The row of flchain's variance-adjusted GRADUATE is printed as ${variance?.printed} and comes to ` +
      `${variance?.implied.toFixed(3)}. ${describeRounding(off)}`,
    command: "`graduate reproduce claims`",
  };
}

/** Totals that end in 0 may have been rounded to two decimals and then given a third. */
function describeRounding(off: readonly ImpliedTotal[]): string {
  const left = off.filter(
    ({ printed, least, most }) =>
      !printed.endsWith("0") ||
      Number(printed) + TWO_DECIMALS < least ||
      Number(printed) - TWO_DECIMALS > most,
  );
  const named = left.map(({ system, printed }) => `${labelsOf([system as SystemName])[0]}'s ${printed}`);
  return (
    "Several cells of Table 3 end in 0 with a standard deviation of .000, as numbers rounded to two " +
    `decimals would; that would account for ${
      named.length === 0 ? "all of these" : `all of these but ${named.join(" and ")}`
    }.`
  );
}

/** A row of Tables 5 to 7 that does not add up to the table's groups. */
export interface WinSum {
  readonly table: number;
  readonly cohort: string;
  readonly metric: Metric;
  readonly baseline: string;
  readonly printed: string;
  readonly sum: number;
  readonly groups: number;
}

export function sumWins({ wins }: Published): WinSum[] {
  return wins.flatMap(({ table, cohort, groups, rows }) =>
    METRICS.flatMap((metric) =>
      Object.entries(rows[metric] ?? {}).map(([baseline, printed]) => {
        const count = parseWins(printed);
        const sum = count.wins + count.losses + count.draws;
        return { table, cohort, metric, baseline, printed, sum, groups };
      }),
    ),
  );
}

export function winSumsClaim({ published }: ClaimInputs): Claim {
  const sums = sumWins(published);
  const off = sums.filter(({ sum, groups }) => sum !== groups);
  return {
    title: "Wins, losses and draws add up",
    place: "§6.5; Tables 5 to 7",
    statement: "Every cell counts wins, losses and draws over all subpopulations: 12, 25 and 24.",
    check: "The three numbers of each cell, added.",
    findings: [
      {
        source: "printed",
        text: off.length === 0 ? "holds" : `does not hold for ${off.length} of ${sums.length} cells`,
      },
    ],
    table: formatMarkdown(
      ["cell", "printed", "sum", "groups"],
      off.map(({ table, cohort, metric, baseline, printed, sum, groups }) => [
        `Table ${table}, ${cohort}, ${METRIC_NAMES[metric]}, against ${labelsOf([baseline as SystemName])[0]}`,
        printed,
        String(sum),
        String(groups),
      ]),
    ),
    command: "`graduate reproduce claims`",
  };
}

/**
 * Statements about means over the three datasets; those of runs are read off the cohort pages once all three have been
 * run.
 */
export function averageClaims(inputs: ClaimInputs): Claim[] {
  const boards = TARGETS.map((target) => printedBoard(inputs, target));
  const average = (metric: Metric, system: SystemName) =>
    boards.reduce((sum, board) => sum + (board.mean(metric, system) ?? Number.NaN), 0) / boards.length;
  const ordered = (metric: Metric) => [...SIX].sort((a, b) => average(metric, b) - average(metric, a));
  const row = (metric: Metric) => ["in print", ...SIX.map((system) => average(metric, system).toFixed(3))];
  const table = (metric: Metric) => formatMarkdown(["mean of three", ...labelsOf(SIX)], [row(metric)]);
  const isBest = ordered("concordance")[0] === "drsa";
  const areBest = ordered("total")
    .slice(0, VARIANTS.length)
    .every((system) => (VARIANTS as readonly SystemName[]).includes(system));
  const shared = {
    place: "§6.4",
    check:
      "The mean of the three printed means. The eye cohort is private, so an average over the three datasets " +
      "cannot be made again.",
    command: "`graduate reproduce claims`",
  };
  const others = (["paper", "default"] as const).map((source) => ({
    source,
    text: "cannot be checked",
  }));
  return [
    {
      ...shared,
      title: "DRSA's C-index is the best on average",
      statement: "Averaged over the datasets, DRSA has the highest C-index.",
      findings: [{ source: "printed", text: isBest ? "holds" : "does not hold" }, ...others],
      table: table("concordance"),
    },
    {
      ...shared,
      title: "GRADUATE's total scores are the best on average",
      statement: "Averaged over the datasets, the two variants have the highest total scores.",
      findings: [{ source: "printed", text: areBest ? "holds" : "does not hold" }, ...others],
      table: table("total"),
    },
  ];
}
