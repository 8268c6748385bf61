/**
 * The gradient of several outputs, dw_k = Σ over rows and bins of dLogit_k·h and db_k = Σ dLogit_k, from the tape as
 * the forward pass left it: h is o·tanh(c). A thread has one unit (or, after the last, the bias) and up to four outputs
 * of a slice of the tiles' bins, so that an activation once read serves four; the slices' sums are added up afterwards.
 * With one output the backward kernels sum it themselves.
 */
import type { LstmShape } from "../../shapes.ts";
import { bindingLimit } from "../device-memory.ts";
import type { Engine, KernelRun } from "../engine.ts";
import type { Bound } from "../gpu.ts";
import { addParts } from "../sums.ts";
import type { Stretch } from "../tapes.ts";
import { type KernelSource, writeActivations } from "../wgsl.ts";

/** Where a layout keeps o and c. */
export interface TapeNumbers {
  /** Tells this layout from others. */
  readonly name: string;
  readonly H: number;
  readonly tileRows: number;
  /** Numbers of one tile and bin. */
  readonly binNumbers: number;
  /** The place there of quantity 3 (o) or 4 (c) for `row` of the tile and `unit`, as code. */
  placeOf(quantity: 3 | 4): string;
}

/** Outputs of a thread. */
const TOGETHER = 4;
const THREADS = 64;
/** Slices of the tiles' bins, at most: with 50 units enough threads for any device. */
const SLICES = 1024;

export interface OutputPass {
  readonly shape: LstmShape;
  readonly stretch: Stretch;
  readonly tape: Bound;
  readonly dLogits: Bound;
  readonly output: Bound;
  readonly outputBias: Bound;
}

/** To run before a backward kernel overwrites the tape. */
export function sumOutputs(engine: Engine, numbers: TapeNumbers, pass: OutputPass): KernelRun[] {
  const { H, T, K = 1 } = pass.shape;
  const { first, rows, tiles } = pass.stretch;
  const columns = K * (H + 1);
  const blocks = tiles * T;
  const most = Math.max(1, Math.min(SLICES, Math.floor(bindingLimit(engine) / (4 * columns))));
  const sliceBlocks = Math.ceil(blocks / most);
  const slices = Math.ceil(blocks / sliceBlocks);
  const partials = engine.scratch("outputs", slices * columns * 4);
  const threads = slices * Math.ceil(K / TOGETHER) * (H + 1);
  return [
    {
      kernel: outputProductsKernel(numbers, Math.min(K, TOGETHER)),
      sizes: [first, rows, T, K, blocks, sliceBlocks],
      arrays: [pass.tape, pass.dLogits, partials],
      groups: Math.ceil(threads / THREADS),
    },
    addParts(partials, slices, columns, {
      name: "outputs",
      sizes: ["H"],
      given: [H],
      gradients: { output: pass.output, outputBias: pass.outputBias },
      add: `
  let k = column / (size.H + 1u);
  let unit = column % (size.H + 1u);
  if (unit < size.H) { output[k * size.H + unit] += total; } else { outputBias[k] += total; }`,
    }),
  ];
}

/** Column k·(H+1) + unit of slice s is number s·K·(H+1) + column. */
function outputProductsKernel(numbers: TapeNumbers, together: number): KernelSource {
  const { name, H, tileRows, binNumbers, placeOf } = numbers;
  const outputs = Array.from({ length: together }, (_, c) => c);
  const eachOutput = (lines: (c: number) => string) => outputs.map(lines).join("\n      ");
  return {
    name: `outputs' products, ${together} at once, ${name}`,
    sizes: ["first", "rows", "T", "K", "blocks", "sliceBlocks"],
    reads: { tape: "f32", dLogits: "f32" },
    writes: { partials: "f32" },
    threads: THREADS,
    declarations: () => writeActivations("f32"),
    body: () => `
  let i = group * ${THREADS}u + thread;
  let unit = i % ${H + 1}u;
  let lots = (size.K + ${together - 1}u) / ${together}u;
  let firstOutput = i / ${H + 1}u % lots * ${together}u;
  let slice = i / ${H + 1}u / lots;
  let begin = slice * size.sliceBlocks;
  if (begin >= size.blocks) { return; }
  let end = min(size.blocks, begin + size.sliceBlocks);
  ${eachOutput((c) => `var sum${c} = 0.0; let output${c} = min(firstOutput + ${c}u, size.K - 1u);`)}
  for (var block = begin; block < end; block++) {
    let top = block / size.T * ${tileRows}u;
    let bin = block % size.T;
    let rows = min(${tileRows}u, size.rows - top);
    for (var row = 0u; row < rows; row++) {
      var h = 1.0;
      if (unit < ${H}u) {
        let at = block * ${binNumbers}u;
        h = tape[at + ${placeOf(3)}] * tanh1(tape[at + ${placeOf(4)}]);
      }
      let curve = (size.first + top + row) * size.K;
      ${eachOutput((c) => `sum${c} += h * dLogits[(curve + output${c}) * size.T + bin];`)}
    }
  }
  ${eachOutput(
    (c) => `if (firstOutput + ${c}u < size.K) {
    partials[(slice * size.K + firstOutput + ${c}u) * ${H + 1}u + unit] = sum${c};
  }`,
  )}`,
  };
}
