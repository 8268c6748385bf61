/**
 * The header of a model, field by field (docs/model-file.md). Every object is strict: a field this
 * version does not know is refused, and one it writes but does not describe would not compile. Beyond types, it checks
 * that the parts fit together as prediction requires: grid with edges, encoder with its names, D and T the same
 * everywhere, groups that parse. It also checks that numbers make sense: scales above 0, no repeated columns or levels,
 * no more bins than can be predicted. Sizes are compared with the stored weights before a network is made of them
 * (model-file.ts). Names to choose from are those of training/choices.ts.
 */
import * as z from "zod";
import { namesOf } from "../../core/names.ts";
import {
  type ColumnEncoding,
  type Encoder,
  encodedWidth,
  type Quartiles,
  type ValueRange,
} from "../../data/encode/encoder.ts";
import type { ScoreLine } from "../../data/encode/spline.ts";
import { MAX_BINS } from "../../data/outcomes/time-grid.ts";
import type { NetworkSpec } from "../../models/networks/list.ts";
import { networkSpecSchema } from "../../models/networks/network-spec.ts";
import { fromBase64, type PackedSplit, unpackSets, unpackSplit } from "../../study/split.ts";
import { DISTANCES, HOLDS, KEEP_RULES, METHODS, SOLVES, VARIANTS } from "../../training/choices.ts";
import type { Model, ModelHistoryEntry, Provenance } from "../../training/model.ts";
import type { TrainingOptions } from "../../training/options.ts";
import { SOLVED_ON, type SolveReport } from "../../training/solve/hold.ts";
import { VERDICT_STATUSES } from "../../training/solve/verdict.ts";
import {
  anyNumber,
  count,
  describing,
  dictionary,
  finite,
  groupsSchema,
  jsonObject,
  list,
  notices,
  numbers,
} from "./schema-parts.ts";
import { type DescribedUncertainty, uncertaintySchema } from "./uncertainty-file.ts";

const texts = list(z.string());

const spline = describing<ScoreLine>()(
  z.strictObject({ at: numbers, scores: numbers, mirrored: z.literal(true).exactOptional() }),
).refine(
  ({ at, scores }) =>
    at.length >= 2 &&
    at.length === scores.length &&
    [at, scores].every((one) => isAscending(one) && one.every(Number.isFinite)),
  "expected ascending scores of ascending values",
);

const range = describing<ValueRange>()(z.strictObject({ minimum: finite, maximum: finite })).refine(
  ({ minimum, maximum }) => minimum <= maximum,
  "expected a minimum up to the maximum",
);

const quartiles = describing<Quartiles>()(z.strictObject({ lower: finite, upper: finite })).refine(
  ({ lower, upper }) => lower <= upper,
  "expected a lower quartile up to the upper one",
);

const encoding = describing<ColumnEncoding>()(
  z.discriminatedUnion("type", [
    z.strictObject({
      column: z.string(),
      type: z.enum(["number", "date"]),
      median: finite,
      mean: finite,
      sd: finite.refine((value) => value > 0, "expected a scale above 0"),
      missingIndicator: z.boolean(),
      range: range.exactOptional(),
      quartiles: quartiles.exactOptional(),
      spline: spline.exactOptional(),
      logFloor: finite.refine((value) => value > 0, "expected a value above 0").exactOptional(),
      logFrom: finite.exactOptional(),
      logSign: z.literal(-1).exactOptional(),
      codes: numbers
        .refine((codes) => isAscending(codes) && codes.every(Number.isFinite), "expected ascending values")
        .exactOptional(),
    }),
    z.strictObject({
      column: z.string(),
      type: z.literal("boolean"),
      majority: z.literal([0, 1]),
      missingIndicator: z.boolean(),
    }),
    z.strictObject({
      column: z.string(),
      type: z.literal("category"),
      levels: texts,
      common: z.string().exactOptional(),
      dropFirst: z.boolean(),
      missingLevel: z.boolean(),
      pooled: texts.exactOptional(),
      otherLevel: z.boolean().exactOptional(),
    }),
  ]),
)
  .refine((one) => one.type !== "category" || isDistinct([...one.levels, ...(one.pooled ?? [])]), {
    path: ["levels"],
    message: "expected every level once",
  })
  .refine((one) => one.type !== "category" || one.common === undefined || one.levels.includes(one.common), {
    path: ["common"],
    message: "expected one of the levels",
  });

const encoder = describing<Encoder>()(
  z.strictObject({ columns: list(encoding), names: texts, unknownLevels: z.enum(["error", "allow"]) }),
)
  .refine(({ columns, names }) => columns.reduce((sum, one) => sum + encodedWidth(one), 0) === names.length, {
    path: ["names"],
    message: "expected a name for every encoded feature",
  })
  .refine(({ columns }) => isDistinct(columns.map(({ column }) => column)), {
    path: ["columns"],
    message: "expected every column once",
  });

function isDistinct(all: readonly string[]): boolean {
  return new Set(all).size === all.length;
}

const grid = describing<Model["grid"]>()(
  z.strictObject({
    kind: z.enum(["equal", "quantile"]),
    T: z.int().min(1).max(MAX_BINS),
    edges: numbers,
    atRisk: numbers.exactOptional(),
  }),
)
  .refine(
    ({ T, edges }) =>
      edges.length === T + 1 && edges[0] === 0 && isAscending(edges) && edges[T] < Number.POSITIVE_INFINITY,
    {
      path: ["edges"],
      message: "expected T + 1 edges, ascending from 0",
    },
  )
  .refine(({ T, atRisk }) => atRisk === undefined || (atRisk.length === T && isShareAtRisk(atRisk)), {
    path: ["atRisk"],
    message: "expected T shares from 0 to 1, some bin with all",
  });

/** Late entry may raise the number at risk; somewhere it is largest. */
function isShareAtRisk(shares: readonly number[]): boolean {
  return shares.every((share) => share >= 0 && share <= 1) && shares.includes(1);
}

export function isAscending(values: ArrayLike<number>): boolean {
  for (let i = 1; i < values.length; i++) if (!(values[i] > values[i - 1])) return false;
  return true;
}

const optimiser = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("sgd"), rate: anyNumber, momentum: anyNumber.exactOptional() }),
  z.strictObject({
    kind: z.enum(["adam", "adamw"]),
    rate: anyNumber,
    beta1: anyNumber.exactOptional(),
    beta2: anyNumber.exactOptional(),
    epsilon: anyNumber.exactOptional(),
    decay: anyNumber.exactOptional(),
    decayAll: z.boolean().exactOptional(),
  }),
]);

const options = describing<TrainingOptions>()(
  z.strictObject({
    objective: z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("likelihood"), tail: z.boolean() }),
      z.strictObject({
        kind: z.literal("xcal"),
        tail: z.boolean(),
        lambda: anyNumber,
        bins: count.exactOptional(),
        gamma: anyNumber.exactOptional(),
      }),
      z.strictObject({
        kind: z.literal("rps"),
        ranking: z.strictObject({ lambda: anyNumber, sigma: anyNumber }).exactOptional(),
      }),
    ]),
    constraint: z
      .strictObject({
        distance: z.enum(namesOf(DISTANCES)),
        variant: z.enum(VARIANTS),
        slack: z.union([z.literal("auto"), anyNumber, dictionary(anyNumber)]),
        kappa: anyNumber.exactOptional(),
        strata: count,
      })
      .nullable(),
    dual: z.discriminatedUnion("form", [
      z.strictObject({
        form: z.literal("ascent"),
        rate: anyNumber,
        start: z.union([z.literal("uniform"), anyNumber, numbers]),
        perRow: z.boolean().exactOptional(),
      }),
      z.strictObject({ form: z.literal("augmented"), penalty: anyNumber, start: anyNumber }),
    ]),
    optimiser,
    clip: anyNumber.nullable(),
    steps: count,
    primalSteps: count.exactOptional(),
    batch: count.nullable(),
    partRows: count.exactOptional(),
    refresh: z.boolean(),
    keep: z.enum(namesOf(KEEP_RULES)),
    average: z.strictObject({ decay: anyNumber, from: anyNumber }),
    evaluateEvery: anyNumber,
    patience: anyNumber.nullable(),
    seed: anyNumber,
    solve: z.enum(namesOf(SOLVES)).exactOptional(),
    hold: z.enum(namesOf(HOLDS)).exactOptional(),
  }),
);

export const historySchema = describing<readonly ModelHistoryEntry[]>()(
  list(
    z.strictObject({
      step: count,
      loss: anyNumber,
      concordance: anyNumber.nullable(),
      distances: numbers.exactOptional(),
      multipliers: numbers.exactOptional(),
    }),
  ),
);

const verdict = list(
  z.strictObject({
    group: z.string(),
    told: z.boolean(),
    n: count,
    events: count,
    slack: anyNumber,
    distance: z.strictObject({ solve: anyNumber, fresh: anyNumber.nullable() }),
    fresh: z.strictObject({ p: anyNumber, adjusted: anyNumber }).nullable(),
    status: z.enum(VERDICT_STATUSES),
    reachable: anyNumber.nullable(),
    price: anyNumber.nullable(),
    reason: z.string().nullable(),
  }),
);

const mixture = z
  .strictObject({
    share: anyNumber,
    losses: list(z.strictObject({ share: anyNumber, loss: anyNumber })),
    gain: anyNumber,
    standardError: anyNumber,
  })
  .nullable();

const solve = describing<SolveReport>()(
  z.strictObject({
    solvedOn: z.enum(SOLVED_ON),
    iterations: count,
    residuals: z.strictObject({ stationarity: anyNumber, violation: anyNumber, complementarity: anyNumber }),
    mixture,
    causes: list(z.strictObject({ cause: z.string(), mixture, iterations: count })).exactOptional(),
    hold: z.enum(namesOf(HOLDS)),
    blind: list(
      z.strictObject({
        group: z.string(),
        auc: anyNumber,
        explained: anyNumber,
        features: list(z.strictObject({ name: z.string(), slope: anyNumber })),
        frontier: list(
          z.strictObject({
            share: anyNumber,
            distance: anyNumber,
            gap: anyNumber.exactOptional(),
            others: anyNumber.nullable(),
            lost: anyNumber,
            concordance: anyNumber.nullable(),
            ibs: anyNumber.nullable(),
          }),
        ),
        budget: anyNumber.nullable(),
      }),
    ),
    targets: list(
      z.strictObject({
        group: z.string(),
        time: numbers,
        target: numbers,
        standardError: numbers,
        local: list(anyNumber.nullable()),
        model: numbers,
        clash: z.strictObject({
          observed: count,
          expected: anyNumber,
          z: anyNumber.nullable(),
          p: anyNumber,
          adjusted: anyNumber,
        }),
      }),
    ).exactOptional(),
  }),
);

const training = describing<Model["training"]>()(
  z.strictObject({
    seed: anyNumber,
    backend: z.string(),
    rows: z.strictObject({ train: count, validation: count, test: count }),
    people: z.strictObject({ train: count, validation: count, test: count }).exactOptional(),
    parameters: count,
    steps: count,
    bestStep: count,
    history: historySchema,
    verdict,
    solve: solve.exactOptional(),
    multipliers: z.strictObject({ start: numbers, end: numbers, fixedPenalty: z.boolean() }).nullable(),
    warnings: texts,
    notices: notices.exactOptional(),
  }),
);

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const split = describing<PackedSplit>()(
  z.strictObject({
    sha256: sha256.nullable(),
    rows: count,
    sets: z.string(),
    content: z
      .strictObject({
        inOrder: sha256,
        anyOrder: sha256,
        sets: z.string(),
        sketch: z
          .string()
          .refine((text) => fromBase64(text) !== null, "expected bits in base64")
          .exactOptional(),
      })
      .exactOptional(),
  }),
)
  .refine((one) => unpackSplit(one) !== null, { path: ["sets"], message: "expected a set for every row" })
  .refine(({ rows, content }) => content === undefined || unpackSets(content.sets, rows) !== null, {
    path: ["content", "sets"],
    message: "expected a set for every row",
  });

const provenance = describing<Provenance>()(
  z.strictObject({
    version: z.string(),
    backend: z
      .strictObject({
        name: z.string(),
        simd: z.enum(["plain", "relaxed"]).nullable(),
        adapter: z.string().exactOptional(),
        threads: z.int().min(1).exactOptional(),
      })
      .nullable(),
    table: z.strictObject({ name: z.string(), rows: count, sha256 }).nullable(),
  }),
);

/** The predictor without its numbers, which are stored with the weights. */
const predictor = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("network"), network: describing<NetworkSpec>()(networkSpecSchema) }),
  z.strictObject({ kind: z.literal("cox"), D: count }),
]);

type ModelHeader = { readonly kind: "model"; readonly predictor: z.output<typeof predictor> } & Omit<
  Model,
  "predictor" | "uncertainty"
> & { readonly uncertainty?: DescribedUncertainty };

export const modelHeaderSchema = describing<ModelHeader>()(
  z.strictObject({
    kind: z.literal("model"),
    method: z.enum(namesOf(METHODS)),
    columns: z.strictObject({
      time: z.string(),
      event: z.string(),
      eventIs: z.string().exactOptional(),
      id: z.string().exactOptional(),
      origin: z.string().exactOptional(),
      entry: z.string().exactOptional(),
      start: z.string().exactOptional(),
      weights: z.string().exactOptional(),
      causes: texts.exactOptional(),
      censored: z.string().exactOptional(),
    }),
    causes: texts.exactOptional(),
    predictor,
    uncertainty: uncertaintySchema.exactOptional(),
    provenance: provenance.exactOptional(),
    encoder,
    inputGroups: groupsSchema,
    grid,
    groups: groupsSchema,
    split: split.exactOptional(),
    options: options.nullable(),
    training,
    metrics: jsonObject.exactOptional(),
  }),
)
  .refine(({ predictor: one, encoder: { names } }) => widthOfInput(one) === names.length, {
    path: ["predictor"],
    message: "expected as many features as the encoder gives",
  })
  .refine(({ predictor: one, grid: { T } }) => one.kind === "cox" || one.network.T === T, {
    path: ["predictor"],
    message: "expected as many time bins as the grid has",
  })
  .refine(({ predictor: one, causes }) => causesOf(one) === (causes?.length ?? 1), {
    path: ["causes"],
    message: "expected a name for each cause of the network",
  });

function causesOf(one: z.output<typeof predictor>): number {
  return one.kind === "cox" ? 1 : (one.network.causes ?? 1);
}

function widthOfInput(one: z.output<typeof predictor>): number {
  return one.kind === "cox" ? one.D : one.network.D;
}
