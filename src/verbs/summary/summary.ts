/**
 * What a model file says of itself: what it is, on whom it was trained, its time grid, the effect of every column and
 * of every group. An effect is the ratio of the cumulative hazards −log S at the horizon between two cells of a column
 * (contrasts.ts), everything else typical; of a Cox model that is the hazard ratio. With several causes each has its
 * own, of the cause-specific hazard (cause-alone.ts). Groups that the column decides
 * follow it. Intervals are of what the rows leave uncertain (contrast-errors.ts); absent, with the reason, where the
 * file does not say.
 */
import type { Backend } from "../../compute/backend.ts";
import { BackendScope } from "../../compute/memory.ts";
import { normalQuantile } from "../../core/distributions.ts";
import { exp, log } from "../../core/elementary.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { encode } from "../../data/encode/encode.ts";
import { type ColumnEncoding, placeColumns } from "../../data/encode/encoder.ts";
import { showValue } from "../../data/encode/new-cells.ts";
import { addGroupColumns, groupColumnName } from "../../data/groups/groups.ts";
import type { Model } from "../../training/model.ts";
import type { GroupVerdict } from "../../training/solve/verdict.ts";
import { type ComputeCurves, columnsNeeded, gridOf, prepareCurves } from "../predict.ts";
import { prepareCauseAlone } from "./cause-alone.ts";
import { prepareContrastErrors } from "./contrast-errors.ts";
import { type Cell, type ContrastBasis, chooseContrasts, composeRows } from "./contrasts.ts";
import type { CauseSummary, ColumnEffect, Contrast, GroupSummary, ModelSummary } from "./model-summary.ts";
import { describeKind, describeTraining, findVerdict } from "./training-facts.ts";

/** `backend` is for networks; a Cox model needs none. */
export async function summariseModel(model: Model, backend: Backend | null): Promise<ModelSummary> {
  const scope = backend && new BackendScope(backend);
  try {
    const any: Measuring = { computeCurves: prepareCurves(model, scope, gridOf(model)), cause: null };
    return {
      ...describeKind(model),
      ...describeTraining(model),
      effects: await measureEffects(model, any),
      groups: await measureGroups(model, any),
      causes: await measureCauses(model, scope),
    };
  } finally {
    scope?.end();
  }
}

/** Whose curves are compared: those of one cause alone, or of any event (null). */
interface Measuring {
  readonly computeCurves: ComputeCurves;
  readonly cause: string | null;
}

async function measureCauses(model: Model, backend: Backend | null): Promise<ModelSummary["causes"]> {
  if (model.causes === undefined) return null;
  const compute = prepareCauseAlone(model, backend, gridOf(model));
  const all: CauseSummary[] = [];
  for (const [k, name] of model.causes.entries()) {
    const measuring = { computeCurves: compute(k), cause: name };
    const effects = await measureEffects(model, measuring);
    all.push({ name, effects, groups: await measureGroups(model, measuring) });
  }
  return all;
}

const NO_LOGARITHM = "the survival at the horizon is 0 or 1 there";

async function measureEffects(model: Model, { computeCurves, cause }: Measuring): Promise<ColumnEffect[]> {
  const { encoder, inputGroups } = model;
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
  const features = encode(encoder, table);
  const survival = await computeCurves(features);
  const logs = logHazards(model, features.N, survival);
  const errorOf = cause === null ? prepareContrastErrors(model, features, survival) : () => absent(NO_ERRORS);
  let next = 0;
  return chosen.map(({ encoding, basis, pairs, curve }): ColumnEffect => {
    const show = (cell: Cell) => showCell(encoding, cell);
    const contrasts = pairs.map(({ from, to }): Contrast => {
      const logRatio = subtract(logs[next + 1], logs[next]);
      const interval = isAbsent(logRatio) ? logRatio : drawInterval(logRatio, errorOf(next, next + 1));
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

const NO_ERRORS = "the model file keeps no uncertainty of several causes";
const MEDIAN = 0.5;

function emptyEffect({ column: name, type }: ColumnEncoding, basis: ContrastBasis): ColumnEffect {
  return { name, type, basis, contrasts: [], curve: [] };
}

function showCell(encoding: ColumnEncoding, cell: Cell): string {
  if (encoding.type === "category" || typeof cell === "string") return String(cell);
  if (encoding.type === "boolean") return cell === 1 ? "true" : "false";
  return showValue(encoding, cell);
}

const INTERVAL_LEVEL = 0.95;

function drawInterval(logRatio: number, error: Measured): Contrast["interval"] {
  if (isAbsent(error)) return error;
  const half = normalQuantile((1 + INTERVAL_LEVEL) / 2) * error;
  return { level: INTERVAL_LEVEL, lower: exp(logRatio - half), upper: exp(logRatio + half) };
}

/** log(−log S) at the horizon of each row. */
function logHazards({ grid: { T } }: Model, N: number, survival: Float64Array): Measured[] {
  return Array.from({ length: N }, (_, i) => {
    const value = log(-log(survival[(i + 1) * T - 1]));
    return Number.isFinite(value) ? value : absent(NO_LOGARITHM);
  });
}

function subtract(to: Measured, from: Measured): Measured {
  if (isAbsent(to)) return to;
  return isAbsent(from) ? from : to - from;
}

/** The typical row with each input group's column at 0 and at 1, which no table need have. */
async function measureGroups(model: Model, { computeCurves, cause }: Measuring): Promise<GroupSummary[]> {
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
  const logs = N === 0 ? [] : logHazards(model, N, await computeCurves({ N, D, names, values: both }));
  return groups.map(({ name, expression }): GroupSummary => {
    const place = inputGroups.findIndex((group) => group.name === name);
    const found = findVerdict(training.verdict, name, cause);
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
