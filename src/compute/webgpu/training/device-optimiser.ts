/**
 * The optimiser on the device: all parameters lie in one array, each at a multiple of what a binding asks for, and so
 * do their gradients, moments and running mean; one kernel moves them all and clears the gradients. What depends on the
 * number of the step is worked out by the host in float64 and planned ahead.
 */
import type { Backend, Floats } from "../../backend.ts";
import type {
  DeviceOptimiser,
  DeviceOptimiserSettings,
  DeviceParameter,
  DeviceValues,
  StepRates,
} from "../../device-training.ts";
import type { HandleTable } from "../../host.ts";
import type { Placed } from "../device-memory.ts";
import type { Engine, KernelRun } from "../engine.ts";
import type { KernelSource } from "../wgsl.ts";
import { type CommonPlaces, moveInto, moveOut, placeTogether } from "./common-array.ts";
import { asFloat } from "./elementary.ts";

const THREADS = 256;
/** Of one step in the plan: size, root, inGradient, shrink, average. */
const PLANNED = 5;

/** Keeps the factor finite at a norm of 0; torch's value. */
const CLIP_EPSILON = 1e-6;

const NORM: KernelSource = {
  name: "norm of gradients",
  sizes: ["count"],
  reads: { gradient: "f32" },
  writes: { norm: "f32" },
  threads: THREADS,
  declarations: () => `var<workgroup> lane: array<f32, ${THREADS}>;`,
  body: () => `
  if (group > 0u) { return; }
  var sum = 0.0;
  for (var i = thread; i < size.count; i += ${THREADS}u) { sum += gradient[i] * gradient[i]; }
  lane[thread] = sum;
  workgroupBarrier();
  for (var half = ${THREADS / 2}u; half > 0u; half /= 2u) {
    if (thread < half) { lane[thread] += lane[thread + half]; }
    workgroupBarrier();
  }
  if (thread == 0u) { norm[0] = sqrt(lane[0]); }`,
};

const EXCHANGE: KernelSource = {
  name: "exchange weights",
  sizes: ["count"],
  reads: {},
  writes: { values: "f32", average: "f32" },
  threads: THREADS,
  body: () => `
  let i = group * ${THREADS}u + thread;
  if (i >= size.count) { return; }
  let kept = values[i];
  values[i] = average[i];
  average[i] = kept;`,
};

function clipTo(most: number): string {
  return `
  let factor = ${asFloat(most)} / (norm[0] + ${asFloat(CLIP_EPSILON)});
  if (factor < 1.0) { g *= factor; }`;
}

function updateKernel({
  kind,
  momentum,
  beta1,
  beta2,
  epsilon,
  clip,
}: DeviceOptimiserSettings): KernelSource {
  const move =
    kind === "sgd"
      ? `
  first[i] = ${asFloat(momentum)} * first[i] + g;
  let next = weight - planned[at] * first[i];`
      : `
  let m = first[i] + ${asFloat(1 - beta1)} * (g - first[i]);
  let v = ${asFloat(beta2)} * second[i] + ${asFloat(1 - beta2)} * g * g;
  first[i] = m;
  second[i] = v;
  let next = (1.0 - decays[i] * planned[at + 3u]) * weight
    - planned[at] * m / (sqrt(v) / planned[at + 1u] + ${asFloat(epsilon)});`;
  return {
    name: `update by ${kind} ${momentum} ${beta1} ${beta2} ${epsilon} ${clip ?? "unclipped"}`,
    sizes: ["count", "step"],
    reads: { decays: "f32", planned: "f32", ...(clip !== null && { norm: "f32" }) },
    writes: {
      values: "f32",
      gradient: "f32",
      average: "f32",
      first: "f32",
      ...(kind !== "sgd" && { second: "f32" }),
    },
    threads: THREADS,
    body: () => `
  let i = group * ${THREADS}u + thread;
  if (i >= size.count) { return; }
  let at = size.step * ${PLANNED}u;
  let weight = values[i];
  var g = gradient[i];
  ${clip === null ? "" : clipTo(clip)}
  g += decays[i] * planned[at + 2u] * weight;
  ${move}
  values[i] = next;
  average[i] = planned[at + 4u] * average[i] + (1.0 - planned[at + 4u]) * next;
  gradient[i] = 0.0;`,
  };
}

type Memory = Pick<Backend, "allocate" | "read" | "write" | "release">;

function placeArrays(memory: Memory, count: number, { kind, kept }: DeviceOptimiserSettings) {
  return {
    values: memory.allocate(count),
    gradient: memory.allocate(count),
    average: memory.allocate(count),
    first: memory.allocate(count),
    second: memory.allocate(kind === "sgd" ? 0 : count),
    kept: memory.allocate(kept * count),
  };
}

/** 1 where a number decays. */
function markDecays(
  parameters: readonly DeviceParameter[],
  { places, count }: CommonPlaces,
): Float32Array<ArrayBuffer> {
  const marks = new Float32Array(count);
  parameters.forEach(({ decays }, k) => {
    if (decays) marks.fill(1, places[k].from, places[k].from + places[k].length);
  });
  return marks;
}

export function openDeviceOptimiser(
  engine: Engine,
  handles: HandleTable<Placed>,
  memory: Memory,
  parameters: readonly DeviceParameter[],
  settings: DeviceOptimiserSettings,
): DeviceOptimiser {
  const { places, count } = placeTogether(parameters.map(({ values }) => values));
  const arrays = placeArrays(memory, count, settings);
  const bufferOf = (name: keyof typeof arrays) => handles.find(name, arrays[name]).buffer;
  const decays = engine.createBuffer(count * 4);
  const planned = engine.createBuffer(settings.entries * PLANNED * 4);
  const norm = engine.createBuffer(4);
  engine.write(decays, 0, markDecays(parameters, { places, count }));
  parameters.forEach(({ values, gradient }, k) => {
    moveInto(engine, handles, values, bufferOf("values").buffer, places[k].from);
    moveInto(engine, handles, gradient, bufferOf("gradient").buffer, places[k].from);
  });
  engine.encode((encoder) => {
    encoder.copyBufferToBuffer(bufferOf("values").buffer, 0, bufferOf("average").buffer, 0, count * 4);
  });
  const update = updateKernel(settings);
  const cut = (all: Floats): DeviceValues =>
    places.map(({ from, length }) => Float32Array.from(all.subarray(from, from + length)));

  const each = (run: Omit<KernelRun, "groups">): KernelRun => ({
    ...run,
    groups: Math.ceil(count / THREADS),
  });

  return {
    plan(steps) {
      engine.write(planned, 0, Float32Array.from(steps.flatMap(ratesOf)));
    },
    step(number) {
      engine.check();
      const gradient = bufferOf("gradient");
      const isClipped = settings.clip !== null;
      const moved = [bufferOf("values"), gradient, bufferOf("average"), bufferOf("first")];
      const second = settings.kind === "sgd" ? [] : [bufferOf("second")];
      const arrays = [decays, planned, ...(isClipped ? [norm] : []), ...moved, ...second];
      engine.submit([
        ...(isClipped ? [{ kernel: NORM, sizes: [count], arrays: [gradient, norm], groups: 1 }] : []),
        each({ kernel: update, sizes: [count, number], arrays }),
      ]);
    },
    exchange() {
      engine.check();
      engine.submit([
        each({ kernel: EXCHANGE, sizes: [count], arrays: [bufferOf("values"), bufferOf("average")] }),
      ]);
    },
    keep(number) {
      engine.check();
      const { buffer } = bufferOf("values");
      engine.encode((encoder) => {
        encoder.copyBufferToBuffer(buffer, 0, bufferOf("kept").buffer, number * count * 4, count * 4);
      });
    },
    readKept: async (number) => cut(await memory.read(arrays.kept, number * count, count)),
    read: async (what) => cut(await memory.read(arrays[what])),
    write(what, values) {
      values.forEach((one, k) => {
        memory.write(arrays[what], one, places[k].from);
      });
    },
    release() {
      for (const { values, gradient } of parameters) {
        moveOut(engine, handles, values);
        moveOut(engine, handles, gradient);
      }
      for (const array of Object.values(arrays)) memory.release(array);
      for (const buffer of [decays, planned, norm]) engine.destroy(buffer);
    },
  };
}

function ratesOf({ size, root, inGradient, shrink, average }: StepRates): number[] {
  return [size, root, inGradient, shrink, average];
}
