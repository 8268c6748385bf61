/**
 * The additive part of a network, logit = b_t + wᵀx + Σ_g x_g·scale·a_g(t), for each cause with weights of its own: a
 * row has as many curves as there are causes. Backward first sums each curve's dLogits, all of them and by knot, and
 * then multiplies these sums with the row's features.
 */
import type { Backend } from "../backend.ts";
import type { HandleTable } from "../host.ts";
import {
  type AdditiveShape,
  type AdditiveWeights,
  additiveWeightShapes,
  checkSizes,
  type GroupOffsetsShape,
  type Weights,
} from "../shapes.ts";
import { bindingLimit, type Placed } from "./device-memory.ts";
import type { Engine, KernelRun } from "./engine.ts";
import type { Bound, GpuBuffer } from "./gpu.ts";
import { type Addition, sumProducts } from "./sums.ts";
import { bitsOf, type KernelSource } from "./wgsl.ts";

const THREADS = 64;

/** [T] knot and share of each bin, then the scale. */
function writeKnots(engine: Engine, { knot, share, scale }: GroupOffsetsShape): GpuBuffer {
  const values = new Float32Array(2 * knot.length + 2);
  knot.forEach((before, t) => {
    values[2 * t] = before;
    values[2 * t + 1] = share[t];
  });
  values[2 * knot.length] = scale;
  const buffer = engine.createBuffer(values.byteLength);
  engine.write(buffer, 0, values);
  return buffer;
}

function forwardKernel(grouped: boolean): KernelSource {
  return {
    name: `additive forward${grouped ? " with groups" : ""}`,
    sizes: ["curves", "D", "T", "G", "K", "causes"],
    reads: {
      x: "f32",
      baseline: "f32",
      skip: "f32",
      ...(grouped && { offsets: "f32", knots: "vec2f" }),
    },
    writes: { logits: "f32" },
    threads: THREADS,
    body: () => `
  let i = group * ${THREADS}u + thread;
  let curve = i / size.T;
  let n = curve / size.causes;
  let cause = curve % size.causes;
  let t = i % size.T;
  if (curve >= size.curves) { return; }
  var risk = 0.0;
  for (var d = 0u; d < size.D; d++) { risk += skip[cause * size.D + d] * x[n * size.D + d]; }
  var logit = baseline[cause * size.T + t] + risk;
  ${
    grouped
      ? `
  let knot = u32(knots[t].x);
  var before = 0.0;
  var after = 0.0;
  for (var g = 0u; g < size.G; g++) {
    let member = x[n * size.D + size.D - size.G + g] * knots[size.T].x;
    let own = (cause * size.G + g) * size.K + knot;
    before += member * offsets[own];
    after += member * offsets[own + 1u];
  }
  logit += before + knots[t].y * (after - before);`
      : ""
  }
  logits[i] = logit;`,
  };
}

/** Of each curve: sums[0] = Σ_t dLogits[t], and sums[1+k] is what reaches knot k. */
function rowSumsKernel(grouped: boolean): KernelSource {
  return {
    name: `additive row sums${grouped ? " with groups" : ""}`,
    sizes: ["curves", "T", "columns"],
    reads: { dLogits: "f32", ...(grouped && { knots: "vec2f" }) },
    writes: { sums: "f32" },
    threads: THREADS,
    body: () => `
  let i = group * ${THREADS}u + thread;
  let curve = i / size.columns;
  let column = i % size.columns;
  if (curve >= size.curves) { return; }
  var sum = 0.0;
  for (var t = 0u; t < size.T; t++) {
    var share = 1.0;
    ${
      grouped
        ? `
    let before = u32(knots[t].x) + 1u;
    if (column == before) { share = 1.0 - knots[t].y; }
    else if (column == before + 1u) { share = knots[t].y; }
    else if (column > 0u) { share = 0.0; }`
        : ""
    }
    sum += share * dLogits[curve * size.T + t];
  }
  sums[i] = sum;`,
  };
}

const ADD_SKIP = `
  let cause = column / (size.D + 1u);
  let d = column % (size.D + 1u);
  if (d < size.D) { skip[cause * size.D + d] += total; }`;
const ADD_OFFSETS = `
  let rowSum = column / (size.D + 1u);
  let cause = rowSum / (size.K + 1u);
  let row = rowSum % (size.K + 1u);
  let d = column % (size.D + 1u);
  if (row == 0u && d < size.D) { skip[cause * size.D + d] += total; }
  if (row > 0u && d < size.D && d + size.G >= size.D) {
    offsets[(cause * size.G + d + size.G - size.D) * size.K + row - 1u] += total * bitcast<f32>(size.scale);
  }`;

/** Groups as the kernels take them. */
interface PlacedGroups extends GroupOffsetsShape {
  readonly offsets: Bound;
  readonly knots: Bound;
}

/** Where the sums of rows' products go. */
function toSkip(D: number, skip: Bound, grouped: PlacedGroups | null): Addition {
  if (grouped === null) {
    return { name: "skip", sizes: ["D"], given: [D], gradients: { skip }, add: ADD_SKIP };
  }
  const { G, K, scale, offsets } = grouped;
  return {
    name: "skip and offsets",
    sizes: ["D", "G", "K", "scale"],
    given: [D, G, K, bitsOf(scale)],
    gradients: { skip, offsets },
    add: ADD_OFFSETS,
  };
}

function toBaseline(baseline: Bound): Addition {
  const add = "baseline[column] += total;";
  return { name: "baseline", sizes: [], given: [], gradients: { baseline }, add };
}

export function additiveOnDevice(
  engine: Engine,
  handles: HandleTable<Placed>,
): Pick<Backend, "additiveForward" | "additiveBackward"> {
  const limit = bindingLimit(engine);
  const knotsOf = new WeakMap<GroupOffsetsShape, GpuBuffer>();

  function placeKnots(groups: GroupOffsetsShape): GpuBuffer {
    const known = knotsOf.get(groups) ?? writeKnots(engine, groups);
    knotsOf.set(groups, known);
    return known;
  }

  /** Offsets and knots are there exactly when the shape has groups. */
  function find(name: string, shape: AdditiveShape, weights: AdditiveWeights) {
    const found: Record<string, Placed> = handles.findWeights(
      name,
      weights as Weights<"baseline" | "skip">,
      additiveWeightShapes(shape, shape.groups),
    );
    const { groups } = shape;
    return {
      baseline: found.baseline.buffer,
      skip: found.skip.buffer,
      grouped: groups && { ...groups, offsets: found.groupOffsets.buffer, knots: placeKnots(groups) },
    };
  }

  return {
    async additiveForward(shape, weights, x, N, logits) {
      engine.check();
      const { D, T, K: causes = 1 } = shape;
      checkSizes({ D, T, K: causes, N });
      const { baseline, skip, grouped } = find("weights", shape, weights);
      const rows = handles.find("x", x, N * D).buffer;
      const out = handles.find("logits", logits, N * causes * T).buffer;
      const more = grouped === null ? [] : [grouped.offsets, grouped.knots];
      engine.submit([
        {
          kernel: forwardKernel(grouped !== null),
          sizes: [N * causes, D, T, grouped?.G ?? 0, grouped?.K ?? 0, causes],
          arrays: [rows, baseline, skip, ...more, out],
          groups: Math.ceil((N * causes * T) / THREADS),
        },
      ]);
    },

    async additiveBackward(shape, x, N, dLogits, gradient) {
      engine.check();
      const { D, T, K: causes = 1 } = shape;
      checkSizes({ D, T, K: causes, N });
      const { baseline, skip, grouped } = find("gradient", shape, gradient);
      const rows = handles.find("x", x, N * D).buffer;
      const slopes = handles.find("dLogits", dLogits, N * causes * T).buffer;
      if (N === 0) return;

      const columns = 1 + (grouped?.K ?? 0);
      const sums = engine.scratch("row sums", N * causes * columns * 4);
      const rowSums: KernelRun = {
        kernel: rowSumsKernel(grouped !== null),
        sizes: [N * causes, T, columns],
        arrays: [slopes, ...(grouped === null ? [] : [grouped.knots]), sums],
        groups: Math.ceil((N * causes * columns) / THREADS),
      };
      const ofRows = { left: sums, right: rows, first: 0, N, outputs: causes * columns, inputs: D };
      // No inputs: only the sums over rows themselves.
      const ofBins = { left: slopes, right: rows, first: 0, N, outputs: causes * T, inputs: 0 };
      engine.submit([
        rowSums,
        ...sumProducts(engine, "parts", ofRows, limit, toSkip(D, skip, grouped)),
        ...sumProducts(engine, "parts of bins", ofBins, limit, toBaseline(baseline)),
      ]);
    },
  };
}
