/**
 * The end of an ensemble: its runs as one network whose curves are the mean of theirs, judged on all rows that they
 * were made from; where the request ends in a solve, the output layer of the mean is solved first.
 */
import type { Backend } from "../../compute/backend.ts";
import { present } from "../../core/present.ts";
import type { AsyncTurns } from "../../core/progress.ts";
import { createNotice } from "../../data/checks/findings.ts";
import { findSplines } from "../../data/encode/encoder.ts";
import { createNetwork } from "../../models/networks/create-network.ts";
import { type MeanSpec, memberParameter } from "../../models/networks/mean.ts";
import { type ParameterValues, writeParameters } from "../../models/networks/parameters.ts";
import { orderRows } from "../../study/order.ts";
import type { PreparedStudy } from "../../study/prepare.ts";
import { countPeople, countSets } from "../../study/split.ts";
import { endsHeld } from "../../training/choices.ts";
import { createEvaluator } from "../../training/evaluation.ts";
import { judgeGroups } from "../../training/finish.ts";
import { fitStart } from "../../training/fit-start.ts";
import { holdParts, holdRequest, listSeen, listTold, tellTargets } from "../../training/keep-network.ts";
import type { Model, Predictor } from "../../training/model.ts";
import { PRESETS, type TrainingOptions } from "../../training/options.ts";
import { openLongRows } from "../../training/rows/long-rows.ts";
import { prepareRows } from "../../training/rows/prepare-rows.ts";
import { warnOfSolve } from "../../training/run-warnings.ts";
import type { SolveReport } from "../../training/solve/hold.ts";
import type { GroupVerdict } from "../../training/solve/verdict.ts";
import type { TrainedMember } from "../../training/trainer.ts";
import { packModelSplit } from "../acquaintance/known-rows.ts";
import type { TrainingRequest } from "../train.ts";

/** How a run of the request ends. */
export function solveOf({ preset = "default", options }: TrainingRequest): TrainingOptions["solve"] {
  return options?.solve ?? PRESETS[preset].solve;
}

/** `last` is the model of the last member; everything that is the same for all members is taken from it. */
export async function* joinMembers(
  members: readonly TrainedMember[],
  last: Model,
  { request, seed, study }: JoinedRun,
  backend: Backend,
): AsyncTurns<Model> {
  const { split, people, table, sha256 } = study;
  const options = last.options && { ...last.options, seed, ...present({ solve: solveOf(request) }) };
  const { predictor, verdict, report, uncertainty } = yield* holdMembers(
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
    ...present({ uncertainty: uncertainty ?? undefined }),
    options,
    split: packModelSplit({ ...last, table, sha256, split }),
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
    network: {
      kind: "mean",
      D: network.D,
      T: network.T,
      ...present({ causes: network.causes }),
      members: networks,
    },
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
  readonly uncertainty: Model["uncertainty"] | null;
}

/** Judges the mean curves on all rows that the members were made from; where the run is solved, holds them first. */
async function* holdMembers(
  members: readonly TrainedMember[],
  options: TrainingOptions | null,
  { request, study }: JoinedRun,
  backend: Backend,
): AsyncTurns<HeldMembers> {
  const predictor = joinNetworks(members);
  if (options === null || options.constraint === null)
    return { predictor, verdict: [], report: null, uncertainty: null };
  const training = prepareRows(backend, study, orderRows(study, study.split.train));
  if (!endsHeld(options.solve)) {
    const network = createNetwork(backend, predictor.network, 0);
    writeParameters(network, predictor.parameters);
    const evaluation = await createEvaluator(backend, network, training, options.constraint).evaluate();
    return {
      predictor,
      verdict: judgeGroups({ training }, options, evaluation, listSeen(study)),
      report: null,
      uncertainty: null,
    };
  }
  const { test } = study.split;
  const splines = findSplines(study.encoder);
  const D = study.encoder.names.length;
  const told = study.inputGroups.length;
  const { binned } = training;
  const K = study.causes?.length ?? 1;
  const start = { binned, K, x: await backend.read(training.x), D, groups: told, splines };
  const input = {
    backend,
    training,
    validation: null,
    test: test.length > 0 ? openLongRows(study, test) : null,
    spec: predictor.network,
    trained: predictor.parameters,
    start: null,
    shrunk: { spec: members[0].network, parameters: averageMembers(members) },
    splines,
    names: study.encoder.names,
    told,
    isTold: listTold(study),
    ...holdRequest(options.constraint, study, request),
    hold: options.hold ?? "balanced",
    solvedOn: "training and validation rows",
  } as const;
  const { precisions } = yield* fitStart(start);
  const held = yield* holdParts(input, study.causes, precisions);
  const network = { kind: "network", network: held.spec, parameters: held.parameters } as const;
  const report = await tellTargets(held, study, request, [training], backend);
  return { predictor: network, verdict: held.verdict, report, uncertainty: held.uncertainty };
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
