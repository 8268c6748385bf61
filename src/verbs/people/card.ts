/**
 * What the card of one person shows, as plain data: the curve beside everyone's, risks, what drives them, how right the
 * model is for the groups the person belongs to, what is doubtful about the row, and what the model does not know.
 * The slow parts, explanation and judged groups, are passed in, so that a page can draw one card after another. Times
 * are in the unit of the table; report/card turns the data into a page.
 */
import { unitsInAYear } from "../../core/calendar.ts";
import { InputError } from "../../core/errors.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { findDoubtfulCells } from "../../data/encode/doubtful-cells.ts";
import type { ColumnEncoding } from "../../data/encode/encoder.ts";
import { showValue } from "../../data/encode/new-cells.ts";
import { columnsOf } from "../../data/groups/group-expression.ts";
import { groupColumnName } from "../../data/groups/groups.ts";
import { parseGroup } from "../../data/groups/parse-group.ts";
import { outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import type { TimeGrid } from "../../data/outcomes/time-grid.ts";
import { cellText, findColumn, type Table } from "../../data/table.ts";
import { riskAt } from "../../stats/curve-readings.ts";
import { isStartStop, type Model } from "../../training/model.ts";
import { columnsNeeded, gridOf } from "../predict.ts";
import type { CurveBands } from "./bands.ts";
import type { JudgedGroups } from "./card-groups.ts";
import type { Explanation } from "./explain.ts";
import { isMember } from "./explained-columns.ts";

/** The risk by one time. */
export interface CardRisk {
  readonly time: number;
  readonly risk: number;
  /** The mean risk of the background. */
  readonly everyone: number;
  /** By the limits of the curve; null where there are none. */
  readonly limits: { readonly lower: number; readonly upper: number } | null;
}

/** Everything that a card shows. */
export interface CardData {
  readonly person: { readonly table: string; readonly row: number; readonly id: string | null };
  readonly method: string;
  /** The event's column. */
  readonly event: string;
  /** "days", or "time" where the unit is not known; all times of the card are in it. */
  readonly time: { readonly label: string; readonly edges: Float64Array }; // edges [T+1]
  readonly survival: Float64Array; // [T]
  readonly everyone: Float64Array; // [T]
  /** Limits of the person's curve; null where there are none. */
  readonly bands: CurveBands | null;
  /** Of the event; with several causes, of the one that the explanation speaks of. */
  readonly risks: readonly CardRisk[];
  /** With the incidence of every cause and what drives it, where the model has several. */
  readonly explanation: Explanation;
  /** The groups that the person belongs to, everyone first. */
  readonly groups: Measured<JudgedGroups>;
  /** What is doubtful about the row, one sentence each. */
  readonly warnings: readonly string[];
  /** What the model was not given. */
  readonly unseen: {
    /** Columns of the table that it does not use, apart from the outcome and the id. */
    readonly columns: readonly string[];
    /** Groups it was held to without being told who is in them. */
    readonly groups: readonly string[];
  };
  /** The model learnt from start-stop rows: the curve is what follows if these features stay as they are. */
  readonly staysAsItIs?: boolean;
  /** Whether counts under five are hidden. */
  readonly hidesSmallCells: boolean;
}

/** What a card is made of. */
export interface CardInput {
  /** The model that predicts. */
  readonly model: Model;
  /** The table with the person's row. */
  readonly table: Table;
  /** What `explainPerson` or a prepared explainer gave for the row; its times are those of the card. */
  readonly explanation: Explanation;
  /** What `judgeCardGroups` gave for a table with outcomes; without it the card says that there are none. */
  readonly groups?: Measured<JudgedGroups>;
  /** The unit of the table's times, "days". */
  readonly timeUnit?: string;
  /** The column that says whose row it is. */
  readonly id?: string;
  /** Limits of the person's curve. */
  readonly bands?: CurveBands;
  /** Prints counts of people under five as they are. */
  readonly showSmallCells?: boolean;
}

/** Computes what a card shows, in any runtime. */
export function gatherCard(input: CardInput): CardData {
  const { model, table, explanation, id, bands = null } = input;
  const { row, survival, everyone, times } = explanation;
  const grid = gridOf(model);
  checkBands(bands, grid);
  const limits = bands && {
    lower: readRisks(bands.upper, grid, times),
    upper: readRisks(bands.lower, grid, times),
  };
  return {
    person: {
      table: table.name,
      row: row + 1,
      id: id === undefined ? null : cellText(findColumn(table, id), row),
    },
    method: model.method,
    event: model.columns.event,
    time: { label: timeLabel(input), edges: grid.edges },
    survival,
    everyone,
    bands,
    risks: times.map(({ time, risk }, k) => ({
      time,
      risk: risk.prediction,
      everyone: risk.baseline,
      limits: limits && { lower: limits.lower[k], upper: limits.upper[k] },
    })),
    explanation,
    groups: pickOwn(input.groups ?? absent("no rows with a known outcome were given"), table, row),
    warnings: describeDoubts(model, table, row),
    unseen: listUnseen(model, table, id),
    ...(isStartStop(model) ? { staysAsItIs: true } : {}),
    hidesSmallCells: input.showSmallCells !== true,
  };
}

/** Times counted from a date are in days. */
function timeLabel({ model, timeUnit }: CardInput): string {
  return timeUnit ?? (model.columns.origin === undefined ? "time" : "days");
}

function checkBands(bands: CurveBands | null, { T }: TimeGrid): void {
  if (bands === null || (bands.lower.length === T && bands.upper.length === T)) return;
  throw new InputError(`limits of ${bands.lower.length} and ${bands.upper.length} bins for a curve of ${T}`, {
    code: "grid.mismatch",
  });
}

function readRisks(
  survival: Float64Array,
  grid: TimeGrid,
  times: readonly { readonly time: number }[],
): Float64Array {
  return riskAt(
    { N: 1, T: grid.T, survival },
    grid,
    times.map(({ time }) => time),
  );
}

function pickOwn(judged: Measured<JudgedGroups>, table: Table, row: number): Measured<JudgedGroups> {
  if (isAbsent(judged)) return judged;
  const isOwn = (group: { readonly name: string; readonly expression: string }) =>
    isMember(group, table, row);
  return {
    ...judged,
    groups: judged.groups.filter(isOwn),
    byCause: judged.byCause?.filter(isOwn) ?? null,
  };
}

/** What is doubtful about a row, one sentence a cell. */
export function describeDoubts({ encoder, inputGroups }: Model, table: Table, row: number): string[] {
  const made = inputGroups.map(groupColumnName);
  const doubts = findDoubtfulCells(encoder, table, [row], made);
  const encodingOf = new Map(encoder.columns.map((one) => [one.column, one]));
  const textOf = (name: string) => cellText(findColumn(table, name), row);
  return [
    ...doubts.outsideRange[0].map(
      (name) =>
        `${name} is ${textOf(name)}, outside what training had${sayRange(encodingOf.get(name))}: the curve is a guess`,
    ),
    ...doubts.imputed[0].map((name) => `${name} is missing: ${standIn(encodingOf.get(name))} stands in`),
    ...doubts.unknownLevels[0].map((name) =>
      textOf(name) === ""
        ? `${name} is missing, which it never was in training`
        : `${name} is ${textOf(name)}, a level that no training row had`,
    ),
  ];
}

function sayRange(encoding: ColumnEncoding | undefined): string {
  if (encoding === undefined || encoding.type === "category" || encoding.type === "boolean") return "";
  const { range } = encoding;
  if (range === undefined) return "";
  return `, ${showValue(encoding, range.minimum)} to ${showValue(encoding, range.maximum)}`;
}

function standIn(encoding: ColumnEncoding | undefined): string {
  if (encoding?.type === "boolean")
    return `the training majority, ${encoding.majority === 1 ? "true" : "false"},`;
  if (encoding === undefined || encoding.type === "category") return "what is usual";
  return `the training median, ${showValue(encoding, encoding.median)},`;
}

function listUnseen(model: Model, table: Table, id: string | undefined): CardData["unseen"] {
  const used = new Set([...columnsNeeded(model), ...outcomeNames(model.columns), model.columns.id, id]);
  const seen = new Set(columnsNeeded(model));
  return {
    columns: table.columns.map(({ name }) => name).filter((name) => !used.has(name)),
    groups: model.groups
      .filter(({ expression }) => columnsOf(parseGroup(expression)).some((name) => !seen.has(name)))
      .map(({ name }) => name),
  };
}

/** Years that people ask for. */
const YEARS = [1, 5, 10] as const;
/** Shares of the horizon, where years say nothing. */
const SHARES = [0.25, 0.5, 1] as const;
/** Digits of such a time: a horizon may be one person's own time. */
const DIGITS = 2;

/** Times to speak of: 1, 5 and 10 years where at least two of them fit, else a quarter, half and all of the horizon. */
export function chooseRiskTimes({ edges, T }: TimeGrid, timeUnit?: string): readonly number[] {
  const horizon = edges[T];
  const inYear = timeUnit === undefined ? null : unitsInAYear(timeUnit);
  const years = inYear === null ? [] : YEARS.map((year) => year * inYear).filter((time) => time <= horizon);
  if (years.length > 1) return years;
  return [...new Set(SHARES.map((share) => roundDown(share * horizon)))];
}

/** To the digits above, and never to a later time. */
function roundDown(time: number): number {
  const [digits, exponent] = time.toExponential(FLOAT_DIGITS).split("e");
  return Number(`${digits.slice(0, DIGITS + 1)}e${exponent}`);
}

/** After the first, what a float64 holds for certain. */
const FLOAT_DIGITS = 14;
