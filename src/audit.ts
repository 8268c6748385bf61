/**
 * The audit of predicted curves: every score for everyone and for every group, each calibration error beside the error a
 * perfect model would show on the same rows, and bootstrap intervals and certificates when asked for. Any program's curves
 * will do: only the survival matrix and the observed outcomes are looked at.
 */
import { isAbsent } from "./core/measured.ts";
import type { Curves } from "./data/curves.ts";
import type { BinnedOutcomes } from "./data/outcomes.ts";
import type { People } from "./data/people.ts";
import { type BootstrapOptions, bootstrapScores, type GroupBootstrap } from "./stats/bootstrap.ts";
import { type Certificates, type CertifyOptions, certify } from "./stats/certificates.ts";
import { type GroupNoiseFloor, simultaneousNoiseFloor } from "./stats/noise-floor.ts";
import { type PreparedScores, prepareScores } from "./stats/prepared-scores.ts";
import { type Scores, scoreCurves } from "./stats/scores.ts";

/** A group to be scored by itself. */
export interface AuditGroup {
  readonly name: string;
  readonly rows: Int32Array;
}

/** Predicted curves and what became of the same people. */
export interface AuditInput {
  readonly curves: Curves;
  readonly outcomes: BinnedOutcomes;
  readonly groups?: readonly AuditGroup[];
  /** Whose rows are whose, where people have several: noise floor, intervals and certificates then go by person. */
  readonly people?: People;
}

/** How much of an audit is wanted: noise floor, intervals, certificates. */
export interface AuditOptions {
  readonly seed?: number;
  /** Draws of the noise floor; 0 leaves it out. */
  readonly draws?: number;
  /** Bootstrap replicates; 0, the default, gives no intervals. */
  readonly replicates?: number;
  readonly level?: number;
  /** Bounds on the distance of every group, for all of them together; none unless asked for. */
  readonly certify?: Omit<CertifyOptions, "seed">;
  /** What runs the replicates; one after the other in this thread unless something faster is given. */
  readonly bootstrap?: (
    groups: readonly PreparedScores[],
    options: BootstrapOptions,
  ) => Promise<readonly GroupBootstrap[]>;
}

/** Every score, of everyone and of each group. */
export interface AuditTable {
  readonly overall: Scores;
  readonly groups: readonly Scores[];
  readonly certificates?: Certificates;
}

const EVERYONE = "all";
const DEFAULT_SEED = 1;
const DEFAULT_DRAWS = 200;

/** Scores curves against outcomes, overall and by group. */
export async function audit(input: AuditInput, options: AuditOptions = {}): Promise<AuditTable> {
  const { curves, outcomes, groups = [] } = input;
  const by = input.people === undefined ? {} : { people: input.people };
  const { seed = DEFAULT_SEED, draws = DEFAULT_DRAWS, replicates = 0, level } = options;
  const everyone = { name: EVERYONE, rows: Int32Array.from({ length: curves.N }, (_, row) => row) };
  const audited = [everyone, ...groups];
  let scores: readonly Scores[] = audited.map(({ name, rows }) => scoreCurves(name, curves, outcomes, rows));
  if (draws > 0) {
    const floors = simultaneousNoiseFloor(curves, outcomes, audited, { draws, seed, ...by }).groups;
    scores = scores.map((one, g) => addNoiseFloor(one, floors[g]));
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
  return {
    overall: scores[0],
    groups: scores.slice(1),
    ...(options.certify === undefined
      ? {}
      : { certificates: certify(curves, outcomes, audited, { seed, ...options.certify, ...by }) }),
  };
}

async function bootstrapHere(groups: readonly PreparedScores[], options: BootstrapOptions) {
  const steps = bootstrapScores(groups, options);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

function addNoiseFloor(scores: Scores, { floor, adjustedP }: GroupNoiseFloor): Scores {
  if (isAbsent(floor)) return { ...scores, absent: { ...scores.absent, noiseFloor: floor.absent } };
  const { ece, eceCritical, p } = floor;
  return {
    ...scores,
    noiseFloor: { ece, eceCritical, p, adjustedP: isAbsent(adjustedP) ? null : adjustedP },
  };
}

function addIntervals(scores: Scores, result: GroupBootstrap): Scores {
  const reasons = Object.entries(result.absent).map(([path, reason]) => [`intervals.${path}`, reason]);
  return {
    ...scores,
    intervals: result.intervals,
    absent: { ...scores.absent, ...Object.fromEntries(reasons) },
  };
}
