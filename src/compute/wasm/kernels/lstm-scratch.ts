/**
 * Where things lie while an LSTM kernel runs: the shape, and the pieces of this thread's scratch and of a tape. Lanes
 * are rows: "[H][16]" is sixteen rows' values of one unit side by side, 64 bytes. K is H made even, because products
 * run over pairs of units; what is beyond H is zero. Every thread has its own module instance, so these variables are
 * its own.
 *
 * One bin on a tape: gates [H][4][16] (i, f, g, o after their activations), cell [H][16], hidden [K][16].
 */
import { JOB_D, JOB_H, JOB_N, JOB_OUTPUTS, JOB_SCRATCH, JOB_SCRATCH_BYTES, JOB_T, JOB_WEIGHTS, JOB_X } from "./job.ts";
import { EXPONENTIAL_CONSTANTS, SIGMOID_SCALE, storeConstants, TANH_SCALE } from "./activations.ts";
import { fillZero, word } from "./simd.ts";

/** Bins whose gate gradients are collected before they are multiplied by h: fewer passes over the sums of dW. */
export const CHUNK: usize = 8;

/**
 * Bytes between two rows of chunkGates and of chunkHidden. One cache line more than needed: with an even number of
 * lines, one bin of all rows would fall into only part of the cache's sets.
 */
export const ROW: usize = (CHUNK + 1) << 6;

export let N: i32 = 0;
export let D: usize = 0;
export let H: usize = 0;
export let K: usize = 0;
export let T: usize = 0;
export let outputs: usize = 0;
export let x: usize = 0;

export let constants: usize = 0; // of activations.ts
export let times: usize = 0; // [T + CHUNK]: t/T, then zeros
export let gateWeights: usize = 0; // [H][K][4], scaled for the activations
export let timeWeights: usize = 0; // [H][4], scaled
export let inputWeights: usize = 0; // [H][D][4], scaled
export let biases: usize = 0; // [H][4], both added up, scaled
export let outputWeights: usize = 0; // [outputs][H]
export let outputBiases: usize = 0; // [outputs]
export let backWeights: usize = 0; // [K/2][4H][2], rows in the order of gates [H][4]
export let xLanes: usize = 0; // [D][16]
export let inputPart: usize = 0; // [H][4][16]: W_x·x + b
export let perBin: usize = 0; // [outputs][T][16]: logits or dLogits
export let zeros: usize = 0; // [K][16]
export let spareTape: usize = 0; // two bins when only the logits are wanted, T bins when a tape is made again
export let dCell: usize = 0; // [H][16]
export let dHidden: usize = 0; // [K][16]
export let chunkGates: usize = 0; // [H][4], ROW apart, [CHUNK][16]: gradients of the pre-activations
export let chunkHidden: usize = 0; // [K], ROW apart, [CHUNK][16]: h one bin before
export let recurrentSums: usize = 0; // [H][K/2][8 × 4]: dW with four partial sums each
export let gateSums: usize = 0; // [H][4][16]: Σ_t of the gate gradients
export let gateTimeSums: usize = 0; // [H][4][16]: Σ_t of them times t/T
export let outputSums: usize = 0; // [outputs][H][16]

@inline
export function binBytes(H: usize): usize {
  return (5 * H + ((H + 1) & ~1)) << 6;
}

export function lstmTapeBytes(H: usize, T: usize): usize {
  return binBytes(H) * T;
}

/** Lays the scratch out from `at` and returns its end; `backward` adds what only the backward kernel needs. */
function layOut(at: usize, backward: bool): usize {
  constants = at;
  times = constants + (EXPONENTIAL_CONSTANTS << 4);
  gateWeights = (times + ((T + CHUNK) << 2) + 63) & ~63;
  timeWeights = gateWeights + ((H * K) << 4);
  inputWeights = timeWeights + (H << 4);
  biases = inputWeights + ((H * D) << 4);
  outputWeights = biases + (H << 4);
  outputBiases = outputWeights + ((outputs * H) << 2);
  xLanes = (outputBiases + (outputs << 2) + 63) & ~63;
  inputPart = xLanes + (D << 6);
  perBin = inputPart + (H << 8);
  zeros = perBin + ((outputs * T) << 6);
  spareTape = zeros + (K << 6);
  if (!backward) return spareTape + 2 * binBytes(H);
  backWeights = spareTape + lstmTapeBytes(H, T);
  dCell = (backWeights + ((K * H) << 4) + 63) & ~63;
  dHidden = dCell + (H << 6);
  chunkGates = dHidden + (K << 6);
  chunkHidden = chunkGates + H * 4 * ROW;
  recurrentSums = chunkHidden + K * ROW;
  gateSums = recurrentSums + H * K * 64;
  gateTimeSums = gateSums + (H << 8);
  outputSums = gateTimeSums + (H << 8);
  return outputSums + ((outputs * H) << 6);
}

function setShape(d: usize, h: usize, t: usize, k: usize): void {
  D = d;
  H = h;
  K = (h + 1) & ~1;
  T = t;
  outputs = k;
}

export function lstmScratchBytes(d: usize, h: usize, t: usize, k: usize, backward: bool): usize {
  setShape(d, h, t, k);
  return layOut(0, backward);
}

@inline
function scaleOf(gate: usize): f64 {
  return gate === 2 ? TANH_SCALE : SIGMOID_SCALE;
}

/** Reads the shape and packs the weights for this thread. */
export function openScratch(job: usize, thread: i32, backward: bool): void {
  N = <i32>word(job, JOB_N);
  x = word(job, JOB_X);
  setShape(word(job, JOB_D), word(job, JOB_H), word(job, JOB_T), word(job, JOB_OUTPUTS));
  const start = word(job, JOB_SCRATCH) + <usize>thread * word(job, JOB_SCRATCH_BYTES);
  const end = layOut(start, backward);
  // The spare tape, the largest part, needs no clearing except for the padding of h.
  fillZero(start, spareTape - start);
  if (backward) fillZero(backWeights, end - backWeights);
  const bins = backward ? T : 2;
  for (let t: usize = 0; t < bins; t++) fillZero(spareTape + (t + 1) * binBytes(H) - 64, 64);

  const input = word(job, JOB_WEIGHTS);
  const recurrent = word(job, JOB_WEIGHTS + 1);
  const inputBias = word(job, JOB_WEIGHTS + 2);
  const recurrentBias = word(job, JOB_WEIGHTS + 3);
  for (let gate: usize = 0; gate < 4; gate++) {
    const scale = scaleOf(gate);
    for (let j: usize = 0; j < H; j++) {
      const row = gate * H + j;
      const from = recurrent + ((row * H) << 2);
      const to = gateWeights + (((j * K) << 2) + gate) * 4;
      for (let k: usize = 0; k < H; k++) {
        store<f32>(to + (k << 4), <f32>(<f64>load<f32>(from + (k << 2)) * scale));
      }
      const fromInput = input + ((row * (D + 1)) << 2);
      const toInput = inputWeights + (((j * D) << 2) + gate) * 4;
      for (let d: usize = 0; d < D; d++) {
        store<f32>(toInput + (d << 4), <f32>(<f64>load<f32>(fromInput + (d << 2)) * scale));
      }
      const place = ((j << 2) + gate) << 2;
      store<f32>(timeWeights + place, <f32>(<f64>load<f32>(fromInput + (D << 2)) * scale));
      const bias = <f64>load<f32>(inputBias + (row << 2)) + <f64>load<f32>(recurrentBias + (row << 2));
      store<f32>(biases + place, <f32>(bias * scale));
      if (backward) {
        const toBack = backWeights + (((j << 2) + gate) << 3);
        for (let k: usize = 0; k < H; k++) {
          store<f32>(toBack + ((k >> 1) * (H << 5)) + ((k & 1) << 2), load<f32>(from + (k << 2)));
        }
      }
    }
  }
  memory.copy(outputWeights, word(job, JOB_WEIGHTS + 4), (outputs * H) << 2);
  memory.copy(outputBiases, word(job, JOB_WEIGHTS + 5), outputs << 2);
  storeConstants(constants);
  for (let t: usize = 0; t < T; t++) store<f32>(times + (t << 2), <f32>(t + 1) / <f32>T);
}

/** Sixteen rows of x with rows in lanes; lanes beyond N are zero. */
export function loadRows(first: i32): void {
  const rows = min(N - first, 16);
  if (rows < 16) fillZero(xLanes, D << 6);
  for (let lane = 0; lane < rows; lane++) {
    const from = x + ((<usize>(first + lane) * D) << 2);
    const to = xLanes + (<usize>lane << 2);
    for (let d: usize = 0; d < D; d++) store<f32>(to + (d << 6), load<f32>(from + (d << 2)));
  }
}
