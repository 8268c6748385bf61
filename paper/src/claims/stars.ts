/**
 * The paper's stars: paired t-tests of the best system against the second, over initialisations of one split. Nobody
 * else can repeat them from means and standard deviations; but these say how closely the two systems' scores must have
 * gone together for the star to be right, and our runs under the paper's recipe say how closely they go together here.
 */
import { formatMarkdown, formatSigned } from "../pages/markdown.ts";
import type { SystemName } from "../runs/plan.ts";
import { SYSTEM_NAMES } from "../runs/plan.ts";
import type { PageTarget } from "../runs/targets.ts";
import { METRIC_NAMES, SYSTEM_LABELS } from "../summaries/labels.ts";
import type { Metric } from "../summaries/published.ts";
import { mean, pairRuns, readMetric } from "../summaries/summary.ts";
import { type ClaimInputs, runBoard, TARGETS } from "./board.ts";
import type { Claim } from "./entry.ts";
import { leastCorrelation } from "./evidence.ts";

const LEVELS = { "*": 0.05, "**": 0.01 } as const;
/** Logranks are printed without a spread. */
const SPREAD: readonly Metric[] = ["concordance", "ece", "total"];

/** A printed star, and what it takes. */
export interface Star {
  readonly target: PageTarget;
  readonly metric: Metric;
  readonly best: SystemName;
  readonly second: SystemName;
  readonly stars: keyof typeof LEVELS;
  /** Null where a printed standard deviation is 0. */
  readonly least: number | null;
}

const systemNamed = (name: string) => SYSTEM_NAMES.find((system) => system === name);

export function listStars({ published }: Pick<ClaimInputs, "published">): Star[] {
  return published.population.flatMap(({ cohort, repeats, rows }) => {
    const target = TARGETS.find((one) => one === cohort);
    if (target === undefined) return [];
    return SPREAD.flatMap((metric) => {
      const cells = Object.entries(rows).flatMap(([name, row]) => {
        const system = systemNamed(name);
        return system === undefined ? [] : [{ system, cell: row[metric], value: Number(row[metric].value) }];
      });
      const best = cells.find(({ cell }) => cell.stars !== undefined);
      const second = cells.find(({ cell }) => cell.place === "second");
      if (best?.cell.stars === undefined || second === undefined) return [];
      const { stars } = best.cell;
      const spreads = [Number(best.cell.sd), Number(second.cell.sd)] as const;
      const least = leastCorrelation(repeats, best.value - second.value, spreads, LEVELS[stars]);
      return [{ target, metric, best: best.system, second: second.system, stars, least }];
    });
  });
}

/** Of two systems' scores over the initialisations that both have; null with fewer than three. */
function correlationHere(inputs: ClaimInputs, { target, metric, best, second }: Star): number | null {
  const board = runBoard(inputs, "paper", target);
  const pairs = pairRuns(board.runs(best), board.runs(second), readMetric(metric, 0));
  if (pairs.length < 3) return null;
  const [a, b] = [mean(pairs.map((pair) => pair.a)), mean(pairs.map((pair) => pair.b))];
  let [ab, aa, bb] = [0, 0, 0];
  for (const pair of pairs) {
    ab += (pair.a - a) * (pair.b - b);
    aa += (pair.a - a) ** 2;
    bb += (pair.b - b) ** 2;
  }
  return aa === 0 || bb === 0 ? null : ab / Math.sqrt(aa * bb);
}

export function starsClaim(inputs: ClaimInputs): Claim {
  const stars = listStars(inputs).map((star) => ({ star, here: correlationHere(inputs, star) }));
  const demanding = stars.flatMap(({ star: { least } }) => (least !== null && least > -1 ? [least] : []));
  const [from, to] = [Math.min(...demanding), Math.max(...demanding)].map((value) => value.toFixed(2));
  return {
    title: "Differences are statistically significant",
    place: "§6.4, §6.5",
    statement:
      "Repeats start from different random initialisations; stars and wins are of paired t-tests over them.",
    check:
      "By design all repeats have the same test rows: such a test says what would come of more initialisations, " +
      "not of other people. Whether a star is right cannot be worked out from means and standard deviations. They " +
      "imply how strongly the two systems' scores must be correlated over the repeats: at least as the table says. " +
      "*Here* is the correlation of the same two systems under the paper's recipe.",
    findings: [
      {
        source: null,
        text:
          `untested; ${demanding.length} of ${stars.length} stars need correlations of at least ${from} to ${to}, ` +
          "the others none",
      },
    ],
    table: formatMarkdown(
      ["star", "best", "second", "correlation needed", "here"],
      stars.map(({ star, here }) => [
        `${star.target}, ${METRIC_NAMES[star.metric]} ${star.stars.replaceAll("*", "\\*")}`,
        SYSTEM_LABELS[star.best],
        SYSTEM_LABELS[star.second],
        sayNeeded(star),
        here === null ? "–" : formatSigned(here, 2).replace("+", ""),
      ]),
    ),
    note:
      "The correlations here are of our runs, and no test of the printed ones. The plans of the default of 0.1.0 " +
      "repeat over splits (simulated people: over cohorts), with tests that know that splits share rows.",
    command: "`graduate reproduce nwtco|flchain|eye [--preset paper]`",
  };
}

function sayNeeded({ least }: Star): string {
  if (least === null) return "none: a printed spread is 0";
  return least <= -1 ? "none" : least.toFixed(2);
}
