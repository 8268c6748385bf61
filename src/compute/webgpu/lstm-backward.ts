/**
 * The LSTM backward, from the last bin to the first. Each bin has two halves, as forward: first four units of one row
 * in a thread give the gradient of the gates' sums; then a thread owns a gate of a unit, adds to its row of the
 * recurrent weights' gradient, which stays in its registers through all bins, and sends back to h_{t−1} through its
 * column. The next bin's activations are asked for before the second half, which hides the time they take.
 *
 * A tile leaves one line of sums: recurrent weights [4H,H], time weights [4H], output weights [H], output bias; and for
 * each row dFixed [4H], the gradient of W_x·x + b.
 */
import { type LstmPlan, nameLstm, TAPED } from "./lstm-plan.ts";
import { type LstmText, writeLstm } from "./lstm-text.ts";
import { ACTIVATIONS, fourOf, type KernelSource } from "./wgsl.ts";

/** Numbers in a tile's line of sums. */
export function countTileSums(H: number): number {
  return 4 * H * H + 4 * H + H + 1;
}

export function backwardKernel(plan: LstmPlan): KernelSource {
  const text = writeLstm(plan);
  return {
    name: nameLstm("backward", plan),
    sizes: ["first", "rows", "T"],
    reads: { recurrent: "f32", output: "f32", dLogits: "f32", tape: "vec4f" },
    writes: { sums: "f32", dFixed: "f32" },
    threads: plan.threads,
    declarations: () => declare(text),
    body: () => `
  let top = group * ${plan.tileRows}u;
  if (top >= size.rows) { return; }
  ${prepare(text)}
  ${load(text, "(size.T - 1u)")}
  workgroupBarrier();
  for (var left = size.T; left > 0u; left--) {
    let bin = left - 1u;
    let time = f32(left) / f32(size.T);
    ${differentiateCells(text)}
    if (bin > 0u) {
      ${load(text, "(bin - 1u)")}
    }
    workgroupBarrier();
    ${sendBack(text)}
    workgroupBarrier();
  }
  ${leaveSums(text)}`,
  };
}

function declare({ H, cells, tileRows, units }: LstmText): string {
  return `
${ACTIVATIONS}
var<workgroup> dGates: array<vec4f, ${4 * cells}>; // [row, gate, quad]
var<workgroup> sentBack: array<f32, ${tileRows * 4 * units}>; // [row, gate, unit]: to h of the bin before
var<workgroup> before: array<vec4f, ${cells}>; // [row, quad]: h of the bin before
fn outputOf(unit: u32) -> f32 {
  if (unit >= ${H}u) { return 0.0; }
  return output[unit];
}
fn weightOf(gate: u32, unit: u32, other: u32) -> f32 {
  if (other >= ${H}u) { return 0.0; }
  return recurrent[(gate * ${H}u + other) * ${H}u + unit];
}
fn weightsOf(gate: u32, unit: u32, k: u32) -> vec4f {
  return ${fourOf((c) => `weightOf(gate, unit, 4u * k + ${c}u)`)};
}`;
}

/** Quantity 0 to 4 of the tape: i, f, g, o, c. */
function taped({ cells }: LstmText, bin: string, quantity: number): string {
  return `tape[(group * size.T + ${bin}) * ${TAPED * cells}u + ${quantity * cells}u + i]`;
}

/** The gate and unit that a thread owns; threads beyond the last one repeat it and write nothing. */
function ownedRow({ H, threads }: LstmText, g: string): string {
  return `let row = min(thread + ${g} * ${threads}u, ${4 * H - 1}u); let gate = row / ${H}u; let unit = row % ${H}u;`;
}

function prepare(text: LstmText): string {
  const { quads, units, tileRows, threads, owned, tasks, inRegisters } = text;
  const weights = text.eachOwned(
    (g) => `
    ${ownedRow(text, g)}
    ${text.eachQuad((k) => `weights[${g} * ${quads}u + ${k}] = weightsOf(gate, unit, ${k});`)}`,
  );
  const perTask = (names: readonly string[]) =>
    names.map((name) => `var ${name}: array<vec4f, ${tasks}>;`).join(" ");
  return `
  ${inRegisters ? `var weights: array<vec4f, ${owned * quads}>; ${weights}` : ""}
  var dWeights: array<vec4f, ${owned * quads}>;
  var dTime: array<f32, ${owned}>;
  var dStart: array<f32, ${owned * tileRows}>;
  var slope: array<f32, ${tasks}>;
  var dBias: array<f32, ${tasks}>;
  ${perTask(["inputGate", "forget", "candidate", "outputBefore", "cellBefore"])}
  ${perTask(["outputGate", "tanhCell", "dCell", "dOutput", "outputWeights"])}
  for (var i = thread; i < ${tileRows * 4 * units}u; i += ${threads}u) { sentBack[i] = 0.0; }
  ${text.eachTask(
    (m) => `
        outputWeights[${m}] = ${fourOf((c) => `outputOf(i % ${quads}u * 4u + ${c}u)`)};
        outputGate[${m}] = ${taped(text, "size.T - 1u", 3)};
        tanhCell[${m}] = tanh4(${taped(text, "size.T - 1u", 4)});`,
  )}`;
}

/** Of bin `bin` the slopes and i, f, g; of the bin before it o and c, 0 where there is none. */
function load(text: LstmText, bin: string): string {
  return text.eachTask(
    (m) => `
        let n = top + i / ${text.quads}u;
        slope[${m}] = 0.0;
        if (n < size.rows) { slope[${m}] = dLogits[(size.first + n) * size.T + ${bin}]; }
        inputGate[${m}] = ${taped(text, bin, 0)};
        forget[${m}] = ${taped(text, bin, 1)};
        candidate[${m}] = ${taped(text, bin, 2)};
        outputBefore[${m}] = vec4f(0.0);
        cellBefore[${m}] = vec4f(0.0);
        if (${bin} > 0u) {
          outputBefore[${m}] = ${taped(text, `${bin} - 1u`, 3)};
          cellBefore[${m}] = ${taped(text, `${bin} - 1u`, 4)};
        }`,
  );
}

function differentiateCells({ quads, units, eachTask }: LstmText): string {
  const sentBy = (gate: number) => fourOf((c) => `sentBack[at + ${gate * units + c}u]`);
  return eachTask(
    (m) => `
        let at = i / ${quads}u * ${4 * units}u + i % ${quads}u * 4u;
        let dHidden = slope[${m}] * outputWeights[${m}] + ${[0, 1, 2, 3].map(sentBy).join(" + ")};
        dOutput[${m}] += slope[${m}] * outputGate[${m}] * tanhCell[${m}];
        dBias[${m}] += slope[${m}];
        let d = dCell[${m}] + dHidden * outputGate[${m}] * (1.0 - tanhCell[${m}] * tanhCell[${m}]);
        let to = i / ${quads}u * ${4 * quads}u + i % ${quads}u;
        dGates[to] = d * candidate[${m}] * inputGate[${m}] * (1.0 - inputGate[${m}]);
        dGates[to + ${quads}u] = d * cellBefore[${m}] * forget[${m}] * (1.0 - forget[${m}]);
        dGates[to + ${2 * quads}u] = d * inputGate[${m}] * (1.0 - candidate[${m}] * candidate[${m}]);
        dGates[to + ${3 * quads}u] = dHidden * tanhCell[${m}] * outputGate[${m}] * (1.0 - outputGate[${m}]);
        dCell[${m}] = d * forget[${m}];
        outputGate[${m}] = outputBefore[${m}];
        tanhCell[${m}] = tanh4(cellBefore[${m}]);
        before[i] = outputGate[${m}] * tanhCell[${m}];`,
  );
}

function sendBack(text: LstmText): string {
  const { H, quads, units, tileRows, threads, inRegisters } = text;
  const dGatesAt = (s: string) => `${s} * ${4 * quads}u + gate * ${quads}u`;
  return text.eachOwned(
    (g) => `
      ${ownedRow(text, g)}
      var d: array<f32, ${tileRows}>;
      var back: array<f32, ${tileRows}>;
      ${text.eachRow(
        (s) => `
        d[${s}] = dGates[${dGatesAt(s)} + unit / 4u][unit % 4u];
        dStart[${g} * ${tileRows}u + ${s}] += d[${s}];
        dTime[${g}] += d[${s}] * time;
        back[${s}] = 0.0;`,
      )}
      ${text.eachQuad(
        (k) => `{
        let w = ${inRegisters ? `weights[${g} * ${quads}u + ${k}]` : `weightsOf(gate, unit, ${k})`};
        var sum = dWeights[${g} * ${quads}u + ${k}];
        ${text.eachRow(
          (s) => `
          sum += d[${s}] * before[${s} * ${quads}u + ${k}];
          back[${s}] += dot(w, dGates[${dGatesAt(s)} + ${k}]);`,
        )}
        dWeights[${g} * ${quads}u + ${k}] = sum;
      }`,
      )}
      if (thread + ${g} * ${threads}u < ${4 * H}u) {
        ${text.eachRow((s) => `sentBack[${s} * ${4 * units}u + gate * ${units}u + unit] = back[${s}];`)}
      }`,
  );
}

function leaveSums(text: LstmText): string {
  const { H, quads, tileRows, threads } = text;
  const leaveFour = (g: string, k: string) =>
    [0, 1, 2, 3]
      .map((c) => {
        const sum = `dWeights[${g} * ${quads}u + ${k}][${c}]`;
        return `if (4u * ${k} + ${c}u < ${H}u) { sums[line + row * ${H}u + 4u * ${k} + ${c}u] = ${sum}; }`;
      })
      .join("\n");
  const leaveRow = (g: string, s: string) => `
      if (top + ${s} < size.rows) {
        dFixed[(top + ${s}) * ${4 * H}u + row] = dStart[${g} * ${tileRows}u + ${s}];
      }`;
  return `
  let line = group * ${countTileSums(H)}u;
  ${text.eachOwned(
    (g) => `
    let row = thread + ${g} * ${threads}u;
    if (row < ${4 * H}u) {
      ${text.eachQuad((k) => leaveFour(g, k))}
      sums[line + ${4 * H * H}u + row] = dTime[${g}];
      ${text.eachRow((s) => leaveRow(g, s))}
    }`,
  )}
  ${text.eachTask(
    (m) => `
        before[i] = dOutput[${m}];
        if (i % ${quads}u == 0u) { sentBack[i / ${quads}u] = dBias[${m}]; }`,
  )}
  workgroupBarrier();
  for (var unit = thread; unit <= ${H}u; unit += ${threads}u) {
    var sum = 0.0;
    for (var s = 0u; s < ${tileRows}u; s++) {
      if (unit < ${H}u) { sum += before[s * ${quads}u + unit / 4u][unit % 4u]; } else { sum += sentBack[s]; }
    }
    sums[line + ${4 * H * H + 4 * H}u + unit] = sum;
  }`;
}
