/**
 * `graduate km`: estimates (verbs/statistics/km.ts) and prints the picture, one line per group, survival at the times
 * asked for and the logrank test; draws the plot if one is wanted.
 */
import { type Command, Option } from "commander";
import { present } from "../../core/present.ts";
import { plotCurvesAsText } from "../../report/plots/terminal-plots.ts";
import { formatNumber, formatP, formatRange, formatWeighted } from "../../report/words/text-table.ts";
import { type KmDocument, type KmObserved, type KmRequest, kmDocument } from "../../verbs/statistics/km.ts";
import { replaceFile } from "../io/growing-file.ts";
import { refuseWrongSuffix } from "../io/output-path.ts";
import {
  addHistoryOptions,
  addTableOptions,
  checkHistoryOptions,
  idOption,
  namesOption,
  parsePositive,
  parseTimes,
  readTableFile,
  TABLE_ARGUMENT,
  type TableOptions,
} from "../options/table-options.ts";
import {
  followPhases,
  nameColumn,
  numberColumns,
  print,
  printJson,
  printNote,
  printTable,
  tellFindings,
  terminalWidth,
  warn,
} from "../print/output.ts";

interface KmOptions extends KmRequest, TableOptions {
  readonly stop?: string;
  readonly svg?: string;
  readonly json?: boolean;
}

export function addKm(program: Command): void {
  const command = program
    .command("km")
    .description("Kaplan-Meier curves, as R's survfit gives them, and the logrank test")
    .argument("<table>", TABLE_ARGUMENT);
  addTableOptions(addHistoryOptions(command))
    .option(
      "--id <column>",
      "rows of one value are one person: robust errors where they are several",
      idOption,
    )
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
      checkHistoryOptions(options);
      const table = await readTableFile(path, options);
      const document = kmDocument(table, options, followPhases());
      if (options.svg !== undefined) await writePlot(options.svg, document, options);
      tellFindings(document.findings);
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

/** A time for people, without meaningless digits. */
function formatTime(time: number | null): string {
  return formatNumber(time, 2);
}

export function printKm(document: KmDocument, options: { readonly svg?: string }): void {
  const { groups, interval, timeUnit } = document;
  const until = groups.length === 0 ? "" : String(Number(groups[0].rmst.until.toPrecision(6)));
  print(plotCurvesAsText(groups, { width: Math.min(terminalWidth(), 84) }));
  if (timeUnit !== null) print(`time in ${timeUnit}`);
  if (document.observed !== undefined) print(describeObserved(document.observed));
  print("");
  printTable(
    [
      nameColumn("group"),
      ...numberColumns(
        "n",
        "events",
        "median",
        "95 % interval",
        "S(end)",
        "95 % interval",
        `mean to ${until}`,
        "se",
      ),
    ],
    groups.map((group) => {
      const last = group.time.length - 1;
      return [
        group.name,
        String(group.n ?? group.atRisk[0] ?? 0),
        formatWeighted(group.events.reduce((sum, e) => sum + e, 0)),
        formatTime(group.median.estimate),
        formatLimits(group.median.lower, group.median.upper),
        formatNumber(group.survival[last]),
        formatRange(group.lower[last], group.upper[last]),
        formatTime(group.rmst.estimate),
        formatTime(group.rmst.standardError),
      ];
    }),
  );
  if (groups.some(({ at }) => at.length > 0)) printAt(document);
  printNote(
    `Intervals are symmetric on the ${interval} scale. The mean is the area under the curve up to ${until}; ` +
      "a curve that ends before is carried on at its last value.",
  );
  if (document.logrank !== null) {
    const { chi2, df, p } = document.logrank;
    print(`\nlogrank: chi2 ${formatNumber(chi2)} on ${df} df, p ${formatP(p)}`);
  }
  if (options.svg !== undefined) print(`\nplot written to ${options.svg}`);
  if (document.omitted > 0) {
    const rows = document.omitted === 1 ? "row" : "rows";
    warn(`${document.omitted} ${rows} left out: a column of --by is missing there`);
  }
}

/** How rows were observed, in a line. */
function describeObserved({ entry, weights, id, variance }: KmObserved): string {
  const parts = [
    entry === null ? "" : `rows at risk after ${entry}`,
    weights === null ? "" : `weighted by ${weights}`,
    id === null ? "" : `${id.people} values of ${id.column}, each one person`,
    variance === "robust" ? "robust errors" : "Greenwood's errors",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** A median without an upper limit is open above. */
function formatLimits(lower: number | null, upper: number | null): string {
  if (upper !== null) return `${formatTime(lower)} – ${formatTime(upper)}`;
  return lower === null ? "–" : `from ${formatTime(lower)}`;
}

function printAt({ groups, timeUnit }: KmDocument): void {
  print("");
  printTable(
    [nameColumn("group"), ...numberColumns(timeUnit ?? "time", "at risk", "survival", "se", "95 % interval")],
    groups.flatMap(({ name, at }) =>
      at.map(({ time, atRisk, survival, standardError, lower, upper }) => [
        name,
        String(time),
        formatWeighted(atRisk),
        formatNumber(survival),
        formatNumber(standardError),
        formatRange(lower, upper),
      ]),
    ),
  );
}
