/**
 * Sums that several operations share: rows times a matrix, sums over rows of products of two columns, and the end of
 * every gradient, where sums of parts of the rows are added up. The order of every sum depends on the shape alone, so
 * the same run gives the same bytes on the same device.
 */
import type { Engine, KernelRun } from "./engine.ts";
import type { Bound } from "./gpu.ts";
import { ACTIVATIONS, type KernelSource, repeat } from "./wgsl.ts";

/** Rows a thread takes at once: a weight that is read serves this many. */
const ROWS_PER_THREAD = 8;
const THREADS = 64;

export interface RowsTimesMatrix {
  readonly rows: Bound; // [first + N, inputs]
  readonly first: number;
  readonly N: number;
  readonly inputs: number;
  readonly outputs: number;
  /** The weight of output o and input i is number o·strides[0] + i·strides[1]. */
  readonly matrix: Bound;
  readonly strides: readonly [number, number];
  /** Added to every row, [outputs] each. */
  readonly biases: readonly Bound[];
  readonly activation: "none" | "tanh";
  readonly out: Bound; // [N, outputs]
}

/** out[n,o] = activation(Σ biases[o] + Σ_i matrix[o,i]·rows[first + n, i]). */
export function multiplyRows(product: RowsTimesMatrix): KernelRun {
  const { rows, first, N, inputs, outputs, matrix, strides, biases, activation, out } = product;
  return {
    kernel: multiplyKernel(biases.length, activation),
    sizes: [first, N, inputs, outputs, ...strides],
    arrays: [rows, matrix, ...biases, out],
    groups: Math.ceil((Math.ceil(N / ROWS_PER_THREAD) * outputs) / THREADS),
  };
}

function multiplyKernel(biases: number, activation: "none" | "tanh"): KernelSource {
  const names = Array.from({ length: biases }, (_, k) => `bias${k}`);
  const eachRow = (lines: (s: string) => string) => repeat("s", ROWS_PER_THREAD, true, lines);
  return {
    name: `rows times matrix, ${biases} biases, ${activation}`,
    sizes: ["first", "N", "inputs", "outputs", "strideOut", "strideIn"],
    reads: { rows: "f32", matrix: "f32", ...Object.fromEntries(names.map((name) => [name, "f32"])) },
    writes: { out: "f32" },
    threads: THREADS,
    declarations: () => (activation === "tanh" ? ACTIVATIONS : ""),
    body: () => `
  let i = group * ${THREADS}u + thread;
  let o = i % size.outputs;
  let n = i / size.outputs * ${ROWS_PER_THREAD}u;
  if (n >= size.N) { return; }
  var sum: array<f32, ${ROWS_PER_THREAD}>;
  var begin: array<u32, ${ROWS_PER_THREAD}>;
  let start = ${["0.0", ...names.map((name) => `${name}[o]`)].join(" + ")};
  ${eachRow((s) => `sum[${s}] = start; begin[${s}] = (size.first + min(n + ${s}, size.N - 1u)) * size.inputs;`)}
  for (var k = 0u; k < size.inputs; k++) {
    let weight = matrix[o * size.strideOut + k * size.strideIn];
    ${eachRow((s) => `sum[${s}] += weight * rows[begin[${s}] + k];`)}
  }
  ${eachRow(
    (s) => `if (n + ${s} < size.N) {
    out[(n + ${s}) * size.outputs + o] = ${activation === "tanh" ? `tanh4(vec4f(sum[${s}])).x` : `sum[${s}]`};
  }`,
  )}`,
  };
}

export interface ColumnProducts {
  readonly left: Bound; // [N, outputs]
  readonly right: Bound; // [first + N, inputs]
  readonly first: number;
  readonly N: number;
  readonly outputs: number;
  readonly inputs: number;
}

/** Rows of one part; more where the parts' sums would not fit into one array. */
const PART_ROWS = 64;

/** What is added up of each part, and where it goes: gradient code for column `column` with sum `total`. */
export interface Addition {
  readonly name: string;
  readonly sizes: readonly string[];
  readonly given: readonly number[];
  readonly gradients: Readonly<Record<string, Bound>>;
  readonly add: string;
}

/**
 * Column o·(inputs+1) + i is Σ_n left[n,o]·right[first + n, i], and the last one of each o is Σ_n left[n,o]; summed in
 * parts, then added to gradients as `addition` says.
 */
export function sumProducts(
  engine: Engine,
  area: string,
  { left, right, first, N, outputs, inputs }: ColumnProducts,
  limit: number,
  addition: Addition,
): KernelRun[] {
  const columns = outputs * (inputs + 1);
  const partRows = Math.max(PART_ROWS, Math.ceil(N / Math.max(1, Math.floor(limit / (columns * 4)))));
  const parts = Math.ceil(N / partRows);
  const partials = engine.scratch(area, parts * columns * 4);
  const products: KernelRun = {
    kernel: PRODUCTS,
    sizes: [first, N, outputs, inputs, partRows, parts * columns],
    arrays: [left, right, partials],
    groups: Math.ceil((parts * columns) / THREADS),
  };
  return [products, addParts(partials, parts, columns, addition)];
}

const PRODUCTS: KernelSource = {
  name: "sums of products",
  sizes: ["first", "N", "outputs", "inputs", "partRows", "sums"],
  reads: { left: "f32", right: "f32" },
  writes: { partials: "f32" },
  threads: THREADS,
  body: () => `
  let k = group * ${THREADS}u + thread;
  if (k >= size.sums) { return; }
  let columns = size.outputs * (size.inputs + 1u);
  let part = k / columns;
  let o = k % columns / (size.inputs + 1u);
  let i = k % columns % (size.inputs + 1u);
  let end = min(size.N, (part + 1u) * size.partRows);
  var sum = 0.0;
  for (var n = part * size.partRows; n < end; n++) {
    var factor = 1.0;
    if (i < size.inputs) { factor = right[(size.first + n) * size.inputs + i]; }
    sum += left[n * size.outputs + o] * factor;
  }
  partials[k] = sum;`,
};

/** Columns of a workgroup, read side by side, and slices of the parts, each summed by a thread of its own. */
const COLUMNS = 32;
const SLICES = 8;

/** Adds up partials [parts, columns] over the parts, and each column's total to a gradient. */
export function addParts(
  partials: Bound,
  parts: number,
  columns: number,
  { name, sizes, given, gradients, add }: Addition,
): KernelRun {
  return {
    kernel: {
      name: `add parts: ${name}`,
      sizes: ["parts", "columns", ...sizes],
      reads: { partials: "f32" },
      writes: Object.fromEntries(Object.keys(gradients).map((gradient) => [gradient, "f32"])),
      threads: COLUMNS * SLICES,
      declarations: () => `var<workgroup> slices: array<f32, ${COLUMNS * SLICES}>;`,
      body: () => `
  let column = group * ${COLUMNS}u + thread % ${COLUMNS}u;
  var sum = 0.0;
  if (column < size.columns) {
    for (var part = thread / ${COLUMNS}u; part < size.parts; part += ${SLICES}u) {
      sum += partials[part * size.columns + column];
    }
  }
  slices[thread] = sum;
  workgroupBarrier();
  if (thread >= ${COLUMNS}u || column >= size.columns) { return; }
  var total = 0.0;
  for (var slice = 0u; slice < ${SLICES}u; slice++) { total += slices[slice * ${COLUMNS}u + thread]; }
  ${add}`,
    },
    sizes: [parts, columns, ...given],
    arrays: [partials, ...Object.values(gradients)],
    groups: Math.ceil(columns / COLUMNS),
  };
}
