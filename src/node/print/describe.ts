/** A table for people: its size and outcomes, one line per column, its groups, and the problems found in it. */
import { shortenValues } from "../../core/text.ts";
import type { ColumnSummary, TableDescription } from "../../data/checks/describe.ts";
import type { Finding } from "../../data/checks/findings.ts";
import { formatNumber, formatTable, wrapText } from "../../report/words/text-table.ts";
import { print, terminalWidth } from "./output.ts";
import { nameColumn, numberColumns } from "./table-columns.ts";

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
  const width = terminalWidth();
  const sorted = [...findings].sort((a, b) => LEVEL_ORDER[a.level] - LEVEL_ORDER[b.level]);
  for (const finding of sorted) {
    const message = shortenValues(finding.message);
    print(wrapText(`${finding.level.padEnd(7)}  ${finding.code}: ${message}`, width, "         "));
  }
}

export function printDescription(description: TableDescription): void {
  const { rows, events, censored } = description;
  const share = events === null || rows === 0 ? "" : ` (${((100 * events) / rows).toFixed(1)} %)`;
  print(`${description.table}: ${rows} rows, ${events ?? "?"} events${share}, ${censored ?? "?"} censored`);
  if (description.timeRule !== undefined) print(`time: ${description.timeRule}`);
  print(`event: ${description.eventRule}\n`);
  print(
    formatTable(
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
      terminalWidth(),
    ),
  );
  if (description.groups.length > 0) {
    print("");
    print(
      formatTable(
        [nameColumn("group"), ...numberColumns("rows", "events")],
        description.groups.map((group) => [group.name, String(group.rows), String(group.events ?? "?")]),
        terminalWidth(),
      ),
    );
  }
  print("");
  if (description.findings.length === 0) print("no findings");
  else printFindings(description.findings);
}
