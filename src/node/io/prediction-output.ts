/**
 * Writes predictions part by part: `row` (1-based, as in the table), S1 … ST and `median`, which is empty where a curve
 * stays above one half. CSV gives probabilities to ten decimals; Parquet gives the numbers themselves, in row groups.
 * If outcomes are known, `bin`, `event` and perhaps `set` and `person` follow, so that `graduate audit --curves` reads
 * the file as it is.
 */
import { powerOfTen } from "../../core/elementary.ts";
import { present } from "../../core/present.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import type { BoostRowSets } from "../../verbs/boost.ts";
import { medianTimes, type Prediction } from "../../verbs/predict.ts";
import { type ByteOutput, openGrowingFile } from "./growing-file.ts";
import type { Predictions } from "./read-predictions.ts";
import { openRowGroups, type ParquetElement, ROW_GROUP_ROWS } from "./row-groups.ts";

/** What is known about rows besides their curves. */
interface KnownRows {
  readonly bin: Int32Array; // [N]
  readonly event: Uint8Array; // [N]
  /** "train", "validation" or "test", if rows had such a role. */
  readonly set?: readonly string[]; // [N]
  /** The person each row belongs to, numbered from 1, where people have several rows. */
  readonly person?: Int32Array; // [N]
}

interface PredictionOutput {
  /** Parts come in the order of the table. */
  write(prediction: Pick<Prediction, "curves" | "median">): Promise<void>;
  finish(): Promise<void>;
}

function curveNames(T: number): string[] {
  return Array.from({ length: T }, (_, t) => `S${t + 1}`);
}

/** Decimals of a printed probability: enough to reproduce every metric to ten places. */
const DECIMALS = 10;
const SCALE = powerOfTen(DECIMALS);
const HALF_SCALE = powerOfTen(DECIMALS / 2);
/** Numbers below this get an exponent (as String writes them from 1e-7 on) and are left to String. */
const LEAST_PLAIN = 1e-6;
/**
 * S · SCALE has a rounding error of up to 1e-6, so this close to a half the direction of rounding is left to toFixed.
 */
const NEAR_A_HALF = 1e-3;
/** The most bytes of a probability and its comma: "1.23e-10,". */
export const PROBABILITY_BYTES = 16;
/** The most bytes of two float64, a row's outcome and set, and a line end. */
const ROW_BYTES = 128;
/** Bytes passed on at a time. */
export const PIECE_BYTES = 1 << 18;

const ZERO = 0x30;
const POINT = 0x2e;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;

/** Columns besides curves and medians. */
interface MoreColumns {
  /** Covers all rows that will be written. */
  readonly known?: KnownRows;
  /** The last column: one risk per person. */
  readonly riskOf?: (curves: Curves) => Float64Array;
}

export function openCsvPredictions(
  output: ByteOutput,
  T: number,
  { known, riskOf }: MoreColumns = {},
): PredictionOutput {
  const more = known === undefined ? [] : listKnown(known);
  const bytes = new Uint8Array(PIECE_BYTES + T * PROBABILITY_BYTES + ROW_BYTES);
  let row = 0;
  return {
    async write({ curves, median }) {
      if (row === 0) {
        const last = [...more.map(({ name }) => name), ...(riskOf ? ["risk"] : [])];
        await output.write(Buffer.from(`${["row", ...curveNames(T), "median", ...last].join(",")}\n`));
      }
      const { N, survival } = curves;
      const risk = riskOf?.(curves);
      let at = 0;
      for (let i = 0; i < N; i++) {
        at = writeText(String(++row), bytes, at);
        for (let k = i * T; k < (i + 1) * T; k++) {
          bytes[at++] = COMMA;
          at = writeProbability(survival[k], bytes, at);
        }
        bytes[at++] = COMMA;
        if (!Number.isNaN(median[i])) at = writeText(String(median[i]), bytes, at);
        for (const { values } of more) at = writeText(`,${values[row - 1]}`, bytes, at);
        if (risk !== undefined) at = writeText(`,${risk[i]}`, bytes, at);
        bytes[at++] = LINE_FEED;
        if (at < PIECE_BYTES) continue;
        await output.write(bytes.subarray(0, at));
        at = 0;
      }
      if (at > 0) await output.write(bytes.subarray(0, at));
    },
    finish: () => output.finish(),
  };
}

/** Writes String(Number(S.toFixed(DECIMALS))) in a tenth of the time; returns where the text ends. */
export function writeProbability(S: number, bytes: Uint8Array, at: number): number {
  const scaled = S * SCALE;
  const whole = Math.round(scaled);
  const isPlain = S >= LEAST_PLAIN && whole < SCALE;
  if (!isPlain || Math.abs(Math.abs(scaled - whole) - 0.5) < NEAR_A_HALF) {
    return writeText(String(Number(S.toFixed(DECIMALS))), bytes, at);
  }
  bytes[at] = ZERO;
  bytes[at + 1] = POINT;
  // two halves, because ten digits do not fit in an integer operation
  const high = (whole / HALF_SCALE) | 0;
  const middle = at + 2 + DECIMALS / 2;
  writeDigits(high, bytes, at + 2, middle);
  writeDigits((whole - high * HALF_SCALE) | 0, bytes, middle, middle + DECIMALS / 2);
  let end = at + 2 + DECIMALS;
  while (bytes[end - 1] === ZERO) end--;
  return end;
}

function writeDigits(value: number, bytes: Uint8Array, start: number, end: number): void {
  for (let place = end - 1; place >= start; place--) {
    const rest = (value / 10) | 0;
    bytes[place] = ZERO + value - 10 * rest;
    value = rest;
  }
}

function writeText(text: string, bytes: Uint8Array, at: number): number {
  for (let k = 0; k < text.length; k++) bytes[at++] = text.charCodeAt(k);
  return at;
}

const REQUIRED = { repetition_type: "REQUIRED" } as const;

export async function openParquetPredictions(
  output: ByteOutput,
  T: number,
  { known, riskOf }: MoreColumns = {},
): Promise<PredictionOutput> {
  const names = curveNames(T);
  const more = known === undefined ? [] : listKnown(known);
  const groups = await openRowGroups(output, parquetElements(names, more, riskOf !== undefined));
  const columns = names.map(() => new Float64Array(ROW_GROUP_ROWS)); // [T] of [rows]
  const medians: (number | null)[] = [];
  const risks = new Float64Array(riskOf ? ROW_GROUP_ROWS : 0);
  let first = 1; // of the row group

  async function writeGroup(): Promise<void> {
    const rows = medians.length;
    await groups.write([
      BigInt64Array.from({ length: rows }, (_, i) => BigInt(first + i)),
      ...columns.map((column) => column.subarray(0, rows)),
      medians,
      ...more.map(({ values }) => values.slice(first - 1, first - 1 + rows)),
      ...(riskOf ? [risks.subarray(0, rows)] : []),
    ]);
    first += rows;
    medians.length = 0;
  }

  return {
    async write({ curves, median }) {
      const { N, survival } = curves;
      const risk = riskOf?.(curves);
      for (let i = 0; i < N; i++) {
        const place = medians.length;
        for (let t = 0; t < T; t++) columns[t][place] = survival[i * T + t];
        if (risk !== undefined) risks[place] = risk[i];
        medians.push(Number.isNaN(median[i]) ? null : median[i]);
        if (medians.length === ROW_GROUP_ROWS) await writeGroup();
      }
    },
    async finish() {
      await writeGroup();
      await groups.finish();
    },
  };
}

function parquetElements(
  names: readonly string[],
  more: readonly KnownColumn[],
  hasRisk: boolean,
): readonly ParquetElement[] {
  return [
    { name: "row", type: "INT64", ...REQUIRED } as const,
    ...names.map((name) => ({ name, type: "DOUBLE", ...REQUIRED }) as const),
    { name: "median", type: "DOUBLE", repetition_type: "OPTIONAL" } as const,
    ...more.map(({ name, type }) => ({ name, ...type, ...REQUIRED })),
    ...(hasRisk ? [{ name: "risk", type: "DOUBLE", ...REQUIRED } as const] : []),
  ];
}

interface KnownColumn {
  readonly name: string;
  readonly type:
    | { readonly type: "INT32" }
    | { readonly type: "BYTE_ARRAY"; readonly converted_type: "UTF8" };
  /** As Parquet takes them. */
  readonly values: Int32Array | readonly string[]; // [N]
}

/** What is known, in the order of its columns. */
function listKnown({ bin, event, set, person }: KnownRows): readonly KnownColumn[] {
  const number = (name: string, values: Int32Array): KnownColumn => ({
    name,
    type: { type: "INT32" },
    values,
  });
  const text = { type: "BYTE_ARRAY", converted_type: "UTF8" } as const;
  return [
    number("bin", bin),
    number("event", Int32Array.from(event)),
    ...(set === undefined ? [] : [{ name: "set", type: text, values: set }]),
    ...(person === undefined ? [] : [number("person", person)]),
  ];
}

/** The role of each row, in the words of a split. */
export function nameSets(N: number, { fit, held }: BoostRowSets): string[] {
  const sets = new Array<string>(N).fill("train");
  for (const row of fit) sets[row] = "validation";
  for (const row of held) sets[row] = "test";
  return sets;
}

/** Writes curves as `graduate predict` does, with outcomes beside them if known; `rows` if some were fitted on. */
export async function writeCurves(
  path: string,
  curves: Curves,
  {
    grid,
    outcomes,
    people,
  }: Pick<Predictions, "grid" | "people"> & {
    readonly outcomes: BinnedSingleCause | null;
  },
  rows?: BoostRowSets,
): Promise<void> {
  const { N, T } = curves;
  const median = medianTimes(curves, grid);
  const output = await openGrowingFile(path, "the repaired curves");
  try {
    const set = rows === undefined ? {} : { set: nameSets(N, rows) };
    const person = people === null ? {} : { person: people.of.map((one) => one + 1) };
    const known =
      outcomes === null ? undefined : { bin: outcomes.bin, event: outcomes.event, ...set, ...person };
    const written = path.endsWith(".parquet")
      ? await openParquetPredictions(output, T, present({ known }))
      : openCsvPredictions(output, T, present({ known }));
    await written.write({ curves, median });
    await written.finish();
  } finally {
    await output.abandon();
  }
}
