/**
 * Where MCBoostSurv (mcboost.ts) may move curves, and how it moves them: the cells (ranges of bins × ranges of
 * predicted probability, and the whole plane), and one update S ← max(S, 1e-4)·exp(−η·h), S − η·h or S^exp(η·h) on the
 * entries of one cell, clipped to [0, 1] and made decreasing. mcboost-auditors.ts defines h.
 */
import { exp, power } from "../core/elementary.ts";
import type { BoostOptions } from "./boost-input.ts";
import {
  type BoostCell,
  type BoostFeatures,
  type GroupAuditor,
  isInside,
  predictRidge,
  type RidgeAuditor,
} from "./mcboost-auditors.ts";

/** Curves are raised to this before multiplying: no factor moves a curve away from 0. */
export const SMALLEST_SURVIVAL = 1e-4;

export interface BoostUpdate {
  readonly cell: BoostCell;
  readonly auditor: GroupAuditor | RidgeAuditor;
  /** What h was multiplied by in training: 1, except in the reference. */
  readonly sign: 1 | -1;
  readonly step: number;
  readonly correlation: number;
}

/** The whole plane, then each range of bins by each range of probability. */
export function createCells(
  survival: Float64Array,
  T: number,
  auditedBins: number,
  settings: BoostOptions,
): BoostCell[] {
  const { timeBuckets, probabilityBuckets, reference } = settings;
  const whole: BoostCell = { fromBin: 1, toBin: T, low: 0, high: 1 };
  if (timeBuckets === 1 && probabilityBuckets === 1) return [whole];
  const cells = [whole];
  // Fault (a): the reference splits [first time, ∞] evenly; 0·∞ and every other edge at ∞ leave one range with all the
  // bins.
  const ranges = reference ? 1 : timeBuckets;
  for (let k = 0; k < ranges; k++) {
    const fromBin = Math.floor((k * auditedBins) / ranges) + 1;
    const lastAudited = Math.floor(((k + 1) * auditedBins) / ranges);
    if (fromBin > lastAudited) continue;
    const toBin = k === ranges - 1 ? T : lastAudited;
    let smallest = 1;
    let largest = 0;
    for (let start = -1; start + T < survival.length; start += T) {
      for (let t = fromBin; t <= lastAudited; t++) {
        smallest = Math.min(smallest, survival[start + t]);
        largest = Math.max(largest, survival[start + t]);
      }
    }
    // Evenly spaced between the extremes of this range of bins; the outermost reach to 0 and 1, to cover future rows.
    const edges = Array.from({ length: probabilityBuckets + 1 }, (_, p) =>
      p === 0 ? 0 : p === probabilityBuckets ? 1 : smallest + (p / probabilityBuckets) * (largest - smallest),
    );
    for (let p = 0; p < probabilityBuckets; p++) {
      if (edges[p] < edges[p + 1]) cells.push({ fromBin, toBin, low: edges[p], high: edges[p + 1] });
    }
  }
  return cells;
}

/** h of a row. */
export function readResidual(
  auditor: GroupAuditor | RidgeAuditor,
  members: readonly Uint8Array[],
  features: BoostFeatures | undefined,
): (row: number) => number {
  if (auditor.kind === "group") {
    const mask = members[auditor.group];
    return (row) => (mask[row] === 1 ? auditor.value : 0);
  }
  return features === undefined ? () => 0 : (row) => predictRidge(auditor, features, row);
}

export interface MovedCurves {
  readonly survival: Float64Array; // [N,T], changed in place
  readonly located: Float64Array; // [N,T], may be the same array
  readonly T: number;
}

export interface Movement {
  readonly settings: BoostOptions;
  readonly sign: 1 | -1;
  readonly residual: (row: number) => number;
}

/**
 * Applies one update in place and returns whether any value changed. Only the cell's entries move, and those that the
 * cumulative minimum takes along.
 */
export function moveCurves(curves: MovedCurves, update: BoostUpdate, movement: Movement): boolean {
  const { survival, located, T } = curves;
  const { cell, step } = update;
  const { sign, residual } = movement;
  const { multiplicative, scale, reference } = movement.settings;
  const move = (S: number, change: number) => {
    if (scale === "hazard") return power(Math.max(S, SMALLEST_SURVIVAL), exp(change));
    return multiplicative ? Math.max(S, SMALLEST_SURVIVAL) * exp(-change) : S - change;
  };
  const before = new Float64Array(T);
  let moved = false;
  for (let row = 0; row * T < survival.length; row++) {
    const h = residual(row);
    if (h === 0 && !reference) continue;
    const start = row * T - 1;
    before.set(survival.subarray(start + 1, start + 1 + T));
    const inside = (t: number) => t >= cell.fromBin && t <= cell.toBin && isInside(located[start + t], cell);
    // Fault (d): one entry in the cell is enough for the reference to move the whole row within the cell's bins.
    let whole = false;
    if (reference) for (let t = cell.fromBin; t <= cell.toBin; t++) whole ||= inside(t);
    let touched = false;
    for (let t = 1; t <= T; t++) {
      const here = reference ? whole && t >= cell.fromBin && t <= cell.toBin : inside(t);
      touched ||= here;
      // The reference lifts entries below 1e-4 everywhere, inside the cell or not.
      if (!here && !reference) continue;
      const change = here ? step * sign * h : 0;
      survival[start + t] = Math.min(Math.max(move(survival[start + t], change), 0), 1);
    }
    if (!touched && !reference) continue;
    for (let t = 2; t <= T; t++) {
      survival[start + t] = Math.min(survival[start + t], survival[start + t - 1]);
    }
    if (reference) {
      // Its own grid is meant to start at time 0 and to end at infinity; here as there this overwrites the first and
      // the last bin.
      survival[start + 1] = 1;
      survival[start + T] = 0;
    }
    for (let t = 1; t <= T; t++) moved ||= survival[start + t] !== before[t - 1];
  }
  return moved;
}
