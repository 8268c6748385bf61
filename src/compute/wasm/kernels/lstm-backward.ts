/**
 * Gradients of the LSTM for tiles of sixteen rows, bins T … 1, from the tape of the forward kernel or from one made
 * again. With dh the gradient of h_t (from the logits, Σ_k w_k·dLogit_k, and from bin t+1) and dc that of c_t:
 *   dc += dh·o·(1 − tanh² c);  dz_o = dh·tanh c·o(1−o);
 *   dz_i = dc·g·i(1−i);  dz_f = dc·c_{t−1}·f(1−f);  dz_g = dc·i·(1−g²);
 *   dc_{t−1} = dc·f;  dh_{t−1} = Wᵀ·dz;  dW += dz·h_{t−1}ᵀ;  dW_x += (Σ_t dz)·xᵀ;  w_t and biases likewise.
 * Sums over the bins of a tile are float32, in several parts; sums over tiles and slots are float64 in a fixed
 * order, so that the result does not depend on how many threads there are.
 */
import { JOB_GRADIENTS, JOB_NEXT_SLOT, JOB_OUT, JOB_SLOT_BYTES, JOB_SLOT_SUMS, JOB_SLOTS } from "./job.ts";
import { JOB_D, JOB_H, JOB_OUTPUTS, JOB_TAPE, JOB_TAPED_TILES } from "./job.ts";
import { runTile } from "./lstm-forward.ts";
import {
  backWeights,
  binBytes,
  CHUNK,
  chunkGates,
  chunkHidden,
  D,
  dCell,
  dHidden,
  gateSums,
  gateTimeSums,
  H,
  K,
  loadRows,
  lstmTapeBytes,
  N,
  openScratch,
  outputs,
  outputSums,
  outputWeights,
  perBin,
  recurrentSums,
  ROW,
  spareTape,
  T,
  times,
  xLanes,
  zeros,
} from "./lstm-scratch.ts";
import { addLanes, fillZero, madd, nmadd, takeSlot, word } from "./simd.ts";

/** float64 sums of a slot: input [4H, D+1], recurrent [4H, H], bias [4H], output [outputs, H], its biases [outputs]. */
export function lstmSlotBytes(D: usize, H: usize, outputs: usize): usize {
  return ((((D + 1 + H + 1) * H * 4 + outputs * (H + 1)) << 3) + 63) & ~63;
}

/** What output k adds to dHidden of one bin, and to the sums of its weights; the first is differentiateGates' own. */
function addOutput(hidden: usize, k: usize, dLogit: usize): void {
  const d0 = v128.load(dLogit, 0);
  const d1 = v128.load(dLogit, 16);
  const d2 = v128.load(dLogit, 32);
  const d3 = v128.load(dLogit, 48);
  let sums = outputSums + ((k * H) << 6);
  let weight = outputWeights + ((k * H) << 2);
  let dh = dHidden;
  const end = hidden + (H << 6);
  while (hidden < end) {
    const w = v128.load32_splat(weight);
    v128.store(sums, madd(d0, v128.load(hidden, 0), v128.load(sums, 0)), 0);
    v128.store(sums, madd(d1, v128.load(hidden, 16), v128.load(sums, 16)), 16);
    v128.store(sums, madd(d2, v128.load(hidden, 32), v128.load(sums, 32)), 32);
    v128.store(sums, madd(d3, v128.load(hidden, 48), v128.load(sums, 48)), 48);
    v128.store(dh, madd(d0, w, v128.load(dh, 0)), 0);
    v128.store(dh, madd(d1, w, v128.load(dh, 16)), 16);
    v128.store(dh, madd(d2, w, v128.load(dh, 32)), 32);
    v128.store(dh, madd(d3, w, v128.load(dh, 48)), 48);
    hidden += 64;
    sums += 64;
    dh += 64;
    weight += 4;
  }
}

/** Writes the gate gradients of one bin at index `place` of the chunk; dCell becomes that of the bin before. */
export function differentiateGates(
  bin: usize,
  cellBefore: usize,
  hiddenBefore: usize,
  dLogit: usize,
  place: usize,
): void {
  const one = f32x4.splat(1);
  let gates = bin;
  let hidden = bin + H * 320;
  let to = chunkGates + place;
  let toHidden = chunkHidden + place;
  let dh0 = dHidden;
  let dc0 = dCell;
  let sums = outputSums;
  let weight = outputWeights;
  const end = gates + (H << 8);
  while (gates < end) {
    for (let lane: usize = 0; lane < 64; lane += 16) {
      const dy = v128.load(dLogit + lane);
      const h = v128.load(hidden + lane);
      v128.store(sums + lane, madd(dy, h, v128.load(sums + lane)));
      const dh = madd(dy, v128.load32_splat(weight), v128.load(dh0 + lane));
      v128.store(toHidden + lane, v128.load(hiddenBefore + lane));
      const at = gates + lane;
      const i = v128.load(at, 0);
      const f = v128.load(at, 64);
      const g = v128.load(at, 128);
      const o = v128.load(at, 192);
      const tanh = f32x4.div(h, o);
      const dho = f32x4.mul(dh, o);
      // dh·tanh·o(1−o) = dh·o·(tanh − h), because h = o·tanh.
      v128.store(to + lane, f32x4.mul(dho, f32x4.sub(tanh, h)), 3 * ROW);
      const dc = madd(dho, nmadd(tanh, tanh, one), v128.load(dc0 + lane));
      const dci = f32x4.mul(dc, i);
      const dcf = f32x4.mul(dc, f);
      v128.store(dc0 + lane, dcf);
      v128.store(to + lane, f32x4.mul(f32x4.mul(dci, g), f32x4.sub(one, i)));
      v128.store(to + lane, f32x4.mul(f32x4.mul(dcf, v128.load(cellBefore + lane)), f32x4.sub(one, f)), ROW);
      v128.store(to + lane, f32x4.mul(dci, nmadd(g, g, one)), 2 * ROW);
    }
    gates += 256;
    hidden += 64;
    cellBefore += 64;
    hiddenBefore += 64;
    to += 4 * ROW;
    toHidden += ROW;
    dh0 += 64;
    dc0 += 64;
    sums += 64;
    weight += 4;
  }
}

/** dHidden = Wᵀ·dz of one bin, two units at a time. */
export function multiplyBack(place: usize): void {
  let weight = backWeights;
  const first = chunkGates + place;
  const end = first + H * 4 * ROW;
  const endHidden = dHidden + (K << 6);
  for (let to = dHidden; to < endHidden; to += 128) {
    let a0 = f32x4.splat(0);
    let a1 = a0;
    let a2 = a0;
    let a3 = a0;
    let b0 = a0;
    let b1 = a0;
    let b2 = a0;
    let b3 = a0;
    let dz = first;
    while (dz < end) {
      const wa = v128.load32_splat(weight, 0);
      const wb = v128.load32_splat(weight, 4);
      const z0 = v128.load(dz, 0);
      const z1 = v128.load(dz, 16);
      const z2 = v128.load(dz, 32);
      const z3 = v128.load(dz, 48);
      a0 = madd(wa, z0, a0);
      a1 = madd(wa, z1, a1);
      a2 = madd(wa, z2, a2);
      a3 = madd(wa, z3, a3);
      b0 = madd(wb, z0, b0);
      b1 = madd(wb, z1, b1);
      b2 = madd(wb, z2, b2);
      b3 = madd(wb, z3, b3);
      weight += 8;
      dz += ROW;
    }
    v128.store(to, a0, 0);
    v128.store(to, a1, 16);
    v128.store(to, a2, 32);
    v128.store(to, a3, 48);
    v128.store(to, b0, 64);
    v128.store(to, b1, 80);
    v128.store(to, b2, 96);
    v128.store(to, b3, 112);
  }
}

/** recurrentSums += dz·hᵀ over the bins of the chunk: four gates of a unit times two units of h. */
export function addRecurrent(bins: usize): void {
  let sums = recurrentSums;
  const endHidden = chunkHidden + K * ROW;
  const endGates = chunkGates + H * 4 * ROW;
  const length = bins << 6;
  for (let gates = chunkGates; gates < endGates; gates += 4 * ROW) {
    for (let hidden = chunkHidden; hidden < endHidden; hidden += 2 * ROW) {
      let i0 = v128.load(sums, 0);
      let i1 = v128.load(sums, 16);
      let f0 = v128.load(sums, 32);
      let f1 = v128.load(sums, 48);
      let g0 = v128.load(sums, 64);
      let g1 = v128.load(sums, 80);
      let o0 = v128.load(sums, 96);
      let o1 = v128.load(sums, 112);
      let h = hidden;
      let dz = gates;
      const end = h + length;
      while (h < end) {
        const h0 = v128.load(h, 0);
        const h1 = v128.load(h, ROW);
        const zi = v128.load(dz, 0);
        const zf = v128.load(dz, ROW);
        const zg = v128.load(dz, 2 * ROW);
        const zo = v128.load(dz, 3 * ROW);
        i0 = madd(zi, h0, i0);
        i1 = madd(zi, h1, i1);
        f0 = madd(zf, h0, f0);
        f1 = madd(zf, h1, f1);
        g0 = madd(zg, h0, g0);
        g1 = madd(zg, h1, g1);
        o0 = madd(zo, h0, o0);
        o1 = madd(zo, h1, o1);
        h += 16;
        dz += 16;
      }
      v128.store(sums, i0, 0);
      v128.store(sums, i1, 16);
      v128.store(sums, f0, 32);
      v128.store(sums, f1, 48);
      v128.store(sums, g0, 64);
      v128.store(sums, g1, 80);
      v128.store(sums, o0, 96);
      v128.store(sums, o1, 112);
      sums += 128;
    }
  }
}

/** Σ dz and Σ dz·t/T over four bins of the chunk; missing bins hold zeros. */
function addGates(place: usize, time: usize): void {
  const t0 = v128.load32_splat(time, 0);
  const t1 = v128.load32_splat(time, 4);
  const t2 = v128.load32_splat(time, 8);
  const t3 = v128.load32_splat(time, 12);
  let sums = gateSums;
  let timeSums = gateTimeSums;
  const end = chunkGates + H * 4 * ROW;
  for (let gates = chunkGates + place; gates < end; gates += ROW) {
    for (let lane: usize = 0; lane < 64; lane += 16) {
      const at = gates + lane;
      const a = v128.load(at, 0);
      const b = v128.load(at, 64);
      const c = v128.load(at, 128);
      const d = v128.load(at, 192);
      const sum = f32x4.add(f32x4.add(a, b), f32x4.add(c, d));
      v128.store(sums, f32x4.add(v128.load(sums), sum));
      v128.store(timeSums, madd(t0, a, madd(t1, b, madd(t2, c, madd(t3, d, v128.load(timeSums))))));
      sums += 16;
      timeSums += 16;
    }
  }
}

/** The sixteen rows' dLogits of output k with rows in lanes, [T][16], and their sum; lanes beyond N are zero. */
function loadGradients(dLogits: usize, first: i32, k: usize): f64 {
  const rows = min(N - first, 16);
  const lanes = perBin + ((k * T) << 6);
  let total: f64 = 0;
  if (rows < 16) fillZero(lanes, T << 6);
  for (let lane = 0; lane < rows; lane++) {
    const from = dLogits + (((<usize>(first + lane) * outputs + k) * T) << 2);
    const to = lanes + (<usize>lane << 2);
    for (let t: usize = 0; t < T; t++) {
      const value = load<f32>(from + (t << 2));
      total += <f64>value;
      store<f32>(to + (t << 6), value);
    }
  }
  return total;
}

@inline
function addTo(address: usize, value: f64): void {
  store<f64>(address, load<f64>(address) + value);
}

/** Where a slot's sums of the output weights begin; those of their biases follow. */
@inline
function outputPlace(slot: usize): usize {
  return slot + (((D + 1 + H + 1) * H) << 5);
}

/** Adds the tile's sums to the slot's and clears them. */
function addTile(slot: usize): void {
  const recurrent = slot + (((D + 1) * H) << 5);
  const bias = recurrent + ((H * H) << 5);
  const output = outputPlace(slot);
  let sums = recurrentSums;
  for (let j: usize = 0; j < H; j++) {
    for (let k: usize = 0; k < K; k++) {
      for (let gate: usize = 0; gate < 4; gate++) {
        if (k < H) {
          addTo(recurrent + (((gate * H + j) * H + k) << 3), addLanes(v128.load(sums + (gate << 5) + ((k & 1) << 4))));
        }
      }
      if ((k & 1) === 1) sums += 128;
    }
    for (let gate: usize = 0; gate < 4; gate++) {
      const row = gate * H + j;
      const from = gateSums + (((j << 2) + gate) << 6);
      const z0 = v128.load(from, 0);
      const z1 = v128.load(from, 16);
      const z2 = v128.load(from, 32);
      const z3 = v128.load(from, 48);
      const input = slot + ((row * (D + 1)) << 3);
      for (let d: usize = 0; d < D; d++) {
        const lanes = xLanes + (d << 6);
        let a = f32x4.mul(z0, v128.load(lanes, 0));
        a = madd(z1, v128.load(lanes, 16), a);
        a = madd(z2, v128.load(lanes, 32), a);
        a = madd(z3, v128.load(lanes, 48), a);
        addTo(input + (d << 3), addLanes(a));
      }
      addTo(bias + (row << 3), addLanes(f32x4.add(f32x4.add(z0, z1), f32x4.add(z2, z3))));
      const times = gateTimeSums + (((j << 2) + gate) << 6);
      const early = f32x4.add(v128.load(times, 0), v128.load(times, 16));
      const late = f32x4.add(v128.load(times, 32), v128.load(times, 48));
      addTo(input + (D << 3), addLanes(f32x4.add(early, late)));
    }
  }
  for (let j: usize = 0; j < outputs * H; j++) {
    const y = outputSums + (j << 6);
    const early = f32x4.add(v128.load(y, 0), v128.load(y, 16));
    const late = f32x4.add(v128.load(y, 32), v128.load(y, 48));
    addTo(output + (j << 3), addLanes(f32x4.add(early, late)));
  }
  fillZero(recurrentSums, outputSums + ((outputs * H) << 6) - recurrentSums);
}

/** All bins of one tile, last to first, in chunks. */
function differentiateTile(tape: usize): void {
  const bytes = binBytes(H);
  const cellPlace = H << 8;
  const hiddenPlace = cellPlace + (H << 6);
  fillZero(dCell, H << 6);
  fillZero(dHidden, K << 6);
  let last = T;
  while (last > 0) {
    const bins = min(last, CHUNK);
    const first = last - bins;
    if (bins < CHUNK) fillZero(chunkGates, H * 4 * ROW);
    for (let t = last; t-- > first; ) {
      const bin = tape + t * bytes;
      const before = bin - bytes;
      const place = (t - first) << 6;
      for (let k: usize = 1; k < outputs; k++) addOutput(bin + hiddenPlace, k, perBin + ((k * T + t) << 6));
      differentiateGates(
        bin,
        t === 0 ? zeros : before + cellPlace,
        t === 0 ? zeros : before + hiddenPlace,
        perBin + (t << 6),
        place,
      );
      if (t > 0) multiplyBack(place);
    }
    addRecurrent(bins);
    for (let b: usize = 0; b < CHUNK; b += 4) addGates(b << 6, times + ((first + b) << 2));
    last = first;
  }
}

/** The slots' sums of ∂(Σ dLogits · logits)/∂weights; lstmGradient adds them up. */
export function lstmBackward(job: usize, thread: i32): void {
  openScratch(job, thread, true);
  const dLogits = word(job, JOB_OUT);
  const tape = word(job, JOB_TAPE);
  const taped = <i32>word(job, JOB_TAPED_TILES);
  const slots = <i32>word(job, JOB_SLOTS);
  const sums = word(job, JOB_SLOT_SUMS);
  const slotBytes = word(job, JOB_SLOT_BYTES);
  const tiles = (N + 15) >> 4;
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const own = sums + <usize>slot * slotBytes;
    fillZero(own, slotBytes);
    const last = <i32>((<i64>tiles * (slot + 1)) / slots);
    for (let tile = <i32>((<i64>tiles * slot) / slots); tile < last; tile++) {
      const biases = outputPlace(own) + ((outputs * H) << 3);
      for (let k: usize = 0; k < outputs; k++) {
        addTo(biases + (k << 3), loadGradients(dLogits, tile << 4, k));
      }
      if (tile < taped) {
        loadRows(tile << 4);
        differentiateTile(tape + <usize>tile * lstmTapeBytes(H, T));
      } else {
        runTile(tile << 4, spareTape, T, false);
        differentiateTile(spareTape);
      }
      addTile(own);
    }
  }
}

/** gradient += the slots' sums, in the order of the slots; run once, after all threads have finished. */
export function lstmGradient(job: usize): void {
  const D = word(job, JOB_D);
  const H = word(job, JOB_H);
  const outputs = word(job, JOB_OUTPUTS);
  let from = word(job, JOB_SLOT_SUMS);
  from = addSlots(job, from, word(job, JOB_GRADIENTS), H * 4 * (D + 1));
  from = addSlots(job, from, word(job, JOB_GRADIENTS + 1), H * 4 * H);
  addSlots(job, from, word(job, JOB_GRADIENTS + 2), H * 4);
  from = addSlots(job, from, word(job, JOB_GRADIENTS + 3), H * 4);
  from = addSlots(job, from, word(job, JOB_GRADIENTS + 4), outputs * H);
  addSlots(job, from, word(job, JOB_GRADIENTS + 5), outputs);
}

/** gradient[i] += Σ over slots of sums[i]; returns the end of these sums in the first slot. */
export function addSlots(job: usize, sums: usize, gradient: usize, length: usize): usize {
  const slots = word(job, JOB_SLOTS);
  const bytes = word(job, JOB_SLOT_BYTES);
  const end = sums + (length << 3);
  while (sums < end) {
    let total: f64 = 0;
    let at = sums;
    for (let slot: usize = 0; slot < slots; slot++) {
      total += load<f64>(at);
      at += bytes;
    }
    store<f32>(gradient, <f32>(<f64>load<f32>(gradient) + total));
    sums += 8;
    gradient += 4;
  }
  return end;
}
