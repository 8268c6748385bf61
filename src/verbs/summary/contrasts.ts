/**
 * What each column of a model can be compared between, from what its file holds of the training rows: the quartiles of
 * a number (older files: the line of scores of one with splines, mean ± standard deviation of others); both values of a
 * number that has two, which its mean, deviation and range give away; each value of a code against the median, each
 * level against the most common (older files: the first). And the typical row, in which everything else stays: medians,
 * majorities and most common levels.
 */
import { normalQuantile } from "../../core/distributions.ts";
import type {
  CategoryEncoding,
  ColumnEncoding,
  Encoder,
  NumberEncoding,
  Quartiles,
} from "../../data/encode/encoder.ts";
import { unshapeNumber } from "../../data/encode/number-shape.ts";
import type { ScoreLine } from "../../data/encode/spline.ts";
import { type Column, MISSING_BOOLEAN, MISSING_CODE, type Table } from "../../data/table.ts";

/** A cell of a composed row: a number (days for a date), 0 or 1, or a level. */
export type Cell = number | string;

/** By what a column's contrasts were chosen. */
export type ContrastBasis =
  | "quartiles"
  | "meanAndSd"
  | "range"
  | "bothValues"
  | "codes"
  | "commonLevel"
  | "levels";

/** Two cells of a column. */
export interface CellPair {
  readonly from: Cell;
  readonly to: Cell;
}

/** Which cells of a column are compared, and the points of its curve, if it has one. */
export interface ColumnContrasts {
  readonly basis: ContrastBasis;
  readonly pairs: readonly CellPair[];
  readonly curve: readonly { readonly quantile: number; readonly value: number }[];
}

const QUARTILES = [0.25, 0.75] as const;
/** The quantiles at which a curve is shown. */
const CURVE_QUANTILES = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95] as const;

export function chooseContrasts(encoding: ColumnEncoding): ColumnContrasts {
  if (encoding.type === "boolean") return { basis: "bothValues", pairs: [{ from: 0, to: 1 }], curve: [] };
  if (encoding.type === "category") {
    const from = commonLevel(encoding);
    const others = encoding.levels.filter((level) => level !== from);
    const basis = encoding.common === undefined ? "levels" : "commonLevel";
    return { basis, pairs: others.map((to) => ({ from, to })), curve: [] };
  }
  const { median, codes, spline, range, quartiles } = encoding;
  if (codes !== undefined) {
    const others = codes.filter((code) => code !== median);
    return { basis: "codes", pairs: others.map((code) => ({ from: median, to: code })), curve: [] };
  }
  if (spline !== undefined) {
    const valueAt = (p: number) => roundCell(encoding, quantileOf(spline, p));
    const [from, to] = quartiles ? roundQuartiles(encoding, quartiles) : QUARTILES.map(valueAt);
    const curve = CURVE_QUANTILES.map((quantile) => ({ quantile, value: valueAt(quantile) }));
    return { basis: "quartiles", pairs: [{ from, to }], curve };
  }
  if (range !== undefined && hasTwoValues(encoding)) {
    return { basis: "bothValues", pairs: [{ from: range.minimum, to: range.maximum }], curve: [] };
  }
  if (quartiles !== undefined && quartiles.lower < quartiles.upper) {
    const [from, to] = roundQuartiles(encoding, quartiles);
    return { basis: "quartiles", pairs: [{ from, to }], curve: [] };
  }
  return { ...spreadOf(encoding), curve: [] };
}

function commonLevel({ common, levels }: CategoryEncoding): string {
  return common ?? levels[0];
}

function roundQuartiles(encoding: NumberEncoding, { lower, upper }: Quartiles): readonly [number, number] {
  return [roundCell(encoding, lower), roundCell(encoding, upper)];
}

/** A quantile of the training values, read back off the line of their normal scores. */
function quantileOf({ at, scores }: ScoreLine, p: number): number {
  const z = normalQuantile(p);
  const last = scores.length - 1;
  if (z <= scores[0]) return at[0];
  if (z >= scores[last]) return at[last];
  let k = 0;
  while (scores[k + 1] < z) k++;
  return at[k] + ((z - scores[k]) / (scores[k + 1] - scores[k])) * (at[k + 1] - at[k]);
}

/** Rounding of a mean and a deviation. */
const SAME_SPREAD = 1e-9;

/** Of all values between two ends with the same mean, those at the ends alone have the largest variance. */
function hasTwoValues({ mean, sd, range, logFloor }: NumberEncoding): boolean {
  if (range === undefined || logFloor !== undefined) return false;
  const largest = (mean - range.minimum) * (range.maximum - mean);
  return largest > 0 && Math.abs(sd * sd - largest) <= SAME_SPREAD * largest;
}

/** An encoder that does not standardise keeps neither mean nor deviation. */
function spreadOf(encoding: NumberEncoding): Omit<ColumnContrasts, "curve"> {
  const { mean, sd, median, range } = encoding;
  const within = (value: number) =>
    range === undefined ? value : Math.min(Math.max(value, range.minimum), range.maximum);
  if (mean === 0 && sd === 1 && range !== undefined) {
    return { basis: "range", pairs: [{ from: range.minimum, to: range.maximum }] };
  }
  const cellOf = (shaped: number) => within(roundCell(encoding, unshapeNumber(shaped, encoding)));
  const [from, to] = [mean - sd, mean + sd].map(cellOf);
  return { basis: "meanAndSd", pairs: from === to ? [{ from: median, to }] : [{ from, to }] };
}

/** Digits of a cell that no row has: what is shown is what is computed. */
const CELL_DIGITS = 4;

/** A computed cell as a person would write it; dates are whole days. */
function roundCell({ type }: NumberEncoding, value: number): number {
  return type === "date" ? Math.round(value) : Number(value.toPrecision(CELL_DIGITS));
}

/** The typical cell of a column. */
export function typicalCell(encoding: ColumnEncoding): Cell {
  switch (encoding.type) {
    case "boolean":
      return encoding.majority;
    case "category":
      return commonLevel(encoding);
    default:
      return encoding.median;
  }
}

/** One row: the typical cells, but for one column. */
export interface ComposedRow {
  readonly column: string | null;
  readonly cell: Cell;
}

/**
 * A table of composed rows. `made` are columns of the encoder that a table does not have, `unknown` columns that enter
 * through groups alone, of which the file knows nothing: they are missing, and such groups have no members.
 */
export function composeRows(
  { columns }: Encoder,
  rows: readonly ComposedRow[],
  { made, unknown }: { readonly made: ReadonlySet<string>; readonly unknown: readonly string[] },
): Table {
  const own = columns.filter(({ column }) => !made.has(column));
  return {
    name: "typical rows",
    rows: rows.length,
    columns: [
      ...own.map((encoding) =>
        composeColumn(
          encoding,
          rows.map(({ column, cell }) => (column === encoding.column ? cell : typicalCell(encoding))),
        ),
      ),
      ...unknown.map(
        (name): Column => ({ name, type: "number", values: new Float64Array(rows.length).fill(Number.NaN) }),
      ),
    ],
  };
}

function composeColumn(encoding: ColumnEncoding, cells: readonly Cell[]): Column {
  const { column: name } = encoding;
  switch (encoding.type) {
    case "category": {
      const levels = encoding.levels;
      const codes = Int32Array.from(cells, (cell) => {
        const code = levels.indexOf(String(cell));
        return code < 0 ? MISSING_CODE : code;
      });
      return { name, type: "category", levels, codes };
    }
    case "boolean":
      return {
        name,
        type: "boolean",
        values: Uint8Array.from(cells, (cell) => (typeof cell === "number" ? cell : MISSING_BOOLEAN)),
      };
    default:
      return { name, type: encoding.type, values: Float64Array.from(cells, Number) };
  }
}
