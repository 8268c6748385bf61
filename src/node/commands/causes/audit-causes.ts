/**
 * `graduate audit TABLE --causes …`: every score of predicted incidences by cause, overall and by group, with the
 * report and the requirements of any audit. The outcome is read from the table, with its causes, late entry and
 * weights; each cause has a file of curves, row by row beside the table.
 */
import type { Command } from "commander";
import { InputError } from "../../../core/errors.ts";
import { present } from "../../../core/present.ts";
import { binOutcomes } from "../../../data/outcomes/time-grid.ts";
import { auditCauses } from "../../../verbs/causes/audit-causes.ts";
import { refuseUnwritable, refuseWrongSuffix } from "../../io/output-path.ts";
import {
  type CauseCommandOptions,
  type CauseOptions,
  readCausePredictions,
  refuseOutcomeOfModel,
} from "../../io/read-cause-predictions.ts";
import { addRowOptions, parseTimes, valuesOption } from "../../options/table-options.ts";
import { causeSettings, tellCauseAudit } from "../../print/tell-causes.ts";
import { readRequirements } from "../../print/write-report.ts";

export function addCauseOptions(command: Command): Command {
  const withCauses = command
    .option(
      "--causes <values>",
      "audit incidences by cause: the values of the event column that are events, each VALUE or VALUE=name",
      valuesOption,
    )
    .option(
      "--censored <value>",
      "with --causes: the value that means censored (default: 0, no, none, alive, …)",
    );
  return addRowOptions(withCauses, "of --curves: ").option(
    "--at <times>",
    "with --causes: Brier score and AUC at the ends of the bins of these times",
    parseTimes,
  );
}

/** Options that mean something with --causes alone; --at also with a model of several causes. */
const WITH_CAUSES = ["censored", "at"] as const;

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
  if (second !== undefined) refuseOutcomeOfModel(options);
  const read = await readCausePredictions(first, options, requirements);
  const { curves, grid, groups, people } = read;
  const binned = binOutcomes(read.outcomes, grid);
  const table = await auditCauses(
    { curves, outcomes: binned, groups, ...present({ people: people ?? undefined }) },
    causeSettings(options, grid),
  );
  const outcome = { event: options.event ?? "event", time: options.time ?? "time" };
  await tellCauseAudit({ ...read, audit: table, outcome, which: "rows of the table" }, options);
}

/** A model of several causes has a split, and takes everything else that an audit by cause takes. */
export function refuseByCause(
  options: Partial<Pick<CauseCommandOptions, (typeof NOT_BY_CAUSE)[number][0]>>,
): void {
  refuseOptions({ ...options, split: undefined, allRows: undefined }, "a model of several causes");
}

function refuseOptions(
  options: { readonly [Key in (typeof NOT_BY_CAUSE)[number][0]]?: unknown },
  beside = "--causes",
): void {
  for (const [key, flag, why] of NOT_BY_CAUSE) {
    if (options[key] === undefined) continue;
    throw new InputError(`${flag} is given with ${beside}`, {
      code: "option.conflict",
      hint: `leave ${flag} out: ${why}`,
    });
  }
}
