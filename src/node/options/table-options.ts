/** Options that commands share: how a table is read, which columns hold the outcome, and which groups to use. */
import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { groupByColumns } from "../../data/groups/group-by.ts";
import {
  type Group,
  type GroupMembers,
  type GroupsFile,
  groupsFromFile,
  parseGroupsFile,
  parseNamedGroup,
  resolveGroups,
} from "../../data/groups/groups.ts";
import { type Split, splitFromTable } from "../../data/outcomes/split.ts";
import { type CellWriting, pickWriting } from "../../data/reading/containers.ts";
import { readTable } from "../../data/reading/read-table.ts";
import type { Table } from "../../data/table.ts";
import type { StudyGroup } from "../../study/study.ts";
import type { Model } from "../../training/model.ts";
import { categoriesOf } from "../../verbs/predict.ts";
import { readTextFile, tableSourceFromPath } from "../io/input-file.ts";
import { hashFile, type TableFile } from "../io/provenance.ts";
import { createProgress } from "../print/output.ts";

/** What a command's TABLE may be. */
export const TABLE_ARGUMENT = "CSV, gzip or Parquet file, or a folder or 'pattern' of several";

/** How a table is read. The column of ids is read as it is written, whatever else a command does with it. */
export interface TableOptions extends CellWriting {
  readonly id?: string;
}

export interface GroupOptions {
  readonly group: readonly string[];
  readonly groups?: string;
}

/** "a,b" → ["a", "b"]; a name that holds a comma can be given by repeating the option. */
export function namesOption(text: string, before: readonly string[] = []): readonly string[] {
  return [
    ...before,
    ...text
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  ];
}

/** Names as above, in which a comma within quotation marks separates nothing: `"died, of it"=died,lost`. */
export function valuesOption(text: string, before: readonly string[] = []): readonly string[] {
  const parts = text.match(/(?:"[^"]*"|[^,"])+|"/g) ?? [];
  const isQuoted = parts.every((part) => part !== '"');
  if (!isQuoted) return namesOption(text, before);
  return [...before, ...parts.map((part) => part.replaceAll('"', "").trim()).filter((part) => part !== "")];
}

/** A parser that refuses numbers that are not right, and says what was expected. */
export function numberOption(
  isRight: (value: number, text: string) => boolean,
  expected: string,
): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!isRight(value, text)) throw new InvalidArgumentError(`expected ${expected}.`);
    return value;
  };
}

const isCount = (value: number) => Number.isInteger(value) && value >= 0;
export const parseCount = numberOption(isCount, "a whole number, 0 or more");
export const parsePositive = numberOption((value) => value > 0 && Number.isFinite(value), "a number above 0");
export const parseShare = numberOption((value) => value > 0 && value < 1, "a number between 0 and 1");

/** "365,1825" → [365, 1825]; a repeated option adds to what came before. */
export function numbersOption(
  isRight: (value: number) => boolean,
  expected: string,
): (text: string, before?: readonly number[]) => readonly number[] {
  return (text, before = []) => {
    const values = text.split(",").map((one) => (one.trim() === "" ? Number.NaN : Number(one)));
    if (!values.every(isRight)) throw new InvalidArgumentError(`expected ${expected}.`);
    return [...before, ...values];
  };
}

export const parseTimes = numbersOption(
  (time) => time >= 0 && Number.isFinite(time),
  "times from 0 up, e.g. 365,1825",
);
export const parseShares = numbersOption(
  (share) => share > 0 && share < 1,
  "numbers between 0 and 1, e.g. 0.25,0.5",
);

export function parseAtLeastOne(text: string): number {
  const value = parseCount(text);
  if (value === 0) throw new InvalidArgumentError("expected a whole number, 1 or more.");
  return value;
}

/** Each thread has its own stack and heap: a thousand of them fill the memory before they compute anything. */
const MANY_THREADS = 64;

const MOST_THREADS = Math.max(MANY_THREADS, availableParallelism());

/** Parses a number of threads or workers. */
export const parseThreads = numberOption(
  (value) => Number.isInteger(value) && value >= 1 && value <= MOST_THREADS,
  `a whole number from 1 to ${MOST_THREADS}`,
);

/** An option that may be given several times, one value each. */
export function repeatedOption(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Takes one column: a second --id would leave open which one is meant. */
export function idOption(text: string, before?: string): string {
  if (before !== undefined) throw new InvalidArgumentError("expected one column.");
  return text;
}

export function addIdOption(command: Command): Command {
  return command.option(
    "--id <column>",
    "whose row it is, where people have several rows (default: the model's)",
    idOption,
  );
}

export function addTableOptions(command: Command): Command {
  return command
    .option("--category <columns>", "read these columns as categories", namesOption)
    .option("--number <columns>", "read these columns as numbers", namesOption)
    .addOption(
      new Option(
        "--decimal <mark>",
        "how decimals are written (default: a point; a comma too where ; separates)",
      ).choices(["point", "comma"]),
    )
    .addOption(
      new Option(
        "--thousands <mark>",
        "what stands between thousands: 1.029, 1,029, 1 029 or nothing (default: what the table shows)",
      ).choices(["point", "comma", "space", "none"]),
    )
    .addOption(
      new Option("--date-order <order>", "how 3/4/2024 is read (default: what the table shows)").choices([
        "month-first",
        "day-first",
      ]),
    )
    .option("--as-written <columns>", "columns whose values are meant, such as a time of 9999", namesOption);
}

export function addOutcomeOptions(command: Command): Command {
  return command
    .requiredOption("--time <column>", "time to the event or to censoring")
    .option("--origin <column>", "the date that times are counted from, in days, where --time is a date")
    .requiredOption("--event <column>", "whether the event happened: 0/1, true/false, yes/no, dead/alive")
    .option("--event-is <value>", "the value of the event column that means it happened");
}

/** Everything an outcome may have: competing causes, late entry, rows one after the other, weights. */
export function addWholeOutcomeOptions(command: Command): Command {
  return addHistoryOptions(command)
    .option(
      "--causes <values>",
      "competing causes: the values of the event column that are events, each VALUE or VALUE=name",
      valuesOption,
    )
    .option("--censored <value>", "with --causes, the value that means censored (default: 0, no, none, …)");
}

/** The outcome with what it may have beyond time and event; where `causes` are named, no single event is. */
export function addHistoryOptions(command: Command, { causes = false } = {}): Command {
  const outcome = causes
    ? command
        .requiredOption("--time <column>", "time to the event or to censoring")
        .option("--origin <column>", "the date that times are counted from, in days, where --time is a date")
        .requiredOption("--event <column>", "what happened: a cause, or nothing")
    : addOutcomeOptions(command);
  return addRowOptions(outcome);
}

/** When a row was under observation, and how many it stands for; `of` says of what the options are. */
export function addRowOptions(command: Command, of = ""): Command {
  return (
    command
      .option("--entry <column>", `${of}when a row came under observation, where later than time 0`)
      .option("--start <column>", "the same where people have several rows, one after the other, with --id")
      .option("--stop <column>", "the end of such a row: another name of --time")
      .option("--weights <column>", `${of}how many people a row stands for`)
      // The time is asked for by one name, whichever was given.
      .on("option:stop", (column: string) => command.setOptionValue("time", column))
  );
}

/** Refuses a stop that is not the time, or has no start; and a value that is censored beside no cause. */
export function checkHistoryOptions(options: {
  readonly time: string;
  readonly start?: string;
  readonly stop?: string;
  readonly causes?: readonly string[];
  readonly cause?: string;
  readonly censored?: string;
}): void {
  const { time, start, stop, causes, cause, censored } = options;
  const refuse = (message: string, hint: string) => {
    throw new InputError(message, { code: "outcomes.options", hint });
  };
  if (stop !== undefined && stop !== time)
    refuse("both --time and --stop are given", "--stop is the time of start–stop rows: give one of them");
  if (stop !== undefined && start === undefined)
    refuse("--stop is given without --start", "name the start of each row as well, or give --time");
  if (censored !== undefined && causes === undefined && cause === undefined)
    refuse(
      "--censored is given, and no cause",
      "name the values that are events as well; one alone is --event-is",
    );
}

export function addGroupOptions(command: Command): Command {
  return command
    .option(
      "--group <expression>",
      'a group of people, e.g. "age >= 60 & sex = F" (repeatable)',
      repeatedOption,
      [],
    )
    .option("--groups <file>", "a JSON file of named groups and the automatic rule");
}

export async function readTableFile(path: string, options: TableOptions): Promise<Table> {
  const source = await tableSourceFromPath(path);
  const progress = createProgress(`reading ${source.name}`);
  try {
    return await readTable(source, {
      ...readingOptions(options),
      onProgress: (bytes) => progress.update(bytes, source.byteLength),
    });
  } finally {
    progress.finish();
  }
}

/** How a table is read, of all options of a command. */
export function readingOptions({ id, ids = [], ...options }: TableOptions): CellWriting {
  const all = [...ids, ...(id === undefined ? [] : [id])];
  return { ...pickWriting(options), ...(all.length === 0 ? {} : { ids: all }) };
}

/** How a model's table is read: categories in training stay categories. */
export function readingOf(model: Model, options: TableOptions): TableOptions {
  const ids = [...(options.ids ?? []), ...(model.columns.id === undefined ? [] : [model.columns.id])];
  const category = [...new Set([...(options.category ?? []), ...categoriesOf(model)])];
  return { ...options, category, ...(ids.length === 0 ? {} : { ids }) };
}

/** A row,set table that splits another table's rows; undefined if none is named. */
export async function readSplitFile(path: string | undefined, { rows }: Table): Promise<Split | undefined> {
  return path === undefined ? undefined : splitFromTable(await readTableFile(path, {}), rows);
}

/** The table with the hash of its file, which is read a second time for the hash. */
export async function openTableFile(path: string, options: TableOptions): Promise<TableFile> {
  const table = await readTableFile(path, options);
  return { path, table, sha256: await hashFile(path) };
}

export async function readGroupsFile(path: string): Promise<GroupsFile> {
  return parseGroupsFile(await readTextFile(path, "the groups file"), path);
}

/** One group for each value of each column; the columns are not crossed. */
export function groupsBy(table: Table, columns: readonly string[]): readonly StudyGroup[] {
  return columns.flatMap((column) => groupByColumns(table, [column]).groups);
}

/** `outcome` columns form no automatic groups. */
export async function readGroups(
  table: Table,
  options: GroupOptions,
  outcome: readonly string[] = [],
): Promise<readonly GroupMembers[]> {
  const groups: Group[] = options.group.map(parseNamedGroup);
  if (options.groups !== undefined) {
    const everyRow = Int32Array.from({ length: table.rows }, (_, row) => row);
    const file = await readGroupsFile(options.groups);
    groups.push(...groupsFromFile(file, table, everyRow, { exclude: outcome }));
  }
  return resolveGroups(groups, table);
}
