/**
 * `graduate tune`: trains with several settings, draws discrimination against worst-group calibration on the validation rows, and chooses
 * by a rule that is printed in words. Runs are kept as they end, so a sweep that was stopped goes on where it was; the
 * test rows are scored once, for the model that was chosen, after it was chosen.
 */
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../data/checks/findings.ts";
import type { Table } from "../../data/table.ts";
import type { Model } from "../../training/model.ts";
import { DEFAULT_PRESET_HIDDEN, KIND_DEFAULTS, PRESETS } from "../../training/options.ts";
import type { AuditTable } from "../../verbs/audit.ts";
import { type TrainRequest, train } from "../../verbs/train.ts";
import {
  type RunScores,
  SELECTION_RULES,
  type SelectionRule,
  scoreRun,
  selectSetting,
  summariseRuns,
  type TuneRun,
} from "../../verbs/tune.ts";
import {
  DEFAULT_SWEEP,
  expandSweep,
  labelSettings,
  parseSweep,
  readSettingValue,
  SETTING_NAMES,
  SETTING_OPTIONS,
  type Setting,
  spellSetting,
  toTrainRequest,
} from "../../verbs/tune-settings.ts";
import { writeModel } from "../io/model-file.ts";
import { describeOrigin } from "../io/provenance.ts";
import { refuseUnwritable } from "../io/writable.ts";
import { refuseWrongSuffix } from "../options/output-suffix.ts";
import {
  addSubjectOptions,
  readSplit,
  readSubject,
  type SubjectOptions,
} from "../options/subject-options.ts";
import { parseCount, parseThreads, readTableFile, type TableOptions } from "../options/table-options.ts";
import { printAudit } from "../print/audit.ts";
import { print, printJson, renamedNote, warn } from "../print/output.ts";
import { printNextSteps } from "../print/training.ts";
import { printSweep, writeFrontier } from "../print/tune.ts";
import { scoreRows } from "../rows/score-rows.ts";
import { type PlannedRun, runPlan } from "../workers/tune-plan.ts";
import { hashKey, openResults } from "../workers/tune-results.ts";
import { openWasmBackend } from "../workers/wasm-backend.ts";

interface TuneOptions extends SubjectOptions, TableOptions {
  readonly sweep: readonly string[];
  readonly oneAtATime?: boolean;
  readonly seeds?: readonly number[];
  readonly seed: number;
  readonly split?: string;
  readonly select: SelectionRule;
  readonly workers: number;
  readonly deterministic?: boolean;
  readonly results?: string;
  readonly plot?: string;
  readonly out?: string;
  readonly json?: boolean;
}

export function addTune(program: Command): void {
  const command = program
    .command("tune")
    .description("train with several settings and choose by discrimination and worst-group calibration")
    .argument("<table>", "CSV, gzip or Parquet file");
  addSubjectOptions(command)
    .option(
      "--sweep <option=values>",
      "an option of train and its values, e.g. kappa=0.25,1,none (repeatable; every combination is run)",
      (text: string, before: readonly string[]) => [...before, text],
      [],
    )
    .option("--one-at-a-time", "vary each option by itself instead of running every combination")
    .option("--seeds <list>", "train every setting once for each of these seeds", parseSeeds)
    .addOption(
      new Option("--select <rule>", "how the setting is chosen")
        .choices(SELECTION_RULES)
        .default("calibrated"),
    )
    .option("--seed <n>", "seed of the split, and of the weights without --seeds", parseCount, 1)
    .option(
      "--split <file|shares>",
      "a table of row (from 1) and set (train, valid, test), or shares such as 0.6,0.2,0.2",
    )
    .option("--workers <n>", "runs at a time, each on one thread", parseThreads, availableParallelism())
    .option("--deterministic", "the same bytes on every machine")
    .option("--results <file>", "keep the runs here as they end (default: TABLE.tune.jsonl in this folder)")
    .option("--plot <file>", "also write the plot as SVG")
    .option("--out <file>", "train the chosen setting, score it on the test rows and write the model here")
    .option("--json", "print one JSON document");
  for (const name of SETTING_NAMES) {
    const { what, expected } = SETTING_OPTIONS[name];
    command.option(`--${spellSetting(name)} <value>`, `for all runs: ${what} (${expected})`);
  }
  command.addOption(new Option("--strata <value>", "--risk-strata by its old name").hideHelp());
  command.action(async (path: string, options: TuneOptions) => runTune(path, options));
}

function parseSeeds(text: string): readonly number[] {
  const seeds = text.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
  if (seeds.some((seed) => !Number.isSafeInteger(seed)))
    throw new InvalidArgumentError("expected whole numbers, such as 1,2,3.");
  return [...new Set(seeds)];
}

/** The settings asked for, from --sweep and from the options given once. */
function readSettings(options: TuneOptions): readonly Setting[] {
  const given = options as unknown as Readonly<Record<string, string | undefined>>;
  const fixed = Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const text = name === "strata" ? (given.riskStrata ?? given.strata) : given[name];
      return text === undefined ? [] : [[name, readSettingValue(name, text)] as const];
    }),
  ) as Setting;
  const sweeps = options.sweep.length === 0 ? [DEFAULT_SWEEP] : options.sweep.map(parseSweep);
  if (given.strata !== undefined || options.sweep.some((text) => /^\s*strata\s*=/.test(text)))
    warn(renamedNote("strata", "risk-strata"));
  const both = sweeps.find(({ name }) => fixed[name] !== undefined);
  if (both !== undefined && options.sweep.length > 0 && options.oneAtATime !== true) {
    throw new InputError(`${spellSetting(both.name)} is both swept and given for all runs`, {
      code: "sweep.twice",
      hint: `leave out --${spellSetting(both.name)}, or vary one option at a time (--one-at-a-time)`,
    });
  }
  const { settings, merged } = expandSweep(sweeps, fixed, options.oneAtATime ? "each" : "cross");
  if (merged > 0) {
    warn(
      `${countOf(merged, "combination")} left out: they differ from others in options without effect there`,
    );
  }
  return settings;
}

async function runTune(path: string, options: TuneOptions): Promise<void> {
  const settings = readSettings(options);
  const resultsPath = options.results ?? `${basename(path)}.tune.jsonl`;
  await refuseUnwritable([resultsPath, options.plot, options.out], [path, options.split, options.groups]);
  refuseWrongSuffix({ runs: options.results, plot: options.plot, model: options.out });
  const table = await readTableFile(path, options);
  const split = await readSplit(table, options);
  if (split.valid.length === 0) {
    throw new InputError("no validation rows to choose on", {
      code: "split.valid",
      hint: "give the split some, e.g. --split 0.6,0.2,0.2",
    });
  }
  // What all runs share; the settings of the sweep are each run's own.
  const common: TrainRequest = { ...(await readSubject(options)), split };
  const origin = await describeOrigin(path, table, null);
  if (origin.table === null) {
    throw new InputError("tune needs a table in a file", {
      code: "tune.source",
      hint: "runs are kept by the file's hash, so that a sweep can be taken up again; standard input leaves none",
    });
  }
  const seeds = options.seeds ?? [options.seed];
  // Runs never see the test rows: they are not part of their request.
  const blind: TrainRequest = { ...common, split: { ...split, test: new Int32Array(0) } };
  const base = hashKey({
    version: origin.version,
    table: origin.table.sha256,
    read: [options.category ?? [], options.number ?? []],
    deterministic: options.deterministic === true,
    blind,
    defaults: [PRESETS, KIND_DEFAULTS, DEFAULT_PRESET_HIDDEN],
  });
  const labels = labelSettings(settings);
  const plan = settings.flatMap((setting, k) =>
    seeds.map(
      (seed): PlannedRun => ({
        key: hashKey([base, setting, seed]),
        setting,
        label: labels[k],
        seed,
        request: toTrainRequest(setting, blind, seed),
      }),
    ),
  );
  const results = openResults(resultsPath);
  let runs: readonly TuneRun[] | null;
  try {
    runs = await runPlan(plan, table, results, options, resultsPath);
  } finally {
    results.close();
  }
  if (runs === null) return;
  const summaries = summariseRuns(runs);
  const selection = selectSetting(summaries, options.select);
  const plotted = summaries.map((one, k) => ({ ...one, isChosen: k === selection.chosen }));
  if (options.plot !== undefined) await writeFrontier(options.plot, plotted);
  const rows = { train: split.train.length, valid: split.valid.length, test: split.test.length };
  const { plot, out } = options;
  if (!options.json) printSweep(summaries, selection, { rows, seeds, resultsPath, plot, out });
  const chosen = selection.chosen === null ? null : summaries[selection.chosen].setting;
  const recorded = runs.find(({ setting, seed }) => setting === chosen && seed === seeds[0])?.scores ?? null;
  const final =
    options.out === undefined || chosen === null
      ? null
      : await trainChosen(path, table, toTrainRequest(chosen, common, seeds[0]), recorded, options);
  if (options.json) {
    printJson({
      rows,
      seeds,
      rule: selection.rule,
      ruleWords: selection.words,
      fellBack: selection.fellBack,
      chosen,
      settings: plotted,
      runs,
      results: resultsPath,
      model: final === null ? null : options.out,
      test: final?.test ?? null,
    });
  } else if (final !== null) {
    if (final.test !== null) {
      print("\nthe chosen model on the test rows, looked at once and after the choice:");
      printAudit(final.test, final.model.grid.T);
    }
    printNextSteps(final.model, path, options);
  }
}

interface Final {
  readonly model: Model;
  readonly test: AuditTable | null;
}

/** The same run again, whose weights are the same to the last bit, now with its test rows. */
async function trainChosen(
  path: string,
  table: Table,
  request: TrainRequest,
  recorded: RunScores | null,
  options: TuneOptions,
): Promise<Final> {
  const backend = await openWasmBackend({ deterministic: options.deterministic === true });
  try {
    const provenance = await describeOrigin(path, table, request.method === "cox" ? null : backend);
    const run = train(table, { ...request, provenance }, backend);
    let next = await run.next();
    while (!next.done) next = await run.next();
    const model = next.value;
    const split = request.split;
    const scores = await scoreRun(model, table, split?.valid ?? new Int32Array(0), backend);
    if (JSON.stringify(scores) !== JSON.stringify(recorded)) {
      warn(
        "trained again, the chosen setting's validation scores differ from those on file: the file's are of another machine " +
          "(--deterministic makes them the same everywhere)",
      );
    }
    const test = split && split.test.length > 0 ? await scoreRows(model, table, split.test, backend) : null;
    await writeModel(options.out ?? "", { ...model, ...(test === null ? {} : { metrics: test }) });
    return { model, test };
  } finally {
    await backend.close();
  }
}
