/**
 * The LSTM over bins 1 … T for tiles of sixteen rows: gates i, f, g, o from W_x·x + b (once per tile) + w_t·t/T +
 * W_h·h, then c ← f·c + i·g, h ← o·tanh c, logit_k = w_k·h + b_k for each output k. A tile writes what the backward
 * kernel needs to its tape; when no tape is kept, two bins are used in turn.
 */
import { JOB_NEXT_SLOT, JOB_OUT, JOB_SLOTS, JOB_TAPE, JOB_TAPED_TILES } from "./job.ts";
import { exp2Plus, TANH_SCALE } from "./activations.ts";
import {
  biases,
  binBytes,
  constants,
  D,
  gateWeights,
  H,
  inputPart,
  inputWeights,
  K,
  loadRows,
  lstmTapeBytes,
  N,
  openScratch,
  outputBiases,
  outputs,
  outputWeights,
  perBin,
  spareTape,
  T,
  times,
  timeWeights,
  xLanes,
  zeros,
} from "./lstm-scratch.ts";
import { fillZero, madd, takeSlot, word } from "./simd.ts";

/** W_x·x + b of the tile, [H][4][16]. */
function multiplyInput(): void {
  const rows = H << 2;
  for (let r: usize = 0; r < rows; r++) {
    let weight = inputWeights + (((r >> 2) * D) << 4) + ((r & 3) << 2);
    let a0 = v128.load32_splat(biases + (r << 2));
    let a1 = a0;
    let a2 = a0;
    let a3 = a0;
    let lanes = xLanes;
    const end = lanes + (D << 6);
    while (lanes < end) {
      const w = v128.load32_splat(weight);
      a0 = madd(w, v128.load(lanes, 0), a0);
      a1 = madd(w, v128.load(lanes, 16), a1);
      a2 = madd(w, v128.load(lanes, 32), a2);
      a3 = madd(w, v128.load(lanes, 48), a3);
      lanes += 64;
      weight += 16;
    }
    const to = inputPart + (r << 6);
    v128.store(to, a0, 0);
    v128.store(to, a1, 16);
    v128.store(to, a2, 32);
    v128.store(to, a3, 48);
  }
}

/** Pre-activations of one bin, [H][4][16]; eight rows and the four gates of one unit at a time. */
function multiplyGates(time: usize, hidden: usize, units: usize, gates: usize): void {
  const t = v128.load32_splat(time);
  let unit = gateWeights;
  let timeWeight = timeWeights;
  let input = inputPart;
  const endGates = gates + (H << 8);
  const unitBytes = K << 4;
  while (gates < endGates) {
    for (let half: usize = 0; half < 64; half += 32) {
      const from = input + half;
      let w = v128.load32_splat(timeWeight, 0);
      let i0 = madd(w, t, v128.load(from, 0));
      let i1 = madd(w, t, v128.load(from, 16));
      w = v128.load32_splat(timeWeight, 4);
      let f0 = madd(w, t, v128.load(from, 64));
      let f1 = madd(w, t, v128.load(from, 80));
      w = v128.load32_splat(timeWeight, 8);
      let g0 = madd(w, t, v128.load(from, 128));
      let g1 = madd(w, t, v128.load(from, 144));
      w = v128.load32_splat(timeWeight, 12);
      let o0 = madd(w, t, v128.load(from, 192));
      let o1 = madd(w, t, v128.load(from, 208));
      let weight = unit;
      let h = hidden + half;
      const end = h + (units << 6);
      while (h < end) {
        const h0 = v128.load(h, 0);
        const h1 = v128.load(h, 16);
        const wi = v128.load32_splat(weight, 0);
        const wf = v128.load32_splat(weight, 4);
        const wg = v128.load32_splat(weight, 8);
        const wo = v128.load32_splat(weight, 12);
        i0 = madd(wi, h0, i0);
        i1 = madd(wi, h1, i1);
        f0 = madd(wf, h0, f0);
        f1 = madd(wf, h1, f1);
        g0 = madd(wg, h0, g0);
        g1 = madd(wg, h1, g1);
        o0 = madd(wo, h0, o0);
        o1 = madd(wo, h1, o1);
        weight += 16;
        h += 64;
      }
      const to = gates + half;
      v128.store(to, i0, 0);
      v128.store(to, i1, 16);
      v128.store(to, f0, 64);
      v128.store(to, f1, 80);
      v128.store(to, g0, 128);
      v128.store(to, g1, 144);
      v128.store(to, o0, 192);
      v128.store(to, o1, 208);
    }
    unit += unitBytes;
    timeWeight += 16;
    input += 256;
    gates += 256;
  }
}

/** 2^z − 1 of all pre-activations, in place. */
function raiseGates(gates: usize): void {
  const largest = v128.load(constants, 0);
  const smallest = v128.load(constants, 16);
  const magic = v128.load(constants, 32);
  const one = v128.load(constants, 48);
  const q0 = v128.load(constants, 64);
  const q1 = v128.load(constants, 80);
  const q2 = v128.load(constants, 96);
  const q3 = v128.load(constants, 112);
  const q4 = v128.load(constants, 128);
  const q5 = v128.load(constants, 144);
  const end = gates + (H << 8);
  while (gates < end) {
    v128.store(gates, exp2Plus(v128.load(gates), true, largest, smallest, magic, one, q0, q1, q2, q3, q4, q5));
    gates += 16;
  }
}

/** Computes the activations in place from the output of raiseGates, and the new cell. Two gates share one division. */
function activateGates(gates: usize, cellBefore: usize, cell: usize): void {
  const one = v128.load(constants, 48);
  const two = f32x4.add(one, one);
  const end = gates + (H << 8);
  while (gates < end) {
    for (let lane: usize = 0; lane < 64; lane += 16) {
      const at = gates + lane;
      const i1 = f32x4.add(two, v128.load(at, 0));
      const f1 = f32x4.add(two, v128.load(at, 64));
      const m = v128.load(at, 128);
      const g1 = f32x4.add(two, m);
      const o1 = f32x4.add(two, v128.load(at, 192));
      const r = f32x4.div(one, f32x4.mul(i1, f1));
      const s = f32x4.div(one, f32x4.mul(g1, o1));
      const i = f32x4.mul(r, f1);
      const f = f32x4.mul(r, i1);
      const g = f32x4.mul(f32x4.mul(m, s), o1);
      const o = f32x4.mul(s, g1);
      v128.store(at, i, 0);
      v128.store(at, f, 64);
      v128.store(at, g, 128);
      v128.store(at, o, 192);
      v128.store(cell + lane, madd(f, v128.load(cellBefore + lane), f32x4.mul(i, g)));
    }
    gates += 256;
    cellBefore += 64;
    cell += 64;
  }
}

/** hidden = o·tanh(cell). */
function activateCells(gates: usize, cell: usize, hidden: usize): void {
  const largest = v128.load(constants, 0);
  const smallest = v128.load(constants, 16);
  const magic = v128.load(constants, 32);
  const one = v128.load(constants, 48);
  const q0 = v128.load(constants, 64);
  const q1 = v128.load(constants, 80);
  const q2 = v128.load(constants, 96);
  const q3 = v128.load(constants, 112);
  const q4 = v128.load(constants, 128);
  const q5 = v128.load(constants, 144);
  const two = f32x4.add(one, one);
  const end = hidden + (H << 6);
  while (hidden < end) {
    for (let lane: usize = 0; lane < 64; lane += 16) {
      const c = f32x4.mul(v128.load(cell + lane), f32x4.splat(<f32>TANH_SCALE));
      const m = exp2Plus(c, true, largest, smallest, magic, one, q0, q1, q2, q3, q4, q5);
      const o = v128.load(gates + lane, 192);
      v128.store(hidden + lane, f32x4.div(f32x4.mul(o, m), f32x4.add(two, m)));
    }
    gates += 256;
    cell += 64;
    hidden += 64;
  }
}

/** w_k·h + b_k of one bin and output, sixteen lanes. */
function multiplyOutput(hidden: usize, k: usize, to: usize): void {
  let a0 = v128.load32_splat(outputBiases + (k << 2));
  let a1 = a0;
  let a2 = a0;
  let a3 = a0;
  let weight = outputWeights + ((k * H) << 2);
  const end = hidden + (H << 6);
  while (hidden < end) {
    const w = v128.load32_splat(weight);
    a0 = madd(w, v128.load(hidden, 0), a0);
    a1 = madd(w, v128.load(hidden, 16), a1);
    a2 = madd(w, v128.load(hidden, 32), a2);
    a3 = madd(w, v128.load(hidden, 48), a3);
    weight += 4;
    hidden += 64;
  }
  v128.store(to, a0, 0);
  v128.store(to, a1, 16);
  v128.store(to, a2, 32);
  v128.store(to, a3, 48);
}

/** Runs one tile through all bins, using `bins` bins of the tape in turn. */
export function runTile(first: i32, tape: usize, bins: usize, wantLogits: bool): void {
  loadRows(first);
  multiplyInput();
  const bytes = binBytes(H);
  const cellPlace = H << 8;
  const hiddenPlace = cellPlace + (H << 6);
  const end = tape + bins * bytes;
  let bin = tape;
  let cellBefore = zeros;
  let hiddenBefore = zeros;
  for (let t: usize = 0; t < T; t++) {
    multiplyGates(times + (t << 2), hiddenBefore, t === 0 ? 0 : K, bin);
    raiseGates(bin);
    activateGates(bin, cellBefore, bin + cellPlace);
    cellBefore = bin + cellPlace;
    hiddenBefore = bin + hiddenPlace;
    activateCells(bin, cellBefore, hiddenBefore);
    if (wantLogits) {
      for (let k: usize = 0; k < outputs; k++) multiplyOutput(hiddenBefore, k, perBin + ((k * T + t) << 6));
    }
    bin += bytes;
    if (bin === end) bin = tape;
  }
}

/** Clears the padding of h on a tape, which no kernel writes; needed once per tile before it is run. */
function clearPadding(tape: usize): void {
  if (K === H) return;
  for (let t: usize = 0; t < T; t++) fillZero(tape + (t + 1) * binBytes(H) - 64, 64);
}

/** logits[n,k,t] += w_k·h_t(x_n) + b_k for all rows, one slot's tiles at a time. */
export function lstmForward(job: usize, thread: i32): void {
  openScratch(job, thread, false);
  const logits = word(job, JOB_OUT);
  const tape = word(job, JOB_TAPE);
  const taped = <i32>word(job, JOB_TAPED_TILES);
  const slots = <i32>word(job, JOB_SLOTS);
  const tiles = (N + 15) >> 4;
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const last = <i32>((<i64>tiles * (slot + 1)) / slots);
    for (let tile = <i32>((<i64>tiles * slot) / slots); tile < last; tile++) {
      if (tile < taped) {
        const own = tape + <usize>tile * lstmTapeBytes(H, T);
        clearPadding(own);
        runTile(tile << 4, own, T, true);
      } else {
        runTile(tile << 4, spareTape, 2, true);
      }
      // Outputs lie one after the other both here and among the logits: curves of outputs·T bins.
      const rows = min(N - (tile << 4), 16);
      const bins = outputs * T;
      for (let lane = 0; lane < rows; lane++) {
        const to = logits + ((<usize>((tile << 4) + lane) * bins) << 2);
        const from = perBin + (<usize>lane << 2);
        for (let t: usize = 0; t < bins; t++) {
          const at = to + (t << 2);
          store<f32>(at, load<f32>(at) + load<f32>(from + (t << 6)));
        }
      }
    }
  }
}
