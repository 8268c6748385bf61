/**
 * The audit of predicted curves: every score for everyone and for every group. Each calibration error stands beside
 * the error a perfect model would show on the same rows, with whether the group disagrees with what was observed and
 * how far off it could be; bootstrap intervals and certificates come on request. Any program's curves will do: the
 * audit uses only the survival matrix and the observed outcomes. Late entry and weights go to audit-histories.ts.
 */
import type { PhaseProgress } from "../core/progress.ts";
import { countPeopleWithEvents, haveSeveralRows, type People } from "../data/outcomes/people.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import {
  type BinnedSingleCauseInput,
  type CurvesInput,
  toBinnedSingleCause,
  toCurves,
  toInt32,
} from "../data/plain-input.ts";
import { type Agreement, judgeAgreement } from "../stats/calibration/agreement.ts";
import {
  boundGroups,
  type Certificates,
  type CertifyOptions,
  certify,
  type GroupBounds,
} from "../stats/certificates/certificates.ts";
import { expectedEvents, logrankByPerson } from "../stats/individual-logrank.ts";
import type { BootstrapOptions, GroupBootstrap } from "../stats/scores/bootstrap.ts";
import { type PreparedScores, prepareScores } from "../stats/scores/prepared-scores.ts";
import { areHistories } from "../stats/scores/history-scores.ts";
import { type Scores, scoreCurves } from "../stats/scores/scores.ts";
import { auditHistories } from "./audit-histories.ts";
import {
  addAgreement,
  addIntervals,
  BOUND_ALPHA,
  bootstrapHere,
  DEFAULT_DRAWS,
  DEFAULT_SEED,
  drawForScores,
  EVERYONE,
} from "./audit-parts.ts";

export { BOUND_ALPHA, bootstrapHere, DEFAULT_DRAWS } from "./audit-parts.ts";

/** A group to score by itself. */
export interface AuditGroup {
  readonly name: string;
  /** Its members, 0-based. */
  readonly rows: Int32Array;
}

/** Predicted curves and the outcomes of the same people. */
export interface AuditInput {
  /** Predicted survival of each person at the end of every bin. */
  readonly curves: CurvesInput;
  /**
   * The bin in which each person had the event or was censored; first bins at risk and weights where there are any.
   */
  readonly outcomes: BinnedSingleCauseInput;
  /** Groups besides everyone: a name, and the members' rows, 0-based. */
  readonly groups?: readonly { readonly name: string; readonly rows: ArrayLike<number> }[];
  /** Whose rows are whose, where people have several: noise floor, intervals and certificates then count people. */
  readonly people?: People;
}

/** How much to compute: noise floor, intervals, certificates. */
export interface AuditOptions {
  /** Seed of the draws and replicates; 1 unless given. */
  readonly seed?: number;
  /**
   * Draws of the noise floor; 0 omits it. From 999 on, the default, there are at least 100 for each group, and five
   * times as many where a p is near a decision (draw-noise.ts).
   */
  readonly draws?: number;
  /** Bootstrap replicates; 0, the default, gives no intervals. */
  readonly replicates?: number;
  /** Coverage of the intervals; 0.95 unless given. */
  readonly level?: number;
  /** Simultaneous bounds on the distance of every group; none unless asked for. */
  readonly certify?: Omit<CertifyOptions, "seed">;
  /**
   * Why these rows can bound nothing, for example because the model has seen them; bounds are then omitted with this
   * reason.
   */
  readonly unbounded?: string;
  /** Told how far each phase is, for a progress bar. */
  readonly onProgress?: AuditProgress;
  /** Runs the replicates; one after the other in this thread unless something faster is given. */
  readonly bootstrap?: (
    groups: readonly PreparedScores[],
    options: BootstrapOptions,
  ) => Promise<readonly GroupBootstrap[]>;
}

/** What an audit spends its time on, in this order; replicates tell of themselves. */
export type AuditPhase = "predicting" | "scoring" | "drawing the noise floor" | "bounding";

/** How much of a phase is done: rows where they are predicted or drawn, otherwise groups. */
export type AuditProgress = PhaseProgress<AuditPhase>;

/** The scores of a group that was audited together with others. */
export interface AuditedScores extends Scores {
  readonly logrankIndividual: Scores["logrankIndividual"] & {
    /** Holm's, over the groups with enough events and follow-up to be tested. */
    readonly adjustedP: number | null;
  };
  /** Whether the group's curves disagree with what was observed, allowing for all groups. */
  readonly agreement: Agreement;
  /**
   * How far off the mean curve could be: with 95 % confidence for all groups together, its r.m.s. distance to the
   * true survival curve over the group's support stays below this. Null, with the reason in `absent`, where no bound
   * can be given.
   */
  readonly bound: number | null;
}

/** Every score, for everyone and for each group. */
export interface AuditTable {
  readonly overall: AuditedScores;
  readonly groups: readonly AuditedScores[];
  /** How the bounds were drawn: the probability that any of them fails is at most alpha. */
  readonly bounds: Omit<GroupBounds, "groups">;
  readonly certificates?: Certificates;
}

/** Bootstrap replicates of an audit that becomes a report. */
export const REPORT_REPLICATES = 200;

/** Scores curves against outcomes, overall and by group. */
export async function audit(input: AuditInput, options: AuditOptions = {}): Promise<AuditTable> {
  const curves = toCurves(input.curves);
  const given = toBinnedSingleCause(input.outcomes, "an audit");
  if (areHistories(given)) return auditHistories(input, options);
  const outcomes = given as BinnedRightCensored;
  const groups = (input.groups ?? []).map(({ name, rows }) => ({ name, rows: toInt32(rows) }));
  const by = input.people === undefined ? {} : { people: input.people };
  const { seed = DEFAULT_SEED, draws = DEFAULT_DRAWS, replicates = 0, level, onProgress } = options;
  const tell = (phase: AuditPhase) => (done: number, total: number) => onProgress?.(phase, done, total);
  const everyone = { name: EVERYONE, rows: Int32Array.from({ length: curves.N }, (_, row) => row) };
  const audited = [everyone, ...groups];
  let scores: readonly Scores[] = audited.map(({ name, rows }, g) => {
    tell("scoring")(g, audited.length);
    return scoreCurves(name, curves, outcomes, rows);
  });
  tell("scoring")(audited.length, audited.length);
  const people = input.people && haveSeveralRows(input.people) ? input.people : undefined;
  if (people !== undefined) {
    scores = scores.map((one, g) => {
      const { rows } = audited[g];
      return {
        ...one,
        peopleWithEvents: countPeopleWithEvents(people, outcomes.event, rows),
        expectedEvents: expectedEvents(curves, outcomes, rows, people),
        logrankIndividual: logrankByPerson(one.logrankIndividual, curves, outcomes, people, rows),
      };
    });
  }
  if (draws > 0) {
    const drawing = { draws, seed, ...by, onProgress: tell("drawing the noise floor") };
    scores = drawForScores(curves, outcomes, audited, scores, drawing);
  }
  if (replicates > 0) {
    const prepared = audited.map(({ name, rows }) => prepareScores(name, curves, outcomes, rows));
    const run = options.bootstrap ?? bootstrapHere;
    const results = await run(prepared, {
      replicates,
      seed,
      ...(level === undefined ? {} : { level }),
      ...by,
    });
    scores = scores.map((one, g) => addIntervals(one, results[g]));
  }
  const { groups: bounds, ...drawn } = boundGroups(curves, outcomes, audited, {
    alpha: BOUND_ALPHA,
    seed,
    ...by,
    onProgress: tell("bounding"),
  });
  const judged = judgeAgreement(scores, curves.T);
  const results = scores.map((one, g) => addAgreement(one, judged[g], options.unbounded, bounds[g]));
  return {
    overall: results[0],
    groups: results.slice(1),
    bounds: drawn,
    ...(options.certify === undefined
      ? {}
      : { certificates: certify(curves, outcomes, audited, { seed, ...options.certify, ...by }) }),
  };
}
