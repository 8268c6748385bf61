/**
 * The LSTM forward. Each bin has two halves. First a thread multiplies the rows of weights it owns with h_{t−1} of all
 * rows of the tile. Then gates become cells, four units of one row in a thread. The output weights are one more row of
 * weights: what they give in the first half of bin t is the logit of bin t−1, so logits cost no half of their own.
 */
import { type LstmPlan, nameLstm, TAPED } from "./lstm-plan.ts";
import { type LstmText, writeLstm } from "./lstm-text.ts";
import { ACTIVATIONS, fourOf, type KernelSource } from "./wgsl.ts";

/** What a pass is for: it adds to logits, keeps a tape, or both. */
export type ForwardKind = "logits" | "logits and tape" | "tape";

/** `fixed` is W_x·x + b_input + b_recurrent of the rows from `first` on. */
export function forwardKernel(plan: LstmPlan, kind: ForwardKind): KernelSource {
  const text = writeLstm(plan);
  const keeps = kind !== "logits";
  const adds = kind !== "tape";
  return {
    name: `${nameLstm("forward", plan)}, ${kind}`,
    sizes: ["first", "rows", "T", "D"],
    reads: {
      fixed: "f32",
      input: "f32",
      recurrent: "f32",
      ...(adds && { output: "f32", outputBias: "f32" }),
    },
    writes: { ...(adds && { logits: "f32" }), ...(keeps && { tape: "vec4f" }) },
    threads: plan.threads,
    declarations: () => declare(text, adds),
    body: () => `
  let top = group * ${plan.tileRows}u;
  if (top >= size.rows) { return; }
  ${prepare(text, adds)}
  for (var bin = 0u; bin <= size.T; bin++) {
    let time = f32(bin + 1u) / f32(size.T);
    ${multiply(text, adds)}
    if (bin == size.T) { break; }
    workgroupBarrier();
    ${turnGatesToCells(text, keeps)}
    workgroupBarrier();
  }`,
  };
}

function declare({ H, cells, tileRows, units }: LstmText, adds: boolean): string {
  return `
${ACTIVATIONS}
var<workgroup> hidden: array<vec4f, ${cells}>; // [row, quad]
var<workgroup> gates: array<f32, ${tileRows * 4 * units}>; // [row, gate, unit]
fn weightOf(row: u32, unit: u32) -> f32 {
  if (unit >= ${H}u || row > ${4 * H}u) { return 0.0; }
  if (row == ${4 * H}u) { return ${adds ? "output[unit]" : "0.0"}; }
  return recurrent[row * ${H}u + unit];
}
fn weightsOf(row: u32, k: u32) -> vec4f {
  return ${fourOf((c) => `weightOf(row, 4u * k + ${c}u)`)};
}`;
}

/** A thread's weights, and where its sums start for each row: from `fixed`, or from the output bias. */
function prepare(text: LstmText, adds: boolean): string {
  const { H, quads, cells, units, tileRows, threads, owned, tasks, inRegisters } = text;
  const start = (g: string, s: string) => `start[${g} * ${tileRows}u + ${s}]`;
  const fromBias = (g: string) => `if (row == ${4 * H}u) {
      ${text.eachRow((s) => `${start(g, s)} = outputBias[0];`)}
    }`;
  return `
  var timeWeights: array<f32, ${owned}>;
  var start: array<f32, ${owned * tileRows}>;
  ${inRegisters ? `var weights: array<vec4f, ${owned * quads}>;` : ""}
  ${text.eachOwned(
    (g) => `
    let row = thread + ${g} * ${threads}u;
    ${inRegisters ? text.eachQuad((k) => `weights[${g} * ${quads}u + ${k}] = weightsOf(row, ${k});`) : ""}
    if (row < ${4 * H}u) {
      timeWeights[${g}] = input[row * (size.D + 1u) + size.D];
      ${text.eachRow(
        (s) => `if (top + ${s} < size.rows) { ${start(g, s)} = fixed[(top + ${s}) * ${4 * H}u + row]; }`,
      )}
    }
    ${adds ? fromBias(g) : ""}`,
  )}
  for (var i = thread; i < ${cells}u; i += ${threads}u) { hidden[i] = vec4f(0.0); }
  for (var i = thread; i < ${tileRows * 4 * units}u; i += ${threads}u) { gates[i] = 0.0; }
  var cell: array<vec4f, ${tasks}>;
  workgroupBarrier();`;
}

/** Logits are read before the products and written after them, so that nobody waits for them. */
function multiply(text: LstmText, adds: boolean): string {
  const { H, quads, units, tileRows, threads, inRegisters } = text;
  const isOutput = `row == ${4 * H}u && bin > 0u`;
  const logitAt = (s: string) => `logits[(size.first + top + ${s}) * size.T + bin - 1u]`;
  const readLogits = `
      var logit: array<f32, ${tileRows}>;
      if (${isOutput}) {
        ${text.eachRow((s) => `if (top + ${s} < size.rows) { logit[${s}] = ${logitAt(s)}; }`)}
      }`;
  const writeLogits = `
      if (${isOutput}) {
        ${text.eachRow((s) => `if (top + ${s} < size.rows) { ${logitAt(s)} = logit[${s}] + sum[${s}]; }`)}
      }`;
  return text.eachOwned(
    (g) => `
      let row = thread + ${g} * ${threads}u;
      var sum: array<f32, ${tileRows}>;
      ${adds ? readLogits : ""}
      ${text.eachRow((s) => `sum[${s}] = start[${g} * ${tileRows}u + ${s}] + timeWeights[${g}] * time;`)}
      ${text.eachQuad(
        (k) => `{
        let w = ${inRegisters ? `weights[${g} * ${quads}u + ${k}]` : `weightsOf(row, ${k})`};
        ${text.eachRow((s) => `sum[${s}] += dot(w, hidden[${s} * ${quads}u + ${k}]);`)}
      }`,
      )}
      if (row < ${4 * H}u) {
        let to = row / ${H}u * ${units}u + row % ${H}u;
        ${text.eachRow((s) => `gates[${s} * ${4 * units}u + to] = sum[${s}];`)}
      }
      ${adds ? writeLogits : ""}`,
  );
}

function turnGatesToCells({ quads, cells, units, eachTask }: LstmText, keeps: boolean): string {
  // Separate reads of neighbouring units, because separate threads wrote them.
  const gate = (number: number) => fourOf((c) => `gates[at + ${number * units + c}u]`);
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
        hidden[i] = outputGate * tanh4(cell[${m}]);
        ${keeps ? keep(m) : ""}`,
  );
}
