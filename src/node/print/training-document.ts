/** What `train --json` prints: the run, the verdict of each group, and the scores on the test rows. */

import { present } from "../../core/present.ts";
import { type Finding, toPlainFinding } from "../../data/checks/findings.ts";
import { countMembers, type Model } from "../../training/model.ts";
import type { SolveReport } from "../../training/solve/hold.ts";
import type { AuditTable } from "../../verbs/audit.ts";
import type { CauseAuditTable } from "../../verbs/causes/audit-causes.ts";
import type { RequirementResult } from "../../verbs/requirements.ts";
import type { TrainOptions } from "../options/train-options.ts";
import { toleranceOf } from "./write-report.ts";

/** Which rows were spent is beside the verdict. */
function describeSolve(solve: SolveReport | undefined) {
  if (solve === undefined) return null;
  const { solvedOn: _rows, ...rest } = solve;
  return rest;
}

export function toDocument(
  model: Model,
  seconds: number,
  test: AuditTable | CauseAuditTable | null,
  requirements: readonly RequirementResult[],
  told: readonly Finding[],
  { report, out, tolerance }: TrainOptions,
) {
  const { training, method } = model;
  const members = countMembers(model);
  const { seed, steps, bestStep, parameters, verdict, solve, multipliers, warnings } = training;
  return {
    method,
    seed,
    steps,
    bestStep,
    seconds,
    parameters,
    verdict,
    solvedOn: solve?.solvedOn ?? null,
    solve: describeSolve(solve),
    multipliers,
    findings: told.map(toPlainFinding),
    warnings,
    test,
    tolerance: toleranceOf({ tolerance }),
    ...(members > 1 ? { ensemble: members } : {}),
    ...present({ people: training.people }),
    ...(out === undefined ? {} : { model: out }),
    ...(requirements.length === 0 ? {} : { requirements }),
    ...(report === undefined ? {} : { report }),
  };
}
