/**
 * Options shared by commands that train: which columns and groups to use, and how rows are split. Turns them into the
 * request of `train`; each command adds what only it knows.
 */
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { parseNamedGroup } from "../../data/groups/groups.ts";
import { readPeople } from "../../data/outcomes/people.ts";
import type { OutcomeColumns } from "../../data/outcomes/read-outcomes.ts";
import { refuseTornPeople, type Split, splitFromTable, splitRows } from "../../data/outcomes/split.ts";
import type { Table } from "../../data/table.ts";
import type { DistanceName } from "../../training/choices.ts";
import type { TrainRequest } from "../../verbs/train.ts";
import {
  addGroupOptions,
  addOutcomeOptions,
  addTableOptions,
  type GroupOptions,
  idOption,
  namesOption,
  parseCount,
  parsePositive,
  readGroupsFile,
  readTableFile,
} from "./table-options.ts";

/** What a run is about, whatever is fitted: request fields taken from options unchanged, and groups. */
export interface SubjectOptions
  extends OutcomeColumns,
    GroupOptions,
    Pick<TrainRequest, "features" | "drop" | "allowLeak" | "autoGroups" | "id" | "rowsAreIndependent">,
    Pick<TrainRequest, "bins" | "horizon"> {}

export interface TrainRequestOptions
  extends SubjectOptions,
    Pick<TrainRequest, "preset" | "splines" | "network" | "hidden"> {
  readonly distance?: DistanceName;
  readonly steps?: number;
}

/** Outcome, how columns are read, groups, features and time grid. */
export function addSubjectOptions(command: Command): Command {
  return addGroupOptions(addTableOptions(addOutcomeOptions(command)))
    .option(
      "--features <columns>",
      "the columns to learn from (default: all but ids and constants)",
      namesOption,
    )
    .option("--drop <columns>", "columns not to learn from", namesOption)
    .option("--allow-leak <columns>", "learn from these although they give the outcome away", namesOption)
    .option("--auto-groups <n>", "add n groups: values of categories, bands of numbers", parseCount)
    .option("--id <column>", "whose row it is: all rows of a person stay together", idOption)
    .option(
      "--rows-are-independent",
      "take rows as people although a column looks like an id with several rows",
    )
    .option("--bins <n>", "time bins (default: 102)", parseCount)
    .option(
      "--horizon <time>",
      "the end of the last bin (default: the largest training time)",
      parsePositive,
    );
}

/** Turns the options into the request, which holds the contents of the groups file. */
export async function readSubject(options: SubjectOptions): Promise<TrainRequest> {
  const { time, event, groups } = options;
  return {
    time,
    event,
    groups: options.group.map(parseNamedGroup),
    // The order of the fields is part of a checkpoint's fingerprint (io/provenance.ts).
    ...present({
      eventIs: options.eventIs,
      origin: options.origin,
      features: options.features,
      drop: options.drop,
      allowLeak: options.allowLeak,
      groupsFile: groups === undefined ? undefined : await readGroupsFile(groups),
      autoGroups: options.autoGroups,
      id: options.id,
      rowsAreIndependent: options.rowsAreIndependent,
      bins: options.bins,
      horizon: options.horizon,
    }),
  };
}

/** The subject, and the settings common to every fit. */
export async function readTrainRequest(options: TrainRequestOptions): Promise<TrainRequest> {
  const { distance, steps, preset, splines, network, hidden } = options;
  return {
    ...(await readSubject(options)),
    constraint: present({ distance }),
    options: present({ steps }),
    ...present({ preset, splines, network, hidden }),
  };
}

/** `split` is a row,set table or three shares; without it, the usual shares by seed. With `id`, splits by person. */
export async function readSplit(
  table: Table,
  { seed, split, id }: { readonly seed: number; readonly split?: string; readonly id?: string },
): Promise<Split> {
  const people = id === undefined ? null : readPeople(table, id);
  const drawn = { seed, ...present({ people: people ?? undefined }) };
  if (split === undefined) return splitRows(table.rows, drawn);
  const shares = split.split(",").map(Number);
  if (shares.length === 3 && shares.every((share) => share >= 0 && share <= 1)) {
    return splitRows(table.rows, { ...drawn, fractions: [shares[0], shares[1], shares[2]] });
  }
  if (split !== "-" && !existsSync(split)) {
    throw new InputError(`no such split: "${split}"`, {
      code: "split.missing",
      hint: "--split takes a table of row,set, or three shares such as 0.6,0.2,0.2",
    });
  }
  const read = splitFromTable(await readTableFile(split, {}), table.rows);
  if (people !== null && id !== undefined) refuseTornPeople(read, people, { table, id });
  return read;
}
