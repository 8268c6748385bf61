/** The files that a plan's cohort names, read from the checkout. */

import { GraduateError, InputError } from "graduate-survival/core";
import { parseGroupsFile, readTable, type Table } from "graduate-survival/data";
import { readTextFile, tableSourceFromPath } from "graduate-survival/node";
import { checkoutFile } from "./checkout.ts";
import type { CohortSources } from "./cohorts.ts";
import type { CohortPlan, TableCohort } from "./plan.ts";

export async function readSources(cohort: CohortPlan): Promise<CohortSources> {
  const readGroups = async (path: string) =>
    parseGroupsFile(await readTextFile(checkoutFile(path), "the plan's groups file"), path);
  return {
    table: cohort.kind === "table" ? await readPlanTable(cohort) : null,
    groups: await readGroups(cohort.groups),
    auditOnly: cohort.kind === "eye" ? await readGroups(cohort.auditOnly) : null,
  };
}

/**
 * A plan may name any file. A file that is not the expected table is refused without quoting its contents, because
 * messages about tables quote headers and cells.
 */
async function readPlanTable({ table: path, category, time, event }: TableCohort): Promise<Table> {
  const refuse = (what: string) =>
    new InputError(`the plan's table cannot be used: ${what}`, { code: "plan.table", where: path });
  const source = await tableSourceFromPath(checkoutFile(path));
  const table = await readTable(source, { category }).catch((error: unknown) => {
    throw error instanceof GraduateError ? refuse(`it cannot be read as a table (${error.code})`) : error;
  });
  const missing = [time, event].find((name) => !table.columns.some((column) => column.name === name));
  if (missing !== undefined) throw refuse(`it has no column "${missing}"`);
  return table;
}
