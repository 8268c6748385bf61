/**
 * Which columns a model may learn from: those the user names, or every column but the outcome, less ids and constants.
 * A column with an error-level leak is refused unless the user allows it by name: a model that learns from it is
 * worthless.
 */
import { InputError } from "../../core/errors.ts";
import { createDoubtfulFeatureError } from "../checks/check-marks.ts";
import type { Finding } from "../checks/findings.ts";
import type { CheckedFeature, CheckedTable } from "../checks/sanity.ts";
import type { OutcomeColumns } from "../outcomes/read-outcomes.ts";
import { findColumn, isMissing, type Table } from "../table.ts";

/** What was asked for: columns by name, columns to drop, leaks to allow. */
export interface FeatureRequest extends OutcomeColumns {
  /** The columns to learn from; all that can be used unless given. */
  readonly features?: readonly string[];
  /** Columns not to learn from. */
  readonly drop?: readonly string[];
  /** Columns that the model may not see, not even through a group: groups over them are held without being told. */
  readonly protected?: readonly string[];
  /** Columns to learn from although they give the outcome away. */
  readonly allowLeak?: readonly string[];
}

/** The columns to learn from, and those left out with reasons. */
export interface FeatureChoice {
  readonly features: readonly string[];
  /** Columns neither asked for nor dropped, and why they are not used. */
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
}

/** Most columns that a refusal lists. */
const MAX_COLUMNS_NAMED = 5;

/** Decides which columns a model learns from; refuses leaks that were not allowed. */
export function chooseFeatures(table: Table, checked: CheckedTable, request: FeatureRequest): FeatureChoice {
  const { features: named, drop = [] } = request;
  const allowLeak = new Set(request.allowLeak);
  for (const name of [...(named ?? []), ...drop, ...allowLeak]) findColumn(table, name);
  // An age at entry is known at the start; the start of a row that follows others is known only when it comes.
  const ofOutcome = [request.time, request.event, request.start];
  const outcome = named?.find((name) => ofOutcome.includes(name));
  if (outcome !== undefined) {
    throw new InputError(`the outcome cannot be a feature: "${outcome}"`, {
      code: "feature.outcome",
      where: table.name,
      hint: "name columns that were known at the start",
    });
  }
  const dropped = new Set(drop);
  const asked = named === undefined ? null : new Set(named);
  const wanted = checked.features.filter(({ name }) => !dropped.has(name) && (asked?.has(name) ?? true));
  const wantedNames = new Set(wanted.map(({ name }) => name));
  const isLeak = ({ code, level, column }: Finding) =>
    level === "error" &&
    (code === "leak.event" || code === "leak.time") &&
    column !== null &&
    wantedNames.has(column) &&
    !allowLeak.has(column);
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
  const doubtful = checked.findings.filter(
    ({ code, level, column }) =>
      level === "error" && code === "number.marks" && column !== null && wantedNames.has(column),
  );
  if (doubtful.length > 0) throw createDoubtfulFeatureError(table, doubtful);
  const isUsed = ({ name, usable }: CheckedFeature) => named !== undefined || usable || allowLeak.has(name);
  const features = (named ?? wanted.filter(isUsed).map(({ name }) => name)).filter(
    (name) => !dropped.has(name),
  );
  const leftOut = wanted
    .filter((feature) => !isUsed(feature))
    .map(({ name, reason }) => ({ name, reason: reason ?? "" }));
  if (features.length === 0) throw createNoFeaturesError(table, leftOut);
  return { features, leftOut };
}

function createNoFeaturesError(table: Table, leftOut: FeatureChoice["leftOut"]): InputError {
  const shown = leftOut.slice(0, MAX_COLUMNS_NAMED).map(({ name, reason }) => `${name} ${reason}`);
  const more = leftOut.length > shown.length ? ` (and ${leftOut.length - shown.length} more)` : "";
  const why = shown.length > 0 ? `: ${shown.join(", ")}${more}` : "";
  return new InputError(`no column is left to learn from${why}`, {
    code: "features.none",
    where: table.name,
    hint: "a model needs one column besides time and event that differs between people and was known at the start",
  });
}

/** The rows (0-based) in which none of the named columns is missing. */
export function completeRows(table: Table, names: readonly string[]): Int32Array {
  const columns = names.map((name) => findColumn(table, name));
  const rows = new Int32Array(table.rows);
  let complete = 0;
  for (let row = 0; row < table.rows; row++)
    if (!columns.some((column) => isMissing(column, row))) rows[complete++] = row;
  return rows.slice(0, complete);
}
