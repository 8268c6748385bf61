// The slow twin of the trainer: ten primal-dual steps of test/oracles/torch/torch_oracle.py in the plainest code, on
// any backend's networks. Loss, distances and their gradients are written here once more, on purpose, beside those of
// src/objectives.
import { readFileSync } from "node:fs";
import type { Backend, DeviceArray } from "../../src/compute/backend.ts";
import { createNetwork } from "../../src/models/networks/create-network.ts";
import { mirrorParameters } from "../../src/models/networks/host-parameters.ts";
import type { Network } from "../../src/models/networks/network.ts";
import { writeParameters, zeroGradients } from "../../src/models/networks/parameters.ts";
import { averageWeights, createOptimiser } from "../../src/training/optimiser.ts";

/** As PyTorch names them: weight_ih_l0, …, fc.bias, baseline, skip. */
type TorchWeights = Readonly<Record<string, readonly number[] | readonly (readonly number[])[]>>;

export interface TorchRun {
  readonly name: string;
  readonly kind: "l2" | "variance";
  readonly c: number;
  readonly eta: number;
  readonly optimiser: "sgd" | "adam" | "adamw";
  readonly lr: number;
  readonly decay: number;
  readonly anchored: boolean;
  readonly tail: boolean;
  readonly hidden: number;
  readonly batches: readonly (readonly number[])[] | null;
  readonly average: number | null;
  readonly x: readonly (readonly number[])[]; // [N,D]
  readonly t: readonly number[]; // [N], 1-based bins
  readonly d: readonly number[]; // [N], 1 = event
  readonly groups: readonly (readonly number[])[];
  readonly initial: TorchWeights;
  readonly first: { readonly logits: readonly (readonly number[])[]; readonly gradients: TorchWeights };
  readonly steps: readonly TwinStep[];
  readonly multipliersAfter: readonly number[];
  readonly final: TorchWeights;
  readonly averaged: TorchWeights | null;
}

/** Before anything moves in that step. */
export interface TwinStep {
  readonly loss: number;
  readonly lagrangian: number;
  readonly distances: readonly number[];
  readonly multipliers: readonly number[];
}

export function loadTorchRuns(): readonly TorchRun[] {
  const url = new URL("../oracles/torch/torch_trajectory.json", import.meta.url);
  return JSON.parse(readFileSync(url, "utf8")).runs;
}

const NAMES: Readonly<Record<string, string>> = {
  weight_ih_l0: "lstm.input",
  weight_hh_l0: "lstm.recurrent",
  bias_ih_l0: "lstm.inputBias",
  bias_hh_l0: "lstm.recurrentBias",
  "fc.weight": "lstm.output",
  "fc.bias": "lstm.outputBias",
  baseline: "baseline",
  skip: "skip",
};

export function fromTorch(weights: TorchWeights): Record<string, number[]> {
  return Object.fromEntries(Object.entries(weights).map(([name, values]) => [NAMES[name], values.flat()]));
}

/** The run's network, at its initial weights. */
export function createTorchNetwork(backend: Backend, run: TorchRun): Network {
  const D = run.x[0].length;
  const T = run.first.logits[0].length;
  const H = run.hidden;
  const baselineHazard = new Array<number>(T).fill(0.5);
  const network = createNetwork(
    backend,
    run.anchored ? { kind: "anchored", D, T, H, baselineHazard } : { kind: "drsa", D, T, H },
    0,
  );
  writeParameters(network, fromTorch(run.initial));
  return network;
}

/** Rows of a matrix as one array of the backend. */
export function packRows(backend: Backend, rows: readonly (readonly number[])[]): DeviceArray {
  const packed = backend.allocate(rows.length * rows[0].length);
  backend.write(packed, rows.flat());
  return packed;
}

const softplus = (z: number) => Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
const sigmoid = (z: number) => 1 / (1 + Math.exp(-z));

export interface Gradient {
  readonly value: number;
  readonly dLogits: number[][]; // [N,T]
}

/** S(1…T) of each row. */
export function survivalOf(logits: number[][]): number[][] {
  return logits.map((row) => {
    let logS = 0;
    return row.map((z) => {
      logS -= softplus(z);
      return Math.exp(logS);
    });
  });
}

/** Mean over rows of −log h_t − Σ_{l<t} log(1−h_l) [− log(1−S(T))] for events, −log S(t) for the censored. */
export function drsaLoss(
  logits: number[][],
  t: readonly number[],
  d: readonly number[],
  tail: boolean,
): Gradient {
  const N = logits.length;
  let value = 0;
  const dLogits = logits.map((row, n) => {
    const isEvent = d[n] === 1;
    const logS = -row.reduce((sum, z) => sum + softplus(z), 0);
    if (isEvent && tail) value -= Math.log(-Math.expm1(logS));
    return row.map((z, l) => {
      const bin = l + 1;
      const h = sigmoid(z);
      let slope = 0;
      if (bin < t[n] || (bin === t[n] && !isEvent)) {
        value += softplus(z);
        slope += h;
      } else if (bin === t[n]) {
        value += softplus(-z);
        slope -= 1 - h;
      }
      if (isEvent && tail) slope += (h * Math.exp(logS)) / Math.expm1(logS);
      return slope / N;
    });
  });
  return { value: value / N, dLogits };
}

export interface GroupTarget {
  readonly rows: readonly number[];
  readonly km: readonly number[]; // [T]
  readonly variance: readonly number[]; // [T], NaN where undefined
}

export function targetOf(
  rows: readonly number[],
  t: readonly number[],
  d: readonly number[],
  T: number,
): GroupTarget {
  const km: number[] = [];
  const variance: number[] = [];
  let S = 1;
  let greenwood = 0;
  for (let bin = 1; bin <= T; bin++) {
    const k = rows.filter((n) => t[n] >= bin).length;
    const e = rows.filter((n) => t[n] === bin && d[n] === 1).length;
    if (e > 0) {
      S *= 1 - e / k;
      greenwood = k > e ? greenwood + e / (k * (k - e)) : Number.NaN;
    }
    km.push(S);
    variance.push(S * S * greenwood);
  }
  return { rows, km, variance };
}

interface Distance {
  readonly value: number;
  /** ∂distance/∂mean_g(t). */
  readonly slope: number[]; // [T]
}

export function distanceOf(S: number[][], target: GroupTarget, kind: "l2" | "variance"): Distance {
  const T = target.km.length;
  const gap = target.km.map(
    (km, t) => target.rows.reduce((sum, n) => sum + S[n][t], 0) / target.rows.length - km,
  );
  if (kind === "l2") {
    return { value: gap.reduce((sum, g) => sum + g * g, 0) / T, slope: gap.map((g) => (2 * g) / T) };
  }
  const z = gap.map((g, t) => (target.variance[t] > 0 ? Math.abs(g) / Math.sqrt(target.variance[t]) : -1));
  const worst = z.indexOf(Math.max(...z));
  const slope = gap.map((g, t) => (t === worst ? Math.sign(g) / Math.sqrt(target.variance[t]) : 0));
  return { value: z[worst], slope };
}

/** Adds Σ_t dS[n][t] · ∂S(t)/∂z_l = −h_l Σ_{t≥l} dS[n][t]·S(t). */
function addThroughCurves(dLogits: number[][], logits: number[][], S: number[][], dS: number[][]): void {
  logits.forEach((row, n) => {
    let later = 0;
    for (let l = row.length - 1; l >= 0; l--) {
      later += dS[n][l] * S[n][l];
      dLogits[n][l] -= sigmoid(row[l]) * later;
    }
  });
}

export interface Trajectory {
  readonly firstLogits: number[][];
  readonly firstGradients: Readonly<Record<string, number[]>>;
  readonly steps: readonly TwinStep[];
  readonly multipliersAfter: readonly number[];
  readonly final: Readonly<Record<string, number[]>>;
  readonly averaged: Readonly<Record<string, number[]>>;
}

/** The run's own number of steps, or fewer. */
export async function followRun(
  backend: Backend,
  run: TorchRun,
  count = run.steps.length,
): Promise<Trajectory> {
  const network = createTorchNetwork(backend, run);
  const { T } = network;
  const parameters = await mirrorParameters(network);
  const activations = network.createActivations();
  const N = run.x.length;
  const optimiser = createOptimiser(
    parameters.list,
    run.optimiser === "sgd"
      ? { kind: "sgd", rate: run.lr }
      : { kind: run.optimiser, rate: run.lr, decay: run.decay, decayAll: true },
  );
  const targets = run.groups.map((rows) => targetOf(rows, run.t, run.d, T));
  const everyone = run.x.map((_, n) => n);
  const predict = async (rows: readonly number[]) => {
    const logits = backend.allocate(rows.length * T);
    await network.forward(
      packRows(
        backend,
        rows.map((n) => run.x[n]),
      ),
      rows.length,
      logits,
      activations,
    );
    const numbers = await backend.read(logits);
    return rows.map((_, i) => Array.from(numbers.subarray(i * T, (i + 1) * T)));
  };
  const allDistances = (S: number[][]) => targets.map((target) => distanceOf(S, target, run.kind));

  let multipliers = [0.3, 0.7, 0.1];
  const cache = survivalOf(await predict(everyone));
  const averaged = parameters.read();
  const steps: TwinStep[] = [];
  let firstLogits: number[][] = [];
  let firstGradients: Record<string, number[]> = {};
  for (let s = 0; s < count; s++) {
    const rows = run.batches === null ? everyone : run.batches[s % run.batches.length];
    const logits = await predict(rows);
    const S = survivalOf(logits);
    rows.forEach((n, i) => {
      cache[n] = S[i];
    });
    const { value: loss, dLogits } = drsaLoss(
      logits,
      rows.map((n) => run.t[n]),
      rows.map((n) => run.d[n]),
      run.tail,
    );
    const distances = allDistances(cache);
    // Row n moves the mean of its group by 1/N_g; a batch stands for all rows, so N/B times.
    const dS = rows.map((n) =>
      targets[0].km.map((_, t) =>
        distances.reduce((sum, { slope }, g) => {
          if (!targets[g].rows.includes(n)) return sum;
          return sum + (multipliers[g] * slope[t] * N) / (targets[g].rows.length * rows.length);
        }, 0),
      ),
    );
    addThroughCurves(dLogits, logits, S, dS);

    zeroGradients(network);
    await network.backward(activations, packRows(backend, dLogits));
    await parameters.pullGradients();
    if (s === 0) {
      firstLogits = logits;
      firstGradients = Object.fromEntries(parameters.list.map((p) => [p.name, Array.from(p.gradient)]));
    }
    const values = distances.map(({ value }) => value);
    const penalty = values.reduce((sum, value, g) => sum + multipliers[g] * (value - run.c), 0);
    steps.push({ loss, lagrangian: loss + penalty, distances: values, multipliers });
    optimiser.step();
    parameters.pushValues();
    if (run.average !== null) averageWeights(averaged, parameters.list, run.average);
    const after =
      run.batches === null
        ? allDistances(survivalOf(await predict(everyone))).map(({ value }) => value)
        : values;
    multipliers = multipliers.map((mu, g) => Math.max(0, mu + run.eta * (after[g] - run.c)));
  }
  return {
    firstLogits,
    firstGradients,
    steps,
    multipliersAfter: multipliers,
    final: parameters.read(),
    averaged,
  };
}
