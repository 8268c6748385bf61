/**
 * The person's choices as the library's request, and as the command that makes the same model in a terminal. Fields
 * are in the order of the command line's own request, so that a checkpoint of the page goes on there.
 */
import {
  type Group,
  parseNamedGroup,
  type Split,
  splitTable,
  type Table,
  type TrainRequest,
} from "graduate-survival";
import { present } from "graduate-survival/core";
import type { OutcomeColumns } from "graduate-survival/data";
import { describeCommand } from "graduate-survival/report";
import type { DistanceName } from "graduate-survival/training";
import type { Choices, NamedGroup, Role } from "../protocol.ts";

export function outcomeOf(choices: Choices): OutcomeColumns {
  const { time, event, eventIs, origin, entry, start, weights } = choices;
  return { time, event, ...optional({ eventIs, origin, entry, start, weights }), ...causesOf(choices) };
}

const NUMBER = /^\d+$/;

/**
 * The values that are causes, and the one that means censored; nothing where there is one kind of event. The library
 * takes one such value: of several it is told none, and knows those that say in any study that nothing happened.
 */
function causesOf({ causes, causeNames }: Choices): Pick<OutcomeColumns, "causes" | "censored"> {
  const valuesOf = (kind: "cause" | "censored") =>
    Object.entries(causes).flatMap(([value, own]) => (own === kind ? [value] : []));
  const named = valuesOf("cause");
  if (named.length === 0) return {};
  const write = (value: string) => {
    // A number by itself is no word in a sentence.
    const usual = NUMBER.test(value) ? `cause ${value}` : value;
    // A quotation mark cannot be written within a value of the command.
    const name = (causeNames[value] ?? "").replaceAll('"', "").trim() || usual;
    return name === value ? value : `${value}=${name}`;
  };
  const [censored, ...others] = valuesOf("censored");
  return { causes: named.map(write), ...(others.length > 0 ? {} : present({ censored })) };
}

/** Without the fields that are "". */
function optional<Fields extends Readonly<Record<string, string>>>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== "")) as Partial<Fields>;
}

/** Columns of a role, in the table's order; the outcome has none. */
export function columnsOf({ columns }: Table, choices: Choices, role: Role): string[] {
  const { time, event, origin, entry, start, weights, roles } = choices;
  const outcome = [time, event, origin, entry, start, weights];
  const names = columns.map(({ name }) => name).filter((name) => !outcome.includes(name));
  return names.filter((name) => (roles[name] ?? "learn") === role);
}

/** A list, or nothing where it is empty. */
const listed = (names: readonly string[]) => (names.length === 0 ? undefined : names);

export function personOf(table: Table, choices: Choices): string | undefined {
  return columnsOf(table, choices, "person")[0];
}

/** Rows are divided by what they say and the seed, and by person where a column says whose they are. */
export function splitOf(table: Table, choices: Choices): Split {
  const id = personOf(table, choices);
  const { time, event, entry, start } = choices;
  const columns = { time, event, ...optional({ entry, start }), ...present({ id }) };
  return splitTable(table, columns, { seed: choices.train.seed });
}

export function toRequest(table: Table, choices: Choices): TrainRequest {
  const { train } = choices;
  const { distance, steps, preset, splines, seed, slack } = train;
  return {
    time: choices.time,
    event: choices.event,
    groups: choices.groups.map(toGroup),
    ...present({
      ...optional({ eventIs: choices.eventIs, origin: choices.origin }),
      drop: listed(columnsOf(table, choices, "leave")),
      allowLeak: listed(choices.allowLeak),
      id: personOf(table, choices),
      rowsAreIndependent: choices.rowsAreIndependent ? true : undefined,
      protected: listed(columnsOf(table, choices, "hold")),
      ...optional({ entry: choices.entry, start: choices.start, weights: choices.weights }),
      ...causesOf(choices),
    }),
    constraint: present({ distance: distance as DistanceName | undefined, slack }),
    options: present({ steps }),
    ...present({ preset, splines }),
    method: "graduate",
    seed,
    split: splitOf(table, choices),
  };
}

/** As the command line reads it; what is no expression is refused with the place. */
export function toGroup(group: NamedGroup): Group {
  return parseNamedGroup(writeGroup(group));
}

/** `older: age >= 60`, or the expression alone where it is its own name. */
function writeGroup({ name, expression }: NamedGroup): string {
  return name === expression || name.trim() === ""
    ? expression
    : `"${name.replaceAll('"', '""')}": ${expression}`;
}

/** Names with commas are given one by one. */
function namesOption(option: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  return names.some((name) => name.includes(","))
    ? names.flatMap((name) => [option, name])
    : [option, names.join(",")];
}

/** Commas within quotation marks separate no causes. */
const quoted = (cause: string) => (cause.includes(",") ? `"${cause}"` : cause);

export function groupOptions({ groups }: Choices): string[] {
  return groups.flatMap((group) => ["--group", writeGroup(group)]);
}

/** The files that the command writes, named after the table. */
export function stemOf(name: string): string {
  return name.replace(/(\.(csv|tsv|txt|parquet|pq|gz))+$/i, "") || "table";
}

export function describeRun(table: Table, choices: Choices): string {
  const { train } = choices;
  const stem = stemOf(table.name);
  const { causes, censored } = causesOf(choices);
  const value = (option: string, given: string | number | undefined) =>
    given === undefined || given === "" ? [] : [option, String(given)];
  return describeCommand([
    ...["train", table.name, "--time", choices.time, "--event", choices.event],
    ...value("--event-is", choices.eventIs),
    ...value("--causes", causes?.map(quoted).join(",")),
    ...value("--censored", censored),
    ...value("--origin", choices.origin),
    ...value("--entry", choices.entry),
    ...value("--start", choices.start),
    ...value("--weights", choices.weights),
    ...namesOption("--category", choices.category),
    ...namesOption("--number", choices.number),
    ...value(
      "--decimal",
      choices.decimal ?? (choices.number.length > 0 && !choices.thousands ? "comma" : ""),
    ),
    ...value("--thousands", choices.thousands),
    ...value("--date-order", choices.dateOrder),
    ...namesOption("--as-written", choices.asWritten ?? []),
    ...namesOption("--drop", columnsOf(table, choices, "leave")),
    ...namesOption("--protected", columnsOf(table, choices, "hold")),
    ...namesOption("--allow-leak", choices.allowLeak),
    ...value("--id", personOf(table, choices)),
    ...(choices.rowsAreIndependent ? ["--rows-are-independent"] : []),
    ...groupOptions(choices),
    ...(train.preset === "default" ? [] : ["--preset", train.preset]),
    ...(train.seed === 1 ? [] : ["--seed", String(train.seed)]),
    ...value("--ensemble", train.ensemble),
    ...(train.splines === undefined ? [] : [train.splines ? "--splines" : "--no-splines"]),
    ...value("--slack", train.slack),
    ...value("--distance", train.distance),
    ...value("--steps", train.steps),
    ...(train.deterministic ? ["--deterministic"] : []),
    ...(train.backend === "wasm" ? [] : ["--backend", train.backend]),
    ...value("--time-unit", choices.unit),
    ...["--out", `${stem}.model`, "--report", `${stem}-report.html`],
  ]);
}
