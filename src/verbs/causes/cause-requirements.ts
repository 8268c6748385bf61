/**
 * Requirements on an audit by cause, written as for any audit (requirements.ts): `ece < 0.05`, `all groups: bound <
 * 0.1`. One is met if it is met for every cause; what fails is named by group and cause. A score that an audit by cause
 * does not have is refused before the work.
 */
import { InputError } from "../../core/errors.ts";
import {
  checkRequiredGroups,
  isMeant,
  judgeRequirement,
  type Requirement,
  type RequirementResult,
  type UnknownOptions,
} from "../requirements.ts";
import type { CauseAuditTable } from "./audit-causes.ts";

/** Paths of numbers in each cause's scores. */
export const CAUSE_REQUIRABLE: readonly string[] = [
  "n",
  "events",
  "expectedEvents",
  "supported.bins",
  "concordance",
  "ece",
  "distanceL2",
  "distanceVariance",
  "ibs",
  "logrankIndividual.observed",
  "logrankIndividual.expected",
  "logrankIndividual.variance",
  "logrankIndividual.chi2",
  "logrankIndividual.p",
  "logrankIndividual.adjustedP",
  "noiseFloor.ece",
  "noiseFloor.eceCritical",
  "noiseFloor.p",
  "noiseFloor.adjustedP",
  "departure.p",
  "departure.adjustedP",
  "departure.largestZ",
  "bound",
];

/** Refuses scores and groups that the audit will not have; called before the work. */
export function checkCauseRequirements(
  requirements: readonly Requirement[],
  groups: readonly string[],
): void {
  const strange = requirements.find(({ metric }) => !CAUSE_REQUIRABLE.includes(metric));
  if (strange !== undefined) {
    throw new InputError(`an audit by cause has no such score: ${strange.metric.replaceAll(".", " ")}`, {
      code: "requirement.score",
      where: strange.text,
      hint: `the scores are ${CAUSE_REQUIRABLE.map((path) => path.replaceAll(".", " ")).join(", ")}`,
    });
  }
  checkRequiredGroups(requirements, groups);
}

/** Judges each requirement: met for every cause, or where it is not and by how much. */
export function judgeCauseRequirements(
  requirements: readonly Requirement[],
  { causes }: CauseAuditTable,
  options: UnknownOptions = {},
): RequirementResult[] {
  checkCauseRequirements(
    requirements,
    (causes[0]?.groups ?? []).map(({ name }) => name),
  );
  return requirements.map((requirement) => {
    const meant = causes.flatMap(({ name: cause, overall, groups }) =>
      [overall, ...groups].flatMap((scores, g) =>
        isMeant(requirement.scope, scores.name, g) ? [{ ...scores, name: `${scores.name}, ${cause}` }] : [],
      ),
    );
    return judgeRequirement(requirement, meant, options);
  });
}
