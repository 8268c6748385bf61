/**
 * The Lagrangian of a run under constraints: slack, multipliers, and the statistics of every training row's last curve.
 * Batches go through `addLagrangianGradient`, which replaces their rows in the cache and adds the gradient of the
 * Lagrangian's term to their dLogits. A whole pass over the rows (`refill`) refreshes the cache and, with risk strata,
 * recuts the groups by the model's own risk, carrying multipliers over by group and stratum. `takeDualStep` uses
 * whatever statistics are cached.
 */

import type { Floats } from "../../compute/backend.ts";
import { FormatError, InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import { type Constraints, type NamedRows, prepareConstraints } from "../../objectives/constraints.ts";
import type { CurveWorkspace } from "../../objectives/curves.ts";
import { createCurveWorkspace } from "../../objectives/curves.ts";
import { distanceGradients, measureDistances } from "../../objectives/distances.ts";
import {
  backThroughStatistics,
  createStatisticsCache,
  emptyCache,
  readStatistics,
  regroupCache,
  replaceRows,
  type StatisticsCache,
} from "../../objectives/group-statistics.ts";
import { resolveSlack, type SlackSpecification } from "../../objectives/slack.ts";
import { buildStrata, carryMultipliers, measureRisks, type StratumCell } from "../../objectives/strata.ts";
import type { ConstraintSpec, DualSpec } from "../options.ts";
import { distanceWeights, lagrangianTerm, nextMultipliers, scaleToRows, startMultipliers } from "./dual.ts";

/** Plain data: the part that a checkpoint keeps. */
export interface LagrangianState {
  readonly multipliers: readonly number[];
  /** The cells that the multipliers belong to when groups are cut into strata: their indices, not their rows. */
  readonly cells: readonly Omit<StratumCell, "rows">[] | null;
}

/** Distance and multiplier of each group. */
export interface GroupState {
  readonly distances: readonly number[]; // [G]
  readonly multipliers: readonly number[]; // [G]
}

export interface Lagrangian {
  readonly constraints: Constraints;
  readonly slack: Float64Array; // [G]
  readonly multipliers: Float64Array; // [G]
  /** For the groups as named, whether or not they are cut into cells. */
  readonly groupSlack: Readonly<Record<string, number>>;
  /** Distances at the cached curves. */
  distances(): Float64Array; // [G]
  /** Each named group at the cached curves; for a group cut into cells, the cell furthest from its slack. */
  groupState(): GroupState;
  /**
   * Replaces the cached curves of these rows, adds the gradient of the Lagrangian's term to their dLogits, and returns
   * the term.
   */
  addLagrangianGradient(curves: CurveWorkspace, rows: Int32Array, dLogits: Floats): number;
  /** Begins a pass over all rows; call `take` once per part, then `finish`. */
  refill(): { take(curves: CurveWorkspace, rows: Int32Array): void; finish(): void };
  /** The dual step at the cached curves. */
  takeDualStep(step: number): void;
  state(): LagrangianState;
  restore(state: LagrangianState): void;
}

export interface LagrangianOptions {
  readonly constraint: ConstraintSpec;
  readonly dual: DualSpec;
  readonly binned: BinnedSingleCause;
  readonly groups: readonly NamedRows[];
  readonly seed: number;
  /** How many people the rows are, where a person has one for each cause; as many as rows unless given. */
  readonly people?: number;
  /**
   * Whether every step takes all rows, with the cache refilled before it: then the rows' own terms need not be kept.
   */
  readonly whole?: boolean;
  /** Memory for what is kept of every row; plain unless given. */
  readonly allocate?: (length: number) => Float64Array;
}

export function createLagrangian(options: LagrangianOptions): Lagrangian {
  const { constraint: spec, binned, groups } = options;
  const dual = scaleToRows(options.dual, options.people ?? binned.bin.length);
  requireGroups(groups);
  const { distance, variant, strata } = spec;
  const N = binned.bin.length;
  const kappa = present({ kappa: spec.kappa });
  let constraints = prepareConstraints({ binned, groups, distance, variant });
  let slack = resolveSlack(constraints, spec.slack, kappa);
  const groupSlack = Object.fromEntries(groups.map(({ name }, g) => [name, slack[g]]));
  let multipliers = startMultipliers(dual, constraints.groups, options.seed);
  // Recutting groups into strata sums the rows' terms again.
  const keepsTerms = options.whole !== true || strata > 1;
  let cache: StatisticsCache = createStatisticsCache(constraints, keepsTerms, options.allocate);
  let cells: readonly Omit<StratumCell, "rows">[] | null = null;

  const distances = () => measureDistances(constraints, readStatistics(constraints, cache));

  function cutByRisk(curves: CurveWorkspace): void {
    const cut = buildStrata(measureRisks(curves, binned), groups, { K: strata });
    const { blocks } = constraints;
    constraints = prepareConstraints({ binned, groups: cut, distance, variant, blocks });
    slack = resolveSlack(constraints, slackOfCells(spec.slack, cut), kappa);
    const before =
      cells ?? groups.map(({ name }) => ({ name, group: name, first: 1, last: strata, expectedEvents: 0 }));
    multipliers = carryMultipliers(before as readonly StratumCell[], multipliers, cut);
    cells = cut.map(({ rows: _, ...place }) => place);
    cache = regroupCache(constraints, cache);
  }

  return {
    get constraints() {
      return constraints;
    },
    get slack() {
      return slack;
    },
    get multipliers() {
      return multipliers;
    },
    groupSlack,
    distances,
    groupState() {
      const now = distances();
      const state = { distances: Array.from(now), multipliers: Array.from(multipliers) };
      return cells === null ? state : pickCells(state, findWorstCells(groups, cells, now, slack));
    },
    addLagrangianGradient(curves, rows, dLogits) {
      if (keepsTerms) replaceRows(constraints, cache, curves, rows);
      const statistics = readStatistics(constraints, cache);
      const now = measureDistances(constraints, statistics);
      const weights = distanceWeights(dual, multipliers, now, slack);
      const gradient = distanceGradients(constraints, statistics, weights);
      backThroughStatistics(constraints, gradient, curves, rows, dLogits, 1);
      return lagrangianTerm(dual, multipliers, now, slack);
    },
    refill() {
      emptyCache(cache);
      const all = strata > 1 ? createCurveWorkspace(N, binned.T) : null;
      return {
        take(curves, rows) {
          replaceRows(constraints, cache, curves, rows);
          if (all !== null) copyCurves(curves, rows, binned.T, all);
        },
        finish() {
          if (all !== null) cutByRisk(all);
        },
      };
    },
    takeDualStep(step) {
      multipliers = nextMultipliers(dual, constraints.groups, multipliers, distances(), slack, step);
    },
    state: () => ({ multipliers: Array.from(multipliers), cells }),
    restore(state) {
      checkGroups(state, groups.length);
      multipliers = Float64Array.from(state.multipliers);
      cells = state.cells;
    },
  };
}

function requireGroups(groups: readonly NamedRows[]): void {
  if (groups.length > 0) return;
  throw new InputError("no groups to constrain", {
    code: "groups.none",
    hint: "name a group, or drop the constraint",
  });
}

function checkGroups({ cells, multipliers }: LagrangianState, groups: number): void {
  if (cells !== null || multipliers.length === groups) return;
  throw new FormatError(
    `the checkpoint has multipliers of ${multipliers.length} groups, the run has ${groups}`,
    { code: "checkpoint.groups" },
  );
}

/** For each group, the cell furthest from its slack; −1 for a group without cells. */
function findWorstCells(
  groups: readonly NamedRows[],
  cells: readonly Omit<StratumCell, "rows">[],
  distances: Float64Array, // [cells]
  slack: Float64Array, // [cells]
): number[] {
  const excess = (k: number) => distances[k] / slack[k];
  return groups.map(({ name }) =>
    cells.reduce(
      (found, { group }, k) => (group === name && (found < 0 || excess(k) > excess(found)) ? k : found),
      -1,
    ),
  );
}

function pickCells({ distances, multipliers }: GroupState, cells: readonly number[]): GroupState {
  return {
    distances: cells.map((k) => distances[k] ?? 0),
    multipliers: cells.map((k) => multipliers[k] ?? 0),
  };
}

/** Row k of `from` becomes row rows[k] of `to`. */
function copyCurves(from: CurveWorkspace, rows: Int32Array, T: number, to: CurveWorkspace): void {
  rows.forEach((row, k) => {
    to.survival.set(from.survival.subarray(k * T, (k + 1) * T), row * T);
    to.hazard.set(from.hazard.subarray(k * T, (k + 1) * T), row * T);
  });
}

/** A slack given by group name applies to each of the group's cells. */
function slackOfCells(slack: SlackSpecification, cells: readonly StratumCell[]): SlackSpecification {
  if (typeof slack !== "object") return slack;
  const named = cells.filter(({ group }) => Object.hasOwn(slack, group));
  return Object.fromEntries(named.map(({ name, group }) => [name, slack[group]]));
}
