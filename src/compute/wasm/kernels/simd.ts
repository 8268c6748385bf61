/**
 * The few vector operations all kernels are made of. One source gives two modules: with relaxed SIMD `madd` is one
 * fused instruction, without it a multiplication and an addition, each rounded. All functions here are inlined, but for
 * the last.
 *
 * How loops are written in these files: the engine's compiler moves all loads of a straight piece of code before the
 * arithmetic, and there are fifteen vector registers. A loop body of eight sums and six loads just fits; a body
 * unrolled by hand spills and runs at half the speed. The engine unrolls such loops itself.
 */

/** a·b + c. */
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
  else return f32x4.add(f32x4.mul(a, b), c);
}

/** c − a·b. */
@inline
export function nmadd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_nmadd(a, b, c);
  else return f32x4.sub(c, f32x4.mul(a, b));
}

@inline
export function word(job: usize, index: i32): usize {
  return load<u32>(job + (<usize>index << 2));
}

/** The next slot, taken by this thread; at least JOB_SLOTS when none is left. */
@inline
export function takeSlot(address: usize): i32 {
  return atomic.add<i32>(address, 1);
}

/** Four lanes added up in float64, in a fixed order. */
@inline
export function addLanes(a: v128): f64 {
  const pairs = f64x2.add(f64x2.promote_low_f32x4(a), f64x2.promote_low_f32x4(i32x4.shuffle(a, a, 2, 3, 2, 3)));
  return f64x2.extract_lane(pairs, 0) + f64x2.extract_lane(pairs, 1);
}

@inline
export function fillZero(start: usize, bytes: usize): void {
  memory.fill(start, 0, bytes);
}

/**
 * For the benchmarks: the most multiply-adds per second that a thread can do, from twelve independent chains in
 * registers; 96·count floating-point operations without any memory access.
 */
export function chainMultiplyAdds(count: i32): f32 {
  const a = f32x4.splat(1.0001);
  const b = f32x4.splat(0.9999);
  let c0 = a;
  let c1 = a;
  let c2 = a;
  let c3 = a;
  let c4 = a;
  let c5 = a;
  let c6 = a;
  let c7 = a;
  let c8 = a;
  let c9 = a;
  let c10 = a;
  let c11 = a;
  for (let i = 0; i < count; i++) {
    c0 = madd(a, b, c0);
    c1 = madd(a, b, c1);
    c2 = madd(a, b, c2);
    c3 = madd(a, b, c3);
    c4 = madd(a, b, c4);
    c5 = madd(a, b, c5);
    c6 = madd(a, b, c6);
    c7 = madd(a, b, c7);
    c8 = madd(a, b, c8);
    c9 = madd(a, b, c9);
    c10 = madd(a, b, c10);
    c11 = madd(a, b, c11);
  }
  const early = f32x4.add(f32x4.add(f32x4.add(c0, c1), f32x4.add(c2, c3)), f32x4.add(c4, c5));
  const late = f32x4.add(f32x4.add(f32x4.add(c6, c7), f32x4.add(c8, c9)), f32x4.add(c10, c11));
  return f32x4.extract_lane(f32x4.add(early, late), 0);
}
