/**
 * The additive part of a network, b_t + wᵀx + Σ_g x_g·scale·a_g(t), and its gradient, by the operations of host.ts in
 * their order, in float64 and to the same bits. Sums over rows are taken in the order of the rows, four rows at a time:
 * along the bins each row's sums wait for themselves. The host gives the scratch: see the offsets below.
 */
import { JOB_SCRATCH } from "./job.ts";
import { ROW_BASELINE, ROW_D, ROW_D_LOGITS, ROW_GROUPS, ROW_KNOT, ROW_KNOT_SHARE, ROW_KNOTS } from "./row-job.ts";
import { ROW_LOGITS, ROW_N, ROW_OFFSETS, ROW_SHARE, ROW_SKIP, ROW_STRIDE, ROW_T, ROW_X } from "./row-job.ts";
import { loadPair, storePair } from "./exponential.ts";
import { fillZero, word } from "./simd.ts";

const ROWS: usize = 4;

/**
 * Forward: a row's offsets at the knots, their steps to the next, and where runs of bins end. Backward: sums [T], [D]
 * and [G,K], four rows' sums over the bins [4] and at the knots [K,4], and a row of zeros in float32.
 */
export function additiveScratchBytes(D: usize, T: usize, G: usize, K: usize): usize {
  return ((T + D + G * K + ROWS * (K + 1)) << 3) + (T << 2);
}

/** wᵀx of one row. */
@inline
function riskOf(x: usize, skip: usize, D: usize): f64 {
  let risk: f64 = 0;
  for (let d: usize = 0; d < D; d++) risk += <f64>load<f32>(skip + (d << 2)) * <f64>load<f32>(x + (d << 2));
  return risk;
}

/** logits = baseline + risk of one row. */
function fillRow(logits: usize, baseline: usize, T: usize, risk: v128): void {
  const end = logits + (T << 2);
  for (; logits < end; logits += 8) {
    const isLast = logits + 8 > end;
    storePair(logits, f64x2.add(loadPair(baseline, isLast), risk), isLast);
    baseline += 8;
  }
}

/** What the row's groups add at the knots, and the steps from each knot to the next. */
function fillKnots(groups: usize, offsets: usize, G: usize, K: usize, scale: f64, at: usize, steps: usize): void {
  for (let k: usize = 0; k < K; k++) store<f64>(at + (k << 3), 0);
  for (let g: usize = 0; g < G; g++) {
    const member = <f64>load<f32>(groups + (g << 2)) * scale;
    if (member === 0) continue;
    for (let k: usize = 0; k < K; k++) {
      const place = at + (k << 3);
      store<f64>(place, load<f64>(place) + member * <f64>load<f32>(offsets + ((g * K + k) << 2)));
    }
  }
  for (let k: usize = 0; k + 1 < K; k++) {
    store<f64>(steps + (k << 3), load<f64>(at + (k << 3), 8) - load<f64>(at + (k << 3)));
  }
}

/** logits += near + share · step in the bins of one run, which have the same knot before them. */
function addRun(logits: usize, share: usize, bins: usize, near: v128, step: v128): void {
  const end = logits + (bins << 2);
  for (; logits < end; logits += 8) {
    const isLast = logits + 8 > end;
    const way = isLast ? v128.load64_zero(share) : v128.load(share);
    const added = f64x2.add(near, f64x2.mul(way, step));
    storePair(logits, f64x2.add(loadPair(logits, isLast), added), isLast);
    share += 16;
  }
}

/** The bin after the run of bins that begins at t. */
@inline
function endOfRun(knot: usize, t: usize, T: usize): usize {
  const k = load<u32>(knot + (t << 2));
  let end = t + 1;
  while (end < T && load<u32>(knot + (end << 2)) === k) end++;
  return end;
}

export function additiveForward(job: usize): void {
  const N = word(job, ROW_N);
  const T = word(job, ROW_T);
  const D = word(job, ROW_D);
  const G = word(job, ROW_GROUPS);
  const K = word(job, ROW_KNOTS);
  const knot = word(job, ROW_KNOT);
  const share = word(job, ROW_KNOT_SHARE);
  const at = word(job, JOB_SCRATCH);
  const steps = at + (K << 3);
  const ends = steps + (K << 3);
  const stride = word(job, ROW_STRIDE) << 2;
  const scale = load<f64>(job + (ROW_SHARE << 2));
  if (G > 0) {
    for (let t: usize = 0; t < T; t = load<u32>(ends + (t << 2))) store<u32>(ends + (t << 2), endOfRun(knot, t, T));
  }
  for (let n: usize = 0; n < N; n++) {
    const x = word(job, ROW_X) + ((n * D) << 2);
    const logits = word(job, ROW_LOGITS) + n * stride;
    fillRow(logits, word(job, ROW_BASELINE), T, f64x2.splat(riskOf(x, word(job, ROW_SKIP), D)));
    if (G === 0) continue;
    fillKnots(x + ((D - G) << 2), word(job, ROW_OFFSETS), G, K, scale, at, steps);
    for (let t: usize = 0; t < T; ) {
      const end = <usize>load<u32>(ends + (t << 2));
      const k = <usize>load<u32>(knot + (t << 2)) << 3;
      const near = v128.load64_splat(at + k);
      addRun(logits + (t << 2), share + (t << 3), end - t, near, v128.load64_splat(steps + k));
      t = end;
    }
  }
}

/** Two rows' slopes of one bin. */
@inline
function loadRows(first: usize, second: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load32_lane(second, v128.load32_zero(first), 1));
}

/**
 * Four rows: adds their slopes to the baseline's sums in their order, leaves each row's sum over the bins in `risks`,
 * and its sums at the knots [K,4] after them.
 */
function sumBins(first: usize, second: usize, third: usize, fourth: usize, job: usize, risks: usize): void {
  const T = word(job, ROW_T);
  const K = word(job, ROW_KNOTS);
  const baseline = word(job, JOB_SCRATCH);
  const knot = word(job, ROW_KNOT);
  const share = word(job, ROW_KNOT_SHARE);
  const atKnots = risks + 32;
  const one = f64x2.splat(1);
  let riskA = f64x2.splat(0);
  let riskB = riskA;
  let nearA = riskA;
  let nearB = riskA;
  let farA = riskA;
  let farB = riskA;
  let place = atKnots;
  fillZero(atKnots, K << 5);
  for (let t: usize = 0; t < T; t++) {
    const l = t << 2;
    const a = loadRows(first + l, second + l);
    const b = loadRows(third + l, fourth + l);
    riskA = f64x2.add(riskA, a);
    riskB = f64x2.add(riskB, b);
    const sum = baseline + (t << 3);
    store<f64>(
      sum,
      load<f64>(sum) +
        f64x2.extract_lane(a, 0) +
        f64x2.extract_lane(a, 1) +
        f64x2.extract_lane(b, 0) +
        f64x2.extract_lane(b, 1),
    );
    if (K === 0) continue;
    const at = atKnots + (<usize>load<u32>(knot + l) << 5);
    if (at !== place) {
      storeKnots(place, nearA, nearB, farA, farB);
      place = at;
      nearA = v128.load(at);
      nearB = v128.load(at, 16);
      farA = v128.load(at, 32);
      farB = v128.load(at, 48);
    }
    const far = v128.load64_splat(share + (t << 3));
    const near = f64x2.sub(one, far);
    nearA = f64x2.add(nearA, f64x2.mul(near, a));
    nearB = f64x2.add(nearB, f64x2.mul(near, b));
    farA = f64x2.add(farA, f64x2.mul(far, a));
    farB = f64x2.add(farB, f64x2.mul(far, b));
  }
  if (K > 0) storeKnots(place, nearA, nearB, farA, farB);
  v128.store(risks, riskA);
  v128.store(risks, riskB, 16);
}

@inline
function storeKnots(at: usize, nearA: v128, nearB: v128, farA: v128, farB: v128): void {
  v128.store(at, nearA);
  v128.store(at, nearB, 16);
  v128.store(at, farA, 32);
  v128.store(at, farB, 48);
}

/** sums += factor · x. */
@inline
function addFeatures(factor: f64, x: usize, D: usize, sums: usize): void {
  for (let d: usize = 0; d < D; d++) {
    const place = sums + (d << 3);
    store<f64>(place, load<f64>(place) + factor * <f64>load<f32>(x + (d << 2)));
  }
}

/** sums [G,K] += x_g·scale · the row's slopes at the knots, which lie 32 bytes apart. */
function addGroups(groups: usize, G: usize, K: usize, scale: f64, atKnots: usize, sums: usize): void {
  for (let g: usize = 0; g < G; g++) {
    const member = <f64>load<f32>(groups + (g << 2)) * scale;
    if (member === 0) continue;
    for (let k: usize = 0; k < K; k++) {
      const place = sums + ((g * K + k) << 3);
      store<f64>(place, load<f64>(place) + member * load<f64>(atKnots + (k << 5)));
    }
  }
}

/** gradient += sums. */
function addTo(gradient: usize, sums: usize, count: usize): void {
  for (let i: usize = 0; i < count; i++) {
    const place = gradient + (i << 2);
    store<f32>(place, <f32>(<f64>load<f32>(place) + load<f64>(sums + (i << 3))));
  }
}

export function additiveBackward(job: usize): void {
  const N = word(job, ROW_N);
  const T = word(job, ROW_T);
  const D = word(job, ROW_D);
  const G = word(job, ROW_GROUPS);
  const K = word(job, ROW_KNOTS);
  const stride = word(job, ROW_STRIDE) << 2;
  const scale = load<f64>(job + (ROW_SHARE << 2));
  const baseline = word(job, JOB_SCRATCH);
  const skip = baseline + (T << 3);
  const offsets = skip + (D << 3);
  const risks = offsets + ((G * K) << 3);
  const zeros = risks + ((ROWS * (K + 1)) << 3);
  fillZero(baseline, zeros + (T << 2) - baseline);
  for (let n: usize = 0; n < N; n += ROWS) {
    const first = word(job, ROW_D_LOGITS) + n * stride;
    const count = min(ROWS, N - n);
    const second = count > 1 ? first + stride : zeros;
    const third = count > 2 ? first + 2 * stride : zeros;
    const fourth = count > 3 ? first + 3 * stride : zeros;
    sumBins(first, second, third, fourth, job, risks);
    for (let r: usize = 0; r < count; r++) {
      const x = word(job, ROW_X) + (((n + r) * D) << 2);
      addFeatures(load<f64>(risks + (r << 3)), x, D, skip);
      addGroups(x + ((D - G) << 2), G, K, scale, risks + 32 + (r << 3), offsets);
    }
  }
  addTo(word(job, ROW_BASELINE), baseline, T);
  addTo(word(job, ROW_SKIP), skip, D);
  addTo(word(job, ROW_OFFSETS), offsets, G * K);
}
