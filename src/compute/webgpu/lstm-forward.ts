/**
 * The LSTM forward. Each bin has two halves. First a thread multiplies the rows of weights it owns with h_{t−1} of all
 * rows of the tile. Then gates become cells, four units of one row in a thread. The output weights are one more row of
 * weights: what they give in the first half of bin t is the logit of bin t−1, so logits cost no half of their own.
 */
import { type LstmPlan, nameLstm, TAPED } from "./lstm-plan.ts";
import { ACTIVATIONS, fourOf, type KernelSource, repeat } from "./wgsl.ts";

export type ForwardKind = "logits" | "logits and tape" | "tape";

/** `fixed` is W_x·x + b_input + b_recurrent of the rows from `first` on. */
export function forwardKernel(plan: LstmPlan, kind: ForwardKind): KernelSource {
  const { H, quads, tileRows, threads, owned, tasks, inRegisters } = plan;
  const keeps = kind !== "logits";
  const adds = kind !== "tape";
  const cells = tileRows * quads;
  const units = 4 * quads;
  const eachOwned = (lines: (g: string) => string) => repeat("g", owned, inRegisters, lines);
  const eachQuad = (lines: (k: string) => string) => repeat("k", quads, inRegisters, lines);
  const eachRow = (lines: (s: string) => string) => repeat("s", tileRows, inRegisters, lines);
  const weight = (g: string, k: string) =>
    inRegisters ? `weights[${g} * ${quads}u + ${k}]` : `weightsOf(row, ${k})`;
  const logitAt = (s: string) => `logits[(size.first + top + ${s}) * size.T + bin - 1u]`;

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
    threads,
    declarations: `
${ACTIVATIONS}
var<workgroup> hidden: array<vec4f, ${cells}>; // [row, quad]
var<workgroup> gates: array<f32, ${tileRows * 4 * units}>; // [row, gate, unit]
fn weightOf(row: u32, unit: u32) -> f32 {
  if (unit >= ${H}u || row > ${4 * H}u) { return 0.0; }
  ${adds ? `if (row == ${4 * H}u) { return output[unit]; }` : `if (row == ${4 * H}u) { return 0.0; }`}
  return recurrent[row * ${H}u + unit];
}
fn weightsOf(row: u32, k: u32) -> vec4f {
  return ${fourOf((c) => `weightOf(row, 4u * k + ${c}u)`)};
}`,
    body: `
  let top = group * ${tileRows}u;
  if (top >= size.rows) { return; }
  var timeWeights: array<f32, ${owned}>;
  var start: array<f32, ${owned * tileRows}>;
  ${inRegisters ? `var weights: array<vec4f, ${owned * quads}>;` : ""}
  ${eachOwned(
    (g) => `{
    let row = thread + ${g} * ${threads}u;
    ${inRegisters ? eachQuad((k) => `${weight(g, k)} = weightsOf(row, ${k});`) : ""}
    if (row < ${4 * H}u) {
      timeWeights[${g}] = input[row * (size.D + 1u) + size.D];
      ${eachRow(
        (s) =>
          `if (top + ${s} < size.rows) { start[${g} * ${tileRows}u + ${s}] = fixed[(top + ${s}) * ${4 * H}u + row]; }`,
      )}
    }
    ${
      adds
        ? `if (row == ${4 * H}u) {
      ${eachRow((s) => `start[${g} * ${tileRows}u + ${s}] = outputBias[0];`)}
    }`
        : ""
    }
  }`,
  )}
  for (var i = thread; i < ${cells}u; i += ${threads}u) { hidden[i] = vec4f(0.0); }
  for (var i = thread; i < ${tileRows * 4 * units}u; i += ${threads}u) { gates[i] = 0.0; }
  var cell: array<vec4f, ${tasks}>;
  workgroupBarrier();

  for (var bin = 0u; bin <= size.T; bin++) {
    let time = f32(bin + 1u) / f32(size.T);
    ${eachOwned(
      (g) => `{
      let row = thread + ${g} * ${threads}u;
      var sum: array<f32, ${tileRows}>;
      ${
        adds
          ? `var logit: array<f32, ${tileRows}>;
      if (row == ${4 * H}u && bin > 0u) {
        ${eachRow((s) => `if (top + ${s} < size.rows) { logit[${s}] = ${logitAt(s)}; }`)}
      }`
          : ""
      }
      ${eachRow((s) => `sum[${s}] = start[${g} * ${tileRows}u + ${s}] + timeWeights[${g}] * time;`)}
      ${eachQuad(
        (k) => `{
        let w = ${weight(g, k)};
        ${eachRow((s) => `sum[${s}] += dot(w, hidden[${s} * ${quads}u + ${k}]);`)}
      }`,
      )}
      if (row < ${4 * H}u) {
        let to = row / ${H}u * ${units}u + row % ${H}u;
        ${eachRow((s) => `gates[${s} * ${4 * units}u + to] = sum[${s}];`)}
      }
      ${
        adds
          ? `if (row == ${4 * H}u && bin > 0u) {
        ${eachRow((s) => `if (top + ${s} < size.rows) { ${logitAt(s)} = logit[${s}] + sum[${s}]; }`)}
      }`
          : ""
      }
    }`,
    )}
    if (bin == size.T) { break; }
    workgroupBarrier();
    ${repeat(
      "m",
      tasks,
      inRegisters,
      (m) => `{
      let i = thread + ${m} * ${threads}u;
      if (i < ${cells}u) {
        let at = i / ${quads}u * ${4 * units}u + i % ${quads}u * 4u;
        let inputGate = sigmoid4(${fourGates("at", 0, units)});
        let forget = sigmoid4(${fourGates("at", 1, units)});
        let candidate = tanh4(${fourGates("at", 2, units)});
        let outputGate = sigmoid4(${fourGates("at", 3, units)});
        cell[${m}] = forget * cell[${m}] + inputGate * candidate;
        hidden[i] = outputGate * tanh4(cell[${m}]);
        ${
          keeps
            ? `let kept = (group * size.T + bin) * ${TAPED * cells}u + i;
        tape[kept] = inputGate;
        tape[kept + ${cells}u] = forget;
        tape[kept + ${2 * cells}u] = candidate;
        tape[kept + ${3 * cells}u] = outputGate;
        tape[kept + ${4 * cells}u] = cell[${m}];`
            : ""
        }
      }
    }`,
    )}
    workgroupBarrier();
  }`,
  };
}

/** Four neighbouring units of a gate: separate reads, because single units are written by separate threads. */
function fourGates(at: string, gate: number, units: number): string {
  return fourOf((c) => `gates[${at} + ${gate * units + c}u]`);
}
