/**
 * The audit of anyone's curves from a table, in one call: the columns S(30), S(60), … of the table, or curves given
 * beside it, against its time and event, for everyone and for each value of the columns named. It is what `graduate
 * audit --curves FILE` does; `audit` takes what is already in bins.
 */

import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { type PlainFinding, toPlainFinding } from "../data/checks/findings.ts";
import { type CurvesWithOutcomes, type ReadCurvesOptions, readCurves } from "../data/curves/read-curves.ts";
import { groupByColumns } from "../data/groups/group-by.ts";
import { type Group, resolveGroups } from "../data/groups/groups.ts";
import type { People } from "../data/outcomes/people.ts";
import type { Table } from "../data/table.ts";
import { type AuditGroup, type AuditOptions, type AuditTable, audit } from "../verbs/audit.ts";
import { describePeople, findPeople } from "../verbs/whose-rows.ts";
import type { ReportOptions } from "./fitted-model.ts";

/** Curves of another program that are not columns of the table. */
export interface CurvesAtTimes {
  /** Ascending, in the unit of the table's times. */
  readonly times: ArrayLike<number>; // [T]
  /** A curve for each row of the table: the probability of being free of the event after each time. */
  readonly survival: readonly ArrayLike<number>[]; // [N][T]
}

/** Where curves and outcome are, for whom they are judged, and how. */
export interface AuditCurvesOptions extends ReadCurvesOptions, AuditOptions {
  /** The curves, unless they are columns of the table. */
  readonly curves?: CurvesAtTimes;
  /** One group for each value of each of these columns. */
  readonly by?: readonly string[];
  /** Other groups. */
  readonly groups?: readonly Group[];
  /** The column that says whose row it is, where people have several. */
  readonly id?: string;
}

/** How the page of such an audit looks. */
export type CurveReportOptions = AuditCurvesOptions &
  Pick<ReportOptions, "timeUnit" | "tolerance" | "showRows" | "showSmallCells" | "title" | "document">;

/** Every score, and what has to be said of curves and outcome. */
export interface CurveAudit extends AuditTable {
  /** Edges of the time bins, by which a departure's bins are times. */
  readonly edges: readonly number[];
  /** What should be known of the outcome. */
  readonly findings: readonly PlainFinding[];
  readonly warnings: readonly string[];
}

/** Scores survival curves of any program against a table's outcome, overall and by group. */
export async function auditCurves(table: Table, options: AuditCurvesOptions = {}): Promise<CurveAudit> {
  const { audit: scored, read, people } = await openCurves(table, options);
  return {
    ...scored,
    edges: Array.from(read.grid.edges),
    findings: read.told.map(toPlainFinding),
    warnings: [...read.notes, ...describePeople(people)],
  };
}

/** An audit with everything that a page of it shows. */
export interface AuditedCurves {
  readonly name: string;
  readonly read: CurvesWithOutcomes;
  readonly groups: readonly AuditGroup[];
  readonly people: People | null;
  readonly audit: AuditTable;
}

/** Reads, groups and scores. */
export async function openCurves(table: Table, options: AuditCurvesOptions): Promise<AuditedCurves> {
  const { curves, by = [], groups = [], id, ...rest } = options;
  const read = readCurves(curves === undefined ? table : addCurves(table, curves), rest);
  const { people } = findPeople(table, present({ id }), null);
  const members = [
    ...by.flatMap((column) => groupByColumns(read.others, [column]).groups),
    ...resolveGroups(groups, read.others),
  ].filter(({ name }) => name !== "all");
  const input = { curves: read.curves, outcomes: read.outcomes, groups: members };
  const scored = await audit({ ...input, ...(people === null ? {} : { people }) }, rest);
  return { name: table.name, read, groups: members, people, audit: scored };
}

/** The table with the curves as columns named by their times. */
function addCurves(table: Table, { times, survival }: CurvesAtTimes): Table {
  const bad = Array.from(survival).findIndex(({ length }) => length !== times.length);
  if (survival.length !== table.rows || bad >= 0) {
    const found =
      bad >= 0
        ? `row ${bad + 1} has ${survival[bad].length} values for ${times.length} times`
        : `${survival.length} curves for ${table.rows} rows`;
    throw new InputError(`the curves do not fit: ${found}`, {
      code: "rows.mismatch",
      where: table.name,
      hint: "give one curve for each row of the table, with one value for each time",
    });
  }
  const columns = Array.from(times, (time, t) => ({
    name: `S(${time})`,
    type: "number" as const,
    values: Float64Array.from(survival, (curve) => curve[t]),
  }));
  return { ...table, columns: [...table.columns, ...columns] };
}
