/**
 * Whether groups depart from what a perfect model would show, early or late: for each group (and cause) several
 * statistics on the same draws (measure-draws.ts), each as −log of its approximate chance (null-scale.ts). A group's
 * surprise is the largest of its own. Its p is the rank of the observed surprise among those of the draws,
 * (1 + draws at least as large)/(1 + draws); its adjusted p allows for all groups by step-down: the largest surprise
 * is ranked among the largest of all groups in each draw, the next among the largest of the groups that are left
 * (Westfall and Young). Under a perfect model any group has adjusted p ≤ α in at most α of audits, whatever the
 * overlap of groups and however rough the approximation, since the observed is one more draw.
 */

/** One group's surprises by statistic: the observed first, then the draws. */
export interface Surprises {
  /** Equally long in every group. */
  readonly statistics: readonly Float64Array[]; // [1 + draws] each
}

/** How surprising a group is, by itself and among all. */
export interface RankedDeparture {
  /** The rank of the group's largest surprise. */
  readonly p: number;
  /** The same, allowing for all groups. */
  readonly adjustedP: number;
  /** The rank of each statistic by itself. */
  readonly own: readonly number[];
  /** Which of them is the most surprising. */
  readonly largest: number;
}

/** Ranks all groups together; null stands for a group that is not judged, and is not counted. */
export function rankDepartures(groups: readonly (Surprises | null)[]): readonly (RankedDeparture | null)[] {
  const joint = groups.map((one) => (one === null ? null : largestOf(one)));
  const adjusted = stepDown(joint);
  return groups.map((one, g) => {
    const own = joint[g];
    if (one === null || own === null) return null;
    const observed = one.statistics.map((values) => values[0]);
    return {
      p: rankFirst(own),
      adjustedP: adjusted[g],
      own: one.statistics.map(rankFirst),
      largest: observed.indexOf(Math.max(...observed)),
    };
  });
}

function largestOf({ statistics }: Surprises): Float64Array {
  const joint = Float64Array.from(statistics[0]);
  for (const values of statistics.slice(1))
    for (let k = 0; k < joint.length; k++) if (values[k] > joint[k]) joint[k] = values[k];
  return joint;
}

/** (1 + draws at least as large as the observed)/(1 + draws). */
export function rankFirst(values: Float64Array): number {
  let reached = 1;
  for (let k = 1; k < values.length; k++) if (values[k] >= values[0]) reached++;
  return reached / values.length;
}

/** Adjusted p-values by step-down; NaN for a group that is not judged. */
function stepDown(joint: readonly (Float64Array | null)[]): readonly number[] {
  const judged = joint.flatMap((values, g) => (values === null ? [] : [{ values, g }]));
  // The least surprising first: what is left when it is judged grows from its own to all.
  judged.sort((a, b) => a.values[0] - b.values[0] || b.g - a.g);
  const largest = new Float64Array(judged[0]?.values.length ?? 0).fill(Number.NEGATIVE_INFINITY);
  const raw = judged.map(({ values }) => {
    for (let k = 0; k < largest.length; k++) if (values[k] > largest[k]) largest[k] = values[k];
    return rankFirst(largest);
  });
  const adjusted = new Array<number>(joint.length).fill(Number.NaN);
  let before = 0;
  for (let k = judged.length - 1; k >= 0; k--) {
    before = Math.max(before, raw[k]);
    adjusted[judged[k].g] = before;
  }
  return adjusted;
}
