/**
 * For the benchmarks: the most multiply-adds per second that a thread can do, from twelve independent chains in
 * registers.
 */
import { madd } from "./simd.ts";

/** 96·count floating-point operations without any memory access. */
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
