/**
 * The LSTM backward in the layout of lanes-plan.ts, from the last bin to the first. A thread turns what comes to its
 * unit in its block of rows into the gradients of the four gates' sums; after the barrier sixteen neighbours, four for
 * each gate, send back to four units' h of the bin before. Gates' gradients take the place of the activations on the
 * tape, and h of the bin before that of the cell: lanes-products.ts multiplies them.
 *
 * A tile leaves one line of sums: time weights [4H], output weights [H], output bias; and for each row dFixed [4H], the
 * gradient of W_x·x + b. Of up to four outputs it leaves the weights of each, then their biases; with more it leaves
 * out both, which output-products.ts sums.
 */

import type { KernelSource } from "../wgsl.ts";
import { binVectors, type LanesOutputs, type LanesPlan, nameLanes } from "./lanes-plan.ts";
import {
  clearSums,
  declareLanes,
  declareRows,
  FOUR,
  gatherSums,
  type LanesText,
  multiplyRows4,
  PLACE_BLOCKS,
  PLACE_THREAD,
  writeLanes,
} from "./lanes-text.ts";

/** Numbers in a tile's line of sums. */
export function countLanesSums(H: number, outputs: LanesOutputs): number {
  return 4 * H + (outputs === "several" ? 0 : outputs * (H + 1));
}

export function lanesBackwardKernel(plan: LanesPlan, outputs: LanesOutputs): KernelSource {
  const text = writeLanes(plan);
  const { H, tileRows, gateStride, tapeType } = text;
  const curves = outputs === "several" ? "size.K" : `${outputs}u`;
  return {
    name: nameLanes(outputs === 1 ? "backward" : `backward, ${outputs} outputs`, plan),
    sizes: ["first", "rows", "T", "K"],
    reads: { recurrent: "f32", output: "f32", dLogits: "f32" },
    writes: { tape: tapeType, lines: "f32", dFixed: "f32" },
    threads: plan.threads,
    enables: ["subgroups"],
    declarations: () => `
${declareLanes(text, 8)}
${declareRows(text, "dGates", 8 * gateStride)} // [buffer, gate, unit, block]
fn weightOf(gate: u32, other: u32, unit: u32) -> f32 {
  if (unit < ${H}u && other < ${H}u) { return recurrent[(gate * ${H}u + other) * ${H}u + unit]; }
  return 0.0;
}
// 0 for a row that the table does not have, so that it adds nothing to any sum.
fn slopeOf(k: u32, row: u32, bin: u32) -> f32 {
  if (row < size.rows) { return dLogits[((size.first + row) * ${curves} + k) * size.T + bin]; }
  return 0.0;
}`,
    body: () => `
  let top = group * ${tileRows}u;
  if (top >= size.rows) { return; }
  ${PLACE_THREAD}
  ${PLACE_BLOCKS}
  let isUnit = unit < ${H}u;
  let gate = unit % 4u;
  ${text.lanes < 16 ? "ownThread = thread;" : ""}
  ${prepare(text, outputs)}
  for (var left = size.T; left > 0u; left--) {
    let bin = left - 1u;
    let time = f32(left) / f32(size.T);
    let buffer = (bin & 1u) * ${4 * gateStride}u;
    if (isUnit) {
      let to = buffer + thread;
      let kept = ${tapeAt(text, "bin")};
      ${differentiateCells(text, outputs)}
      if (bin > 0u) {
        ${load(text, "(bin - 1u)", outputs)}
      }
    }
    workgroupBarrier();
    ${FOUR.map((b) => `let from${b} = buffer + gate * ${gateStride}u + start${b};`).join("\n    ")}
    ${sendBack(text)}
  }
  ${leaveSums(text, outputs)}`,
  };
}

/** The number of each output that the code has variables of its own for. */
function listOutputs(outputs: LanesOutputs): readonly number[] {
  return Array.from({ length: outputs === "several" ? 0 : outputs }, (_, k) => k);
}

/** A variable of an output; of the first as where there is one. */
function ofOutput(name: string, k: number): string {
  return `${name}${["", "B", "C", "D"][k]}`;
}

function tapeAt(text: LanesText, bin: string): string {
  return `(group * size.T + ${bin}) * ${binVectors(text)}u + thread`;
}

/** A thread's g-th sum is that of the unit g ^ gate of its group's four, for the same reason as with blocks. */
function prepare(text: LanesText, outputs: LanesOutputs): string {
  const { H, quarter, widths, typeOf, eachVector, eachOther, taped } = text;
  const each = listOutputs(outputs);
  const slopes = each.length === 0 ? ["fromOutputs"] : each.map((k) => ofOutput("slope", k));
  const names = [...slopes, "inputGate", "forget", "candidate", "outputBefore", "cellBefore"];
  const states = [...names, "outputGate", "tanhCell", "dCell", "back"];
  const declare = (k: number) => (name: string) => `var ${ofOutput(name, k)} = 0.0;`;
  const declared = each.map((k) => ["dOutput", "dBias", "outputWeight"].map(declare(k)).join(" "));
  return `
  var weights: array<f32, ${4 * quarter}>;
  ${FOUR.map((g) =>
    eachOther(
      (k) => `weights[${g * quarter}u + ${k}] = weightOf(gate, 4u * ${k} + q, unit - gate + (${g}u ^ gate));`,
    ),
  ).join("\n  ")}
  ${eachVector((e) => states.map((name) => `var ${name}${e}: ${typeOf(e)};`).join(" "))}
  ${eachVector((e) => `var dStart${e}: array<${typeOf(e)}, 4>;`)}
  var dTime: array<f32, 4>;
  ${declared.join("\n  ")}
  if (isUnit) {
    ${each.map((k) => `${ofOutput("outputWeight", k)} = output[${k === 0 ? "" : `${k * H}u + `}unit];`).join(" ")}
    let last = ${tapeAt(text, "size.T - 1u")};
    ${eachVector(
      (e) => `
    outputGate${e} = ${taped("last", 3, e)};
    tanhCell${e} = tanh${widths[e]}(${taped("last", 4, e)});`,
    )}
    ${load(text, "(size.T - 1u)", outputs)}
  }
`.trimEnd();
}

/** Of bin `bin` the slopes, or of several outputs the slopes times their weights. */
function loadSlopes(
  { H, typeOf, eachVector, gatherRows }: LanesText,
  bin: string,
  outputs: LanesOutputs,
): string {
  const slopes = (e: number, k: string) => gatherRows(e, (row) => `slopeOf(${k}, top + ${row}, ${bin})`);
  const own = listOutputs(outputs).map((k) =>
    eachVector((e) => `${ofOutput("slope", k)}${e} = ${slopes(e, `${k}u`)};`),
  );
  if (own.length > 0) return own.join("\n");
  return `
    ${eachVector((e) => `fromOutputs${e} = ${typeOf(e)}(0.0);`)}
    for (var k = 0u; k < size.K; k++) {
      let weight = output[k * ${H}u + unit];
      ${eachVector((e) => `fromOutputs${e} += weight * ${slopes(e, "k")};`)}
    }`;
}

/** Of bin `bin` the slopes and i, f, g; of the bin before it o and c, 0 where there is none. */
function load(text: LanesText, bin: string, outputs: LanesOutputs): string {
  const { typeOf, eachVector, taped } = text;
  return `{
    let at = ${tapeAt(text, bin)};
    ${loadSlopes(text, bin, outputs)}
    ${eachVector(
      (e) => `
    inputGate${e} = ${taped("at", 0, e)};
    forget${e} = ${taped("at", 1, e)};
    candidate${e} = ${taped("at", 2, e)};
    outputBefore${e} = ${typeOf(e)}(0.0);
    cellBefore${e} = ${typeOf(e)}(0.0);`,
    )}
    if (${bin} > 0u) {
      let before = at - ${binVectors(text)}u;
      ${eachVector(
        (e) => `
      outputBefore${e} = ${taped("before", 3, e)};
      cellBefore${e} = ${taped("before", 4, e)};`,
      )}
    }
  }`;
}

function differentiateCells(text: LanesText, outputs: LanesOutputs): string {
  const { widths, gateStride, total, eachVector, keep } = text;
  const leave = (g: number, e: number) => `
        dGates${e}[to + ${g * gateStride}u] = d${g};
        ${keep("kept", g, e, `d${g}`)}
        dStart${e}[${g}] += d${g};
        dTime[${g}] += ${total(`d${g}`, e)} * time;`;
  const each = listOutputs(outputs);
  const slope = (k: number, e: number) => `${ofOutput("slope", k)}${e}`;
  const fromOutputs = (e: number) =>
    each.map((k) => `${slope(k, e)} * ${ofOutput("outputWeight", k)}`).join(" + ");
  const addToOutput = (e: number) => `
        let dHidden = ${fromOutputs(e)} + back${e};
        ${each
          .map(
            (
              k,
            ) => `${ofOutput("dOutput", k)} += ${total(`(${slope(k, e)} * outputGate${e} * tanhCell${e})`, e)};
        ${ofOutput("dBias", k)} += ${total(slope(k, e), e)};`,
          )
          .join("\n        ")}`;
  return eachVector(
    (e) => `{
        ${each.length === 0 ? `let dHidden = fromOutputs${e} + back${e};` : addToOutput(e)}
        let d = dCell${e} + dHidden * outputGate${e} * (1.0 - tanhCell${e} * tanhCell${e});
        let d0 = d * candidate${e} * inputGate${e} * (1.0 - inputGate${e});
        let d1 = d * cellBefore${e} * forget${e} * (1.0 - forget${e});
        let d2 = d * inputGate${e} * (1.0 - candidate${e} * candidate${e});
        let d3 = dHidden * tanhCell${e} * outputGate${e} * (1.0 - outputGate${e});
        ${FOUR.map((g) => leave(g, e)).join("")}
        dCell${e} = d * forget${e};
        outputGate${e} = outputBefore${e};
        tanhCell${e} = tanh${widths[e]}(cellBefore${e});
        let hiddenBefore = outputGate${e} * tanhCell${e};
        ${keep("kept", 4, e, "hiddenBefore")}
      }`,
  );
}

function sendBack(text: LanesText): string {
  const { typeOf, pass, eachVector } = text;
  return `
    ${clearSums(text)}
    ${multiplyRows4(text, "dGates")}
    ${eachVector((e) => `var parts${e}: array<${typeOf(e)}, 4>;`)}
    ${gatherSums(text, (g, e) => `parts${e}[${g}]`)}
    ${eachVector(
      (e) => `{
      let near = parts${e}[0] + ${pass(`parts${e}[2]`, 8, e)};
      let far = parts${e}[1] + ${pass(`parts${e}[3]`, 8, e)};
      back${e} = near + ${pass("far", 4, e)};
    }`,
    )}`;
}

/** What belongs to a unit is in four threads, a block each. */
function leaveSums(text: LanesText, outputs: LanesOutputs): string {
  const { H, tileRows, widths } = text;
  const block = tileRows / 4;
  const addUp = (name: string) =>
    `${name} += subgroupShuffleXor(${name}, 2u); ${name} += subgroupShuffleXor(${name}, 1u);`;
  const rows = widths.flatMap((width, e) =>
    Array.from(
      { length: width },
      (_, c) => (g: number) => (width === 1 ? `dStart${e}[${g}]` : `dStart${e}[${g}][${c}]`),
    ),
  );
  const each = listOutputs(outputs);
  const biasesAt = (4 + each.length) * H;
  const leaveOutput = each.map(
    (k) => `lines[line + ${(4 + k) * H}u + unit] = ${ofOutput("dOutput", k)};
  if (unit == 0u) { lines[line + ${biasesAt + k}u] = ${ofOutput("dBias", k)}; }`,
  );
  const ofOutputs = each.flatMap((k) => [ofOutput("dOutput", k), ofOutput("dBias", k)]);
  return `
  ${[...FOUR.map((g) => `dTime[${g}]`), ...ofOutputs].map(addUp).join("\n  ")}
  if (!isUnit) { return; }
  ${rows
    .map(
      (numberOf, row) => `{
    let n = top + q * ${block}u + ${row}u;
    if (n < size.rows) {
      ${FOUR.map((g) => `dFixed[n * ${4 * H}u + ${g * H}u + unit] = ${numberOf(g)};`).join("\n      ")}
    }
  }`,
    )
    .join("\n  ")}
  if (q > 0u) { return; }
  let line = group * ${countLanesSums(H, outputs)}u;
  ${FOUR.map((g) => `lines[line + ${g * H}u + unit] = dTime[${g}];`).join("\n  ")}
  ${leaveOutput.join("\n  ")}`;
}
