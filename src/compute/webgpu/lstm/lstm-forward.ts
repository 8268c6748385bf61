/**
 * The LSTM forward. Each bin has two halves. First a thread multiplies the weights it owns with its part of h_{t−1},
 * for all rows of the tile. Then gates become cells, four units of one row in a thread. The output weights are one more
 * row of weights: what they give in the first half of bin t is the logit of bin t−1, so logits cost no half of their
 * own. Several outputs are multiplied in that half by whichever threads there are, from h in workgroup memory.
 */
import { type LstmPlan, nameLstm, TAPED } from "./lstm-plan.ts";
import { type LstmText, placePair, placeThread, writeLstm } from "./lstm-text.ts";
import { ACTIVATIONS, fourOf, type KernelSource } from "../wgsl.ts";

/** What a pass is for: it adds to logits, keeps a tape, or both. */
export type ForwardKind = "logits" | "logits and tape" | "tape";

/** `fixed` is W_x·x + b_input + b_recurrent of the rows from `first` on. */
export function forwardKernel(plan: LstmPlan, kind: ForwardKind, several: boolean): KernelSource {
  const text = writeLstm(plan);
  const keeps = kind !== "logits";
  const leaves = kind !== "tape";
  const adds = leaves && !several;
  return {
    name: `${nameLstm("forward", plan)}, ${nameForward(kind, several)}`,
    sizes: ["first", "rows", "T", "D", "K"],
    reads: {
      fixed: "f32",
      input: "f32",
      recurrent: "f32",
      ...(leaves && { output: "f32", outputBias: "f32" }),
    },
    writes: { ...(leaves && { logits: "f32" }), ...(keeps && { tape: "vec4f" }) },
    threads: plan.threads,
    declarations: () => declare(text, adds),
    body: () => `
  let top = group * ${plan.tileRows}u;
  if (top >= size.rows) { return; }
  ${placeThread(plan)}
  ${prepare(text, adds)}
  for (var bin = 0u; bin <= size.T; bin++) {
    let time = f32(bin + 1u) / f32(size.T);
    ${multiply(text, adds)}
    ${leaves && several ? addEachLogit(text) : ""}
    workgroupBarrier();
    ${adds ? addLogits(text) : ""}
    if (bin == size.T) { break; }
    ${turnGatesToCells(text, keeps)}
    workgroupBarrier();
  }`,
  };
}

function declare({ H, stride, tileRows, units, splits }: LstmText, adds: boolean): string {
  return `
${ACTIVATIONS}
var<workgroup> hidden: array<vec4f, ${tileRows * stride}>; // [row, quad]
var<workgroup> gates: array<f32, ${splits * tileRows * 4 * units}>; // [part, row, gate, unit]
${adds ? `var<workgroup> outputs: array<f32, ${splits * tileRows}>; // [part, row]` : ""}
fn weightOf(gate: u32, unit: u32, other: u32) -> f32 {
  if (unit >= ${H}u || other >= ${H}u || gate > 4u) { return 0.0; }
  if (gate == 4u) { return ${adds ? `select(0.0, output[other], unit == 0u)` : "0.0"}; }
  return recurrent[(gate * ${H}u + unit) * ${H}u + other];
}
fn weightsOf(gate: u32, unit: u32, k: u32) -> vec4f {
  return ${fourOf((c) => `weightOf(gate, unit, 4u * k + ${c}u)`)};
}`;
}

const PAIR = [0, 1] as const;

/** A thread's weights, and where its sums start for each row: from `fixed` in the first part, from 0 in others. */
function prepare(text: LstmText, adds: boolean): string {
  const { H, partQuads, stride, units, tileRows, threads, owned, tasks, inRegisters, splits } = text;
  const weights = (g: string) =>
    text.eachQuad((k) =>
      PAIR.map(
        (e) =>
          `weights[(${g} * 2u + ${e}u) * ${partQuads}u + ${k}] =
          weightsOf(gate, unit + ${e}u, part * ${partQuads}u + ${k});`,
      ).join("\n"),
    );
  const starts = (g: string, e: number) => `
      if (part == 0u && gate < 4u && unit + ${e}u < ${H}u) {
        let own = gate * ${H}u + unit + ${e}u;
        timeWeights[${g} * 2u + ${e}u] = input[own * (size.D + 1u) + size.D];
        ${text.eachRow(
          (s) =>
            `if (top + ${s} < size.rows) {
          start[(${g} * 2u + ${e}u) * ${tileRows}u + ${s}] = fixed[(top + ${s}) * ${4 * H}u + own];
        }`,
        )}
      }`;
  return `
  var timeWeights: array<f32, ${2 * owned}>;
  var start: array<f32, ${2 * owned * tileRows}>;
  ${inRegisters ? `var weights: array<vec4f, ${2 * owned * partQuads}>;` : ""}
  ${text.eachOwned(
    (g) => `
    ${placePair(text, g)}
    ${inRegisters ? weights(g) : ""}
    ${PAIR.map((e) => starts(g, e)).join("\n")}`,
  )}
  for (var i = thread; i < ${tileRows * stride}u; i += ${threads}u) { hidden[i] = vec4f(0.0); }
  for (var i = thread; i < ${splits * tileRows * 4 * units}u; i += ${threads}u) { gates[i] = 0.0; }
  var cell: array<vec4f, ${tasks}>;
  ${
    adds
      ? `
  // The logit that the next sum is added to, asked for a bin ahead.
  var logit = 0.0;
  let isWriter = thread < ${tileRows}u && top + thread < size.rows;
  let logitAt = (size.first + top + thread) * size.T;
  let bias = outputBias[0];`
      : ""
  }
  workgroupBarrier();`;
}

function multiply(text: LstmText, adds: boolean): string {
  const { H, partQuads, stride, units, tileRows, inRegisters } = text;
  const weight = (g: string, e: number, k: string) =>
    inRegisters
      ? `weights[(${g} * 2u + ${e}u) * ${partQuads}u + ${k}]`
      : `weightsOf(gate, unit + ${e}u, part * ${partQuads}u + ${k})`;
  const leave = (e: number) => `
        if (!isSpare && gate < 4u && unit + ${e}u < ${H}u) {
          let to = part * ${tileRows * 4 * units}u + gate * ${units}u + unit + ${e}u;
          ${text.eachRow((s) => `gates[to + ${s} * ${4 * units}u] = sum${e}[${s}];`)}
        }`;
  return text.eachOwned(
    (g) => `
      ${placePair(text, g)}
      ${PAIR.map(
        (e) => `
      var sum${e}: array<f32, ${tileRows}>;
      ${text.eachRow(
        (s) =>
          `sum${e}[${s}] = start[(${g} * 2u + ${e}u) * ${tileRows}u + ${s}] + timeWeights[${g} * 2u + ${e}u] * time;`,
      )}`,
      ).join("\n")}
      ${text.eachQuad(
        (k) => `{
        let w0 = ${weight(g, 0, k)};
        let w1 = ${weight(g, 1, k)};
        ${text.eachRow(
          (s) => `{
          let h = hidden[${s} * ${stride}u + part * ${partQuads}u + ${k}];
          sum0[${s}] += dot(w0, h);
          sum1[${s}] += dot(w1, h);
        }`,
        )}
      }`,
      )}
      ${PAIR.map(leave).join("\n")}
      ${
        adds
          ? `
      if (!isSpare && gate == 4u && unit == 0u) {
        ${text.eachRow((s) => `outputs[part * ${tileRows}u + ${s}] = sum0[${s}];`)}
      }`
          : ""
      }`,
  );
}

function addLogits({ tileRows, splits }: LstmText): string {
  const parts = Array.from({ length: splits }, (_, p) => `outputs[${p * tileRows}u + thread]`);
  return `
    if (isWriter) {
      if (bin > 0u) { logits[logitAt + bin - 1u] = logit + (bias + ${parts.join(" + ")}); }
      if (bin < size.T) { logit = logits[logitAt + bin]; }
    }`;
}

/** Logits of the bin before, from its h: a row and an output in a thread. */
function addEachLogit({ H, stride, tileRows, threads }: LstmText): string {
  return addOutputs(
    threads,
    tileRows,
    `for (var j = 0u; j < ${H}u; j++) { sum += output[k * ${H}u + j] * hidden[row * ${stride}u + j / 4u][j % 4u]; }`,
  );
}

/** The lines that add the bin before to each output's logits; `products` adds to `sum` for `row` and output `k`. */
export function addOutputs(threads: number, tileRows: number, products: string): string {
  return `
    if (bin > 0u) {
      for (var i = thread; i < ${tileRows}u * size.K; i += ${threads}u) {
        let row = i / size.K;
        let k = i % size.K;
        if (top + row < size.rows) {
          var sum = outputBias[k];
          ${products}
          logits[((size.first + top + row) * size.K + k) * size.T + bin - 1u] += sum;
        }
      }
    }`;
}

/** What tells a kernel from those for other passes. */
export function nameForward(kind: ForwardKind, several: boolean): string {
  return several && kind !== "tape" ? `${kind}, several outputs` : kind;
}

function turnGatesToCells(
  { quads, cells, stride, units, tileRows, splits, eachTask }: LstmText,
  keeps: boolean,
): string {
  // Separate reads of neighbouring units, because separate threads wrote them.
  const partOf = (p: number, number: number) =>
    fourOf((c) => `gates[at + ${p * tileRows * 4 * units + number * units + c}u]`);
  const gate = (number: number) => Array.from({ length: splits }, (_, p) => partOf(p, number)).join(" + ");
  const keep = (m: string) => `
        let kept = (group * size.T + bin) * ${TAPED * cells}u + i;
        tape[kept] = inputGate;
        tape[kept + ${cells}u] = forget;
        tape[kept + ${2 * cells}u] = candidate;
        tape[kept + ${3 * cells}u] = outputGate;
        tape[kept + ${4 * cells}u] = cell[${m}];`;
  return eachTask(
    (m) => `
        let at = i / ${quads}u * ${4 * units}u + i % ${quads}u * 4u;
        let inputGate = sigmoid4(${gate(0)});
        let forget = sigmoid4(${gate(1)});
        let candidate = tanh4(${gate(2)});
        let outputGate = sigmoid4(${gate(3)});
        cell[${m}] = forget * cell[${m}] + inputGate * candidate;
        hidden[i / ${quads}u * ${stride}u + i % ${quads}u] = outputGate * tanh4(cell[${m}]);
        ${keeps ? keep(m) : ""}`,
  );
}
