// Kernels over rows against the loops of curves.ts, likelihood.ts and group-statistics.ts, to the last bit, on one thread
// and on several, for passes that are computed at once and for those that go to the threads; and what kernels decline.
import { afterAll, describe, expect, test } from "vitest";
import type { Backend } from "../../src/compute/backend.ts";
import { allocateDoubles, allocateWords, findShared } from "../../src/compute/shared-arrays.ts";
import { createRandom } from "../../src/core/random.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { prepareConstraints } from "../../src/objectives/constraints.ts";
import { createCurveWorkspace, fillCurves } from "../../src/objectives/curves.ts";
import {
  backThroughStatistics,
  createStatisticsCache,
  emptyCache,
  replaceRows,
} from "../../src/objectives/group-statistics.ts";
import { discreteLikelihood } from "../../src/objectives/likelihood.ts";
import { openLossKernels } from "../../src/objectives/loss-kernels.ts";
import { separateMemory } from "../compute/backends.ts";

/** Passes of this many rows and bins go to the threads. */
const MANY = { N: 650, T: 102 };
const SIZES = [{ N: 1, T: 1 }, { N: 3, T: 2 }, { N: 4, T: 7 }, { N: 17, T: 33 }, { N: 70, T: 102 }, MANY];

const backends = [
  await openWasmBackend({ threads: 1 }),
  await openWasmBackend({ threads: 3 }),
  await openWasmBackend({ threads: 2, deterministic: true }),
];
afterAll(async () => {
  for (const backend of backends) await backend.close();
});

const bytes = (values: Float32Array | Float64Array) =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString("base64");

/** Logits of both signs, some of them large and some 0, and outcomes. */
function draw(N: number, T: number, seed: number) {
  const random = createRandom(seed, 1);
  const logits = Float32Array.from({ length: N * T }, () => {
    const at = random.uniform();
    return at < 0.05 ? 0 : at < 0.1 ? -39.9 : at < 0.15 ? 39.9 : 8 * random.uniform() - 5;
  });
  const bin = Int32Array.from({ length: N }, (_, i) => (i === 0 ? T : 1 + random.integer(T)));
  const event = Uint8Array.from({ length: N }, (_, i) => (i === 1 || random.uniform() < 0.3 ? 1 : 0));
  return { logits, binned: { T, bin, event } };
}

/** The kernels on a pass over these logits. */
function open(backend: Backend, { logits, binned }: ReturnType<typeof draw>) {
  const arrays = { logits: backend.allocate(logits.length), dLogits: backend.allocate(logits.length) };
  backend.write(arrays.logits, logits);
  const kernels = openLossKernels(backend, { ...arrays, binned, room: binned.bin.length });
  return { kernels, slopes: backend.view(arrays.dLogits) as Float32Array };
}

const all = (N: number) => Int32Array.from({ length: N }, (_, k) => k);

describe.each(SIZES)("N $N, T $T", ({ N, T }) => {
  const pass = draw(N, T, 40 + N);
  const { logits, binned } = pass;

  test("curves", async () => {
    const expected = createCurveWorkspace(N, T);
    fillCurves(logits, N, T, expected);
    for (const backend of backends) {
      const { kernels } = open(backend, pass);
      expect(await kernels?.fillCurves(N)).toBe(true);
      expect(bytes(kernels?.curves.hazard as Float64Array)).toBe(bytes(expected.hazard));
      expect(bytes(kernels?.curves.survival as Float64Array)).toBe(bytes(expected.survival));
    }
  });

  test.each([true, false])("likelihood, tail %s", async (tail) => {
    const expected = new Float32Array(N * T);
    const loss = discreteLikelihood(logits, binned, { tail }, expected, 1);
    for (const backend of backends) {
      const { kernels, slopes } = open(backend, pass);
      slopes.fill(7); // what was there must not count
      expect(await kernels?.likelihood(all(N), tail)).toBe(loss);
      expect(bytes(slopes)).toBe(bytes(expected));
    }
  });

  test("sums over overlapping groups, kept and not, and the way back", async () => {
    const groups = [2, 3, 5].map((step) => ({
      name: `every ${step}`,
      rows: all(N).filter((k) => k % step === 1),
    }));
    const constraints = prepareConstraints({ binned, groups, distance: "l2", variant: "paper" });
    const slopes = Float64Array.from({ length: groups.length * T }, (_, k) => Math.sin(k));
    const rows = all(N).reverse();
    const plain = createCurveWorkspace(N, T);
    fillCurves(logits, N, T, plain);
    for (const backend of backends) {
      const { kernels, slopes: dLogits } = open(backend, pass);
      if (kernels === null) throw new Error("no kernels");
      await kernels.fillCurves(N);
      for (const keeps of [true, false]) {
        const [ours, theirs] = [
          createStatisticsCache(constraints, keeps, (length) => allocateDoubles(backend, length)),
          createStatisticsCache(constraints, keeps),
        ];
        // Rows are replaced twice, the second time in other places.
        for (const taken of keeps ? [all(N), rows] : [rows]) {
          if (!keeps) for (const cache of [ours, theirs]) emptyCache(cache);
          replaceRows(constraints, ours, kernels.curves, taken);
          replaceRows(constraints, theirs, plain, taken);
          expect(bytes(ours.sums)).toBe(bytes(theirs.sums));
          expect(bytes(ours.terms)).toBe(bytes(theirs.terms));
        }
      }
      const expected = new Float32Array(N * T).fill(0.5);
      dLogits.fill(0.5);
      backThroughStatistics(constraints, slopes, plain, rows, expected, 0.3);
      backThroughStatistics(constraints, slopes, kernels.curves, rows, dLogits, 0.3);
      expect(bytes(dLogits)).toBe(bytes(expected));
    }
  });
});

describe("declined", () => {
  test.each([40, -40, Number.NaN, Number.NEGATIVE_INFINITY])("a logit of %s", async (beyond) => {
    for (const { N, T } of [{ N: 5, T: 7 }, MANY]) {
      const pass = draw(N, T, 3);
      pass.logits[N * T - T] = beyond;
      for (const backend of backends) {
        const { kernels } = open(backend, pass);
        expect(await kernels?.fillCurves(N)).toBe(false);
        expect(await kernels?.likelihood(all(N), true)).toBe(null);
        // The next pass is not affected.
        const { kernels: after } = open(backend, draw(N, T, 4));
        expect(await after?.fillCurves(N)).toBe(true);
      }
    }
  });

  test("more bins than a product of (1 + u) can hold", () => {
    expect(open(backends[0], draw(1, 991, 5)).kernels).toBe(null);
    expect(open(backends[0], draw(1, 990, 5)).kernels).not.toBe(null);
  });

  test("memory that the host does not see, or that is full", async () => {
    expect(findShared(allocateWords(separateMemory(backends[0]), 3))).toBe(null);
    const small = await openWasmBackend({ threads: 1, memoryLimit: 2_000_000 });
    expect(findShared(allocateDoubles(small, 10))).not.toBe(null);
    const { kernels } = open(small, draw(400, 102, 6)); // 650 KB of curves fit, those of 1000 rows do not
    expect(kernels).not.toBe(null);
    expect(findShared(allocateDoubles(small, 1000 * 102 * 2))).toBe(null);
    await small.close();
  });
});
