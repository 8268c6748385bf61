/**
 * `graduate cif`: estimates (verbs/statistics/cif.ts) and prints a picture of each group with its causes stacked, one
 * line per group and cause, and Gray's tests; draws the plot if one is wanted.
 */
import { type Command, Option } from "commander";
import { present } from "../../core/present.ts";
import { plotCurvesAsText } from "../../report/plots/terminal-plots.ts";
import { formatNumber, formatP, formatRange, formatWeighted } from "../../report/words/text-table.ts";
import { type CifDocument, type CifGroup, type CifRequest, cifDocument } from "../../verbs/statistics/cif.ts";
import { replaceFile } from "../io/growing-file.ts";
import { refuseWrongSuffix } from "../io/output-path.ts";
import {
  addHistoryOptions,
  addTableOptions,
  checkHistoryOptions,
  idOption,
  namesOption,
  readTableFile,
  TABLE_ARGUMENT,
  type TableOptions,
  valuesOption,
} from "../options/table-options.ts";
import {
  followPhases,
  nameColumn,
  numberColumns,
  print,
  printJson,
  printNote,
  printTable,
  terminalWidth,
  warn,
} from "../print/output.ts";

interface CifOptions extends CifRequest, TableOptions {
  readonly stop?: string;
  readonly svg?: string;
  readonly json?: boolean;
}

/** Pictures of more groups than this push the table off the screen; the plot has as many panels. */
const MOST_PICTURES = 4;

export function addCif(program: Command): void {
  const command = program
    .command("cif")
    .description("Cumulative incidence of competing causes, as R's survfit gives it, and Gray's test")
    .argument("<table>", TABLE_ARGUMENT);
  addTableOptions(addHistoryOptions(command, { causes: true }))
    .requiredOption(
      "--causes <values>",
      "the values of the event column that are events, each VALUE or VALUE=name",
      valuesOption,
    )
    .option("--censored <value>", "the value that means censored (default: 0, no, none, alive, censored, …)")
    .option("--id <column>", "rows of one value are one person", idOption)
    .option("--by <columns>", "curves for each value of these columns", namesOption)
    .addOption(
      new Option("--interval <kind>", "pointwise 95 % limits")
        .choices(["log", "log-log", "plain"])
        .default("log"),
    )
    .option("--time-unit <unit>", "what the times are in, for axis and table: days, months, years, …")
    .option("--no-timefix", "keep times apart that differ only by rounding (1.5e-8); R ties them, too")
    .option("--svg <file>", "also write the plot as SVG, the causes stacked")
    .addOption(new Option("--plot <file>", "--svg by its old name").hideHelp())
    .option("--json", "print one JSON document")
    .action(async (path: string, given: CifOptions & { readonly plot?: string }) => {
      const { plot, ...rest } = given;
      const options = { ...rest, ...present({ svg: rest.svg ?? plot }) };
      refuseWrongSuffix({ plot: options.svg });
      checkHistoryOptions(options);
      const document = cifDocument(await readTableFile(path, options), options, followPhases());
      if (options.svg !== undefined) await writePlot(options.svg, document, options);
      for (const warning of document.warnings) warn(warning);
      if (options.json) printJson(document);
      else printCif(document, options);
    });
}

async function writePlot(path: string, document: CifDocument, options: CifOptions): Promise<void> {
  // Loaded only when a plot is asked for: loading takes longer than the command itself.
  const [{ parseHTML }, { plotIncidence }] = await Promise.all([
    import("linkedom"),
    import("../../report/plots/plot-incidence.ts"),
  ]);
  const svg = plotIncidence(document.groups, {
    document: parseHTML("<html></html>").document,
    timeLabel: options.timeUnit === undefined ? options.time : `Time in ${options.timeUnit}`,
  });
  await replaceFile(path, `${svg}\n`, "the plot");
}

/** 1 less the causes so far, one after the other: what lies between two curves is one cause. */
function stackCauses({ causes, atRisk }: CifGroup) {
  return causes.map(({ name, time }, c) => ({
    name: `below it: no ${name}${c === 0 ? "" : " either"}`,
    time,
    atRisk,
    // Rounding must not draw a curve below 0.
    survival: time.map((_, k) =>
      Math.max(0, 1 - causes.slice(0, c + 1).reduce((sum, one) => sum + one.incidence[k], 0)),
    ),
  }));
}

export function printCif(document: CifDocument, options: { readonly svg?: string }): void {
  const { groups, interval, timeUnit, gray } = document;
  for (const group of groups.slice(0, MOST_PICTURES)) {
    if (groups.length > 1) print(group.name);
    print(plotCurvesAsText(stackCauses(group), { width: Math.min(terminalWidth(), 84) }));
    print("");
  }
  if (timeUnit !== null) print(`time in ${timeUnit}\n`);
  printTable(
    [
      nameColumn("group"),
      nameColumn("cause"),
      ...numberColumns("n", "events", "incidence", "se", "95 % interval"),
    ],
    groups.flatMap(({ name, n, causes, survival }) => [
      ...causes.map((cause) => {
        const last = cause.incidence.length - 1;
        const events = cause.events.reduce((sum, e) => sum + e, 0);
        return [
          name,
          cause.name,
          String(n),
          formatWeighted(events),
          formatNumber(cause.incidence[last]),
          formatNumber(Math.sqrt(cause.variance[last])),
          formatRange(cause.lower[last], cause.upper[last]),
        ];
      }),
      [name, "no event", String(n), "", formatNumber(survival[survival.length - 1]), "", ""],
    ]),
  );
  printNote(
    `Incidences are those at the last time of each group; limits are symmetric on the ${interval} scale, errors ` +
      "those of the infinitesimal jackknife.",
  );
  if (gray !== null) print("");
  for (const { cause, chi2, df, p, absent } of gray ?? [])
    print(
      absent === null
        ? `Gray's test of ${cause}: chi2 ${formatNumber(chi2)} on ${df} df, p ${formatP(p)}`
        : `Gray's test of ${cause}: none: ${absent}`,
    );
  if (options.svg !== undefined) {
    const first = groups.length > MOST_PICTURES ? `, of the first ${MOST_PICTURES} groups` : "";
    print(`\nplot written to ${options.svg}${first}`);
  }
  if (document.omitted > 0) {
    const rows = document.omitted === 1 ? "row" : "rows";
    warn(`${document.omitted} ${rows} left out: a column of --by is missing there`);
  }
}
