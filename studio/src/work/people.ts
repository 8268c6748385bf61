/**
 * One person's prediction: a row of the table, or values that were typed, and what changes if some of them were
 * different. Controls stay within what the model has seen in training. The person's card is in card.ts.
 */
import {
  type Backend,
  gridOf,
  isAbsent,
  type Model,
  type PeoplePrediction,
  predictPeople,
  type Table,
} from "graduate-survival";
import {
  type Column,
  cellText,
  findColumn,
  isMissing,
  MISSING_CODE,
  selectRows,
} from "graduate-survival/data";
import { causeSentence, rangeSentence, riskSentence, showTime, timeLabelOf } from "graduate-survival/report";
import {
  BAND_LEVEL,
  chooseRiskTimes,
  columnsNeeded,
  describeDoubts,
  hasBands,
} from "graduate-survival/verbs";
import type { Curve, PersonInput, PersonRequest, PersonValues, PersonView } from "../protocol.ts";
import { writeNumber } from "./columns.ts";

/** Numbers with so few values are codes: chosen from, not slid along. */
const MOST_CODES = 8;
/** Steps of a slider. */
const SLIDER_STEPS = 100;

/** The controls of a model, for the columns of a table that it needs. */
export function listInputs(model: Model, table: Table | null): PersonInput[] {
  const needed = new Set(columnsNeeded(model));
  return model.encoder.columns.flatMap((encoding): PersonInput[] => {
    const { column: name } = encoding;
    if (!needed.has(name) || encoding.type === "date") return [];
    if (encoding.type === "boolean") return [{ kind: "choice", name, values: ["false", "true"] }];
    if (encoding.type === "category") {
      return [{ kind: "choice", name, values: [...encoding.levels, ...(encoding.pooled ?? [])] }];
    }
    const { range, median } = encoding;
    const column = table?.columns.find((one) => one.name === name);
    const distinct =
      column?.type === "number" ? [...new Set(column.values)].filter((value) => !Number.isNaN(value)) : [];
    if (distinct.length > 0 && distinct.length <= MOST_CODES) {
      return [{ kind: "choice", name, values: distinct.sort((a, b) => a - b).map(String) }];
    }
    const { minimum, maximum } = range ?? { minimum: median - 1, maximum: median + 1 };
    return [{ kind: "number", name, minimum, maximum, step: stepOf(minimum, maximum), usual: median }];
  });
}

/** Whole numbers for wide ranges, otherwise a hundredth of the range, rounded. */
function stepOf(minimum: number, maximum: number): number {
  const span = maximum - minimum;
  if (span >= SLIDER_STEPS && Number.isInteger(minimum) && Number.isInteger(maximum)) return 1;
  return Number((span / SLIDER_STEPS).toPrecision(1)) || 1;
}

/** What a model that came without a table starts from. */
function usualValues(model: Model): PersonValues {
  const entries = model.encoder.columns.map((encoding): [string, string] => {
    if (encoding.type === "category") return [encoding.column, encoding.common ?? encoding.levels[0] ?? ""];
    if (encoding.type === "boolean") return [encoding.column, encoding.majority === 1 ? "true" : "false"];
    return [encoding.column, writeNumber(encoding.median)];
  });
  return Object.fromEntries(entries);
}

interface Moment {
  readonly time: number;
  readonly words: string;
}

/** Below this share of the horizon a curve has something to say after the last moment. */
const NEARLY_ALL = 0.9;

/** The moments that the card speaks of, in the unit that it shows, and how a curve ends that goes on after them. */
function chooseMoments(
  model: Model,
  unit: string,
): { readonly card: readonly Moment[]; readonly end: Moment | null } {
  const { edges, T } = gridOf(model);
  const label = timeLabelOf(unit === "" ? undefined : unit, model.columns.origin);
  const shown = showTime({ time: { label: label ?? "time", edges } });
  const times = chooseRiskTimes(gridOf(model), label);
  const horizon = edges[T];
  return {
    card: times.map((time) => ({ time, words: shown.momentOf(time) })),
    end: times[times.length - 1] < NEARLY_ALL * horizon ? { time: horizon, words: shown.horizon } : null,
  };
}

/** The last moment of the card, whose risk is taken apart. */
export function chooseMoment(model: Model, unit: string): Moment {
  const { card } = chooseMoments(model, unit);
  return card[card.length - 1];
}

/** Of one of the times that were asked for, by its place among them. */
function sayRisk(
  { risk, causes }: Pick<PeoplePrediction, "risk" | "causes">,
  place: number,
  times: number,
  moment: string,
): string {
  if (causes === null) return riskSentence(risk[place], moment);
  const risks = causes.names.map((_, k) => causes.risk[k * times + place]);
  return causeSentence(causes.names, risks, moment);
}

/** Of the moment at a place; where survival is high, the risk is low. */
function sayRange(
  risk: number,
  { ofLower, ofUpper }: NonNullable<PeoplePrediction["bands"]>,
  place: number,
): string {
  const limits = { lower: 1 - ofUpper.survival[place], upper: 1 - ofLower.survival[place] };
  return rangeSentence(risk, limits, BAND_LEVEL);
}

interface Asked {
  readonly model: Model;
  readonly table: Table | null;
  readonly backend: Backend;
  readonly everyone: Curve;
  readonly unit: string;
}

interface BuiltPerson {
  /** The row of the table as it is; null where there is none. */
  readonly own: Table | null;
  /** A table of one row, with the values asked for. */
  readonly one: Table;
  readonly values: PersonValues;
  readonly isChanged: boolean;
}

export function buildPerson(model: Model, table: Table | null, { row, values }: PersonRequest): BuiltPerson {
  const names = columnsNeeded(model);
  const own = table !== null && row !== null ? selectRows(table, Int32Array.of(row - 1)) : null;
  const start = own === null ? usualValues(model) : readValues(own, names);
  const now = Object.fromEntries(names.map((name) => [name, values[name] ?? start[name] ?? ""]));
  const isChanged = names.some((name) => now[name] !== start[name]);
  return { own, one: own !== null && !isChanged ? own : buildRow(model, own, now), values: now, isChanged };
}

export async function viewPerson(asked: Asked, request: PersonRequest): Promise<PersonView> {
  const { own, one, values, isChanged } = buildPerson(asked.model, asked.table, request);
  const shown = await predictOne(asked, one);
  const before = isChanged && own !== null ? await predictOne(asked, own) : null;
  const { curve, band, causes, sentence, median, doubts } = shown;
  return {
    ...{ values, curve, band, causes, sentence, median, doubts },
    before: before?.curve ?? null,
    everyone: asked.everyone,
    risks: shown.risks.map((one, k) => ({ ...one, before: before?.risks[k].risk ?? null })),
  };
}

async function predictOne({ model, backend, unit }: Asked, table: Table) {
  const { card, end } = chooseMoments(model, unit);
  const moments = end === null ? card : [...card, end];
  const request = { at: moments.map(({ time }) => time), quantiles: [0.5] };
  const banded = hasBands(model) ? { ...request, bands: BAND_LEVEL } : request;
  const read = await predictPeople(model, table, backend, banded);
  const { bands } = read;
  const [median] = read.quantile;
  const sentences = moments.map(({ words }, k) => sayRisk(read, k, moments.length, words));
  return {
    curve: curveOf(model, Array.from(read.curves.survival)),
    band: bands && { lower: [1, ...bands.lower], upper: [1, ...bands.upper] },
    risks: moments.map(({ words: moment }, k) => ({
      moment,
      risk: read.risk[k],
      sentence: sentences[k],
      range: bands && sayRange(read.risk[k], bands, k),
    })),
    causes: (read.causes?.names ?? []).map((name, k) => ({
      name,
      risks: moments.map((_, t) => read.causes?.risk[k * moments.length + t] ?? 0),
      incidence: [0, ...(read.causes?.incidence.subarray(k * model.grid.T, (k + 1) * model.grid.T) ?? [])],
    })),
    sentence: sentences[card.length - 1],
    median: isAbsent(median) ? null : median,
    doubts: describeDoubts(model, table, 0),
  };
}

export function curveOf(model: Model, survival: readonly number[]): Curve {
  return { time: Array.from(gridOf(model).edges), survival: [1, ...survival] };
}

function readValues(one: Table, names: readonly string[]): PersonValues {
  return Object.fromEntries(
    names.map((name) => {
      const column = findColumn(one, name);
      return [name, isMissing(column, 0) ? "" : cellText(column, 0)];
    }),
  );
}

/** A table of one row with these values; columns that have no control keep the row's own. */
function buildRow(model: Model, own: Table | null, values: PersonValues): Table {
  const names = columnsNeeded(model);
  const types = new Map(model.encoder.columns.map((encoding) => [encoding.column, encoding.type]));
  const columns = names.map((name): Column => {
    const text = values[name] ?? "";
    const known = own === null ? undefined : findColumn(own, name);
    const type = known?.type ?? types.get(name) ?? "number";
    if (known !== undefined && type === "date") return known;
    if (type === "category") {
      const isNone = text === "";
      return { name, type, codes: Int32Array.of(isNone ? MISSING_CODE : 0), levels: isNone ? [] : [text] };
    }
    if (type === "boolean")
      return { name, type, values: Uint8Array.of(text === "" ? 255 : Number(text === "true")) };
    return { name, type, values: Float64Array.of(text.trim() === "" ? Number.NaN : Number(text)) };
  });
  return { name: own?.name ?? "a person", rows: 1, columns };
}
