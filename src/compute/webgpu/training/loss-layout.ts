/**
 * What the kernels of loss and constraints know of rows and groups, packed into three arrays before a run: numbers of
 * the rows, whole numbers of the groups (who is in which, and the segments that sums are taken over), and the groups'
 * known numbers. A segment is a few rows that are summed together: of one combination of groups, and then added to
 * every group of the combination; or, where there are almost as many combinations as rows, of one group.
 */
import type { DeviceGroups, DeviceLossSettings } from "../../device-training.ts";

/** Rows of a segment at most. */
export const SEGMENT_ROWS = 64;
/** Numbers of a group before its arrays: members, bins, followed blocks, measurable, constrained, slack. */
export const GROUP_HEAD = 6;

/** [N,4]: first bin, last bin, event or its cause, weight. */
export function packRows({ bin, event, first, weight }: DeviceLossSettings): Uint32Array<ArrayBuffer> {
  const packed = new Uint32Array(4 * bin.length);
  const weights = new Float32Array(packed.buffer);
  for (let n = 0; n < bin.length; n++) {
    packed[4 * n] = first?.[n] ?? 1;
    packed[4 * n + 1] = bin[n];
    packed[4 * n + 2] = event[n];
    weights[4 * n + 3] = weight?.[n] ?? 1;
  }
  return packed;
}

/** What rows are counted by: how many there are, or the sum of their weights. */
export function totalOf({ bin, weight }: DeviceLossSettings): number {
  if (weight === undefined) return bin.length;
  let total = 0;
  for (let n = 0; n < weight.length; n++) total += weight[n];
  return total;
}

/** Where each part of the whole numbers begins. */
export interface GroupPlaces {
  readonly packed: Uint32Array<ArrayBuffer>;
  /** The combination of each row is first. */
  readonly combinations: number; // [C+1] into members
  readonly members: number; // groups of each combination
  readonly blockOf: number; // [T], NO_BLOCK where there is none
  readonly blockEnds: number; // [blocks,2]: first bin, from 0, and the one after the last
  readonly order: number; // [N]
  readonly segments: number; // [S,2]: first among `order`, rows
  readonly segmentCount: number;
  readonly groups: number; // [G+1] into parts
  readonly parts: number; // segments of each group
}

export const NO_BLOCK = 0xffffffff;

/** Segments of fewer rows than this, on average, are not worth sharing between groups. */
const LEAST_SHARED = 16;

interface Segments {
  readonly order: readonly number[] | Int32Array;
  /** [S,2]: first among `order`, rows. */
  readonly segments: readonly number[];
  readonly partsOf: readonly (readonly number[])[]; // of each group
}

/** Rows of one combination, summed once for all of its groups. */
function shareSegments({ combinationOf, groupsOf, order, groups }: DeviceGroups): Segments {
  const segments: number[] = [];
  const partsOf: number[][] = groups.map(() => []);
  for (let from = 0; from < order.length; ) {
    const combination = combinationOf[order[from]];
    const most = Math.min(order.length, from + SEGMENT_ROWS);
    let to = from;
    while (to < most && combinationOf[order[to]] === combination) to++;
    for (const g of groupsOf[combination]) partsOf[g].push(segments.length / 2);
    if (groupsOf[combination].length > 0) segments.push(from, to - from);
    from = to;
  }
  return { order, segments, partsOf };
}

/** Each group's own rows, where hardly any two rows are in the same groups. */
function separateSegments({ combinationOf, groupsOf, groups }: DeviceGroups): Segments {
  const rowsOf: number[][] = groups.map(() => []);
  combinationOf.forEach((combination, row) => {
    for (const g of groupsOf[combination]) rowsOf[g].push(row);
  });
  const order: number[] = [];
  const segments: number[] = [];
  const partsOf = rowsOf.map((rows) => {
    const parts: number[] = [];
    for (let from = 0; from < rows.length; from += SEGMENT_ROWS) {
      parts.push(segments.length / 2);
      segments.push(order.length + from, Math.min(SEGMENT_ROWS, rows.length - from));
    }
    for (const row of rows) order.push(row);
    return parts;
  });
  return { order, segments, partsOf };
}

export function packGroups(T: number, given: DeviceGroups): GroupPlaces {
  const { combinationOf, groupsOf, blocks } = given;
  const shared = shareSegments(given);
  const isShared = (shared.segments.length / 2) * LEAST_SHARED <= combinationOf.length;
  const { order, segments, partsOf } = isShared ? shared : separateSegments(given);
  const blockOf = new Array<number>(T).fill(NO_BLOCK);
  blocks.forEach(({ first, last }, b) => {
    for (let t = first; t <= last; t++) blockOf[t - 1] = b;
  });
  const lists: ArrayLike<number>[] = [];
  let length = 0;
  const place = (values: ArrayLike<number>) => {
    const at = length;
    lists.push(values);
    length += values.length;
    return at;
  };
  place(combinationOf);
  const places = {
    combinations: place(startsOf(groupsOf)),
    members: place(groupsOf.flat()),
    blockOf: place(blockOf),
    blockEnds: place(blocks.flatMap(({ first, last }) => [first - 1, last])),
    order: place(order),
    segments: place(segments),
    segmentCount: segments.length / 2,
    groups: place(startsOf(partsOf)),
    parts: place(partsOf.flat()),
  };
  const packed = new Uint32Array(length);
  let at = 0;
  for (const list of lists) {
    packed.set(list, at);
    at += list.length;
  }
  return { ...places, packed };
}

function startsOf(lists: readonly (readonly number[])[]): number[] {
  const starts = [0];
  for (const list of lists) starts.push(starts[starts.length - 1] + list.length);
  return starts;
}

/** Numbers of one group in `packKnown`. */
export function knownWidth(T: number, blocks: number): number {
  return GROUP_HEAD + 3 * T + blocks;
}

/** [G, head, survival, variance, rows at risk, observed events]; a variance that is undefined is 0, and skipped. */
export function packKnown(T: number, { groups, blocks }: DeviceGroups): Float32Array<ArrayBuffer> {
  const width = knownWidth(T, blocks.length);
  const known = new Float32Array(groups.length * width);
  groups.forEach((group, g) => {
    const { members, bins, followedBlocks, measurable, constrained, slack } = group;
    known.set([members, bins, followedBlocks, Number(measurable), Number(constrained), slack], g * width);
    const at = g * width + GROUP_HEAD;
    for (let t = 0; t < T; t++) {
      known[at + t] = group.survival[t];
      known[at + T + t] = group.variance[t] > 0 ? group.variance[t] : 0;
      known[at + 2 * T + t] = group.atRisk[t];
    }
    known.set(Array.from(group.observed), at + 3 * T);
  });
  return known;
}
