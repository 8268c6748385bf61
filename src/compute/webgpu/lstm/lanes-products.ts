/**
 * The recurrent weights' gradient in the layout of lanes-plan.ts: Σ over rows and bins of the gates' gradients times h
 * of the bin before, which the backward pass left on the tape. A workgroup takes a slice of the tiles and bins and has
 * the whole product in its threads' registers, rows × columns in each; the next tile and bin is asked for while one is
 * multiplied, and two buffers in workgroup memory take turns, so that there is one barrier for each.
 */

import { type KernelSource, repeat } from "../wgsl.ts";
import { LANES_TAPED, type LanesPlan } from "./lanes-plan.ts";

/** Slice s leaves [4H, H] from number s·4H·H on. `blocks` are all tiles' bins, `sliceBlocks` those of a slice. */
export function lanesProductsKernel(plan: LanesPlan): KernelSource {
  const { H, products, writtenOut } = plan;
  const { rows, columns, down, across } = products;
  const steps = plan.tileRows / 4;
  // As vectors of four rows each.
  const vectors = LANES_TAPED * steps * H;
  return {
    name: `LSTM products, ${H} units, blocks of ${steps}, ${rows} × ${columns}${writtenOut ? "" : ", loops"}`,
    sizes: ["blocks", "sliceBlocks"],
    reads: { tape: "vec4f" },
    writes: { partials: "f32" },
    threads: down * across,
    declarations: () =>
      `var<workgroup> factors: array<vec4f, ${2 * vectors}>; // [buffer, quantity, step, unit]`,
    body: () => `
  let begin = group * size.sliceBlocks;
  if (begin >= size.blocks) { return; }
  let end = min(size.blocks, begin + size.sliceBlocks);
  ${placeFactors(plan)}
  var totals: array<f32, ${rows * columns}>;
  var asked: array<vec4f, ${Math.ceil(vectors / (down * across))}>;
  ${eachLoad(plan, (k) => `asked[${k}] = tape[begin * ${vectors}u + i];`)}
  for (var block = begin; block < end; block++) {
    let buffer = (block & 1u) * ${vectors}u;
    ${layFactors(plan)}
    workgroupBarrier();
    if (block + 1u < end) {
      ${eachLoad(plan, (k) => `asked[${k}] = tape[(block + 1u) * ${vectors}u + i];`)}
    }
    ${repeat("step", steps, writtenOut, (step) => multiplyStep(plan, step))}
  }
  ${leaveTotals(plan)}`,
  };
}

function each(count: number, lines: (k: number) => string): string {
  return Array.from({ length: count }, (_, k) => lines(k)).join("\n");
}

/** For each vector that the thread brings of a tile and bin: its k-th, number `i` there. */
function eachLoad({ H, tileRows, products }: LanesPlan, lines: (k: number) => string): string {
  const vectors = (LANES_TAPED * tileRows * H) / 4;
  const threads = products.down * products.across;
  const loads = Math.ceil(vectors / threads);
  return each(
    loads,
    (k) => `{
        let i = thread + ${k * threads}u;
        ${k < loads - 1 ? "" : `if (i < ${vectors}u) `}{ ${lines(k)} }
      }`,
  );
}

/** Where a thread's rows and columns of the product find their factors; those beyond the last repeat it. */
function placeFactors({ H, tileRows, products }: LanesPlan): string {
  const { rows, columns, down, across } = products;
  const quantity = (tileRows / 4) * H;
  return `
  let across = thread % ${across}u;
  let down = thread / ${across}u;
  ${each(
    rows,
    (a) => `let row${a} = min(down + ${a * down}u, ${4 * H - 1}u);
  let left${a} = row${a} / ${H}u * ${quantity}u + row${a} % ${H}u;`,
  )}
  ${each(columns, (b) => `let right${b} = ${4 * quantity}u + min(across + ${b * across}u, ${H - 1}u);`)}`;
}

/** From the tape's [vector of the block, unit, four] to [step, unit], so that neighbours read neighbours. */
function layFactors(plan: LanesPlan): string {
  const { H, width } = plan;
  return eachLoad(
    plan,
    (k) => `
        let four = i % ${width}u;
        let unit = i / ${width}u % ${H}u;
        let lot = i / ${width * H}u;
        factors[buffer + (lot * ${width}u + four) * ${H}u + unit] = asked[${k}];`,
  );
}

function multiplyStep({ H, products: { rows, columns } }: LanesPlan, step: string): string {
  return `{
      let at = buffer + ${step} * ${H}u;
      ${each(columns, (b) => `let h${b} = factors[at + right${b}];`)}
      ${each(
        rows,
        (a) => `{
        let d = factors[at + left${a}];
        ${each(columns, (b) => `totals[${a * columns + b}] += dot(d, h${b});`)}
      }`,
      )}
    }`;
}

function leaveTotals({ H, products: { rows, columns, down, across } }: LanesPlan): string {
  const leave = (a: number, b: number) => `
  if (down + ${a * down}u < ${4 * H}u && across + ${b * across}u < ${H}u) {
    partials[line + (down + ${a * down}u) * ${H}u + across + ${b * across}u] = totals[${a * columns + b}];
  }`;
  return `
  let line = group * ${4 * H * H}u;
  ${each(rows, (a) => each(columns, (b) => leave(a, b)))}`;
}
