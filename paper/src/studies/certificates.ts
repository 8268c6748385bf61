/**
 * Do certificates hold? The study audits simulated people whose true curves are known. They have five yes/no features,
 * each true for two in three people and each a group of its own; with everyone, that makes six overlapping groups.
 * Hazards are proportional in the features; 83 in 100 people are censored, at random. The predicted curves are the true
 * ones lowered by c in every bin, so the true distance of every group is c over any bins. λ and the bins come either
 * from training rows (three times as many people) or not.
 */
import { createRandom, isAbsent, type Random } from "graduate-survival/core";
import type { BinnedRightCensored, Curves } from "graduate-survival/data";
import {
  boundExactly,
  certify,
  type FollowUp,
  groupSupport,
  meanCurve,
  tallyFollowUp,
} from "graduate-survival/stats";

const T = 30;
const FEATURES = 5;
const TYPES = 2 ** FEATURES;
const SHARE = 2 / 3;
const EFFECTS = [0.5, -0.4, 0.3, 0.6, -0.3];
/** Cumulative hazard at T where all effects cancel, and its growth with time. */
const LEVEL = 0.32;
const POWER = 1.2;
/** Of those still under observation, the share that leaves in each bin. */
const LEAVING = 0.04;
/** People in training for each one audited, and audits for each training. */
const TRAINING = 3;
const AUDITS_A_TRAINING = 20;
/** Separate from the streams of the audits. */
const TRAINING_STREAM = 1_000_000;

export const BASES = ["training rows", "audited rows"] as const;
export type Basis = (typeof BASES)[number];

/**
 * How often a bound held for all groups, the share of groups that had one, and the medians of the bound and of its
 * ratio to the truth.
 */
export interface BoundLine {
  readonly covered: number;
  readonly stated: number;
  readonly bound: number | null;
  readonly ratio: number | null;
}

/** A line of paper/certificates.jsonl: one size, distance and basis. */
export interface CertificateLine {
  readonly n: number;
  readonly distance: number;
  readonly basis: Basis;
  readonly audits: number;
  readonly seed: number;
  readonly alpha: number;
  readonly groups: number;
  readonly censored: number;
  readonly bins: number | null;
  readonly events: number | null;
  readonly observed: number | null;
  readonly exact: BoundLine;
  readonly exactPopulation: BoundLine;
  readonly tight: BoundLine;
}

export interface CellRequest {
  /** Approximate number of people in a group. */
  readonly n: number;
  /** How far the predicted curves are lowered. */
  readonly distance: number;
  readonly audits: number;
  readonly alpha: number;
  readonly seed: number;
}

const has = (type: number, feature: number) => ((type >> feature) & 1) === 1;

/** The people with each combination of features: their share of all, and their true curve. */
const types = Array.from({ length: TYPES }, (_, type) => {
  let effect = 0;
  let probability = 1;
  for (let j = 0; j < FEATURES; j++) {
    effect += EFFECTS[j] * ((has(type, j) ? 1 : 0) - SHARE);
    probability *= has(type, j) ? SHARE : 1 - SHARE;
  }
  const survival = Float64Array.from({ length: T }, (_, t) =>
    Math.exp(-LEVEL * ((t + 1) / T) ** POWER * Math.exp(effect)),
  );
  return { probability, survival };
});

/** The true curves: everyone, then those with each feature; t = 0…T. */
const truths = Array.from({ length: FEATURES + 1 }, (_, g) => {
  const curve = new Float64Array(T + 1);
  let total = 0;
  types.forEach(({ probability, survival }, type) => {
    if (g > 0 && !has(type, g - 1)) return;
    total += probability;
    for (let t = 1; t <= T; t++) curve[t] += probability * survival[t - 1];
  });
  for (let t = 1; t <= T; t++) curve[t] /= total;
  curve[0] = 1;
  return curve;
});

interface People {
  readonly type: Uint8Array;
  readonly outcomes: BinnedRightCensored;
  readonly groups: readonly { readonly name: string; readonly rows: Int32Array }[];
}

function drawPeople(N: number, random: Random): People {
  const type = new Uint8Array(N);
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    for (let j = 0; j < FEATURES; j++) if (random.uniform() < SHARE) type[i] |= 1 << j;
    const { survival } = types[type[i]];
    const u = random.uniform();
    let dies = 0;
    while (dies < T && survival[dies] >= u) dies++;
    const leaves = Math.floor(Math.log(1 - random.uniform()) / Math.log(1 - LEAVING));
    event[i] = dies <= leaves && dies < T ? 1 : 0;
    bin[i] = Math.min(dies, leaves, T - 1) + 1;
  }
  const groups = Array.from({ length: FEATURES + 1 }, (_, g) => ({
    name: g === 0 ? "all" : `feature ${g}`,
    rows: Int32Array.from({ length: N }, (_, i) => i).filter((i) => g === 0 || has(type[i], g - 1)),
  }));
  return { type, outcomes: { T, bin, event }, groups };
}

function lowerCurves(type: Uint8Array, lowered: number): Curves {
  const survival = new Float64Array(type.length * T);
  type.forEach((one, i) => {
    for (let t = 0; t < T; t++) survival[i * T + t] = types[one].survival[t] - lowered;
  });
  return { N: type.length, T, survival };
}

/** ‖m − S_g‖ over t ≤ last, where m is the mean curve of the group's rows: the same for everyone of a type. */
function sampleDistance(
  type: Uint8Array,
  rows: Int32Array,
  lowered: number,
  truth: Float64Array,
  last: number,
): number {
  const count = new Float64Array(TYPES);
  for (const row of rows) count[type[row]]++;
  let sum = 0;
  for (let t = 1; t <= last; t++) {
    const mean =
      types.reduce((total, { survival }, k) => total + count[k] * survival[t - 1], 0) / rows.length;
    sum += (mean - lowered - truth[t]) ** 2;
  }
  return Math.sqrt(sum / last);
}

function median(values: readonly number[]): number | null {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? null : Number(sorted[Math.floor(sorted.length / 2)].toPrecision(5));
}

/** One group of one audit. */
interface AuditedGroup {
  readonly bins: number;
  readonly events: number;
  /** Distance to Kaplan-Meier. */
  readonly distance: number | null;
  readonly exact: number | null;
  readonly exactPopulation: number | null;
  readonly tight: number | null;
  /** True distance of the mean curve of exactly these people. */
  readonly sample: number | null;
}

type Certified = Omit<AuditedGroup, "sample">;

/** Bounds for the same people with λ and bins from training rows, and without. */
function certifyPeople(
  people: People,
  curves: Curves,
  followUp: readonly FollowUp[],
  options: { readonly alpha: number; readonly seed: number },
): Readonly<Record<Basis, readonly Certified[]>> {
  const { outcomes, groups } = people;
  const planned = certify(curves, outcomes, groups, {
    ...options,
    followUp,
    support: "training rows",
  }).groups;
  const bins = groups.map(({ rows }) => groupSupport(outcomes, { rows }));
  // Over the same bins the tight bounds are the same, so they are not drawn again.
  const isSame = planned.every((one, g) => one.bins === bins[g]);
  const unplanned = isSame
    ? planned.map((one, g) => {
        const { rows } = groups[g];
        const plan = { alpha: options.alpha / groups.length, trained: null, last: bins[g] };
        const mean = meanCurve(curves, undefined, rows);
        if (isAbsent(mean)) throw new Error(`a group without people: ${mean.absent}`);
        const { sample, population } = boundExactly(mean, tallyFollowUp(outcomes, rows), plan);
        return { ...one, exact: sample, exactPopulation: population };
      })
    : certify(curves, outcomes, groups, options).groups;
  return { "training rows": planned, "audited rows": unplanned };
}

function summariseBound(
  audits: readonly (readonly AuditedGroup[])[],
  key: "exact" | "exactPopulation" | "tight",
  distance: number,
): BoundLine {
  const truthOf = ({ sample }: AuditedGroup) => (key === "exact" ? (sample ?? Number.NaN) : distance);
  const all = audits.flat();
  const stated = all.flatMap((one) => {
    const bound = one[key];
    return bound === null ? [] : [{ bound, truth: truthOf(one) }];
  });
  const holds = (one: AuditedGroup) => {
    const bound = one[key];
    return bound === null || truthOf(one) <= bound;
  };
  return {
    covered: audits.filter((groups) => groups.every(holds)).length,
    stated: Number((stated.length / all.length).toFixed(4)),
    bound: median(stated.map(({ bound }) => bound)),
    ratio: distance === 0 ? null : median(stated.map(({ bound, truth }) => bound / truth)),
  };
}

/** Audits of one size and distance; returns a line for each basis. */
export function runCell({ n, distance, audits, alpha, seed }: CellRequest): readonly CertificateLine[] {
  const N = Math.round(n / SHARE);
  const results: Record<Basis, (readonly AuditedGroup[])[]> = { "training rows": [], "audited rows": [] };
  let censored = 0;
  let followUp: readonly FollowUp[] = [];
  for (let audit = 0; audit < audits; audit++) {
    if (audit % AUDITS_A_TRAINING === 0) {
      const trained = drawPeople(TRAINING * N, createRandom(seed, TRAINING_STREAM + audit));
      followUp = trained.groups.map(({ rows }) => tallyFollowUp(trained.outcomes, rows));
    }
    const people = drawPeople(N, createRandom(seed, audit));
    const { type, outcomes, groups } = people;
    censored += outcomes.event.reduce((sum, one) => sum + 1 - one, 0) / N;
    const curves = lowerCurves(type, distance);
    const certified = certifyPeople(people, curves, followUp, { alpha, seed: seed + audit });
    for (const basis of BASES) {
      results[basis].push(
        certified[basis].map((one, g) => ({
          ...one,
          sample: one.bins === 0 ? null : sampleDistance(type, groups[g].rows, distance, truths[g], one.bins),
        })),
      );
    }
  }
  return BASES.map((basis) => {
    const all = results[basis].flat();
    return {
      n,
      distance,
      basis,
      audits,
      seed,
      alpha,
      groups: FEATURES + 1,
      censored: Number((censored / audits).toFixed(4)),
      bins: median(all.map(({ bins }) => bins)),
      events: median(all.map(({ events }) => events)),
      observed: median(all.flatMap((one) => (one.distance === null ? [] : [one.distance]))),
      exact: summariseBound(results[basis], "exact", distance),
      exactPopulation: summariseBound(results[basis], "exactPopulation", distance),
      tight: summariseBound(results[basis], "tight", distance),
    };
  });
}
