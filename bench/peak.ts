/**
 * The most a thread can do here: multiply-adds in registers (kernels/simd.ts), the best of many short runs, in FLOP per
 * second.
 */
import { readFile } from "node:fs/promises";

const COUNT = 100_000;
/** Floating-point operations of one count: twelve chains of four lanes, a multiplication and an addition each. */
const FLOPS_PER_COUNT = 96;
const REPEATS = 200;

export async function measurePeak(simd: "plain" | "relaxed"): Promise<number> {
  const { instantiateKernels, webAssembly } = await import("../dist/compute/wasm/worker.js");
  const bytes = await readFile(new URL(`../dist/compute/kernels-${simd}.wasm`, import.meta.url));
  const memory = new webAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const kernels = instantiateKernels(await webAssembly.compile(new Uint8Array(bytes)), memory);
  let best = Number.POSITIVE_INFINITY;
  for (let k = 0; k < REPEATS; k++) {
    const start = performance.now();
    kernels.chainMultiplyAdds(COUNT);
    best = Math.min(best, (performance.now() - start) / 1000);
  }
  return (FLOPS_PER_COUNT * COUNT) / best;
}
