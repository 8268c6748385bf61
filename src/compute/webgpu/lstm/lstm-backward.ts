/**
 * The LSTM backward, from the last bin to the first. Each bin has two halves, as forward: first four units of one row
 * in a thread give the gradient of the gates' sums; then a thread owns a gate of two units and a part of the others,
 * adds to their rows of the recurrent weights' gradient, which stays in its registers through all bins, and sends back
 * to h_{t−1} through their columns. The next bin's activations are asked for before the second half, which hides the
 * time they take.
 *
 * A tile leaves one line of sums: recurrent weights [4H,H], time weights [4H], output weights [H], output bias; and for
 * each row dFixed [4H], the gradient of W_x·x + b. With several outputs it leaves out the last two, which
 * output-products.ts sums.
 */
import { type LstmPlan, nameLstm, TAPED } from "./lstm-plan.ts";
import { type LstmText, placePair, placeThread, writeLstm } from "./lstm-text.ts";
import { ACTIVATIONS, fourOf, type KernelSource } from "../wgsl.ts";

/** Numbers in a tile's line of sums. */
export function countTileSums(H: number, several: boolean): number {
  return 4 * H * H + 4 * H + (several ? 0 : H + 1);
}

export function backwardKernel(plan: LstmPlan, several: boolean): KernelSource {
  const text = writeLstm(plan);
  return {
    name: nameLstm(several ? "backward, several outputs" : "backward", plan),
    sizes: ["first", "rows", "T", "K"],
    reads: { recurrent: "f32", output: "f32", dLogits: "f32", tape: "vec4f" },
    writes: { sums: "f32", dFixed: "f32" },
    threads: plan.threads,
    declarations: () => declare(text),
    body: () => `
  let top = group * ${plan.tileRows}u;
  if (top >= size.rows) { return; }
  ${placeThread(plan)}
  ${prepare(text, several)}
  ${load(text, "(size.T - 1u)", several)}
  workgroupBarrier();
  for (var left = size.T; left > 0u; left--) {
    let bin = left - 1u;
    let time = f32(left) / f32(size.T);
    ${differentiateCells(text, several)}
    if (bin > 0u) {
      ${load(text, "(bin - 1u)", several)}
    }
    workgroupBarrier();
    ${sendBack(text)}
    workgroupBarrier();
  }
  ${leaveSums(text, several)}
  ${several ? "" : leaveOutputSums(text)}`,
  };
}

const PAIR = [0, 1] as const;

function declare({ H, stride, tileRows, units, splits }: LstmText): string {
  return `
${ACTIVATIONS}
var<workgroup> dGates: array<vec4f, ${tileRows * 4 * stride}>; // [row, gate, quad]
var<workgroup> sentBack: array<f32, ${splits * tileRows * 4 * units}>; // [part, row, gate, unit]: to h before
var<workgroup> before: array<vec4f, ${tileRows * stride}>; // [row, quad]: h of the bin before
fn outputOf(k: u32, unit: u32) -> f32 {
  if (unit >= ${H}u) { return 0.0; }
  return output[k * ${H}u + unit];
}
fn weightOf(gate: u32, unit: u32, other: u32) -> f32 {
  if (other >= ${H}u || unit >= ${H}u || gate > 3u) { return 0.0; }
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

/** Slots beyond the gates repeat the last pair and write nothing. */
function placeGate(text: LstmText, g: string): string {
  return `
    ${placePair(text, g)}
    let isOwn = !isSpare && gate < 4u;
    let ownGate = min(gate, 3u);`;
}

function prepare(text: LstmText, several: boolean): string {
  const { quads, stride, units, tileRows, threads, owned, tasks, inRegisters, splits, partQuads } = text;
  const weights = text.eachOwned(
    (g) => `
    ${placeGate(text, g)}
    ${text.eachQuad((k) =>
      PAIR.map(
        (e) =>
          `weights[(${g} * 2u + ${e}u) * ${partQuads}u + ${k}] =
          weightsOf(ownGate, unit + ${e}u, part * ${partQuads}u + ${k});`,
      ).join("\n"),
    )}`,
  );
  const perTask = (names: readonly string[]) =>
    names.map((name) => `var ${name}: array<vec4f, ${tasks}>;`).join(" ");
  return `
  ${inRegisters ? `var weights: array<vec4f, ${2 * owned * partQuads}>; ${weights}` : ""}
  var dWeights: array<vec4f, ${2 * owned * partQuads}>;
  var dTime: array<f32, ${2 * owned}>;
  var dStart: array<f32, ${2 * owned * tileRows}>;
  ${several ? perTask(["fromOutputs"]) : `var slope: array<f32, ${tasks}>; var dBias: array<f32, ${tasks}>;`}
  ${perTask(["inputGate", "forget", "candidate", "outputBefore", "cellBefore"])}
  ${perTask(["outputGate", "tanhCell", "dCell", ...(several ? [] : ["dOutput", "outputWeights"])])}
  for (var i = thread; i < ${splits * tileRows * 4 * units}u; i += ${threads}u) { sentBack[i] = 0.0; }
  for (var i = thread; i < ${tileRows * 4 * stride}u; i += ${threads}u) { dGates[i] = vec4f(0.0); }
  for (var i = thread; i < ${tileRows * stride}u; i += ${threads}u) { before[i] = vec4f(0.0); }
  ${text.eachTask(
    (m) => `
        ${several ? "" : `outputWeights[${m}] = ${fourOf((c) => `outputOf(0u, i % ${quads}u * 4u + ${c}u)`)};`}
        outputGate[${m}] = ${taped(text, "size.T - 1u", 3)};
        tanhCell[${m}] = tanh4(${taped(text, "size.T - 1u", 4)});`,
  )}`;
}

/** Of a row's bin `bin`: its slope, or of several outputs the slopes times their weights. */
function loadSlopes(quads: number, bin: string, m: string, several: boolean): string {
  if (!several)
    return `
        slope[${m}] = 0.0;
        if (n < size.rows) { slope[${m}] = dLogits[(size.first + n) * size.T + ${bin}]; }`;
  return `
        fromOutputs[${m}] = vec4f(0.0);
        if (n < size.rows) {
          for (var k = 0u; k < size.K; k++) {
            let weights = ${fourOf((c) => `outputOf(k, i % ${quads}u * 4u + ${c}u)`)};
            fromOutputs[${m}] += dLogits[((size.first + n) * size.K + k) * size.T + ${bin}] * weights;
          }
        }`;
}

/** Of bin `bin` the slopes and i, f, g; of the bin before it o and c, 0 where there is none. */
function load(text: LstmText, bin: string, several: boolean): string {
  return text.eachTask(
    (m) => `
        let n = top + i / ${text.quads}u;
        ${loadSlopes(text.quads, bin, m, several)}
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

function differentiateCells(text: LstmText, several: boolean): string {
  const { quads, stride, units, tileRows, splits, eachTask } = text;
  const sentBy = (place: number) => fourOf((c) => `sentBack[at + ${place + c}u]`);
  const places = Array.from({ length: splits }, (_, p) =>
    [0, 1, 2, 3].map((gate) => p * tileRows * 4 * units + gate * units),
  ).flat();
  return eachTask(
    (m) => `
        let at = i / ${quads}u * ${4 * units}u + i % ${quads}u * 4u;
        let dHidden = ${several ? `fromOutputs[${m}]` : `slope[${m}] * outputWeights[${m}]`} +
          ${places.map(sentBy).join(" + ")};
        ${
          several
            ? ""
            : `dOutput[${m}] += slope[${m}] * outputGate[${m}] * tanhCell[${m}];
        dBias[${m}] += slope[${m}];`
        }
        let d = dCell[${m}] + dHidden * outputGate[${m}] * (1.0 - tanhCell[${m}] * tanhCell[${m}]);
        let to = i / ${quads}u * ${4 * stride}u + i % ${quads}u;
        dGates[to] = d * candidate[${m}] * inputGate[${m}] * (1.0 - inputGate[${m}]);
        dGates[to + ${stride}u] = d * cellBefore[${m}] * forget[${m}] * (1.0 - forget[${m}]);
        dGates[to + ${2 * stride}u] = d * inputGate[${m}] * (1.0 - candidate[${m}] * candidate[${m}]);
        dGates[to + ${3 * stride}u] = dHidden * tanhCell[${m}] * outputGate[${m}] * (1.0 - outputGate[${m}]);
        dCell[${m}] = d * forget[${m}];
        outputGate[${m}] = outputBefore[${m}];
        tanhCell[${m}] = tanh4(cellBefore[${m}]);
        before[i / ${quads}u * ${stride}u + i % ${quads}u] = outputGate[${m}] * tanhCell[${m}];`,
  );
}

/** Of the parts the first one alone keeps what belongs to a unit and not to its weights. */
function sendBack(text: LstmText): string {
  const { H, partQuads, stride, units, tileRows, inRegisters } = text;
  const dGatesAt = (s: string) => `${s} * ${4 * stride}u + ownGate * ${stride}u`;
  const at = (g: string, e: number, k: string) => `(${g} * 2u + ${e}u) * ${partQuads}u + ${k}`;
  const weight = (g: string, e: number, k: string) =>
    inRegisters ? `weights[${at(g, e, k)}]` : `weightsOf(ownGate, unit + ${e}u, part * ${partQuads}u + ${k})`;
  return text.eachOwned(
    (g) => `
      ${placeGate(text, g)}
      ${PAIR.map(
        (e) => `
      var d${e}: array<f32, ${tileRows}>;
      var back${e}: array<f32, ${tileRows}>;`,
      ).join("\n")}
      ${text.eachRow(
        (s) => `{
        // Both units are in the same four.
        let four = dGates[${dGatesAt(s)} + unit / 4u];
        d0[${s}] = select(four.x, four.z, unit % 4u == 2u);
        d1[${s}] = select(four.y, four.w, unit % 4u == 2u);
        ${PAIR.map(
          (e) => `
        dStart[(${g} * 2u + ${e}u) * ${tileRows}u + ${s}] += d${e}[${s}];
        dTime[${g} * 2u + ${e}u] += d${e}[${s}] * time;
        back${e}[${s}] = 0.0;`,
        ).join("\n")}
      }`,
      )}
      ${text.eachQuad(
        (k) => `{
        let w0 = ${weight(g, 0, k)};
        let w1 = ${weight(g, 1, k)};
        var sum0 = dWeights[${at(g, 0, k)}];
        var sum1 = dWeights[${at(g, 1, k)}];
        ${text.eachRow(
          (s) => `{
          let h = before[${s} * ${stride}u + part * ${partQuads}u + ${k}];
          sum0 += d0[${s}] * h;
          sum1 += d1[${s}] * h;
          let dGate = dGates[${dGatesAt(s)} + part * ${partQuads}u + ${k}];
          back0[${s}] += dot(w0, dGate);
          back1[${s}] += dot(w1, dGate);
        }`,
        )}
        dWeights[${at(g, 0, k)}] = sum0;
        dWeights[${at(g, 1, k)}] = sum1;
      }`,
      )}
      ${PAIR.map(
        (e) => `
      if (isOwn && unit + ${e}u < ${H}u) {
        let to = part * ${tileRows * 4 * units}u + gate * ${units}u + unit + ${e}u;
        ${text.eachRow((s) => `sentBack[to + ${s} * ${4 * units}u] = back${e}[${s}];`)}
      }`,
      ).join("\n")}`,
  );
}

function leaveSums(text: LstmText, several: boolean): string {
  const { H, tileRows, partQuads } = text;
  const leaveFour = (g: string, e: number, k: string) =>
    [0, 1, 2, 3]
      .map((c) => {
        const sum = `dWeights[(${g} * 2u + ${e}u) * ${partQuads}u + ${k}][${c}]`;
        return `{
          let other = 4u * (part * ${partQuads}u + ${k}) + ${c}u;
          if (other < ${H}u) { sums[line + row * ${H}u + other] = ${sum}; }
        }`;
      })
      .join("\n");
  const leaveRow = (g: string, e: number, s: string) => `
        if (top + ${s} < size.rows) {
          dFixed[(top + ${s}) * ${4 * H}u + row] = dStart[(${g} * 2u + ${e}u) * ${tileRows}u + ${s}];
        }`;
  return `
  let line = group * ${countTileSums(H, several)}u;
  ${text.eachOwned(
    (g) => `
    ${placeGate(text, g)}
    ${PAIR.map(
      (e) => `
    if (isOwn && unit + ${e}u < ${H}u) {
      let row = gate * ${H}u + unit + ${e}u;
      ${text.eachQuad((k) => leaveFour(g, e, k))}
      if (part == 0u) {
        sums[line + ${4 * H * H}u + row] = dTime[${g} * 2u + ${e}u];
        ${text.eachRow((s) => leaveRow(g, e, s))}
      }
    }`,
    ).join("\n")}`,
  )}`;
}

function leaveOutputSums({ H, quads, stride, tileRows, threads, eachTask }: LstmText): string {
  return `
  ${eachTask(
    (m) => `
        before[i / ${quads}u * ${stride}u + i % ${quads}u] = dOutput[${m}];
        if (i % ${quads}u == 0u) { sentBack[i / ${quads}u] = dBias[${m}]; }`,
  )}
  workgroupBarrier();
  for (var unit = thread; unit <= ${H}u; unit += ${threads}u) {
    var sum = 0.0;
    for (var s = 0u; s < ${tileRows}u; s++) {
      if (unit < ${H}u) { sum += before[s * ${stride}u + unit / 4u][unit % 4u]; } else { sum += sentBack[s]; }
    }
    sums[line + ${4 * H * H + 4 * H}u + unit] = sum;
  }`;
}
