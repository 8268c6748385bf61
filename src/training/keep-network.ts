/**
 * The network that a run keeps. Without the solve it is the trained one, judged as it is. With it, the run ends in a
 * mixture with the start and in the held output layer (solve/hold.ts). A member of an ensemble keeps the mixture alone:
 * the ensemble is solved as a whole, since members that are held are not held on average.
 */
import type { Backend } from "../compute/backend.ts";
import { unreachable } from "../core/errors.ts";
import { present } from "../core/present.ts";
import type { AsyncTurns } from "../core/progress.ts";
import { findSplines } from "../data/encode/encoder.ts";
import { columnsOf } from "../data/groups/group-expression.ts";
import { parseGroup } from "../data/groups/parse-group.ts";
import { joinCauseParameters } from "../models/networks/cause-view.ts";
import type { NetworkSpec } from "../models/networks/list.ts";
import type { ParameterValues } from "../models/networks/parameters.ts";
import type { LayerUncertainty } from "../models/uncertainty/layer-uncertainty.ts";
import type { ConstraintGroup } from "../objectives/constraints.ts";
import type { DistanceName } from "../objectives/distances/list.ts";
import { observeCurve } from "../objectives/observed-curve.ts";
import { resolveSlack } from "../objectives/slack.ts";
import type { Study } from "../study/study.ts";
import { judgeGroups, type TrainingResult } from "./finish.ts";
import type { NetworkFit, PlannedFit } from "./fit-network.ts";
import type { NetworkStart } from "./fit-start.ts";
import type { ConstraintSpec, TrainingOptions } from "./options.ts";
import { openLongRows } from "./rows/long-rows.ts";
import { type HeldCurve, holdToKaplanMeier } from "./solve/curves/curve-constraints.ts";
import { curvesBelow } from "./solve/curves/curve-pass.ts";
import { listTargetCurves, reportTargets, type TargetRequest } from "./solve/curves/hold-targets.ts";
import { holdCauses, mixCauses } from "./solve/causes/hold-causes.ts";
import { holdToToldCurve } from "./solve/curves/told-curve.ts";
import { type HeldFit, type HoldInput, holdNetwork, mixNetwork, type SolveReport } from "./solve/hold.ts";
import type { SolveRows } from "./solve/layout.ts";
import type { RowSet } from "./solve/rows.ts";
import type { GroupVerdict } from "./solve/verdict.ts";

export interface KeptNetwork {
  readonly kept: NetworkSpec;
  readonly parameters: ParameterValues;
  readonly verdict: readonly GroupVerdict[];
  readonly solve: SolveReport | null;
  /** Of a held layer; null where there is none. */
  readonly uncertainty: LayerUncertainty | null;
}

interface Trained {
  readonly options: TrainingOptions;
  readonly result: TrainingResult;
  /** Null where the network began at random. */
  readonly startParameters: ParameterValues | null;
}

export async function* keepNetwork(
  { study, training, validation, all, request }: NetworkFit,
  { network: spec, start }: PlannedFit,
  { options, result, startParameters }: Trained,
  backend: Backend,
  onProgress?: HoldInput["onProgress"],
): AsyncTurns<KeptNetwork> {
  const { constraint, solve = "none", hold = "balanced" } = options;
  const usesBoth = validation !== null && solve === "held";
  const plain = { kept: spec, parameters: result.parameters, solve: null, uncertainty: null };
  if (constraint === null) return { ...plain, verdict: [] };
  if (solve === "none") {
    return { ...plain, verdict: judgeGroups({ training }, options, result.train, listSeen(study)) };
  }
  const { causes } = study;
  const input: Omit<HoldInput, "precisions"> = {
    backend,
    training,
    validation,
    ...present({ all: all?.slice(0, usesBoth ? 2 : 1), onProgress }),
    test: study.split.test.length > 0 ? openLongRows(study, study.split.test) : null,
    spec,
    trained: result.parameters,
    start: startParameters,
    splines: findSplines(study.encoder),
    names: study.encoder.names,
    told: study.inputGroups.length,
    isTold: listTold(study),
    ...holdRequest(constraint, study, request),
    hold,
    solvedOn: usesBoth ? "training and validation rows" : "training rows",
  };
  switch (solve) {
    case "mixture":
      return { ...plain, parameters: yield* mixParts(input, causes, start.precisions), verdict: [] };
    case "held":
    case "heldOnTraining": {
      const held = yield* holdParts(input, causes, start.precisions);
      const sets = input.all ?? (usesBoth ? [training, validation] : [training]);
      const solve = await tellTargets(held, study, request, sets, backend);
      const { spec: kept, parameters, verdict, uncertainty } = held;
      return { kept, parameters, verdict, solve, uncertainty };
    }
    default:
      return unreachable(solve);
  }
}

/** Holds a network of one kind of event, or each cause of one of several. */
export function holdParts(
  input: Omit<HoldInput, "precisions">,
  causes: readonly string[] | null,
  precisions: NetworkStart["precisions"],
): AsyncTurns<HeldFit> {
  if (causes === null) return holdNetwork({ ...input, precisions: precisions[0] });
  return holdCauses({ ...input, causes, precisions });
}

async function* mixParts(
  input: Omit<HoldInput, "precisions">,
  causes: readonly string[] | null,
  precisions: NetworkStart["precisions"],
): AsyncTurns<ParameterValues> {
  const { spec } = input;
  if (causes === null || spec.kind === "mean")
    return yield* mixNetwork({ ...input, precisions: precisions[0] });
  return joinCauseParameters(spec, yield* mixCauses({ ...input, causes, precisions }));
}

/** For each group, whether the model may know who is in it: through a column of its own, or because everyone is. */
export function listTold({ groups, inputGroups, fitRows }: Study): boolean[] {
  const known = new Set(inputGroups.map(({ name }) => name));
  // A table may have more rows than a Set can hold.
  const isFitted = new Uint8Array(fitRows.reduce((last, row) => Math.max(last, row), -1) + 1);
  for (const row of fitRows) isFitted[row] = 1;
  const fitted = isFitted.reduce((sum, one) => sum + one, 0);
  return groups.map(({ name, rows }) => {
    if (known.has(name)) return true;
    let inside = 0;
    for (const row of rows) if (isFitted[row] === 1) inside++;
    return inside === fitted;
  });
}

/** For each group, whether a model without columns of groups may know who is in it: all its columns are features. */
export function listSeen(study: Study): boolean[] {
  const seen = new Set(study.encoder.columns.map(({ column }) => column));
  const isTold = listTold(study);
  return study.groups.map(({ expression }, g) => {
    if (isTold[g] || expression === undefined) return isTold[g];
    return columnsOf(parseGroup(expression)).every((column) => seen.has(column));
  });
}

/** Groups with what their mean curves are compared with. */
function observeGroups(groups: readonly ConstraintGroup[], rows: SolveRows): readonly ConstraintGroup[] {
  return groups.map((group) => ({ ...group, ...observeCurve(group.km, rows, group.rows) }));
}

/** What a constraint asks of the solve: the distance, what each group is allowed, and which mean curves are held. */
export function holdRequest(
  { distance, variant, slack, kappa }: ConstraintSpec,
  study: Study,
  { targets, targetSlack }: Partial<TargetRequest>,
): Pick<HoldInput, "distance" | "slackOf" | "listCurves" | "budget" | "loose"> {
  const allow = (groups: readonly ConstraintGroup[]) =>
    resolveSlack({ groups, distance, variant }, slack, present({ kappa }));
  // Whoever names a slack has named an at-risk distance.
  const unseen = slack === "auto" ? listTold(study).flatMap((told, g) => (told ? [] : [g])) : [];
  const holdMeans = (
    own: Exclude<DistanceName, "atRisk">,
    groups: readonly ConstraintGroup[],
    rows: SolveRows,
  ) => holdToKaplanMeier(own, groups, allow(groups), curvesBelow(rows, study.grid.T), rows.weight);
  const ofCurves = (curves: readonly HeldCurve[]) =>
    curves.filter(({ term }) => term.isConstraint).map((one) => one.slack);
  return {
    distance,
    slackOf: ({ groups, heldCurves }) => {
      const own = distance === "atRisk" ? allow(groups) : null;
      const ofGroups = groups.map(({ constrained }, g) =>
        constrained && own ? own[g] : Number.POSITIVE_INFINITY,
      );
      return Float64Array.from([...ofGroups, ...ofCurves(heldCurves)]);
    },
    loose: study.inputGroups.flatMap(({ name }, j) =>
      targets?.curves.some(({ group }) => group === name) ? [j] : [],
    ),
    ...((distance !== "atRisk" || targets !== undefined || unseen.length > 0) && {
      listCurves: (groups, rows, blocks) => [
        ...(distance === "atRisk"
          ? holdToToldCurve(groups, unseen, rows, blocks)
          : holdMeans(distance, observeGroups(groups, rows), rows)),
        ...(targets === undefined
          ? []
          : listTargetCurves(study, { targets, ...present({ targetSlack }) })(groups, rows, blocks)),
      ],
    }),
    // Whoever names a slack has chosen the point: only what cannot be solved is out of reach then.
    ...(slack !== "auto" && { budget: Number.POSITIVE_INFINITY }),
  };
}

/** The report of the solve, with what became of targets. */
export async function tellTargets(
  { solve, spec, parameters }: HeldFit,
  study: Study,
  { targets }: Partial<TargetRequest>,
  sets: readonly RowSet[],
  backend: Backend,
): Promise<SolveReport> {
  if (targets === undefined) return solve;
  return { ...solve, targets: await reportTargets(study, { targets }, { spec, parameters }, sets, backend) };
}
