/**
 * The LSTM forward in the layout of lanes-plan.ts. One more unit has the output weights in place of its first gate's:
 * what it gives in bin t is the logit of bin t−1. Several outputs are multiplied by whichever threads there are, from
 * h in workgroup memory.
 */

import type { KernelSource } from "../wgsl.ts";
import { binVectors, type LanesPlan, nameLanes } from "./lanes-plan.ts";
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
export function lanesForwardKernel(plan: LanesPlan, kind: ForwardKind, several: boolean): KernelSource {
  const text = writeLanes(plan);
  const keeps = kind !== "logits";
  const leaves = kind !== "tape";
  const adds = leaves && !several;
  const { H, tileRows, quarter, tapeType, typeOf, eachVector } = text;
  // Of [buffer, unit, block].
  const buffer = 16 * quarter;
  return {
    name: `${nameLanes("forward", plan)}, ${nameForward(kind, several)}`,
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
  ${adds ? `if (unit == ${H}u && other < ${H}u && gate == 0u) { return output[other]; }` : ""}
  return 0.0;
}`,
    body: () => `
  let top = group * ${tileRows}u;
  if (top >= size.rows) { return; }
  ${PLACE_THREAD}
  ${PLACE_BLOCKS}
  let isUnit = unit < ${H}u;
  ${prepare(text, adds)}
  for (var bin = 0u; bin <= size.T; bin++) {
    let time = f32(bin + 1u) / f32(size.T);
    let buffer = (bin & 1u) * ${buffer}u;
    ${FOUR.map((b) => `let from${b} = buffer + start${b};`).join(" ")}
    ${clearSums(text)}
    ${multiplyRows4(text, "hidden")}
    ${eachVector((e) => `var gates${e}: array<${typeOf(e)}, 4>;`)}
    ${gatherSums(text, (g, e) => `gates${e}[${g}]`)}
    ${adds ? addLogits(text) : ""}
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

function prepare(text: LanesText, adds: boolean): string {
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
  ${adds ? prepareLogits(text) : ""}`;
}

/** The logits that the next sums are added to, asked for a bin ahead. */
function prepareLogits({ H, tileRows }: LanesText): string {
  return `
  let isWriter = unit == ${H}u;
  let bias = outputBias[0];
  var logit: array<f32, ${tileRows / 4}>;`;
}

function addLogits({ tileRows, widths }: LanesText): string {
  const sums = widths.flatMap((width, e) =>
    Array.from({ length: width }, (_, c) => (width === 1 ? `gates${e}[0]` : `gates${e}[0][${c}]`)),
  );
  return `
    if (isWriter) {
      ${sums
        .map(
          (sum, row) => `{
        let n = top + q * ${tileRows / 4}u + ${row}u;
        let at = (size.first + n) * size.T + bin;
        if (n < size.rows) {
          if (bin > 0u) { logits[at - 1u] = logit[${row}] + (bias + ${sum}); }
          if (bin < size.T) { logit[${row}] = logits[at]; }
        }
      }`,
        )
        .join("\n")}
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
