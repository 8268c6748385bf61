// Kernels over people with several causes against the loops of cause-curves.ts and cause-likelihood.ts, to the last
// bit, on one thread and on several, with late entry and weights and without; and what kernels decline.
import { afterAll, describe, expect, test } from "vitest";
import type { Backend } from "../../../src/compute/backend.ts";
import { createRandom } from "../../../src/core/random.ts";
import type { BinnedOutcomes } from "../../../src/data/outcomes/outcomes.ts";
import { openWasmBackend } from "../../../src/node/workers/wasm-backend.ts";
import {
  backThroughConditional,
  backThroughFreeCurves,
  fillCauseCurves,
  fillFreeCurves,
} from "../../../src/objectives/causes/cause-curves.ts";
import { type CauseArrays, openCauseKernels } from "../../../src/objectives/causes/cause-kernels.ts";
import { causeLikelihoodOf } from "../../../src/objectives/causes/cause-likelihood.ts";
import { createCurveWorkspace } from "../../../src/objectives/curves.ts";

/** Passes of this many people go to the threads. */
const MANY = { N: 257, K: 3, T: 102 };
const SIZES = [
  { N: 1, K: 2, T: 1 },
  { N: 3, K: 2, T: 2 },
  { N: 3, K: 3, T: 7 },
  { N: 17, K: 3, T: 1 },
  { N: 17, K: 2, T: 102 },
  { N: 17, K: 5, T: 33 },
  MANY,
];

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

type Size = (typeof SIZES)[number];

/** Logits mostly below 0, as they are, some far out; outcomes of every cause, and of a person without a bin at risk. */
function draw({ N, K, T }: Size, { late, weighted }: { late: boolean; weighted: boolean }) {
  const random = createRandom(N + 7 * K, 3);
  const logits = Float32Array.from({ length: N * K * T }, (_, k) => {
    if (k < K * T) return -3 - random.uniform(); // a person of small hazards alone
    const at = random.uniform();
    return at < 0.03 ? 0 : at < 0.06 ? -19.9 : at < 0.07 ? 19.9 : 5 * random.uniform() - 6;
  });
  const bin = Int32Array.from({ length: N }, (_, n) => (n === 0 ? T : 1 + random.integer(T)));
  const cause = Uint8Array.from({ length: N }, (_, n) => (n === 1 ? K : random.integer(K + 1)));
  const binned: BinnedOutcomes = {
    T,
    bin,
    cause,
    event: cause.map((one) => (one > 0 ? 1 : 0)),
    ...(late && { firstBin: bin.map((last, n) => (n === 2 ? last + 1 : 1 + random.integer(last))) }),
    ...(weighted && {
      weight: Float64Array.from({ length: N }, (_, n) => (n === 3 ? 0 : 0.3 + random.uniform())),
    }),
  };
  return { size: { N, K, T }, logits, binned };
}

function open(
  backend: Backend,
  { size, logits, binned }: ReturnType<typeof draw>,
  curvesOf: CauseArrays["curvesOf"] = "hazards",
) {
  const arrays = { logits: backend.allocate(logits.length), dLogits: backend.allocate(logits.length) };
  backend.write(arrays.logits, logits);
  const kernels = openCauseKernels(backend, { ...arrays, binned, K: size.K, room: size.N, curvesOf });
  if (kernels === null) throw new Error("no kernels");
  return { kernels, slopes: backend.view(arrays.dLogits) as Float32Array };
}

const all = (N: number) => Int32Array.from({ length: N }, (_, n) => n);

/** Slopes of conditional logits, 0 in all bins in which a person is not at risk and in some others. */
function drawConditional({ N, K, T }: Size, { bin, firstBin }: BinnedOutcomes): Float64Array {
  const random = createRandom(N, 5);
  return Float64Array.from({ length: N * K * T }, (_, at) => {
    const [n, t] = [Math.floor(at / (K * T)), (at % T) + 1];
    const isAtRisk = t <= bin[n] && t >= (firstBin?.[n] ?? 1);
    return isAtRisk && random.uniform() < 0.9 ? random.normal() : 0;
  });
}

describe.each(SIZES)("N $N, K $K, T $T", (size) => {
  test.each([
    { late: false, weighted: false },
    { late: true, weighted: false },
    { late: true, weighted: true },
  ])("late entry $late, weights $weighted", async (asked) => {
    const pass = draw(size, asked);
    const { N, K, T } = size;
    const expected = createCurveWorkspace(N * K, T);
    fillCauseCurves(pass.logits, size, expected);
    const dLogits = new Float32Array(N * K * T);
    const loss = causeLikelihoodOf(expected.hazard, pass.binned, K, dLogits);
    const conditional = drawConditional(size, pass.binned);
    const through = dLogits.slice();
    backThroughConditional(expected.hazard, conditional, size, through);
    for (const backend of backends) {
      const { kernels, slopes } = open(backend, pass);
      expect(await kernels.fillCurves(N)).toBe(true);
      expect(bytes(kernels.curves.hazard as Float64Array)).toBe(bytes(expected.hazard));
      expect(bytes(kernels.curves.survival as Float64Array)).toBe(bytes(expected.survival));
      slopes.fill(7); // what was there must not count
      expect(await kernels.likelihood(all(N))).toBe(loss);
      expect(bytes(slopes)).toBe(bytes(dLogits));
      kernels.slopes.set(conditional);
      await kernels.backThrough(all(N));
      expect(bytes(slopes)).toBe(bytes(through));
    }
  });
});

test.each(SIZES)("incidences and the way back from them: N $N, K $K, T $T", async (size) => {
  const pass = draw(size, { late: false, weighted: true });
  const { N, K, T } = size;
  const random = createRandom(N, 6);
  const dFree = Float64Array.from({ length: N * K * T }, () => random.normal());
  const expected = createCurveWorkspace(N * K, T);
  fillFreeCurves(pass.logits, size, expected);
  const dLogits = new Float32Array(N * K * T);
  const loss = causeLikelihoodOf(expected.hazard, pass.binned, K, dLogits);
  backThroughFreeCurves(expected.hazard, dFree, size, dLogits);
  for (const backend of backends) {
    const { kernels, slopes } = open(backend, pass, "incidences");
    expect(await kernels.fillCurves(N)).toBe(true);
    expect(bytes(kernels.curves.hazard as Float64Array)).toBe(bytes(expected.hazard));
    expect(bytes(kernels.curves.survival as Float64Array)).toBe(bytes(expected.survival));
    expect(await kernels.likelihood(all(N))).toBe(loss);
    kernels.slopes.set(dFree);
    await kernels.backThrough(all(N));
    expect(bytes(slopes)).toBe(bytes(dLogits));
  }
});

test("rows of a pass are those that are named", async () => {
  const size = { N: 17, K: 2, T: 7 };
  const pass = draw(size, { late: true, weighted: true });
  const rows = all(17).reverse().subarray(4);
  const { kernels, slopes } = open(backends[0], pass);
  expect(await kernels.fillCurves(rows.length)).toBe(true);
  const loss = await kernels.likelihood(rows);
  const { T, bin, event, cause, firstBin, weight } = pass.binned;
  const pick = <Values extends Int32Array | Uint8Array | Float64Array>(values: Values | undefined): Values =>
    (values as Float64Array).constructor === Float64Array
      ? (Float64Array.from(rows, (row) => (values as Values)[row]) as Values)
      : (Int32Array.from(rows, (row) => (values as Values)[row]) as Values);
  const named = {
    T,
    bin: pick(bin),
    event: Uint8Array.from(pick(event)),
    cause: Uint8Array.from(pick(cause)),
    firstBin: pick(firstBin),
    weight: pick(weight),
  };
  const dLogits = new Float32Array(17 * 2 * T);
  expect(loss).toBe(causeLikelihoodOf(kernels.curves.hazard as Float64Array, named, 2, dLogits));
  expect(bytes(slopes)).toBe(bytes(dLogits));
});

describe("declined", () => {
  test.each([40, -40, Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])(
    "a logit of %s",
    async (beyond) => {
      for (const size of [{ N: 5, K: 2, T: 7 }, MANY]) {
        const pass = draw(size, { late: false, weighted: false });
        pass.logits[(size.N - 1) * size.K * size.T + size.T - 1] = beyond;
        for (const backend of backends) {
          expect(await open(backend, pass).kernels.fillCurves(size.N)).toBe(false);
          expect(await open(backend, pass, "incidences").kernels.fillCurves(size.N)).toBe(false);
          const after = draw(size, { late: false, weighted: false });
          expect(await open(backend, after).kernels.fillCurves(size.N)).toBe(true);
        }
      }
    },
  );

  test("a person who survives next to nothing, and people of no weight", async () => {
    const size = { N: 2, K: 2, T: 102 };
    const pass = draw(size, { late: false, weighted: true });
    pass.logits.fill(5);
    pass.binned.bin.fill(102);
    const { kernels } = open(backends[0], pass);
    expect(await kernels.fillCurves(2)).toBe(true);
    expect(await kernels.likelihood(all(2))).toBe(null);
    pass.binned.weight?.fill(0);
    const empty = open(backends[0], { ...pass, logits: pass.logits.fill(-3) });
    expect(await empty.kernels.fillCurves(2)).toBe(true);
    expect(await empty.kernels.likelihood(all(2))).toBe(null);
  });

  test("outcomes without causes", () => {
    const { size, binned } = draw({ N: 3, K: 2, T: 2 }, { late: false, weighted: false });
    const { cause: _, ...plain } = binned;
    const [logits, dLogits] = [backends[0].allocate(12), backends[0].allocate(12)];
    const arrays = { logits, dLogits, binned: plain, K: size.K, room: 3, curvesOf: "hazards" } as const;
    expect(openCauseKernels(backends[0], arrays)).toBe(null);
  });
});

test("a bin without slopes stays without, beside a hazard that has rounded to 1", async () => {
  const size = { N: 1, K: 2, T: 2 };
  const pass = draw(size, { late: false, weighted: false });
  pass.logits.set([38.5, -1, -1, -1]);
  pass.binned.bin.fill(2);
  const { kernels, slopes } = open(backends[0], pass);
  expect(await kernels.fillCurves(1)).toBe(true);
  expect((kernels.curves.hazard as Float64Array)[0]).toBe(1);
  kernels.slopes.set([0, 0.5, 0, 0.25]);
  await kernels.backThrough(all(1));
  const expected = new Float32Array(4);
  const conditional = Float64Array.of(0, 0.5, 0, 0.25);
  backThroughConditional(kernels.curves.hazard as Float64Array, conditional, size, expected);
  expect(bytes(slopes)).toBe(bytes(expected));
  expect(Array.from(expected.subarray(2, 3))).toEqual([0]);
  expect(expected.every(Number.isFinite)).toBe(true);
});
