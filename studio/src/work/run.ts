/**
 * A training run that a page follows: events become what the page shows, a few times a second; it can be paused between
 * two steps and two turns of the solve, and stopped at the end of an epoch, which leaves a checkpoint to go on from, or
 * after any turn of the solve. What the run computes is what `graduate train` computes of the same table and choices.
 */
import {
  type Backend,
  type Model,
  prepare,
  type Table,
  type TrainEvent,
  train,
  trainEnsemble,
} from "graduate-survival";
import { InputError, present } from "graduate-survival/core";
import type { SavedCheckpoint } from "graduate-survival/files";
import { version } from "graduate-survival/package.json";
import type { PreparedStudy } from "graduate-survival/study";
import { type ModelHistoryEntry, toHistoryEntry } from "graduate-survival/training";
import { chooseMembers, fingerprintRun, openMemberLanes, originOf } from "graduate-survival/verbs";
import type { Choices, RunView } from "../protocol.ts";
import { toRequest } from "./request.ts";
import { createShow } from "./show.ts";

/** A run never waits by itself, so it lets the worker hear of a pause after this many milliseconds. */
const BREATH = 40;
/** Milliseconds between two checkpoints that are kept in case the page is closed. */
const CHECKPOINT_EVERY = 4000;
/** Milliseconds that a stopped run may take to the end of its epoch. */
const EPOCH_PATIENCE = 5000;

/** What the page does to a run. */
export interface RunControl {
  isPaused: boolean;
  isStopped: boolean;
  /** Its table is no longer open: nothing of it is told or kept. */
  isDropped: boolean;
}

export interface RunInput {
  readonly table: Table;
  readonly sha256: string | null;
  readonly choices: Choices;
  readonly backend: Backend;
  readonly backendWords: string;
  /** Another backend of the same kind, for a run of an ensemble that is made beside others. */
  readonly openLane: (threads: number) => Promise<Backend>;
  readonly resume: SavedCheckpoint | null;
  readonly control: RunControl;
  readonly tell: (run: RunView) => void;
  readonly keepCheckpoint: (saved: SavedCheckpoint) => Promise<void>;
}

export interface TrainedRun {
  readonly model: Model;
  readonly study: PreparedStudy;
}

/** Runs to the end; null if it was stopped. */
export async function runTraining(input: RunInput): Promise<TrainedRun | null> {
  const { table, sha256, choices, backend, resume } = input;
  const request = toRequest(table, choices);
  const provenance = originOf(version, { table, sha256 }, backend);
  const told = { ...request, provenance };
  const show = createShow(input);
  show.say("preparing the table");
  await takeTurn();
  const study = prepare(table, told, sha256);
  const ensemble = choices.train.ensemble ?? chooseMembers(study, told);
  const run = fingerprintRun(request, provenance, ensemble === 1 ? undefined : ensemble);
  if (resume !== null && resume.run !== run) {
    throw new InputError("what is chosen is not what the stopped run had: it cannot go on", {
      code: "checkpoint.run",
      hint: "choose as before, or train from the start",
    });
  }
  const onProgress = (phase: string, done: number, total: number) =>
    show.say(`${phase}, ${done} of ${total}`);
  const runs = { count: ensemble, rows: table.rows, request };
  const { lanes, close } = await openMemberLanes(backend, runs, input.openLane);
  const events =
    ensemble === 1
      ? train(study, told, backend, {
          onProgress,
          ...(resume && { resume: resume.checkpoint, history: resume.history }),
        })
      : trainEnsemble(study, { ...told, ensemble }, backend, {
          lanes,
          ...(resume && { resume: { checkpoint: resume.checkpoint, members: resume.members ?? [] } }),
        });
  const edges = Array.from(study.grid.edges);
  const model = await follow(events, {
    ...input,
    show,
    run,
    edges,
    ensemble,
    history: resume?.history ?? [],
  }).finally(close);
  return model === null ? null : { model, study };
}

interface Following extends RunInput {
  readonly show: ReturnType<typeof createShow>;
  readonly run: string;
  readonly edges: readonly number[];
  readonly ensemble: number;
  readonly history: readonly ModelHistoryEntry[];
}

async function follow(events: AsyncGenerator<TrainEvent, Model>, input: Following): Promise<Model | null> {
  const { control, show, run, edges, ensemble, keepCheckpoint } = input;
  const history = [...input.history];
  let checkpoint: SavedCheckpoint | null = null;
  let [breathedAt, keptAt, stoppedAt] = [performance.now(), performance.now(), Number.POSITIVE_INFINITY];
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value;
    const event = next.value;
    const now = performance.now();
    if (control.isStopped) stoppedAt = Math.min(stoppedAt, now);
    if (event.type === "candidate") history.length = 0;
    if (event.type === "evaluation") history.push(toHistoryEntry(event));
    if (event.type === "checkpoint" && (control.isStopped || now - keptAt > CHECKPOINT_EVERY)) {
      const { members, checkpoint: taken } = event;
      checkpoint = { checkpoint: taken, history: [...history], run, ...present({ members }) };
      await keepCheckpoint(checkpoint);
      keptAt = performance.now();
    }
    show.event(event, edges, ensemble);
    if (now - breathedAt > BREATH) {
      await takeTurn();
      breathedAt = performance.now();
    }
    const isSolving = event.type === "solve" || event.type === "solving";
    if (control.isPaused) {
      show.phase("paused", "");
      while (control.isPaused && !control.isStopped) await takeTurn(BREATH);
      show.phase(isSolving ? "solving" : "training", "");
    }
    const isOver = performance.now() - stoppedAt > EPOCH_PATIENCE && checkpoint !== null;
    const canStop = event.type === "checkpoint" || isSolving || isOver;
    if (control.isStopped && event.type !== "done" && canStop) {
      await events.return(undefined as never);
      show.phase("stopped", "");
      return null;
    }
  }
}

function takeTurn(milliseconds = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
