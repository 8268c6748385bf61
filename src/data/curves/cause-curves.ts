/**
 * Predicted cumulative incidences on a grid of T bins, where causes compete: F_k(t|x), the probability that the event
 * has come by the end of bin t and was of cause k; F_k(0) = 0 understood. What they say of any event follows:
 *   S(t) = 1 − Σ_k F_k(t),   h_k(t) = (F_k(t) − F_k(t−1)) / S(t−1)
 * Values are checked and left as they are: an audit judges the curves that were predicted, not repaired ones. Where
 * rounding lets a sum pass 1 or a curve fall, by no more than INCIDENCE_TOLERANCE, S and h_k are kept within [0, 1].
 */
import { InputError, nameRows } from "../../core/errors.ts";
import type { Curves } from "./curves.ts";

/** Cumulative incidences of N rows and K causes on a grid of T bins. */
export interface CauseCurves {
  readonly N: number;
  readonly K: number;
  readonly T: number;
  /** The names of causes 1, 2, … K. */
  readonly causes: readonly string[];
  /** [N,K,T]; entry [(i*K + k−1)*T + t−1] is F_k(t|x_i), at the end of bin t. */
  readonly incidence: Float64Array;
}

/** Cumulative incidences as a caller has them. */
export interface CauseCurvesInput {
  /** The number of people. */
  readonly N: number;
  /** The number of bins. */
  readonly T: number;
  /** The names of causes 1, 2, …, in the order of `incidence`. */
  readonly causes: readonly string[];
  /** Person by person, and for each of them cause by cause: F_k at the end of every bin. */
  readonly incidence: ArrayLike<number>; // [N,K,T]
}

/** A fall of a curve, or of a sum beyond 1, up to this is rounding: files carry about ten decimals. */
export const INCIDENCE_TOLERANCE = 1e-9;

export const NO_PROBABILITY =
  "a curve is the probability of having had the event of the cause, not a percentage or a hazard";

/** What is wrong with a row's curves; all rows with the same fault are named together. */
export type IncidenceFault = "number" | "range" | "fall" | "sum";

/** A fault, and where it is: of the sum, no cause is to blame. */
export interface FoundFault {
  readonly fault: IncidenceFault;
  readonly row: number; // 0-based
  readonly cause: number; // 1…K, the last one where the sum is too large
  readonly bin: number; // 1…T
  readonly value: number;
  /** The value before, of a curve that falls. */
  readonly before: number;
}

/** The first fault of each row that has one. */
export function findFaults(curves: Pick<CauseCurves, "N" | "K" | "T" | "incidence">): readonly FoundFault[] {
  const { N, K, T, incidence } = curves;
  const found: FoundFault[] = [];
  const sums = new Float64Array(T + 1);
  for (let row = 0; row < N; row++) {
    sums.fill(0);
    const fault = findRowFault(incidence, row, K, T, sums);
    if (fault !== null) found.push(fault);
  }
  return found;
}

function findRowFault(
  incidence: Float64Array,
  row: number,
  K: number,
  T: number,
  sums: Float64Array,
): FoundFault | null {
  for (let cause = 1; cause <= K; cause++) {
    const start = (row * K + cause - 1) * T - 1;
    let before = 0;
    for (let bin = 1; bin <= T; bin++) {
      const value = incidence[start + bin];
      sums[bin] += value;
      const at = { row, cause, bin, value, before };
      if (!Number.isFinite(value)) return { fault: "number", ...at };
      if (value < 0 || value > 1) return { fault: "range", ...at };
      if (value < before - INCIDENCE_TOLERANCE) return { fault: "fall", ...at };
      before = value;
    }
  }
  const bin = sums.findIndex((sum) => sum > 1 + INCIDENCE_TOLERANCE);
  return bin < 0 ? null : { fault: "sum", row, cause: K, bin, value: sums[bin], before: 0 };
}

/** What to say of a fault, and what to do about it. */
export function describeFault({ fault, value, before }: FoundFault): {
  readonly message: string;
  readonly code: string;
  readonly hint: string;
} {
  switch (fault) {
    case "number":
      return {
        message: "cumulative incidence is not a number",
        code: "curves.missing",
        hint: "every row needs its whole curve; leave out rows without a prediction",
      };
    case "range":
      return {
        message: `cumulative incidence outside 0 to 1: ${value}`,
        code: "curves.range",
        hint: NO_PROBABILITY,
      };
    case "fall":
      return {
        message: `cumulative incidence falls: from ${before} to ${value}`,
        code: "curves.fall",
        hint: "a curve is the probability of having had the event by a time, not survival; are the times in order?",
      };
    case "sum":
      return {
        message: `the causes make more than 1 together: ${value}`,
        code: "curves.sum",
        hint:
          "each curve is the incidence of its cause beside the others; one less a Kaplan-Meier curve that censors " +
          "the others overstates it",
      };
  }
}

/** The curves as typed arrays, once they are what incidences are: finite, within [0, 1], rising, of sum 1 at most. */
export function causeCurves(input: CauseCurvesInput): CauseCurves {
  const { N, T, causes } = input;
  const K = causes.length;
  if (K === 0) throw new InputError("no cause is named", { code: "cause.values" });
  const twin = causes.find((name, k) => causes.indexOf(name) < k);
  if (twin !== undefined)
    throw new InputError(`two causes have one name: "${twin}"`, { code: "cause.values" });
  if (input.incidence.length !== N * K * T) {
    throw new InputError(`curves: ${input.incidence.length} values for ${N} rows × ${K} causes × ${T} bins`, {
      code: "rows.mismatch",
    });
  }
  const incidence =
    input.incidence instanceof Float64Array ? input.incidence : Float64Array.from(input.incidence);
  const curves: CauseCurves = { N, K, T, causes, incidence };
  const faults = findFaults(curves);
  if (faults.length > 0) {
    const [first] = faults;
    const alike = faults.filter(({ fault }) => fault === first.fault);
    const { message, code, hint } = describeFault(first);
    const whose = first.fault === "sum" ? "" : `, cause "${causes[first.cause - 1]}"`;
    const where = `${nameRows(alike.map(({ row }) => row + 1))}${whose}, bin ${first.bin}`;
    throw new InputError(message, { code, where, hint });
  }
  return curves;
}

/** The probability of no event of any cause, never rising and never below 0. */
export function survivalOf({ N, K, T, incidence }: CauseCurves): Curves {
  const survival = new Float64Array(N * T);
  for (let row = 0; row < N; row++) {
    let before = 1;
    for (let t = 0; t < T; t++) {
      let sum = 0;
      for (let k = 0; k < K; k++) sum += incidence[(row * K + k) * T + t];
      before = Math.min(before, Math.max(0, 1 - sum));
      survival[row * T + t] = before;
    }
  }
  return { N, T, survival };
}

/**
 * h_k(t) of every row, cause and bin, [N,K,T]: the probability of an event of the cause in the bin, given none before.
 * Where S(t−1) = 0 nobody is left and there is no hazard.
 */
export function hazardsOf(curves: CauseCurves): Float64Array {
  const { N, K, T, incidence } = curves;
  const { survival } = survivalOf(curves);
  const hazards = new Float64Array(N * K * T);
  for (let row = 0; row < N; row++) {
    for (let k = 0; k < K; k++) {
      const start = (row * K + k) * T;
      for (let t = 0; t < T; t++) {
        const left = t === 0 ? 1 : survival[row * T + t - 1];
        if (left === 0) break;
        const step = incidence[start + t] - (t === 0 ? 0 : incidence[start + t - 1]);
        hazards[start + t] = Math.min(1, Math.max(0, step / left));
      }
    }
  }
  return hazards;
}

/** The same, an array [N,T] for each cause. */
export function hazardsByCause(curves: CauseCurves): readonly Float64Array[] {
  const { N, K, T } = curves;
  const all = hazardsOf(curves);
  return Array.from({ length: K }, (_, k) => {
    const own = new Float64Array(N * T);
    for (let row = 0; row < N; row++) {
      const start = (row * K + k) * T;
      own.set(all.subarray(start, start + T), row * T);
    }
    return own;
  });
}
