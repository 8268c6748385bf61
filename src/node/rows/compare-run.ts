/**
 * One method of a comparison on one split: trained, repaired on the validation rows where that is asked for, and scored on the test
 * rows. A run that leaves the numbers it can be trusted on is a result like any other; the comparison goes on without it.
 */

import { InputError, NumericalError } from "../../core/errors.ts";
import type { Table } from "../../data/table.ts";
import { applyBoost } from "../../repair/mcboost.ts";
import { placesAmong } from "../../study/members.ts";
import type { Study } from "../../study/study.ts";
import type { DistanceName, Method } from "../../training/choices.ts";
import type { Model } from "../../training/model.ts";
import type { AuditTable } from "../../verbs/audit.ts";
import { type AuditedRows, auditRows, type PredictedRows, predictRows } from "../../verbs/audit-model.ts";
import { fitGuardedBoost } from "../../verbs/boost.ts";
import { type MethodScores, readScores } from "../../verbs/compare.ts";
import { studyOf } from "../../verbs/model-study.ts";
import { prepare, type TrainRequest, train } from "../../verbs/train.ts";
import { openWasmBackend } from "../workers/wasm-backend.ts";

export interface ComparedMethod {
  /** As it was asked for: "graduate:l2+boost". */
  readonly label: string;
  readonly method: Method;
  /** Of graduate alone; null for its default. */
  readonly distance: DistanceName | null;
  readonly boosted: boolean;
}

export interface MethodRun {
  readonly method: ComparedMethod;
  /** These are null where the run failed. */
  readonly scores: MethodScores | null;
  readonly scored: AuditedRows | null;
  readonly audit: AuditTable | null;
  /** Constraints met on the training rows, of how many; null for a method without. */
  readonly met: number | null;
  readonly constrained: number | null;
  /** Training and repair. */
  readonly seconds: number;
  readonly failure: string | null;
  readonly warnings: readonly string[];
}

export async function runMethod(
  table: Table,
  method: ComparedMethod,
  common: TrainRequest & { readonly split: NonNullable<TrainRequest["split"]> },
  computing: { readonly threads: number; readonly deterministic?: boolean },
  onProgress: (done: number, total: number) => void,
): Promise<MethodRun> {
  const { split, constraint } = common;
  const backend = await openWasmBackend({
    threads: computing.threads,
    deterministic: computing.deterministic === true,
  });
  const started = performance.now();
  const secondsNow = () => (performance.now() - started) / 1000;
  try {
    const distance = method.distance === null ? {} : { distance: method.distance };
    const request = { ...common, method: method.method, constraint: { ...constraint, ...distance } };
    const study = prepare(table, request);
    const run = train(study, request, backend);
    let steps = 0;
    let next = await run.next();
    for (; !next.done; next = await run.next()) {
      if (next.value.type === "start") steps = next.value.steps;
      if (next.value.type === "step") onProgress(next.value.step, steps);
    }
    const model = next.value;
    const own = studyOf(model, study, split);
    const test = await predictRows(own, split.test, backend);
    const predicted = method.boosted ? repair(own, await predictRows(own, split.valid, backend), test) : test;
    const seconds = secondsNow();
    const scored = await auditRows(predicted, { draws: 0 });
    const { verdict, warnings } = model.training;
    const held = verdict.filter(({ met }) => met !== null);
    return {
      method,
      scores: readScores(scored.audit, predicted.curves.T),
      scored,
      audit: scored.audit,
      met: held.length === 0 ? null : held.filter(({ met }) => met === true).length,
      constrained: held.length === 0 ? null : held.length,
      seconds,
      failure: null,
      warnings,
    };
  } catch (error) {
    if (!(error instanceof NumericalError)) throw error;
    const nothing = { scores: null, scored: null, audit: null, met: null, constrained: null };
    return { method, ...nothing, seconds: secondsNow(), failure: error.message, warnings: [] };
  } finally {
    await backend.close();
  }
}

/** The test rows' curves after a boost that was fitted on the validation rows. */
function repair(
  study: Study & { readonly model: Model },
  valid: PredictedRows,
  test: PredictedRows,
): PredictedRows {
  if (valid.rows.length === 0) {
    throw new InputError("no validation rows to repair curves on", {
      code: "split.valid",
      hint: "give the split some, e.g. --split 0.6,0.2,0.2",
    });
  }
  const groupsAmong = (rows: Int32Array) => placesAmong(study.groups, rows);
  const { seed } = study.model.training;
  const by = valid.people === undefined ? {} : { people: valid.people };
  const task = { curves: valid.curves, outcomes: valid.binned, groups: groupsAmong(valid.rows), ...by };
  const { boost } = fitGuardedBoost(task, { seed });
  return { ...test, curves: applyBoost(boost, test.curves, { groups: groupsAmong(test.rows) }) };
}
