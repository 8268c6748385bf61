/**
 * Targets from outside in a run: the clash test before anything is trained, the mean curves that the solve holds, and
 * what a report shows afterwards: the group's local Kaplan-Meier curve, the target, and the model.
 */
import type { Backend } from "../../../compute/backend.ts";
import { InputError } from "../../../core/errors.ts";
import { isAbsent, type Measured } from "../../../core/measured.ts";
import { countOf } from "../../../core/text.ts";
import { createNotice, type Notice } from "../../../data/checks/findings.ts";
import { pickOutcomes, requireRightCensored } from "../../../data/outcomes/outcomes.ts";
import { joinRows } from "../../../data/outcomes/split.ts";
import { interpolateCurve } from "../../../data/outcomes/time-grid.ts";
import { checkTargets, type Targets } from "../../../data/targets/targets.ts";
import { createNetwork } from "../../../models/networks/create-network.ts";
import { writeParameters } from "../../../models/networks/parameters.ts";
import { groupMeans } from "../../../objectives/curves.ts";
import { type Clash, testClash } from "../../../stats/clash.ts";
import { survivalAt } from "../../../stats/curve-summary.ts";
import { kaplanMeier } from "../../../stats/kaplan-meier.ts";
import { placesAmong } from "../../../study/members.ts";
import type { Study } from "../../../study/study.ts";
import type { SolvedLayer } from "../layer.ts";
import type { ListCurves } from "../problem.ts";
import { gatherRows, type RowSet } from "../rows.ts";
import { holdToTarget } from "./curve-constraints.ts";
import { curvesBelow } from "./curve-pass.ts";

/**
 * Within noise. The penalty of "auto" gives better single curves and the worst group less: with 800 simulated people it
 * keeps .73 of its error, this .51 (docs/results/targets.md).
 */
const TARGET_SLACK = 1;

/** Targets and how they are held. */
export interface TargetRequest {
  /** Survival of groups at given times, with its standard errors. */
  readonly targets: Targets;
  /** c of the mean squared gap in standard errors, 1 unless given; "auto" weighs the target beside the rows instead. */
  readonly targetSlack?: number | "auto";
  /** Groups whose target is held although local people contradict it. */
  readonly allowClash?: readonly string[];
}

/** One group's curves at the times of its target. */
export interface TargetReport {
  readonly group: string;
  readonly time: readonly number[]; // [J]
  readonly target: readonly number[];
  readonly standardError: readonly number[];
  /** Kaplan-Meier of the rows of the solve. */
  readonly local: readonly (number | null)[];
  /** The model's mean curve over them. */
  readonly model: readonly number[];
  readonly clash: Omit<Clash, "group">;
}

/** Below this chance the local rows contradict a target. */
const CLASH_BELOW = 0.01;

/** Refuses targets that local people contradict, unless they are allowed by name; says which were. */
export function refuseClash(study: Study, { targets, allowClash = [] }: TargetRequest): readonly Notice[] {
  const { groups, grid } = study;
  checkTargets(targets, { groups: groups.map(({ name }) => name), horizon: grid.edges[grid.T] });
  const clashes = testTargets(study, targets).filter(({ adjusted }) => adjusted < CLASH_BELOW);
  const refused = clashes.filter(({ group }) => !allowClash.includes(group));
  if (refused.length > 0) {
    throw new InputError(`targets that the local rows contradict: ${refused.map(tellClash).join("; ")}`, {
      code: "targets.clash",
      where: targets.name,
      hint:
        "check event, time origin, period and population of the target; " +
        `to hold it all the same, allow it by name (--allow-clash ${refused.map(({ group }) => group).join(",")})`,
    });
  }
  return clashes.map((one) => createNotice("warning", `held against what local rows say: ${tellClash(one)}`));
}

function tellClash({ group, observed, expected, adjusted }: Clash): string {
  const had = `${group} had ${countOf(observed, "event")}`;
  return `${had} where ${expected.toFixed(1)} were expected (p ${adjusted.toPrecision(2)})`;
}

/** Why targets need people who are followed from the start, and what to do. */
const NOT_COMPARABLE =
  "a target is the mean curve of people followed from the start, each counting once: train without --targets, and " +
  "hold the groups to their own events (--distance atRisk)";

/** Each target against the rows that are learnt from. */
function testTargets({ split, outcomes, groups }: Study, targets: Targets): Clash[] {
  const rows = joinRows(split.train, split.validation);
  return testClash(
    requireRightCensored(pickOutcomes(outcomes, rows), "a target from outside", NOT_COMPARABLE),
    placesAmong(groups, rows),
    targets,
  );
}

/** The mean curves that the solve holds to the targets. */
export function listTargetCurves(
  study: Study,
  { targets, targetSlack = TARGET_SLACK }: TargetRequest,
): ListCurves {
  const { grid } = study;
  return (groups, rows) => {
    const survival = curvesBelow(rows, grid.T);
    return targets.curves.map((curve) => {
      const group = groups.findIndex(({ name }) => name === curve.group);
      return holdToTarget(
        curve,
        { rows: groups[group].rows, group },
        { edges: grid.edges, survival, T: grid.T },
        targetSlack === "auto" ? null : targetSlack,
      );
    });
  };
}

/** What became of the targets under the finished model, on the rows it was solved on. */
export async function reportTargets(
  study: Study,
  { targets }: TargetRequest,
  layer: SolvedLayer,
  sets: readonly RowSet[],
  backend: Backend,
): Promise<TargetReport[]> {
  const { split, outcomes, grid } = study;
  const network = createNetwork(backend, layer.spec, 0);
  writeParameters(network, layer.parameters);
  const gathered = await gatherRows(backend, network, sets, { isWhole: () => true, keepsInputs: false });
  const survival = curvesBelow(gathered, grid.T);
  const rows = joinRows(split.train, split.validation);
  const local = requireRightCensored(pickOutcomes(outcomes, rows), "a target from outside");
  const clashes = testTargets(study, targets);
  return targets.curves.map(({ group, time, survival: target, se }, k) => {
    const members = gathered.groups.find(({ name }) => name === group)?.rows ?? new Int32Array();
    const mean = groupMeans(survival, grid.T, [members]);
    const km = kaplanMeier(pickOutcomes(local, orderOf(study, rows, group)));
    const { group: _name, ...clash } = clashes[k];
    return {
      group,
      time: Array.from(time),
      target: Array.from(target),
      standardError: Array.from(se),
      local: Array.from(time, (at) => numberOrNull(survivalAt(km, at).survival)),
      model: Array.from(time, (at) => numberOrNull(interpolateCurve(mean, grid, at)) ?? 0),
      clash,
    };
  });
}

function numberOrNull(value: Measured): number | null {
  return isAbsent(value) ? null : value;
}

function orderOf({ groups }: Study, rows: Int32Array, name: string): Int32Array {
  return placesAmong(groups, rows).find((group) => group.name === name)?.rows ?? new Int32Array();
}
