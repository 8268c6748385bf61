/**
 * An ensemble: the mean curves of several runs of train. The rows outside the test set are cut into as many parts as
 * there are runs; each run validates on a different part and learns from the others, under a different seed. So every
 * row trains all runs but one, and the noise of a single start and of a single draw of validation rows is averaged out.
 * Encoder, time grid and groups are fitted once, to all of these rows. The verdict per group is that of the mean
 * curves; only the test rows are left to validate them on.
 */
import type { Backend } from "../../compute/backend.ts";
import { BackendScope } from "../../compute/memory.ts";
import { InputError } from "../../core/errors.ts";
import { createRandom, shuffle } from "../../core/random.ts";
import { groupByPerson, type People } from "../../data/outcomes/people.ts";
import { joinRows } from "../../data/outcomes/split.ts";
import { MAX_MEMBERS } from "../../models/networks/network-spec.ts";
import { orderRows } from "../../study/order.ts";
import { divideAgain, type PreparedStudy, redesign, withSplit } from "../../study/prepare.ts";
import { endsHeld } from "../../training/choices.ts";
import { tellTurns } from "../../training/fit-network.ts";
import type { EnsemblePart, Model } from "../../training/model.ts";
import type { Checkpoint, TrainedMember } from "../../training/trainer.ts";
import { type TrainEvent, type TrainingRequest, train } from "../train.ts";
import { designOf } from "../train-request.ts";
import { joinMembers, solveOf } from "./join-members.ts";
import { runSideBySide } from "./side-by-side.ts";

/** A request to train, and how many runs of it to average. */
export interface EnsembleRequest extends TrainingRequest {
  /** How many runs to average, 2 or more. */
  readonly ensemble: number;
}

/** Separate from every stream that a run of the same seed uses. */
const PARTS_STREAM = 0x60000000;

/** Where to resume an interrupted ensemble, and on what to make its runs. */
export interface EnsembleHooks {
  /**
   * A backend for each of the runs that are made at a time; one run at a time unless given. What comes out does not
   * depend on it.
   */
  readonly lanes?: readonly Backend[];
  /** What an interrupted ensemble left: the runs that ended, and a checkpoint of the next. */
  readonly resume?: {
    readonly members: readonly TrainedMember[];
    /** The checkpoint of the run after them. */
    readonly checkpoint: Checkpoint;
  };
}

/** Trains the members; yields their events in the order of the runs, returns one model. */
export async function* trainEnsemble(
  study: PreparedStudy,
  request: EnsembleRequest,
  backend: Backend,
  hooks: EnsembleHooks = {},
): AsyncGenerator<TrainEvent, Model> {
  const places = Array.from({ length: request.ensemble }, (_, place) => place);
  const part = yield* trainMembers(study, request, backend, { ...hooks, places });
  return yield* joinEnsemble(study, request, [part], backend);
}

/** Trains the members at some places, as trainEnsemble does: the runs do not depend on each other. */
export async function* trainMembers(
  study: PreparedStudy,
  { ensemble: members, ...request }: EnsembleRequest,
  backend: Backend,
  { places, resume, lanes = [backend] }: EnsembleHooks & { readonly places: readonly number[] },
): AsyncGenerator<TrainEvent, EnsemblePart> {
  refuseRequest(members, request);
  const { seed = 1 } = request;
  const { test } = study.split;
  const { whole, rows } = joinSets(study);
  const parts = cutRows(orderRows(whole, rows), members, seed, study.people);
  const before = resume?.members ?? [];
  const ended = before.length;
  if (resume !== undefined && ended >= places.length) throw refuseResume(ended, places.length);
  const begin = (k: number, lane: number) => {
    const m = places[k];
    const held = new Set(parts[m]);
    const divided = { train: rows.filter((row) => !held.has(row)), validation: parts[m], test };
    const hooks = k === ended && resume ? { resume: resume.checkpoint } : {};
    // The last run, where no other is left to be made beside it, has all threads.
    const isAlone = k === places.length - 1 && (k - ended) % lanes.length === 0;
    const own = isAlone ? backend : lanes[lane];
    return trainMember(withSplit(whole, divided), { ...memberRequest(request), seed: seed + m }, own, {
      ...hooks,
      which: `run ${m + 1} of ${members}`,
    });
  };
  const trained = yield* runSideBySide<TrainEvent, Model>({
    count: places.length - ended,
    lanes: lanes.length,
    begin: (k, lane) => begin(ended + k, lane),
    // A checkpoint is read off a run as it stands, and so are the curves of an evaluation, which are copied.
    keep: (event) => (event.type === "checkpoint" ? null : { ...event }),
    tell: (event, k, made) => {
      // Rows and warnings are reported once, and only the ensemble reports `done`.
      if (event.type === "done" || (event.type === "start" && k > 0)) return null;
      return event.type === "checkpoint" ? tellOfMembers(event, [...before, ...made.map(keepMember)]) : event;
    },
  });
  const kept = [...before, ...trained.map(keepMember)];
  return {
    members: kept.map((one, k) => ({ ...one, place: places[k] })),
    last: trained[places.indexOf(members - 1) - ended] ?? null,
  };
}

/** One run, under its name. */
async function* trainMember(
  study: PreparedStudy,
  request: TrainingRequest,
  backend: Backend,
  { which, ...hooks }: { readonly which: string; readonly resume?: Checkpoint },
): AsyncGenerator<TrainEvent, Model> {
  yield { type: "candidate", what: which, leavesCheckpoints: true };
  const run = train(study, request, backend, hooks);
  try {
    let next = await run.next();
    for (; !next.done; next = await run.next()) {
      const { value } = next;
      yield value.type === "candidate" ? { ...value, what: `${which}, ${value.what}` } : value;
    }
    return next.value;
  } finally {
    await run.return(undefined as never);
  }
}

/** The model of an ensemble whose runs were made before, in one part or in several. */
export async function* joinEnsemble(
  study: PreparedStudy,
  { ensemble: members, ...request }: EnsembleRequest,
  parts: readonly EnsemblePart[],
  backend: Backend,
): AsyncGenerator<TrainEvent, Model> {
  refuseRequest(members, request);
  const { seed = 1 } = request;
  const { whole } = joinSets(study);
  const trained = orderMembers(parts, members);
  const last = parts.find((part) => part.last !== null)?.last ?? null;
  if (trained === null || last === null) {
    throw new InputError(`not all of the ensemble's ${members} runs are there, each once`, {
      code: "ensemble.parts",
    });
  }
  const step = trained.reduce((sum, { steps }) => sum + steps, 0);
  if (last.options?.constraint && endsHeld(solveOf(request))) {
    yield { type: "candidate", what: `the mean of ${members} runs`, leavesCheckpoints: true };
    yield { type: "solve", step };
  }
  const scope = new BackendScope(backend);
  let model: Model;
  try {
    const joined = { request, seed, study: redesign(whole, designOf(request)) };
    model = yield* tellTurns(joinMembers(trained, last, joined, scope), step);
  } finally {
    scope.end();
  }
  yield { type: "done", model };
  return model;
}

/** The study of all rows outside the test set, from which the members' rows are taken. */
function joinSets(study: PreparedStudy): { readonly whole: PreparedStudy; readonly rows: Int32Array } {
  const { test, train: learning, validation } = study.split;
  const rows = joinRows(learning, validation);
  return { whole: divideAgain(study, { train: rows, validation: new Int32Array(), test }, rows), rows };
}

/** The members by their places; null unless every place is taken once. */
function orderMembers(parts: readonly EnsemblePart[], members: number): TrainedMember[] | null {
  const placed = parts.flatMap((part) => part.members).sort((a, b) => a.place - b.place);
  if (placed.length !== members || placed.some(({ place }, k) => place !== k)) return null;
  return placed.map(({ place: _, ...member }) => member);
}

/** A member keeps its mixture with the start; the output layer is solved for all of them together. */
function memberRequest(request: TrainingRequest): TrainingRequest {
  if (!endsHeld(solveOf(request))) return request;
  return { ...request, options: { ...request.options, solve: "mixture" } };
}

/** The checkpoint of one run as one of the ensemble, with the runs before it. */
function tellOfMembers(
  event: Extract<TrainEvent, { readonly type: "checkpoint" }>,
  members: readonly TrainedMember[],
): TrainEvent {
  return {
    type: "checkpoint",
    step: event.step,
    get checkpoint() {
      return event.checkpoint;
    },
    members,
  };
}

function keepMember({ predictor, training }: Model): TrainedMember {
  if (
    predictor.kind !== "network" ||
    predictor.network.kind === "mean" ||
    predictor.network.kind === "held"
  ) {
    throw refuseMethod();
  }
  return { network: predictor.network, parameters: predictor.parameters, steps: training.steps };
}

function refuseRequest(members: number, { method }: TrainingRequest): void {
  if (!Number.isSafeInteger(members) || members < 2 || members > MAX_MEMBERS) {
    throw new InputError(`an ensemble of ${members} runs: expected 2 to ${MAX_MEMBERS}`, {
      code: "ensemble.members",
    });
  }
  if (method === "cox") throw refuseMethod();
}

function refuseMethod(): InputError {
  return new InputError(
    "an ensemble is made of networks: a Cox model has no validation rows to take turns with",
    {
      code: "option.conflict",
      hint: "leave --ensemble out, or ask for another --method",
    },
  );
}

function refuseResume(ended: number, members: number): InputError {
  return new InputError(
    `the checkpoint has ${ended} finished runs, so an ensemble of ${members} has none left to train`,
    {
      code: "checkpoint.run",
      hint: "resume with the --ensemble that the run began with",
    },
  );
}

/**
 * Parts of nearly equal size, each in ascending order; if people are given, parts of people with all their rows. What
 * is drawn are places among the rows as they are given.
 */
export function cutRows(
  rows: Int32Array,
  parts: number,
  seed: number,
  people: People | null = null,
): Int32Array[] {
  const persons = people === null ? null : groupByPerson(people, rows);
  const order = persons === null ? Int32Array.from(rows) : Int32Array.from(persons.keys());
  shuffle(order, createRandom(seed, PARTS_STREAM));
  const cut = (k: number) => Math.round((k * order.length) / parts);
  return Array.from({ length: parts }, (_, k) => {
    const part = order.slice(cut(k), cut(k + 1));
    return persons === null ? part.sort() : Int32Array.from([...part].flatMap((one) => persons[one])).sort();
  });
}
