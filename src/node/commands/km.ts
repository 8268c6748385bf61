/**
 * `graduate km`: Kaplan-Meier curves over the distinct times, by group, with the logrank test between them, and what is read
 * off them: survival at chosen times, the median, the restricted mean.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { isAbsent, type Measured } from "../../core/measured.ts";
import { joinTimes } from "../../core/near-times.ts";
import { groupByColumns } from "../../data/groups/group-by.ts";
import { pickOutcomes } from "../../data/outcomes/outcomes.ts";
import { noteOutcome, readOutcomes } from "../../data/outcomes/read-outcomes.ts";
import type { Table } from "../../data/table.ts";
import { type IntervalScale, type KaplanMeier, kaplanMeier } from "../../stats/kaplan-meier.ts";
import { medianSurvival, restrictedMean, survivalAt } from "../../stats/kaplan-meier-summary.ts";
import { logrank } from "../../stats/logrank.ts";
import { replaceFile } from "../io/replace-file.ts";
import { refuseWrongSuffix } from "../options/output-suffix.ts";
import {
  addOutcomeOptions,
  addTableOptions,
  namesOption,
  type OutcomeOptions,
  parsePositive,
  readTableFile,
  type TableOptions,
} from "../options/table-options.ts";
import { printKm } from "../print/km.ts";
import { printJson, warn } from "../print/output.ts";

/** Field that is null → why. */
type Reasons = Readonly<Record<string, string>>;

export interface KmDocument {
  readonly groups: readonly KmGroup[];
  readonly logrank: { readonly chi2: number; readonly df: number; readonly p: number } | null;
  /** Rows left out because a column of --by is missing there. */
  readonly omitted: number;
  /** The scale of all limits; R's conf.type. */
  readonly interval: IntervalScale;
  readonly timeUnit: string | null;
  readonly timefix: boolean;
}

export interface KmGroup
  extends Pick<
    KaplanMeier,
    "time" | "atRisk" | "events" | "censored" | "survival" | "variance" | "lower" | "upper"
  > {
  readonly name: string;
  readonly median: {
    readonly estimate: number | null;
    readonly lower: number | null;
    readonly upper: number | null;
    readonly absent: Reasons;
  };
  readonly rmst: { readonly until: number; readonly estimate: number; readonly standardError: number };
  /** At the times asked for. */
  readonly at: readonly {
    readonly time: number;
    readonly atRisk: number;
    readonly survival: number | null;
    readonly standardError: number | null;
    readonly lower: number | null;
    readonly upper: number | null;
    readonly absent: Reasons;
  }[];
}

export interface KmOptions extends OutcomeOptions, TableOptions {
  readonly by?: readonly string[];
  readonly interval: IntervalScale;
  readonly at?: readonly number[];
  readonly rmst?: number;
  readonly timeUnit?: string;
  readonly timefix?: boolean;
  readonly svg?: string;
  readonly json?: boolean;
}

/** "365,1825": times from 0 up. */
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
      const document = computeKm(table, options);
      if (options.svg !== undefined) await writePlot(options.svg, document, options);
      for (const note of noteOutcome(table, options)) warn(note);
      if (options.json) printJson(document);
      else printKm(document, options);
    });
}

export function computeKm(
  table: Table,
  options: OutcomeOptions & Pick<KmOptions, "by" | "interval" | "at" | "rmst" | "timeUnit" | "timefix">,
): KmDocument {
  const timefix = options.timefix ?? true;
  const read = readOutcomes(table, options);
  const by = groupByColumns(table, options.by ?? []);
  const outcomes = timefix ? { ...read, time: joinGrouped(read.time, by.groupOfRow) } : read;
  const curves = by.groups.map(({ name, rows }) => ({
    name,
    km: kaplanMeier(pickOutcomes(outcomes, rows), { interval: options.interval, timefix: false }),
  }));
  const until = options.rmst ?? curves.reduce((last, { km }) => Math.max(last, km.time.at(-1) ?? 0), 0);
  const groups = curves.map(({ name, km }) => ({
    name,
    time: km.time,
    atRisk: km.atRisk,
    events: km.events,
    censored: km.censored,
    survival: km.survival,
    variance: km.variance,
    lower: km.lower,
    upper: km.upper,
    median: toPlain(medianSurvival(km)),
    rmst: restrictedMean(km, until),
    at: (options.at ?? []).map((time) => {
      const { atRisk, survival, standardError, lower, upper } = survivalAt(km, time);
      return { time, atRisk, ...toPlain({ survival, standardError, lower, upper }) };
    }),
  }));
  const test = groups.length > 1 ? logrank(outcomes, by.groupOfRow, groups.length, { timefix: false }) : null;
  return {
    groups,
    logrank: test === null || isAbsent(test) ? null : { chi2: test.chi2, df: test.df, p: test.p },
    omitted: by.omitted,
    interval: options.interval,
    timeUnit: options.timeUnit ?? null,
    timefix,
  };
}

/** Over the rows of all groups together, as R does: which times are tied must not depend on the group. */
function joinGrouped(time: Float64Array, groupOfRow: Int32Array): Float64Array {
  const joined = joinTimes(time.filter((_, row) => groupOfRow[row] >= 0));
  let next = 0;
  return time.map((own, row) => (groupOfRow[row] >= 0 ? joined[next++] : own));
}

/** Numbers, null where one is absent, and the reasons. */
function toPlain<Key extends string>(
  measured: Readonly<Record<Key, Measured>>,
): Readonly<Record<Key, number | null>> & { readonly absent: Reasons } {
  const entries = Object.entries<Measured>(measured);
  const reasons = entries.flatMap(([key, value]) => (isAbsent(value) ? [[key, value.absent] as const] : []));
  const values = entries.map(([key, value]) => [key, isAbsent(value) ? null : value] as const);
  return {
    ...(Object.fromEntries(values) as Record<Key, number | null>),
    absent: Object.fromEntries(reasons),
  };
}

async function writePlot(
  path: string,
  document: KmDocument,
  options: Pick<KmOptions, "time" | "timeUnit">,
): Promise<void> {
  // Loaded only when a plot is asked for: they take longer to load than the command takes to run.
  const [{ parseHTML }, { plotKaplanMeier }] = await Promise.all([
    import("linkedom"),
    import("../../report/plots/plots.ts"),
  ]);
  const svg = plotKaplanMeier(document.groups, {
    document: parseHTML("<html></html>").document,
    timeLabel: options.timeUnit === undefined ? options.time : `Time in ${options.timeUnit}`,
    ...(document.logrank === null ? {} : { logrankP: document.logrank.p }),
  });
  await replaceFile(path, `${svg}\n`, "the plot");
}
