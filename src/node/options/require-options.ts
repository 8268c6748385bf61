/**
 * `--require` and `--strict`: requirements are read before the work, judged and printed after it, and give exit code 2
 * if one is not met.
 */
import type { Command } from "commander";
import { formatNumber, formatP, wrapText } from "../../report/words/text-table.ts";
import type { AuditTable } from "../../verbs/audit.ts";
import {
  judgeRequirements,
  parseRequirement,
  type Requirement,
  type RequirementResult,
} from "../../verbs/requirements.ts";
import { print, terminalWidth, warn } from "../print/output.ts";
import { repeatedOption } from "./table-options.ts";

export const EXIT_REQUIREMENT = 2;

export interface RequireOptions {
  readonly require: readonly string[];
  readonly strict?: boolean;
}

export function addRequireOptions(command: Command): Command {
  return command
    .option(
      "--require <requirement>",
      'exit code 2 unless it is met, e.g. "all groups: ece<0.05" (repeatable)',
      repeatedOption,
      [],
    )
    .option("--strict", "a requirement that cannot be judged, for want of events, counts as not met");
}

export function readRequirements({ require }: RequireOptions): readonly Requirement[] {
  return require.map(parseRequirement);
}

/** Judges the requirements and sets the exit code; names those not met on stderr if stdout is for a program. */
export function checkRequirements(
  requirements: readonly Requirement[],
  audited: AuditTable,
  options: { readonly strict?: boolean; readonly json?: boolean },
): readonly RequirementResult[] {
  const results = judgeRequirements(requirements, audited, options);
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
