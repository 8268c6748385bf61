/**
 * An ensemble: the mean curves of several runs of train. The rows outside the test set are cut into as many parts as
 * there are runs; each run validates on a different part and learns from the others, under a different seed. So every
 * row trains all runs but one, and the noise of a single start and of a single draw of validation rows is averaged out.
 * Encoder, time grid and groups are fitted once, to all of these rows. The verdict per group is that of the mean
 * curves; only the test rows are left to validate them on.
 */
import type { Backend } from "../compute/backend.ts";
import { BackendScope } from "../compute/memory.ts";
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { createRandom, shuffle } from "../core/random.ts";
import { createNotice } from "../data/checks/findings.ts";
import { findSplines } from "../data/encode/encoder.ts";
import { groupByPerson, type People } from "../data/outcomes/people.ts";
import { joinRows } from "../data/outcomes/split.ts";
import { createNetwork } from "../models/networks/create-network.ts";
import { type MeanSpec, memberParameter } from "../models/networks/mean.ts";
import { MAX_MEMBERS } from "../models/networks/network-spec.ts";
import { type ParameterValues, writeParameters } from "../models/networks/parameters.ts";
import { fitAdditiveStart } from "../models/start/additive-start.ts";
import { divideAgain, type PreparedStudy, redesign, withSplit } from "../study/prepare.ts";
import { countPeople, countSets, packSplit } from "../study/split.ts";
import { endsHeld } from "../training/choices.ts";
import { createEvaluator } from "../training/evaluation.ts";
import { judgeGroups } from "../training/finish.ts";
import { holdRequest, listSeen, listTold, tellTargets } from "../training/keep-network.ts";
import { openLongRows } from "../training/long-rows.ts";
import type { Model, Predictor } from "../training/model.ts";
import { PRESETS, type TrainingOptions } from "../training/options.ts";
import { prepareRows } from "../training/prepare-rows.ts";
import { warnOfSolve } from "../training/run-warnings.ts";
import { holdNetwork, type SolveReport } from "../training/solve/hold.ts";
import type { GroupVerdict } from "../training/solve/verdict.ts";
import type { Checkpoint, TrainedMember } from "../training/trainer.ts";
import { type TrainEvent, type TrainingRequest, train } from "./train.ts";
import { designOf } from "./train-request.ts";

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
  { ensemble: members, ...request }: EnsembleRequest,
  backend: Backend,
  { resume }: EnsembleHooks = {},
): AsyncGenerator<TrainEvent, Model> {
  refuseRequest(members, request);
  const { seed = 1 } = request;
  const { test, train: learning, validation: valid } = study.split;
  const rows = joinRows(learning, valid);
  const whole = divideAgain(study, { train: rows, validation: new Int32Array(), test }, rows);
  const trained = [...(resume?.members ?? [])];
  const ended = trained.length;
  if (ended >= members) throw refuseResume(ended, members);
  let last: Model | null = null;
  for (const [m, part] of cutRows(rows, members, seed, study.people).entries()) {
    if (m < ended) continue;
    const which = `run ${m + 1} of ${members}`;
    yield { type: "candidate", what: which, leavesCheckpoints: true };
    const held = new Set(part);
    const own = withSplit(whole, { train: rows.filter((row) => !held.has(row)), validation: part, test });
    const hooks = m === ended && resume ? { resume: resume.checkpoint } : {};
    const run = train(own, { ...memberRequest(request), seed: seed + m }, backend, hooks);
    let next = await run.next();
    for (; !next.done; next = await run.next()) {
      // Rows and warnings are reported once, and only the ensemble reports `done`.
      const isSaid = next.value.type === "start" ? m === ended : next.value.type !== "done";
      if (isSaid) yield tellOfMember(next.value, which, trained);
    }
    last = next.value;
    trained.push(keepMember(last));
  }
  if (last?.options?.constraint && endsHeld(solveOf(request))) {
    yield { type: "candidate", what: `the mean of ${members} runs`, leavesCheckpoints: true };
    yield { type: "solve", step: trained.reduce((sum, { steps }) => sum + steps, 0) };
  }
  const scope = new BackendScope(backend);
  let model: Model;
  try {
    const joined = { request, seed, study: redesign(whole, designOf(request)) };
    model = await joinMembers(trained, last as Model, joined, scope);
  } finally {
    scope.end();
  }
  yield { type: "done", model };
  return model;
}

/** A member keeps its mixture with the start; the output layer is solved for all of them together. */
function memberRequest(request: TrainingRequest): TrainingRequest {
  if (!endsHeld(solveOf(request))) return request;
  return { ...request, options: { ...request.options, solve: "mixture" } };
}

/** How a run of the request ends. */
function solveOf({ preset = "default", options }: TrainingRequest): TrainingOptions["solve"] {
  return options?.solve ?? PRESETS[preset].solve;
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

/** `last` is the model of the last member; everything that is the same for all members is taken from it. */
async function joinMembers(
  members: readonly TrainedMember[],
  last: Model,
  { request, seed, study }: JoinedRun,
  backend: Backend,
): Promise<Model> {
  const { split, people, table, sha256 } = study;
  const options = last.options && { ...last.options, seed, ...present({ solve: solveOf(request) }) };
  const { predictor, verdict, report } = await holdMembers(
    members,
    options,
    { request, seed, study },
    backend,
  );
  const steps = members.reduce((sum, one) => sum + one.steps, 0);
  const unsolved = warnOfSolve(report);
  return {
    ...last,
    predictor,
    options,
    split: packSplit(split, table.rows, sha256),
    training: {
      seed,
      backend: last.training.backend,
      rows: countSets(split),
      ...(people === null ? {} : { people: countPeople(people, split) }),
      parameters: Object.values(predictor.parameters).reduce((sum, { length }) => sum + length, 0),
      steps,
      bestStep: steps,
      history: [],
      verdict,
      ...present({ solve: report ?? undefined }),
      multipliers: null,
      warnings: [...last.training.warnings, ...unsolved],
      notices: [...(last.training.notices ?? []), ...unsolved.map((one) => createNotice("warning", one))],
    },
  };
}

type MeanPredictor = {
  readonly kind: "network";
  readonly network: MeanSpec;
  readonly parameters: ParameterValues;
};

function joinNetworks(members: readonly TrainedMember[]): MeanPredictor {
  const [{ network }] = members;
  const parameters: ParameterValues = {};
  for (const [m, member] of members.entries()) {
    for (const [name, values] of Object.entries(member.parameters)) {
      parameters[memberParameter(m, name)] = values;
    }
  }
  const networks = members.map((member) => member.network);
  return {
    kind: "network",
    network: { kind: "mean", D: network.D, T: network.T, members: networks },
    parameters,
  };
}

interface JoinedRun {
  readonly request: TrainingRequest;
  readonly seed: number;
  readonly study: PreparedStudy;
}

interface HeldMembers {
  readonly predictor: Extract<Predictor, { readonly kind: "network" }>;
  readonly verdict: readonly GroupVerdict[];
  readonly report: SolveReport | null;
}

/** Judges the mean curves on all rows that the members were made from; where the run is solved, holds them first. */
async function holdMembers(
  members: readonly TrainedMember[],
  options: TrainingOptions | null,
  { request, study }: JoinedRun,
  backend: Backend,
): Promise<HeldMembers> {
  const predictor = joinNetworks(members);
  if (options === null || options.constraint === null) return { predictor, verdict: [], report: null };
  const training = prepareRows(backend, study, study.split.train);
  if (!endsHeld(options.solve)) {
    const network = createNetwork(backend, predictor.network, 0);
    writeParameters(network, predictor.parameters);
    const evaluation = await createEvaluator(backend, network, training, options.constraint)();
    return {
      predictor,
      verdict: judgeGroups({ training }, options, evaluation, listSeen(study)),
      report: null,
    };
  }
  const { test } = study.split;
  const splines = findSplines(study.encoder);
  const D = study.encoder.names.length;
  const told = study.inputGroups.length;
  const start = { ...training.binned, x: await backend.read(training.x), D, groups: told, splines };
  const held = await holdNetwork({
    backend,
    training,
    validation: null,
    test: test.length > 0 ? openLongRows(study, test) : null,
    spec: predictor.network,
    trained: predictor.parameters,
    start: null,
    shrunk: { spec: members[0].network, parameters: averageMembers(members) },
    precisions: fitAdditiveStart(start).precisions,
    splines,
    names: study.encoder.names,
    told,
    isTold: listTold(study),
    ...holdRequest(options.constraint, study, request),
    hold: options.hold ?? "balanced",
    solvedOn: "training and validation rows",
  });
  const network = { kind: "network", network: held.spec, parameters: held.parameters } as const;
  const report = await tellTargets(held, study, request, [training], backend);
  return { predictor: network, verdict: held.verdict, report };
}

/** The mean of the members' parameters: what the prior takes as the slopes and offsets of the mean curve. */
function averageMembers(members: readonly TrainedMember[]): ParameterValues {
  return Object.fromEntries(
    Object.entries(members[0].parameters).map(([name, values]) => [
      name,
      values.map((_, k) => members.reduce((sum, one) => sum + one.parameters[name][k], 0) / members.length),
    ]),
  );
}
