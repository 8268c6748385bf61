/**
 * Loss and curves of every row, and the way back: a workgroup takes a row, its threads the bins, and sums over bins are
 * scans. A thread for each row would go through its bins one after the other and wait for memory at each. The formulas
 * are those of objectives/likelihood.ts, rps.ts, xcal.ts and curves.ts.
 */
import type { DeviceGroups, DeviceObjective } from "../../device-training.ts";
import type { KernelSource } from "../wgsl.ts";
import { asFloat, ELEMENTARY, HAZARD } from "./elementary.ts";
import {
  binsEach,
  nameKind,
  OPEN_ROW as OPEN,
  READ_WEIGHT,
  ROW_THREADS as THREADS,
  type RowKind,
  SCANS,
  totalSizes,
  totalText,
} from "./row-text.ts";

/** Names an objective: everything of it that is written into the code. */
export function nameObjective(objective: DeviceObjective): string {
  switch (objective.kind) {
    case "likelihood":
      return objective.tail ? "likelihood with tail" : "likelihood";
    case "xcal":
      return `X-Cal ${objective.lambda} ${objective.bins} ${objective.gamma}${objective.tail ? " with tail" : ""}`;
    case "rps":
      return "ranked probability";
  }
}

const hasTail = (objective: DeviceObjective) => objective.kind !== "rps" && objective.tail;

const OPEN_ROW = `${OPEN}
  let isEvent = row.z == 1u;
  ${READ_WEIGHT}`;

/** −log h in the bin of the event, −log(1 − h) in the bins before it. */
const ADD_LIKELIHOOD = `
      if (l >= begin && l <= own) {
        loss += soft + select(max(z, 0.0), max(-z, 0.0), isEvent && l == own);
      }`;
const LIKELIHOOD_SLOPE = `
    if (l >= begin && l <= own) {
      slope = select(share * hazard, -share * rest, isEvent && l == own);
    }`;
const RPS_SLOPE = `
      if (isEvent || l <= own) {
        dSurvival = 2.0 * share * (alive - select(1.0, 0.0, isEvent && l >= own));
      }`;

/** Survival of every row and bin, and of each row its weighted loss and S(T)/(1 − S(T)), which the tail term needs. */
export function measureRowsKernel(objective: DeviceObjective, T: number): KernelSource {
  const isRps = objective.kind === "rps";
  const each = binsEach(T);
  return {
    name: `rows of ${nameObjective(objective)}, ${each} bins a thread`,
    sizes: ["N", "T"],
    reads: { logits: "f32", rows: "vec4u" },
    writes: { survival: "f32", terms: "vec2f" },
    threads: THREADS,
    declarations: () => `${ELEMENTARY}${SCANS}`,
    body: () => `
  ${OPEN_ROW}
  var loss = 0.0;
  var cumulative: array<f32, ${each}>;
  var mine = 0.0;
  for (var j = 0u; j < ${each}u; j++) {
    let l = thread * ${each}u + j;
    if (l < size.T) {
      let z = logits[n * size.T + l];
      let u = exp(-min(abs(z), 87.0));
      let soft = log1pOf(u);
      // What is not a number stays so: max would make one of it.
      mine += select(max(z, 0.0) + soft, z, isBad(z));
      ${isRps ? "" : ADD_LIKELIHOOD}
      if (isBad(z)) { loss += z; }
    }
    cumulative[j] = mine;
  }
  let through = sumUpTo(thread, mine);
  for (var j = 0u; j < ${each}u; j++) {
    let l = thread * ${each}u + j;
    if (l >= size.T) { continue; }
    let alive = exp(-min(through - mine + cumulative[j], 87.0));
    survival[n * size.T + l] = alive;
    ${
      isRps
        ? `
    if (isEvent || l <= own) {
      let residual = alive - select(1.0, 0.0, isEvent && l >= own);
      loss += residual * residual;
    }`
        : ""
    }
  }
  let whole = total(thread, loss);
  if (thread == ${THREADS - 1}u) {
    var sum = whole;
    var odds = 0.0;
    ${
      hasTail(objective)
        ? `
    if (isEvent) {
      sum -= logOneMinusExp(through);
      odds = 1.0 / max(expm1Of(through), 1e-37);
    }`
        : ""
    }
    terms[n] = vec2f(weight * sum, odds);
  }`,
  };
}

/** Where a group's statistics enter a row: through its curve, or through its hazards block by block. */
export type GroupSlope = "none" | "curve" | "blocks";

export function slopeOf(groups: DeviceGroups | null): GroupSlope {
  if (groups === null) return "none";
  return groups.gap === "blocks" ? "blocks" : "curve";
}

/** The sum of S·dL/dS from a bin on reaches the logits of that bin; a thread's own bins from the last one back. */
const sumAfter = (each: number, isRps: boolean, addGroups: string) => `
  var after: array<f32, ${each}>;
  var mine = 0.0;
  for (var left = ${each}u; left > 0u; left--) {
    let l = thread * ${each}u + left - 1u;
    if (l < size.T) {
      let alive = survival[n * size.T + l];
      var dSurvival = 0.0;
      ${isRps ? RPS_SLOPE : ""}
      ${addGroups}
      mine += alive * dSurvival;
    }
    after[left - 1u] = mine;
  }
  let beyond = sumFrom(thread, mine) - mine;`;

/** `slopes` are the gradients of groups' statistics, and after them what X-Cal needs of its bins. */
export function slopesKernel(
  objective: DeviceObjective,
  from: GroupSlope,
  T: number,
  kind: RowKind,
): KernelSource {
  // Of expected events of rows that may enter late and have weights.
  const [atRisk, ofOne] = kind.counted ? ["l >= begin && ", "weight * "] : ["", ""];
  const isRps = objective.kind === "rps";
  const onCurve = isRps || from === "curve";
  const each = binsEach(T);
  const eachGroup = (lines: string) => `
      for (var k = firstGroup; k < lastGroup; k++) {
        let slopeAt = lists[size.members + k] * size.W;
        ${lines}
      }`;
  return {
    name: `slopes of ${nameObjective(objective)}, groups by ${from}, ${each} bins a thread${nameKind(kind)}`,
    sizes: ["N", "T", "W", "combinations", "members", "blockOf", "fractions", ...totalSizes(kind)],
    reads: {
      logits: "f32",
      rows: "vec4u",
      terms: "vec2f",
      ...(onCurve || objective.kind === "xcal" ? { survival: "f32" } : {}),
      ...(from === "none" ? {} : { lists: "u32" }),
      ...(from === "none" && objective.kind !== "xcal" ? {} : { slopes: "f32" }),
    },
    writes: { dLogits: "f32" },
    threads: THREADS,
    declarations: () =>
      `${SCANS}${objective.kind === "xcal" ? MEMBERSHIP(objective.bins, objective.gamma) : ""}`,
    body: () => `
  ${OPEN_ROW}
  let share = weight / ${totalText(kind)};
  let odds = terms[n].y;
  ${
    from === "none"
      ? ""
      : `
  let firstGroup = lists[size.combinations + lists[n]];
  let lastGroup = lists[size.combinations + lists[n] + 1u];`
  }
  ${objective.kind === "xcal" ? XCAL_SLOPE(objective.bins) : ""}
  ${onCurve ? sumAfter(each, isRps, from === "curve" ? eachGroup("dSurvival += slopes[slopeAt + l];") : "") : ""}
  for (var j = 0u; j < ${each}u; j++) {
    let l = thread * ${each}u + j;
    if (l >= size.T) { continue; }
    let z = logits[n * size.T + l];
    ${HAZARD}
    var slope = 0.0;
    ${isRps ? "" : LIKELIHOOD_SLOPE}
    ${hasTail(objective) ? "slope -= share * odds * hazard;" : ""}
    ${onCurve ? "slope -= hazard * (beyond + after[j]);" : ""}
    ${
      from === "blocks"
        ? `
    let block = lists[size.blockOf + l];
    if (${atRisk}l <= own && block < size.W) {
      var pull = 0.0;
      ${eachGroup("pull += slopes[slopeAt + block];")}
      slope += ${ofOne}pull * hazard * rest;
    }`
        : ""
    }
    ${objective.kind === "xcal" ? "if (l <= own) { slope += pulled * hazard; }" : ""}
    dLogits[n * size.T + l] = slope;
  }`,
  };
}

/** A row's share in bin b of predicted probability, and its derivative with respect to F. */
const MEMBERSHIP = (bins: number, gamma: number) => `
fn membership(F: f32, asEvent: bool, b: u32) -> vec2f {
  let width = ${asFloat(1 / bins)};
  let low = f32(b) * width;
  let high = low + width;
  var left = low;
  var right = high;
  if (b == 0u) { left = -1.0; }
  if (b == ${bins - 1}u) { right = 2.0; }
  let x = ${asFloat(gamma)} * (F - left) * (right - F);
  let u = exp(-min(abs(x), 87.0));
  let member = select(u, 1.0, x >= 0.0) / (1.0 + u);
  let memberSlope = u / ((1.0 + u) * (1.0 + u)) * ${asFloat(gamma)} * (left + right - 2.0 * F);
  if (asEvent) { return vec2f(member, memberSlope); }
  let rest = 1.0 - F;
  let y = ${asFloat(gamma)} * (low - F);
  let v = exp(-min(abs(y), 87.0));
  let later = select(v, 1.0, y >= 0.0) / (1.0 + v);
  let laterSlope = -${asFloat(gamma)} * v / ((1.0 + v) * (1.0 + v));
  let share = (member * (high - F) + later * width) / rest;
  return vec2f(share, (memberSlope * (high - F) - member + laterSlope * width + share) / rest);
}`;

/** A censored row that is as good as certain to have had the event counts as one: xcal.ts. */
const CERTAIN = 1 - 1e-4;

const XCAL_SLOPE = (bins: number) => `
  let atOwn = survival[n * size.T + own];
  let F = 1.0 - atOwn;
  var dF = 0.0;
  for (var b = thread; b < ${bins}u; b += ${THREADS}u) {
    dF += slopes[size.fractions + b] * membership(F, isEvent || F > ${CERTAIN}, b).y;
  }
  let pulled = total(thread, dF) * atOwn;`;

/** Rows of a part of X-Cal's sums. */
export const XCAL_ROWS = 64;

/** partials[xcalParts + part·bins + b]: the share of the part's rows in bin b. */
export function xcalPartsKernel({
  bins,
  gamma,
}: {
  readonly bins: number;
  readonly gamma: number;
}): KernelSource {
  return {
    name: `X-Cal parts ${bins} ${gamma}`,
    sizes: ["N", "T", "xcalParts"],
    reads: { rows: "vec4u", survival: "f32" },
    writes: { partials: "f32" },
    threads: 32,
    declarations: () => MEMBERSHIP(bins, gamma),
    body: () => `
  let end = min(size.N, (group + 1u) * ${XCAL_ROWS}u);
  for (var b = thread; b < ${bins}u; b += 32u) {
    var sum = 0.0;
    for (var n = group * ${XCAL_ROWS}u; n < end; n++) {
      let row = rows[n];
      let F = 1.0 - survival[n * size.T + row.y - 1u];
      sum += membership(F, row.z == 1u || F > ${CERTAIN}, b).x;
    }
    if (group * ${XCAL_ROWS}u < size.N) { partials[size.xcalParts + group * ${bins}u + b] = sum; }
  }`,
  };
}
