/**
 * The table that predictions for people become, column by column: one row a person, or one row a person and time. In
 * the wide form what `predict` always had comes first (row, curves, median, the ranking), then whose row it is, what
 * was read off the curves, what is doubtful, and last the sides of bands and bounds. Whoever writes the table asks each
 * column for its cells.
 */
import { InputError } from "../../core/errors.ts";
import { isAbsent } from "../../core/measured.ts";
import type { LowerBound } from "./lower-bound.ts";
import {
  type CurveReadings,
  formatPercent,
  type PeopleBands,
  type PeoplePrediction,
  type PeopleRequest,
} from "./predict-people.ts";

/** Predicted people, and how many rows of the table came before theirs. */
export interface PeoplePart extends PeoplePrediction {
  readonly firstRow: number;
}

/** One column of the table. */
export interface PeopleColumn<Part = PeoplePart> {
  readonly name: string;
  /** "measured" is a number that may be absent; "count" a whole number. */
  readonly kind: "count" | "probability" | "number" | "measured" | "text";
  /** The cell of row i of a part, for time k in the long form; null where it is absent. */
  cell(part: Part, i: number, k: number): number | string | null;
}

/** How the table looks. */
export interface PeopleLayout {
  /** One row a person and time, in place of one row a person. */
  readonly long?: boolean;
  /** How many columns S1, S2, … of the curves the wide form has: all T of them, or none, the default. */
  readonly curves?: number;
  /** The names of the model's causes, where it tells several apart. */
  readonly causes?: readonly string[];
}

/** The table's columns, and how many rows a person has. */
export interface PeopleTable<Part = PeoplePart> {
  readonly columns: readonly PeopleColumn<Part>[];
  readonly rowsEach: number;
}

/** Lays out the table for a request; refuses what has no place in the long form. */
export function layOutPeople(request: PeopleRequest, layout: PeopleLayout = {}): PeopleTable {
  const { at = [] } = request;
  if (layout.long !== true) return { columns: unrounded(listWide(request, layout), layout), rowsEach: 1 };
  refuseInLong(request);
  const columns: readonly PeopleColumn[] = [
    ...listId(request),
    ROW,
    { name: "time", kind: "number", cell: (_, __, k) => at[k] },
    { name: "survival", kind: "probability", cell: ({ survival }, i, k) => survival[i * at.length + k] },
    { name: "risk", kind: "probability", cell: ({ risk }, i, k) => risk[i * at.length + k] },
    ...(layout.causes ?? []).map((name, c, { length: K }): PeopleColumn => {
      const cell = ({ causes }: PeoplePart, i: number, k: number) =>
        causes?.risk[(i * K + c) * at.length + k] ?? null;
      return { name: `risk_${name}`, kind: "probability", cell };
    }),
    ...DOUBTS,
    ...(request.bands === undefined ? [] : SIDES.map((side) => longColumn(side, at.length))),
  ];
  return { columns: unrounded(columns, layout), rowsEach: at.length };
}

/** Where causes are told apart, incidences and survival make 1 to the last digits: none of them is rounded. */
function unrounded(columns: readonly PeopleColumn[], { causes = [] }: PeopleLayout): readonly PeopleColumn[] {
  if (causes.length === 0) return columns;
  return columns.map((column) => (column.kind === "probability" ? { ...column, kind: "number" } : column));
}

function listWide(
  request: PeopleRequest,
  { curves = 0, causes = [] }: PeopleLayout,
): readonly PeopleColumn[] {
  const { at = [], quantiles = [], rmst, ranking = false } = request;
  return [
    ROW,
    ...Array.from({ length: curves }, (_, t) => curveColumn(t)),
    { name: "median", kind: "measured", cell: ({ median }, i) => numberOrNull(median[i]) },
    ...(ranking ? [RANKING] : []),
    ...listId(request),
    ...at.map((time, k) => riskColumn(time, k, at.length)),
    ...listCauses(causes, at, curves),
    ...quantiles.map((share, k) => quantileColumn(share, k, quantiles.length)),
    ...(rmst === undefined ? [] : [meanColumn(rmst)]),
    ...DOUBTS,
    ...(request.bands === undefined ? [] : SIDES.flatMap((side) => listBands(side, request, curves))),
    ...(request.lowerBound === undefined ? [] : listBounds(request.lowerBound)),
  ];
}

/** The bound, and 1 where it is the last time that can be spoken of. */
function listBounds({ level }: LowerBound): readonly PeopleColumn[] {
  const name = `bound_${formatPercent(level)}`;
  return [
    { name, kind: "measured", cell: ({ bounds }, i) => bounds?.time[i] ?? null },
    { name: `${name}_beyond`, kind: "count", cell: ({ bounds }, i) => bounds?.isBeyond[i] ?? null },
  ];
}

/** The two sides of a band. */
const SIDES = ["lower", "upper"] as const;
type Side = (typeof SIDES)[number];

/** One side of every curve, of the median and of what was read off: a low curve is a high risk and an early time. */
function listBands(side: Side, request: PeopleRequest, curves: number): readonly PeopleColumn[] {
  const { at = [], quantiles = [], rmst } = request;
  const other = side === "lower" ? "upper" : "lower";
  const read = ({ bands }: PeoplePart) => readingsOf(bands, side);
  return [
    ...Array.from({ length: curves }, (_, t): PeopleColumn => {
      const cell = ({ bands, curves: { T } }: PeoplePart, i: number) => bands?.[side][i * T + t] ?? null;
      return { name: `S${t + 1}_${side}`, kind: "probability", cell };
    }),
    {
      name: `median_${side}`,
      kind: "measured",
      cell: (part, i) => numberOrNull(read(part)?.median[i] ?? Number.NaN),
    },
    ...at.map((time, k): PeopleColumn => {
      const survivalOf = ({ bands }: PeoplePart, i: number) =>
        readingsOf(bands, other)?.survival[i * at.length + k];
      const cell = (part: PeoplePart, i: number) => 1 - (survivalOf(part, i) ?? 1);
      return { name: `risk_${time}_${side}`, kind: "probability", cell };
    }),
    ...quantiles.map((share, k): PeopleColumn => {
      const cell = (part: PeoplePart, i: number) => {
        const time = read(part)?.quantile[i * quantiles.length + k];
        return time === undefined || isAbsent(time) ? null : time;
      };
      return { name: `time_q${formatPercent(share)}_${side}`, kind: "measured", cell };
    }),
    ...(rmst === undefined
      ? []
      : [
          {
            name: `rmst_${rmst}_${side}`,
            kind: "number",
            cell: (part, i) => read(part)?.restrictedMean?.[i] ?? null,
          } satisfies PeopleColumn,
        ]),
  ];
}

function readingsOf(bands: PeopleBands | null, side: Side): CurveReadings | undefined {
  return side === "lower" ? bands?.ofLower : bands?.ofUpper;
}

function longColumn(side: Side, times: number): PeopleColumn {
  return {
    name: `survival_${side}`,
    kind: "probability",
    cell: ({ bands }, i, k) => readingsOf(bands, side)?.survival[i * times + k] ?? null,
  };
}

const ROW: PeopleColumn = { name: "row", kind: "count", cell: ({ firstRow }, i) => firstRow + i + 1 };

function listId({ id }: PeopleRequest): readonly PeopleColumn[] {
  return id === undefined ? [] : [{ name: "id", kind: "text", cell: (part, i) => part.id?.[i] ?? "" }];
}

function curveColumn(t: number): PeopleColumn {
  return {
    name: `S${t + 1}`,
    kind: "probability",
    cell: ({ curves: { T, survival } }, i) => survival[i * T + t],
  };
}

const RANKING: PeopleColumn = {
  name: "risk",
  kind: "number",
  cell: ({ ranking }, i) => ranking?.[i] ?? null,
};

function riskColumn(time: number, k: number, K: number): PeopleColumn {
  return { name: `risk_${time}`, kind: "probability", cell: ({ risk }, i) => risk[i * K + k] };
}

/** The risk of each cause by every time, and its whole incidence where curves are wanted: death_F1, death_F2, … */
function listCauses(
  names: readonly string[],
  at: readonly number[],
  curves: number,
): readonly PeopleColumn[] {
  const K = names.length;
  return names.flatMap((name, c) => [
    ...at.map((time, k): PeopleColumn => {
      const cell = ({ causes }: PeoplePart, i: number) => causes?.risk[(i * K + c) * at.length + k] ?? null;
      return { name: `risk_${time}_${name}`, kind: "probability", cell };
    }),
    ...Array.from({ length: curves }, (_, t): PeopleColumn => {
      const cell = ({ causes, curves: { T } }: PeoplePart, i: number) =>
        causes?.incidence[(i * K + c) * T + t] ?? null;
      return { name: `${name}_F${t + 1}`, kind: "probability", cell };
    }),
  ]);
}

function quantileColumn(share: number, k: number, K: number): PeopleColumn {
  return {
    name: `time_q${formatPercent(share)}`,
    kind: "measured",
    cell({ quantile }, i) {
      const time = quantile[i * K + k];
      return isAbsent(time) ? null : time;
    },
  };
}

function meanColumn(until: number): PeopleColumn {
  return {
    name: `rmst_${until}`,
    kind: "number",
    cell: ({ restrictedMean }, i) => restrictedMean?.[i] ?? null,
  };
}

/** Between the names of doubtful columns. */
const BETWEEN = ";";

const DOUBTS: readonly PeopleColumn[] = [
  {
    name: "outside_range",
    kind: "text",
    cell: ({ doubts }, i) => doubts.outsideRange[i].join(BETWEEN),
  },
  { name: "imputed", kind: "text", cell: ({ doubts }, i) => doubts.imputed[i].join(BETWEEN) },
  {
    name: "unknown_levels",
    kind: "text",
    cell: ({ doubts }, i) => doubts.unknownLevels[i].join(BETWEEN),
  },
];

function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

/** What belongs to a person and not to a time would be repeated in every one of the person's rows. */
function refuseInLong({ quantiles = [], rmst, ranking, lowerBound }: PeopleRequest): void {
  const misplaced = [
    ...(quantiles.length > 0 ? ["--quantiles"] : []),
    ...(rmst === undefined ? [] : ["--rmst"]),
    ...(ranking === true ? ["--risk"] : []),
    ...(lowerBound === undefined ? [] : ["--lower-bound"]),
  ];
  if (misplaced.length === 0) return;
  throw new InputError(`--long has one row a person and time: it cannot go with ${misplaced.join(", ")}`, {
    code: "option.conflict",
    hint: "leave --long out, or make two tables: these belong to a person, not to a time",
  });
}
