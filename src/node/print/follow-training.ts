/**
 * Follows a training run on the command line to its end or to Ctrl-C: keeps checkpoints as often as they are cheap,
 * writes the last one if a run stops or fails before its end, and shows progress. That is one live line on a terminal
 * (step, loss, validation C, constraints met, worst group, time left), or one plain line per evaluation if stderr is a
 * file or a pipe.
 */
import { setImmediate } from "node:timers/promises";
import { BackendError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { countOf } from "../../core/text.ts";
import { ALL_GROUP } from "../../data/groups/groups.ts";
import type { SavedCheckpoint } from "../../files/model/checkpoint-file.ts";
import { formatNumber } from "../../report/words/text-table.ts";
import { type Model, type ModelHistoryEntry, toHistoryEntry } from "../../training/model.ts";
import type { StepEvent } from "../../training/trainer.ts";
import { checkRequiredGroups, type Requirement } from "../../verbs/requirements.ts";
import type { StartEvent, TrainEvent } from "../../verbs/train.ts";
import { writeCheckpoint } from "../io/model-file.ts";
import { EXIT_INTERRUPTED, isLive, say, showLive, warn } from "./output.ts";

export interface FollowOptions {
  readonly out?: string;
  readonly checkpoint?: string;
  readonly json?: boolean;
}

/** Taking and writing checkpoints may use one part in this many of a run's time … */
const CHECKPOINT_SHARE = 20;
/** … but a checkpoint this old (milliseconds) is renewed in any case. */
const CHECKPOINT_AGE = 60_000;
/**
 * Milliseconds after Ctrl-C in which a run may reach the end of its epoch; after that, the previous checkpoint is used.
 */
const EPOCH_PATIENCE = 5000;
/** A run on one thread never waits, so it yields after this many milliseconds to let Ctrl-C be handled. */
const BREATH = 50;

export interface Followed<Made = Model> {
  /** What the run makes; null where it ended before. */
  readonly model: Made | null;
  readonly checkpoint: SavedCheckpoint | null;
  /** The error of a graphics device that failed on the way: the checkpoint is where to go on. */
  readonly lost?: BackendError;
}

/** Whether the run can go on elsewhere: a device was lost, refused a kernel, or is too small. */
function isLost(error: unknown): error is BackendError {
  return error instanceof BackendError && error.code.startsWith("device.");
}

/**
 * Runs to the end or to Ctrl-C. After Ctrl-C it runs to the end of the epoch and leaves that checkpoint, or the
 * previous one if this takes too long or the steps are over. A second Ctrl-C ends the program at once.
 */
export async function followTraining<Made>(
  run: AsyncGenerator<TrainEvent, Made>,
  options: FollowOptions,
  begun: Omit<SavedCheckpoint, "checkpoint">,
  requirements: readonly Requirement[],
): Promise<Followed<Made>> {
  let interruptedAt: number | null = null;
  let [takenAt, taking] = [Number.NEGATIVE_INFINITY, 0];
  let breathedAt = performance.now();
  let checkpoint: SavedCheckpoint | null = null;
  let leavesCheckpoints = true;
  const history: ModelHistoryEntry[] = [...begun.history];
  process.removeAllListeners("SIGINT");
  process.on("SIGINT", () => {
    if (interruptedAt !== null) process.exit(EXIT_INTERRUPTED);
    interruptedAt = performance.now();
    say(
      `\ngraduate: stopping${leavesCheckpoints ? " at the next checkpoint" : ""}; Ctrl-C again stops at once`,
    );
  });
  const show = createTrainProgress();
  /** Writes the last checkpoint if the run fails. */
  const go = () =>
    run.next().catch(async (error) => {
      if (isLost(error)) return { lost: error } as const;
      if (options.checkpoint !== undefined && checkpoint !== null) {
        await writeCheckpoint(options.checkpoint, checkpoint);
        warn(`the checkpoint of ${sayStep(checkpoint)} is in ${options.checkpoint}`);
      }
      throw error;
    });
  for (let next = await go(); ; next = await go()) {
    if ("lost" in next) return { model: null, checkpoint, lost: next.lost };
    if (next.done) {
      // From here on there is no checkpoint to leave.
      process.removeAllListeners("SIGINT");
      process.once("SIGINT", () => process.exit(EXIT_INTERRUPTED));
      return { model: next.value, checkpoint };
    }
    // The model is ready: the next step returns it, even after Ctrl-C.
    if (next.value.type === "done") continue;
    // Before the event is looked at: a Ctrl-C that comes here still gets the checkpoint of this very step.
    if (performance.now() - breathedAt > BREATH) {
      await setImmediate();
      breathedAt = performance.now();
    }
    if (next.value.type === "start") refuseUnknownGroups(next.value, requirements);
    if (next.value.type === "candidate") {
      leavesCheckpoints = next.value.leavesCheckpoints;
      history.length = 0;
    }
    // From here on the run can be ended after any turn, and goes on from the checkpoint it has.
    if (next.value.type === "solve" || next.value.type === "solving") leavesCheckpoints = false;
    if (next.value.type === "evaluation") history.push(toHistoryEntry(next.value));
    if (next.value.type === "checkpoint") {
      const now = performance.now();
      if (interruptedAt !== null || now - takenAt >= Math.min(CHECKPOINT_SHARE * taking, CHECKPOINT_AGE)) {
        const { members, checkpoint: taken } = next.value;
        checkpoint = {
          checkpoint: taken,
          history: [...history],
          run: begun.run,
          ...present({ members }),
        };
        if (options.checkpoint !== undefined && interruptedAt === null)
          await writeCheckpoint(options.checkpoint, checkpoint);
        takenAt = performance.now();
        taking = takenAt - now;
      }
    }
    if (!options.json) show(next.value);
    const isOver = (since: number) => performance.now() - since > EPOCH_PATIENCE && checkpoint !== null;
    const canStop = next.value.type === "checkpoint" || !leavesCheckpoints;
    if (interruptedAt !== null && (canStop || isOver(interruptedAt))) {
      await run.return(undefined as never);
      return { model: null, checkpoint };
    }
  }
}

function refuseUnknownGroups({ groups }: StartEvent, requirements: readonly Requirement[]): void {
  const names = groups.map(({ name }) => name).filter((name) => name !== ALL_GROUP.name);
  checkRequiredGroups(requirements, names);
}

/** Says where the same command can continue; X-Cal's candidates leave no checkpoint. */
export async function leaveCheckpoint(
  saved: SavedCheckpoint | null,
  options: FollowOptions & { readonly shard?: object },
): Promise<void> {
  process.exitCode = EXIT_INTERRUPTED;
  if (saved === null) {
    say("\ngraduate: interrupted; there is no checkpoint to go on from");
    return;
  }
  const path = options.checkpoint ?? `${options.out ?? "graduate"}.checkpoint`;
  await writeCheckpoint(path, saved);
  // A shard finds its checkpoint by itself, so that a cluster can start it again as it is.
  const again = options.shard === undefined ? `the same command with --resume ${path}` : "the same command";
  say(`\ngraduate: interrupted at ${sayStep(saved)}; ${again} goes on`);
}

function sayStep({ checkpoint, members }: SavedCheckpoint): string {
  return `step ${checkpoint.step}${members === undefined ? "" : ` of run ${members.length + 1}`}`;
}

/** Milliseconds between two writes of the live line: nobody reads it more often. */
const LIVE_EVERY = 50;

export function createTrainProgress(): (event: TrainEvent) => void {
  const live = isLive();
  let started = performance.now();
  let shownAt = Number.NEGATIVE_INFINITY;
  let total = 0;
  /** The first step that was seen: what came before it says nothing of the time that is left. */
  let first: { readonly step: number; readonly at: number } | null = null;
  let which = "";
  let validation = "";
  let constraints = "";
  return (event) => {
    const seconds = (performance.now() - started) / 1000;
    switch (event.type) {
      case "start":
        total = event.steps;
        announce(event);
        return;
      case "candidate":
        which = `${event.what}: `;
        started = performance.now();
        first = null;
        return;
      case "step": {
        constraints = sayConstraints(event);
        if (!live) return;
        const now = performance.now();
        first ??= { step: event.step, at: now };
        if (now - shownAt < LIVE_EVERY && event.step < total) return;
        shownAt = now;
        const each = (now - first.at) / 1000 / (event.step - first.step);
        const left = Number.isFinite(each) ? `, ${Math.ceil(each * (total - event.step))} s left` : "";
        const loss = `loss ${event.loss.toFixed(4)}`;
        showLive(`${which}step ${event.step}/${total}, ${loss}${validation}${constraints}${left}`);
        return;
      }
      case "solve": {
        const what = `${which}solving the output layer under every group's constraint`;
        if (live) showLive(what);
        else say(`${what}, ${seconds.toFixed(1)} s`);
        return;
      }
      case "evaluation": {
        const { loss, concordance } = event.evaluation;
        // Several causes and late entries have none.
        validation = concordance === null ? "" : `, validation C ${formatNumber(concordance, 3)}`;
        if (live) return;
        const step = `${which}step ${event.step}/${total}, validation loss ${loss.toFixed(4)}`;
        say(`${step}${validation}${constraints}, ${seconds.toFixed(1)} s`);
      }
    }
  };
}

function announce({ rows, people, D, T, groups, parameters, backend, warnings }: StartEvent): void {
  const { train, validation: valid, test } = rows;
  const of = people ? ` of ${people.train}, ${people.validation} and ${people.test} people` : "";
  say(
    `${train} training, ${valid} validation and ${test} test rows${of}, ${countOf(groups.length, "group")}`,
  );
  say(
    `${countOf(D, "feature")}, ${countOf(T, "time bin")}, ${countOf(parameters, "parameter")}, backend ${backend}`,
  );
  for (const warning of warnings) warn(warning);
}

/** ", 9/12 met, worst stage = 2 × 3.1": distances in units of their slack. */
function sayConstraints({ groups, constrained, distances, slack }: StepEvent): string {
  const held = groups
    .map((name, g) => ({ name, ratio: distances[g] / slack[g] }))
    .filter((_, g) => constrained[g]);
  if (held.length === 0) return "";
  const worst = held.reduce((one, other) => (other.ratio > one.ratio ? other : one));
  const met = held.filter(({ ratio }) => ratio <= 1).length;
  return `, ${met}/${held.length} met, worst ${worst.name} × ${worst.ratio.toFixed(1)}`;
}
