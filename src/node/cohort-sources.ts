/** What the paths of a plan's cohort lead to, read from the package's own files. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseGroupsFile } from "../data/groups.ts";
import { readTable } from "../data/read-table.ts";
import type { CohortSources } from "../experiments/cohorts.ts";
import type { CohortPlan } from "../experiments/plan.ts";
import { tableSourceFromPath } from "./table-file.ts";

/** A file of the package, by its path in it. */
export const packageFile = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export async function readSources(cohort: CohortPlan): Promise<CohortSources> {
  const readGroups = async (path: string) => parseGroupsFile(await readFile(packageFile(path), "utf8"), path);
  return {
    table:
      cohort.kind === "table"
        ? await readTable(await tableSourceFromPath(packageFile(cohort.table)), { category: cohort.category })
        : null,
    groups: await readGroups(cohort.groups),
    auditOnly: cohort.kind === "eye" ? await readGroups(cohort.auditOnly) : null,
  };
}
