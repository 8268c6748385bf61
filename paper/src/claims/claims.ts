/**
 * The paper's statements one by one, each with its verdict and the numbers behind it, and what the runs that judge them
 * can detect. Nothing is run for this: it reads the printed tables and the existing results, and counts how many of the
 * planned runs exist.
 */

import type { PlanResults } from "../runs/committed.ts";
import { expandPlan, lineKey, type Plan } from "../runs/plan.ts";
import { PRINTED_COHORT } from "../runs/targets.ts";
import { collectRuns, LEVEL, readGroupEce, runsOf } from "../summaries/summary.ts";
import { BASELINES, type ClaimInputs, TARGETS } from "./board.ts";
import { claimsOnData } from "./data.ts";
import type { Claim } from "./entry.ts";
import { claimsOnEveryone } from "./everyone.ts";
import { detectableDifference, detectableEffect, detectableWithPower, leastSignP } from "./evidence.ts";
import { claimsOnGroups } from "./groups.ts";
import { claimsOnMethod } from "./method.ts";

export interface ClaimSection {
  readonly title: string;
  readonly claims: readonly Claim[];
}

export function collectClaims(inputs: ClaimInputs): readonly ClaimSection[] {
  return [
    { title: "The data and the design", claims: claimsOnData(inputs) },
    { title: "Everyone in the test rows", claims: claimsOnEveryone(inputs) },
    { title: "Subpopulations", claims: claimsOnGroups(inputs) },
    { title: "Other scores, the constraint, the theorem", claims: claimsOnMethod(inputs) },
  ];
}

/** Runs of a plan, and the smallest difference that tests over them call significant. */
export interface RunsOfPlan {
  readonly name: string;
  readonly repeats: Plan["repeats"];
  readonly planned: number;
  readonly made: number;
  readonly failed: number;
  /** Over that many repeats; null where there is none. */
  readonly effect: {
    readonly repeats: number;
    /** In standard deviations of the differences: the least that is significant, and what is found with 80 % power. */
    readonly least: number;
    readonly found: number;
    /** The latter in mean ECE of the groups, for GRADUATE (L²) less each baseline: the least and the most. */
    readonly inEce: readonly [number, number] | null;
  } | null;
}

/** The contents of the claims page. */
export interface ClaimsSummary {
  readonly sections: readonly ClaimSection[];
  readonly plans: readonly RunsOfPlan[];
  /** Fewest runs for which the exact sign test can reach the level. */
  readonly leastRuns: number;
}

export function summariseClaims(inputs: ClaimInputs): ClaimsSummary {
  return {
    sections: collectClaims(inputs),
    plans: [...inputs.plans].map(([name, one]) => countRuns(name, one)),
    leastRuns: leastRuns(),
  };
}

/** How many of the planned runs exist, and what the tests over them can detect. */
function countRuns(name: string, { plan, results }: PlanResults): RunsOfPlan {
  const planned = expandPlan(plan);
  return {
    name,
    repeats: plan.repeats,
    planned: planned.length,
    made: planned.filter((line) => results?.runs.has(lineKey(line)) === true).length,
    failed: results?.failures.size ?? 0,
    effect: effectOf(name, { plan, results }),
  };
}

/** For the judged cohort, at the number of runs that most of its systems have. */
function effectOf(name: string, { plan, results }: PlanResults): RunsOfPlan["effect"] {
  const target = TARGETS.find((one) => name.endsWith(one));
  if (target === undefined || results === undefined) return null;
  const runs = collectRuns(results, PRINTED_COHORT[target]);
  const most = [...runs.values()].reduce((longest, own) => (own.length > longest.length ? own : longest), []);
  const repeats = { n: most.length, kind: plan.repeats, rows: most[0]?.rows ?? ([1, 1, 1] as const) };
  const least = detectableEffect(repeats);
  if (!Number.isFinite(least)) return null;
  const groups = results.cohorts.get(PRINTED_COHORT[target])?.groups.length ?? 1;
  const inEce = BASELINES.flatMap((baseline) => {
    const [own, others] = [runsOf(runs, "graduate l2"), runsOf(runs, baseline)];
    return detectableDifference(own, others, readGroupEce(groups), plan.repeats) ?? [];
  });
  return {
    repeats: most.length,
    least,
    found: detectableWithPower(repeats),
    inEce: inEce.length === 0 ? null : [Math.min(...inEce), Math.max(...inEce)],
  };
}

function leastRuns(): number {
  let n = 1;
  while (leastSignP(n) >= LEVEL) n++;
  return n;
}
