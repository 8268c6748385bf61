/**
 * Sums of curves over groups, and the way back, by a backend's kernels over rows, for curves that lie in its memory:
 * the same bits as the loops of group-statistics.ts, which hands over to these and takes every case that they decline.
 * The groups themselves are copied to the backend when they change, the sums [G,T] at every call.
 */
import type { Backend, DeviceArray, Floats } from "../compute/backend.ts";
import type { GroupPass, RowKernels } from "../compute/row-kernels.ts";
import { allocateDoubles, allocateWords, findShared } from "../compute/shared-arrays.ts";
import type { Constraints, Memberships } from "./constraints.ts";
import type { StatisticsCache } from "./group-statistics.ts";

/** Each operation answers whether it was taken. */
export interface GroupKernels {
  /** As replaceRows of group-statistics.ts; `order` is the rows by combination. */
  replaceRows(
    constraints: Constraints,
    cache: StatisticsCache,
    rows: ArrayLike<number>,
    order: Int32Array,
  ): boolean;
  /** As backThroughStatistics of group-statistics.ts. */
  backThrough(
    constraints: Constraints,
    dStatistics: Float64Array, // [G,T]
    rows: ArrayLike<number>,
    order: Int32Array,
    dLogits: Floats, // [B,T]
    factor: number,
  ): boolean;
}

/** The curves and slopes of a pass; all but `dLogits` were allocated by shared-arrays.ts. */
export interface GroupArrays {
  readonly hazard: Float64Array; // [room,T]
  readonly survival: Float64Array; // [room,T]
  readonly rows: Int32Array; // [room]
  readonly order: Int32Array; // [room]
  readonly dLogits: DeviceArray; // [room,T]
}

/** The groups of one set of constraints in the backend's memory. */
interface SharedGroups {
  readonly memberships: Memberships;
  readonly sums: Float64Array; // [G,T]
  /** Everything that was allocated for them. */
  readonly views: readonly (Float64Array | Int32Array)[];
  /** The backend's arrays behind them; null where one found no room. */
  readonly places: GroupPlaces | null;
}

type GroupPlaces = Readonly<
  Record<"combinationOf" | "firstMember" | "members" | "sums" | "shares", DeviceArray>
>;

export function openGroupKernels(backend: Backend, kernels: RowKernels, arrays: GroupArrays): GroupKernels {
  const { hazard, survival, rows: rowNumbers, order: ordered, dLogits } = arrays;
  const curves = findAll({ hazard, survival, rows: rowNumbers, order: ordered });
  const slopesOfPass = backend.view(dLogits);
  let shared: SharedGroups | null = null;

  /** Copies the rows; null where an array found no room. */
  function openPass(constraints: Constraints, rows: ArrayLike<number>, order: Int32Array) {
    if (shared?.memberships !== constraints.memberships) {
      if (shared !== null) release(backend, shared);
      shared = shareGroups(backend, constraints);
    }
    const { places, sums } = shared;
    if (curves === null || places === null || rows.length > rowNumbers.length) return null;
    rowNumbers.set(rows);
    ordered.set(order);
    const pass: GroupPass = { N: rows.length, T: constraints.T, ...curves, ...places };
    return { pass, places, sums };
  }

  return {
    replaceRows(constraints, cache, rows, order) {
      const terms = cache.terms.length === 0 ? null : findShared(cache.terms);
      if (terms === null && cache.terms.length > 0) return false;
      const opened = openPass(constraints, rows, order);
      if (opened === null) return false;
      opened.sums.set(cache.sums);
      kernels.replaceCurves(opened.pass, terms, opened.places.sums);
      cache.sums.set(opened.sums);
      return true;
    },
    backThrough(constraints, dStatistics, rows, order, slopes, factor) {
      if (slopes !== slopesOfPass) return false;
      const opened = openPass(constraints, rows, order);
      if (opened === null) return false;
      opened.sums.set(dStatistics);
      const { sums, shares } = opened.places;
      kernels.backThroughCurves(opened.pass, sums, shares, dLogits, factor);
      return true;
    },
  };
}

function shareGroups(backend: Backend, { groups, memberships, T }: Constraints): SharedGroups {
  const { combinationOf, groupsOf } = memberships;
  const firstMember = [0];
  for (const members of groupsOf) firstMember.push(firstMember[firstMember.length - 1] + members.length);
  const words = (values: ArrayLike<number>) => {
    const shared = allocateWords(backend, values.length);
    shared.set(values);
    return shared;
  };
  const views = {
    combinationOf: words(combinationOf),
    firstMember: words(firstMember),
    members: words(groupsOf.flat()),
    sums: allocateDoubles(backend, groups.length * T),
    shares: allocateDoubles(backend, groups.length),
  };
  views.shares.set(groups.map(({ rows }) => 1 / rows.length));
  return { memberships, sums: views.sums, views: Object.values(views), places: findAll(views) };
}

function release(backend: Backend, { views }: SharedGroups): void {
  for (const view of views) {
    const array = findShared(view);
    if (array !== null) backend.release(array);
  }
}

/** The backend's arrays behind all of these; null if one of them is not in its memory. */
export function findAll<Name extends string>(
  views: Readonly<Record<Name, object>>,
): Readonly<Record<Name, DeviceArray>> | null {
  const found = Object.entries<object>(views).map(([name, view]) => [name, findShared(view)] as const);
  if (found.some(([, array]) => array === null)) return null;
  return Object.fromEntries(found) as Record<Name, DeviceArray>;
}
