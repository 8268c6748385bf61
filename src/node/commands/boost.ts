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
import type { CauseCurves } from "../../data/curves/cause-curves.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { ALL_GROUP, type Group, refuseOutcomeGroups, resolveGroups } from "../../data/groups/groups.ts";
import type { People } from "../../data/outcomes/people.ts";
import { outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { boostFromJson, boostToJson, MAX_BOOST_BYTES } from "../../files/model/boost-file.ts";
import { applyCauseHazards, type CauseHazardBoost } from "../../repair/cause-hazards.ts";
import { HAZARD_BOOST_DEFAULTS } from "../../repair/hazard-boost.ts";
import { GUARDED_BOOST_DEFAULTS } from "../../repair/left-out.ts";
import { applyBoost, BOOST_DEFAULTS, type Boost } from "../../repair/mcboost.ts";
import {
  BOOST_METHODS,
  type BoostMethod,
  type BoostResult,
  type BoostRowSets,
  type BoostTask,
  type BoostVerdict,
  boost,
  type GuardedBoostOptions,
  judgeBoost,
} from "../../verbs/boost.ts";
import {
  boostCauses,
  type CauseBoostResult,
  type CauseBoostVerdict,
  judgeCauseBoost,
} from "../../verbs/causes/boost-causes.ts";
import { replaceFile } from "../io/growing-file.ts";
import { readTextFile } from "../io/input-file.ts";
import { refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import { writeCurves } from "../io/prediction-output.ts";
import { type BoostSource, readApplySource, readFitSource } from "../io/read-boost-source.ts";
import {
  addPredictionOptions,
  type GivenPredictions,
  type PredictionOptions,
} from "../io/read-predictions.ts";
import {
  outcomeFlags,
  parseCauseOutputs,
  writeHistoryCurves,
  writeIncidences,
} from "../io/repaired-output.ts";
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
import { printBoost, printCauseBoost, printCauseVerdict, printFiles, printVerdict } from "../print/boost.ts";
import { print, printJson, warn } from "../print/output.ts";

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
      const inputs = [...paths, ...curves, split, groups, apply];
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

type Inputs = readonly (string | undefined)[];

async function runBoost(
  paths: readonly string[],
  options: BoostCommandOptions,
  inputs: Inputs,
): Promise<void> {
  const source = await readFitSource(paths, options);
  const write = await prepareOutput(options.out, source, inputs);
  const { rows, warnings } = source.chooseRows({ seed: options.seed, ...present({ fit: options.fit }) });
  const { predicted, people } = source;
  warnings.push(...source.warnings, ...warnOfTornRows(people, rows));
  const groups = await chooseGroups(source, options);
  const known = { groups, ...present({ people: people ?? undefined }) };
  if (groups.length === 1) warnings.push("everyone is the only group: name others with --group");
  const settings = chooseSettings(options);
  const result: BoostResult | CauseBoostResult =
    "incidence" in predicted.curves
      ? boostCauses({ ...(predicted as OfCauses), ...known }, rows, settings)
      : boost({ ...(predicted as OfOne), ...known }, rows, settings);
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
    printJson({ rows: sizesOf(rows), choice, boost: fitted, verdict, warnings, ...files });
    return;
  }
  for (const warning of warnings) warn(warning);
  if ("causes" in verdict) printCauseBoost(result as CauseBoostResult, sizesOf(rows));
  else printBoost(result as BoostResult, sizesOf(rows));
  // An audit by cause takes its groups from the table, which does not say which rows were fitted on.
  printFiles(files, "causes" in verdict ? null : auditFlags(source, ' --group "set = test"'));
}

type Known<Curves> = Extract<
  Awaited<ReturnType<typeof readFitSource>>["predicted"],
  { readonly curves: Curves }
>;
type OfCauses = Known<CauseCurves>;
type OfOne = Known<Curves>;

/** The repair, or that of each cause. */
function partsOf(fitted: Boost | CauseHazardBoost): readonly Boost[] {
  return fitted.kind === "cause hazards" ? fitted.hazards : [fitted];
}

/** Checks where the repaired curves go, and writes them there. */
async function prepareOutput(
  out: string | undefined,
  source: BoostSource,
  inputs: Inputs,
): Promise<(curves: Curves | CauseCurves, rows?: BoostRowSets) => Promise<void>> {
  if (out === undefined) return async () => {};
  const { predicted, history } = source;
  if ("incidence" in predicted.curves) {
    const files = await parseCauseOutputs(out, predicted.curves.causes, inputs);
    return (curves, rows) => writeIncidences(files, curves as CauseCurves, { grid: source.grid, rows });
  }
  await refuseUnwritable([out], inputs);
  refuseWrongSuffix({ curves: out });
  const { outcomes } = predicted as OfOne;
  return (curves, rows) =>
    history === null
      ? writeCurves(out, curves as Curves, { ...source, outcomes }, rows)
      : writeHistoryCurves(out, curves as Curves, history, { ...source, rows });
}

/** What an audit of the written curves must be told of their outcome, and of which group. */
function auditFlags({ history, people }: BoostSource, group = ""): string {
  if (history !== null) return `${outcomeFlags(history, people)}${group}`;
  return `${group}${people === null ? "" : " --id person"}`;
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

async function runApply(
  paths: readonly string[],
  options: BoostCommandOptions,
  path: string,
  inputs: Inputs,
): Promise<void> {
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
  const write = await prepareOutput(options.out, source, inputs);
  const groups = resolveSaved(partsOf(saved.boost)[0], source);
  const curves = carryOut(saved.boost, source, groups);
  await write(curves);
  const { obstacle, verdict } = judgeApplied(source, groups, curves, saved.table);
  const files = { out: options.out ?? null, save: null };
  const updates = partsOf(saved.boost).reduce((sum, one) => sum + one.updates.length, 0);
  const { N } = curves;
  if (options.json) {
    printJson({ rows: N, updates, verdict, obstacle, ...files });
    return;
  }
  print(`${countOf(updates, "update")} carried out on ${countOf(N, "row")}`);
  if (verdict === null) print(`not judged: ${obstacle}`);
  else if ("causes" in verdict) printCauseVerdict(verdict);
  else printVerdict(verdict);
  printFiles(files, verdict === null || "causes" in verdict ? null : auditFlags(source));
}

/** A repair of incidences is for incidences, one of survival for survival. */
function carryOut(
  saved: Boost | CauseHazardBoost,
  { predicted: { curves } }: BoostSource,
  groups: BoostTask["groups"],
): Curves | CauseCurves {
  const isByCause = "incidence" in curves;
  if (saved.kind === "cause hazards" && isByCause) return applyCauseHazards(saved, curves, groups);
  if (saved.kind !== "cause hazards" && !isByCause) return applyBoost(saved, curves, { groups });
  const [of, given] = isByCause
    ? ["one kind of event", "several causes"]
    : ["several causes", "one kind of event"];
  throw new InputError(`the boost is of ${of}, and the curves are of ${given}`, {
    code: "boost.causes",
    hint: "give the curves it was fitted to, or fit a boost to these",
  });
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
  { predicted, tableHash, isOwnTable }: BoostSource,
  groups: BoostTask["groups"],
  curves: Curves | CauseCurves,
  fittedOn: string | null,
): { readonly verdict: BoostVerdict | CauseBoostVerdict | null; readonly obstacle: string | null } {
  const because = (obstacle: string) => ({ verdict: null, obstacle });
  if (predicted.outcomes === null) return because("the table has no outcomes");
  if (tableHash === null || tableHash === fittedOn)
    return because("the boost was fitted on rows of this table");
  if (isOwnTable) return because("the model was trained on rows of this table");
  const verdict =
    "incidence" in curves
      ? judgeCauseBoost({ ...(predicted as OfCauses), groups }, curves)
      : judgeBoost({ ...(predicted as OfOne), groups }, curves);
  return { verdict, obstacle: null };
}
