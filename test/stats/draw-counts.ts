/** The draws of drawn-outcomes.ts with their counts taken apart: by cause, and those censored. */
import type { CauseCurves } from "../../src/data/curves/cause-curves.ts";
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedOutcomes } from "../../src/data/outcomes/outcomes.ts";
import { type DrawOptions, drawnTable, drawOutcomes } from "../../src/stats/calibration/drawn-outcomes.ts";

export interface DrawCounts {
  /** Of the first cause. */
  readonly events: Float64Array; // [1 + draws, T+1]
  /** By cause. */
  readonly byCause: readonly Float64Array[];
  readonly censored: Float64Array; // [1 + draws, T+1]
  readonly expected: Float64Array; // [1 + draws]
  readonly variance: Float64Array; // [1 + draws]
}

export function drawCounts(
  curves: Curves | CauseCurves,
  outcomes: BinnedOutcomes,
  groups: readonly ArrayLike<number>[],
  options: DrawOptions,
): readonly DrawCounts[] {
  const table = drawnTable(curves, outcomes);
  const width = table.T + 1;
  const drawn = drawOutcomes(table, groups, { knots: [table.T], ...options });
  return drawn.map(({ counts, expected, variance }) => {
    const part = (k: number) =>
      Float64Array.from({ length: (1 + options.draws) * width }, (_, at) => {
        const draw = Math.floor(at / width);
        return counts[(draw * (table.K + 1) + k) * width + (at % width)];
      });
    const byCause = Array.from({ length: table.K }, (_, k) => part(k));
    return { events: byCause[0], byCause, censored: part(table.K), expected, variance };
  });
}
