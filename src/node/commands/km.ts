/**
 * `graduate km`: reads the options and the table, estimates (verbs/km.ts), prints, and draws the plot if one is wanted.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { present } from "../../core/present.ts";
import { noteOutcome } from "../../data/outcomes/read-outcomes.ts";
import { type KmDocument, type KmRequest, kmDocument } from "../../verbs/km.ts";
import { replaceFile } from "../io/replace-file.ts";
import { refuseWrongSuffix } from "../options/output-suffix.ts";
import {
  addOutcomeOptions,
  addTableOptions,
  namesOption,
  parsePositive,
  readTableFile,
  type TableOptions,
} from "../options/table-options.ts";
import { printKm } from "../print/km.ts";
import { printJson, warn } from "../print/output.ts";

interface KmOptions extends KmRequest, TableOptions {
  readonly svg?: string;
  readonly json?: boolean;
}

/** "365,1825": times of 0 or more. */
function parseTimes(text: string, before: readonly number[] = []): readonly number[] {
  const times = text.split(",").map((one) => (one.trim() === "" ? Number.NaN : Number(one)));
  if (!times.every((time) => time >= 0 && Number.isFinite(time)))
    throw new InvalidArgumentError("expected times from 0 up, e.g. 365,1825.");
  return [...before, ...times];
}

export function addKm(program: Command): void {
  const command = program
    .command("km")
    .description("Kaplan-Meier curves, as R's survfit gives them, and the logrank test")
    .argument("<table>", "CSV, gzip or Parquet file");
  addTableOptions(addOutcomeOptions(command))
    .option("--by <columns>", "one curve for each value of these columns", namesOption)
    .addOption(
      new Option("--interval <kind>", "pointwise 95 % limits")
        .choices(["log", "log-log", "plain"])
        .default("log"),
    )
    .option("--at <times>", "survival at these times, e.g. 365,1825", parseTimes)
    .option("--rmst <time>", "restricted mean up to this time (default: the last time)", parsePositive)
    .option("--time-unit <unit>", "what the times are in, for axis and table: days, months, years, …")
    .option("--no-timefix", "keep times apart that differ only by rounding (1.5e-8); R ties them, too")
    .option("--svg <file>", "also write the plot as SVG")
    .option("--json", "print one JSON document")
    .action(async (path: string, options: KmOptions) => {
      refuseWrongSuffix({ plot: options.svg });
      const table = await readTableFile(path, options);
      const document = kmDocument(table, options);
      if (options.svg !== undefined) await writePlot(options.svg, document, options);
      for (const note of noteOutcome(table, options)) warn(note);
      if (options.json) printJson(document);
      else printKm(document, options);
    });
}

async function writePlot(
  path: string,
  document: KmDocument,
  options: Pick<KmOptions, "time" | "timeUnit">,
): Promise<void> {
  // Loaded only when a plot is asked for: loading takes longer than the command itself.
  const [{ parseHTML }, { plotKaplanMeier }] = await Promise.all([
    import("linkedom"),
    import("../../report/plots/plots.ts"),
  ]);
  const svg = plotKaplanMeier(document.groups, {
    document: parseHTML("<html></html>").document,
    timeLabel: options.timeUnit === undefined ? options.time : `Time in ${options.timeUnit}`,
    ...present({ logrankP: document.logrank?.p }),
  });
  await replaceFile(path, `${svg}\n`, "the plot");
}
