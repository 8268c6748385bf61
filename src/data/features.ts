/**
 * Which columns a model may learn from: those the user names, or every column but the outcome, less ids and constants.
 * A column with an error-level leak is refused unless the user allows it by name: a model that learns from it is worthless.
 */
import { InputError } from "../core/errors.ts";
import type { Finding } from "./findings.ts";
import type { CheckedFeature, CheckedTable } from "./sanity.ts";
import { findColumn, isMissing, type Table } from "./table.ts";

export interface FeatureRequest {
  readonly time: string;
  readonly event: string;
  readonly features?: readonly string[];
  readonly drop?: readonly string[];
  readonly allowLeak?: readonly string[];
}

export interface FeatureChoice {
  readonly features: readonly string[];
  /** Columns that were not asked for or against, and why they are not used. */
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
}

export function chooseFeatures(table: Table, checked: CheckedTable, request: FeatureRequest): FeatureChoice {
  const { features: named, drop = [], allowLeak = [] } = request;
  for (const name of [...(named ?? []), ...drop, ...allowLeak]) findColumn(table, name);
  const outcome = named?.find((name) => name === request.time || name === request.event);
  if (outcome !== undefined) {
    throw new InputError(`the outcome cannot be a feature: "${outcome}"`, {
      code: "feature.outcome",
      where: table.name,
    });
  }
  const wanted = checked.features.filter(
    ({ name }) => !drop.includes(name) && (named?.includes(name) ?? true),
  );
  const isLeak = ({ code, level, column }: Finding) =>
    level === "error" &&
    (code === "leak.event" || code === "leak.time") &&
    wanted.some(({ name }) => name === column && !allowLeak.includes(name));
  const leaks = checked.findings.filter(isLeak);
  if (leaks.length > 0) {
    const names = [...new Set(leaks.map(({ column }) => column))].join(",");
    throw new InputError(
      `a feature gives the outcome away: ${leaks.map(({ message }) => message).join("; ")}`,
      {
        code: "leak",
        where: table.name,
        hint: `leave it out with --drop ${names}, or use it all the same with --allow-leak ${names}`,
      },
    );
  }
  const isUsed = ({ name, usable }: CheckedFeature) =>
    named !== undefined || usable || allowLeak.includes(name);
  return {
    features: named?.filter((name) => !drop.includes(name)) ?? wanted.filter(isUsed).map(({ name }) => name),
    leftOut: wanted
      .filter((feature) => !isUsed(feature))
      .map(({ name, reason }) => ({ name, reason: reason ?? "" })),
  };
}

/** The rows (0-based) in which none of the named columns is missing. */
export function completeRows(table: Table, names: readonly string[]): Int32Array {
  const columns = names.map((name) => findColumn(table, name));
  const rows: number[] = [];
  for (let row = 0; row < table.rows; row++)
    if (!columns.some((column) => isMissing(column, row))) rows.push(row);
  return Int32Array.from(rows);
}
