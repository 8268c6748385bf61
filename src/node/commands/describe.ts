/** `graduate describe`: reads the table and its groups, describes them (data/checks/describe.ts) and prints. */
import type { Command } from "commander";
import { describeTable } from "../../data/checks/describe.ts";
import { toPlainFinding } from "../../data/checks/findings.ts";
import { type OutcomeColumns, outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import {
  addGroupOptions,
  addOutcomeOptions,
  addTableOptions,
  type GroupOptions,
  readGroups,
  readTableFile,
  type TableOptions,
} from "../options/table-options.ts";
import { printDescription } from "../print/describe.ts";
import { printJson } from "../print/output.ts";

interface DescribeOptions extends OutcomeColumns, TableOptions, GroupOptions {
  readonly json?: boolean;
}

export function addDescribe(program: Command): void {
  const command = program
    .command("describe")
    .description("say what is in a table and what is wrong with it, before anything is fitted")
    .argument("<table>", "CSV, gzip or Parquet file");
  addGroupOptions(addTableOptions(addOutcomeOptions(command)))
    .option("--json", "print one JSON document")
    .action(async (path: string, options: DescribeOptions) => {
      const table = await readTableFile(path, options);
      const groups = await readGroups(table, options, outcomeNames(options));
      const description = describeTable(table, options, groups);
      if (options.json) printJson({ ...description, findings: description.findings.map(toPlainFinding) });
      else printDescription(description);
    });
}
