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
import { divideAgain, type PreparedStudy, redesign, withSplit } from "../../study/prepare.ts";
import { endsHeld } from "../../training/choices.ts";
import type { EnsemblePart, Model } from "../../training/model.ts";
import type { Checkpoint, TrainedMember } from "../../training/trainer.ts";
import { type TrainEvent, type TrainingRequest, train } from "../train.ts";
import { designOf } from "../train-request.ts";
import { joinMembers, solveOf } from "./join-members.ts";

/** A request to train, and how many runs of it to average. */
export interface EnsembleRequest extends TrainingRequest {
  /** How many runs to average, 2 or more. */
  readonly ensemble: number;
}

/** Separate from every stream that a run of the same seed uses. */
const PARTS_STREAM = 0x60000000;

/** Where to resume an interrupted ensemble. */
export interface EnsembleHooks {
  /** What an interrupted ensemble left: the runs that ended, and a checkpoint of the next. */
  readonly resume?: {
    readonly members: readonly TrainedMember[];
    /** The checkpoint of the run after them. */
    readonly checkpoint: Checkpoint;
  };
}

/** Trains the members one after the other; yields their events, returns one model. */
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
  { places, resume }: EnsembleHooks & { readonly places: readonly number[] },
): AsyncGenerator<TrainEvent, EnsemblePart> {
  refuseRequest(members, request);
  const { seed = 1 } = request;
  const { test } = study.split;
  const { whole, rows } = joinSets(study);
  const parts = cutRows(rows, members, seed, study.people);
  const trained = [...(resume?.members ?? [])];
  const ended = trained.length;
  if (resume !== undefined && ended >= places.length) throw refuseResume(ended, places.length);
  let last: Model | null = null;
  for (const [k, m] of places.entries()) {
    if (k < ended) continue;
    const which = `run ${m + 1} of ${members}`;
    yield { type: "candidate", what: which, leavesCheckpoints: true };
    const held = new Set(parts[m]);
    const own = withSplit(whole, { train: rows.filter((row) => !held.has(row)), validation: parts[m], test });
    const hooks = k === ended && resume ? { resume: resume.checkpoint } : {};
    const run = train(own, { ...memberRequest(request), seed: seed + m }, backend, hooks);
    let next = await run.next();
    for (; !next.done; next = await run.next()) {
      // Rows and warnings are reported once, and only the ensemble reports `done`.
      const isSaid = next.value.type === "start" ? k === ended : next.value.type !== "done";
      if (isSaid) yield tellOfMember(next.value, which, trained);
    }
    if (m === members - 1) last = next.value;
    trained.push(keepMember(next.value));
  }
  return { members: trained.map((one, k) => ({ ...one, place: places[k] })), last };
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
  if (last.options?.constraint && endsHeld(solveOf(request))) {
    yield { type: "candidate", what: `the mean of ${members} runs`, leavesCheckpoints: true };
    yield { type: "solve", step: trained.reduce((sum, { steps }) => sum + steps, 0) };
  }
  const scope = new BackendScope(backend);
  let model: Model;
  try {
    const joined = { request, seed, study: redesign(whole, designOf(request)) };
    model = await joinMembers(trained, last, joined, scope);
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

/** Turns an event of one member into one of the ensemble. */
function tellOfMember(event: TrainEvent, which: string, before: readonly TrainedMember[]): TrainEvent {
  if (event.type === "candidate") return { ...event, what: `${which}, ${event.what}` };
  if (event.type !== "checkpoint") return event;
  return {
    type: "checkpoint",
    step: event.step,
    get checkpoint() {
      return event.checkpoint;
    },
    members: [...before],
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

/** Parts of nearly equal size, each in ascending order; if people are given, parts of people with all their rows. */
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
