/**
 * Which columns discover makes groups from: the named ones, if any. Otherwise, for a model, its own columns (those it
 * learns from and those of its groups), so that columns deliberately kept from a model are not searched behind its
 * owner's back; for curves without a model, all columns that describe people at the start. Ids, constants and columns
 * that give the outcome away make no groups unless they are named.
 */

import { checkTable } from "../../data/checks/sanity.ts";
import { columnsOf } from "../../data/groups/group-expression.ts";
import { parseGroup } from "../../data/groups/parse-group.ts";
import { type OutcomeColumns, outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { findColumn, type Table } from "../../data/table.ts";
import type { Model } from "../../training/model.ts";
import { columnsNeeded } from "../predict.ts";

/** The request. */
export interface SearchColumnsRequest {
  /** The named columns, or every column that describes people ("all"); by default the model's own. */
  readonly columns?: readonly string[] | "all";
  /** Columns to exclude from groups. */
  readonly drop?: readonly string[];
  /** Null for curves of another program. */
  readonly model?: Pick<Model, "encoder" | "inputGroups" | "groups"> | null;
  /** The column of ids. */
  readonly id?: string | null;
}

/** A column that is not searched, and why. */
export interface LeftOutColumn {
  readonly name: string;
  /** Phrased to follow "it". */
  readonly reason: string;
  /** Whether the only reason is that the model does not have it. */
  readonly isForeign: boolean;
}

/** The columns to search, and those left out. */
export interface SearchColumnsChoice {
  readonly columns: readonly string[];
  readonly leftOut: readonly LeftOutColumn[];
}

/** The columns of the table that a model learns from and those its groups are made from. */
export function listModelColumns({
  encoder,
  inputGroups,
  groups,
}: Pick<Model, "encoder" | "inputGroups" | "groups">): string[] {
  const grouped = groups.flatMap(({ expression }) => columnsOf(parseGroup(expression)));
  return [...new Set([...columnsNeeded({ encoder, inputGroups }), ...grouped])];
}

/** Decides which columns `discover` searches: the model's own and its groups', unless others are named. */
export function chooseSearchColumns(
  table: Table,
  outcome: OutcomeColumns,
  { columns: asked, drop = [], model = null, id = null }: SearchColumnsRequest = {},
): SearchColumnsChoice {
  const dropped = new Set(drop);
  const named = asked === "all" ? undefined : asked;
  for (const name of [...dropped, ...(named ?? [])]) findColumn(table, name);
  if (named !== undefined) return { columns: named.filter((name) => !dropped.has(name)), leftOut: [] };
  const own = model === null || asked === "all" ? null : new Set(listModelColumns(model));
  const roles = [...outcomeNames(outcome), id];
  const candidates = table.columns
    .map(({ name }) => name)
    .filter((name) => !roles.includes(name) && !dropped.has(name));
  const wanted = candidates.filter((name) => own?.has(name) ?? true);
  const checked = checkTable(table, { ...outcome, features: wanted }).features;
  const foreign = candidates.filter((name) => own !== null && !own.has(name));
  return {
    columns: checked.filter(({ usable }) => usable).map(({ name }) => name),
    leftOut: [
      ...checked.flatMap(({ name, usable, reason }) =>
        usable ? [] : [{ name, reason: reason ?? "", isForeign: false }],
      ),
      ...foreign.map((name) => ({ name, reason: "is not one of the model's columns", isForeign: true })),
    ],
  };
}
