/**
 * `graduate audit TABLE --causes …`: every score of predicted incidences by cause, overall and by group, with the
 * report and the requirements of any audit. The outcome is read from the table, with its causes, late entry and
 * weights; each cause has a file of curves, row by row beside the table.
 */
import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { haveSeveralRows } from "../../data/outcomes/people.ts";
import { binOutcomes, findBin, type TimeGrid } from "../../data/outcomes/time-grid.ts";
import { timeLabelOf } from "../../report/data/describe-model.ts";
import { auditCauses } from "../../verbs/causes/audit-causes.ts";
import { judgeCauseRequirements } from "../../verbs/causes/cause-requirements.ts";
import { refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import {
  type CauseCommandOptions,
  type CauseOptions,
  predictCausesOfModel,
  readCausePredictions,
} from "../io/read-cause-predictions.ts";
import { namesOption, parseTimes } from "../options/table-options.ts";
import { printCauseAudit } from "../print/audit-causes.ts";
import { followPhases, print, printJson, warn } from "../print/output.ts";
import {
  printRequirements,
  readRequirements,
  settleRequirements,
  toleranceOf,
  writeCauseReport,
} from "../print/write-report.ts";

export function addCauseOptions(command: Command): Command {
  return command
    .option(
      "--causes <values>",
      "audit incidences by cause: the values of the event column that are events, each VALUE or VALUE=name",
      namesOption,
    )
    .option(
      "--censored <value>",
      "with --causes: the value that means censored (default: 0, no, none, alive, …)",
    )
    .option("--entry <column>", "with --causes: when a row came under observation, where later than time 0")
    .option("--weights <column>", "with --causes: how many people a row stands for")
    .option(
      "--at <times>",
      "with --causes: Brier score and AUC at the ends of the bins of these times",
      parseTimes,
    );
}

/** Options that mean something with --causes alone. */
const WITH_CAUSES = ["censored", "entry", "weights", "at"] as const;

export function refuseWithoutCauses(options: CauseOptions): void {
  const given = WITH_CAUSES.find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw new InputError(`--${given} is given without --causes`, {
    code: "option.missing",
    hint: "name the values of the event column that are events: --causes VALUE=name,…",
  });
}

/** Options of an audit of one kind of event. */
const NOT_BY_CAUSE = [
  ["bin", "--bin", "the outcome is read from the table's times"],
  ["split", "--split", "every row of the table is judged"],
  ["allRows", "--all-rows", "every row of the table is judged"],
  ["certify", "--certify", "the bounds of an audit by cause are given without it"],
  ["replicates", "--replicates", "an audit by cause has bounds, and no bootstrap intervals"],
  ["intervals", "--intervals", "an audit by cause has bounds, and no bootstrap intervals"],
  ["showRows", "--show-rows", "the report of an audit by cause shows nobody's own curve"],
] as const;

export async function runCauseAudit(
  first: string | undefined,
  second: string | undefined,
  options: CauseCommandOptions,
): Promise<void> {
  refuseOptions(options);
  const requirements = readRequirements(options);
  await refuseUnwritable([options.report], [first, second, options.groups]);
  refuseWrongSuffix({ report: options.report });
  const read =
    second === undefined
      ? await readCausePredictions(first, options, requirements)
      : await predictCausesOfModel();
  const { curves, grid, groups, people } = read;
  const binned = binOutcomes(read.outcomes, grid);
  const bins = options.at?.map((time) => binOfScore(grid, time));
  const table = await auditCauses(
    { curves, outcomes: binned, groups, ...present({ people: people ?? undefined }) },
    { seed: options.seed, draws: options.draws, onProgress: followPhases(), ...present({ bins }) },
  );
  const found = read.findings.map(({ message }) => message);
  const warnings = [...found, ...read.notes, ...sayUnjudged(table.unjudged, curves.N)];
  for (const warning of warnings) warn(warning);
  if (options.report !== undefined) {
    const input = {
      ...read,
      audit: table,
      timeLabel: timeLabelOf(options.timeUnit, options.origin),
      outcome: { event: options.event ?? "event", time: options.time ?? "time" },
      tolerance: toleranceOf(options),
      showSmallCells: options.smallCells === "show",
      table: read.table.name,
      people: people !== null && haveSeveralRows(people) ? people.count : null,
    };
    await writeCauseReport(options.report, input, options);
  }
  const results = settleRequirements(judgeCauseRequirements(requirements, table, options), options);
  if (options.json) {
    printJson({
      ...table,
      edges: Array.from(grid.edges),
      tolerance: toleranceOf(options),
      rows: { which: "rows of the table", judged: curves.N - table.unjudged },
      warnings,
      ...(requirements.length === 0 ? {} : { requirements: results }),
      ...(options.report === undefined ? {} : { report: options.report }),
    });
    return;
  }
  printCauseAudit(table, grid, toleranceOf(options));
  printRequirements(results);
  if (options.report !== undefined) print(`\nreport written to ${options.report}`);
}

function refuseOptions(options: CauseCommandOptions): void {
  for (const [key, flag, why] of NOT_BY_CAUSE) {
    if (options[key] === undefined) continue;
    throw new InputError(`${flag} is given with --causes`, {
      code: "option.conflict",
      hint: `leave ${flag} out: ${why}`,
    });
  }
}

/** The bin at whose end a score is given. */
function binOfScore(grid: TimeGrid, time: number): number {
  const horizon = grid.edges[grid.T];
  if (time > 0 && time <= horizon) return findBin(grid, time);
  throw new InputError(`time of a score is not after 0 and up to ${horizon}: ${time}`, {
    code: "time.range",
    where: "--at",
    hint: "the curves end there",
  });
}

function sayUnjudged(unjudged: number, N: number): string[] {
  if (unjudged === 0) return [];
  return [
    `${unjudged} of ${N} rows enter and leave within one time bin: they are at risk in none and not judged`,
  ];
}
