/**
 * Loss and hazards of every row with K competing causes, and the way back: as in loss-rows.ts a workgroup takes a row,
 * its threads the bins. The formulas are those of objectives/causes/: hazards h_k = e^{z_k} / (1 + Σ_j e^{z_j}), and a
 * loss of log(1 + Σ_j e^{z_j}) in every bin at risk, less z_k where the event is of cause k. Groups are held by what a
 * row adds to them for each cause, which is one of two:
 *   blocks  its expected events in blocks of time, and their variances; asked for p_k in the block, dz_j = h_j (p_j −
 *           Σ_k p_k h_k) in every bin at risk
 *   curve   1 − F_k, with F_k(t) = Σ_{s≤t} S(s−1) h_k(s); asked for c_k(s) = Σ_{t≥s} dL/d(1 − F_k(t)), dz_j(s) =
 *           h_j(s) (Σ_{t≥s} S(t−1) Σ_k h_k(t) c_k(t) − S(s−1) c_j(s))
 */
import type { KernelSource } from "../wgsl.ts";
import { ELEMENTARY } from "./elementary.ts";
import type { GroupSlope } from "./loss-rows.ts";
import { binsEach, OPEN_ROW, READ_WEIGHT, ROW_THREADS, SCANS, totalText } from "./row-text.ts";

/** log(1 + u) for u ≥ 0. */
const LOG_SUM = `
fn logSum(rest: f32) -> f32 {
  if (rest <= 1.0) { return log1pOf(rest); }
  return log(1.0 + rest);
}`;

/** Largest of 0 and the logits, and the sum of all other terms of 1 + Σ e^z in its units. */
const SUM_TERMS = `
      var most = 0.0;
      var rest = 0.0;
      for (var k = 0u; k < size.K; k++) {
        let z = logits[at + k * size.T];
        // What is not a number stays so: max would make one of it.
        if (isBad(z)) { loss += z; }
        if (z > most) {
          rest = (rest + 1.0) * exp(max(most - z, -87.0));
          most = z;
        } else {
          rest += exp(max(z - most, -87.0));
        }
      }`;

/** added[row, cause] = expected events in each block, and after the blocks their variances. */
const ADD_BLOCKS = `
  storageBarrier();
  for (var i = thread; i < size.K * size.blocks; i += ${ROW_THREADS}u) {
    let k = i / size.blocks;
    let block = i % size.blocks;
    let place = (n * size.K + k) * size.T;
    let end = min(lists[size.blockEnds + 2u * block + 1u], own + 1u);
    var events = vec2f(0.0);
    for (var l = max(lists[size.blockEnds + 2u * block], begin); l < end; l++) {
      let hazard = hazards[place + l];
      events += vec2f(hazard, hazard * (1.0 - hazard));
    }
    let to = (n * size.K + k) * 2u * size.blocks + block;
    added[to] = weight * events.x;
    added[to + size.blocks] = weight * weight * events.y;
  }`;

/** before[row] = S(t−1), and added[row, cause] = 1 − F_k(t). */
const addCurves = (each: number) => `
  let lost = sumUpTo(thread, through) - through;
  for (var j = 0u; j < ${each}u; j++) {
    let l = thread * ${each}u + j;
    if (l < size.T) { before[n * size.T + l] = exp(-min(lost + lostBefore[j], 87.0)); }
  }
  for (var k = 0u; k < size.K; k++) {
    let place = (n * size.K + k) * size.T;
    var mine = 0.0;
    for (var j = 0u; j < ${each}u; j++) {
      let l = thread * ${each}u + j;
      if (l < size.T) { mine += before[n * size.T + l] * hazards[place + l]; }
    }
    var reached = sumUpTo(thread, mine) - mine;
    for (var j = 0u; j < ${each}u; j++) {
      let l = thread * ${each}u + j;
      if (l < size.T) {
        reached += before[n * size.T + l] * hazards[place + l];
        added[place + l] = 1.0 - reached;
      }
    }
  }`;

/** Hazards of every row, cause and bin; of each row its weighted loss, and what it adds to its groups. */
export function measureCausesKernel(T: number, by: GroupSlope): KernelSource {
  const each = binsEach(T);
  const onCurve = by === "curve";
  return {
    name: `rows of causes, ${each} bins a thread, groups by ${by}`,
    sizes: ["N", "T", "K", "blocks", "blockEnds"],
    reads: { logits: "f32", rows: "vec4u", ...(by === "blocks" && { lists: "u32" }) },
    writes: {
      hazards: "f32",
      terms: "vec2f",
      ...(by !== "none" && { added: "f32" }),
      ...(onCurve && { before: "f32" }),
    },
    threads: ROW_THREADS,
    declarations: () => `${ELEMENTARY}${LOG_SUM}${SCANS}`,
    body: () => `
  ${OPEN_ROW}
  ${READ_WEIGHT}
  var loss = 0.0;
  ${onCurve ? `var through = 0.0; var lostBefore: array<f32, ${each}>;` : ""}
  for (var j = 0u; j < ${each}u; j++) {
    let l = thread * ${each}u + j;
    if (l < size.T) {
      let at = n * size.K * size.T + l;
      ${SUM_TERMS}
      for (var k = 0u; k < size.K; k++) {
        let place = at + k * size.T;
        hazards[place] = exp(max(logits[place] - most, -87.0)) / (1.0 + rest);
      }
      if (l >= begin && l <= own) {
        var happened = 0.0;
        if (l == own && row.z > 0u) { happened = logits[at + (row.z - 1u) * size.T]; }
        loss += (most - happened) + logSum(rest);
      }
      ${onCurve ? "lostBefore[j] = through; through += most + logSum(rest);" : ""}
    }
  }
  let whole = total(thread, loss);
  if (thread == 0u) { terms[n] = vec2f(weight * whole, 0.0); }
  ${by === "blocks" ? ADD_BLOCKS : ""}
  ${onCurve ? addCurves(each) : ""}`,
  };
}

/** What decides on the code of causeSlopesKernel; `blocks` are those of the groups. */
export interface CauseSlopes {
  readonly T: number;
  readonly K: number;
  readonly by: GroupSlope;
  readonly blocks: number;
}

/** dLogits, from hazards; `slopes` are the gradients of the groups' statistics. */
export function causeSlopesKernel({ T, K, by, blocks }: CauseSlopes): KernelSource {
  const each = binsEach(T);
  const text = { none: NOTHING, blocks: askBlocks(K, blocks), curve: askCurves(K, each) }[by];
  return {
    name: `slopes of ${K} causes, groups by ${by === "blocks" ? `${blocks} ` : ""}${by}, ${each} bins a thread`,
    sizes: ["N", "T", "W", "combinations", "members", "blockOf", "total"],
    reads: {
      hazards: "f32",
      rows: "vec4u",
      ...(by === "curve" && { before: "f32" }),
      ...(by !== "none" && { lists: "u32", slopes: "f32" }),
    },
    writes: { dLogits: "f32" },
    threads: ROW_THREADS,
    declarations: () => text.declarations,
    body: () => `
  ${OPEN_ROW}
  ${READ_WEIGHT}
  let share = weight / ${totalText({ K, counted: true })};
  ${text.gather}
  for (var j = 0u; j < ${each}u; j++) {
    let l = thread * ${each}u + j;
    if (l >= size.T) { continue; }
    let at = n * ${K}u * size.T + l;
    let isAtRisk = l >= begin && l <= own;
    ${text.open}
    for (var k = 0u; k < ${K}u; k++) {
      let hazard = hazards[at + k * size.T];
      let happened = select(0.0, 1.0, l == own && row.z == k + 1u);
      dLogits[at + k * size.T] = select(0.0, share * (hazard - happened), isAtRisk)${text.add};
    }
  }`,
  };
}

/** Code before the bins, in a bin, and what a cause's slope gets there. */
interface AskedText {
  readonly declarations: string;
  readonly gather: string;
  readonly open: string;
  readonly add: string;
}

const NOTHING: AskedText = { declarations: "", gather: "", open: "", add: "" };

/** The groups of row and cause `k`, as [first, last) of members. */
const findGroups = (K: number, k: string) => `
    let combination = size.combinations + lists[n * ${K}u + ${k}];
    let firstGroup = lists[combination];
    let lastGroup = lists[combination + 1u];`;

function askBlocks(K: number, blocks: number): AskedText {
  return {
    declarations: `var<workgroup> pulls: array<f32, ${K * blocks}>;`,
    gather: `
  for (var i = thread; i < ${K * blocks}u; i += ${ROW_THREADS}u) {
    ${findGroups(K, `i / ${blocks}u`)}
    var pull = 0.0;
    for (var m = firstGroup; m < lastGroup; m++) {
      pull += slopes[lists[size.members + m] * size.W + i % ${blocks}u];
    }
    pulls[i] = weight * pull;
  }
  workgroupBarrier();`,
    open: `
    let block = min(lists[size.blockOf + l], ${blocks}u);
    let isAsked = isAtRisk && block < ${blocks}u;
    var pulled = 0.0;
    if (isAsked) {
      for (var k = 0u; k < ${K}u; k++) { pulled += pulls[k * ${blocks}u + block] * hazards[at + k * size.T]; }
    }`,
    add: ` + select(0.0, hazard * (pulls[min(k * ${blocks}u + block, ${K * blocks - 1}u)] - pulled), isAsked)`,
  };
}

function askCurves(K: number, each: number): AskedText {
  return {
    declarations: SCANS,
    gather: `
  var later: array<f32, ${K * each}>;
  for (var k = 0u; k < ${K}u; k++) {
    ${findGroups(K, "k")}
    var mine = 0.0;
    for (var left = ${each}u; left > 0u; left--) {
      let l = thread * ${each}u + left - 1u;
      if (l < size.T) {
        for (var m = firstGroup; m < lastGroup; m++) { mine += slopes[lists[size.members + m] * size.W + l]; }
      }
      later[k * ${each}u + left - 1u] = mine;
    }
    let beyond = sumFrom(thread, mine) - mine;
    for (var j = 0u; j < ${each}u; j++) { later[k * ${each}u + j] += beyond; }
  }
  var pulled: array<f32, ${each}>;
  var mine = 0.0;
  for (var left = ${each}u; left > 0u; left--) {
    let l = thread * ${each}u + left - 1u;
    if (l < size.T) {
      for (var k = 0u; k < ${K}u; k++) {
        let hazard = hazards[(n * ${K}u + k) * size.T + l];
        mine += before[n * size.T + l] * hazard * later[k * ${each}u + left - 1u];
      }
    }
    pulled[left - 1u] = mine;
  }
  let beyond = sumFrom(thread, mine) - mine;`,
    open: "let alive = before[n * size.T + l];",
    add: ` + hazard * (pulled[j] + beyond - alive * later[k * ${each}u + j])`,
  };
}
