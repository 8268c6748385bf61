/**
 * One run: fits the system of a line on its cohort and scores it on the test rows, for everyone and group by group, and
 * against the truth where it is known. The same line gives the same record, which depends on no clock, file or number
 * of threads. The caller adds how long it took.
 */

import type { Backend, TrainEvent } from "graduate-survival";
import { InputError } from "graduate-survival/core";
import { binOutcomes, pickOutcomes } from "graduate-survival/data";
import { groupSupport } from "graduate-survival/stats";
import { type PredictCurves, type PrepareTruth, prepareTruth, TRUTH_PEOPLE } from "../eye/truth.ts";
import { type CohortSources, type OpenCohort, openCohort } from "./cohorts.ts";
import { auditCurves, membersAmong } from "./fit.ts";
import type { Plan, RunLine } from "./plan.ts";
import {
  type CohortNames,
  type RunResult,
  summariseScores,
  summariseTraining,
  summariseTruth,
  type TruthScores,
} from "./results.ts";
import type { NetworkShelf } from "./shared-network.ts";
import { type FittedSystem, fitRequestOf, fitSystem } from "./systems.ts";

/** Seed of the fresh people: beyond the seeds by which plans draw cohorts. */
const TRUTH_SEED = 1_000_000;

export interface RunHooks {
  readonly onEvent?: (event: TrainEvent) => void;
  /** Called when the system is fitted; scoring follows. */
  readonly onFitted?: () => void;
  /** Holds the line's network (networkKey), for a caller who runs many lines: it is then trained once. */
  readonly shelf?: NetworkShelf;
  /** Used instead of prepareTruth by a caller who runs many lines. */
  readonly prepareTruth?: PrepareTruth;
}

export interface FinishedRun {
  readonly result: Omit<RunResult, "seconds" | "version">;
  readonly names: CohortNames;
}

export async function runLine(
  plan: Plan,
  line: RunLine,
  sources: CohortSources,
  backend: Backend,
  hooks: RunHooks = {},
): Promise<FinishedRun> {
  const { system, seed } = line;
  const cohortPlan = plan.cohorts.find(({ name }) => name === line.cohort);
  if (cohortPlan === undefined) {
    throw new InputError(`no such cohort in the plan "${plan.name}": ${line.cohort}`, {
      code: "plan.cohort",
    });
  }
  const cohort = openCohort(cohortPlan, sources, plan, seed);
  const { table, split, groups, auditOnly } = cohort;
  const fitted = await fitSystem(cohort, fitRequestOf(plan, line), backend, hooks.onEvent, hooks.shelf);
  hooks.onFitted?.();
  const curves = await fitted.predictCurves(table, split.test);
  const outcomes = binOutcomes(pickOutcomes(cohort.outcomes, split.test), fitted.grid);
  // The audit's first line is everyone, the first of the groups.
  const named = membersAmong([...groups.slice(1), ...auditOnly], table, split.test);
  const scored = await auditCurves(curves, outcomes, named, { draws: plan.draws, seed });
  return {
    result: {
      run: { plan: plan.name, cohort: line.cohort, system, seed },
      rows: [split.train.length, split.validation.length, split.test.length],
      training: fitted.training && summariseTraining(fitted.training, fitted.boostRounds),
      scores: summariseScores([scored.overall, ...scored.groups]),
      truth: await scoreTruth(cohort, fitted, hooks.prepareTruth ?? prepareTruth, plan.truthPeople),
    },
    names: {
      plan: plan.name,
      cohort: line.cohort,
      groups: groups.map(({ name }) => name),
      auditOnly: auditOnly.map(({ name }) => name),
    },
  };
}

/** Scores against the true curves of people that no run has seen; the same people for all systems of a cohort. */
async function scoreTruth(
  { plan, eye, table, outcomes, split, groups, auditOnly }: OpenCohort,
  { grid, predictCurves, predictDrawn }: FittedSystem,
  prepare: PrepareTruth,
  people = TRUTH_PEOPLE,
): Promise<TruthScores | null> {
  if (eye === null || plan.kind !== "eye") return null;
  const all = [...groups, ...auditOnly];
  const training = binOutcomes(pickOutcomes(outcomes, split.train), grid);
  const supports = membersAmong(all, table, split.train).map(({ rows }) =>
    Math.max(1, groupSupport(training, { rows })),
  );
  const settings = { ...eye.settings, seed: TRUTH_SEED, n: people };
  const truth = prepare({ settings, groups: all, supports, grid });
  let predict: PredictCurves = (chunk) => predictCurves(chunk);
  if (predictDrawn !== undefined) {
    let from = 0;
    // Chunks come in the order of the people.
    predict = async ({ rows }) => {
      from += rows;
      return predictDrawn(
        truth.people,
        Int32Array.from({ length: rows }, (_, k) => from - rows + k),
      );
    };
  }
  return summariseTruth(await truth.score(predict));
}
