/**
 * What a report says about a model and its table, for `train` and `audit` alike: the outcome and how it was read, the
 * unit of its times, and what the checks found, worded for people who only read the report. The findings are passed in
 * because the caller that prepared the table has already run the checks.
 */

import { present } from "../../core/present.ts";
import { continueSentence, createSentence, type Sentence } from "../../core/sentence.ts";
import type { Finding } from "../../data/checks/findings.ts";
import type { Model } from "../../training/model.ts";
import type { GatherInput } from "./gather-report.ts";
import type { ReportFinding } from "./report-data.ts";

/** The outcome's columns and how the event was read. */
export function describeOutcome(
  { time, event, origin }: Model["columns"],
  rule: string,
): NonNullable<GatherInput["outcome"]> {
  return { time, event, rule, ...present({ origin }) };
}

/** Times counted from a date are in days unless the caller names a unit. */
export function timeLabelOf(timeUnit: string | undefined, origin: string | undefined): string | undefined {
  return timeUnit ?? (origin === undefined ? undefined : "days");
}

/**
 * What the checks say about the table. A finding on a column that the model does not use is listed for the record only,
 * without advice. `id` is the column by which the audit told people apart.
 */
export function findingsFor(
  findings: readonly Finding[],
  { columns, encoder }: Pick<Model, "columns" | "encoder">,
  id: string | null,
): readonly ReportFinding[] {
  const { time, event, origin } = columns;
  const used = new Set([...encoder.columns.map(({ column }) => column), time, event, origin]);
  return findings.map((finding): ReportFinding => {
    const { level, column, sentence } = finding;
    if (column === null || used.has(column)) return { level, sentence };
    const isId = finding.code === "id" && column === id && finding.evidence.fixedColumns !== undefined;
    return { level: "note", sentence: isId ? sayPeople(sentence, columns, id) : sayUnused(sentence) };
  });
}

/** Adds to the finding that rows are not independent what was done about it. */
function sayPeople({ parts }: Sentence, { id: trained }: Model["columns"], id: string): Sentence {
  const done =
    trained === id
      ? "rows of one person were kept together"
      : "the audit takes rows of one person together, training did not";
  return createSentence([...parts, `: ${done} (--id ${id})`]);
}

function sayUnused({ parts, consequence }: Sentence): Sentence {
  return continueSentence({ parts, ...present({ consequence }) }, " (the model does not use it)");
}
