/**
 * Loss and hazards of every row with K competing causes, and the way back: as in loss-rows.ts a workgroup takes a row,
 * its threads the bins. The formulas are those of objectives/causes/: hazards h_k = e^{z_k} / (1 + Σ_j e^{z_j}), a
 * loss of log(1 + Σ_j e^{z_j}) in every bin at risk, less z_k where the event is of cause k. Expected events of cause
 * k pull on z_j by h_j (p_j − Σ_k p_k h_k), where p_k is what the groups of the row and cause ask for in that block.
 */
import type { KernelSource } from "../wgsl.ts";
import { ELEMENTARY, sumOverThreads } from "./elementary.ts";
import { binsEach, OPEN_ROW, READ_WEIGHT, ROW_THREADS, totalText } from "./row-text.ts";

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

/** totals[row, cause] = expected events in each block, and after the blocks their variances. */
const SUM_BLOCKS = `
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
    totals[to] = weight * events.x;
    totals[to + size.blocks] = weight * weight * events.y;
  }`;

/** Hazards of every row, cause and bin; of each row its weighted loss, and of a constrained one what its groups sum. */
export function measureCausesKernel(T: number, isConstrained: boolean): KernelSource {
  const each = binsEach(T);
  return {
    name: `rows of causes, ${each} bins a thread${isConstrained ? ", blocks" : ""}`,
    sizes: ["N", "T", "K", "blocks", "blockEnds"],
    reads: { logits: "f32", rows: "vec4u", ...(isConstrained && { lists: "u32" }) },
    writes: { hazards: "f32", terms: "vec2f", ...(isConstrained && { totals: "f32" }) },
    threads: ROW_THREADS,
    declarations: () => `
var<workgroup> lane: array<f32, ${ROW_THREADS}>;
${ELEMENTARY}${LOG_SUM}${sumOverThreads(ROW_THREADS)}`,
    body: () => `
  ${OPEN_ROW}
  ${READ_WEIGHT}
  var loss = 0.0;
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
    }
  }
  let whole = total(thread, loss);
  if (thread == 0u) { terms[n] = vec2f(weight * whole, 0.0); }
  ${isConstrained ? SUM_BLOCKS : ""}`,
  };
}

/** dLogits, from hazards; `slopes` are the gradients of the groups' expected events in `blocks` blocks, 0 for none. */
export function causeSlopesKernel(T: number, K: number, blocks: number): KernelSource {
  const each = binsEach(T);
  const pulls = K * blocks;
  const gatherPulls = `
  for (var i = thread; i < ${pulls}u; i += ${ROW_THREADS}u) {
    let combination = size.combinations + lists[n * ${K}u + i / ${blocks}u];
    var pull = 0.0;
    for (var m = lists[combination]; m < lists[combination + 1u]; m++) {
      pull += slopes[lists[size.members + m] * size.W + i % ${blocks}u];
    }
    pulls[i] = weight * pull;
  }
  workgroupBarrier();`;
  const addPulls = `
    let block = lists[size.blockOf + l];
    if (block < ${blocks}u) {
      var pulled = 0.0;
      for (var k = 0u; k < ${K}u; k++) { pulled += pulls[k * ${blocks}u + block] * hazards[at + k * size.T]; }
      for (var k = 0u; k < ${K}u; k++) {
        let place = at + k * size.T;
        dLogits[place] += hazards[place] * (pulls[k * ${blocks}u + block] - pulled);
      }
    }`;
  return {
    name: `slopes of ${K} causes, groups by ${blocks} blocks, ${each} bins a thread`,
    sizes: ["N", "T", "W", "combinations", "members", "blockOf", "total"],
    reads: { hazards: "f32", rows: "vec4u", ...(blocks > 0 && { lists: "u32", slopes: "f32" }) },
    writes: { dLogits: "f32" },
    threads: ROW_THREADS,
    declarations: () => (blocks > 0 ? `var<workgroup> pulls: array<f32, ${pulls}>;` : ""),
    body: () => `
  ${OPEN_ROW}
  ${READ_WEIGHT}
  let share = weight / ${totalText({ K, counted: true })};
  ${blocks > 0 ? gatherPulls : ""}
  for (var j = 0u; j < ${each}u; j++) {
    let l = thread * ${each}u + j;
    if (l >= size.T) { continue; }
    let at = n * ${K}u * size.T + l;
    let isAtRisk = l >= begin && l <= own;
    for (var k = 0u; k < ${K}u; k++) {
      let happened = select(0.0, 1.0, l == own && row.z == k + 1u);
      dLogits[at + k * size.T] = select(0.0, share * (hazards[at + k * size.T] - happened), isAtRisk);
    }
    if (!isAtRisk) { continue; }
    ${blocks > 0 ? addPulls : ""}
  }`,
  };
}
