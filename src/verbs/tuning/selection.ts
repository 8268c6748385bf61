/**
 * Settings over their seeds: the frontier of discrimination against worst-group calibration on the validation rows, and
 * the choice among them by a rule that is stated in words.
 */
import type { RunScores, WorstGroup } from "./scores.ts";
import { labelSettings, type Setting } from "./settings.ts";

/** Groups are within noise when a perfect model has a larger worst error by chance more often than this. */
export const NOISE_LEVEL = 0.05;

/** One setting under one seed, and its result. */
export interface TuneRun {
  readonly setting: Setting;
  readonly seed: number;
  /** Null when the run failed. */
  readonly scores: RunScores | null;
  readonly failure: string | null;
}

/** A setting over its seeds. */
export interface SettingSummary {
  readonly setting: Setting;
  /** What distinguishes it from the other settings. */
  readonly label: string;
  /** Means over the seeds; null where any of them has none. */
  readonly concordance: number | null;
  readonly total: number | null;
  /** Mean of the worst group's ratio. */
  readonly worst: number | null;
  /** The worst group of the worst seed. */
  readonly worstGroup: WorstGroup | null;
  /** The smallest over the seeds. */
  readonly p: number | null;
  /** In every seed; null where no group could be measured. */
  readonly withinNoise: boolean | null;
  /** Means over the seeds. */
  readonly met: number;
  readonly constrained: number;
  /** Why the setting cannot be chosen; null when every run ended well. */
  readonly failure: string | null;
  /** No other setting is at least as good in both scores and better in one. */
  readonly onFrontier: boolean;
}

function meanOf(values: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const value of values) {
    if (value === null) return null;
    sum += value;
  }
  return values.length === 0 ? null : sum / values.length;
}

/** In the order in which the settings first occur; `runs` of one setting differ only in their seed. */
export function summariseRuns(runs: readonly TuneRun[]): readonly SettingSummary[] {
  const bySetting = new Map<string, TuneRun[]>();
  for (const run of runs) {
    const key = JSON.stringify(run.setting);
    bySetting.set(key, [...(bySetting.get(key) ?? []), run]);
  }
  const each = [...bySetting.values()];
  const labels = labelSettings(each.map(([{ setting }]) => setting));
  const summaries = each.map((own, k) => summariseSetting(own, labels[k]));
  const frontier = new Set(findFrontier(summaries));
  return summaries.map((summary, k) => ({ ...summary, onFrontier: frontier.has(k) }));
}

function summariseSetting(runs: readonly TuneRun[], label: string): SettingSummary {
  const { setting } = runs[0];
  const failed = runs.find(({ failure }) => failure !== null);
  const scores = runs.flatMap((run) => (run.scores === null ? [] : [run.scores]));
  const all = (pick: (one: RunScores) => number | null) => (failed ? null : meanOf(scores.map(pick)));
  const ps = scores.flatMap(({ p }) => (p === null ? [] : [p]));
  const p = failed || ps.length < scores.length ? null : Math.min(...ps);
  const worstGroup = scores.reduce<WorstGroup | null>(
    (worst, one) =>
      one.worst !== null && (worst === null || one.worst.ratio > worst.ratio) ? one.worst : worst,
    null,
  );
  return {
    setting,
    label,
    concordance: all((one) => one.concordance),
    total: all((one) => one.total),
    worst: all((one) => one.worst?.ratio ?? null),
    worstGroup,
    p,
    withinNoise: p === null ? null : p > NOISE_LEVEL,
    met: all((one) => one.met) ?? 0,
    constrained: all((one) => one.constrained) ?? 0,
    failure: failed?.failure ?? null,
    onFrontier: false,
  };
}

export interface FrontierPoint {
  readonly concordance: number | null;
  readonly worst: number | null;
}

/**
 * Indices of the points that no other beats: more concordance at no more worst error, or less error at no less
 * concordance.
 */
export function findFrontier(points: readonly FrontierPoint[]): readonly number[] {
  const placed = points.flatMap(({ concordance, worst }, index) =>
    concordance === null || worst === null ? [] : [{ index, concordance, worst }],
  );
  return placed
    .filter(
      (one) =>
        !placed.some(
          (other) =>
            other.concordance >= one.concordance &&
            other.worst <= one.worst &&
            (other.concordance > one.concordance || other.worst < one.worst),
        ),
    )
    .map(({ index }) => index);
}

export const SELECTION_RULES = ["calibrated", "concordance", "worst", "total"] as const;
/** How a sweep chooses. */
export type SelectionRule = (typeof SELECTION_RULES)[number];

const RULE_WORDS: Readonly<Record<SelectionRule, string>> = {
  calibrated:
    "the highest validation C-index among the settings whose groups are all within noise on the validation rows " +
    `(p > ${NOISE_LEVEL} for the largest error of all groups together, in every seed)`,
  concordance: "the highest validation C-index, whatever the groups' calibration",
  worst: "the smallest error of the worst group on the validation rows, whatever the C-index",
  total:
    "the highest total score on the validation rows: harmonic mean of the C-index and 1 − ECE of everyone",
};

/** The setting that was chosen, by which rule, and why. */
export interface Selection {
  readonly rule: SelectionRule;
  /** The rule, and what was done where it could not be applied as it stands. */
  readonly words: string;
  /** Index of the setting; null when none can be chosen. */
  readonly chosen: number | null;
  /** Whether no setting meets the rule as it stands, so that its fallback chose. */
  readonly usedFallback: boolean;
}

/** What the scores of the rules are where causes compete. */
const BY_CAUSE =
  ", where C-index and ECE are means over the causes and every group is measured for each of them";

/** Ties go to the smaller worst error, then to the setting named first. */
export function selectSetting(
  summaries: readonly SettingSummary[],
  rule: SelectionRule = "calibrated",
  { byCause = false }: { readonly byCause?: boolean } = {},
): Selection {
  const words = RULE_WORDS[rule] + (byCause ? BY_CAUSE : "");
  const pick = (score: (one: SettingSummary) => number | null, among: readonly SettingSummary[]) => {
    let best: SettingSummary | null = null;
    for (const one of among) {
      const value = score(one);
      if (value === null) continue;
      const before = best === null ? Number.NEGATIVE_INFINITY : (score(best) ?? Number.NEGATIVE_INFINITY);
      const isTie = value === before && (one.worst ?? Infinity) < (best?.worst ?? Infinity);
      if (value > before || isTie) best = one;
    }
    return best === null ? null : summaries.indexOf(best);
  };
  const concordance = (one: SettingSummary) => one.concordance;
  const lessWorst = (one: SettingSummary) => (one.worst === null ? null : -one.worst);
  const state = (chosen: number | null): Selection => ({ rule, words, chosen, usedFallback: false });
  switch (rule) {
    case "concordance":
      return state(pick(concordance, summaries));
    case "worst":
      return state(pick(lessWorst, summaries));
    case "total":
      return state(pick((one) => one.total, summaries));
    case "calibrated": {
      const within = summaries.filter(({ withinNoise }) => withinNoise === true);
      const chosen = pick(concordance, within);
      if (chosen !== null) return state(chosen);
      const least = pick(lessWorst, summaries);
      if (least !== null) {
        const why = "; no setting is, so the one whose worst group is least off";
        return { rule, words: words + why, chosen: least, usedFallback: true };
      }
      const why =
        "; no group has events enough on the validation rows to be measured, so the highest C-index of all";
      return { rule, words: words + why, chosen: pick(concordance, summaries), usedFallback: true };
    }
  }
}
