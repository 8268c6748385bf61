/**
 * What is in a table, before anything is fitted: its size, its outcomes, a line for each column, and the findings of
 * the sanity gate. It reports and never refuses; training refuses when a finding is an error.
 */

import { present } from "../../core/present.ts";
import type { GroupMembers } from "../groups/groups.ts";
import { checkHistory, type HistoryColumns, inspectHistory } from "../outcomes/read-history.ts";
import { type Column, countMissing, isMissing, type Table } from "../table.ts";
import { checkFeatures } from "./check-features.ts";
import type { Finding } from "./findings.ts";
import { checkGroups, checkTable } from "./sanity.ts";

/** One column in a line: type, missing, distinct values and their range. */
export interface ColumnSummary {
  readonly name: string;
  readonly type: Column["type"];
  readonly missing: number;
  readonly distinct: number;
  /** Numbers and dates (days since 1970-01-01). */
  readonly minimum?: number;
  readonly median?: number;
  readonly maximum?: number;
  readonly mean?: number;
  /** Categories and booleans: the most frequent values first, at most MAX_LEVELS of them. */
  readonly levels?: readonly { readonly value: string; readonly rows: number }[];
}

export interface GroupSummary {
  readonly name: string;
  readonly expression: string;
  readonly rows: number;
  readonly events: number | null;
}

/** What `graduate describe` prints: rows, events, columns, groups, findings. */
export interface TableDescription {
  readonly table: string;
  readonly rows: number;
  /** Of the rows with a valid time and event; null when the event column cannot be read as one. */
  readonly events: number | null;
  readonly censored: number | null;
  readonly eventRule: string;
  /** How the time was read, where it is counted from a date. */
  readonly timeRule?: string;
  readonly columns: readonly ColumnSummary[];
  readonly findings: readonly Finding[];
  readonly groups: readonly GroupSummary[];
}

const MAX_LEVELS = 10;

/** Summarises one column. */
export function summariseColumn(column: Column): ColumnSummary {
  const missing = countMissing(column);
  const base = { name: column.name, type: column.type, missing };
  if (column.type === "category" || column.type === "boolean") {
    const names = column.type === "category" ? column.levels : ["false", "true"];
    const rows = new Array<number>(names.length).fill(0);
    const codes = column.type === "category" ? column.codes : column.values;
    for (let row = 0; row < codes.length; row++) if (!isMissing(column, row)) rows[codes[row]]++;
    const present = names.map((value, k) => ({ value, rows: rows[k] })).filter((level) => level.rows > 0);
    const levels = [...present].sort((a, b) => b.rows - a.rows).slice(0, MAX_LEVELS);
    return { ...base, distinct: present.length, levels };
  }
  const sorted = column.values.filter((value) => !Number.isNaN(value)).sort();
  const n = sorted.length;
  if (n === 0) return { ...base, distinct: 0 };
  let distinct = 1;
  let sum = sorted[0];
  for (let i = 1; i < n; i++) {
    if (sorted[i] !== sorted[i - 1]) distinct++;
    sum += sorted[i];
  }
  const median = (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2;
  return { ...base, distinct, minimum: sorted[0], median, maximum: sorted[n - 1], mean: sum / n };
}

/** Summarises a table with its outcome and groups, and checks it. */
export function describeTable(
  table: Table,
  columns: HistoryColumns,
  groups: readonly GroupMembers[] = [],
): TableDescription {
  const inspected = inspectHistory(table, columns);
  const { outcomes, usable, findings, eventRule, timeRule } = inspected;
  const valid = !findings.some((finding) => finding.code === "event.values" && finding.level === "error");
  const event = valid ? (outcomes?.event ?? null) : null;
  const countEvents = (rows: Int32Array | null): number | null => {
    if (event === null) return null;
    let events = 0;
    if (rows === null) for (const e of event) events += e;
    else for (const row of rows) events += event[row];
    return events;
  };
  const events = countEvents(null);
  const checked = checkTable(table, columns, inspected);
  const features = checked.features.filter((feature) => feature.usable).map(({ name }) => name);
  const groupFindings = outcomes === null ? [] : checkGroups(groups, outcomes);
  return {
    table: table.name,
    rows: table.rows,
    events,
    censored: events === null ? null : usable.reduce((sum, one) => sum + one, 0) - events,
    eventRule,
    ...present({ timeRule: columns.origin && timeRule }),
    columns: table.columns.map(summariseColumn),
    findings: [
      ...findings,
      ...checkHistory(table, columns, inspected),
      // What was told by --id needs no telling.
      ...checked.findings.filter(({ code, column }) => code !== "id" || column !== columns.id),
      ...checkFeatures(table, features, inspected),
      ...groupFindings,
    ],
    groups: groups.map(({ name, expression, rows }) => ({
      name,
      expression,
      rows: rows.length,
      events: countEvents(rows),
    })),
  };
}
