/**
 * Tune: which of several settings to train with. Every run is scored on the validation rows alone: the paper's C-index for
 * discrimination; for calibration every group's ECE over its support, divided by the error that a perfect model stays under in 95 of
 * 100 samples of those rows, the worst group counting. That unit is the same for every distance and slack, which a setting's own
 * distance is not. Then the frontier, and the choice by a rule that is stated in words. Running and keeping the runs is the caller's
 * business (node/commands/tune.ts); test rows are not looked at here.
 */
import type { Backend } from "../compute/backend.ts";
import { isAbsent, type Measured } from "../core/measured.ts";
import { resolveGroups } from "../data/groups/groups.ts";
import { pickOutcomes } from "../data/outcomes/outcomes.ts";
import { pickPeople, readPeople } from "../data/outcomes/people.ts";
import { readOutcomes } from "../data/outcomes/read-outcomes.ts";
import { binOutcomes } from "../data/outcomes/time-grid.ts";
import type { Table } from "../data/table.ts";
import { MINIMUM_EVENTS, MINIMUM_SUPPORT } from "../objectives/constraints.ts";
import { expectedCalibrationError, meanCurve, totalScore } from "../stats/calibration/calibration.ts";
import { simultaneousNoiseFloor } from "../stats/calibration/noise-floor.ts";
import { concordancePaper, timeDependentPairs } from "../stats/concordance/time-dependent.ts";
import { groupSupport, kaplanMeierBinned } from "../stats/kaplan-meier.ts";
import type { Model } from "../training/model.ts";
import { gridOf, predict } from "./predict.ts";
import { labelSettings, type Setting } from "./tune-settings.ts";

export interface WorstGroup {
  readonly group: string;
  /** Over the group's support. */
  readonly ece: number;
  /** A perfect model's stays below it in 95 of 100 samples of these rows. */
  readonly critical: number;
  readonly ratio: number;
}

/** One run on the validation rows. */
export interface RunScores {
  readonly concordance: number | null;
  /** Of everyone, over the support. */
  readonly ece: number | null;
  readonly total: number | null;
  /** Null where no group has events and follow-up enough on the validation rows. */
  readonly worst: WorstGroup | null;
  /** Of the largest error of all groups together, under a model that is right for all of them. */
  readonly p: number | null;
  /** Groups whose constraint the training rows meet, of those constrained. */
  readonly met: number;
  readonly constrained: number;
  readonly steps: number;
}

/** One setting under one seed, and what came of it. */
export interface TuneRun {
  readonly setting: Setting;
  readonly seed: number;
  /** Null when the run failed. */
  readonly scores: RunScores | null;
  readonly failure: string | null;
}

/** Draws of the noise; the same for every run, so that settings differ by their curves alone. */
const NOISE_DRAWS = 200;
const NOISE_SEED = 1;
/** Groups are within noise when chance gives a perfect model a larger worst error more often than this. */
export const NOISE_LEVEL = 0.05;

const numberOf = (value: Measured): number | null => (isAbsent(value) ? null : value);

/** A trained model on the validation rows, with the noise that a perfect model would show there. */
export async function scoreRun(
  model: Model,
  table: Table,
  validation: Int32Array,
  backend: Backend | null,
): Promise<RunScores> {
  const { curves } = await predict(model, table, backend, validation);
  const binned = binOutcomes(pickOutcomes(readOutcomes(table, model.columns), validation), gridOf(model));
  const place = new Map(Array.from(validation, (row, k) => [row, k]));
  const groups = resolveGroups(model.groups, table, { unknownLevels: "allow" })
    .map(({ name, rows }) => ({
      name,
      rows: Int32Array.from(Array.from(rows, (row) => place.get(row) ?? -1).filter((k) => k >= 0)),
    }))
    .filter(
      ({ rows }) =>
        rows.reduce((sum, k) => sum + binned.event[k], 0) >= MINIMUM_EVENTS &&
        groupSupport(binned, { rows }) >= MINIMUM_SUPPORT * curves.T,
    );
  const { id } = model.columns;
  const noise = simultaneousNoiseFloor(curves, binned, groups, {
    draws: NOISE_DRAWS,
    seed: NOISE_SEED,
    ...(id === undefined ? {} : { people: pickPeople(readPeople(table, id), validation) }),
  });
  let worst: WorstGroup | null = null;
  for (const { name, floor } of noise.groups) {
    const measured = isAbsent(floor) ? floor : floor.metrics.ece;
    if (isAbsent(measured) || !(measured.critical > 0)) continue;
    const { observed: ece, critical } = measured;
    const ratio = ece / critical;
    if (worst === null || ratio > worst.ratio) worst = { group: name, ece, critical, ratio };
  }
  const concordance = concordancePaper(timeDependentPairs(curves, binned));
  const mean = meanCurve(curves);
  const error = isAbsent(mean)
    ? mean
    : expectedCalibrationError(mean, kaplanMeierBinned(binned).survival, { bins: groupSupport(binned) });
  const ece = isAbsent(error) ? error : error.ece;
  const { verdict, steps } = model.training;
  return {
    concordance: numberOf(concordance),
    ece: numberOf(ece),
    total: numberOf(totalScore(concordance, ece)),
    worst,
    p: numberOf(noise.p),
    met: verdict.filter(({ met }) => met === true).length,
    constrained: verdict.filter(({ met }) => met !== null).length,
    steps,
  };
}

/** A setting over its seeds. */
export interface SettingSummary {
  readonly setting: Setting;
  /** What sets it apart from the other settings. */
  readonly label: string;
  /** Means over the seeds; null where any of them has none. */
  readonly concordance: number | null;
  readonly total: number | null;
  /** Mean of the worst group's ratio. */
  readonly worst: number | null;
  /** The worst group of the seed in which it is worst. */
  readonly worstGroup: WorstGroup | null;
  /** The smallest of the seeds. */
  readonly p: number | null;
  /** In every seed; null where no group could be measured. */
  readonly withinNoise: boolean | null;
  /** Means over the seeds. */
  readonly met: number;
  readonly constrained: number;
  /** Why the setting cannot be chosen; null when every run ended well. */
  readonly failure: string | null;
  /** No other setting is at least as good in both and better in one. */
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

/** In the order in which the settings first occur; `runs` of one setting differ in their seed. */
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

/** Indices of the points that no other beats: more concordance at no more worst error, or less error at no less concordance. */
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
  /** Whether the rule as it stands chose nothing and its second line had to. */
  readonly fellBack: boolean;
}

/** Ties go to the smaller worst error, then to the setting named first. */
export function selectSetting(
  summaries: readonly SettingSummary[],
  rule: SelectionRule = "calibrated",
): Selection {
  const words = RULE_WORDS[rule];
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
  const state = (chosen: number | null): Selection => ({ rule, words, chosen, fellBack: false });
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
        return { rule, words: words + why, chosen: least, fellBack: true };
      }
      const why =
        "; no group has events enough on the validation rows to be measured, so the highest C-index of all";
      return { rule, words: words + why, chosen: pick(concordance, summaries), fellBack: true };
    }
  }
}
