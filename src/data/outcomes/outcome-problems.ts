/** What can be wrong with the columns of an outcome: a finding, and what an exception adds to it. */

import { InputError, MAX_ROWS_NAMED, nameRows } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Part } from "../../core/sentence.ts";
import { createFinding, type Finding, type FindingCode, type FindingLevel } from "../checks/findings.ts";
import type { Column, Table } from "../table.ts";

/** A finding with what an exception adds to it. */
export interface Problem {
  readonly finding: Finding;
  readonly rows: readonly number[]; // 1-based
  readonly hint: string | undefined;
}

/** One column, or two, as numbers. */
export interface Reading {
  readonly values: Float64Array; // [N], NaN where unusable
  readonly problems: readonly Problem[];
  /** How they were read, in words. */
  readonly rule: string;
}

export function problem(
  code: FindingCode,
  level: FindingLevel,
  column: Column,
  said: string | readonly Part[],
  evidence: Finding["evidence"],
  rows: readonly number[] = [],
  hint?: string,
): Problem {
  const named: Finding["evidence"] =
    rows.length > 0 ? { rows: rows.length, first: rows.slice(0, MAX_ROWS_NAMED).join(" ") } : {};
  return {
    finding: createFinding({ code, level, column: column.name, said, evidence: { ...named, ...evidence } }),
    rows,
    hint,
  };
}

/** The problem as an exception, with its rows. */
export function createProblemError(table: Table, { finding, rows, hint }: Problem): InputError {
  const where = [table.name, ...(rows.length > 0 ? [nameRows(rows)] : []), `column "${finding.column}"`];
  return new InputError(finding.message, {
    code: finding.code,
    where: where.join(", "),
    ...present({ hint }),
  });
}
