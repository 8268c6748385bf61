/**
 * A dense layer on row-major arrays, with or without a tanh at its end. All three products (x·Wᵀ, dOut·W, dOutᵀ·x) are
 * one kernel: two scalars running along a, times sixteen neighbouring columns of b, which is packed so that they lie
 * together. Weight gradients are summed in float32 over at most DENSE_ROWS rows, then in float64 in row order, and the
 * slots in slot order.
 */
import { JOB_D, JOB_D_X, JOB_GRADIENTS, JOB_H, JOB_N, JOB_NEXT_SLOT, JOB_OUT, JOB_SCRATCH } from "./job.ts";
import { JOB_SCRATCH_BYTES, JOB_SLOT_BYTES, JOB_SLOT_SUMS, JOB_SLOTS, JOB_WEIGHTS, JOB_X } from "./job.ts";
import { JOB_ACTIVATED, JOB_TANH } from "./job.ts";
import { addSlots } from "./lstm-backward.ts";
import { fillZero, takeSlot, madd, word } from "./simd.ts";
import { applyTanh, differentiateTanh } from "./activations.ts";

/** Rows of x packed at a time for the weight gradient. */
const DENSE_ROWS: usize = 128;

/** Floats rounded up to whole blocks of sixteen. */
@inline
function blocksOf(columns: usize): usize {
  return (columns + 15) >> 4;
}

/** Two rows of results, then the packed weights, then packed rows of x. */
export function denseScratchBytes(inputs: usize, outputs: usize): usize {
  return 128 + ((blocksOf(outputs) * inputs + blocksOf(inputs) * (outputs + DENSE_ROWS)) << 6);
}

/** float64 sums of a slot: weight [outputs, inputs], bias [outputs]. */
export function denseSlotBytes(inputs: usize, outputs: usize): usize {
  return ((((inputs + 1) * outputs) << 3) + 63) & ~63;
}

/** to[0][0..15] = start + Σ_k a0[k]·b[k][0..15], to[1] likewise with a1; a moves by `step` bytes, b by a block row. */
function multiplyPair(a0: usize, a1: usize, step: usize, b: usize, count: usize, start: usize, to: usize): void {
  let p0 = f32x4.splat(0);
  let p1 = p0;
  let p2 = p0;
  let p3 = p0;
  if (start !== 0) {
    p0 = v128.load(start, 0);
    p1 = v128.load(start, 16);
    p2 = v128.load(start, 32);
    p3 = v128.load(start, 48);
  }
  let q0 = p0;
  let q1 = p1;
  let q2 = p2;
  let q3 = p3;
  const end = b + (count << 6);
  while (b < end) {
    const p = v128.load32_splat(a0);
    const q = v128.load32_splat(a1);
    const b0 = v128.load(b, 0);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(b, 32);
    const b3 = v128.load(b, 48);
    p0 = madd(p, b0, p0);
    p1 = madd(p, b1, p1);
    p2 = madd(p, b2, p2);
    p3 = madd(p, b3, p3);
    q0 = madd(q, b0, q0);
    q1 = madd(q, b1, q1);
    q2 = madd(q, b2, q2);
    q3 = madd(q, b3, q3);
    a0 += step;
    a1 += step;
    b += 64;
  }
  v128.store(to, p0, 0);
  v128.store(to, p1, 16);
  v128.store(to, p2, 32);
  v128.store(to, p3, 48);
  v128.store(to, q0, 64);
  v128.store(to, q1, 80);
  v128.store(to, q2, 96);
  v128.store(to, q3, 112);
}

/** Packs a [rows, columns] array as [blocks][rows][16]; columns beyond the last stay as they are (zero). */
function packRows(from: usize, rows: usize, columns: usize, to: usize): void {
  for (let r: usize = 0; r < rows; r++) {
    for (let c: usize = 0; c < columns; c++) {
      store<f32>(to + (((c >> 4) * rows + r) << 6) + ((c & 15) << 2), load<f32>(from));
      from += 4;
    }
  }
}

/** out[n, 0..columns−1] = (start +) a[n,·]·b for rows first … last−1, b packed. */
function multiplyRows(
  a: usize,
  count: usize,
  first: usize,
  last: usize,
  b: usize,
  columns: usize,
  bias: usize,
  out: usize,
  pair: usize,
): void {
  const blocks = blocksOf(columns);
  for (let block: usize = 0; block < blocks; block++) {
    const width = min(columns - (block << 4), 16) << 2;
    const packed = b + ((block * count) << 6);
    for (let n = first; n < last; n += 2) {
      const a0 = a + ((n * count) << 2);
      const both = n + 1 < last;
      multiplyPair(a0, both ? a0 + (count << 2) : a0, 4, packed, count, bias === 0 ? 0 : bias + (block << 6), pair);
      const to = out + ((n * columns) << 2) + (block << 6);
      memory.copy(to, pair, width);
      if (both) memory.copy(to + (columns << 2), pair + 64, width);
    }
  }
}

/** out[n,o] = b[o] + Σ_i W[o,i] x[n,i], or its tanh. */
export function denseForward(job: usize, thread: i32): void {
  const inputs = word(job, JOB_D);
  const outputs = word(job, JOB_H);
  const N = word(job, JOB_N);
  const bytes = word(job, JOB_SCRATCH_BYTES);
  const pair = word(job, JOB_SCRATCH) + <usize>thread * bytes;
  const packed = pair + 128;
  const bias = packed + ((blocksOf(outputs) * inputs) << 6);
  fillZero(packed, bias - packed);
  const weight = word(job, JOB_WEIGHTS);
  for (let o: usize = 0; o < outputs; o++) {
    const to = packed + (((o >> 4) * inputs) << 6) + ((o & 15) << 2);
    const from = weight + ((o * inputs) << 2);
    for (let i: usize = 0; i < inputs; i++) store<f32>(to + (i << 6), load<f32>(from + (i << 2)));
  }
  // There is room: the packed rows that only the backward kernel needs begin here.
  memory.copy(bias, word(job, JOB_WEIGHTS + 1), outputs << 2);
  const tanhTable = word(job, JOB_TANH);
  const out = word(job, JOB_OUT);
  const slots = <i32>word(job, JOB_SLOTS);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const first = <usize>((<u64>N * slot) / slots);
    const last = <usize>((<u64>N * (slot + 1)) / slots);
    multiplyRows(word(job, JOB_X), inputs, first, last, packed, outputs, bias, out, pair);
    if (tanhTable !== 0) applyTanh(out + ((first * outputs) << 2), (last - first) * outputs, tanhTable);
  }
}

/** Adds Σ_n dOut[n,o] over rows first … last−1 to the slot's bias sums. */
function addBias(dOut: usize, outputs: usize, first: usize, last: usize, sums: usize): void {
  for (let o: usize = 0; o < outputs; o++) {
    let total: f64 = 0;
    let at = dOut + ((first * outputs + o) << 2);
    for (let n = first; n < last; n++) {
      total += <f64>load<f32>(at);
      at += outputs << 2;
    }
    const to = sums + (o << 3);
    store<f64>(to, load<f64>(to) + total);
  }
}

/** Adds the weight gradient of rows first … last−1 (at most DENSE_ROWS) to the slot's sums. */
function addWeight(job: usize, first: usize, last: usize, sums: usize, pair: usize, packed: usize): void {
  const inputs = word(job, JOB_D);
  const outputs = word(job, JOB_H);
  const dOut = word(job, JOB_OUT) + ((first * outputs) << 2);
  const rows = last - first;
  packRows(word(job, JOB_X) + ((first * inputs) << 2), rows, inputs, packed);
  const blocks = blocksOf(inputs);
  for (let block: usize = 0; block < blocks; block++) {
    const width = min(inputs - (block << 4), 16);
    const b = packed + ((block * rows) << 6);
    for (let o: usize = 0; o < outputs; o += 2) {
      const both = o + 1 < outputs;
      const a0 = dOut + (o << 2);
      multiplyPair(a0, both ? a0 + 4 : a0, outputs << 2, b, rows, 0, pair);
      let to = sums + ((o * inputs + (block << 4)) << 3);
      for (let i: usize = 0; i < width; i++) {
        store<f64>(to + (i << 3), load<f64>(to + (i << 3)) + <f64>load<f32>(pair + (i << 2)));
      }
      if (!both) break;
      to += inputs << 3;
      for (let i: usize = 0; i < width; i++) {
        store<f64>(to + (i << 3), load<f64>(to + (i << 3)) + <f64>load<f32>(pair + 64 + (i << 2)));
      }
    }
  }
}

/**
 * Computes dOut before the tanh, if there is one; the slots' sums of the gradients; and dX[n,i] = Σ_o W[o,i] dOut[n,o]
 * when asked for. denseGradient adds up the sums.
 */
export function denseBackward(job: usize, thread: i32): void {
  const inputs = word(job, JOB_D);
  const outputs = word(job, JOB_H);
  const N = word(job, JOB_N);
  const dX = word(job, JOB_D_X);
  const dOut = word(job, JOB_OUT);
  const bytes = word(job, JOB_SCRATCH_BYTES);
  const pair = word(job, JOB_SCRATCH) + <usize>thread * bytes;
  const packedWeight = pair + 128;
  const packedRows = packedWeight + ((blocksOf(inputs) * outputs) << 6);
  fillZero(packedWeight, bytes - 128);
  if (dX !== 0) packRows(word(job, JOB_WEIGHTS), outputs, inputs, packedWeight);
  const slots = <i32>word(job, JOB_SLOTS);
  const slotBytes = word(job, JOB_SLOT_BYTES);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const first = <usize>((<u64>N * slot) / slots);
    const last = <usize>((<u64>N * (slot + 1)) / slots);
    const sums = word(job, JOB_SLOT_SUMS) + <usize>slot * slotBytes;
    fillZero(sums, slotBytes);
    if (word(job, JOB_TANH) !== 0) {
      const place = (first * outputs) << 2;
      differentiateTanh(dOut + place, word(job, JOB_ACTIVATED) + place, (last - first) * outputs);
    }
    for (let n = first; n < last; n += DENSE_ROWS) {
      const end = min(n + DENSE_ROWS, last);
      // Fewer rows are packed more narrowly, so the padding columns must be cleared.
      if (end - n < DENSE_ROWS) fillZero(packedRows, (blocksOf(inputs) * DENSE_ROWS) << 6);
      addWeight(job, n, end, sums, pair, packedRows);
      addBias(dOut, outputs, n, end, sums + ((inputs * outputs) << 3));
    }
    if (dX !== 0) multiplyRows(dOut, outputs, first, last, packedWeight, inputs, 0, dX, pair);
  }
}

/** gradient += the slots' sums; run once, after all threads have finished. */
export function denseGradient(job: usize): void {
  const inputs = word(job, JOB_D);
  const outputs = word(job, JOB_H);
  const from = addSlots(job, word(job, JOB_SLOT_SUMS), word(job, JOB_GRADIENTS), inputs * outputs);
  addSlots(job, from, word(job, JOB_GRADIENTS + 1), outputs);
}
