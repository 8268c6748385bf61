/**
 * Post-hoc multicalibration of any model's curves (MCBoostSurv; Hébert-Johnson et al. 2018, Kim et al. 2019), fitted on
 * rows the model was not trained on. A round audits every cell (ranges of bins × ranges of predicted probability, and
 * the whole plane) with mcboost-auditors.ts, takes the one with the largest |correlation|, and there moves
 *   S ← max(S, 1e-4)·exp(−η·h)   (or S − η·h, or S^exp(η·a), see `scale`),
 * then clips to [0, 1] and takes the cumulative minimum over the bins, where h is the auditor's estimate of the
 * residual: positive where S is too high. Updates are stored and replayed in order on new rows, with an entry's cell
 * read from its curve at that moment. `reference: true` repeats what the R package mcboost (attic/MCBoostSurv.R,
 * 5c80fc1) does, including faults (a)–(d) below; it is for comparison, not for use.
 */

import { InputError, NumericalError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { type Curves, isSurvival } from "../data/curves/curves.ts";
import { type BinnedSingleCause, refuseBeyondCensoring } from "../data/outcomes/outcomes.ts";
import { sumWeights } from "../objectives/curves.ts";
import { matchHistories } from "../stats/calibration/calibration.ts";
import {
  type BoostGroup,
  type BoostInput,
  type BoostOptions,
  checkGroups,
  checkRepaired,
  checkSurvival,
  chooseOptions,
  findGroup,
  markMembers,
  requireFeatures,
} from "./boost-input.ts";
import { applyHazardBoost, type HazardBoost } from "./hazard-boost.ts";
import {
  type AuditedCurves,
  type AuditedGroup,
  auditGroups,
  auditRidge,
  type BoostCell,
  type BoostFeatures,
  type Candidate,
  type CellTargets,
  type CensoringWeights,
  measureLeverage,
  measureTargets,
  type WeighedOutcomes,
  weighCensoring,
} from "./mcboost-auditors.ts";
import { type BoostUpdate, createCells, moveCurves, readResidual } from "./mcboost-moves.ts";

export { BOOST_DEFAULTS, type BoostGroup, type BoostInput, type BoostOptions } from "./boost-input.ts";
export type { BoostCell, BoostFeatures, GroupAuditor, RidgeAuditor } from "./mcboost-auditors.ts";
export type { BoostUpdate } from "./mcboost-moves.ts";

/**
 * Correlations closer than this (relative) are treated as equal and the earlier candidate is taken, so that the order
 * of the rows does not decide.
 */
const TIE_TOLERANCE = 1e-9;

const NO_TARGETS: CellTargets = { rows: new Int32Array(), target: new Float64Array() };

/**
 * A larger step of log hazards comes from a slope that is nearly zero (curves near 1); further rounds may take the
 * rest.
 */
const LARGEST_HAZARD_STEP = 1;

/**
 * tolerance: no correlation is larger; rounds: all used; stuck: all larger correlations belong to updates that no
 * longer move any curve (all at 0 or 1, or held by the cumulative minimum); unaudited: too few rows are followed past
 * any bin.
 */
export type BoostStop = "tolerance" | "rounds" | "stuck" | "unaudited";

/** A repair of either kind. */
export type Boost = McBoost | HazardBoost;

/** Plain data that survives JSON. */
export interface McBoost {
  readonly kind: "mcboost";
  readonly T: number;
  /** Features of the ridge auditor; 0 for groups. */
  readonly D: number;
  readonly options: BoostOptions;
  /** The columns with enough follow-up; what is found in them is applied up to T. */
  readonly auditedBins: number;
  readonly groups: readonly { readonly name: string; readonly expression?: string }[];
  /** Groups that could not be audited, and why. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  readonly updates: readonly BoostUpdate[];
  /** The largest |correlation| before each update and, last, that of the fitted curves. */
  readonly history: readonly number[];
  readonly stopped: BoostStop;
}

export interface BoostFit {
  readonly boost: McBoost;
  /** The calibration rows' curves after the last update. */
  readonly curves: Curves;
}

/** Repairs curves after training, using the groups' residuals (MCBoostSurv). */
export function fitBoost(input: BoostInput, options: Partial<BoostOptions> = {}): McBoost {
  return boostCurves(input, options).boost;
}

/** Like `fitBoost`, but also returns the curves it arrived at. */
export function boostCurves(input: BoostInput, options: Partial<BoostOptions> = {}): BoostFit {
  const settings = chooseOptions(options);
  const { curves, binned } = matchHistories(input.curves, input.outcomes, "a repair");
  const outcomes = requireFromTheStart(binned, settings);
  const { N, T } = curves;
  checkSurvival(curves);
  if (N === 0) throw new InputError("no rows to calibrate on", { code: "rows.none" });
  const features = settings.auditor === "ridge" ? requireFeatures(input.features, N) : undefined;
  const groups = settings.auditor === "group" ? (input.groups ?? []) : [];
  if (settings.auditor === "group") checkGroups(groups);
  const members = groups.map((group) => markMembers(group, N));

  const survival = Float64Array.from(curves.survival);
  // The reference reads an entry's cell from the model's curve throughout (its rebucket = FALSE).
  const located = settings.reference ? survival.slice() : survival;
  const weights = weighCensoring(outcomes, settings);
  const { usable, skipped } = chooseAudited(groups, members, outcomes, weights, settings);
  const cells = createCells(survival, T, weights.auditedBins, settings);
  const work: BoostWork = {
    settings,
    audited: { outcomes, survival, located },
    weights,
    cells,
    usable,
    members,
    features,
    size: { N, T },
  };
  const rounds = runRounds(work);
  const boost: McBoost = {
    kind: "mcboost",
    T,
    D: features?.D ?? 0,
    options: settings,
    auditedBins: weights.auditedBins,
    groups: groups.map(({ name, expression }) => ({ name, ...present({ expression }) })),
    skipped,
    ...rounds,
  };
  return { boost, curves: { N, T, survival } };
}

/** Outcomes that MCBoostSurv's residual is defined for. */
function requireFromTheStart(binned: BinnedSingleCause, settings: BoostOptions): WeighedOutcomes {
  refuseBeyondCensoring(binned, "MCBoostSurv", ["weight"], NOT_UNDER_ENTRY);
  const foreign = settings.reference
    ? "the R package"
    : settings.auditor === "ridge"
      ? "the ridge auditor"
      : null;
  if (binned.weight === undefined || foreign === null) return binned as WeighedOutcomes;
  throw new InputError(`${foreign} takes no weights`, {
    code: "outcomes.beyond",
    where: "outcomes.weight",
    hint: "leave the weights out, or repair on the hazard scale",
  });
}

const NOT_UNDER_ENTRY =
  "its residual S − 1[T > t] counts everyone from the start of the clock: take the method hazards";

/** What the rounds of a boost look at, and the curves they move. */
interface BoostWork {
  readonly settings: BoostOptions;
  readonly audited: AuditedCurves;
  readonly weights: ReturnType<typeof weighCensoring>;
  readonly cells: readonly BoostCell[];
  readonly usable: ReturnType<typeof chooseAudited>["usable"];
  readonly members: readonly ReturnType<typeof markMembers>[];
  readonly features: BoostFeatures | undefined;
  readonly size: { readonly N: number; readonly T: number };
}

/** Moves the largest residual that a step can move, round by round, until none is left or the rounds are used up. */
function runRounds(work: BoostWork): Pick<McBoost, "updates" | "history" | "stopped"> {
  const { settings, weights } = work;
  const updates: BoostUpdate[] = [];
  const history: number[] = [];
  let stopped: BoostStop | undefined = weights.auditedBins === 0 ? "unaudited" : undefined;
  while (stopped === undefined) {
    const candidates = findCandidates(work);
    history.push(
      candidates.reduce((largest, { correlation }) => Math.max(largest, Math.abs(correlation)), 0),
    );
    const above = candidates.filter(({ correlation }) => Math.abs(correlation) >= settings.tolerance);
    if (above.length === 0) stopped = "tolerance";
    else if (updates.length === settings.rounds) stopped = "rounds";
    else {
      // A step that moves nobody would be found again in every remaining round, so the next largest is tried.
      let update: BoostUpdate | undefined;
      while (update === undefined && above.length > 0) update = tryUpdate(work, takeLargest(above));
      if (update === undefined) stopped = "stuck";
      else updates.push(update);
    }
  }
  return { updates, history, stopped };
}

function findCandidates({
  settings,
  audited,
  weights,
  cells,
  usable,
  features,
  size,
}: BoostWork): Candidate[] {
  // Groups with weights of their own measure themselves; the weights of all rows are then not needed.
  const poolsTargets = settings.censoring === "pooled" || settings.correlateOver === "cell";
  const everyone = Int32Array.from({ length: size.N }, (_, row) => row);
  return cells.flatMap((cell) => {
    const targets = poolsTargets ? measureTargets(audited, weights, cell, everyone) : NO_TARGETS;
    // As in the reference: where all residuals are equal there is nothing to learn, however large they are.
    if (settings.reference && targets.target.every((value) => value === targets.target[0])) return [];
    const all = audited.outcomes.weight?.reduce((sum, own) => sum + own, 0) ?? size.N;
    const divisor =
      settings.correlateOver === "all" ? all : sumWeights(audited.outcomes.weight, targets.rows);
    return features === undefined
      ? auditGroups(audited, { ...settings, cell, targets, groups: usable, divisor })
      : auditRidge(targets, features, cell, settings.ridgePenalty, divisor);
  });
}

/** Applies the update of a candidate; undefined if it moves nobody. */
function tryUpdate(
  work: BoostWork,
  { cell, auditor: found, correlation }: Candidate,
): BoostUpdate | undefined {
  const { settings, audited, members, features, size } = work;
  const auditor = toHazards(work, found, cell);
  // Fault (b): h is signed already, so the reference's sign(correlation) turns every step up into one down.
  const sign = settings.reference && correlation < 0 ? -1 : 1;
  const update: BoostUpdate = { cell, auditor, sign, step: settings.step, correlation };
  const residual = readResidual(auditor, members, features);
  const { survival, located } = audited;
  const moved = moveCurves({ survival, located, T: size.T }, update, { settings, sign, residual });
  return moved || settings.reference ? update : undefined;
}

/** Converts the group's mean residual into a step of its log hazards. */
function toHazards(
  { settings, audited, weights, usable }: BoostWork,
  auditor: Candidate["auditor"],
  cell: BoostCell,
): Candidate["auditor"] {
  const group = usable.find(({ index }) => auditor.kind === "group" && index === auditor.group);
  if (settings.scale === "survival" || auditor.kind !== "group" || group === undefined) return auditor;
  const bins = (group.weights ?? weights).auditedBins;
  const wanted = auditor.value / measureLeverage(audited, cell, group.rows, bins);
  return { ...auditor, value: Math.sign(wanted) * Math.min(Math.abs(wanted), LARGEST_HAZARD_STEP) };
}

export interface BoostRows {
  /** By name; groups that no update refers to may be missing. */
  readonly groups?: readonly BoostGroup[];
  readonly features?: BoostFeatures;
}

/**
 * Applies the updates in order to the same model's curves for other rows; on the calibration rows this gives the fitted
 * curves to the last bit.
 */
export function applyBoost(boost: Boost, curves: Curves, rows: BoostRows = {}): Curves {
  const repaired =
    boost.kind === "hazards" ? applyHazardBoost(boost, curves, rows.groups) : replayAll(boost, curves, rows);
  if (!isSurvival(repaired)) {
    throw new NumericalError("the repaired curves are not survival probabilities", {
      code: "boost.curves",
      hint: "the boost does not belong to these curves, or was changed: fit it again",
    });
  }
  return repaired;
}

function replayAll(boost: McBoost, curves: Curves, rows: BoostRows): Curves {
  const replay = replayBoost(boost, curves, rows);
  for (;;) {
    const step = replay.next();
    if (step.done) return step.value;
  }
}

/** Like `applyBoost`, but yields the curves after each update: one array, overwritten by the next. */
export function* replayBoost(
  boost: McBoost,
  curves: Curves,
  rows: BoostRows = {},
): Generator<Curves, Curves> {
  const { N, T } = curves;
  const { options: settings } = boost;
  checkRepaired(curves, boost.T);
  const features = boost.D > 0 && boost.updates.length > 0 ? requireFeatures(rows.features, N) : undefined;
  if (features !== undefined && features.D !== boost.D) {
    throw new InputError(`features: ${features.D} columns where the boost has ${boost.D}`, {
      code: "features.mismatch",
    });
  }
  const members: Uint8Array[] = [];
  for (const { auditor } of boost.updates) {
    if (auditor.kind !== "group" || members[auditor.group] !== undefined) continue;
    const group = findGroup(rows.groups ?? [], boost.groups[auditor.group].name);
    members[auditor.group] = markMembers(group, N);
  }
  const survival = Float64Array.from(curves.survival);
  const located = settings.reference ? survival.slice() : survival;
  for (const update of boost.updates) {
    // Fault (b), second half: the reference does not store the sign and predicts as if it had been 1.
    const sign = settings.reference ? 1 : update.sign;
    const residual = readResidual(update.auditor, members, features);
    moveCurves({ survival, located, T }, update, { settings, sign, residual });
    yield { N, T, survival };
  }
  return { N, T, survival };
}

/** The groups that can be audited, with their own censoring weights if requested, and the others. */
function chooseAudited(
  groups: readonly BoostGroup[],
  members: readonly Uint8Array[],
  outcomes: WeighedOutcomes,
  weights: CensoringWeights,
  settings: BoostOptions,
): { readonly usable: readonly AuditedGroup[]; readonly skipped: McBoost["skipped"] } {
  const usable: AuditedGroup[] = [];
  const skipped: { name: string; reason: string }[] = [];
  const everyone = Int32Array.from(outcomes.bin, (_, row) => row);
  members.forEach((mask, index) => {
    const rows = everyone.filter((row) => mask[row] === 1);
    const own = settings.censoring === "group" ? weighCensoring(outcomes, { ...settings, rows }) : undefined;
    const reason = findObstacle(outcomes, rows, own ?? weights);
    if (reason === undefined) usable.push({ index, rows, members: mask, ...present({ weights: own }) });
    else skipped.push({ name: groups[index].name, reason });
  });
  return { usable, skipped };
}

/** Removes and returns the candidate with the largest |correlation|, the first if tied; there must be one. */
function takeLargest(candidates: Candidate[]): Candidate {
  let best = 0;
  for (let k = 1; k < candidates.length; k++) {
    const reached = Math.abs(candidates[best].correlation) * (1 + TIE_TOLERANCE);
    if (Math.abs(candidates[k].correlation) > reached) best = k;
  }
  return candidates.splice(best, 1)[0];
}

/** Why these rows cannot be audited in any cell. */
function findObstacle(
  outcomes: WeighedOutcomes,
  rows: Int32Array,
  weights: CensoringWeights,
): string | undefined {
  if (rows.length === 0) return "no rows";
  if (weights.auditedBins === 0) return "too few rows are followed past the first bin";
  if (rows.every((row) => outcomes.event[row] === 0 && outcomes.bin[row] === 1)) {
    return "every row is censored in the first bin";
  }
  return undefined;
}
