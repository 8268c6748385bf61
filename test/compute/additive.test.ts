// The additive part in the kernels of a wasm backend against the plain loops of host.ts on the same float32 numbers, to
// the last bit: logits, and gradients added to what is there, with one kind of event and with several causes.
import { afterAll, describe, expect, test } from "vitest";
import type { Backend, DeviceArray } from "../../src/compute/backend.ts";
import { additiveOnHost, createHandles } from "../../src/compute/host.ts";
import { type AdditiveShape, additiveWeightShapes, countNumbers } from "../../src/compute/shapes.ts";
import { createRandom } from "../../src/core/random.ts";
import { placeKnots } from "../../src/models/networks/group-offsets.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";

const wasm = await openWasmBackend({ threads: 1 });
afterAll(() => wasm.close());

/** Plain loops over plain memory. */
function openHost() {
  const handles = createHandles<Float32Array>();
  return {
    ...additiveOnHost(handles),
    allocate: (length: number) => handles.add(new Float32Array(length)),
    view: (array: DeviceArray) => handles.find("what is viewed", array),
  };
}

type Computes = Pick<Backend, "allocate" | "view" | "additiveForward" | "additiveBackward">;

/** Logits and gradients as bytes. */
async function run(backend: Computes, shape: AdditiveShape, N: number): Promise<Record<string, string>> {
  const random = createRandom(7 + N, 2);
  const { D, T, K = 1, groups } = shape;
  const G = groups?.G ?? 0;
  const fill = (length: number, draw: (k: number) => number) => {
    const array = backend.allocate(length);
    (backend.view(array) as Float32Array).set(Float32Array.from({ length }, (_, k) => draw(k)));
    return array;
  };
  const draw = () => random.normal();
  const shapes = Object.entries(additiveWeightShapes(shape, groups));
  const weigh = () =>
    Object.fromEntries(shapes.map(([name, size]) => [name, fill(countNumbers(size), draw)])) as never;
  // The last columns are memberships, one of them other than 0 and 1.
  const x = fill(N * D, (k) => (k % D < D - G ? draw() : k % 7 === 0 ? 0.5 : random.integer(2)));
  const logits = fill(N * K * T, draw);
  const dLogits = fill(N * K * T, (k) => (k % 5 === 0 ? 0 : draw()));
  const gradient: Readonly<Record<string, DeviceArray>> = weigh();
  await backend.additiveForward(shape, weigh(), x, N, logits);
  await backend.additiveBackward(shape, x, N, dLogits, gradient as never);
  const bytes = (array: DeviceArray) => {
    const { buffer, byteOffset, byteLength } = backend.view(array) as Float32Array;
    return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  };
  return Object.fromEntries(
    Object.entries({ logits, ...gradient }).map(([name, array]) => [name, bytes(array)]),
  );
}

describe.each([
  { D: 1, T: 1, G: 0 },
  { D: 5, T: 7, G: 0 },
  { D: 6, T: 2, G: 2 },
  { D: 9, T: 33, G: 9 },
  { D: 29, T: 102, G: 12 },
])("D $D, T $T, G $G", ({ D, T, G }) => {
  const hazards = Float64Array.from({ length: T }, (_, t) => 0.01 + 0.03 * ((t * 7) % 5));
  const groups = G === 0 ? null : { G, K: 6, ...placeKnots(T, hazards), scale: 5 };

  test.each([0, 1, 2, 3, 4, 5, 258])("%i rows", async (N) => {
    for (const K of N === 258 ? [1, 3] : [1, 2, 3]) {
      const expected = await run(openHost() as Computes, { D, T, K, groups }, N);
      expect(Object.keys(expected)).toContain("skip");
      expect(await run(wasm, { D, T, K, groups }, N)).toEqual(expected);
    }
  });
});
