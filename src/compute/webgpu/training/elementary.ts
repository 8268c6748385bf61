/**
 * Functions that WGSL lacks, or has with too few digits: its log may be off by 5e-7 near 1, where a hazard's whole
 * logarithm is. Errors here are a few units in the last place.
 */

export const ELEMENTARY = `
fn isBad(z: f32) -> bool { return (bitcast<u32>(z) & 0x7fffffffu) >= 0x7f800000u; }
/** log(1 + u) for 0 ≤ u ≤ 1, as 2 artanh(u / (2 + u)). */
fn log1pOf(u: f32) -> f32 {
  let s = u / (2.0 + u);
  let q = s * s;
  let tail = 1.0 / 9.0 + q * (1.0 / 11.0 + q * (1.0 / 13.0 + q * (1.0 / 15.0)));
  return 2.0 * s * (1.0 + q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * (1.0 / 7.0 + q * tail))));
}
/** log(1 − e^−H) for H > 0. */
fn logOneMinusExp(H: f32) -> f32 {
  let lost = exp(-min(H, 87.0));
  if (H > 0.7) { return -minusLog1m(lost); }
  return log(max(-expm1Of(-H), 1e-37));
}
/** −log(1 − v) for 0 ≤ v ≤ 1/2, as 2 artanh(v / (2 − v)). */
fn minusLog1m(v: f32) -> f32 {
  let s = v / (2.0 - v);
  let q = s * s;
  let tail = 1.0 / 9.0 + q * (1.0 / 11.0 + q * (1.0 / 13.0 + q * (1.0 / 15.0)));
  return 2.0 * s * (1.0 + q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * (1.0 / 7.0 + q * tail))));
}
/** e^a − 1, with its digits near 0. */
fn expm1Of(a: f32) -> f32 {
  if (abs(a) > 0.7) { return exp(min(a, 87.0)) - 1.0; }
  let tail = 1.0 + a / 6.0 * (1.0 + a / 7.0 * (1.0 + a / 8.0 * (1.0 + a / 9.0)));
  return a * (1.0 + a / 2.0 * (1.0 + a / 3.0 * (1.0 + a / 4.0 * (1.0 + a / 5.0 * tail))));
}`;

/** The hazard of logit z and 1 − it, both with full relative precision; `u` is e^−|z|. */
export const HAZARD = `
    let u = exp(-min(abs(z), 87.0));
    let larger = 1.0 / (1.0 + u);
    let smaller = u * larger;
    let hazard = select(smaller, larger, z >= 0.0);
    let rest = select(larger, smaller, z >= 0.0);`;

/** A number as WGSL reads it. */
export function asFloat(value: number): string {
  const text = String(Math.fround(value));
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** The sum of everybody's value, for everybody; `lane` has a number for each thread, which are a power of 2. */
export function sumOverThreads(threads: number): string {
  return `
fn total(thread: u32, value: f32) -> f32 {
  lane[thread] = value;
  workgroupBarrier();
  for (var half = ${threads / 2}u; half > 0u; half /= 2u) {
    if (thread < half) { lane[thread] += lane[thread + half]; }
    workgroupBarrier();
  }
  let sum = lane[0];
  workgroupBarrier();
  return sum;
}`;
}
