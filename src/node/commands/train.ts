/**
 * `graduate train`: fits a model to a table under one constraint per group, says for each group whether it was met,
 * scores the test rows, and ends by saying where everything is and how to continue. The model is written to disk before
 * intervals, report and requirements are computed.
 */
import type { Command } from "commander";
import type { Backend } from "../../compute/backend.ts";
import { createReferenceBackend } from "../../compute/reference.ts";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { SavedCheckpoint } from "../../files/model/checkpoint-file.ts";
import { describeOutcome, findingsFor, timeLabelOf } from "../../report/data/describe-model.ts";
import { tellTime } from "../../report/words/report-time.ts";
import type { PreparedStudy } from "../../study/prepare.ts";
import type { Study } from "../../study/study.ts";
import type { Model } from "../../training/model.ts";
import { type AuditedRows, addIntervals, auditModel } from "../../verbs/audit-model.ts";
import { chooseMembers } from "../../verbs/ensemble/choose-members.ts";
import { joinEnsemble, trainEnsemble } from "../../verbs/ensemble/ensemble.ts";
import { openMemberLanes } from "../../verbs/ensemble/member-lanes.ts";
import { studyOf } from "../../verbs/model-study.ts";
import type { Requirement } from "../../verbs/requirements.ts";
import { fingerprintRun } from "../../verbs/run-origin.ts";
import { prepare, type TrainRequest, train } from "../../verbs/train.ts";
import { takesAllRows } from "../../verbs/train-request.ts";
import { readCheckpoint, writeModel } from "../io/model-file.ts";
import { markFile, refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import { describeOrigin, type TableFile } from "../io/provenance.ts";
import { openTableFile, TABLE_ARGUMENT } from "../options/table-options.ts";
import {
  addTrainOptions,
  readSplit,
  refuseConflicts,
  type TrainOptions,
  toRequest,
} from "../options/train-options.ts";
import { printAudit } from "../print/audit.ts";
import { type Followed, followTraining, leaveCheckpoint } from "../print/follow-training.ts";
import { clearLive, followPhases, print, printJson, renamedNote, warn } from "../print/output.ts";
import { printNextSteps, printTraining } from "../print/training.ts";
import { toDocument } from "../print/training-document.ts";
import {
  auditSettings,
  checkRequirements,
  printRequirements,
  readRequirements,
  toleranceOf,
  writeReport,
} from "../print/write-report.ts";
import {
  findParts,
  type MadePart,
  refuseShardOptions,
  sayPart,
  shardFiles,
  trainShard,
} from "../shards/ensemble-parts.ts";
import { openLane, openWasmBackend } from "../workers/wasm-backend.ts";
import { findGraphics, openWebGpuBackend } from "../workers/webgpu-backend.ts";
import { finishCauseTrain } from "./causes/train-causes.ts";

export function addTrain(program: Command): void {
  const command = program
    .command("train")
    .description("fit a model whose curves stay close to Kaplan-Meier in every group")
    .argument("<table>", TABLE_ARGUMENT);
  addTrainOptions(command).action(runTrain);
}

async function runTrain(path: string, options: TrainOptions): Promise<void> {
  refuseConflicts(options);
  refuseShardOptions(options);
  if (options.strata !== undefined) warn(renamedNote("--strata", "--risk-strata"));
  const requirements = readRequirements(options);
  await refuseUnwritable(
    [options.out, options.checkpoint, options.report, ...shardFiles(options)],
    [path, options.groups, options.split],
  );
  refuseWrongSuffix({ model: options.out, checkpoint: options.checkpoint, report: options.report });
  const mark = await markFile(options.out);
  const file = await openTableFile(path, options);
  const split = await readSplit(file.table, options);
  if (split.test.length === 0 && (requirements.length > 0 || options.report !== undefined)) {
    throw new InputError("there are no test rows for --report or --require", {
      code: "split.test",
      hint: "leave a share of the rows for the test: --split 0.6,0.2,0.2",
    });
  }
  const request = await toRequest(options, split);
  const resume = options.resume === undefined ? null : await readCheckpoint(options.resume);
  let backend = await openBackend(options, request);
  const started = performance.now();
  try {
    let trained = await trainFile(file, request, backend, { resume, requirements }, options);
    if (trained !== null && "lost" in trained) {
      warn(sayLost(trained));
      await backend.close();
      backend = await openWasmBackend({ threads: options.threads, deterministic: false });
      const from = trained.checkpoint ?? resume;
      trained = await trainFile(file, request, backend, { resume: from, requirements }, options);
    }
    if (trained === null) return;
    if ("lost" in trained) throw trained.lost;
    if ("part" in trained) return sayPart(trained.part, options);
    const seconds = (performance.now() - started) / 1000;
    await finishTrain(trained, backend, { file, mark, seconds, requirements }, options);
  } finally {
    await backend.close();
  }
}

async function openBackend(
  { backend, threads, deterministic }: TrainOptions,
  request: TrainRequest,
): Promise<Backend> {
  if (backend === "reference") return createReferenceBackend();
  if (backend === "webgpu") return openWebGpuBackend();
  // Such a step stays on a graphics device: a millisecond on an H200 where the processor takes tens. A minibatch goes
  // through the host twice, 15 to 20 milliseconds there, and the processor takes a few.
  const mayBeGraphics = backend === "auto" && deterministic !== true && takesAllRows(request);
  const graphics = mayBeGraphics ? await findGraphics() : null;
  return graphics ?? openWasmBackend({ threads, deterministic: deterministic === true });
}

interface Trained {
  readonly model: Model;
  readonly study: PreparedStudy;
}

/** A graphics device that failed, and where a run can go on. */
export type LostRun = Required<Pick<Followed, "lost" | "checkpoint">>;

export function sayLost({ lost, checkpoint }: LostRun): string {
  const from = checkpoint === null ? "from the start" : `from step ${checkpoint.checkpoint.step}`;
  return `${lost.message}; the run goes on ${from} on the processor`;
}

/** Prepares the table and trains to the end; null if Ctrl-C stopped it earlier, which leaves a checkpoint. */
async function trainFile(
  file: TableFile,
  request: TrainRequest,
  backend: Backend,
  {
    resume,
    requirements,
  }: { readonly resume: SavedCheckpoint | null; readonly requirements: readonly Requirement[] },
  options: TrainOptions,
): Promise<Trained | MadePart | LostRun | null> {
  const provenance = describeOrigin(file, options.method === "cox" ? null : backend);
  const told = { ...request, provenance };
  const onProgress = options.json ? undefined : followPhases();
  const study = prepare(file.table, told, file.sha256, onProgress);
  const ensemble = options.ensemble ?? (options.fast === true ? 1 : chooseMembers(study, told));
  const run = fingerprintRun(request, provenance, ensemble === 1 ? undefined : ensemble);
  const ensembleRun = { study, request: { ...told, ensemble }, backend, run, options };
  if (options.shard !== undefined) return trainShard(ensembleRun, options.shard, resume);
  if (resume !== null && resume.run !== run) throw refuseOtherRun(options.resume ?? "");
  const parts = ensemble === 1 ? null : await findParts(ensembleRun);
  const runs = { count: parts === null ? ensemble : 1, rows: file.table.rows, request };
  const { lanes, close } = await openMemberLanes(backend, runs, (threads) => openLane(options, threads));
  const events =
    ensemble === 1
      ? train(study, told, backend, {
          ...present({ onProgress }),
          ...(resume && { resume: resume.checkpoint, history: resume.history }),
        })
      : parts !== null
        ? joinEnsemble(study, ensembleRun.request, parts, backend)
        : trainEnsemble(study, ensembleRun.request, backend, {
            lanes,
            ...(resume && { resume: { checkpoint: resume.checkpoint, members: resume.members ?? [] } }),
          });
  const begun = { run, history: resume?.history ?? [] };
  const followed = followTraining(events, options, begun, requirements);
  const { model, checkpoint, lost } = await followed.finally(close);
  if (lost !== undefined) return { lost, checkpoint };
  if (model !== null) return { model, study };
  await leaveCheckpoint(checkpoint, options);
  return null;
}

interface Finishing {
  readonly file: TableFile;
  /** The mark of the model's output path before training began. */
  readonly mark: Awaited<ReturnType<typeof markFile>>;
  readonly seconds: number;
  readonly requirements: readonly Requirement[];
}

/** The model is written to disk before intervals, report and requirements are computed. */
async function finishTrain(
  { model, study }: Trained,
  backend: Backend,
  { file, mark, seconds, requirements }: Finishing,
  asked: TrainOptions,
): Promise<void> {
  if (model.causes !== undefined) {
    const keep = (kept: Model) => keepModel(kept, mark, asked);
    return finishCauseTrain({ model, study, file, seconds, requirements, keep }, backend, asked);
  }
  const settings = auditSettings(asked);
  const own = studyOf(model, study, study.split);
  const { test: rows } = study.split;
  let test = rows.length === 0 ? null : await auditModel(own, rows, backend, { ...settings, replicates: 0 });
  const options = {
    ...asked,
    ...(await keepModel({ ...model, ...present({ metrics: test?.audit }) }, mark, asked)),
  };
  if (test !== null && settings.replicates > 0) test = await addIntervals(test, settings);
  if (test !== null && options.report !== undefined) {
    await writeReport(options.report, toReport(own, file, test, options), options);
  }
  const results = test === null ? [] : checkRequirements(requirements, test.audit, options);
  if (options.json) {
    printJson(toDocument(model, seconds, test?.audit ?? null, results, study.told, options));
    return;
  }
  clearLive();
  printTraining(model, seconds);
  if (test !== null) {
    print("\non the test rows:");
    const label = timeLabelOf(options.timeUnit, model.columns.origin);
    printAudit(test.audit, tellTime(model.grid.edges, label), toleranceOf(options));
  }
  printRequirements(results);
  printNextSteps(model, file.path, options);
}

/** Writes the model to the path asked for, or beside it if another program has written there meanwhile; says where. */
async function keepModel(
  model: Model,
  mark: Finishing["mark"],
  { out: asked }: TrainOptions,
): Promise<{ readonly out?: string }> {
  if (asked === undefined) return {};
  return { out: await writeModel(asked, model, mark) };
}

function refuseOtherRun(path: string): InputError {
  return new InputError(`the checkpoint belongs to another run: "${path}"`, {
    code: "checkpoint.run",
    where: path,
    hint:
      "resume with the table and the options that the run began with; " +
      "only --steps (without --ensemble) and --threads may differ",
  });
}

function toReport(
  study: Study & { readonly model: Model },
  file: TableFile,
  test: AuditedRows,
  options: TrainOptions,
) {
  const { rows, ...audited } = test;
  const { model, table, columns } = study;
  return {
    title: `${table.name}: ${model.method} model`,
    ...audited,
    timeLabel: timeLabelOf(options.timeUnit, columns.origin),
    outcome: describeOutcome(study.columns, study.eventRule),
    findings: findingsFor(study.findings(), model, columns.id ?? null),
    model,
    rowNumbers: rows.map((row) => row + 1),
    cohort: {
      table: table.name,
      rows: table.rows,
      which: "test rows",
      relation: "heldOut" as const,
      split: model.training.rows,
    },
    files: [
      { role: "table", path: file.path, name: table.name, sha256: file.sha256 },
      ...(options.groups === undefined ? [] : [{ role: "groups", path: options.groups }]),
      ...(options.out === undefined ? [] : [{ role: "model", path: options.out }]),
    ],
  };
}
