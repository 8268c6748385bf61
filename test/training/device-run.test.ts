// A run that stays on the device does what the host's loop does on the reference: the same losses, distances and
// multipliers step by step, the same weights, evaluations and checkpoints.
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import type { Backend } from "../../src/compute/backend.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { present } from "../../src/core/present.ts";
import { createRandom } from "../../src/core/random.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { createNetwork } from "../../src/models/networks/create-network.ts";
import type { SingleNetworkSpec } from "../../src/models/networks/list.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { openWebGpuBackend } from "../../src/node/workers/webgpu-backend.ts";
import { canTrainOnDevice } from "../../src/training/device/can-train.ts";
import { PRESETS, type TrainingOptions } from "../../src/training/options.ts";
import {
  type Checkpoint,
  type EvaluationEvent,
  optimise,
  type StepEvent,
  type TrainingInput,
} from "../../src/training/trainer.ts";
import { place } from "../compute/problems.ts";
import { findDevice } from "../compute/webgpu-device.ts";
import { trainTable } from "../verbs/train-table.ts";

const device = await findDevice();
const opened = "missing" in device ? null : await openWebGpuBackend();
if ("missing" in device) console.log(`runs on a device are skipped: ${device.missing}`);
afterAll(() => opened?.close());

const N = 36;
const D = 3;
const T = 9;

const DRSA: SingleNetworkSpec = { kind: "drsa", D, T, H: 4 };
const ANCHORED: SingleNetworkSpec = {
  kind: "anchored",
  D,
  T,
  H: 4,
  groups: 1,
  baselineHazard: Array.from({ length: T }, (_, t) => 0.06 + 0.01 * t),
};

/** What outcomes have beyond time and event. */
interface Beyond {
  readonly causes?: readonly string[];
  readonly entry?: boolean;
  readonly weights?: boolean;
}

/** A third of the rows come late, a few of them in no bin at all; weights differ five-fold. */
function drawBeyond({ causes, entry, weights }: Beyond, bin: Int32Array, event: Uint8Array) {
  const random = createRandom(8, 1);
  return present({
    cause: causes && event.map((one) => one * (1 + random.integer(causes.length))),
    firstBin:
      entry === true
        ? bin.map((last) => (random.uniform() < 0.35 ? 1 + random.integer(last + 1) : 1))
        : undefined,
    weight: weights === true ? Float64Array.from(bin, () => 0.4 + 1.6 * random.uniform()) : undefined,
  });
}

function openInput(backend: Backend, spec: SingleNetworkSpec, beyond: Beyond = {}): TrainingInput {
  const random = createRandom(7, 1);
  const rowsOf = (count: number) => {
    const x = Float32Array.from({ length: count * D }, (_, k) =>
      k % D === D - 1 ? Number(random.uniform() < 0.4) : random.normal(),
    );
    const bin = Int32Array.from({ length: count }, () => 1 + Math.floor(random.uniform() * T));
    const event = Uint8Array.from({ length: count }, () => Number(random.uniform() < 0.6));
    const all = Int32Array.from({ length: count }, (_, row) => row);
    const groups = [
      { name: "all", rows: all },
      { name: "third column", rows: all.filter((row) => x[row * D + D - 1] === 1) },
      { name: "high", rows: all.filter((row) => x[row * D] > 0.2) },
    ];
    const binned = { T, bin, event, ...drawBeyond(beyond, bin, event) };
    return { x: place(backend, x), binned, groups, ...present({ causes: beyond.causes }) };
  };
  return { backend, network: createNetwork(backend, spec, 3), training: rowsOf(N), validation: rowsOf(20) };
}

async function finish<Result>(run: AsyncGenerator<unknown, Result>): Promise<Result> {
  for (let next = await run.next(); ; next = await run.next()) if (next.done) return next.value;
}

interface Followed {
  readonly steps: readonly StepEvent[];
  readonly evaluations: readonly EvaluationEvent[];
  readonly last: Checkpoint;
}

async function follow(
  backend: Backend,
  spec: SingleNetworkSpec,
  options: TrainingOptions,
  { beyond, resume }: { readonly beyond?: Beyond | undefined; readonly resume?: Checkpoint } = {},
): Promise<Followed> {
  const run = optimise(openInput(backend, spec, beyond), options, resume === undefined ? {} : { resume });
  const steps: StepEvent[] = [];
  const evaluations: EvaluationEvent[] = [];
  for (;;) {
    const { done, value } = await run.next();
    if (done) return { steps, evaluations, last: value };
    if (value.type === "step") steps.push(value);
    if (value.type === "evaluation") evaluations.push(value);
  }
}

const BASE: TrainingOptions = {
  ...PRESETS.paper,
  steps: 10,
  evaluateEvery: 4,
  patience: null,
  average: { decay: 0.9, from: 3 },
};
const paper = (distance: "l2" | "variance" | "atRisk") =>
  ({ distance, variant: "paper", slack: distance === "l2" ? 0.001 : 0.3, strata: 1 }) as const;
const ours = (distance: "l2" | "variance" | "atRisk") =>
  ({ ...paper(distance), variant: "default" }) as const;

const PLAIN: TrainingOptions = { ...BASE, objective: { kind: "likelihood", tail: false } };
const TWO: Beyond = { causes: ["a", "b"] };

const CASES: readonly {
  readonly what: string;
  readonly spec: SingleNetworkSpec;
  readonly options: TrainingOptions;
  readonly beyond?: Beyond;
}[] = [
  { what: "the paper's run", spec: DRSA, options: { ...BASE, constraint: paper("l2") } },
  {
    what: "the largest gap, ten updates a dual step",
    spec: DRSA,
    options: { ...BASE, constraint: paper("variance"), primalSteps: 5 },
  },
  {
    what: "gaps in the curve's own standard errors, clipped AdamW with decay",
    spec: ANCHORED,
    options: {
      ...BASE,
      objective: { kind: "likelihood", tail: false },
      constraint: ours("variance"),
      optimiser: { kind: "adamw", rate: 1e-2, decay: 0.5 },
      clip: 0.05,
      keep: "validation",
    },
  },
  {
    what: "observed against expected events, augmented",
    spec: ANCHORED,
    options: {
      ...BASE,
      objective: { kind: "likelihood", tail: false },
      constraint: ours("atRisk"),
      dual: { form: "augmented", penalty: 0.5, start: 0.1 },
      keep: "average",
    },
  },
  {
    what: "X-Cal",
    spec: DRSA,
    options: { ...BASE, objective: { kind: "xcal", tail: true, lambda: 5, gamma: 100 }, constraint: null },
  },
  {
    what: "ranked probability, plain descent",
    spec: { kind: "mlp", D, T, hidden: [5] } as unknown as SingleNetworkSpec,
    options: {
      ...BASE,
      objective: { kind: "rps" },
      constraint: paper("l2"),
      optimiser: { kind: "sgd", rate: 0.05, momentum: 0.8 },
    },
  },
  {
    what: "late entry and weights",
    spec: { kind: "linear", D, T, groups: 1, baselineHazard: ANCHORED.baselineHazard },
    options: { ...PLAIN, constraint: paper("atRisk") },
    beyond: { entry: true, weights: true },
  },
  {
    what: "weights without a constraint",
    spec: { kind: "linear", D, T },
    options: { ...PLAIN, constraint: null },
    beyond: { weights: true },
  },
  {
    what: "two causes, an LSTM, multipliers by person, clipped AdamW",
    spec: { kind: "drsa", D, T, H: 4, causes: 2 },
    options: {
      ...PLAIN,
      constraint: paper("atRisk"),
      dual: { form: "ascent", rate: 3, start: 20, perRow: true },
      optimiser: { kind: "adamw", rate: 1e-2, decay: 0.5 },
      clip: 0.05,
      keep: "validation",
    },
    beyond: TWO,
  },
  {
    what: "three causes with late entry and weights, augmented",
    spec: { ...ANCHORED, causes: 3, baselineHazard: [0.05, 0.02, 0.08].flatMap((h) => new Array(T).fill(h)) },
    options: {
      ...PLAIN,
      constraint: paper("atRisk"),
      dual: { form: "augmented", penalty: 0.5, start: 0.1 },
      primalSteps: 2,
      keep: "average",
    },
    beyond: { causes: ["a", "b", "c"], entry: true, weights: true },
  },
  {
    what: "two causes without a constraint, a perceptron",
    spec: { kind: "mlp", D, T, hidden: [5], causes: 2 },
    options: { ...PLAIN, constraint: null },
    beyond: TWO,
  },
];

/** Within a share of the largest entry. */
function expectClose(actual: ArrayLike<number>, wanted: ArrayLike<number>, tolerance: number): void {
  expect(actual.length).toBe(wanted.length);
  const largest = Math.max(1e-6, ...Array.from(wanted, Math.abs));
  for (let k = 0; k < wanted.length; k++) {
    expect(Math.abs(actual[k] - wanted[k])).toBeLessThanOrEqual(tolerance * largest);
  }
}

describe.skipIf(opened === null)("ten steps on the device", () => {
  test.each(CASES)("$what", async ({ spec, options, beyond }) => {
    if (opened === null) return;
    expect(canTrainOnDevice(openInput(opened, spec, beyond), options, {})).toBe(true);
    const [own, wanted] = [
      await follow(opened, spec, options, { beyond }),
      await follow(createReferenceBackend(), spec, options, { beyond }),
    ];
    expect(own.steps.map(({ step }) => step)).toEqual(wanted.steps.map(({ step }) => step));
    own.steps.forEach((step, k) => {
      expectClose([step.loss, step.lagrangian], [wanted.steps[k].loss, wanted.steps[k].lagrangian], 1e-4);
      expectClose(step.distances, wanted.steps[k].distances, 1e-4);
      expectClose(step.multipliers, wanted.steps[k].multipliers, 1e-4);
    });
    expect(wanted.last.lagrangian?.multipliers.some((one) => one > 0) ?? true).toBe(true);
    for (const name of Object.keys(wanted.last.parameters)) {
      expectClose(own.last.parameters[name], wanted.last.parameters[name], 1e-4);
      expectClose(own.last.average[name], wanted.last.average[name], 1e-4);
      expectClose(own.last.optimiser.first[name], wanted.last.optimiser.first[name], 1e-3);
    }
    expect(own.evaluations.map(({ step }) => step)).toEqual([4, 8, 10]);
    own.evaluations.forEach(({ evaluation, groupState }, k) => {
      expectClose([evaluation.loss], [wanted.evaluations[k].evaluation.loss], 1e-4);
      expectClose(groupState?.distances ?? [], wanted.evaluations[k].groupState?.distances ?? [], 1e-4);
    });
    expect(own.last.best?.step).toBe(wanted.last.best?.step);
  });

  const [ONE] = CASES;
  const SEVERAL = CASES.find(({ beyond }) => beyond?.causes?.length === 3) ?? ONE;
  test.each([
    ["from wasm to the device", false, ONE],
    ["from the device to wasm", true, ONE],
    ["of three causes from wasm to the device", false, SEVERAL],
    ["of three causes from the device to wasm", true, SEVERAL],
  ])("a run goes on %s", async (_, startsOnDevice, { spec, options, beyond }) => {
    if (opened === null) return;
    const wasm = await openWasmBackend({ threads: 1 });
    const [first, second] = startsOnDevice ? [opened, wasm] : [wasm, opened];
    const { last } = await follow(first, spec, { ...options, steps: 5 }, { beyond });
    const resume = JSON.parse(JSON.stringify(last)) as Checkpoint;
    const resumed = await follow(second, spec, options, { beyond, resume });
    const whole = await follow(createReferenceBackend(), spec, options, { beyond });
    await wasm.close();
    expect(resumed.steps.map(({ step }) => step)).toEqual([6, 7, 8, 9, 10]);
    for (const name of Object.keys(whole.last.parameters)) {
      expectClose(resumed.last.parameters[name], whole.last.parameters[name], 1e-4);
    }
    expectClose(resumed.last.lagrangian?.multipliers ?? [], whole.last.lagrangian?.multipliers ?? [], 1e-4);
  });

  test("a network outlives the run it was trained by, and the run can be ended early", async () => {
    if (opened === null) return;
    const { spec, options } = CASES[0];
    const input = openInput(opened, spec);
    const run = optimise(input, options);
    await run.next();
    await run.return(undefined as never);
    const [{ values }] = input.network.parameters;
    expect((await opened.read(values)).every(Number.isFinite)).toBe(true);
    await input.network.forward(input.training.x, N, opened.allocate(N * T), null);
  });

  test("the paper's recipe runs on the device from a table to a model, and leaves no memory behind", async () => {
    if (opened === null) return;
    let [losses, held] = [0, 0];
    const { training, ...rest } = opened;
    const counting: Backend = {
      ...rest,
      training: training && {
        ...training,
        openLoss(settings) {
          losses++;
          return training.openLoss(settings);
        },
      },
      allocate(length) {
        held++;
        return opened.allocate(length);
      },
      createTape() {
        held++;
        return opened.createTape();
      },
      release(memory) {
        held--;
        opened.release(memory);
      },
    };
    const bytes = readFileSync(new URL("../tables/gbsg.csv", import.meta.url));
    const lines = new TextDecoder().decode(bytes).split("\n").slice(0, 61).join("\n");
    const table = await readTable(tableSourceFromBytes("gbsg.csv", new TextEncoder().encode(lines)));
    const request = {
      time: "rfstime",
      event: "status",
      drop: ["pid"],
      bins: 6,
      hidden: 2,
      preset: "paper",
    } as const;
    const groups = [{ name: "older", expression: "age >= 55" }];
    const options = { steps: 3 };
    const own = await finish(trainTable(table, { ...request, groups, options }, counting));
    const wanted = await finish(trainTable(table, { ...request, groups, options }, createReferenceBackend()));
    expect([losses, held]).toEqual([1, 0]);
    expect(own.training.bestStep).toBe(wanted.training.bestStep);
    own.training.verdict.forEach(({ distance }, g) => {
      expectClose([distance.solve], [wanted.training.verdict[g].distance.solve], 1e-4);
    });
  });

  test("weights that are no longer numbers stop the run, which says at which step", async () => {
    if (opened === null) return;
    const { spec, options } = CASES[0];
    const wild = { ...options, optimiser: { kind: "sgd", rate: 1e38 } as const };
    await expect(follow(opened, spec, wild)).rejects.toThrow(/training stopped at step \d+: the Lagrangian/);
  });
});
