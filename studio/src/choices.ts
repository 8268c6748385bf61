/** All that a person decides, as plain data: it is what is kept, if they want it kept. */

import { present } from "graduate-survival/core";

/** What a column is for, beside time and event. */
export type Role = "learn" | "hold" | "person" | "leave";

export interface NamedGroup {
  readonly name: string;
  readonly expression: string;
}

/** Expert options; what is undefined is left to the data. */
export interface TrainChoices {
  readonly preset: "default" | "paper";
  readonly seed: number;
  readonly ensemble?: number;
  readonly splines?: boolean;
  readonly slack?: number;
  readonly distance?: string;
  readonly steps?: number;
  readonly deterministic: boolean;
  readonly backend: "wasm" | "webgpu" | "reference";
}

/** How a file is read where its cells do not say it. */
export interface Reading {
  /** Columns that are read as categories although they look like numbers. */
  readonly category: readonly string[];
  /** Columns that are read as numbers, with decimal commas. */
  readonly number: readonly string[];
  /** What stands before decimals and between thousands, where the table does not tell. */
  readonly decimal?: "point" | "comma";
  readonly thousands?: "point" | "comma";
  /** Which part of 3/4/2024 is the month. */
  readonly dateOrder?: "month-first" | "day-first";
  /** Columns whose values are meant, however odd. */
  readonly asWritten?: readonly string[];
}

/** How a file is read, of all choices. */
export function pickReading({
  category,
  number,
  decimal,
  thousands,
  dateOrder,
  asWritten,
}: Reading): Reading {
  return { category, number, ...present({ decimal, thousands, dateOrder, asWritten }) };
}

/** Everything that a person has chosen. */
export interface Choices extends Reading {
  readonly time: string;
  readonly event: string;
  /** The value of the event column that means it happened; "" leaves that to the reader's rules. */
  readonly eventIs: string;
  /** What each value of the event column means, where it tells several causes apart; empty where it does not. */
  readonly causes: Readonly<Record<string, "censored" | "cause">>;
  /** What a cause is called; its value where it has no name. */
  readonly causeNames: Readonly<Record<string, string>>;
  /** The date that times are counted from; "" where the time is a number. */
  readonly origin: string;
  /** Columns that an outcome may have beyond time and event; "" where it has none. */
  readonly entry: string;
  readonly start: string;
  readonly weights: string;
  /** The unit of time in words, for plots and the report. */
  readonly unit: string;
  readonly roles: Readonly<Record<string, Role>>;
  /** Columns that are learnt from although they give the outcome away, by name. */
  readonly allowLeak: readonly string[];
  readonly rowsAreIndependent: boolean;
  /** Columns of which the person has said that they were known at the start. */
  readonly known: readonly string[];
  readonly groups: readonly NamedGroup[];
  readonly train: TrainChoices;
}

const TRAIN: TrainChoices = { preset: "default", seed: 1, deterministic: false, backend: "wasm" };

/** Nothing is decided. */
export const NO_CHOICES: Choices = {
  category: [],
  number: [],
  time: "",
  event: "",
  eventIs: "",
  causes: {},
  causeNames: {},
  origin: "",
  entry: "",
  start: "",
  weights: "",
  unit: "",
  roles: {},
  allowLeak: [],
  rowsAreIndependent: false,
  known: [],
  groups: [],
  train: TRAIN,
};
