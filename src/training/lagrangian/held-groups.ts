/**
 * The groups a run is held to, as they stand: constraints, slack, multipliers, and the statistics of every training row's last curve.
 * Batches go through `press`, which replaces their rows in the cache and adds the Lagrangian's gradient to their dLogits; a whole
 * pass over the rows (`refill`) renews the cache and, with risk strata, cuts the groups anew by the model's own risk,
 * carrying multipliers over by group and stratum. The dual step is taken on whatever statistics stand then.
 */
import type { Floats } from "../../compute/backend.ts";
import { FormatError, InputError } from "../../core/errors.ts";
import type { BinnedRightCensored } from "../../data/outcomes/outcomes.ts";
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
import { ascend, lagrangianTerm, pressureOf, scaleToRows, startMultipliers } from "./dual.ts";

/** Plain data: what a checkpoint keeps of them. */
export interface HeldState {
  readonly multipliers: readonly number[];
  /** The cells the multipliers belong to, where groups are cut into strata: their places, not their rows. */
  readonly cells: readonly Omit<StratumCell, "rows">[] | null;
}

export interface Standing {
  readonly distances: readonly number[]; // [G]
  readonly multipliers: readonly number[]; // [G]
}

export interface HeldGroups {
  readonly constraints: Constraints;
  readonly slack: Float64Array; // [G]
  readonly multipliers: Float64Array; // [G]
  /** Of the groups as they were named, whether or not they are cut into cells. */
  readonly groupSlack: Readonly<Record<string, number>>;
  /** Distances at the cached curves. */
  distances(): Float64Array; // [G]
  /** How each group as it was named stands at the cached curves; of a group cut into cells, the one furthest from its slack. */
  standing(): Standing;
  /** The Lagrangian's part beyond the loss at the cached curves, after these rows' are replaced; adds its gradient to dLogits. */
  press(curves: CurveWorkspace, rows: Int32Array, dLogits: Floats): number;
  /** Begins a pass over all rows; `take` every part once, then `finish`. */
  refill(): { take(curves: CurveWorkspace, rows: Int32Array): void; finish(): void };
  /** The dual step at the cached curves. */
  raise(step: number): void;
  state(): HeldState;
  restore(state: HeldState): void;
}

export interface HeldGroupsOptions {
  readonly constraint: ConstraintSpec;
  readonly dual: DualSpec;
  readonly binned: BinnedRightCensored;
  readonly groups: readonly NamedRows[];
  readonly seed: number;
  /** Whether every step takes all rows, the cache being refilled before it: then rows' own terms need not be kept. */
  readonly whole?: boolean;
}

export function holdGroups(options: HeldGroupsOptions): HeldGroups {
  const { constraint: spec, binned, groups } = options;
  const dual = scaleToRows(options.dual, binned.bin.length);
  if (groups.length === 0) {
    throw new InputError("no groups to constrain", {
      code: "groups.none",
      hint: "name a group, or drop the constraint",
    });
  }
  const { kind, variant, strata } = spec;
  const N = binned.bin.length;
  const kappa = spec.kappa === undefined ? {} : { kappa: spec.kappa };
  let constraints = prepareConstraints({ binned, groups, kind, variant });
  let slack = resolveSlack(constraints, spec.slack, kappa);
  const groupSlack = Object.fromEntries(groups.map(({ name }, g) => [name, slack[g]]));
  let multipliers = startMultipliers(dual, constraints.groups, options.seed);
  // Cutting groups into strata anew sums the rows' terms again.
  const keepsTerms = options.whole !== true || strata > 1;
  let cache: StatisticsCache = createStatisticsCache(constraints, keepsTerms);
  let cells: readonly Omit<StratumCell, "rows">[] | null = null;

  const distances = () => measureDistances(constraints, readStatistics(constraints, cache));

  function cutByRisk(curves: CurveWorkspace): void {
    const cut = buildStrata(measureRisks(curves, binned), groups, { K: strata });
    const { blocks } = constraints;
    constraints = prepareConstraints({ binned, groups: cut, kind, variant, blocks });
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
    standing() {
      const now = distances();
      if (cells === null) return { distances: Array.from(now), multipliers: Array.from(multipliers) };
      const worst = groups.map(({ name }) =>
        (cells ?? []).reduce(
          (found, { group }, k) =>
            group === name && (found < 0 || now[k] / slack[k] > now[found] / slack[found]) ? k : found,
          -1,
        ),
      );
      return {
        distances: worst.map((k) => now[k] ?? 0),
        multipliers: worst.map((k) => multipliers[k] ?? 0),
      };
    },
    press(curves, rows, dLogits) {
      if (keepsTerms) replaceRows(constraints, cache, curves, rows);
      const statistics = readStatistics(constraints, cache);
      const now = measureDistances(constraints, statistics);
      const gradient = distanceGradients(constraints, statistics, pressureOf(dual, multipliers, now, slack));
      backThroughStatistics(constraints, gradient, curves, rows, dLogits, 1);
      return lagrangianTerm(dual, multipliers, now, slack);
    },
    refill() {
      emptyCache(cache);
      const { T } = binned;
      const all = strata > 1 ? createCurveWorkspace(N, T) : null;
      return {
        take(curves, rows) {
          replaceRows(constraints, cache, curves, rows);
          if (all === null) return;
          rows.forEach((row, k) => {
            all.survival.set(curves.survival.subarray(k * T, (k + 1) * T), row * T);
            all.hazard.set(curves.hazard.subarray(k * T, (k + 1) * T), row * T);
          });
        },
        finish() {
          if (all !== null) cutByRisk(all);
        },
      };
    },
    raise(step) {
      multipliers = ascend(dual, constraints.groups, multipliers, distances(), slack, step);
    },
    state: () => ({ multipliers: Array.from(multipliers), cells }),
    restore(state) {
      if (state.cells === null && state.multipliers.length !== groups.length) {
        throw new FormatError(
          `the checkpoint has multipliers of ${state.multipliers.length} groups, the run has ${groups.length}`,
          { code: "checkpoint.groups" },
        );
      }
      multipliers = Float64Array.from(state.multipliers);
      cells = state.cells;
    },
  };
}

/** A table by group name holds for each of the group's cells. */
function slackOfCells(slack: SlackSpecification, cells: readonly StratumCell[]): SlackSpecification {
  if (typeof slack !== "object") return slack;
  const named = cells.filter(({ group }) => Object.hasOwn(slack, group));
  return Object.fromEntries(named.map(({ name, group }) => [name, slack[group]]));
}
