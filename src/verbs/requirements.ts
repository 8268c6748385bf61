/**
 * Requirements on an audit, in one line each: `ece < 0.05`, `all groups: logrank p > 0.01`,
 * `group "stage = 4": supported ece <= 0.1`.
 *
 *   requirement := [ "all groups" ":" | "each group" ":" | "group" "NAME" ":" ] SCORE ("<" | "<=" | ">" | ">=") NUMBER
 *
 * Without a scope, a requirement is on everyone together; "all groups" and "each group" mean everyone and every named
 * group, one by one. A score is named as in the audit's JSON, with a blank or a dot between the parts, so ece and the
 * distances are over the group's support; "certificate" is the group's own, and `certified<0.1` asks it of the exact
 * one. A score that is null, or of a group with fewer than ten events observed and expected, or followed too briefly,
 * cannot be said to meet anything: such a requirement is not met, unless the caller allows for what is not known.
 * Certificates count whatever the number of events: they allow for few.
 */

import { InputError, unreachable } from "../core/errors.ts";
import { namesOf } from "../core/names.ts";
import { pointInto } from "../data/groups/group-expression.ts";
import type { GroupCertificate } from "../stats/certificates/certificates.ts";
import { sayFewEvents, sayShortFollowUp } from "../stats/calibration/agreement.ts";
import { METRICS, metricOf, PAPER_METRICS } from "../stats/scores/metrics.ts";
import type { AuditedScores, AuditTable } from "./audit.ts";

/** Counts are known whatever the number of events. */
const COUNTS = ["n", "events", "expectedEvents", "supported.bins"] as const;

/** Paths of tests with several numbers, of the audit's additions to the scores, and of certificates. */
const OTHER_PATHS = [
  "dCalibration.chi2",
  "dCalibration.p",
  "logrank.observed",
  "logrank.expected",
  "logrank.chi2",
  "logrank.p",
  "logrankIndividual.observed",
  "logrankIndividual.expected",
  "logrankIndividual.variance",
  "logrankIndividual.chi2",
  "logrankIndividual.p",
  "logrankIndividual.adjustedP",
  "supported.ece",
  "supported.distanceL2",
  "supported.distanceVariance",
  ...PAPER_METRICS.map((name) => `paper.${name}`),
  "bound",
  "noiseFloor.ece",
  "noiseFloor.eceCritical",
  "noiseFloor.p",
  "noiseFloor.adjustedP",
  "departure.p",
  "departure.adjustedP",
  "departure.largestZ",
  "intervals.concordance.lower",
  "intervals.concordance.upper",
  "intervals.ibs.lower",
  "intervals.ibs.upper",
  "intervals.ece.upper",
  "intervals.distanceL2Root.upper",
  "intervals.supported.ece.upper",
  "intervals.supported.distanceL2Root.upper",
  "certificate.exact",
  "certificate.exactPopulation",
  "certificate.tight",
] as const;

/** Paths in the audit's JSON. */
export const REQUIRABLE: readonly string[] = [...COUNTS, ...namesOf(METRICS), ...OTHER_PATHS];

/** Short names: those of metrics, and the headings of the printed table's other columns. */
const ALIASES: readonly (readonly [string, string])[] = [
  ...namesOf(METRICS).flatMap((name) => {
    const { alias } = metricOf(name);
    return alias === undefined ? [] : [[alias, name] as const];
  }),
  ["individualp", "logrankIndividual.p"],
  ["adjustedp", "noiseFloor.adjustedP"],
  ["certified", "certificate.exact"],
];

const OPERATORS = ["<=", ">=", "<", ">"] as const;
export type RequirementOperator = (typeof OPERATORS)[number];

/** What an audit must show. */
export interface Requirement {
  /** As it was written. */
  readonly text: string;
  /** "everyone", "all groups", or the named group. */
  readonly scope: "everyone" | "all groups" | { readonly group: string };
  /** A path in the audit's JSON: "logrank.p". */
  readonly metric: string;
  readonly operator: RequirementOperator;
  readonly limit: number;
}

/** One requirement and how the audit stands against it. */
export interface RequirementResult {
  readonly text: string;
  /** "everyone", "all groups", or `group "NAME"`. */
  readonly scope: string;
  readonly metric: string;
  /** Null when no group could be judged, where that is allowed. */
  readonly met: boolean | null;
  readonly failed: readonly { readonly group: string; readonly value: number }[];
  readonly undecided: readonly { readonly group: string; readonly reason: string }[];
}

const plainly = (name: string) => name.replace(/[\s.]/gu, "").toLowerCase();
const PATHS: ReadonlyMap<string, string> = new Map([
  ...REQUIRABLE.map((path): [string, string] => [plainly(path), path]),
  ...ALIASES,
]);

const SPACE = /\s*/uy;
const EVERY_GROUP = /(?:all\s+groups|each\s+group)\s*:/iuy;
const ONE_GROUP = /group(?![\p{L}\p{N}_.])\s*/iuy;
const QUOTED = /"((?:[^"]|"")*)"|'((?:[^']|'')*)'|`((?:[^`]|``)*)`/uy;
const SCORE = /[\p{L}_][\p{L}\p{N}_.]*(?:\s+[\p{L}_][\p{L}\p{N}_.]*)*/uy;
const OPERATOR = /<=|>=|≤|≥|<|>/uy;
const NUMBER = /[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?(?![\p{L}\p{N}_.])/iuy;

function matchAt(pattern: RegExp, text: string, offset: number): string {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0] ?? "";
}

/** Reads "ece < 0.05" or "all groups: logrank p > 0.01"; an InputError says what cannot be read. */
export function parseRequirement(text: string): Requirement {
  let at = 0;
  const skip = () => {
    at += matchAt(SPACE, text, at).length;
  };
  /** Returns what the pattern matches here and skips the blanks after it; "" when nothing matches. */
  const take = (pattern: RegExp): string => {
    const found = matchAt(pattern, text, at);
    at += found.length;
    skip();
    return found;
  };
  skip();
  if (at === text.length) throw syntaxError(text, at, "the requirement is empty");
  let scope: Requirement["scope"] = "everyone";
  if (take(EVERY_GROUP) !== "") scope = "all groups";
  else if (take(ONE_GROUP) !== "") {
    const begin = at;
    const quoted = take(QUOTED);
    if (quoted === "") {
      const opens = /["'`]/u.test(text[begin] ?? "");
      const problem = opens
        ? `this ${text[begin]} is never closed`
        : "expected a group's name in quotes here";
      throw syntaxError(text, begin, problem);
    }
    scope = { group: quoted.slice(1, -1).replaceAll(quoted[0] + quoted[0], quoted[0]) };
    if (text[at] !== ":") throw syntaxError(text, at, "expected : here");
    at++;
    skip();
  }
  const begin = at;
  const score = take(SCORE).trimEnd();
  if (score === "") throw syntaxError(text, begin, "expected a score here");
  if (text[at] === ":") {
    throw syntaxError(text, begin, `before : stands all groups, each group or group "NAME", not "${score}"`);
  }
  const metric = PATHS.get(plainly(score));
  if (metric === undefined) {
    throw syntaxError(text, begin, `unknown score: "${score}"`, `; the scores are ${listScores()}`);
  }
  const sign = at;
  const found = take(OPERATOR);
  const operator = OPERATORS.find((one) => one === found.replace("≤", "<=").replace("≥", ">="));
  if (operator === undefined) throw syntaxError(text, sign, "expected <, <=, > or >= here");
  const number = at;
  const limit = take(NUMBER);
  if (limit === "") throw syntaxError(text, number, "expected a number here");
  if (at < text.length) throw syntaxError(text, at, "expected the end of the requirement here");
  return { text, scope, metric, operator, limit: Number(limit) };
}

function syntaxError(text: string, offset: number, problem: string, more = ""): InputError {
  return new InputError(`${problem}\n${pointInto(text, offset)}`, {
    code: "requirement.syntax",
    where: "--require",
    hint: `a requirement is written like ece<0.05, all groups: logrank p>0.01 or group "stage = 4": ece<=0.1${more}`,
  });
}

function listScores(): string {
  return REQUIRABLE.map((path) => path.replaceAll(".", " ")).join(", ");
}

/** Refuses a requirement on a group that is not audited; called as soon as the groups are known, before the work. */
export function checkRequiredGroups(requirements: readonly Requirement[], names: readonly string[]): void {
  for (const { scope, text } of requirements) {
    if (scope === "all groups" && names.length === 0) {
      throw new InputError(`the requirement is about groups, and there are none: ${text}`, {
        code: "requirement.groups",
        hint: "name groups (--group, --groups), or leave the scope out to mean everyone",
      });
    }
    if (typeof scope !== "object" || scope.group === EVERYONE || names.includes(scope.group)) continue;
    throw new InputError(`no such group: "${scope.group}"`, {
      code: "requirement.group",
      where: text,
      hint: `the groups are ${[EVERYONE, ...names].map((name) => `"${name}"`).join(", ")}`,
    });
  }
}

/** The audit's name for everyone together. */
const EVERYONE = "all";

/** Judges each requirement against an audit: met, or where it is not and by how much. */
export function judgeRequirements(
  requirements: readonly Requirement[],
  { overall, groups, certificates }: AuditTable,
  options: UnknownOptions = {},
): RequirementResult[] {
  checkRequiredGroups(
    requirements,
    groups.map(({ name }) => name),
  );
  return requirements.map((requirement) => {
    const { scope } = requirement;
    const meant = [overall, ...groups].flatMap((scores, g) => {
      const certificate = certificates?.groups[g];
      return isMeant(scope, scores.name, g) ? [{ ...scores, ...(certificate && { certificate }) }] : [];
    });
    return judgeRequirement(requirement, meant, options);
  });
}

/** Whether a requirement is about a group, which is the g-th; everyone is the first. */
export function isMeant(scope: Requirement["scope"], name: string, g: number): boolean {
  if (scope === "everyone") return g === 0;
  return scope === "all groups" || name === scope.group;
}

/** What becomes of a requirement on a group that cannot be judged. */
export interface UnknownOptions {
  /** It fails nothing; otherwise it is not met. */
  readonly allowUnknown?: boolean;
}

/** Scores that a requirement can be judged by. */
interface RequirableScores
  extends Pick<AuditedScores, "name" | "events" | "expectedEvents" | "peopleWithEvents" | "agreement"> {
  readonly supported: { readonly bins: number };
  readonly absent: Readonly<Record<string, string>>;
  readonly certificate?: GroupCertificate;
}

/** One requirement against the scores it is about. */
export function judgeRequirement(
  requirement: Requirement,
  meant: readonly RequirableScores[],
  options: UnknownOptions,
): RequirementResult {
  const { text, scope, metric } = requirement;
  const failed: { group: string; value: number }[] = [];
  const undecided: { group: string; reason: string }[] = [];
  for (const scores of meant) {
    const value = readScore(scores, metric);
    if (typeof value !== "number") undecided.push({ group: scores.name, reason: value.reason });
    else if (!holds(value, requirement)) failed.push({ group: scores.name, value });
  }
  const allows = options.allowUnknown === true;
  const isOpen = failed.length === 0 && undecided.length === meant.length && allows;
  return {
    text,
    scope: typeof scope === "object" ? `group "${scope.group}"` : scope,
    metric,
    met: isOpen ? null : failed.length === 0 && (undecided.length === 0 || allows),
    failed,
    undecided,
  };
}

function holds(value: number, { operator, limit }: Requirement): boolean {
  switch (operator) {
    case "<":
      return value < limit;
    case "<=":
      return value <= limit;
    case ">":
      return value > limit;
    case ">=":
      return value >= limit;
    default:
      return unreachable(operator);
  }
}

function readScore(scores: RequirableScores, path: string): number | { readonly reason: string } {
  const isCount = COUNTS.some((count) => count === path);
  if (scores.agreement === "tooFewEvents" && !isCount && !path.startsWith("certificate."))
    return { reason: sayFewEvents(scores) ?? sayShortFollowUp(scores.supported.bins) };
  const keys = path.split(".");
  let found: unknown = scores;
  for (const key of keys) {
    found = typeof found === "object" && found !== null ? (found as Record<string, unknown>)[key] : null;
  }
  if (typeof found === "number" && Number.isFinite(found)) return found;
  // The reason for "intervals.ece.upper" may be listed under "intervals.ece".
  const reasons = keys.map((_, k) => scores.absent[keys.slice(0, keys.length - k).join(".")]);
  const certificate = keys[0] === "certificate" ? scores.certificate?.absent[keys[1]] : undefined;
  const reason = certificate ?? reasons.find((one) => one !== undefined);
  return { reason: reason ?? NOT_DRAWN[keys[0]] ?? "not computed" };
}

const NOT_DRAWN: Readonly<Record<string, string>> = {
  noiseFloor: "the noise floor was not drawn (--draws)",
  departure: "the noise floor was not drawn (--draws)",
  intervals: "intervals were not drawn (--replicates)",
  certificate: "certificates were not asked for (--certify)",
};
