/**
 * Baselines under both rules for keeping weights: the best C-index on the validation rows, and graduate's own rule, the
 * averaged weights of the least validation loss. The part of graduate's lead in calibration that is due to the rule is
 * the baseline's error by C-index minus its error by loss, over its error by C-index minus graduate's, on the repeats
 * that have all three.
 */

import type { SystemName } from "../runs/plan.ts";
import { SYSTEM_LABELS } from "./labels.ts";
import {
  type CohortRuns,
  compareRuns,
  LEVEL,
  type Read,
  readGroupEce,
  readMetric,
  runsOf,
  spreadOf,
} from "./summary.ts";

export interface RulePair {
  readonly name: string;
  readonly byConcordance: SystemName;
  readonly byLoss: SystemName;
}

const PAIRS: readonly RulePair[] = [
  { name: SYSTEM_LABELS.drsa, byConcordance: "drsa", byLoss: "drsa kept by loss" },
  {
    name: SYSTEM_LABELS["drsa without tail"],
    byConcordance: "drsa without tail kept by concordance",
    byLoss: "drsa without tail",
  },
  { name: SYSTEM_LABELS.xcal, byConcordance: "xcal", byLoss: "xcal kept by loss" },
  { name: SYSTEM_LABELS.rps, byConcordance: "rps", byLoss: "rps kept by loss" },
];

/** The part of a lead in one score that the rule explains. */
export interface RuleShare {
  readonly byConcordance: number;
  readonly byLoss: number;
  readonly own: number;
  readonly repeats: number;
  /** The baseline by C-index minus graduate, paired. */
  readonly lead: number;
  readonly leadP: number;
  /** Share of the lead; null where the lead is not above 0 at 5 %. */
  readonly share: number | null;
  /** Graduate minus the baseline by loss, paired. */
  readonly left: number;
  readonly p: number;
}

export function shareOfRule({ runs, repeats }: CohortRuns, pair: RulePair, read: Read): RuleShare | null {
  const systems: readonly SystemName[] = [pair.byConcordance, pair.byLoss, "graduate"];
  const all = systems.map((system) => runsOf(runs, system));
  const seeds = all.map((list) => new Set(list.map(({ run }) => run.seed)));
  const [first, second, own] = all.map((list) =>
    list.filter(({ run }) => seeds.every((one) => one.has(run.seed))),
  );
  const [c, loss, ours] = [first, second, own].map((list) => spreadOf(list, read)?.mean ?? null);
  const [led, test] = [compareRuns(first, own, read, repeats), compareRuns(own, second, read, repeats)];
  if (c === null || loss === null || ours === null || led === null || test === null) return null;
  return {
    byConcordance: c,
    byLoss: loss,
    own: ours,
    repeats: own.length,
    lead: led.mean,
    leadP: led.p,
    share: led.mean > 0 && led.p < LEVEL ? (c - loss) / (c - ours) : null,
    left: test.mean,
    p: test.p,
  };
}

/** A baseline whose runs show what the rule does, in every score considered. */
export interface KeptRules {
  readonly pair: RulePair;
  readonly shares: readonly (RuleShare & { readonly title: string })[];
}

/** The baselines that have runs by both rules. */
export function compareKeptRules(cohort: CohortRuns): readonly KeptRules[] {
  const scores = [
    { title: "ECE", read: readMetric("ece", 0) },
    { title: "subgroup ECE", read: readGroupEce(cohort.groups) },
  ];
  return PAIRS.flatMap((pair) => {
    const shares = scores.map(({ title, read }) => ({ title, share: shareOfRule(cohort, pair, read) }));
    const present = shares.flatMap(({ title, share }) => (share === null ? [] : [{ title, ...share }]));
    return present.length === shares.length ? [{ pair, shares: present }] : [];
  });
}
