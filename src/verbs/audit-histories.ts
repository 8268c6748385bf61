/**
 * The audit of curves where people enter late or have weights: the scores that are defined, for everyone and for
 * every group, each that is not with its reason (stats/scores/history-scores.ts). Groups are judged as in audit.ts;
 * under late entry by events up to each time alone (stats/calibration/draw-noise.ts). What is random goes by person
 * where the rows say whose they are: along the observed path, rows that follow one another together. No bound and no
 * certificate is given.
 */
import { absent } from "../core/measured.ts";
import { InputError } from "../core/errors.ts";
import { countPeopleWithEvents, haveSeveralRows } from "../data/outcomes/people.ts";
import { toBinnedSingleCause, toCurves, toInt32 } from "../data/plain-input.ts";
import { equalEventBlocks } from "../objectives/time-blocks.ts";
import { judgeAgreement } from "../stats/calibration/agreement.ts";
import { expectedEvents, logrankByPerson } from "../stats/individual-logrank.ts";
import { ENTERED_LATE, scoreHistories, WEIGHED } from "../stats/scores/history-scores.ts";
import { prepareScores } from "../stats/scores/prepared-scores.ts";
import type { Scores } from "../stats/scores/scores.ts";
import type { AuditInput, AuditOptions, AuditPhase, AuditTable } from "./audit.ts";
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

/** Scores curves against outcomes with late entries or weights, overall and by group. */
export async function auditHistories(input: AuditInput, options: AuditOptions): Promise<AuditTable> {
  const curves = toCurves(input.curves);
  const outcomes = toBinnedSingleCause(input.outcomes, "an audit");
  if (options.certify !== undefined) throw refuseCertificate(outcomes);
  const { seed = DEFAULT_SEED, draws = DEFAULT_DRAWS, replicates = 0, level, onProgress } = options;
  const tell = (phase: AuditPhase) => (done: number, total: number) => onProgress?.(phase, done, total);
  const people = input.people && haveSeveralRows(input.people) ? input.people : undefined;
  const by = people === undefined ? {} : { people };
  const named = (input.groups ?? []).map(({ name, rows }) => ({ name, rows: toInt32(rows) }));
  const everyone = { name: EVERYONE, rows: Int32Array.from({ length: curves.N }, (_, row) => row) };
  const audited = [everyone, ...named];
  const blocks = equalEventBlocks(outcomes);
  let scores: readonly Scores[] = audited.map(({ name, rows }, g) => {
    tell("scoring")(g, audited.length);
    const one = scoreHistories(name, curves, outcomes, rows, blocks);
    if (people === undefined) return one;
    const peopleWithEvents = countPeopleWithEvents(people, outcomes.event, rows);
    const logrankIndividual = logrankByPerson(one.logrankIndividual, curves, outcomes, people, rows);
    const expected = expectedEvents(curves, outcomes, rows, people);
    return { ...one, peopleWithEvents, expectedEvents: expected, logrankIndividual };
  });
  tell("scoring")(audited.length, audited.length);
  if (draws > 0) {
    const drawing = { draws, seed, ...by, onProgress: tell("drawing the noise floor") };
    scores = drawForScores(curves, outcomes, audited, scores, drawing);
  }
  if (replicates > 0) {
    const prepared = audited.map(({ name, rows }) => prepareScores(name, curves, outcomes, rows));
    const drawing = { replicates, seed, ...(level === undefined ? {} : { level }), ...by };
    const results = await (options.bootstrap ?? bootstrapHere)(prepared, drawing);
    scores = scores.map((one, g) => addIntervals(one, results[g]));
  }
  const unbounded = absent(outcomes.firstBin === undefined ? WEIGHED : ENTERED_LATE);
  const judged = judgeAgreement(scores, curves.T);
  const results = scores.map((one, g) => addAgreement(one, judged[g], options.unbounded, unbounded));
  return {
    overall: results[0],
    groups: results.slice(1),
    bounds: { alpha: BOUND_ALPHA, draws: 0, seed },
  };
}

/** Certificates bound means of curves against true survival, counting people from the start. */
export function refuseCertificate({ firstBin }: { readonly firstBin?: unknown }): InputError {
  return new InputError(
    firstBin === undefined
      ? "no certificate can be given with weights: it counts people, and a weight of 2 is not two people seen"
      : `no certificate can be given under late entry: ${ENTERED_LATE}`,
    {
      code: "certify.history",
      hint: "leave out --certify: the individual logrank of every group is in the audit",
    },
  );
}
