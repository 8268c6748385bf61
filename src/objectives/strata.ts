/**
 * Cells of group × predicted-risk stratum: a model whose group means are right may still be wrong for both the group's
 * low and its high risks, so any constraint can be applied to the cells instead. Strata are cut at quantiles of the
 * model's own risk 1 − S(T|x) over all training rows, the same for every group; rows of equal risk share a stratum. A
 * cell with fewer than 10 expected events (Σ over its rows of Σ_{s≤t_i} h_s: what the model expects over the actual
 * follow-up) is merged with the neighbour that expects less. Cells depend on the model, so they are rebuilt as it
 * changes.
 */

import { InputError } from "../core/errors.ts";
import { type BinnedSingleCause, requireSingleCause } from "../data/outcomes/outcomes.ts";
import { checkLength } from "../data/outcomes/rows-by-time.ts";
import type { NamedRows } from "./constraints.ts";
import { type CurveWorkspace, checkRoom } from "./curves.ts";

export const MINIMUM_EXPECTED_EVENTS = 10;

/** How many strata, and how small a cell may be. */
export interface StrataOptions {
  /** Strata before any merging. */
  readonly K: number;
  /** Strata with fewer expected events are merged with a neighbour. */
  readonly minimumExpectedEvents?: number;
}

/** The rows of one group in neighbouring strata of risk. */
export interface StratumCell extends NamedRows {
  readonly group: string;
  /** Strata it holds, 1…K, both included; 1 is the lowest risk. */
  readonly first: number;
  readonly last: number;
  readonly expectedEvents: number;
}

/** Each row's predicted risk and expected events. */
export interface RowRisks {
  /** 1 − S(T|x). */
  readonly risk: Float64Array; // [N]
  /** Σ_{s≤t_i} h_s, the events a row's own follow-up was expected to show. */
  readonly expectedEvents: Float64Array; // [N]
}

/** Predicted risk at the horizon and expected events of every row. */
export function measureRisks(curves: CurveWorkspace, binned: BinnedSingleCause): RowRisks {
  requireSingleCause(binned, "a stratum of risk");
  const { T, bin, firstBin } = binned;
  const N = bin.length;
  checkRoom("survival", curves.survival, N, T);
  checkRoom("hazard", curves.hazard, N, T);
  const risk = new Float64Array(N);
  const expectedEvents = new Float64Array(N);
  for (let i = 0; i < N; i++) {
    risk[i] = 1 - curves.survival[(i + 1) * T - 1];
    const begin = firstBin === undefined ? 0 : firstBin[i] - 1;
    for (let t = begin; t < bin[i]; t++) expectedEvents[i] += curves.hazard[i * T + t];
  }
  return { risk, expectedEvents };
}

/** The K − 1 upper edges: the smallest risks with at least k/K of the rows at or below them. */
export function stratumEdges(risk: Float64Array, K: number): Float64Array {
  if (!(Number.isInteger(K) && K >= 1)) {
    throw new InputError(`the number of risk strata is not a positive integer: ${K}`, {
      code: "option.invalid",
    });
  }
  const ascending = Float64Array.from(risk).sort();
  if (ascending.length === 0) throw new InputError("no rows to cut into risk strata", { code: "rows.none" });
  return Float64Array.from({ length: K - 1 }, (_, k) => {
    return ascending[Math.ceil(((k + 1) * ascending.length) / K) - 1];
  });
}

interface Stratum {
  first: number;
  last: number;
  expected: number;
  readonly rows: number[];
}

/**
 * Merges the stratum that expects least with its smaller neighbour (the lower one if equal) until all expect enough.
 */
function mergeSmall(strata: Stratum[], minimum: number): Stratum[] {
  const merged = [...strata];
  while (merged.length > 1) {
    let least = 0;
    merged.forEach(({ expected }, k) => {
      if (expected < merged[least].expected) least = k;
    });
    if (merged[least].expected >= minimum) break;
    const below = least === 0 ? Number.POSITIVE_INFINITY : merged[least - 1].expected;
    const above = least === merged.length - 1 ? Number.POSITIVE_INFINITY : merged[least + 1].expected;
    const lower = below <= above ? least - 1 : least;
    const [left, right] = [merged[lower], merged[lower + 1]];
    merged.splice(lower, 2, {
      first: left.first,
      last: right.last,
      expected: left.expected + right.expected,
      rows: [...left.rows, ...right.rows],
    });
  }
  return merged;
}

function nameCell(group: string, first: number, last: number, K: number): string {
  if (first === 1 && last === K) return group;
  return `${group}, risk ${first === last ? first : `${first}–${last}`} of ${K}`;
}

/** The cells of every group: groups in order, strata from low risk to high; a group's cells partition its rows. */
export function buildStrata(
  { risk, expectedEvents }: RowRisks,
  groups: readonly NamedRows[],
  options: StrataOptions,
): StratumCell[] {
  const { K, minimumExpectedEvents = MINIMUM_EXPECTED_EVENTS } = options;
  checkLength("expected events", expectedEvents.length, risk.length);
  const edges = stratumEdges(risk, K);
  const stratumOf = Int32Array.from(risk, (value) => {
    let k = 0;
    while (k < edges.length && value > edges[k]) k++;
    return k;
  });
  return groups.flatMap(({ name, rows }) => {
    const strata = Array.from({ length: K }, (_, k): Stratum => {
      return { first: k + 1, last: k + 1, expected: 0, rows: [] };
    });
    for (const row of rows) {
      const stratum = strata[stratumOf[row]];
      stratum.rows.push(row);
      stratum.expected += expectedEvents[row];
    }
    return mergeSmall(strata, minimumExpectedEvents).map(({ first, last, expected, rows: members }) => ({
      name: nameCell(name, first, last, K),
      rows: Int32Array.from(members).sort(),
      group: name,
      first,
      last,
      expectedEvents: expected,
    }));
  });
}

/**
 * Multipliers for newly built cells: the mean over a cell's strata of the multipliers its group's old cells had there,
 * or 0 for a group without old cells. Edges move and cells merge differently from epoch to epoch; what was learned
 * should be kept.
 */
export function carryMultipliers(
  before: readonly StratumCell[],
  multipliers: ArrayLike<number>,
  after: readonly StratumCell[],
): Float64Array {
  return Float64Array.from(after, ({ group, first, last }) => {
    let sum = 0;
    before.forEach((cell, k) => {
      if (cell.group !== group) return;
      const shared = Math.min(cell.last, last) - Math.max(cell.first, first) + 1;
      if (shared > 0) sum += shared * multipliers[k];
    });
    return sum / (last - first + 1);
  });
}
