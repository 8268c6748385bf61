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
  readonly shares: Float64Array; // [G]
  readonly views: Readonly<Record<string, Float64Array | Int32Array>>;
}

export function openGroupKernels(backend: Backend, kernels: RowKernels, arrays: GroupArrays): GroupKernels {
  const { rows: rowNumbers, order: ordered, dLogits } = arrays;
  let groups: SharedGroups | null = null;

  function share(constraints: Constraints): SharedGroups {
    if (groups?.memberships === constraints.memberships) return groups;
    if (groups !== null) release(backend, groups);
    groups = shareGroups(backend, constraints);
    return groups;
  }

  /** Null where an array found no room. */
  function openPass(
    constraints: Constraints,
    { views }: SharedGroups,
    rows: ArrayLike<number>,
    order: Int32Array,
  ): GroupPass | null {
    if (rows.length > rowNumbers.length) return null;
    const { hazard, survival } = arrays;
    const places = findAll({ hazard, survival, rows: rowNumbers, order: ordered, ...views });
    if (places === null) return null;
    rowNumbers.set(rows);
    ordered.set(order);
    return { N: rows.length, T: constraints.T, ...(places as Omit<GroupPass, "N" | "T">) };
  }

  return {
    replaceRows(constraints, cache, rows, order) {
      const shared = share(constraints);
      const pass = openPass(constraints, shared, rows, order);
      const sums = findShared(shared.sums);
      const terms = cache.terms.length === 0 ? null : findShared(cache.terms);
      if (pass === null || sums === null || (terms === null && cache.terms.length > 0)) return false;
      shared.sums.set(cache.sums);
      kernels.replaceCurves(pass, terms, sums);
      cache.sums.set(shared.sums);
      return true;
    },
    backThrough(constraints, dStatistics, rows, order, slopes, factor) {
      const shared = share(constraints);
      const pass = openPass(constraints, shared, rows, order);
      const sums = findShared(shared.sums);
      const shares = findShared(shared.shares);
      if (pass === null || sums === null || shares === null || slopes !== backend.view(dLogits)) return false;
      shared.sums.set(dStatistics);
      kernels.backThroughCurves(pass, sums, shares, dLogits, factor);
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
  const shares = allocateDoubles(backend, groups.length);
  shares.set(groups.map(({ rows }) => 1 / rows.length));
  return {
    memberships,
    sums: allocateDoubles(backend, groups.length * T),
    shares,
    views: {
      combinationOf: words(combinationOf),
      firstMember: words(firstMember),
      members: words(groupsOf.flat()),
    },
  };
}

function release(backend: Backend, { sums, shares, views }: SharedGroups): void {
  for (const view of [sums, shares, ...Object.values(views)]) {
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
