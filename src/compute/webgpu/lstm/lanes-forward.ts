/**
 * The LSTM forward in the layout of lanes-plan.ts. One more unit has the output weights in place of its first gate's:
 * what it gives in bin t is the logit of bin t−1.
 */

import type { KernelSource } from "../wgsl.ts";
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
import type { ForwardKind } from "./lstm-forward.ts";

/** Takes what forwardKernel of lstm-forward.ts takes. */
export function lanesForwardKernel(plan: LanesPlan, kind: ForwardKind): KernelSource {
  const text = writeLanes(plan);
  const keeps = kind !== "logits";
  const adds = kind !== "tape";
  const { H, tileRows, vectors, quarter, across, vector } = text;
  return {
    name: `${nameLanes("forward", plan)}, ${kind}`,
    sizes: ["first", "rows", "T", "D"],
    reads: {
      fixed: "f32",
      input: "f32",
      recurrent: "f32",
      ...(adds && { output: "f32", outputBias: "f32" }),
    },
    writes: { ...(adds && { logits: "f32" }), ...(keeps && { tape: vector }) },
    threads: plan.threads,
    enables: ["subgroups"],
    declarations: () => `
${declareLanes(text, 2)}
var<workgroup> hidden: array<${vector}, ${2 * 4 * quarter * across}>; // [buffer, unit, block, vector]
fn weightOf(gate: u32, unit: u32, other: u32) -> f32 {
  if (unit < ${H}u && other < ${H}u) { return recurrent[(gate * ${H}u + unit) * ${H}u + other]; }
  ${adds ? `if (unit == ${H}u && other < ${H}u && gate == 0u) { return output[other]; }` : ""}
  return 0.0;
}`,
    body: () => `
  let top = group * ${tileRows}u;
  if (top >= size.rows) { return; }
  ${PLACE_THREAD}
  ${placeBlocks(text)}
  let isUnit = unit < ${H}u;
  ${prepare(text, adds)}
  for (var bin = 0u; bin <= size.T; bin++) {
    let time = f32(bin + 1u) / f32(size.T);
    let buffer = (bin & 1u) * ${4 * quarter * across}u;
    ${FOUR.map((b) => `let from${b} = buffer + start${b};`).join(" ")}
    ${clearSums(text)}
    ${multiplyRows4(text, "hidden")}
    var gates: array<${vector}, ${4 * vectors}>;
    ${gatherSums(text, (g, e) => `gates[${g * vectors + e}]`)}
    ${adds ? addLogits(text) : ""}
    if (bin == size.T) { break; }
    if (isUnit) {
      let next = ${4 * quarter * across}u - buffer + thread * ${vectors}u;
      ${turnGatesToCells(text, keeps)}
    }
    workgroupBarrier();
  }`,
  };
}

/** A vector of rows, each by its number in the tile. */
export function rowsOf({ width, vectors }: LanesText, e: number, number: (row: string) => string): string {
  const rows = Array.from({ length: width }, (_, c) =>
    number(`(q * ${vectors * width}u + ${e * width + c}u)`),
  );
  return rows.join(", ");
}

function prepare(text: LanesText, adds: boolean): string {
  const { H, vectors, quarter, vector, eachVector } = text;
  const setWeights = (g: number) =>
    text.eachOther((k) => `weights[${g * quarter}u + ${k}] = weightOf(${g}u, unit, 4u * ${k} + q);`);
  return `
  var weights: array<f32, ${4 * quarter}>;
  ${FOUR.map(setWeights).join("\n  ")}
  var start: array<${vector}, ${4 * vectors}>;
  var timeWeights: array<f32, 4>;
  var cell: array<${vector}, ${vectors}>;
  if (isUnit) {
    ${FOUR.map(
      (g) => `
    timeWeights[${g}] = input[(${g * H}u + unit) * (size.D + 1u) + size.D];
    ${eachVector(
      (e) =>
        `start[${g * vectors + e}] = ${vector}(${rowsOf(
          text,
          e,
          (row) => `fixed[min(top + ${row}, size.rows - 1u) * ${4 * H}u + ${g * H}u + unit]`,
        )});`,
    )}`,
    ).join("\n")}
  }
  ${adds ? prepareLogits(text) : ""}`;
}

/** The logits that the next sums are added to, asked for a bin ahead. */
function prepareLogits({ H, width, vectors }: LanesText): string {
  return `
  let isWriter = unit == ${H}u;
  let bias = outputBias[0];
  var logit: array<f32, ${width * vectors}>;`;
}

function addLogits({ width, vectors }: LanesText): string {
  const block = width * vectors;
  const numberOf = (row: number) => {
    const sum = `gates[${Math.floor(row / width)}]`;
    return width === 1 ? sum : `${sum}[${row % width}]`;
  };
  return `
    if (isWriter) {
      ${Array.from(
        { length: block },
        (_, row) => `{
        let n = top + q * ${block}u + ${row}u;
        let at = (size.first + n) * size.T + bin;
        if (n < size.rows) {
          if (bin > 0u) { logits[at - 1u] = logit[${row}] + (bias + ${numberOf(row)}); }
          if (bin < size.T) { logit[${row}] = logits[at]; }
        }
      }`,
      ).join("\n")}
    }`;
}

function turnGatesToCells({ H, width, vectors, eachVector, ...plan }: LanesText, keeps: boolean): string {
  const gate = (g: number, e: number) =>
    `gates[${g * vectors + e}] + start[${g * vectors + e}] + timeWeights[${g}] * time`;
  const keep = (e: number) =>
    ["inputGate", "forget", "candidate", "outputGate", `cell[${e}]`]
      .map((value, k) => `tape[kept + ${(k * vectors + e) * 4 * H}u] = ${value};`)
      .join(" ");
  return `
      ${keeps ? `let kept = (group * size.T + bin) * ${binVectors({ H, width, vectors, ...plan })}u + thread;` : ""}
      ${eachVector(
        (e) => `{
        let inputGate = sigmoid${width}(${gate(0, e)});
        let forget = sigmoid${width}(${gate(1, e)});
        let candidate = tanh${width}(${gate(2, e)});
        let outputGate = sigmoid${width}(${gate(3, e)});
        cell[${e}] = forget * cell[${e}] + inputGate * candidate;
        hidden[next + ${e}u] = outputGate * tanh${width}(cell[${e}]);
        ${keeps ? keep(e) : ""}
      }`,
      )}`;
}
