/**
 * The contents of a cohort page of docs/results: the plans of one of the paper's tables, with the existing runs of
 * each.
 */
import { DEFAULT_BINS } from "graduate-survival/data";
import type { PlanResults } from "../runs/committed.ts";
import { expandPlan, lineKey, type Plan, SWITCHED } from "../runs/plan.ts";
import type { Results } from "../runs/results.ts";
import { FIGURE_COHORTS, figureName, type PageTarget, PRINTED_COHORT } from "../runs/targets.ts";
import type { Published } from "./published.ts";
import { type CohortRuns, collectRuns } from "./summary.ts";

/** Runs of one cohort, and what the page shows beside their tables. */
export interface CohortSummary extends CohortRuns {
  readonly name: string;
  /** Training, validation and test rows. */
  readonly rows: readonly number[];
  /** Whether the paper's printed cells are of this cohort. */
  readonly isPrinted: boolean;
  /** Whether the people are simulated, so that their true curves are known. */
  readonly isTrue: boolean;
  /** Name of its figures, without the part for what they show; null where none are drawn. */
  readonly figures: string | null;
}

export interface PlanSummary {
  readonly plan: Plan;
  readonly planned: number;
  readonly made: number;
  /** "graduate seed 3 of nwtco" */
  readonly failed: readonly string[];
  readonly cohorts: readonly CohortSummary[];
  /** Whether a graphics device trained the networks. */
  readonly onDevice: boolean;
}

export interface TargetSummary {
  readonly target: PageTarget;
  readonly plans: readonly PlanSummary[];
  readonly published: Published;
}

export function summariseTarget(
  target: PageTarget,
  plans: readonly PlanResults[],
  published: Published,
): TargetSummary {
  return { target, plans: plans.map((one) => summarisePlan(target, one)), published };
}

function summarisePlan(target: PageTarget, { plan, results, isDrawn = false }: PlanResults): PlanSummary {
  const lines = expandPlan(plan);
  if (results === undefined) {
    return { plan, planned: lines.length, made: 0, failed: [], cohorts: [], onDevice: false };
  }
  return {
    plan,
    planned: lines.length,
    made: lines.filter((line) => results.runs.has(lineKey(line))).length,
    failed: [...results.failures.values()].map(
      ({ run }) => `${run.system} seed ${run.seed} of ${run.cohort}`,
    ),
    cohorts: plan.cohorts.flatMap(({ name }) => summariseCohort(target, { plan, results, isDrawn }, name)),
    onDevice: [...results.runs.values()].some(({ backend }) => backend === "webgpu"),
  };
}

/** Empty where the cohort has no runs. */
function summariseCohort(
  target: PageTarget,
  { plan, results, isDrawn = false }: PlanResults & { readonly results: Results },
  name: string,
): readonly CohortSummary[] {
  const runs = new Map([...collectRuns(results, name)].filter(([system]) => !SWITCHED.includes(system)));
  if (runs.size === 0) return [];
  const all = [...runs.values()].flat();
  const drawn = isDrawn && FIGURE_COHORTS[target].includes(name);
  return [
    {
      name,
      runs,
      repeats: plan.repeats,
      groups: results.cohorts.get(name)?.groups.length ?? 1,
      bins: plan.bins ?? DEFAULT_BINS,
      rows: all[0].rows,
      isPrinted: PRINTED_COHORT[target] === name,
      isTrue: all.some(({ truth }) => truth !== null),
      figures: drawn ? figureName(plan.preset === "paper" ? `paper-${target}` : target, name) : null,
    },
  ];
}
