/**
 * Named groups of people: a name, an expression, and the rows of a table that belong. Groups are stored as text, so
 * that a model file or a report says who was meant, and are resolved anew on every table. A groups file is JSON:
 *   { "all": true, "groups": [{ "name": "older", "where": "age >= 60" }],
 *     "automatic": { "columns": ["sex"], "minRows": 100 } }
 * "all" (true unless said otherwise) is everyone; "automatic" takes the options of group-selection.ts, and without it
 * no group is chosen by rule. Groups come out in the order all, named, automatic; the rule counts those before it as
 * chosen. A group can also be a column of a table, true or false, that a model takes as a feature.
 */

import * as z from "zod";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { BooleanColumn, Table } from "../table.ts";
import { columnsOf } from "./group-expression.ts";
import { type EvaluateOptions, evaluateNamedGroup } from "./group-members.ts";
import { type AutomaticGroupOptions, selectGroups } from "./group-selection.ts";
import { parseGroup } from "./parse-group.ts";

/** A named group of people. */
export interface Group {
  readonly name: string;
  readonly expression: string;
}

/** A group and its rows in a table. */
export interface GroupMembers extends Group {
  /** 0-based, ascending. */
  readonly rows: Int32Array;
}

/** Everyone. */
export const ALL_GROUP: Group = { name: "all", expression: "all" };

const NAMED =
  /^\s*(?:"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|'((?:[^']|'')*)'|([\p{L}_][\p{L}\p{M}\p{N}_. ]*?))\s*:/u;

/** `older: age >= 60`, `"70 and over": age >= 70`, or an expression alone, which then is its own name. */
export function parseNamedGroup(text: string): Group {
  const named = NAMED.exec(text);
  const expression = text.slice(named?.[0].length ?? 0).trim();
  parseGroup(expression);
  if (named === null) return { name: expression, expression };
  const name =
    named[1]?.replaceAll('""', '"') ??
    named[2]?.replaceAll("``", "`") ??
    named[3]?.replaceAll("''", "'") ??
    named[4];
  if (name.trim() === "")
    throw new InputError(`group without a name: ${text.trim()}`, { code: "group.name" });
  return { name, expression };
}

/** The members of each group, in the order given. */
export function resolveGroups(
  groups: readonly Group[],
  table: Table,
  options: Omit<EvaluateOptions, "where"> = {},
): GroupMembers[] {
  requireDistinctNames(groups);
  return groups.map((group) => {
    const members = evaluateNamedGroup(group, table, options);
    return { name: group.name, expression: group.expression, rows: listMembers(members) };
  });
}

function listMembers(members: Uint8Array): Int32Array {
  const rows = new Int32Array(members.reduce((sum, member) => sum + member, 0));
  let count = 0;
  members.forEach((member, row) => {
    if (member === 1) rows[count++] = row;
  });
  return rows;
}

/**
 * Who is in a group must be known at the start: one cut by the outcome has a Kaplan-Meier curve that nobody can have.
 */
export function refuseOutcomeGroups(groups: readonly Group[], outcome: readonly string[]): void {
  for (const { name, expression } of groups) {
    const column = columnsOf(parseGroup(expression)).find((one) => outcome.includes(one));
    if (column === undefined) continue;
    throw new InputError(`a group cannot be cut by the outcome: ${JSON.stringify(column)}`, {
      code: "group.outcome",
      where: `group ${JSON.stringify(name)}`,
      hint: "use what was known of people at the start",
    });
  }
}

export function requireDistinctNames(groups: readonly Group[], where?: string): void {
  const seen = new Set<string>();
  for (const { name } of groups) {
    // An accent that is composed in another way makes no other name for a reader.
    const written = name.normalize("NFC");
    if (seen.has(written)) {
      throw new InputError(`two groups have the same name: ${JSON.stringify(name)}`, {
        code: "group.name",
        ...present({ where }),
        hint: "give one of them another name, as in NAME: EXPRESSION",
      });
    }
    seen.add(written);
  }
}

const automaticSchema = z.strictObject({
  columns: z.array(z.string()).exactOptional(),
  exclude: z.array(z.string()).exactOptional(),
  maxCross: z.int().min(1).exactOptional(),
  minRows: z.int().min(1).exactOptional(),
  overlap: z.enum(["new", "earlier", "jaccard"]).exactOptional(),
  maxOverlap: z.number().min(0).max(1).exactOptional(),
  limit: z.int().min(0).exactOptional(),
});

const groupsFileSchema = z.strictObject({
  all: z.boolean().default(true),
  groups: z.array(z.strictObject({ name: z.string().min(1).exactOptional(), where: z.string() })).default([]),
  automatic: automaticSchema.exactOptional(),
});

/** A groups file as parsed: named groups, everyone, and the automatic rule. */
export type GroupsFile = Readonly<z.infer<typeof groupsFileSchema>>;

const GROUPS_FILE_HINT =
  'a groups file is { "groups": [{ "name": "older", "where": "age >= 60" }], "automatic": {} }';

/** Reads the JSON of a groups file. */
export function parseGroupsFile(text: string, fileName: string): GroupsFile {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's own message quotes the file, which may be any.
    throw new InputError("groups file is not JSON", {
      code: "groups.file",
      where: fileName,
      hint: GROUPS_FILE_HINT,
    });
  }
  const result = groupsFileSchema.safeParse(json);
  if (!result.success) {
    const { issues } = result.error;
    const problems = issues.map(({ path, message }) =>
      path.length > 0 ? `${formatPath(path)}: ${message}` : message,
    );
    throw new InputError(`groups file: ${problems.join("; ")}`, {
      code: "groups.file",
      where: [fileName, ...(issues[0].path.length > 0 ? [formatPath(issues[0].path)] : [])].join(", "),
      hint: GROUPS_FILE_HINT,
    });
  }
  result.data.groups.forEach(({ where }, g) => {
    parseGroup(where, `${fileName}, groups[${g}].where`);
  });
  requireDistinctNames(listNamed(result.data), fileName);
  return result.data;
}

/** groups[2].where */
function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
}

/** "all" and the named groups. */
function listNamed(file: GroupsFile): Group[] {
  const named = file.groups.map(({ name, where }) => ({
    name: name ?? where.trim(),
    expression: where.trim(),
  }));
  return file.all ? [ALL_GROUP, ...named] : named;
}

/**
 * The groups of the file on this table; the automatic ones are chosen on its training rows. The rule does not take up
 * the columns of `exclude` by itself: the outcome's, at least.
 */
export function groupsFromFile(
  file: GroupsFile,
  table: Table,
  trainingRows: ArrayLike<number>,
  options: Pick<AutomaticGroupOptions, "exclude"> = {},
): Group[] {
  const chosen = listNamed(file);
  if (file.automatic === undefined) return chosen;
  const exclude = [...(file.automatic.exclude ?? []), ...(options.exclude ?? [])];
  const groups = [...chosen, ...selectGroups(table, trainingRows, { ...file.automatic, exclude, chosen })];
  requireDistinctNames(groups);
  return groups;
}

/** Fewer training rows inside or outside of a group say nothing about it. */
const FEWEST_ROWS = 10;

/** The name of a group's column, which no column of a file has by accident. */
export function groupColumnName({ name }: Group): string {
  return `group: ${name}`;
}

/** The table with one more column for each group: who is in it. */
export function widenTable(table: Table, groups: readonly GroupMembers[]): Table {
  if (groups.length === 0) return table;
  const columns = groups.map((group): BooleanColumn => {
    const values = new Uint8Array(table.rows);
    for (const row of group.rows) values[row] = 1;
    return { name: groupColumnName(group), type: "boolean", values };
  });
  return { ...table, columns: [...table.columns, ...columns] };
}

/** The same for groups whose members are not known yet. */
export function addGroupColumns(table: Table, groups: readonly Group[]): Table {
  // A table to predict for need not have every level that a group speaks of.
  return widenTable(table, resolveGroups(groups, table, { unknownLevels: "allow" }));
}

/**
 * The groups that can be inputs, in a table of so many rows: there are enough rows on both sides to learn from and,
 * with features, all columns it is made of are features, since a trait kept from the model must not come in through its
 * groups.
 */
export function chooseInputGroups(
  groups: readonly GroupMembers[],
  tableRows: number,
  features: readonly string[] | null,
  fitRows: Int32Array,
): Group[] {
  const isFitted = new Uint8Array(tableRows);
  for (const row of fitRows) isFitted[row] = 1;
  return groups
    .filter(({ expression, rows: members }) => {
      const columns = columnsOf(parseGroup(expression));
      let inside = 0;
      for (const row of members) inside += isFitted[row];
      return (
        columns.every((column) => features?.includes(column) ?? true) &&
        inside >= FEWEST_ROWS &&
        fitRows.length - inside >= FEWEST_ROWS
      );
    })
    .map(({ name, expression }) => ({ name, expression }));
}
