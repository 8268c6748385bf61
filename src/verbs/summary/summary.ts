/**
 * What a model file says of itself: what it is, on whom it was trained, its time grid, the effect of every column and
 * of every group. An effect is the ratio of the cumulative hazards −log S at the horizon between two cells of a column
 * (contrasts.ts), everything else typical; of a Cox model that is the hazard ratio. Groups that the column decides
 * follow it. The file has no covariance of what was fitted, so that intervals are absent with that reason.
 */
import type { Backend } from "../../compute/backend.ts";
import { BackendScope } from "../../compute/memory.ts";
import { exp, log } from "../../core/elementary.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { type EncodedFeatures, encode } from "../../data/encode/encode.ts";
import { type ColumnEncoding, placeColumns } from "../../data/encode/encoder.ts";
import { showValue } from "../../data/encode/new-cells.ts";
import { describeShapes } from "../../data/encode/number-shape.ts";
import { ALL_GROUP, addGroupColumns, groupColumnName } from "../../data/groups/groups.ts";
import type { SetSizes } from "../../study/split.ts";
import { METHODS, NETWORKS } from "../../training/choices.ts";
import { countMembers, type Model } from "../../training/model.ts";
import type { GroupVerdict } from "../../training/solve/verdict.ts";
import { type ComputeCurves, columnsNeeded, gridOf, prepareCurves } from "../predict.ts";
import { type Cell, type ContrastBasis, chooseContrasts, composeRows } from "./contrasts.ts";

/** The ratio of cumulative hazards between two cells. */
export interface Contrast {
  readonly from: string;
  readonly to: string;
  readonly hazardRatio: Measured;
  readonly interval: Measured<{ readonly level: number; readonly lower: number; readonly upper: number }>;
}

/** What a column does to the hazard. */
export interface ColumnEffect {
  readonly name: string;
  readonly type: ColumnEncoding["type"];
  /** What the contrasts are between. */
  readonly basis: ContrastBasis;
  readonly contrasts: readonly Contrast[];
  /** The log of the ratio to the median at some quantiles, of a number with splines; else empty. */
  readonly curve: readonly {
    readonly quantile: number;
    readonly value: string;
    readonly logRatio: Measured;
  }[];
}

/** A group of the model. */
export interface GroupSummary {
  readonly name: string;
  readonly expression: string;
  /** Whether the network takes membership as an input. */
  readonly isInput: boolean;
  /** The ratio of cumulative hazards that membership alone gives, all columns typical; absent where it is no input. */
  readonly offset: Measured;
  /** What training said of it; null where it was not held. */
  readonly verdict: Pick<GroupVerdict, "n" | "events" | "told" | "status" | "price"> | null;
}

/** A model in numbers and words. */
export interface ModelSummary {
  readonly method: { readonly name: Model["method"]; readonly words: string };
  /** The network's kind and its meaning; null for a Cox model. */
  readonly network: { readonly kind: string; readonly words: string } | null;
  /** The number of runs whose mean the curves are. */
  readonly members: number;
  /** How the output layer was solved; null where it was not. */
  readonly held: {
    readonly solvedOn: string | null;
    readonly blocks: number;
    readonly chances: number;
  } | null;
  /** How numbers enter, in words. */
  readonly shapes: readonly string[];
  readonly parameters: number;
  readonly steps: number;
  readonly seed: number;
  /** Of the program that trained it. */
  readonly version: Measured<string>;
  readonly backend: string;
  readonly trainedOn: {
    readonly table: Measured<{ readonly name: string; readonly rows: number; readonly sha256: string }>;
    readonly rows: SetSizes;
    readonly people: Measured<SetSizes>;
    /** Of the rows that the model was held on. */
    readonly events: Measured;
  };
  readonly outcome: Model["columns"];
  readonly grid: { readonly kind: string; readonly T: number; readonly horizon: number };
  readonly effects: readonly ColumnEffect[];
  readonly groups: readonly GroupSummary[];
}

/** `backend` is for networks; a Cox model needs none. */
export async function summariseModel(model: Model, backend: Backend | null): Promise<ModelSummary> {
  const scope = backend && new BackendScope(backend);
  try {
    const computeCurves = prepareCurves(model, scope, gridOf(model));
    return {
      ...describeKind(model),
      ...describeTraining(model),
      effects: await measureEffects(model, computeCurves),
      groups: await measureGroups(model, computeCurves),
    };
  } finally {
    scope?.end();
  }
}

function describeKind(
  model: Model,
): Pick<ModelSummary, "method" | "network" | "members" | "held" | "shapes"> {
  const { predictor, training } = model;
  const network = predictor.kind === "cox" ? null : predictor.network;
  const below = network?.kind === "held" ? network.base : network;
  const single = below?.kind === "mean" ? below.members[0] : below;
  return {
    method: { name: model.method, words: METHODS[model.method] },
    network: single === null ? null : { kind: single.kind, words: NETWORKS[single.kind] },
    members: countMembers(model),
    held:
      network?.kind === "held"
        ? {
            solvedOn: training.solve?.solvedOn ?? null,
            blocks: network.blocks.length,
            chances: network.chances,
          }
        : null,
    shapes: describeShapes(model.encoder),
  };
}

function describeTraining(
  model: Model,
): Pick<
  ModelSummary,
  "parameters" | "steps" | "seed" | "version" | "backend" | "trainedOn" | "outcome" | "grid"
> {
  const { training, provenance, grid, columns } = model;
  const everyone = training.verdict.find(({ group }) => group === ALL_GROUP.name);
  return {
    parameters: training.parameters,
    steps: training.steps,
    seed: training.seed,
    version: provenance?.version ?? absent("the file does not say"),
    backend: training.backend,
    trainedOn: {
      table: provenance?.table ?? absent("it did not come from a file"),
      rows: training.rows,
      people: training.people ?? absent("each row was taken as a person"),
      events: everyone?.events ?? absent("the file does not count them"),
    },
    outcome: columns,
    grid: { kind: grid.kind, T: grid.T, horizon: grid.edges[grid.T] },
  };
}

const NO_COVARIANCE = "the model file holds no covariance of its coefficients";
const NO_CURVATURE = "the model file holds no curvature of the fit";
const NO_LOGARITHM = "the survival at the horizon is 0 or 1 there";

async function measureEffects(model: Model, computeCurves: ComputeCurves): Promise<ColumnEffect[]> {
  const { encoder, inputGroups, predictor } = model;
  const made = new Set(inputGroups.map(groupColumnName));
  const own = encoder.columns.filter(({ column }) => !made.has(column));
  const chosen = own.map((encoding) => ({ encoding, ...chooseContrasts(encoding) }));
  const rows = chosen.flatMap(({ encoding: { column }, pairs, curve }) => [
    ...pairs.flatMap(({ from, to }) => [
      { column, cell: from },
      { column, cell: to },
    ]),
    ...curve.map(({ value }) => ({ column, cell: value })),
  ]);
  if (rows.length === 0) return chosen.map(({ encoding, basis }) => emptyEffect(encoding, basis));
  const known = new Set(own.map(({ column }) => column));
  const unknown = columnsNeeded(model).filter((name) => !known.has(name));
  const table = addGroupColumns(composeRows(encoder, rows, { made, unknown }), inputGroups);
  const logs = await logHazards(model, computeCurves, encode(encoder, table));
  const interval = absent(predictor.kind === "cox" ? NO_COVARIANCE : NO_CURVATURE);
  let next = 0;
  return chosen.map(({ encoding, basis, pairs, curve }): ColumnEffect => {
    const show = (cell: Cell) => showCell(encoding, cell);
    const contrasts = pairs.map(({ from, to }): Contrast => {
      const logRatio = subtract(logs[next + 1], logs[next]);
      next += 2;
      const hazardRatio = isAbsent(logRatio) ? logRatio : exp(logRatio);
      return { from: show(from), to: show(to), hazardRatio, interval };
    });
    const points = logs.slice(next, next + curve.length);
    next += curve.length;
    const middle = points[curve.findIndex(({ quantile }) => quantile === MEDIAN)];
    const shown = curve.map(({ quantile, value }, k) => ({
      quantile,
      value: show(value),
      logRatio: subtract(points[k], middle),
    }));
    return { ...emptyEffect(encoding, basis), contrasts, curve: shown };
  });
}

const MEDIAN = 0.5;

function emptyEffect({ column: name, type }: ColumnEncoding, basis: ContrastBasis): ColumnEffect {
  return { name, type, basis, contrasts: [], curve: [] };
}

function showCell(encoding: ColumnEncoding, cell: Cell): string {
  if (encoding.type === "category" || typeof cell === "string") return String(cell);
  if (encoding.type === "boolean") return cell === 1 ? "true" : "false";
  return showValue(encoding, cell);
}

/** log(−log S) at the horizon of each row. */
async function logHazards(
  model: Model,
  computeCurves: ComputeCurves,
  features: EncodedFeatures,
): Promise<Measured[]> {
  const { T } = model.grid;
  const survival = await computeCurves(features);
  return Array.from({ length: features.N }, (_, i) => {
    const value = log(-log(survival[(i + 1) * T - 1]));
    return Number.isFinite(value) ? value : absent(NO_LOGARITHM);
  });
}

function subtract(to: Measured, from: Measured): Measured {
  if (isAbsent(to)) return to;
  return isAbsent(from) ? from : to - from;
}

/** The typical row with each input group's column at 0 and at 1, which no table need have. */
async function measureGroups(model: Model, computeCurves: ComputeCurves): Promise<GroupSummary[]> {
  const { encoder, inputGroups, groups, training } = model;
  const made = new Set(inputGroups.map(groupColumnName));
  const known = new Set(encoder.columns.map(({ column }) => column));
  const unknown = columnsNeeded(model).filter((name) => !known.has(name));
  const places = placeColumns(encoder.columns);
  const placeOf = new Map(places.map(({ encoding, first }) => [encoding.column, first]));
  const typical = composeRows(encoder, [{ column: null, cell: 0 }], { made, unknown });
  const { D, names, values } = encode(encoder, addGroupColumns(typical, inputGroups));
  const both = new Float64Array(2 * inputGroups.length * D);
  inputGroups.forEach((group, g) => {
    for (const isIn of [0, 1]) {
      const at = (2 * g + isIn) * D;
      both.set(values, at);
      both[at + (placeOf.get(groupColumnName(group)) ?? 0)] = isIn;
    }
  });
  const N = 2 * inputGroups.length;
  const logs = N === 0 ? [] : await logHazards(model, computeCurves, { N, D, names, values: both });
  return groups.map(({ name, expression }): GroupSummary => {
    const place = inputGroups.findIndex((group) => group.name === name);
    const found = training.verdict.find(({ group }) => group === name);
    const logRatio = place < 0 ? absent("it is no input") : subtract(logs[2 * place + 1], logs[2 * place]);
    return {
      name,
      expression,
      isInput: place >= 0,
      offset: isAbsent(logRatio) ? logRatio : exp(logRatio),
      verdict: found === undefined ? null : pickVerdict(found),
    };
  });
}

function pickVerdict({ n, events, told, status, price }: GroupVerdict): NonNullable<GroupSummary["verdict"]> {
  return { n, events, told, status, price };
}
