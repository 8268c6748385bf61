/** `graduate km`: Kaplan-Meier curves over the distinct times, by group, with the logrank test between them. */
import { type Command, Option } from "commander";
import { isAbsent } from "../core/measured.ts";
import { groupByColumns } from "../data/group-by.ts";
import { pickOutcomes } from "../data/outcomes.ts";
import { noteOutcome, readOutcomes } from "../data/read-outcomes.ts";
import type { Table } from "../data/table.ts";
import { plotCurvesAsText } from "../report/terminal-plot.ts";
import { formatNumber, formatP, formatRange, formatTable } from "../report/text-table.ts";
import { type IntervalScale, type KaplanMeier, kaplanMeier } from "../stats/kaplan-meier.ts";
import { logrank } from "../stats/logrank.ts";
import { print, printJson, terminalWidth, warn } from "./output.ts";
import { refuseWrongSuffix } from "./output-suffix.ts";
import { replaceFile } from "./replace-file.ts";
import {
  addOutcomeOptions,
  addTableOptions,
  namesOption,
  type OutcomeOptions,
  readTableFile,
  type TableOptions,
} from "./table-options.ts";

export interface KmDocument {
  readonly groups: readonly KmGroup[];
  readonly logrank: { readonly chi2: number; readonly df: number; readonly p: number } | null;
  /** Rows left out because a column of --by is missing there. */
  readonly omitted: number;
}

interface KmGroup
  extends Pick<
    KaplanMeier,
    "time" | "atRisk" | "events" | "censored" | "survival" | "variance" | "lower" | "upper"
  > {
  readonly name: string;
}

interface KmOptions extends OutcomeOptions, TableOptions {
  readonly by?: readonly string[];
  readonly interval: IntervalScale;
  readonly svg?: string;
  readonly json?: boolean;
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
    .option("--svg <file>", "also write the plot as SVG")
    .option("--json", "print one JSON document")
    .action(async (path: string, options: KmOptions) => {
      refuseWrongSuffix({ plot: options.svg });
      const table = await readTableFile(path, options);
      const document = computeKm(table, options);
      if (options.svg !== undefined) await writePlot(options.svg, document, options.time);
      for (const note of noteOutcome(table, options)) warn(note);
      if (options.json) printJson(document);
      else printKm(document, options);
    });
}

export function computeKm(
  table: Table,
  options: OutcomeOptions & Pick<KmOptions, "by" | "interval">,
): KmDocument {
  const outcomes = readOutcomes(table, options);
  const by = groupByColumns(table, options.by ?? []);
  const groups = by.groups.map(({ name, rows }) => {
    const km = kaplanMeier(pickOutcomes(outcomes, rows), { interval: options.interval });
    return {
      name,
      time: km.time,
      atRisk: km.atRisk,
      events: km.events,
      censored: km.censored,
      survival: km.survival,
      variance: km.variance,
      lower: km.lower,
      upper: km.upper,
    };
  });
  const test = groups.length > 1 ? logrank(outcomes, by.groupOfRow, groups.length) : null;
  return {
    groups,
    logrank: test === null || isAbsent(test) ? null : { chi2: test.chi2, df: test.df, p: test.p },
    omitted: by.omitted,
  };
}

async function writePlot(path: string, document: KmDocument, timeLabel: string): Promise<void> {
  // Loaded only when a plot is asked for: they take longer to load than the command takes to run.
  const [{ parseHTML }, { plotKaplanMeier }] = await Promise.all([
    import("linkedom"),
    import("../report/plots.ts"),
  ]);
  const svg = plotKaplanMeier(document.groups, { document: parseHTML("<html></html>").document, timeLabel });
  await replaceFile(path, `${svg}\n`, "the plot");
}

/** The first time at which a curve is at or below one half, or null. */
function medianOf(time: ArrayLike<number>, survival: ArrayLike<number>): number | null {
  for (let i = 0; i < time.length; i++) if (survival[i] <= 0.5) return time[i];
  return null;
}

export function printKm(
  document: KmDocument,
  options: { readonly svg?: string; readonly interval: string },
): void {
  const width = terminalWidth();
  print(plotCurvesAsText(document.groups, { width: Math.min(width, 84) }));
  print("");
  print(
    formatTable(
      [
        { title: "group", flexible: true },
        { title: "n", align: "right" },
        { title: "events", align: "right" },
        { title: "median", align: "right" },
        { title: "S(end)", align: "right" },
        { title: `95 % limits (${options.interval})`, align: "right" },
      ],
      document.groups.map((group) => {
        const last = group.time.length - 1;
        return [
          group.name,
          String(group.atRisk[0] ?? 0),
          String(group.events.reduce((sum, e) => sum + e, 0)),
          formatNumber(medianOf(group.time, group.survival), 2),
          formatNumber(group.survival[last]),
          formatRange(group.lower[last], group.upper[last]),
        ];
      }),
      width,
    ),
  );
  if (document.logrank !== null) {
    const { chi2, df, p } = document.logrank;
    print(`\nlogrank: chi2 ${formatNumber(chi2)} on ${df} df, p ${formatP(p)}`);
  }
  if (options.svg !== undefined) print(`\nplot written to ${options.svg}`);
  if (document.omitted > 0) warn(`${document.omitted} rows left out: missing in a column of --by`);
}
