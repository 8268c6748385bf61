/**
 * `graduate describe`: reads the table and its groups, describes them (data/checks/describe.ts) and prints its size and
 * outcomes, one line per column, its groups, and the problems found in it.
 */
import type { Command } from "commander";
import { shortenValues } from "../../core/text.ts";
import { type ColumnSummary, describeTable, type TableDescription } from "../../data/checks/describe.ts";
import { type Finding, toPlainFinding } from "../../data/checks/findings.ts";
import { type OutcomeColumns, outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { formatNumber } from "../../report/words/text-table.ts";
import { type SmallestGroup, smallestGroup } from "../../stats/smallest-group.ts";
import {
  addGroupOptions,
  addTableOptions,
  addWholeOutcomeOptions,
  checkHistoryOptions,
  type GroupOptions,
  idOption,
  readGroups,
  readTableFile,
  TABLE_ARGUMENT,
  type TableOptions,
} from "../options/table-options.ts";
import { nameColumn, numberColumns, print, printJson, printTable, printWrapped } from "../print/output.ts";

interface DescribeOptions extends OutcomeColumns, TableOptions, GroupOptions {
  readonly json?: boolean;
}

export function addDescribe(program: Command): void {
  const command = program
    .command("describe")
    .description("say what is in a table and what is wrong with it, before anything is fitted")
    .argument("<table>", TABLE_ARGUMENT);
  addGroupOptions(addTableOptions(addWholeOutcomeOptions(command)))
    .option("--id <column>", "whose row it is, where people have several rows", idOption)
    .option("--json", "print one JSON document")
    .action(async (path: string, options: DescribeOptions) => {
      checkHistoryOptions(options);
      const table = await readTableFile(path, options);
      const groups = await readGroups(table, options, outcomeNames(options));
      const description = describeTable(table, options, groups);
      const smallest = smallestGroup(description.rows, description.events ?? 0);
      const findings = description.findings.map(toPlainFinding);
      if (options.json) printJson({ ...description, findings, smallestGroup: smallest });
      else printDescription(description, smallest);
    });
}

const LEVEL_ORDER = { error: 0, warning: 1, note: 2 } as const;

/** Days since 1970-01-01 as a date. */
const day = (value: number) => new Date(Math.round(value) * 86_400_000).toISOString().slice(0, 10);

function summaryOf(column: ColumnSummary): string {
  if (column.levels !== undefined) {
    const rest = column.distinct - column.levels.length;
    const levels = column.levels.map((level) => `${level.value} ${level.rows}`).join(", ");
    return rest > 0 ? `${levels}, and ${rest} more` : levels;
  }
  if (column.minimum === undefined || column.median === undefined || column.maximum === undefined)
    return "no values";
  const show = column.type === "date" ? day : (value: number) => formatNumber(value, 3);
  return `${show(column.minimum)} … ${show(column.median)} … ${show(column.maximum)}`;
}

function printFindings(findings: readonly Finding[]): void {
  const sorted = [...findings].sort((a, b) => LEVEL_ORDER[a.level] - LEVEL_ORDER[b.level]);
  for (const finding of sorted) {
    const message = shortenValues(finding.message);
    printWrapped(`${finding.level.padEnd(7)}  ${finding.code}: ${message}`, "         ");
  }
}

function printDescription(description: TableDescription, smallest: SmallestGroup | null): void {
  const { rows, events, censored } = description;
  const share = events === null || rows === 0 ? "" : ` (${((100 * events) / rows).toFixed(1)} %)`;
  print(`${description.table}: ${rows} rows, ${events ?? "?"} events${share}, ${censored ?? "?"} censored`);
  if (description.timeRule !== undefined) print(`time: ${description.timeRule}`);
  print(`event: ${description.eventRule}\n`);
  printTable(
    [
      { title: "column" },
      { title: "type" },
      ...numberColumns("missing", "distinct"),
      nameColumn("values (smallest … median … largest, or most frequent)"),
    ],
    description.columns.map((column) => [
      column.name,
      column.type,
      String(column.missing),
      String(column.distinct),
      summaryOf(column),
    ]),
  );
  if (description.groups.length > 0) {
    print("");
    printTable(
      [nameColumn("group"), ...numberColumns("rows", "events")],
      description.groups.map((group) => [group.name, String(group.rows), String(group.events ?? "?")]),
    );
  }
  if (smallest !== null && smallest.held <= rows) {
    print("");
    printWrapped(
      `smallest group worth naming: about ${smallest.rows} people, in whom a hazard ${smallest.ratio} times as high ` +
        `would be found out; a model is not held to one of fewer than about ${smallest.held}`,
    );
  }
  print("");
  if (description.findings.length === 0) print("no findings");
  else printFindings(description.findings);
}
