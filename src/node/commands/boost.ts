/**
 * `graduate boost`: repairs curves after the fact on rows the model has not learnt from. On rows that neither the model
 * nor the repair has seen, it reports what the repair did to each group. `--save` keeps the repair, `--apply` applies
 * one to other rows of the same model.
 */

import { availableParallelism } from "node:os";
import { type Command, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { countOf } from "../../core/text.ts";
import { toPlainFinding } from "../../data/checks/findings.ts";
import { ALL_GROUP, type Group, refuseOutcomeGroups, resolveGroups } from "../../data/groups/groups.ts";
import type { People } from "../../data/outcomes/people.ts";
import { outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { boostToJson } from "../../files/model/boost-file.ts";
import { HAZARD_BOOST_DEFAULTS } from "../../repair/hazard-boost.ts";
import { GUARDED_BOOST_DEFAULTS } from "../../repair/left-out.ts";
import { BOOST_DEFAULTS } from "../../repair/mcboost.ts";
import {
  BOOST_METHODS,
  type BoostMethod,
  type BoostResult,
  type BoostRowSets,
  type BoostTask,
  boost,
  type GuardedBoostOptions,
} from "../../verbs/boost.ts";
import { boostCauses, type CauseBoostResult } from "../../verbs/causes/boost-causes.ts";
import { replaceFile } from "../io/growing-file.ts";
import { refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import {
  type BoostSource,
  type RowsOfCauses,
  type RowsOfOne,
  readFitSource,
} from "../io/read-boost-source.ts";
import {
  addPredictionOptions,
  type GivenPredictions,
  type PredictionOptions,
} from "../io/read-predictions.ts";
import { auditFlags, prepareOutput } from "../io/repaired-output.ts";
import {
  addGroupOptions,
  addTableOptions,
  type GroupOptions,
  numberOption,
  parseAtLeastOne,
  parseCount,
  parsePositive,
  parseShare,
  parseThreads,
  readGroups,
} from "../options/table-options.ts";
import { printBoost, printCauseBoost, printFiles } from "../print/boost.ts";
import { printJson, warn } from "../print/output.ts";
import { partsOf, runApply } from "./boosting/apply-boost.ts";

export interface BoostCommandOptions extends GivenPredictions<PredictionOptions>, GroupOptions {
  readonly fit?: number;
  readonly seed: number;
  readonly method?: BoostMethod;
  readonly timeRanges?: number;
  readonly doubt?: number;
  readonly rounds?: number;
  readonly step?: number;
  readonly censoring?: "group" | "pooled";
  readonly reference?: boolean;
  readonly out?: string;
  readonly save?: string;
  readonly apply?: string;
  readonly json?: boolean;
}

export function addBoost(program: Command): void {
  const { rounds, step, timeBuckets, doubt, censoring } = GUARDED_BOOST_DEFAULTS;
  const ranges = `${HAZARD_BOOST_DEFAULTS.timeBuckets}; mcboost: ${timeBuckets}`;
  const command = program
    .command("boost")
    .description("repair predicted curves group by group, on rows the model has not learnt from")
    .argument("[model]", "a model that train wrote (with --curves: the table)")
    .argument("[table]", "rows with outcomes; those of the training are told apart where they can be");
  addPredictionOptions(command);
  const split = command.options.find(({ long }) => long === "--split");
  if (split !== undefined)
    split.description = "a row,set table: validation rows new to the model fit, test rows judge";
  addGroupOptions(addTableOptions(command))
    .option(
      "--fit <share>",
      "share of the unseen rows to fit on; the others judge (default: 0.5)",
      parseShare,
    )
    .option("--seed <n>", "seed of that share and of the folds", parseCount, 1)
    .addOption(
      new Option(
        "--method <name>",
        "multiply the groups' hazards, or MCBoostSurv (default: hazards)",
      ).choices(BOOST_METHODS),
    )
    .option(
      "--time-ranges <n>",
      `ranges of time that are moved by themselves (default: ${ranges})`,
      parseAtLeastOne,
    )
    .option(
      "--doubt <n>",
      `standard errors that are taken off every deviation (default: ${doubt})`,
      parseDoubt,
    )
    .option("--rounds <n>", `of mcboost: updates at most (default: ${rounds})`, parseCount)
    .option("--step <η>", `of mcboost: how far an update moves the curves (default: ${step})`, parsePositive)
    .addOption(
      new Option(
        "--censoring <whose>",
        `of mcboost: censoring curve of each group by itself, or pooled (default: ${censoring})`,
      ).choices(["group", "pooled"]),
    )
    .option(
      "--reference",
      `of mcboost: as the R package has it, faults included, ${BOOST_DEFAULTS.rounds} rounds of ` +
        `${BOOST_DEFAULTS.step}; to compare with, not to use`,
    )
    .option(
      "--out <file>",
      "write the repaired curves of all rows here, CSV or .parquet; NAME=FILE for each of several causes",
    )
    .option("--save <file>", "keep the repair here (JSON)")
    .option("--apply <file>", "carry out a repair that --save kept; nothing is fitted")
    .option("--threads <n>", "threads that predict", parseThreads, availableParallelism())
    .option("--json", "print one JSON document")
    .action(async (first: string | undefined, second: string | undefined, options: BoostCommandOptions) => {
      const paths = [first, second].filter((path) => path !== undefined);
      const { curves = [], split, groups, apply, out, save } = options;
      const inputs = [...paths, ...curves.flatMap(filesIn), split, groups, apply];
      // Of several causes --out names several files; which causes there are is known once the model is read.
      const single = curves.length <= 1 && options.causes === undefined ? out : undefined;
      const isOneFile = single !== undefined && !single.includes("=");
      await refuseUnwritable([isOneFile ? single : undefined, save], inputs);
      refuseWrongSuffix({ ...present({ curves: isOneFile ? single : undefined }), repair: save });
      if (apply === undefined) await runBoost(paths, options, inputs);
      else await runApply(paths, options, apply, inputs);
    });
}

const parseDoubt = numberOption(
  (value, text) => text.trim() !== "" && value >= 0 && Number.isFinite(value),
  "a number, 0 or more",
);

async function runBoost(
  paths: readonly string[],
  options: BoostCommandOptions,
  inputs: readonly (string | undefined)[],
): Promise<void> {
  const source = await readFitSource(paths, options);
  const write = await prepareOutput(options, source, inputs);
  const { rows, warnings } = source.chooseRows({ seed: options.seed, ...present({ fit: options.fit }) });
  const { predicted, people } = source;
  warnings.push(...source.warnings, ...warnOfTornRows(people, rows));
  const groups = await chooseGroups(source, options);
  const known = { groups, ...present({ people: people ?? undefined }) };
  if (groups.length === 1) warnings.push("everyone is the only group: name others with --group");
  const settings = chooseSettings(options);
  const result: BoostResult | CauseBoostResult =
    "incidence" in predicted.curves
      ? boostCauses({ ...(predicted as RowsOfCauses), ...known }, rows, settings)
      : boost({ ...(predicted as RowsOfOne), ...known }, rows, settings);
  const { boost: fitted, choice, verdict } = result;
  await write(result.curves, rows);
  if (options.save !== undefined) {
    const saved = boostToJson(
      { boost: fitted, model: source.modelHash, table: source.tableHash },
      { choice, verdict },
    );
    await replaceFile(options.save, saved, "the boost");
  }
  for (const { name, reason } of partsOf(fitted)[0].skipped)
    warnings.push(`${name} is not repaired: ${reason}`);
  const files = { out: options.out ?? null, save: options.save ?? null };
  if (options.json) {
    const findings = source.findings.map(toPlainFinding);
    printJson({ rows: sizesOf(rows), choice, boost: fitted, verdict, findings, warnings, ...files });
    return;
  }
  for (const warning of warnings) warn(warning);
  if ("causes" in verdict) printCauseBoost(result as CauseBoostResult, sizesOf(rows));
  else printBoost(result as BoostResult, sizesOf(rows));
  // An audit by cause takes its groups from the table, which does not say which rows were fitted on.
  printFiles(files, "causes" in verdict ? null : auditFlags(source, ' --group "set = test"'));
}

/** A file, or the files of "NAME=FILE,NAME=FILE". */
function filesIn(curves: string): readonly string[] {
  return [curves, ...curves.split(",").map((text) => text.slice(text.indexOf("=") + 1))];
}

/** Options that only MCBoostSurv has select it. */
function chooseSettings(options: BoostCommandOptions): GuardedBoostOptions {
  const { seed, rounds, step, censoring, reference, timeRanges, doubt } = options;
  const own = Object.entries({ rounds, step, censoring, reference }).filter(
    ([, value]) => value !== undefined,
  );
  const method = options.method ?? (own.length > 0 ? "mcboost" : "hazards");
  if (method === "hazards" && own.length > 0) {
    throw new InputError(`--${own[0][0]} is an option of --method mcboost`, { code: "option.conflict" });
  }
  if (reference === true && timeRanges !== undefined) {
    throw new InputError("the reference's form has one range of time: leave out --time-ranges", {
      code: "option.conflict",
    });
  }
  return {
    method,
    seed,
    ...present({ timeBuckets: timeRanges, doubt }),
    ...Object.fromEntries(own),
  };
}

/** A split given by the user may put one person both among the rows that fit and those that judge. */
function warnOfTornRows(people: People | null, { fit, held }: BoostRowSets): string[] {
  if (people === null) return [];
  const fitting = new Set(Array.from(fit, (row) => people.of[row]));
  const both = held.filter((row) => fitting.has(people.of[row])).length;
  return both === 0 ? [] : [`${countOf(both, "row")} that judge are of people who were fitted on`];
}

function sizesOf({ fit, held }: { readonly fit: Int32Array; readonly held: Int32Array }) {
  return { fit: fit.length, held: held.length };
}

/** Everyone, the model's groups, and the groups named. */
async function chooseGroups(
  { table, columns, groups, id }: BoostSource,
  options: GroupOptions,
): Promise<BoostTask["groups"]> {
  const outcome = outcomeNames(columns);
  const ids = id === null ? [] : [id];
  const own: readonly Group[] = [ALL_GROUP, ...groups.filter(({ name }) => name !== ALL_GROUP.name)];
  const known = new Set(own.map(({ name }) => name));
  const named = (await readGroups(table, options, [...outcome, ...ids])).filter(
    ({ name }) => !known.has(name),
  );
  refuseOutcomeGroups(named, outcome);
  return [...resolveGroups(own, table, { unknownLevels: "allow" }), ...named];
}
