/**
 * What commands that audit share: the options of the audit, `--report FILE.html`, which is written as a whole or not at
 * all, and `--require`, whose requirements are read before the work, judged and printed after it, and give exit code 2
 * if one is not met.
 */
import { basename } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { present } from "../../core/present.ts";
import type { CauseReportInput } from "../../report/data/cause-report.ts";
import type { GatherInput } from "../../report/data/gather-report.ts";
import type { ReportProvenance } from "../../report/data/report-data.ts";
import { describeCommand } from "../../report/words/command-words.ts";
import { DEFAULT_TOLERANCE } from "../../report/words/report-words.ts";
import { formatNumber, formatP, wrapText } from "../../report/words/text-table.ts";
import { type AuditOptions, type AuditTable, DEFAULT_DRAWS, REPORT_REPLICATES } from "../../verbs/audit.ts";
import {
  judgeRequirements,
  parseRequirement,
  type Requirement,
  type RequirementResult,
} from "../../verbs/requirements.ts";
import { replaceFile } from "../io/growing-file.ts";
import { hashFile, programVersion } from "../io/provenance.ts";
import { parseCount, repeatedOption } from "../options/table-options.ts";
import { bootstrapInParallel } from "../workers/replicate-pool.ts";
import { createProgress, followPhases, print, renamedNote, terminalWidth, warn } from "./output.ts";

export interface ReportOptions {
  readonly report?: string;
  readonly timeUnit?: string;
  /** In points of survival. */
  readonly tolerance: number;
  readonly showRows?: boolean;
  readonly smallCells: "hide" | "show";
  readonly replicates?: number;
  /** The former name of --replicates. */
  readonly intervals?: number;
  readonly draws: number;
  readonly seed: number;
  readonly threads: number;
}

const DEFAULT_TOLERANCE_POINTS = 100 * DEFAULT_TOLERANCE;

export function addReportOptions(command: Command): Command {
  return command
    .option("--report <file>", "write the whole audit as one HTML page")
    .option("--time-unit <word>", 'what times count, for the report: "days"')
    .option(
      "--tolerance <points>",
      "how far off a group may be on average over time, in points of survival: green below it",
      parseTolerance,
      DEFAULT_TOLERANCE_POINTS,
    )
    .option("--show-rows", "show three people's own curves in the report, with row number, time and outcome")
    .addOption(
      new Option("--small-cells <how>", "counts under 5 in the report")
        .choices(["hide", "show"])
        .default("hide"),
    )
    .option(
      "--replicates <n>",
      `add bootstrap intervals (default: ${REPORT_REPLICATES} with --report, otherwise none)`,
      parseCount,
    )
    .addOption(
      new Option("--intervals <n>", "--replicates by its old name").argParser(parseIntervals).hideHelp(),
    )
    .option("--draws <n>", "draws of the noise floor (0: none)", parseCount, DEFAULT_DRAWS);
}

function parseIntervals(text: string): number {
  warn(renamedNote("--intervals", "--replicates"));
  return parseCount(text);
}

/** Below this, the value was probably meant as survival instead of points: 0.05 for 5. */
const SMALL_TOLERANCE = 0.5;
/** The default, written as survival: the most common mistake. */
const SHARE_OF_POINT = 0.05;

function parseTolerance(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0 && value <= 100))
    throw new InvalidArgumentError("expected points of survival, above 0 and up to 100, such as 5.");
  if (value < SMALL_TOLERANCE) {
    const given = value === SHARE_OF_POINT ? "a twentieth of a point" : `${value} of a point`;
    warn(`tolerance is in points of survival, 0 to 100: ${value} is ${given}`);
  }
  return value;
}

/** The tolerance in survival, like distances. */
export function toleranceOf({ tolerance }: Pick<ReportOptions, "tolerance">): number {
  return tolerance / 100;
}

/** How to make the audit: a report has intervals unless told otherwise. */
export function auditSettings(options: ReportOptions): AuditOptions & { readonly replicates: number } {
  const replicates = options.replicates ?? options.intervals;
  return {
    seed: options.seed,
    draws: options.draws,
    onProgress: followPhases(),
    replicates: replicates ?? (options.report === undefined ? 0 : REPORT_REPLICATES),
    bootstrap: async (prepared, bootstrapOptions) => {
      const progress = createProgress("bootstrap");
      try {
        return await bootstrapInParallel(prepared, {
          ...bootstrapOptions,
          threads: options.threads,
          onProgress: ({ done, total }) => progress.update(done, total),
        });
      } finally {
        progress.finish();
      }
    },
  };
}

interface ReportedFile {
  readonly role: string;
  readonly path: string;
  /** What it is called, where not by the end of its path. */
  readonly name?: string;
  readonly sha256?: string | null;
}

export interface ReportedAudit
  extends Omit<GatherInput, "provenance" | "timeLabel" | "tolerance" | "showRows" | "showSmallCells"> {
  readonly timeLabel?: string | undefined;
  /** The input files by role, "table" or "model", with their hashes if known. */
  readonly files: readonly ReportedFile[];
}

export async function writeReport(path: string, input: ReportedAudit, options: ReportOptions): Promise<void> {
  const { files, timeLabel, ...gathered } = input;
  const [{ parseHTML }, { gatherReport }, { renderReport }] = await Promise.all([
    import("linkedom"),
    import("../../report/data/gather-report.ts"),
    import("../../report/page/render-report.ts"),
  ]);
  const { seed, draws, replicates } = auditSettings(options);
  const data = gatherReport({
    ...gathered,
    ...present({ timeLabel }),
    tolerance: toleranceOf(options),
    showRows: options.showRows === true,
    showSmallCells: options.smallCells === "show",
    provenance: await gatherProvenance(files, { seed: seed ?? null, draws: draws ?? null, replicates }),
  });
  const page = renderReport(data, { document: parseHTML("<html></html>").document });
  await replaceFile(path, page, "the report");
}

/** The same page of an audit by cause. */
export async function writeCauseReport(
  path: string,
  input: Omit<CauseReportInput, "provenance"> & Pick<ReportedAudit, "files">,
  { seed, draws }: Pick<ReportOptions, "seed" | "draws">,
): Promise<void> {
  const { files, ...gathered } = input;
  const [{ parseHTML }, { gatherCauseReport }, { renderCauseReport }] = await Promise.all([
    import("linkedom"),
    import("../../report/data/cause-report.ts"),
    import("../../report/page/render-cause-report.ts"),
  ]);
  const provenance = await gatherProvenance(files, { seed, draws });
  const data = gatherCauseReport({ ...gathered, provenance });
  const page = renderCauseReport(data, { document: parseHTML("<html></html>").document });
  await replaceFile(path, page, "the report");
}

/** Which program made a page of which files, how. */
async function gatherProvenance(
  files: readonly ReportedFile[],
  settings: ReportProvenance["settings"],
): Promise<ReportProvenance> {
  const origins = await Promise.all(
    files.map(async ({ role, path: from, name, sha256 }) => ({
      role,
      name: name ?? (from === "-" ? "standard input" : basename(from)),
      sha256: sha256 === undefined ? await hashFile(from) : sha256,
    })),
  );
  return {
    program: `graduate ${programVersion}`,
    command: describeCommand(process.argv.slice(2)),
    files: origins.map(({ sha256, ...file }) => ({ ...file, ...(sha256 === null ? {} : { sha256 }) })),
    settings,
  };
}

export const EXIT_REQUIREMENT = 2;

export interface RequireOptions {
  readonly require: readonly string[];
  readonly allowUnknown?: boolean;
}

export function addRequireOptions(command: Command): Command {
  return command
    .option(
      "--require <requirement>",
      'exit code 2 unless it is met, e.g. "all groups: ece<0.05" (repeatable)',
      repeatedOption,
      [],
    )
    .option(
      "--allow-unknown",
      "a requirement that cannot be judged, for want of events or follow-up, fails nothing",
    )
    .addOption(new Option("--strict", "nothing: what cannot be judged is not met").hideHelp());
}

export function readRequirements({ require }: RequireOptions): readonly Requirement[] {
  return require.map(parseRequirement);
}

/** Judges the requirements and sets the exit code; names those not met on stderr if stdout is for a program. */
export function checkRequirements(
  requirements: readonly Requirement[],
  audited: AuditTable,
  options: { readonly allowUnknown?: boolean; readonly json?: boolean },
): readonly RequirementResult[] {
  return settleRequirements(judgeRequirements(requirements, audited, options), options);
}

/** The same where they have been judged. */
export function settleRequirements(
  results: readonly RequirementResult[],
  options: { readonly json?: boolean },
): readonly RequirementResult[] {
  if (results.some(({ met }) => met === false)) process.exitCode = EXIT_REQUIREMENT;
  if (options.json)
    for (const result of results) if (result.met === false) warn(explainResult(result).join("; "));
  return results;
}

/** "not met: all groups: ece<0.05", then one line for each group that fails or cannot be judged. */
function explainResult({ text, met, metric, failed, undecided }: RequirementResult): string[] {
  const format = (value: number) =>
    /(^|\.)(p|adjustedP)$/.test(metric) ? formatP(value) : formatNumber(value);
  return [
    `${met === null ? "cannot say" : met ? "met" : "not met"}: ${text}`,
    ...failed.map(({ group, value }) => `${group} has ${format(value)}`),
    ...undecided.map(({ group, reason }) => `${group}: cannot say (${reason})`),
    ...(met === false && undecided.length > 0
      ? ["give more people or longer follow-up, leave the group out, or allow it with --allow-unknown"]
      : []),
  ];
}

export function printRequirements(results: readonly RequirementResult[]): void {
  if (results.length === 0) return;
  const width = terminalWidth();
  print("\nrequirements");
  for (const result of results) {
    const [first, ...rest] = explainResult(result);
    print(`  ${wrapText(first, width - 2, "    ")}`);
    for (const line of rest) print(`    ${wrapText(line, width - 4, "      ")}`);
  }
}
