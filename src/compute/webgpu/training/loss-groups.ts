/**
 * Statistics and distances of groups: rows are summed by segments (loss-layout.ts), segments by groups; then a
 * workgroup for each group measures its distance, moves its multiplier where a dual step is due, and leaves the
 * gradient of its statistics. One more workgroup sums the loss. The formulas are those of objectives/distances/ and
 * training/lagrangian/dual.ts.
 */
import type { DeviceGroups, DeviceObjective } from "../../device-training.ts";
import type { KernelSource } from "../wgsl.ts";
import { asFloat, ELEMENTARY, HAZARD, sumOverThreads } from "./elementary.ts";
import { GROUP_HEAD, SEGMENT_ROWS } from "./loss-layout.ts";
import { XCAL_ROWS } from "./loss-rows.ts";
import { nameKind, type RowKind, totalSizes, totalText } from "./row-text.ts";

/** A row of the segment in each. */
const SEGMENT_THREADS = SEGMENT_ROWS;
const THREADS = 128;

/** partials[segment, t]: the sum of the segment's curves, or of what is known of each row. */
const CURVE_SEGMENTS: KernelSource = {
  name: "curves by segments",
  sizes: ["T", "order", "segments", "count"],
  reads: { survival: "f32", lists: "u32" },
  writes: { partials: "f32" },
  threads: SEGMENT_THREADS,
  body: () => `
  if (group >= size.count) { return; }
  let first = size.order + lists[size.segments + 2u * group];
  let rowsIn = lists[size.segments + 2u * group + 1u];
  for (var t = thread; t < size.T; t += ${SEGMENT_THREADS}u) {
    var sum = 0.0;
    for (var k = 0u; k < rowsIn; k++) { sum += survival[lists[first + k] * size.T + t]; }
    partials[group * size.T + t] = sum;
  }`,
};

/** partials[segment, block] = expected events, and after the blocks their variances: a row in a thread. */
function blockSegments(blocks: number, kind: RowKind): KernelSource {
  const { counted } = kind;
  return {
    name: `${blocks} blocks by segments${nameKind(kind)}`,
    sizes: ["T", "order", "segments", "count", "blockOf"],
    reads: { logits: "f32", rows: "vec4u", lists: "u32" },
    writes: { partials: "f32" },
    threads: SEGMENT_THREADS,
    declarations: () => `${ELEMENTARY}
var<workgroup> totals: array<vec2f, ${SEGMENT_THREADS * blocks}>;`,
    body: () => `
  if (group >= size.count) { return; }
  let first = size.order + lists[size.segments + 2u * group];
  let rowsIn = lists[size.segments + 2u * group + 1u];
  for (var b = 0u; b < ${blocks}u; b++) { totals[thread * ${blocks}u + b] = vec2f(0.0); }
  if (thread < rowsIn) {
    let n = lists[first + thread];
    for (var l = ${counted ? "rows[n].x - 1u" : "0u"}; l < rows[n].y; l++) {
      let b = lists[size.blockOf + l];
      if (b >= ${blocks}u) { continue; }
      let z = logits[n * size.T + l];
      ${HAZARD}
      totals[thread * ${blocks}u + b] += vec2f(hazard, hazard * rest);
    }${counted ? weighTotals(blocks) : ""}
  }
  workgroupBarrier();
  for (var b = thread; b < ${blocks}u; b += ${SEGMENT_THREADS}u) {
    var sum = vec2f(0.0);
    for (var k = 0u; k < rowsIn; k++) { sum += totals[k * ${blocks}u + b]; }
    partials[group * ${2 * blocks}u + b] = sum.x;
    partials[group * ${2 * blocks}u + ${blocks}u + b] = sum.y;
  }`,
  };
}

/** A row's events count by its weight, their variance by its square. */
function weighTotals(blocks: number): string {
  return `
    let weight = bitcast<f32>(rows[n].w);
    for (var b = 0u; b < ${blocks}u; b++) { totals[thread * ${blocks}u + b] *= vec2f(weight, weight * weight); }`;
}

/** With several causes, a row's events are summed by blocks before. */
export function segmentsKernel({ gap, blocks }: DeviceGroups, kind: RowKind): KernelSource {
  return gap === "blocks" && kind.K === 1 ? blockSegments(blocks.length, kind) : CURVE_SEGMENTS;
}

export interface GroupsText {
  readonly objective: DeviceObjective;
  readonly groups: DeviceGroups | null;
  readonly kind: RowKind;
  /** Numbers of a group's statistics, and of what is known of it. */
  readonly W: number;
  readonly known: number;
}

/**
 * `log` has an entry for each step: loss, distances, multipliers. `slopes` gets the gradient of every statistic by row
 * of the group, and after them that of X-Cal's fractions.
 */
export function groupsKernel(text: GroupsText, name: string): KernelSource {
  const { objective, groups, W, kind } = text;
  const sizes = ["N", "T", "G", "groups", "parts", "xcalParts", "fractions", "entry", "isDual"];
  return {
    name: `groups of ${name}${kind.counted ? ", counted" : ""}`,
    sizes: [...sizes, ...totalSizes(kind)],
    reads: {
      terms: "vec2f",
      ...(groups === null && objective.kind !== "xcal" ? {} : { partials: "f32" }),
      ...(groups === null ? {} : { lists: "u32", known: "f32" }),
    },
    writes: {
      log: "f32",
      ...(groups === null ? {} : { multipliers: "f32" }),
      ...(groups === null && objective.kind !== "xcal" ? {} : { slopes: "f32" }),
    },
    threads: THREADS,
    declarations: () => `
var<workgroup> lane: array<f32, ${THREADS}>;
${groups === null ? "" : declareGroup(W)}
${sumOverThreads(THREADS)}`,
    body: () => `
  if (group > size.G) { return; }
  let entry = size.entry * (1u + 2u * size.G);
  if (group == size.G) {
    ${sumLoss(objective, totalText(kind))}
    return;
  }
  ${groups === null ? "" : measureGroup(text, groups)}`,
  };
}

function declareGroup(W: number): string {
  return `
var<workgroup> statistic: array<f32, ${W}>;
var<workgroup> work: array<f32, ${W}>;
var<workgroup> pull: f32;
var<workgroup> peak: u32;`;
}

function sumLoss(objective: DeviceObjective, count: string): string {
  const penalty =
    objective.kind === "xcal"
      ? `
    var square = 0.0;
    for (var b = thread; b < ${objective.bins}u; b += ${THREADS}u) {
      var fraction = 0.0;
      let parts = (size.N + ${XCAL_ROWS - 1}u) / ${XCAL_ROWS}u;
      for (var part = 0u; part < parts; part++) {
        fraction += partials[size.xcalParts + part * ${objective.bins}u + b];
      }
      let excess = fraction / f32(size.N) - ${asFloat(1 / objective.bins)};
      square += excess * excess;
      slopes[size.fractions + b] = ${asFloat(2 * objective.lambda)} * excess / f32(size.N);
    }
    let penalty = ${asFloat(objective.lambda)} * total(thread, square);`
      : "";
  return `
    var sum = 0.0;
    for (var n = thread; n < size.N; n += ${THREADS}u) { sum += terms[n].x; }
    let whole = total(thread, sum);
    ${penalty}
    if (thread == 0u) { log[entry] = whole / ${count}${penalty === "" ? "" : " + penalty"}; }`;
}

function measureGroup({ W, known: width }: GroupsText, groups: DeviceGroups): string {
  const isCurve = groups.gap !== "blocks";
  return `
  let own = group * ${width}u;
  let members = known[own];
  let isMeasurable = known[own + 3u] > 0.0;
  let isConstrained = known[own + 4u] > 0.0;
  let slack = known[own + 5u];
  let survivalAt = own + ${GROUP_HEAD}u;
  for (var w = thread; w < ${W}u; w += ${THREADS}u) {
    var sum = 0.0;
    for (var k = lists[size.groups + group]; k < lists[size.groups + group + 1u]; k++) {
      sum += partials[lists[size.parts + k] * ${W}u + w];
    }
    statistic[w] = sum${isCurve ? " / max(members, 1.0)" : ""};
  }
  workgroupBarrier();
  ${DISTANCE[groups.gap](W, groups.ownVariance)}
  if (thread == 0u) {
    if (!isMeasurable) { distance = 0.0; }
    var multiplier = multipliers[group];
    ${moveMultiplier(groups)}
    multipliers[group] = multiplier;
    log[entry + 1u + group] = distance;
    log[entry + 1u + size.G + group] = multiplier;
  }
  workgroupBarrier();
  for (var w = thread; w < ${W}u; w += ${THREADS}u) {
    var slope = 0.0;
    if (isConstrained && pull != 0.0) { ${SLOPE[groups.gap](W)} }
    slopes[group * ${W}u + w] = slope${isCurve ? " / max(members, 1.0)" : ""};
  }`;
}

/** Sets `pull`, the weight of the distance in the Lagrangian. */
function moveMultiplier({ dual }: DeviceGroups): string {
  if (dual.form === "ascent") {
    return `
    if (size.isDual == 1u && isConstrained) {
      multiplier = max(0.0, multiplier + ${asFloat(dual.rate)} * (distance - slack));
    }
    pull = multiplier;`;
  }
  return `
    if (size.isDual == 1u && isConstrained) {
      multiplier = max(0.0, multiplier + ${asFloat(dual.penalty)} * (distance / slack - 1.0));
    }
    pull = max(0.0, multiplier + ${asFloat(dual.penalty)} * (distance / slack - 1.0)) / slack;`;
}

/** Sets `distance` in thread 0. */
const DISTANCE = {
  meanSquare: () => `
  let bins = u32(known[own + 1u]);
  var squares = 0.0;
  for (var t = thread; t < bins; t += ${THREADS}u) {
    let gap = statistic[t] - known[survivalAt + t];
    squares += gap * gap;
  }
  var distance = total(thread, squares) / max(f32(bins), 1.0);`,
  largest: (W: number, ownVariance: boolean) => `
  let bins = u32(known[own + 1u]);
  ${ownVariance ? ownVariances(W) : knownVariances(W)}
  workgroupBarrier();
  for (var t = thread; t < ${W}u; t += ${THREADS}u) {
    var z = -1.0;
    if (t < bins && work[t] > 0.0) { z = abs(statistic[t] - known[survivalAt + t]) / sqrt(work[t]); }
    // The slope of the gap in its place, so that the variance is not needed again.
    if (z >= 0.0) { statistic[t] = sign(statistic[t] - known[survivalAt + t]) / sqrt(work[t]); }
    work[t] = z;
  }
  workgroupBarrier();
  var distance = 0.0;
  if (thread == 0u) {
    peak = ${W}u;
    var largest = -1.0;
    for (var t = 0u; t < bins; t++) {
      if (work[t] > largest) { largest = work[t]; peak = t; }
    }
    distance = max(largest, 0.0);
  }`,
  blocks: (W: number) => `
  var squares = 0.0;
  for (var b = thread; b < ${W / 2}u; b += ${THREADS}u) {
    let gap = known[own + ${GROUP_HEAD}u + 3u * size.T + b] - statistic[b];
    squares += gap * gap / max(statistic[${W / 2}u + b], 0.01);
  }
  var distance = total(thread, squares) / max(known[own + 2u], 1.0);`,
} as const;

function knownVariances(W: number): string {
  return `for (var t = thread; t < ${W}u; t += ${THREADS}u) { work[t] = known[survivalAt + ${W}u + t]; }`;
}

/** S̄² Σ h̄/(k(1−h̄)) of the mean curve: stats/calibration/calibration.ts. */
function ownVariances(W: number): string {
  return `
  for (var t = thread; t < ${W}u; t += ${THREADS}u) {
    var before = 1.0;
    if (t > 0u) { before = statistic[t - 1u]; }
    let kept = statistic[t] / before;
    let atRisk = known[survivalAt + ${2 * W}u + t];
    // Nobody at risk of a positive hazard: no variance from here on.
    work[t] = select(0.0, select(-1e30, (1.0 - kept) / (atRisk * kept), atRisk > 0.0), kept < 1.0);
  }
  workgroupBarrier();
  if (thread == 0u) {
    var sum = 0.0;
    for (var t = 0u; t < ${W}u; t++) {
      sum += work[t];
      work[t] = statistic[t] * statistic[t] * sum;
    }
  }`;
}

/** Sets `slope` of statistic w, given `pull`. */
const SLOPE = {
  meanSquare: () =>
    `if (w < bins) { slope = pull * 2.0 * (statistic[w] - known[survivalAt + w]) / f32(bins); }`,
  largest: () => `if (w == peak) { slope = pull * statistic[w]; }`,
  blocks: (W: number) => `
      if (w < ${W / 2}u) {
        let gap = known[own + ${GROUP_HEAD}u + 3u * size.T + w] - statistic[w];
        slope = -2.0 * pull * gap / (max(statistic[${W / 2}u + w], 0.01) * max(known[own + 2u], 1.0));
      }`,
} as const;
