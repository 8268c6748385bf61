// Small models with every kind of field in them, odd texts and odd numbers included. tiny.model of test/oracles is
// `smallNetwork` as bytes.
import { among, count, named, percent, personal, share, verb, whole } from "../../src/core/sentence.ts";
import { nameSplines } from "../../src/data/encode/spline.ts";
import type { Model } from "../../src/training/model.ts";
import { PRESETS } from "../../src/training/options.ts";
import type { Checkpoint, TrainedMember } from "../../src/training/trainer.ts";

const base = {
  columns: { time: "months", event: "status", eventIs: "dead" },
  encoder: {
    columns: [
      { column: "age", type: "number", median: -0, mean: 60.25, sd: 0.1, missingIndicator: false },
      {
        column: "sex, “quoted”",
        type: "category",
        levels: ["NaN", "-0"],
        dropFirst: false,
        missingLevel: false,
      },
    ],
    names: ["age", "sexNaN", "sex-0"],
    unknownLevels: "error",
  },
  inputGroups: [{ name: "<b>é 𝒮</b>", expression: "age >= 60" }],
  grid: { kind: "equal", T: 4, edges: [0, 2.5, 5, 7.5, 10] },
  groups: [
    { name: "all", expression: "all" },
    { name: "<b>é 𝒮</b>", expression: "age >= 60" },
  ],
} as const;

const verdict = {
  told: true,
  n: 20,
  events: 4,
  slack: Number.POSITIVE_INFINITY,
  distance: { solve: -0, fresh: null },
  fresh: null,
  reachable: null,
  price: null,
} as const;

/** Every weight is a float32. */
export const smallNetwork: Model = {
  ...base,
  method: "graduate",
  predictor: {
    kind: "network",
    network: { kind: "linear", D: 3, T: 4, baselineHazard: [0.1, 0.2, 1e-7, 0.05] },
    parameters: { baseline: [-2.25, Math.fround(0.1), -0, 1e-45].map(Math.fround), skip: [0.5, -0.25, 3] },
  },
  options: {
    objective: { kind: "likelihood", tail: false },
    constraint: {
      distance: "l2",
      variant: "default",
      slack: { all: 0.01, "7": 1e-300 },
      strata: 2,
      kappa: 0.25,
    },
    dual: { form: "augmented", penalty: 0.01, start: 0 },
    optimiser: { kind: "adamw", rate: 3e-3, decay: 0.05 },
    clip: 5,
    steps: 1000,
    batch: 256,
    refresh: true,
    keep: "average",
    average: { decay: 0.995, from: 200 },
    evaluateEvery: 50,
    patience: 500,
    seed: 1,
  },
  training: {
    seed: 1,
    backend: "wasm",
    rows: { train: 60, validation: 20, test: 20 },
    parameters: 7,
    steps: 100,
    bestStep: 90,
    history: [
      { step: 50, loss: 0.1 + 0.2, concordance: null },
      { step: 100, loss: Number.NaN, concordance: 0.71, distances: [0.01, -0], multipliers: [0, 2.5] },
    ],
    verdict: [
      { ...verdict, group: "all", status: "met", reason: null },
      { ...verdict, group: "<b>é 𝒮</b>", status: "unsupported", reason: "fewer than 10 events" },
    ],
    multipliers: { start: [0, 0], end: [1 / 3, Number.NEGATIVE_INFINITY], fixedPenalty: false },
    warnings: ["line\nbreak", "\u2028"],
  },
  provenance: {
    version: "0.1.0",
    backend: { name: "wasm", simd: "plain", threads: 2 },
    table: { name: "patients.csv", rows: 100, sha256: "0123456789abcdef".repeat(4) },
  },
  metrics: { overall: { n: 20, concordance: 0.71, ece: null }, groups: [{ name: "NaN" }] },
};

/** Weights that are no float32. */
export const smallMlp: Model = {
  ...smallNetwork,
  method: "nll",
  predictor: {
    kind: "network",
    network: { kind: "mlp", D: 3, T: 4, hidden: [2] },
    parameters: {
      "dense0.weight": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
      "dense0.bias": [0, 1],
      "dense1.weight": [1, 2, 3, 4, 5, 6, 7, 8],
      "dense1.bias": [1e300, 5e-324, -0, 4],
    },
  },
  options: {
    ...PRESETS.paper,
    objective: { kind: "rps", ranking: { lambda: 0.5, sigma: 0.1 } },
    constraint: null,
    dual: { form: "ascent", rate: 0.01, start: [0, 1] },
    optimiser: { kind: "sgd", rate: 0.1, momentum: 0.9 },
  },
};

/** The mean of two networks of different kinds. */
export const smallMean: Model = {
  ...smallNetwork,
  predictor: {
    kind: "network",
    network: {
      kind: "mean",
      D: 3,
      T: 4,
      members: [
        { kind: "linear", D: 3, T: 4 },
        { kind: "mlp", D: 3, T: 4, hidden: [] },
      ],
    },
    parameters: {
      "1.baseline": [-2.25, 0.5, -0, 4],
      "1.skip": [0.5, -0.25, 3],
      "2.dense0.weight": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
      "2.dense0.bias": [0, 1, 2, 3],
    },
  },
  training: {
    ...smallNetwork.training,
    rows: { train: 80, validation: 0, test: 20 },
    history: [],
    multipliers: null,
  },
};

/** Held to its groups, one of which it may not see: a solved layer over one network, in numbers of odd sizes. */
export const smallHeld: Model = {
  ...smallNetwork,
  predictor: {
    kind: "network",
    network: {
      kind: "held",
      D: 3,
      T: 4,
      base: { kind: "linear", D: 3, T: 4, baselineHazard: [0.1, 0.2, 1e-7, 0.05] },
      blocks: [1, 4],
      chances: 1,
    },
    parameters: {
      "base.baseline": [-2.25, 0.5, -0, 4],
      "base.skip": [0.5, -0.25, 3],
      "held.baseline": [0.1, -0, 5e-324, 1e300],
      "held.coefficients": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, -0.8],
      "held.membership": [1 / 3, -0, 2, -1.5],
    },
  },
  options: { ...PRESETS.default, solve: "held", hold: "strict" },
  training: {
    ...smallNetwork.training,
    verdict: [
      {
        ...verdict,
        group: "all",
        slack: 1,
        distance: { solve: 0.1 + 0.2, fresh: 1.5 },
        fresh: { p: 0.01, adjusted: 0.02 },
        status: "met",
        price: 0,
        reason: null,
      },
      {
        ...verdict,
        group: "<b>é 𝒮</b>",
        told: false,
        slack: 1,
        distance: { solve: 3.25, fresh: null },
        status: "infeasible",
        reachable: 3.25,
        price: 1 / 3,
        reason: "the model may not see who is in it",
      },
    ],
    solve: {
      solvedOn: "training and validation rows",
      iterations: 12,
      residuals: { stationarity: 1e-9, violation: 0, complementarity: 5e-324 },
      mixture: { share: 0.25, losses: [{ share: 0, loss: 0.3 }], gain: -0, standardError: 1e-3 },
      hold: "strict",
      blind: [
        {
          group: "<b>é 𝒮</b>",
          auc: 0.71,
          explained: 0,
          features: [{ name: "<i>", slope: -1.5 }],
          frontier: [{ share: 1, distance: 9, others: 1, lost: -0.5, concordance: 0.7, ibs: null }],
          budget: null,
        },
      ],
      targets: [
        {
          group: "all",
          time: [1, 2.5],
          target: [0.9, 0.8],
          standardError: [0.01, 0.02],
          local: [0.91, null],
          model: [0.905, 0.81],
          clash: { observed: 4, expected: 3.75, z: null, p: 0.5, adjusted: 1 },
        },
      ],
    },
  },
};

/** The same over the mean of two, without anybody it may not see. */
export const smallHeldMean: Model = {
  ...smallHeld,
  predictor: {
    kind: "network",
    network: {
      kind: "held",
      D: 3,
      T: 4,
      base: {
        kind: "mean",
        D: 3,
        T: 4,
        members: [
          { kind: "linear", D: 3, T: 4 },
          { kind: "mlp", D: 3, T: 4, hidden: [] },
        ],
      },
      blocks: [2, 3, 4],
      chances: 0,
    },
    parameters: {
      "base.1.baseline": [-2.25, 0.5, -0, 4],
      "base.1.skip": [0.5, -0.25, 3],
      "base.2.dense0.weight": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
      "base.2.dense0.bias": [0, 1, 2, 3],
      "held.baseline": [1, 2, 3, 4],
      "held.coefficients": [1, 2, 3, 4, 5, 6, 7, 8, 9],
    },
  },
};

/** One of its columns was left out of the fit. */
export const smallCox: Model = {
  ...base,
  method: "cox",
  predictor: {
    kind: "cox",
    D: 3,
    coefficients: [0.1, Number.NaN, -1.25],
    means: [0, 0.5, 0.5],
    time: [0.5, 1, 1.5],
    cumulativeHazardAtMeans: [0.01, 0.02, 0.0300000001],
  },
  options: null,
  training: {
    ...smallNetwork.training,
    backend: "none",
    history: [],
    verdict: [],
    multipliers: null,
    warnings: [],
    notices: [
      { level: "note", sentence: { parts: ["\u2028", count(0, "row"), whole("all", 3, "row")] } },
      {
        level: "warning",
        sentence: {
          parts: [
            share(1, 9),
            share(1, 9, { before: "the other", noun: "row", percent: true, these: false }),
            among(1, "event", 2, "row"),
            percent(1, 2),
            percent(1, 2, "all"),
            verb(1, "is", "are"),
            named([7]),
            personal("3", "few"),
          ],
          consequence: "so",
          hint: "--drop x",
        },
      },
    ],
  },
};

/** Its number has splines. */
export const smallBent: Model = {
  ...smallNetwork,
  encoder: {
    ...base.encoder,
    columns: [
      { ...base.encoder.columns[0], spline: { at: [-0, 1, 8], scores: [-2.5, 0.1, 2] } },
      base.encoder.columns[1],
    ],
    names: ["age", ...nameSplines("age"), "sexNaN", "sex-0"],
  },
  predictor: {
    kind: "network",
    network: { kind: "linear", D: 7, T: 4 },
    parameters: { baseline: [1, 2, 3, 4], skip: [1, 2, 3, 4, 5, 6, 7] },
  },
};

/** Its number enters by its logarithm, and has columns for its values. */
export const smallShaped: Model = {
  ...smallBent,
  encoder: {
    ...base.encoder,
    columns: [
      { ...base.encoder.columns[0], logFloor: 1e-300, codes: [-1, 0, 2, 3] },
      base.encoder.columns[1],
    ],
    names: ["age.log", "age=-1", "age=0", "age=2", "age=3", "sexNaN", "sex-0"],
  },
};

const like = (scale: number) => ({
  baseline: [1, 2, 3, 4].map((v) => v * scale),
  skip: [5, 6, 7].map((v) => v * scale),
});

/** Of an ensemble: two runs that have ended. */
export const smallMembers: readonly TrainedMember[] = [
  { network: { kind: "linear", D: 3, T: 4 }, parameters: like(2), steps: 120 },
  {
    network: { kind: "linear", D: 3, T: 4, baselineHazard: [0.1, 0.2, 0.3, 0.4] },
    parameters: like(0.3),
    steps: 75,
  },
];

export const smallCheckpoint: Checkpoint = {
  step: 90,
  parameters: like(0.5),
  average: like(0.1),
  optimiser: { kind: "adamw", steps: 90, first: like(1e-3), second: like(1e-6) },
  lagrangian: {
    multipliers: [0.1, 0.2],
    cells: [
      { name: "all 1–2", group: "all", first: 1, last: 2, expectedEvents: 12.5 },
      { name: "all 3", group: "all", first: 3, last: 3, expectedEvents: 10 },
    ],
  },
  startMultipliers: [0, -0],
  best: {
    step: 50,
    evaluation: {
      loss: 0.3,
      concordance: 0.7,
      groups: [{ name: "all", n: 20, events: 4, distance: Number.NaN, measured: false }],
    },
    parameters: like(0.25),
  },
};
