/**
 * How kernels are written down: a kernel names its sizes and buffers, and its code is put together from text. What
 * decides how many registers and how much workgroup memory it takes is written into the code; sizes that only bound a
 * loop are read when it runs, so that one compiled kernel serves every table.
 */

export interface KernelSource {
  /** Tells this code from any other: whatever is written into the code is part of it. */
  readonly name: string;
  /** Whole numbers that are given with each run, `size.<name>` in the code. */
  readonly sizes: readonly string[];
  /** Name → element type of the arrays it reads, and of those it writes; in the order they are given with each run. */
  readonly reads: Readonly<Record<string, string>>;
  readonly writes: Readonly<Record<string, string>>;
  readonly threads: number;
  /** Extensions of the language that it needs. */
  readonly enables?: readonly string[];
  /** Workgroup variables and functions; as the body, written when it is compiled. */
  readonly declarations?: () => string;
  /** Has `thread`, its number in its workgroup, and `group`, the workgroup's, which may pass the last one asked for. */
  readonly body: () => string;
}

export function writeKernel(kernel: KernelSource): string {
  const { sizes, reads, writes, threads, enables = [], declarations, body } = kernel;
  const arrays = [
    ...Object.entries(reads).map(([name, type]) => `var<storage, read> ${name}: array<${type}>;`),
    ...Object.entries(writes).map(([name, type]) => `var<storage, read_write> ${name}: array<${type}>;`),
  ];
  return `${enables.map((name) => `enable ${name};`).join("\n")}
struct Sizes { ${sizes.map((name) => `${name}: u32`).join(", ")} }
@group(0) @binding(0) var<uniform> size: Sizes;
${arrays.map((array, k) => `@group(0) @binding(${k + 1}) ${array}`).join("\n")}
${declarations?.() ?? ""}
@compute @workgroup_size(${threads})
fn main(
  @builtin(local_invocation_index) thread: u32,
  @builtin(workgroup_id) place: vec3u,
  @builtin(num_workgroups) places: vec3u,
) {
  let group = place.x + place.y * places.x;
${body()}
}`;
}

/**
 * The same lines for each index: written out one after the other, which keeps arrays they index in registers, or as a
 * loop where that would be too long.
 */
export function repeat(
  index: string,
  count: number,
  writtenOut: boolean,
  lines: (index: string) => string,
): string {
  if (writtenOut) return Array.from({ length: count }, (_, k) => lines(`${k}u`)).join("\n");
  return `for (var ${index} = 0u; ${index} < ${count}u; ${index}++) {\n${lines(index)}\n}`;
}

/** A float32 among sizes, which are whole numbers. */
export function bitsOf(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0];
}

/** A vector of four numbers, each written out: one indexed by a variable would leave the registers. */
export function fourOf(number: (c: number) => string): string {
  return `vec4f(${[0, 1, 2, 3].map(number).join(", ")})`;
}

/**
 * σ and tanh with an error of a few units in the last place. WGSL's own tanh may be off by 1e-5 near 0, where the
 * gradient of small weights would lose its digits, and its exp of a large number may be anything. What is not a number
 * stays so, told by its bits: the functions of a device may make a number of it.
 */
export function writeActivations(type: string): string {
  const [bits, suffix] = { f32: ["u32", "1"], vec2f: ["vec2u", "2"], vec4f: ["vec4u", "4"] }[type] ?? [];
  return `
fn spoil${suffix}(value: ${type}, a: ${type}) -> ${type} {
  return select(value, a, (bitcast<${bits}>(a) & ${bits}(0x7fffffffu)) > ${bits}(0x7f800000u));
}
fn sigmoid${suffix}(a: ${type}) -> ${type} { return spoil${suffix}(1.0 / (1.0 + exp(min(-a, ${type}(87.0)))), a); }
fn tanh${suffix}(a: ${type}) -> ${type} {
  let square = a * a;
  let tail = 2.0 / 15.0 + square * (-17.0 / 315.0 + square * (62.0 / 2835.0));
  let series = a * (1.0 + square * (-1.0 / 3.0 + square * tail));
  let large = sign(a) * (1.0 - 2.0 / (exp(2.0 * min(abs(a), ${type}(10.0))) + 1.0));
  return spoil${suffix}(select(large, series, abs(a) < ${type}(0.25)), a);
}`;
}

export const ACTIVATIONS = writeActivations("vec4f");
