/**
 * `graduate tune`: trains with several settings, draws discrimination against worst-group calibration on the validation
 * rows, and chooses by a rule that is printed in words. Runs are saved as they end, so a sweep that was stopped
 * continues where it was; the test rows are scored once, for the chosen model, after the choice.
 */

import { availableParallelism } from "node:os";
import { type Command, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { countOf } from "../../core/text.ts";
import { toPlainFinding } from "../../data/checks/findings.ts";
import type { Split } from "../../data/outcomes/split.ts";
import { DEFAULT_TOLERANCE } from "../../report/words/report-words.ts";
import { type PreparedStudy, toPlainStudy } from "../../study/prepare.ts";
import { prepare, type TrainRequest } from "../../verbs/train-request.ts";
import {
  type ChosenModel,
  hideTestRows,
  planTune,
  type TuneChoices,
  type TuneOutcome,
  type TuneResult,
  type TuneTask,
  trainChosen,
  tune,
} from "../../verbs/tune.ts";
import { SELECTION_RULES, type SelectionRule } from "../../verbs/tuning/selection.ts";
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
} from "../../verbs/tuning/settings.ts";
import { writeModel } from "../io/model-file.ts";
import { markFile, refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import { describeOrigin, type TableFile } from "../io/provenance.ts";
import { hashShared, TUNE_LINES } from "../io/run-lines.ts";
import { hashKey, openRunResults, readResult } from "../io/run-results.ts";
import { stemOfTable } from "../io/table-files.ts";
import { addQueueOptions, type QueueOptions, refuseQueueConflicts } from "../options/queue-option.ts";
import { placeShard, refuseOutcome, shardOption } from "../options/shard-option.ts";
import {
  openTableFile,
  parseCount,
  parseThreads,
  readingOptions,
  repeatedOption,
  TABLE_ARGUMENT,
  type TableOptions,
} from "../options/table-options.ts";
import {
  addSubjectOptions,
  parseSeeds,
  readSplit,
  readSubject,
  type SubjectOptions,
} from "../options/train-options.ts";
import { tellTime } from "../../report/words/report-time.ts";
import { printAudit } from "../print/audit.ts";
import { printCauseAudit } from "../print/audit-causes.ts";
import { followPlan } from "../print/follow-runs.ts";
import { print, printJson, renamedNote, tellFindings, warn } from "../print/output.ts";
import { printNextSteps } from "../print/training.ts";
import { printSweep, tellSetting, writeFrontier } from "../print/tune.ts";
import { describeSubject, runSubmitted } from "../queue/submit-plan.ts";
import type { Shard } from "../shards/shard.ts";
import type { TuneShared } from "../workers/plan-runs.ts";
import { runInPool, workerModule } from "../workers/run-pool.ts";
import { openWasmBackend } from "../workers/wasm-backend.ts";

interface TuneCommandOptions extends SubjectOptions, TableOptions, QueueOptions {
  readonly sweep: readonly string[];
  readonly oneAtATime?: boolean;
  readonly seeds?: readonly number[];
  readonly seed: number;
  readonly split?: string;
  readonly select: SelectionRule;
  readonly workers: number;
  readonly deterministic?: boolean;
  readonly results?: string;
  readonly shard?: Shard;
  readonly plot?: string;
  readonly out?: string;
  readonly json?: boolean;
}

export function addTune(program: Command): void {
  const command = program
    .command("tune")
    .description("train with several settings and choose by discrimination and worst-group calibration")
    .argument("<table>", TABLE_ARGUMENT);
  addSubjectOptions(command)
    .option(
      "--sweep <option=values>",
      "an option of train and its values, e.g. kappa=0.25,1,none (repeatable; every combination is run)",
      repeatedOption,
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
      "a table of row (from 1) and set (train, validation, test), or shares such as 0.6,0.2,0.2",
    )
    .option("--workers <n>", "runs at a time, each on one thread", parseThreads, availableParallelism())
    .option("--deterministic", "the same bytes on every machine")
    .option("--results <file>", "keep the runs here as they end (default: TABLE.tune.jsonl in this folder)")
    .addOption(shardOption())
    .option("--plot <file>", "also write the plot as SVG")
    .option("--out <file>", "train the chosen setting, score it on the test rows and write the model here")
    .option("--json", "print one JSON document");
  for (const name of SETTING_NAMES) {
    const { what, expected } = SETTING_OPTIONS[name];
    command.option(`--${spellSetting(name)} <value>`, `for all runs: ${what} (${expected})`);
  }
  addQueueOptions(command);
  command.addOption(new Option("--strata <value>", "--risk-strata by its old name").hideHelp());
  command.action(runTune);
}

/** The settings asked for, from --sweep and from the options given once. */
function readSettings(options: TuneCommandOptions): readonly Setting[] {
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
      `${countOf(merged, "combination")} left out: they differ from others only in options that have no effect there`,
    );
  }
  return settings;
}

async function runTune(path: string, options: TuneCommandOptions): Promise<void> {
  const settings = readSettings(options);
  refuseOutcome(options);
  refuseQueueConflicts(options);
  const resultsPath = placeShard(options.results ?? `${stemOfTable(path)}.tune.jsonl`, options.shard);
  await refuseUnwritable([resultsPath, options.plot, options.out], [path, options.split, options.groups]);
  refuseWrongSuffix({ runs: options.results, plot: options.plot, model: options.out });
  const mark = await markFile(options.out);
  const file = await openTableFile(path, options);
  const split = await readSplit(file.table, options);
  // What all runs share; the settings of the sweep differ by run.
  const request = { ...(await readSubject(options)), split };
  const study = prepare(file.table, request, file.sha256);
  tellFindings(study.told);
  const seeds = options.seeds ?? [options.seed];
  const choices = { settings, seeds, select: options.select };
  const outcome = await runSweep({ file, study, request, choices, resultsPath }, options);
  if (outcome === null) return;
  const { selection, chosen, runs } = outcome;
  const plotted = outcome.settings.map((one, k) => ({ ...one, isChosen: k === selection.chosen }));
  if (options.plot !== undefined) await writeFrontier(options.plot, plotted);
  const { plot, out } = options;
  if (!options.json) printSweep(outcome, { results: resultsPath, plot, out });
  const final =
    out === undefined || chosen === null
      ? null
      : await writeChosen(file, study, request, { outcome, chosen, out, mark }, options);
  if (options.json) {
    printJson({
      rows: outcome.rows,
      seeds,
      rule: selection.rule,
      ruleWords: selection.words,
      usedFallback: selection.usedFallback,
      chosen,
      settings: plotted,
      runs,
      results: resultsPath,
      model: final?.out ?? null,
      findings: study.told.map(toPlainFinding),
      test: final?.test ?? null,
    });
  } else if (final !== null) {
    if (final.test !== null) {
      print("\nthe chosen model on the test rows, looked at once and after the choice:");
      if ("causes" in final.test) printCauseAudit(final.test, study.grid, DEFAULT_TOLERANCE);
      else printAudit(final.test, tellTime(final.model.grid.edges));
    }
    printNextSteps(final.model, path, { ...options, out: final.out });
  }
}

interface AskedSweep {
  readonly file: TableFile;
  readonly study: PreparedStudy;
  readonly request: TrainRequest & { readonly split: Split };
  readonly choices: TuneChoices;
  readonly resultsPath: string;
}

/** Runs the verb on worker threads, with its runs kept in a file; null after Ctrl-C. */
async function runSweep(
  { file, study, request, choices, resultsPath }: AskedSweep,
  options: TuneCommandOptions,
): Promise<TuneOutcome | null> {
  const deterministic = options.deterministic === true;
  const blind = hideTestRows(study);
  const base = hashShared(file, { ...request, split: blind.split }, options, "tune");
  const labels = labelSettings(choices.settings);
  const keyOf = ({ setting, seed }: TuneTask) => hashKey([base, setting, seed]);
  const nameOf = ({ setting, seed }: TuneTask) =>
    `${labels[choices.settings.indexOf(setting)]}, seed ${seed}`;
  const { queue: url, shipTable: ship = false } = options;
  const queued = (signal: AbortSignal, address: string) =>
    runSubmitted<TuneTask, TuneResult>(
      {
        ...describeSubject(file, { reading: readingOptions(options), request, deterministic }),
        url: address,
        command: "tune",
        ship,
        tasks: planTune(choices.settings, choices.seeds ?? []),
        keyOf,
        nameOf,
        readResult: (task, result) => readResult(TUNE_LINES, { key: keyOf(task), task, result }),
        results: resultsPath,
        quiet: options.json === true,
      },
      signal,
    );
  const pooled = (signal: AbortSignal) => (tasks: readonly TuneTask[]) =>
    runInPool<TuneShared, TuneTask, TuneResult>(tasks, {
      worker: workerModule("plan-worker"),
      shared: { kind: "tune", study: toPlainStudy(blind), request, deterministic },
      workers: options.workers,
      what: "a run of the sweep",
      signal,
    });
  return followPlan({
    runner: (signal) => (url === undefined ? pooled(signal) : queued(signal, url)),
    verb: (runner) => tune(study, request, choices, { runner }),
    kept: {
      file: openRunResults(resultsPath, TUNE_LINES),
      keyOf,
    },
    quiet: options.json === true,
    shard: options.shard,
    nameOf,
    isQueued: url !== undefined,
    tell: (run) => {
      if (!options.json) tellSetting(labels[choices.settings.indexOf(run.task.setting)], run);
    },
  });
}

interface Choice {
  readonly outcome: TuneOutcome;
  readonly chosen: Setting;
  /** Where the model goes, and the mark of what was there before. */
  readonly out: string;
  readonly mark: string | null;
}

async function writeChosen(
  file: TableFile,
  study: PreparedStudy,
  request: TrainRequest,
  { outcome: { runs, seeds }, chosen, out, mark }: Choice,
  options: TuneCommandOptions,
): Promise<ChosenModel & { readonly out: string }> {
  const backend = await openWasmBackend({ deterministic: options.deterministic === true });
  try {
    const isCox = chosen.method === "cox";
    const provenance = describeOrigin(file, isCox ? null : backend);
    const task = { setting: chosen, seed: seeds[0] };
    const final = await trainChosen(study, request, task, backend, provenance);
    const recorded = runs.find(({ setting, seed }) => setting === chosen && seed === task.seed)?.scores;
    if (JSON.stringify(final.validation) !== JSON.stringify(recorded)) {
      warn(
        "trained again, the chosen setting's validation scores differ from those on file: " +
          "the file's are of another machine (--deterministic makes them the same everywhere)",
      );
    }
    const model = { ...final.model, ...present({ metrics: final.test ?? undefined }) };
    return { ...final, out: await writeModel(out, model, mark) };
  } finally {
    await backend.close();
  }
}
