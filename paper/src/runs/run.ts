/**
 * One run: fit the system of a line on its cohort, score it on the test rows, everyone and group by group, and against
 * the truth where there is one. The same line gives the same record: no clock, no file and no number of threads
 * enters. How long it took is for the caller to add.
 */

import type { Backend, TrainEvent } from "graduate";
import { InputError } from "graduate/core";
import { binOutcomes, pickOutcomes } from "graduate/data";
import { groupSupport } from "graduate/stats";
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

/** Of the fresh people: beyond the seeds that plans draw cohorts by. */
const TRUTH_SEED = 1_000_000;

export interface RunHooks {
  readonly onEvent?: (event: TrainEvent) => void;
  /** The system is fitted; what follows is scoring. */
  readonly onFitted?: () => void;
  /** Of the line's network (networkKey), by one who runs many lines: then it is trained once. */
  readonly shelf?: NetworkShelf;
  /** In place of prepareTruth, by one who runs many lines. */
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
  // The audit's first line is everyone, who are the first of the groups.
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

/** Against the true curves of people that no run has seen; the same people for all systems of a cohort. */
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
