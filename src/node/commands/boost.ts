/**
 * `graduate boost`: repairs curves after the fact on rows the model has not learnt from. On rows that neither the model
 * nor the repair has seen, it reports what the repair did to each group. `--save` keeps the repair, `--apply` applies
 * one to other rows of the same model.
 */
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { countOf } from "../../core/text.ts";
import { ALL_GROUP, type Group, refuseOutcomeGroups, resolveGroups } from "../../data/groups/groups.ts";
import type { People } from "../../data/outcomes/people.ts";
import { outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { boostFromJson, boostToJson, MAX_BOOST_BYTES } from "../../files/model/boost-file.ts";
import { HAZARD_BOOST_DEFAULTS } from "../../repair/hazard-boost.ts";
import { GUARDED_BOOST_DEFAULTS } from "../../repair/left-out.ts";
import { applyBoost, BOOST_DEFAULTS, type Boost } from "../../repair/mcboost.ts";
import {
  BOOST_METHODS,
  type BoostMethod,
  type BoostRowSets,
  type BoostTask,
  type BoostVerdict,
  boost,
  type GuardedBoostOptions,
  judgeBoost,
} from "../../verbs/boost.ts";
import { replaceFile } from "../io/growing-file.ts";
import { readTextFile } from "../io/input-file.ts";
import { refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import { writeCurves } from "../io/prediction-output.ts";
import {
  addPredictionOptions,
  type BoostSource,
  type PredictionOptions,
  readApplySource,
  readFitSource,
} from "../io/read-predictions.ts";
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
import { printBoost, printFiles, printVerdict } from "../print/boost.ts";
import { print, printJson, warn } from "../print/output.ts";

export interface BoostCommandOptions extends PredictionOptions, GroupOptions {
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
    .option("--out <file>", "write the repaired curves of all rows here, CSV or .parquet")
    .option("--save <file>", "keep the repair here (JSON)")
    .option("--apply <file>", "carry out a repair that --save kept; nothing is fitted")
    .option("--threads <n>", "threads that predict", parseThreads, availableParallelism())
    .option("--json", "print one JSON document")
    .action(async (first: string | undefined, second: string | undefined, options: BoostCommandOptions) => {
      const paths = [first, second].filter((path) => path !== undefined);
      const inputs = [...paths, options.curves, options.split, options.groups, options.apply];
      await refuseUnwritable([options.out, options.save], inputs);
      refuseWrongSuffix({ curves: options.out, repair: options.save });
      if (options.apply === undefined) await runBoost(paths, options);
      else await runApply(paths, options, options.apply);
    });
}

const parseDoubt = numberOption(
  (value, text) => text.trim() !== "" && value >= 0 && Number.isFinite(value),
  "a number, 0 or more",
);

async function runBoost(paths: readonly string[], options: BoostCommandOptions): Promise<void> {
  const source = await readFitSource(paths, options);
  const { rows, warnings } = source.chooseRows({ seed: options.seed, ...present({ fit: options.fit }) });
  const { curves, outcomes, people } = source;
  warnings.push(...source.warnings, ...warnOfTornRows(people, rows));
  const groups = await chooseGroups(source, options);
  const task = { curves, outcomes, groups, ...present({ people: people ?? undefined }) };
  if (task.groups.length === 1) warnings.push("everyone is the only group: name others with --group");
  const settings = chooseSettings(options);
  const result = boost(task, rows, settings);
  const { boost: fitted, choice, verdict } = result;
  if (options.out !== undefined) await writeCurves(options.out, result.curves, source, rows);
  if (options.save !== undefined) {
    const saved = boostToJson(
      { boost: fitted, model: source.modelHash, table: source.tableHash },
      { choice, verdict },
    );
    await replaceFile(options.save, saved, "the boost");
  }
  for (const { name, reason } of fitted.skipped) warnings.push(`${name} is not repaired: ${reason}`);
  const files = { out: options.out ?? null, save: options.save ?? null };
  if (options.json) {
    printJson({ rows: sizesOf(rows), choice, boost: fitted, verdict, warnings, ...files });
    return;
  }
  for (const warning of warnings) warn(warning);
  printBoost(result, sizesOf(rows));
  printFiles(files, ` --group "set = test"${people === null ? "" : " --id person"}`);
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

async function runApply(paths: readonly string[], options: BoostCommandOptions, path: string): Promise<void> {
  if (options.save !== undefined || options.fit !== undefined) {
    throw new InputError(
      `--apply fits nothing: leave out ${options.fit === undefined ? "--save" : "--fit"}`,
      {
        code: "option.conflict",
      },
    );
  }
  const saved = boostFromJson(await readTextFile(path, "the boost", MAX_BOOST_BYTES), basename(path));
  for (const warning of saved.warnings) warn(warning);
  const source = await readApplySource(paths, options);
  if (source.modelHash !== saved.model) {
    throw new InputError("the boost was fitted to the curves of another model", {
      code: "boost.model",
      where: path,
      hint: "give the model it was fitted with, or fit a boost to this one",
    });
  }
  const groups = resolveSaved(saved.boost, source);
  const curves = applyBoost(saved.boost, source.curves, { groups });
  if (options.out !== undefined) await writeCurves(options.out, curves, source);
  const { obstacle, verdict } = judgeApplied(source, groups, curves, saved.table);
  const files = { out: options.out ?? null, save: null };
  if (options.json) {
    printJson({ rows: curves.N, updates: saved.boost.updates.length, verdict, obstacle, ...files });
    return;
  }
  print(`${countOf(saved.boost.updates.length, "update")} carried out on ${countOf(curves.N, "row")}`);
  if (verdict === null) print(`not judged: ${obstacle}`);
  else printVerdict(verdict);
  printFiles(files, verdict === null ? null : source.people === null ? "" : " --id person");
}

function resolveSaved({ groups }: Boost, { table }: BoostSource): BoostTask["groups"] {
  const written = groups.map(({ name, expression }): Group => {
    if (expression !== undefined) return { name, expression };
    throw new InputError(`the boost does not say who is in "${name}"`, { code: "boost.file" });
  });
  return resolveGroups(written, table, { unknownLevels: "allow" });
}

/** Only rows with outcomes that neither the model nor the boost has seen can be judged; others would flatter it. */
function judgeApplied(
  source: BoostSource,
  groups: BoostTask["groups"],
  curves: BoostTask["curves"],
  fittedOn: string | null,
): { readonly verdict: BoostVerdict | null; readonly obstacle: string | null } {
  const because = (obstacle: string) => ({ verdict: null, obstacle });
  if (source.outcomes === null) return because("the table has no outcomes");
  if (source.tableHash === null || source.tableHash === fittedOn)
    return because("the boost was fitted on rows of this table");
  if (source.isOwnTable) return because("the model was trained on rows of this table");
  const task = { curves: source.curves, outcomes: source.outcomes, groups };
  return { verdict: judgeBoost(task, curves), obstacle: null };
}
