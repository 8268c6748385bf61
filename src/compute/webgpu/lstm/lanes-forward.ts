/**
 * The LSTM forward in the layout of lanes-plan.ts. One more unit has the outputs' weights in place of its gates': what
 * it gives in bin t are the logits of bin t−1. More than four outputs are multiplied by whichever threads there are,
 * from h in workgroup memory.
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
import { addOutputs, type ForwardKind, nameForward } from "./lstm-forward.ts";

/** Takes what forwardKernel of lstm-forward.ts takes. */
export function lanesForwardKernel(plan: LanesPlan, kind: ForwardKind, outputs: LanesOutputs): KernelSource {
  const text = writeLanes(plan);
  const keeps = kind !== "logits";
  const leaves = kind !== "tape";
  const several = outputs === "several";
  /** Outputs of the unit beyond the last. */
  const added = leaves && !several ? outputs : 0;
  const ofEach = added > 1 ? `, ${added} outputs` : "";
  const { H, tileRows, quarter, tapeType, typeOf, eachVector } = text;
  // Of [buffer, unit, block].
  const buffer = 16 * quarter;
  return {
    name: `${nameLanes("forward", plan)}, ${nameForward(kind, several)}${ofEach}`,
    sizes: ["first", "rows", "T", "D", "K"],
    reads: {
      fixed: "f32",
      input: "f32",
      recurrent: "f32",
      ...(leaves && { output: "f32", outputBias: "f32" }),
    },
    writes: { ...(leaves && { logits: "f32" }), ...(keeps && { tape: tapeType }) },
    threads: plan.threads,
    enables: ["subgroups"],
    declarations: () => `
${declareLanes(text, 2)}
${declareRows(text, "hidden", 2 * buffer)}
fn weightOf(gate: u32, unit: u32, other: u32) -> f32 {
  if (unit < ${H}u && other < ${H}u) { return recurrent[(gate * ${H}u + unit) * ${H}u + other]; }
  ${added > 0 ? readOutput(H, added) : ""}
  return 0.0;
}`,
    body: () => `
  let top = group * ${tileRows}u;
  if (top >= size.rows) { return; }
  ${PLACE_THREAD}
  ${PLACE_BLOCKS}
  let isUnit = unit < ${H}u;
  ${prepare(text, added)}
  for (var bin = 0u; bin <= size.T; bin++) {
    let time = f32(bin + 1u) / f32(size.T);
    let buffer = (bin & 1u) * ${buffer}u;
    ${FOUR.map((b) => `let from${b} = buffer + start${b};`).join(" ")}
    ${clearSums(text)}
    ${multiplyRows4(text, "hidden")}
    ${eachVector((e) => `var gates${e}: array<${typeOf(e)}, 4>;`)}
    ${gatherSums(text, (g, e) => `gates${e}[${g}]`)}
    ${added > 0 ? addLogits(text, added) : ""}
    ${leaves && several ? addEachLogit(text) : ""}
    if (bin == size.T) { break; }
    if (isUnit) {
      let next = ${buffer}u - buffer + thread;
      ${turnGatesToCells(text, keeps)}
    }
    workgroupBarrier();
  }`,
  };
}

function readOutput(H: number, outputs: number): string {
  const [isOutput, place] =
    outputs === 1 ? ["gate == 0u", "other"] : [`gate < ${outputs}u`, `gate * ${H}u + other`];
  return `if (unit == ${H}u && other < ${H}u && ${isOutput}) { return output[${place}]; }`;
}

function prepare(text: LanesText, added: number): string {
  const { H, quarter, typeOf, eachVector, gatherRows } = text;
  const setWeights = (g: number) =>
    text.eachOther((k) => `weights[${g * quarter}u + ${k}] = weightOf(${g}u, unit, 4u * ${k} + q);`);
  const fixed = (g: number) => (row: string) =>
    `fixed[min(top + ${row}, size.rows - 1u) * ${4 * H}u + ${g * H}u + unit]`;
  return `
  var weights: array<f32, ${4 * quarter}>;
  ${FOUR.map(setWeights).join("\n  ")}
  var timeWeights: array<f32, 4>;
  ${eachVector((e) => `var start${e}OfRows: array<${typeOf(e)}, 4>; var cell${e}: ${typeOf(e)};`)}
  if (isUnit) {
    ${FOUR.map(
      (g) => `
    timeWeights[${g}] = input[(${g * H}u + unit) * (size.D + 1u) + size.D];
    ${eachVector((e) => `start${e}OfRows[${g}] = ${gatherRows(e, fixed(g))};`)}`,
    ).join("\n")}
  }
  ${added > 0 ? prepareLogits(text, added) : ""}`;
}

/** The logits that the next sums are added to, asked for a bin ahead. */
function prepareLogits({ H, tileRows }: LanesText, outputs: number): string {
  const biases = Array.from({ length: outputs }, (_, k) => `let ${biasOf(k)} = outputBias[${k}];`);
  return `
  let isWriter = unit == ${H}u;
  ${biases.join(" ")}
  var logit: array<f32, ${(outputs * tileRows) / 4}>;`;
}

function biasOf(k: number): string {
  return k === 0 ? "bias" : `bias${k}`;
}

function addLogits({ tileRows, widths }: LanesText, outputs: number): string {
  const block = tileRows / 4;
  const lines = Array.from({ length: outputs }, (_, k) => {
    const sums = widths.flatMap((width, e) =>
      Array.from({ length: width }, (_, c) => (width === 1 ? `gates${e}[${k}]` : `gates${e}[${k}][${c}]`)),
    );
    const curve = outputs === 1 ? "(size.first + n)" : `((size.first + n) * ${outputs}u + ${k}u)`;
    return sums.map(
      (sum, row) => `{
        let n = top + q * ${block}u + ${row}u;
        let at = ${curve} * size.T + bin;
        if (n < size.rows) {
          if (bin > 0u) { logits[at - 1u] = logit[${k * block + row}] + (${biasOf(k)} + ${sum}); }
          if (bin < size.T) { logit[${k * block + row}] = logits[at]; }
        }
      }`,
    );
  });
  return `
    if (isWriter) {
      ${lines.flat().join("\n")}
    }`;
}

/** h of [unit, block] has in its e-th array the rows of a block's e-th vector. */
function addEachLogit({ H, tileRows, widths, threads }: LanesText): string {
  const block = tileRows / 4;
  const branches = widths.map((width, e) => {
    const before = widths.slice(0, e).reduce<number>((sum, one) => sum + one, 0);
    const vector = `hidden${e}[at + j * 4u]`;
    const number = width === 1 ? vector : `${vector}[row % ${block}u - ${before}u]`;
    return `if (row % ${block}u < ${before + width}u) { h = ${number}; }`;
  });
  return addOutputs(
    threads,
    tileRows,
    `let at = buffer + row / ${block}u;
          for (var j = 0u; j < ${H}u; j++) {
            var h = 0.0;
            ${branches.join(" else ")}
            sum += output[k * ${H}u + j] * h;
          }`,
  );
}

function turnGatesToCells(text: LanesText, keeps: boolean): string {
  const { widths, eachVector } = text;
  const gate = (g: number, e: number) => `gates${e}[${g}] + start${e}OfRows[${g}] + timeWeights[${g}] * time`;
  const keep = (e: number) =>
    ["inputGate", "forget", "candidate", "outputGate", `cell${e}`]
      .map((value, k) => text.keep("kept", k, e, value))
      .join(" ");
  return `
      ${keeps ? `let kept = (group * size.T + bin) * ${binVectors(text)}u + thread;` : ""}
      ${eachVector(
        (e) => `{
        let inputGate = sigmoid${widths[e]}(${gate(0, e)});
        let forget = sigmoid${widths[e]}(${gate(1, e)});
        let candidate = tanh${widths[e]}(${gate(2, e)});
        let outputGate = sigmoid${widths[e]}(${gate(3, e)});
        cell${e} = forget * cell${e} + inputGate * candidate;
        hidden${e}[next] = outputGate * tanh${widths[e]}(cell${e});
        ${keeps ? keep(e) : ""}
      }`,
      )}`;
}
