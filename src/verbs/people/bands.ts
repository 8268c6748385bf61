/**
 * Bands of people's curves: for each time, where S(t|x) lies with a given probability. They are made on the scale of
 * log Λ = log(−log S), S^exp(±z·e): a band stays between 0 and 1 and is wide early, where few events speak. The error e
 * has two parts: what the rows leave uncertain of the model's additive part (its posterior error), and what the model's
 * form misses, with two constants that were measured on simulated people (docs/decisions/019-bands.md). An ensemble
 * without an additive part has the differences between its runs instead, Cox's model its own errors and nothing added.
 * Pointwise: a band says nothing of a whole curve.
 */
import type { Backend } from "../../compute/backend.ts";
import { betaQuantile, normalQuantile } from "../../core/distributions.ts";
import { exp, log, square } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { type EncodedFeatures, encode } from "../../data/encode/encode.ts";
import { addGroupColumns } from "../../data/groups/groups.ts";
import type { Table } from "../../data/table.ts";
import { coxErrors } from "../../models/cox/curve-errors.ts";
import { baseParameter } from "../../models/networks/held.ts";
import { memberParameter } from "../../models/networks/mean.ts";
import type { ParameterValues } from "../../models/networks/parameters.ts";
import { type LogHazardErrors, prepareLayerErrors } from "../../models/uncertainty/layer-uncertainty.ts";
import { countMembers, coxPredictor, type Model } from "../../training/model.ts";
import { gridOf, prepareCurves } from "../predict.ts";

/** A band of every curve. */
export interface CurveBands {
  /** The probability that a band is made for. */
  readonly level: number;
  readonly lower: Float64Array; // [N,T]
  readonly upper: Float64Array; // [N,T]
}

/** The level of a band unless another is asked for. */
export const BAND_LEVEL = 0.95;
/**
 * Standard deviations of log Λ that the model's form misses, whatever the number of rows: `level` where Λ is 1 or more,
 * and `slope` more for each unit that log Λ lies below 0. Chosen on four simulated laws (docs/decisions/019-bands.md).
 */
export const MISSED_BY_FORM = { level: 0.07, slope: 0.11 } as const;

/** Standard errors of log Λ(t|x), from where they come; null where a model has no such part. */
export interface ErrorParts {
  /** Of the additive part, or of Cox's model. */
  readonly posterior: Float64Array | null; // [N,T]
  /** Between the runs of an ensemble. */
  readonly spread: Float64Array | null; // [N,T]
  /** How many runs there are. */
  readonly members: number;
}

/** Errors of people whose curves are known. */
export type MeasureErrors = (table: Table, curves: Curves, rows?: ArrayLike<number>) => Promise<ErrorParts>;

/** Bands of people whose curves are known. */
export type DrawBands = (table: Table, curves: Curves, rows?: ArrayLike<number>) => Promise<CurveBands>;

/** Prepares a model once; refuses one whose file says nothing of uncertainty. */
export function prepareBands(model: Model, backend: Backend | null, level: number): DrawBands {
  checkLevel(level, "the level of a band");
  refuseUncertain(model);
  // Runs that differ are asked only where nothing else is known: each of them predicts everyone again.
  const measureErrors = prepareErrors(model, backend, { spread: model.uncertainty === undefined });
  return async (table, curves, rows) => {
    const parts = await measureErrors(table, curves, rows);
    const half = halfWidths(parts, level, measureMissed(model, curves));
    return { level, ...drawBands(curves, half) };
  };
}

/** What the form of a model misses of its curves; null of Cox's, whose bands are known without it. */
export function measureMissed({ predictor }: Pick<Model, "predictor">, curves: Curves): Float64Array | null {
  return predictor.kind === "cox" ? null : missedByForm(curves);
}

/**
 * Standard deviations of log Λ(t|x): level + slope · max(0, −log Λ). The level of a log hazard is off by one amount
 * (interactions, bends that the priors hold too straight). Its slopes, in time and in the features, are off by a share:
 * where the truth is κ log Λ, the error (κ − 1) log Λ grows as log Λ falls. So it is large early and for people of low
 * risk, where few events speak. It depends on the curve alone: on no grid, and on no other person.
 */
export function missedByForm({ survival }: Pick<Curves, "survival">): Float64Array {
  return Float64Array.from(survival, (S) => {
    // Before the first risk a band has no width, whatever is missed.
    const below = S < 1 ? Math.max(0, -log(-log(S))) : 0;
    return MISSED_BY_FORM.level + MISSED_BY_FORM.slope * below;
  });
}

/** Refuses what is no probability. */
export function checkLevel(level: number, what: string): void {
  if (level > 0 && level < 1) return;
  throw new InputError(`${what} is not between 0 and 1: ${level}`, { code: "level.invalid" });
}

/** The parts of the errors, each by itself. */
export function prepareErrors(
  model: Model,
  backend: Backend | null,
  wanted: { readonly spread: boolean } = { spread: true },
): MeasureErrors {
  const posterior = preparePosterior(model);
  const spread = wanted.spread ? prepareSpread(model, backend) : null;
  return async (table, curves, rows) => {
    const features = encode(model.encoder, addGroupColumns(table, model.inputGroups), rows);
    return {
      posterior: posterior?.(features.values, curves.survival) ?? null,
      spread: spread && (await spread(features)),
      members: countMembers(model),
    };
  };
}

function preparePosterior(model: Model): LogHazardErrors | null {
  const { predictor, uncertainty } = model;
  if (uncertainty?.kind === "cox" && predictor.kind === "cox") {
    const { edges } = gridOf(model);
    return (x) => coxErrors(coxPredictor(predictor), uncertainty, x, edges);
  }
  if (uncertainty?.kind === "layer" && predictor.kind === "network" && predictor.network.kind === "held") {
    const { network, parameters } = predictor;
    return prepareLayerErrors(uncertainty, network, parameters["held.membership"] ?? []);
  }
  return null;
}

/** The standard deviation of log Λ over the members of an ensemble. */
function prepareSpread(
  model: Model,
  backend: Backend | null,
): ((features: EncodedFeatures) => Promise<Float64Array>) | null {
  const { predictor } = model;
  if (predictor.kind === "cox") return null;
  const isHeld = predictor.network.kind === "held";
  const network = predictor.network.kind === "held" ? predictor.network.base : predictor.network;
  if (network.kind !== "mean") return null;
  const members = network.members.map((member, m) => {
    const prefix = memberParameter(m, "");
    const parameters = takeNamed(predictor.parameters, isHeld ? baseParameter(prefix) : prefix);
    return prepareCurves(
      { predictor: { kind: "network", network: member, parameters } },
      backend,
      gridOf(model),
    );
  });
  return async (features) => {
    const size = features.N * network.T;
    const [sum, squares] = [new Float64Array(size), new Float64Array(size)];
    for (const curvesOf of members) {
      const survival = await curvesOf(features);
      for (let k = 0; k < size; k++) {
        const own = log(Math.min(Math.max(-log(survival[k]), LEAST_HAZARD), 1 / LEAST_HAZARD));
        sum[k] += own;
        squares[k] += own * own;
      }
    }
    const M = members.length;
    return sum.map((total, k) => Math.sqrt(Math.max(squares[k] - (total * total) / M, 0) / (M - 1)));
  };
}

/** A cumulative hazard below this is 0: no two runs differ there. */
const LEAST_HAZARD = 1e-12;

/** The parameters whose names begin with a prefix, without it. */
function takeNamed(parameters: ParameterValues, prefix: string): ParameterValues {
  return Object.fromEntries(
    Object.entries(parameters)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, values]) => [name.slice(prefix.length), values]),
  );
}

/**
 * Half a band on the scale of log Λ, from the errors and what the form misses (null: nothing). The runs of an ensemble
 * leave out one part of the rows each, so their spread is that of a jackknife of K groups: (K − 1)/√K times it is a
 * standard error, on K − 1 degrees of freedom.
 */
export function halfWidths(
  { posterior, spread, members }: ErrorParts,
  level: number,
  missed: Float64Array | null, // [N,T]
): Float64Array {
  const z = normalQuantile((1 + level) / 2);
  const beside = (k: number) => square(z * (missed?.[k] ?? 0));
  if (posterior !== null) return posterior.map((error, k) => Math.sqrt(square(z * error) + beside(k)));
  if (spread === null)
    throw new InputError("there are neither errors nor runs that differ", { code: "bands.unknown" });
  const t = (studentQuantile(level, members - 1) * (members - 1)) / Math.sqrt(members);
  return spread.map((own, k) => Math.sqrt(square(t * own) + beside(k)));
}

/** What Student's t exceeds in size with probability 1 − level. */
function studentQuantile(level: number, df: number): number {
  const x = betaQuantile(1 - level, df / 2, 1 / 2);
  return Math.sqrt((df * (1 - x)) / x);
}

/** S^exp(±half), made to fall: where the errors shrink faster than the curve falls, the band is widened. */
export function drawBands(
  { N, T, survival }: Curves,
  half: Float64Array,
): Pick<CurveBands, "lower" | "upper"> {
  const lower = new Float64Array(N * T);
  const upper = new Float64Array(N * T);
  for (let n = 0; n < N; n++) {
    for (let t = 0; t < T; t++) {
      const at = n * T + t;
      const cumulative = -log(survival[at]);
      const drawn = exp(-cumulative * exp(half[at]));
      lower[at] = t === 0 ? drawn : Math.min(drawn, lower[at - 1]);
    }
    for (let t = T - 1; t >= 0; t--) {
      const at = n * T + t;
      const drawn = exp(log(survival[at]) * exp(-half[at]));
      upper[at] = t === T - 1 ? drawn : Math.max(drawn, upper[at + 1]);
    }
  }
  return { lower, upper };
}

/** Whether a model can have bands. */
export function hasBands(model: Pick<Model, "predictor" | "uncertainty" | "causes">): boolean {
  const { predictor, uncertainty, causes } = model;
  if (causes !== undefined) return false;
  return uncertainty !== undefined || (predictor.kind === "network" && predictor.network.kind === "mean");
}

/** Refuses a model of which nothing uncertain is known, with what to do. */
function refuseUncertain(model: Model): void {
  if (hasBands(model)) return;
  const { predictor, method, causes } = model;
  if (causes !== undefined) {
    throw new InputError(
      "bands of several causes are not available: the errors of one cause's incidence depend on all of them, and the " +
        "file keeps none",
      { code: "bands.causes", hint: `ask for risks by cause without --bands: ${causes.join(", ")}` },
    );
  }
  const code = "bands.unknown";
  if (predictor.kind === "cox") {
    throw new InputError("this Cox model has no bands: its file does not say how uncertain it is", {
      code,
      hint: "train it again; a coefficient that runs to infinity, or more than 400 columns, leaves no bands",
    });
  }
  throw new InputError(
    `this model of method "${method}" has no bands: its file does not say how uncertain it is`,
    {
      code,
      hint:
        predictor.network.kind === "held"
          ? "train it again: files of before version 5 lack it, and so do models of more than 400 features"
          : "train with the default preset, whose output layer is solved, or with --ensemble 5, whose runs differ",
    },
  );
}
