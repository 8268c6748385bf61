/**
 * How large a calibration error of each cause a perfect model would show on rows like these by chance alone: the
 * rows' predicted incidences stay, outcomes and causes are drawn from them (calibration/drawn-outcomes.ts), and the
 * group's mean incidence is scored against the Aalen-Johansen curve of every draw, over the bins that have support
 * among the observed rows. The error is the expected calibration error, by tenths of mean predicted incidence. Mean
 * over the draws: the floor; 95 % point: the critical value; the rank of the observed error: p. Over groups and
 * causes together, the largest standardised error is compared with that of the same draws, as
 * calibration/noise-floor.ts does over groups. Rows of one person are drawn with the same numbers. Under late entry
 * there is no floor.
 */
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import type { CauseCurves } from "../../data/curves/cause-curves.ts";
import type { People } from "../../data/outcomes/people.ts";
import type { BinnedOutcomesInput } from "../../data/plain-input.ts";
import { openMeter } from "../calibration/cell-meter.ts";
import { drawnTable, drawOutcomes } from "../calibration/drawn-outcomes.ts";
import { createValues, measureCurves } from "../calibration/measure-draws.ts";
import {
  checkDraws,
  DEFAULT_DRAWS,
  type MetricNoise,
  rankObserved,
  rankTogether,
} from "../calibration/noise-floor.ts";
import { type BinnedCauses, LATE_ENTRY, matchCauses } from "./binned-causes.ts";

/** Draws, seed, and whose rows are whose. */
export interface CauseNoiseOptions {
  /** Draws of outcomes; 200 unless given. */
  readonly draws?: number;
  /** Seed of the draws. */
  readonly seed: number;
  /** The person of each row; rows of one person are drawn with the same numbers. */
  readonly people?: People;
  /** Rows of the table that are drawn, and all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** The floor of one cause in one group. */
export interface CauseNoise {
  readonly noise: Measured<MetricNoise>;
  /** Adjusted for all groups and causes: how often the largest standardised error of any of them reaches this one. */
  readonly adjustedP: Measured;
}

/** Floors by cause, and for each cause by group, all of the same draws. */
export interface CauseNoiseFloor {
  readonly draws: number;
  readonly seed: number;
  /** The smallest adjusted p-value. */
  readonly p: Measured;
  readonly causes: readonly (readonly CauseNoise[])[]; // [K][G]
}

/** The floors of groups that may overlap; `rows` are 0-based. */
export function causeNoiseFloor(
  curves: CauseCurves,
  observed: BinnedOutcomesInput,
  groups: readonly { readonly rows: ArrayLike<number> }[],
  options: CauseNoiseOptions,
): CauseNoiseFloor {
  const { draws = DEFAULT_DRAWS, seed } = options;
  checkDraws(draws);
  const outcomes = matchCauses(curves, observed);
  const { K } = curves;
  const rowsOf = groups.map(({ rows }) => rows);
  const errors = measureErrors(curves, outcomes, rowsOf, { ...options, draws });
  const ranked = rankTogether(errors.flat(), draws);
  const causes = Array.from({ length: K }, (_, k) =>
    groups.map((_group, g): CauseNoise => {
      const own = errors[g][k];
      return {
        noise: isAbsent(own) ? own : rankObserved(own),
        adjustedP: ranked.groups[g * K + k].adjustedP,
      };
    }),
  );
  return { draws, seed, p: ranked.p, causes };
}

/** Observed error first, then one per draw: by group, then cause. */
function measureErrors(
  curves: CauseCurves,
  outcomes: BinnedCauses,
  groups: readonly ArrayLike<number>[],
  options: CauseNoiseOptions & { readonly draws: number },
): readonly (readonly Measured<Float64Array>[])[] {
  const { K } = curves;
  if (outcomes.firstBin !== undefined)
    return groups.map(() => Array.from({ length: K }, () => absent(LATE_ENTRY)));
  const { draws } = options;
  const table = drawnTable(curves, outcomes);
  const drawn = drawOutcomes(table, groups, options);
  return groups.map((rows, g) => {
    const meter = openMeter(table, rows, []);
    const values = Array.from({ length: K }, () => createValues(1 + draws));
    measureCurves(drawn[g], meter, { values, first: 0, from: 0, draws: 1 + draws });
    return values.map(({ ece }, k) => {
      const reason = meter.without(k, "ece");
      return reason === null ? ece : absent(reason);
    });
  });
}
