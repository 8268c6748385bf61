/**
 * What a report is told of a model and its table, by `train` as by `audit`: the outcome and how it was read, the unit of its times,
 * and what the checks found, in the words for those who only read.
 */

import { present } from "../../core/present.ts";
import type { Finding } from "../../data/checks/findings.ts";
import { outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import type { ReportFinding } from "../../report/data/report-data.ts";
import type { Subject } from "../../study/study.ts";
import type { Model } from "../../training/model.ts";
import type { ReportOptions } from "./write-report.ts";

/** The outcome's columns and how the event was read, for the report. */
export function describeOutcome({ columns, eventRule: rule }: Pick<Subject, "columns" | "eventRule">) {
  const { time, event, origin } = columns;
  return { time, event, rule, ...present({ origin }) };
}

/** Times that are counted from a date are days, whatever the caller leaves out. */
export function timeLabelOf(
  { timeUnit }: Pick<ReportOptions, "timeUnit">,
  origin: string | undefined,
): string | undefined {
  return timeUnit ?? (origin === undefined ? undefined : "days");
}

/** The end of a finding that several rows are one person's. */
const NOT_INDEPENDENT = /: these rows are not independent$/;
/** What to do about a column, at the end of a finding. */
const HINT = /[.:] (?:Was this known at the start|If |--).*$/;

/**
 * What the checks say of the table; of a column the model does not use it is only for the record, without what to do about it. `id`
 * is the column by which the audit told people apart.
 */
export function findingsFor(
  model: Model,
  findings: readonly Finding[],
  id: string | null,
): readonly ReportFinding[] {
  const used = new Set([
    ...model.encoder.columns.map(({ column }) => column),
    ...outcomeNames(model.columns),
  ]);
  return findings.map(({ code, level, message, column, evidence }) => {
    if (column === null || used.has(column)) return { level, message };
    if (code === "id" && column === id && evidence.fixedColumns !== undefined) {
      const done =
        model.columns.id === id
          ? "rows of one person were kept together"
          : "the audit takes rows of one person together, training did not";
      return { level: "note", message: `${message.replace(NOT_INDEPENDENT, "")}: ${done} (--id ${id})` };
    }
    return { level: "note", message: `${message.replace(HINT, "")} (the model does not use it)` };
  });
}
