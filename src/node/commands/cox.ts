/** `graduate cox`: reads the options and the table, fits (verbs/cox.ts) and prints. */
import { type Command, Option } from "commander";
import { type CoxRequest, coxDocument } from "../../verbs/cox.ts";
import {
  addOutcomeOptions,
  addTableOptions,
  idOption,
  namesOption,
  parseCount,
  parsePositive,
  readTableFile,
  repeatedOption,
  type TableOptions,
} from "../options/table-options.ts";
import { printCox } from "../print/cox.ts";
import { printJson } from "../print/output.ts";

interface CoxOptions extends CoxRequest, TableOptions {
  readonly json?: boolean;
}

export function addCox(program: Command): void {
  const command = program
    .command("cox")
    .description("Cox proportional hazards, as R's coxph fits it, with hazard ratios and tests")
    .argument("<table>", "CSV, gzip or Parquet file");
  addTableOptions(addOutcomeOptions(command))
    .option("--features <columns>", "the columns to use (default: all but ids and constants)", namesOption)
    .option("--drop <columns>", "columns not to use", namesOption)
    .option(
      "--interaction <a:b>",
      "the product of two columns, beside both of them (repeatable)",
      repeatedOption,
    )
    .option(
      "--reference <column=level>",
      "the level a category is compared with (repeatable)",
      repeatedOption,
    )
    .option("--strata <columns>", "a baseline hazard of its own for each value of these columns", namesOption)
    .option("--id <column>", "rows of one value are one person: robust errors, as R's cluster()", idOption)
    .option("--allow-leak <columns>", "use these columns although they give the outcome away", namesOption)
    .addOption(new Option("--ties <rule>", "tied event times").choices(["efron", "breslow"]).default("efron"))
    .option("--no-timefix", "keep times apart that differ only by rounding (1.5e-8); R ties them, too")
    .option("--ridge <penalty>", "ridge penalty on the coefficients", parsePositive)
    .option("--iterations <n>", "most steps of Newton's method (default: 100)", parseCount)
    .option("--json", "print one JSON document")
    .action(async (path: string, options: CoxOptions) => {
      const document = coxDocument(await readTableFile(path, options), options);
      if (options.json) printJson(document);
      else printCox(document);
    });
}
