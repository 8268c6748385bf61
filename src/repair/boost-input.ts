/**
 * What a repair of curves is given, and the checks on it: curves, outcomes, groups or features; the options of
 * MCBoostSurv (mcboost.ts) with their defaults; and how rows are cut, into subsets and into folds with equally many
 * events.
 */
import { InputError, nameRows } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { createRandom, shuffle } from "../core/random.ts";
import type { CauseCurves } from "../data/curves/cause-curves.ts";
import type { Curves } from "../data/curves/curves.ts";
import { type BinnedOutcomes, type BinnedSingleCause, pickBinned } from "../data/outcomes/outcomes.ts";
import { type People, pickPeople } from "../data/outcomes/people.ts";
import type { BinnedSingleCauseInput, CurvesInput } from "../data/plain-input.ts";
import type { BinnedCauses } from "../stats/causes/binned-causes.ts";
import { MINIMUM_AT_RISK } from "../stats/kaplan-meier.ts";
import type { BoostFeatures } from "./mcboost-auditors.ts";

export interface BoostGroup {
  readonly name: string;
  /** Kept with the boost, so that the group can be resolved on another table. */
  readonly expression?: string;
  /** 0-based. */
  readonly rows: ArrayLike<number>;
}

export interface BoostInput {
  readonly curves: CurvesInput;
  /** Entries and weights are for a repair on the hazard scale; MCBoostSurv refuses entries. */
  readonly outcomes: BinnedSingleCauseInput;
  /** For the ridge auditor. */
  readonly features?: BoostFeatures;
  /** For the group auditor; "everyone" is a group only if given as one. */
  readonly groups?: readonly BoostGroup[];
}

export interface BoostOptions {
  /** Maximum number of updates. */
  readonly rounds: number;
  /** Stop when no |correlation| reaches this. */
  readonly tolerance: number;
  /** η. */
  readonly step: number;
  /** Number of time ranges that are moved separately. */
  readonly timeBuckets: number;
  /** Number of ranges of predicted probability that are moved separately. */
  readonly probabilityBuckets: number;
  /** What looks for deviations: the named groups, or a ridge regression on features. */
  readonly auditor: "group" | "ridge";
  /** Whether an update multiplies survival instead of adding to it. */
  readonly multiplicative: boolean;
  /**
   * What an update multiplies (group auditor): survival, as the reference does, by one factor for everyone, so that
   * raised curves of people at low risk are clipped at 1 and tie; or their cumulative hazards, S ← S^exp(η·a), where a
   * is the step that would bring the group's mean to where it should be: nobody is clipped, and ranks within a group
   * are kept.
   */
  readonly scale: "survival" | "hazard";
  /** Penalty of the ridge auditor. */
  readonly ridgePenalty: number;
  /**
   * Whose censoring curve weights a group's rows: that of all calibration rows, which assumes that censoring does not
   * depend on the group (a group followed for less time is pulled down), or the group's own (group auditor only), over
   * its own follow-up.
   */
  readonly censoring: "pooled" | "group";
  /**
   * What a correlation is a mean over: all rows, where those without an entry in the cell count as 0 (Kim et al.), or
   * only the rows with one. The latter, the reference's choice, spends its rounds on the sparsest cells: a planted gap
   * of .150 r.m.s. was still .137 after 200 rounds of 4 × 3 cells, and .035 over all rows (test/training/mcboost). With
   * one probability range the two are the same.
   */
  readonly correlateOver: "all" | "cell";
  /** Columns are audited up to the last one with this many rows followed past it. */
  readonly minimumFollowed: number;
  /**
   * Standard errors by which a group's mean residual is shrunk towards 0 (group auditor): a group is moved by the
   * excess beyond them and no further, so that endless rounds do not fit the calibration rows' noise. 0, as in the
   * reference, trusts every mean.
   */
  readonly doubt: number;
  /** MCBoostSurv as in its authors' program, in every detail. */
  readonly reference: boolean;
}

/** The reference's defaults where it has them, except for `correlateOver`; glmnet's s for the penalty. */
export const BOOST_DEFAULTS: BoostOptions = {
  rounds: 25,
  tolerance: 1e-4,
  step: 0.1,
  timeBuckets: 2,
  probabilityBuckets: 1,
  auditor: "group",
  multiplicative: true,
  scale: "survival",
  ridgePenalty: 0.01,
  censoring: "pooled",
  correlateOver: "all",
  minimumFollowed: MINIMUM_AT_RISK,
  doubt: 0,
  reference: false,
};

export function markMembers(group: BoostGroup, N: number): Uint8Array {
  const mask = new Uint8Array(N);
  for (let k = 0; k < group.rows.length; k++) {
    const row = group.rows[k];
    if (!(Number.isInteger(row) && row >= 0 && row < N)) {
      throw new InputError(`group "${group.name}" has a row outside 0…${N - 1}: ${row}`, {
        code: "group.rows",
      });
    }
    mask[row] = 1;
  }
  return mask;
}

export function checkGroups(groups: readonly BoostGroup[]): void {
  if (groups.length === 0) {
    throw new InputError("no groups to audit", {
      code: "group.none",
      hint: 'name at least one, e.g. everyone, or choose the "ridge" auditor',
    });
  }
  const names = new Set<string>();
  for (const { name } of groups) {
    if (names.has(name))
      throw new InputError(`two groups have the same name: "${name}"`, { code: "group.name" });
    names.add(name);
  }
}

export function requireFeatures(features: BoostFeatures | undefined, N: number): BoostFeatures {
  if (features === undefined) {
    throw new InputError('the "ridge" auditor needs features', { code: "features.missing" });
  }
  const { D, values } = features;
  if (features.N !== N || values.length !== N * D || D < 1) {
    throw new InputError(`features: ${values.length} values, ${features.N} × ${D}, for ${N} rows`, {
      code: "rows.mismatch",
    });
  }
  const bad = new Set<number>();
  for (let k = 0; k < values.length; k++) if (!Number.isFinite(values[k])) bad.add(Math.floor(k / D) + 1);
  if (bad.size > 0)
    throw new InputError(`features are not finite: ${nameRows([...bad])}`, { code: "value.nan" });
  return features;
}

export function checkSurvival(curves: Curves): void {
  const { N, T, survival } = curves;
  if (survival.length !== N * T) {
    throw new InputError(`survival: ${survival.length} values for ${N} rows and ${T} bins`, {
      code: "rows.mismatch",
    });
  }
  const bad = new Set<number>();
  for (let k = 0; k < survival.length; k++) {
    if (!(survival[k] >= 0 && survival[k] <= 1)) bad.add(Math.floor(k / T) + 1);
  }
  if (bad.size > 0)
    throw new InputError(`survival outside [0, 1]: ${nameRows([...bad])}`, { code: "survival.range" });
}

export function chooseOptions(options: Partial<BoostOptions>): BoostOptions {
  const reference = options.reference === true ? ({ correlateOver: "cell" } as const) : {};
  const settings: BoostOptions = { ...BOOST_DEFAULTS, ...reference, ...options };
  checkOptions(settings);
  return settings;
}

function checkOptions(settings: BoostOptions): void {
  const refuse = (name: string, value: unknown, hint?: string): never => {
    throw new InputError(`${name} cannot be ${value}`, {
      code: "option.invalid",
      ...present({ hint }),
    });
  };
  for (const name of ["rounds", "timeBuckets", "probabilityBuckets", "minimumFollowed"] as const) {
    const least = name === "rounds" ? 0 : 1;
    if (!(Number.isInteger(settings[name]) && settings[name] >= least)) {
      refuse(name, settings[name], `a whole number from ${least} on`);
    }
  }
  for (const name of ["tolerance", "step", "ridgePenalty", "doubt"] as const) {
    const valid = settings[name] >= 0 && settings[name] < Number.POSITIVE_INFINITY;
    if (!valid || (name === "step" && settings.step === 0)) refuse(name, settings[name]);
  }
  if (settings.auditor === "ridge" && settings.censoring === "group") {
    refuse("censoring", "group", "the ridge auditor has no groups");
  }
  if (settings.scale === "hazard" && (settings.auditor === "ridge" || settings.reference)) {
    refuse("scale", "hazard", "only the group auditor moves hazards");
  }
  if (settings.reference && settings.doubt > 0) refuse("doubt", settings.doubt, "the reference has none");
  if (settings.reference && settings.censoring === "group") {
    refuse("censoring", "group", "the reference pools it");
  }
  // Fault (c): with eval_fulldata = TRUE the reference multiplies by a variable it never defined, and stops.
  if (settings.reference && settings.correlateOver === "all") {
    refuse("correlateOver", "all", "the reference fails on it (eval_fulldata)");
  }
}

/** The group of this name among those of a table. */
export function findGroup(groups: readonly BoostGroup[], name: string): BoostGroup {
  const group = groups.find((given) => given.name === name);
  if (group !== undefined) return group;
  const have = groups.map((given) => given.name).join(", ") || "none";
  throw new InputError(`missing group: "${name}" (have ${have})`, {
    code: "group.missing",
    hint: "resolve the boost's groups on the table the curves belong to",
  });
}

/** Refuses curves that a boost of T bins cannot repair. */
export function checkRepaired(curves: Curves, T: number): void {
  if (T !== curves.T) {
    throw new InputError(`boost and curves are on different grids: ${T} and ${curves.T} bins`, {
      code: "grid.mismatch",
    });
  }
  checkSurvival(curves);
}

/** Whom a repair is of: groups, and whose rows are whose. */
export interface RepairedGroups {
  /** Everyone is a group only if given as one. */
  readonly groups: readonly BoostGroup[];
  /**
   * The person of each row, where people have several: a person's rows go to one fold, and errors are counted by
   * person.
   */
  readonly people?: People;
}

/** What is repaired: curves of either kind, the outcomes of their rows, and the groups. */
export interface RepairTask<Predicted extends Curves | CauseCurves, Observed extends BinnedOutcomes>
  extends RepairedGroups {
  readonly curves: Predicted; // [N,T] or [N,K,T]
  readonly outcomes: Observed; // [N]
}

/** A repair of survival curves. */
export interface BoostTask extends RepairedGroups {
  /** Predicted survival of each person at the end of every bin. */
  readonly curves: Curves; // [N,T]
  /** The bin in which each person had the event or was censored; first bins at risk and weights where there are any. */
  readonly outcomes: BinnedSingleCause; // [N]
}

/** A repair of incidences by cause. */
export interface CauseBoostTask extends RepairedGroups {
  /** Predicted incidence of each person and cause at the end of every bin. */
  readonly curves: CauseCurves; // [N,K,T]
  /** The bin in which each person had an event or was censored, and the cause; the rest as above. */
  readonly outcomes: BinnedCauses; // [N]
}

export const DEFAULT_FOLDS = 5;
/** A separate stream of the seed: folds share no draws with a model's split of the same seed. */
const FOLD_STREAM = 0xb005;
/** A fold with fewer rows says nothing. */
const FEWEST_FOLD_ROWS = 10;

/** Selects some rows of everything; members that are not among them leave their groups. */
export function pickTask(task: BoostTask, rows: Int32Array): BoostTask;
export function pickTask(task: CauseBoostTask, rows: Int32Array): CauseBoostTask;
export function pickTask<Predicted extends Curves | CauseCurves, Observed extends BinnedOutcomes>(
  task: RepairTask<Predicted, Observed>,
  rows: Int32Array,
): RepairTask<Predicted, Observed>;
export function pickTask(
  { curves, outcomes, groups, people }: RepairTask<Curves | CauseCurves, BinnedOutcomes>,
  rows: Int32Array,
): RepairTask<Curves | CauseCurves, BinnedOutcomes> {
  const place = new Int32Array(curves.N).fill(-1);
  rows.forEach((row, k) => {
    place[row] = k;
  });
  return {
    curves: pickCurves(curves, rows),
    outcomes: pickBinned(outcomes, rows),
    groups: groups.map((group) => ({
      ...group,
      rows: Int32Array.from(group.rows, (row) => place[row]).filter((k) => k >= 0),
    })),
    ...present({ people: people && pickPeople(people, rows) }),
  };
}

function pickCurves(curves: Curves | CauseCurves, rows: Int32Array): Curves | CauseCurves {
  const [values, each] =
    "incidence" in curves ? [curves.incidence, curves.K * curves.T] : [curves.survival, curves.T];
  const picked = new Float64Array(rows.length * each);
  rows.forEach((row, k) => {
    picked.set(values.subarray(row * each, (row + 1) * each), k * each);
  });
  return "incidence" in curves
    ? { ...curves, N: rows.length, incidence: picked }
    : { N: rows.length, T: curves.T, survival: picked };
}

/** One fold, and all rows outside it. */
export interface Fold {
  readonly inside: Int32Array;
  readonly outside: Int32Array;
}

/** How rows are cut into folds. */
export interface FoldOptions {
  readonly folds: number;
  readonly seed: number;
  /** Selects another cut with the same seed. */
  readonly repeat?: number;
  readonly people?: People;
}

/**
 * Deals events equally to the folds, as far as possible, those of each cause for themselves; with people, those with an
 * event in any of their rows.
 */
export function cutFolds(
  { event: any, cause }: BinnedOutcomes,
  { folds, seed, repeat = 0, people }: FoldOptions,
): Fold[] {
  if (!(Number.isInteger(folds) && folds >= 2)) {
    throw new InputError(`the number of folds is not a whole number from 2 up: ${folds}`, {
      code: "option.invalid",
    });
  }
  const event = cause ?? any;
  const had = people === undefined ? event : lastEvents(people, event);
  const N = had.length;
  if (N < folds * FEWEST_FOLD_ROWS) {
    const unit = people === undefined ? "rows" : "people";
    throw new InputError(`too few ${unit} to fit a boost on: ${N}`, {
      code: "rows.few",
      hint: `give at least ${folds * FEWEST_FOLD_ROWS}; groups worth repairing need hundreds`,
    });
  }
  const order = Int32Array.from(had, (_, unit) => unit);
  shuffle(order, createRandom(seed, FOLD_STREAM + repeat));
  const foldOf = new Uint8Array(N);
  let dealt = 0;
  const K = had.reduce((most, kind) => Math.max(most, kind), 1);
  for (const value of [...Array.from({ length: K }, (_, k) => k + 1), 0])
    for (const unit of order) if (had[unit] === value) foldOf[unit] = dealt++ % folds;
  const everyone = Int32Array.from(event, (_, row) => row);
  const foldOfRow = (row: number) => foldOf[people?.of[row] ?? row];
  return Array.from({ length: folds }, (_, fold) => ({
    inside: everyone.filter((row) => foldOfRow(row) === fold),
    outside: everyone.filter((row) => foldOfRow(row) !== fold),
  }));
}

/** The kind of each person's event, the last where there are several; 0 without one. */
function lastEvents({ count, of }: People, event: Uint8Array): Uint8Array {
  const kinds = new Uint8Array(count);
  for (let row = 0; row < of.length; row++) if (event[row] > 0) kinds[of[row]] = event[row];
  return kinds;
}
