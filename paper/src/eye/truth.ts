/**
 * Scores against the truth of the simulated cohort, on a large fresh sample of people; no outcomes are needed (method
 * section 12). With Δ(t) = Ŝ(t|x) − S*(t|x) and τ_g the support of group g:
 *   A_g   = √ mean_{t ≤ τ_g} (mean of Δ(t) over the group)²
 *   B_g   = √ mean over the fifths of the group by true risk at τ_g, and over t ≤ τ_g,
 *             of (mean of Δ(t) over the fifth)²
 *   ISE_g = mean over the group's people of mean_{t ≤ τ_g} Δ(t)²
 * so that A ≤ B ≤ √ISE. The paper's C-index is computed for the same people uncensored, for Ŝ and for S*. People come
 * in chunks, and only pairs within a chunk are compared: no pair is favoured, and at most one chunk of curves is in
 * memory.
 */
import { InputError, isAbsent } from "graduate-survival/core";
import {
  type BinnedRightCensored,
  binOutcomes,
  type Column,
  type Curves,
  type Group,
  type GroupMembers,
  resolveGroups,
  type Table,
  type TimeGrid,
} from "graduate-survival/data";
import { concordancePaper, type TimeDependentPairs, timeDependentPairs } from "graduate-survival/stats";
import { type EyeCohort, type EyeSettings, simulateEye } from "./simulate.ts";

/** Default size of a fresh sample: a mean over one in a hundred of them is known to about .001. */
export const TRUTH_PEOPLE = 200_000;

export interface TruthSample {
  /** Settings of the fresh sample, which has its own seed. */
  readonly settings: EyeSettings;
  readonly groups: readonly Group[];
  /** How many bins count for each group, 1…T. */
  readonly supports: readonly number[];
  readonly grid: TimeGrid;
}

/** Curves on the sample's grid for every row of the table, which holds only features. */
export type PredictCurves = (table: Table) => Promise<Curves>;

export interface TruthRequest extends TruthSample {
  /** Called for one chunk of people after the other, in order. */
  readonly predictCurves: PredictCurves;
}

export interface TrueGroupErrors {
  readonly name: string;
  readonly n: number;
  readonly A: number;
  readonly B: number;
  readonly ise: number;
}

export interface TruthScores {
  readonly groups: readonly TrueGroupErrors[];
  readonly concordance: number;
  readonly concordanceOfTruth: number;
}

/** A fresh sample, prepared once for every system that is scored on it. */
export interface PreparedTruth {
  readonly people: EyeCohort;
  score(predictCurves: PredictCurves): Promise<TruthScores>;
}

export type PrepareTruth = (sample: TruthSample) => PreparedTruth;

const CHUNK = 10_000;
const FIFTHS = 5;

interface Members {
  readonly name: string;
  readonly support: number;
  readonly rows: Int32Array; // ascending
  /** Which fifth by true risk, 0 the lowest. */
  readonly fifth: Uint8Array;
}

export async function scoreAgainstTruth(request: TruthRequest): Promise<TruthScores> {
  return prepareTruth(request).score(request.predictCurves);
}

export function prepareTruth(sample: TruthSample): PreparedTruth {
  checkSupports(sample);
  return prepareSample(sample, drawPeople(sample));
}

/**
 * A prepareTruth that keeps its last result: the systems of a cohort and seed share a sample, and the seeds of a cohort
 * share its people. This saves about a quarter of the scoring time.
 */
export function keepLastTruth(): PrepareTruth {
  const people = keepLast(drawPeople, ({ settings, groups }) => [settings, groups]);
  return keepLast(
    (sample) => {
      checkSupports(sample);
      return prepareSample(sample, people(sample));
    },
    ({ settings, groups, supports, grid }) => [settings, groups, supports, Array.from(grid.edges)],
  );
}

function keepLast<From, To>(make: (from: From) => To, keyOf: (from: From) => unknown): (from: From) => To {
  let last: { readonly key: string; readonly made: To } | null = null;
  return (from) => {
    const key = JSON.stringify(keyOf(from));
    if (last?.key !== key) last = { key, made: make(from) };
    return last.made;
  };
}

interface People {
  readonly cohort: EyeCohort;
  readonly members: readonly GroupMembers[];
}

function drawPeople({ settings, groups }: Pick<TruthSample, "settings" | "groups">): People {
  const cohort = simulateEye(settings);
  return { cohort, members: resolveGroups(groups, cohort.table) };
}

function prepareSample(sample: TruthSample, people: People): PreparedTruth {
  const { grid } = sample;
  const { T } = grid;
  const { cohort } = people;
  const { table } = cohort;
  const features = table.columns.filter(({ name }) => name !== "time" && name !== "event");
  const groups = rankMembers(sample, people);
  const uncensored = binOutcomes({ time: cohort.eventTime, event: new Uint8Array(table.rows).fill(1) }, grid);
  const ofTruth = createPairSum();
  let isTruthCompared = false;

  return {
    people: cohort,
    async score(predictCurves) {
      const sums = groups.map(() => new Float64Array(FIFTHS * T)); // ΣΔ per fifth and bin
      const squares = new Float64Array(groups.length); // Σ over people of mean Δ²
      const next = new Int32Array(groups.length); // the first member not yet seen
      const ofSystem = createPairSum();
      for (let from = 0; from < table.rows; from += CHUNK) {
        const count = Math.min(CHUNK, table.rows - from);
        const truth = truthOfRows(from, count);
        const predicted = await predictCurves({
          name: table.name,
          rows: count,
          columns: features.map((column) => sliceColumn(column, from, from + count)),
        });
        checkCurves(predicted, count, T);
        const outcomes = sliceOutcomes(uncensored, from, from + count);
        ofSystem.add(timeDependentPairs(predicted, outcomes));
        if (!isTruthCompared) ofTruth.add(timeDependentPairs({ N: count, T, survival: truth }, outcomes));
        const squaredUpTo = subtractTruth(truth, predicted.survival, count, T);
        groups.forEach(({ rows, fifth, support }, g) => {
          const sum = sums[g];
          let k = next[g];
          for (; k < rows.length && rows[k] < from + count; k++) {
            const at = (rows[k] - from) * T;
            const into = fifth[k] * T;
            for (let t = 0; t < support; t++) sum[into + t] += truth[at + t];
            squares[g] += squaredUpTo[at + support - 1] / support;
          }
          next[g] = k;
        });
      }
      isTruthCompared = true;
      return {
        groups: groups.map((members, g) => summarise(members, sums[g], squares[g], T)),
        concordance: ofSystem.concordance(),
        concordanceOfTruth: ofTruth.concordance(),
      };
    },
  };

  function truthOfRows(from: number, count: number): Float64Array {
    const rows = Int32Array.from({ length: count }, (_, i) => from + i);
    return cohort.trueSurvival(grid.edges.subarray(1), rows);
  }
}

/** Overwrites the truth with Δ; returns Σ_{s ≤ t} Δ(s)² per person. */
function subtractTruth(
  truth: Float64Array,
  predicted: Float64Array | Float32Array,
  count: number,
  T: number,
): Float64Array {
  const squaredUpTo = new Float64Array(count * T);
  for (let i = 0, at = 0; i < count; i++) {
    let sum = 0;
    for (let t = 0; t < T; t++, at++) {
      const gap = predicted[at] - truth[at];
      truth[at] = gap;
      sum += gap * gap;
      squaredUpTo[at] = sum;
    }
  }
  return squaredUpTo;
}

function summarise(members: Members, sums: Float64Array, squares: number, T: number): TrueGroupErrors {
  const { name, rows, fifth, support } = members;
  const n = rows.length;
  const sizes = new Int32Array(FIFTHS);
  for (const one of fifth) sizes[one]++;
  let a = 0;
  let b = 0;
  for (let t = 0; t < support; t++) {
    let all = 0;
    for (let one = 0; one < FIFTHS; one++) {
      const sum = sums[one * T + t];
      all += sum;
      if (sizes[one] > 0) b += (sum / sizes[one]) ** 2 * (sizes[one] / n);
    }
    a += (all / n) ** 2;
  }
  return { name, n, A: Math.sqrt(a / support), B: Math.sqrt(b / support), ise: squares / n };
}

function rankMembers({ supports, grid }: TruthSample, { cohort, members }: People): Members[] {
  return members.map(({ name, rows }, g) => {
    if (rows.length === 0) {
      throw new InputError(`nobody of ${cohort.table.rows} simulated people is in the group`, {
        code: "truth.group",
        where: `group ${JSON.stringify(name)}`,
      });
    }
    const survival = cohort.trueSurvival([grid.edges[supports[g]]], rows);
    const ascending = survival.slice().sort();
    // Fifth k begins with the person of rank ⌈kn/5⌉ by falling survival; ties stay together.
    const begins = [1, 2, 3, 4].map((k) => rows.length - 1 - Math.ceil((k * rows.length) / FIFTHS));
    const cuts = begins.map((at) => (at < 0 ? Number.NEGATIVE_INFINITY : ascending[at]));
    const fifth = Uint8Array.from(survival, (S) => cuts.reduce((k, cut) => (S <= cut ? k + 1 : k), 0));
    return { name, support: supports[g], rows, fifth };
  });
}

/** Pairs of all chunks, and their concordance. */
function createPairSum() {
  let sum: TimeDependentPairs | null = null;
  return {
    add(pairs: TimeDependentPairs): void {
      const before = sum ?? pairs;
      sum =
        sum === null
          ? pairs
          : {
              ...pairs,
              pairs: before.pairs + pairs.pairs,
              concordant: before.concordant + pairs.concordant,
              tied: before.tied + pairs.tied,
            };
    },
    concordance(): number {
      const c = sum === null ? null : concordancePaper(sum);
      if (c === null || isAbsent(c))
        throw new InputError("the fresh sample has no two people with events to compare", {
          code: "truth.size",
          hint: "ask for more people",
        });
      return c;
    },
  };
}

/** A part of a column, without copying it. */
function sliceColumn(column: Column, from: number, to: number): Column {
  switch (column.type) {
    case "category":
      return { ...column, codes: column.codes.subarray(from, to) };
    case "boolean":
      return { ...column, values: column.values.subarray(from, to) };
    default:
      return { ...column, values: column.values.subarray(from, to) };
  }
}

function sliceOutcomes(
  { T, bin, event }: BinnedRightCensored,
  from: number,
  to: number,
): BinnedRightCensored {
  return { T, bin: bin.subarray(from, to), event: event.subarray(from, to) };
}

function checkSupports({ groups, supports, grid }: TruthSample): void {
  if (supports.length !== groups.length) {
    throw new InputError(`supports are not one per group: ${supports.length} for ${groups.length} groups`, {
      code: "truth.supports",
    });
  }
  const bad = supports.findIndex((bins) => !Number.isInteger(bins) || bins < 1 || bins > grid.T);
  if (bad >= 0) {
    throw new InputError(`support is not a bin from 1 to ${grid.T}: ${supports[bad]}`, {
      code: "truth.supports",
      where: `group ${JSON.stringify(groups[bad].name)}`,
    });
  }
}

function checkCurves({ N, T, survival }: Curves, rows: number, bins: number): void {
  if (N === rows && T === bins && survival.length === rows * bins) return;
  throw new InputError(`curves of ${N} rows and ${T} bins where ${rows} and ${bins} were asked for`, {
    code: "truth.curves",
  });
}
