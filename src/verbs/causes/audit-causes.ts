/**
 * The audit of predicted cumulative incidences where causes compete: every score for everyone and every group, cause by
 * cause, as audit.ts has it for survival. Each calibration error stands beside what a perfect model would show on the
 * same rows; whether a group disagrees allows for all groups and causes together (noise floor by the draws themselves,
 * individual logranks by Holm), and so do the bounds on how far off it could be. Any program's incidences will do.
 * Under late entry observed and expected events and their tests remain, the rest is absent with the reason.
 */
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import {
  type CauseCurves,
  type CauseCurvesInput,
  causeCurves,
  hazardsByCause,
} from "../../data/curves/cause-curves.ts";
import { countPeopleWithEvents, haveSeveralRows, type People } from "../../data/outcomes/people.ts";
import { type BinnedOutcomesInput, toInt32 } from "../../data/plain-input.ts";
import { type Agreement, canBeJudged, judgeAgreement } from "../../stats/calibration/agreement.ts";
import { type CellNoise, drawNoise } from "../../stats/calibration/draw-noise.ts";
import { drawnTable } from "../../stats/calibration/drawn-outcomes.ts";
import { type BinnedCauses, matchCauses, supportOfCauses } from "../../stats/causes/binned-causes.ts";
import { boundCauses, type CauseBounds } from "../../stats/causes/cause-bounds.ts";
import {
  type CauseScoring,
  expectedOfCause,
  type ScoredCause,
  scoreCauses,
} from "../../stats/causes/score-cause.ts";
import { type AuditOptions, type AuditPhase, BOUND_ALPHA, DEFAULT_DRAWS } from "../audit.ts";
import { addAgreement, noiseOf } from "../audit-parts.ts";

/** Predicted incidences and what became of the same people. */
export interface CauseAuditInput {
  /** Predicted incidence of each person and cause at the end of every bin. */
  readonly curves: CauseCurvesInput;
  /** The bin in which each person had an event or was censored, and the cause. */
  readonly outcomes: BinnedOutcomesInput;
  /** Groups besides everyone: a name, and the members' rows, 0-based. */
  readonly groups?: readonly { readonly name: string; readonly rows: ArrayLike<number> }[];
  /** Whose rows are whose, where people have several: noise floor, tests and bounds then count people. */
  readonly people?: People;
}

/** How much to compute. */
export interface CauseAuditOptions extends Pick<AuditOptions, "seed" | "draws" | "unbounded" | "onProgress"> {
  /** Bins at which Brier score, AUC and concordance are given; three that divide everyone's support unless given. */
  readonly bins?: readonly number[];
}

/** The scores of one cause in a group that was audited together with others. */
export interface CauseScores extends ScoredCause {
  readonly logrankIndividual: ScoredCause["logrankIndividual"] & {
    /** Holm's, over the groups and causes with enough events and follow-up to be tested. */
    readonly adjustedP: number | null;
  };
  /** Whether the group's incidence of the cause disagrees with what was observed, all groups and causes considered. */
  readonly agreement: Agreement;
  /**
   * How far off the mean incidence could be: with 95 % confidence for all groups and causes together, its r.m.s.
   * distance to the true incidence over the group's support stays below this. Null, with the reason in `absent`, where
   * no bound can be given.
   */
  readonly bound: number | null;
}

/** Every score of one cause. */
export interface AuditedCause {
  readonly name: string;
  readonly overall: CauseScores;
  readonly groups: readonly CauseScores[];
}

/** Every score by cause, for everyone and for each group. */
export interface CauseAuditTable {
  readonly causes: readonly AuditedCause[];
  /** How many bins the curves have. */
  readonly T: number;
  /** Rows that enter and leave within one bin: at risk in none, they are not judged. */
  readonly unjudged: number;
  /** How the bounds were drawn: the probability that any of them fails is at most alpha. */
  readonly bounds: Omit<CauseBounds, "causes">;
}

const EVERYONE = "all";
const DEFAULT_SEED = 1;
/** Where everyone's support is divided for the scores at single bins. */
const SHARES = [0.25, 0.5, 0.75] as const;

/** Scores incidences against outcomes, by cause, overall and by group. */
export async function auditCauses(
  input: CauseAuditInput,
  options: CauseAuditOptions = {},
): Promise<CauseAuditTable> {
  const curves = causeCurves(input.curves);
  const people = input.people && haveSeveralRows(input.people) ? input.people : undefined;
  const outcomes = byPerson(matchCauses(curves, input.outcomes), people);
  const { seed = DEFAULT_SEED, draws = DEFAULT_DRAWS, onProgress } = options;
  const tell = (phase: AuditPhase) => (done: number, total: number) => onProgress?.(phase, done, total);
  const everyone = { name: EVERYONE, rows: Int32Array.from({ length: curves.N }, (_, row) => row) };
  const audited = [
    everyone,
    ...(input.groups ?? []).map(({ name, rows }) => ({ name, rows: toInt32(rows) })),
  ];
  const scoring = prepareScoring(curves, outcomes, everyone.rows, options.bins);
  const scored = audited.map(({ name, rows }, g) => {
    tell("scoring")(g, audited.length);
    return addPeople(scoreCauses(name, scoring, rows), scoring, people, rows);
  });
  tell("scoring")(audited.length, audited.length);
  // Cause by cause, everyone first: the order of all that is judged together.
  let scores = curves.causes.flatMap((_, k) => scored.map((own) => own[k]));
  if (draws > 0) {
    const drawing = { draws, seed, ...present({ people }), onProgress: tell("drawing the noise floor") };
    const G = audited.length;
    const judged = audited.map((_, g) =>
      curves.causes.map((_cause, k) => canBeJudged(scores[k * G + g], curves.T)),
    );
    const rows = audited.map((one) => one.rows);
    const noise = drawNoise(drawnTable(curves, outcomes), rows, { ...drawing, judged });
    scores = scores.map((one, at) => addNoise(one, noise[at % G][Math.floor(at / G)]));
  }
  const { causes: bounds, ...drawn } = boundCauses(curves, outcomes, audited, {
    alpha: BOUND_ALPHA,
    seed,
    ...present({ people }),
    onProgress: tell("bounding"),
  });
  const limits = bounds.flat();
  const judged = judgeAgreement(scores, curves.T);
  const results = scores.map((one, at) => addAgreement(one, judged[at], options.unbounded, limits[at]));
  const G = audited.length;
  return {
    causes: curves.causes.map((name, k) => ({
      name,
      overall: results[k * G],
      groups: results.slice(k * G + 1, (k + 1) * G),
    })),
    T: curves.T,
    unjudged: countUnjudged(outcomes),
    bounds: drawn,
  };
}

/** Whose rows are whose is said by people alone: where everyone has one row, rows are people. */
function byPerson(outcomes: BinnedCauses, people: People | undefined): BinnedCauses {
  const { id: _, ...rest } = outcomes;
  return people === undefined ? rest : { ...rest, id: people.of };
}

/** What all groups share: hazards by cause, and the bins of single scores. */
function prepareScoring(
  curves: CauseCurves,
  outcomes: BinnedCauses,
  everyone: Int32Array,
  given: readonly number[] | undefined,
): CauseScoring {
  const { T } = curves;
  const hazards = hazardsByCause(curves);
  const strange = given?.find((bin) => !(Number.isInteger(bin) && bin >= 1 && bin <= T));
  if (strange !== undefined)
    throw new InputError(`bin of a score outside 1…${T}: ${strange}`, { code: "bin.range" });
  const supported = supportOfCauses(outcomes, everyone);
  const chosen = given ?? SHARES.map((share) => Math.ceil(share * supported));
  const bins = [...new Set(chosen)].filter((bin) => bin >= 1).sort((a, b) => a - b);
  return { curves, outcomes, hazards, bins };
}

function addPeople(
  scores: readonly ScoredCause[],
  scoring: CauseScoring,
  people: People | undefined,
  rows: Int32Array,
): readonly ScoredCause[] {
  if (people === undefined) return scores;
  return scores.map((one, k) => {
    const own = scoring.outcomes.cause.map((cause) => (cause === k + 1 ? 1 : 0));
    const expected = expectedOfCause(scoring, k, rows, people);
    return { ...one, peopleWithEvents: countPeopleWithEvents(people, own, rows), expectedEvents: expected };
  });
}

function addNoise(scores: ScoredCause, cell: CellNoise): ScoredCause {
  const { absentReasons, ...drawn } = noiseOf(cell);
  return { ...scores, ...drawn, absent: { ...absentReasons, ...scores.absent } };
}

function countUnjudged({ bin, firstBin }: BinnedCauses): number {
  return firstBin === undefined ? 0 : bin.reduce((sum, own, row) => sum + (firstBin[row] > own ? 1 : 0), 0);
}
