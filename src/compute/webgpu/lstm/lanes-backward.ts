/**
 * The LSTM backward in the layout of lanes-plan.ts, from the last bin to the first. A thread turns what comes to its
 * unit in its block of rows into the gradients of the four gates' sums; after the barrier sixteen neighbours, four for
 * each gate, send back to four units' h of the bin before. Gates' gradients take the place of the activations on the
 * tape, and h of the bin before that of the cell: lanes-products.ts multiplies them.
 *
 * A tile leaves one line of sums: time weights [4H], output weights [H], output bias; and for each row dFixed [4H], the
 * gradient of W_x·x + b.
 */

import type { KernelSource } from "../wgsl.ts";
import { rowsOf } from "./lanes-forward.ts";
import { binVectors, type LanesPlan, nameLanes } from "./lanes-plan.ts";
import {
  clearSums,
  declareLanes,
  FOUR,
  gatherSums,
  type LanesText,
  multiplyRows4,
  PLACE_THREAD,
  placeBlocks,
  writeLanes,
} from "./lanes-text.ts";

/** Numbers in a tile's line of sums. */
export function countLanesSums(H: number): number {
  return 4 * H + H + 1;
}

export function lanesBackwardKernel(plan: LanesPlan): KernelSource {
  const text = writeLanes(plan);
  const { H, tileRows, vectors, gateStride, vector } = text;
  return {
    name: nameLanes("backward", plan),
    sizes: ["first", "rows", "T"],
    reads: { recurrent: "f32", output: "f32", dLogits: "f32" },
    writes: { tape: vector, lines: "f32", dFixed: "f32" },
    threads: plan.threads,
    enables: ["subgroups"],
    declarations: () => `
${declareLanes(text, 8)}
var<workgroup> dGates: array<${vector}, ${8 * gateStride}>; // [buffer, gate, unit, block, vector]
fn weightOf(gate: u32, other: u32, unit: u32) -> f32 {
  if (unit < ${H}u && other < ${H}u) { return recurrent[(gate * ${H}u + other) * ${H}u + unit]; }
  return 0.0;
}
// 0 for a row that the table does not have, so that it adds nothing to any sum.
fn slopeOf(row: u32, bin: u32) -> f32 {
  if (row < size.rows) { return dLogits[(size.first + row) * size.T + bin]; }
  return 0.0;
}`,
    body: () => `
  let top = group * ${tileRows}u;
  if (top >= size.rows) { return; }
  ${PLACE_THREAD}
  ${placeBlocks(text)}
  let isUnit = unit < ${H}u;
  let gate = unit % 4u;
  ${text.lanes < 16 ? "ownThread = thread;" : ""}
  ${prepare(text)}
  for (var left = size.T; left > 0u; left--) {
    let bin = left - 1u;
    let time = f32(left) / f32(size.T);
    let buffer = (bin & 1u) * ${4 * gateStride}u;
    if (isUnit) {
      let to = buffer + thread * ${vectors}u;
      let kept = ${tapeAt(text, "bin")};
      ${differentiateCells(text)}
      if (bin > 0u) {
        ${load(text, "(bin - 1u)")}
      }
    }
    workgroupBarrier();
    ${FOUR.map((b) => `let from${b} = buffer + gate * ${gateStride}u + start${b};`).join("\n    ")}
    ${sendBack(text)}
  }
  ${leaveSums(text)}`,
  };
}

function tapeAt(text: LanesText, bin: string): string {
  return `(group * size.T + ${bin}) * ${binVectors(text)}u + thread`;
}

/** Quantity 0 to 4 of the tape: i, f, g, o, c. */
function taped({ H, vectors }: LanesText, at: string, quantity: number, e: number): string {
  return `tape[${at} + ${(quantity * vectors + e) * 4 * H}u]`;
}

/** A thread's g-th sum is that of the unit g ^ gate of its group's four, for the same reason as with blocks. */
function prepare(text: LanesText): string {
  const { vectors, quarter, vector, eachVector, eachOther } = text;
  const names = ["slope", "inputGate", "forget", "candidate", "outputBefore", "cellBefore"];
  const states = [...names, "outputGate", "tanhCell", "dCell", "back"];
  return `
  var weights: array<f32, ${4 * quarter}>;
  ${FOUR.map((g) =>
    eachOther(
      (k) => `weights[${g * quarter}u + ${k}] = weightOf(gate, 4u * ${k} + q, unit - gate + (${g}u ^ gate));`,
    ),
  ).join("\n  ")}
  ${states.map((name) => `var ${name}: array<${vector}, ${vectors}>;`).join("\n  ")}
  var dStart: array<${vector}, ${4 * vectors}>;
  var dTime: array<f32, 4>;
  var dOutput = 0.0;
  var dBias = 0.0;
  var outputWeight = 0.0;
  if (isUnit) {
    outputWeight = output[unit];
    let last = ${tapeAt(text, "size.T - 1u")};
    ${eachVector(
      (e) => `
    outputGate[${e}] = ${taped(text, "last", 3, e)};
    tanhCell[${e}] = tanh${text.width}(${taped(text, "last", 4, e)});`,
    )}
    ${load(text, "(size.T - 1u)")}
  }
`.trimEnd();
}

/** Of bin `bin` the slopes and i, f, g; of the bin before it o and c, 0 where there is none. */
function load(text: LanesText, bin: string): string {
  const { vector, eachVector } = text;
  return `{
    let at = ${tapeAt(text, bin)};
    ${eachVector(
      (e) => `
    slope[${e}] = ${vector}(${rowsOf(text, e, (row) => `slopeOf(top + ${row}, ${bin})`)});
    inputGate[${e}] = ${taped(text, "at", 0, e)};
    forget[${e}] = ${taped(text, "at", 1, e)};
    candidate[${e}] = ${taped(text, "at", 2, e)};
    outputBefore[${e}] = ${vector}(0.0);
    cellBefore[${e}] = ${vector}(0.0);`,
    )}
    if (${bin} > 0u) {
      let before = at - ${binVectors(text)}u;
      ${eachVector(
        (e) => `
      outputBefore[${e}] = ${taped(text, "before", 3, e)};
      cellBefore[${e}] = ${taped(text, "before", 4, e)};`,
      )}
    }
  }`;
}

function differentiateCells(text: LanesText): string {
  const { width, vectors, gateStride, total, eachVector } = text;
  const leave = (g: number, e: number) => `
        dGates[to + ${g * gateStride + e}u] = d${g};
        ${taped(text, "kept", g, e)} = d${g};
        dStart[${g * vectors + e}] += d${g};
        dTime[${g}] += ${total(`d${g}`)} * time;`;
  return eachVector(
    (e) => `{
        let dHidden = slope[${e}] * outputWeight + back[${e}];
        dOutput += ${total(`(slope[${e}] * outputGate[${e}] * tanhCell[${e}])`)};
        dBias += ${total(`slope[${e}]`)};
        let d = dCell[${e}] + dHidden * outputGate[${e}] * (1.0 - tanhCell[${e}] * tanhCell[${e}]);
        let d0 = d * candidate[${e}] * inputGate[${e}] * (1.0 - inputGate[${e}]);
        let d1 = d * cellBefore[${e}] * forget[${e}] * (1.0 - forget[${e}]);
        let d2 = d * inputGate[${e}] * (1.0 - candidate[${e}] * candidate[${e}]);
        let d3 = dHidden * tanhCell[${e}] * outputGate[${e}] * (1.0 - outputGate[${e}]);
        ${FOUR.map((g) => leave(g, e)).join("")}
        dCell[${e}] = d * forget[${e}];
        outputGate[${e}] = outputBefore[${e}];
        tanhCell[${e}] = tanh${width}(cellBefore[${e}]);
        ${taped(text, "kept", 4, e)} = outputGate[${e}] * tanhCell[${e}];
      }`,
  );
}

function sendBack(text: LanesText): string {
  const { vectors, vector, pass, eachVector } = text;
  return `
    ${clearSums(text)}
    ${multiplyRows4(text, "dGates")}
    var parts: array<${vector}, ${4 * vectors}>;
    ${gatherSums(text, (g, e) => `parts[${g * vectors + e}]`)}
    ${eachVector(
      (e) => `{
      let near = parts[${e}] + ${pass(`parts[${2 * vectors + e}]`, 8)};
      let far = parts[${vectors + e}] + ${pass(`parts[${3 * vectors + e}]`, 8)};
      back[${e}] = near + ${pass("far", 4)};
    }`,
    )}`;
}

/** What belongs to a unit is in four threads, a block each. */
function leaveSums(text: LanesText): string {
  const { H, width, vectors } = text;
  const block = width * vectors;
  const addUp = (name: string) =>
    `${name} += subgroupShuffleXor(${name}, 2u); ${name} += subgroupShuffleXor(${name}, 1u);`;
  const numberOf = (g: number, row: number) => {
    const four = `dStart[${g * vectors + Math.floor(row / width)}]`;
    return width === 1 ? four : `${four}[${row % width}]`;
  };
  const rows = Array.from({ length: block }, (_, row) => row);
  return `
  ${[...FOUR.map((g) => `dTime[${g}]`), "dOutput", "dBias"].map(addUp).join("\n  ")}
  if (!isUnit) { return; }
  ${rows
    .map(
      (row) => `{
    let n = top + q * ${block}u + ${row}u;
    if (n < size.rows) {
      ${FOUR.map((g) => `dFixed[n * ${4 * H}u + ${g * H}u + unit] = ${numberOf(g, row)};`).join("\n      ")}
    }
  }`,
    )
    .join("\n  ")}
  if (q > 0u) { return; }
  let line = group * ${countLanesSums(H)}u;
  ${FOUR.map((g) => `lines[line + ${g * H}u + unit] = dTime[${g}];`).join("\n  ")}
  lines[line + ${4 * H}u + unit] = dOutput;
  if (unit == 0u) { lines[line + ${5 * H}u] = dBias; }`;
}
