/**
 * The curve that a group would have if the model were told of it: the network below with an offset for the group in
 * each time block, under which as many members have the event as were seen to. A group that the model may not see is
 * held to this curve beside its at-risk distance. That distance counts a block by the events expected in it; so most of
 * it can be gone while late hazards, which few are left to show, are still off, and with them the mean curve at the
 * end. Unlike Kaplan-Meier's curve this one is right where censoring depends on the features. Neither is pressed below
 * its slack.
 */
import { exp } from "../../../core/elementary.ts";
import { present } from "../../../core/present.ts";
import type { ConstraintGroup } from "../../../objectives/constraints.ts";
import { sumWeights } from "../../../objectives/curves.ts";
import { DISTANCES } from "../../../objectives/distances/list.ts";
import { observeCurve } from "../../../objectives/observed-curve.ts";
import type { TimeBlock } from "../../../objectives/time-blocks.ts";
import type { SolveRows } from "../layout.ts";
import type { HeldCurve } from "./curve-constraints.ts";

/** Precision of an offset: a block without events has a hazard all the same. */
const OFFSET_PRECISION = 1;
const MOST_STEPS = 50;
const SETTLED = 1e-9;

/** Constraints of the groups in `which`; the rows have logits in every bin. */
export function holdToToldCurve(
  groups: readonly ConstraintGroup[],
  which: readonly number[],
  rows: Pick<SolveRows, "bin" | "event" | "logits" | "first" | "firstBin" | "weight">,
  blocks: readonly TimeBlock[],
): HeldCurve[] {
  // The mean curve of people who entered late is not that of anyone's whole time: events at risk alone are held.
  if (rows.firstBin !== undefined) return [];
  const { bin: bins, event, weight } = rows;
  // Of the cause's own hazard: others end the follow-up.
  const own = { bin: bins, event, ...present({ weight }) };
  return which.flatMap((g): HeldCurve[] => {
    const group = groups[g];
    if (!group.constrained) return [];
    const target = drawToldCurve(group, rows, blocks);
    const { bins } = group;
    const share = 1 / Math.sqrt(bins);
    const residuals = Array.from({ length: bins }, (_, bin) => ({
      weights: [{ bin, weight: share }],
      target: share * target[bin],
    }));
    // Closer than this, the curve's own noise would be fitted: of weighted people the robust one.
    const seen = weight === undefined ? group : { ...group, ...observeCurve(group.km, own, group.rows) };
    const slack = DISTANCES.l2.automaticSlack(seen, "default", DISTANCES.l2.defaults.kappa);
    const term = { rows: group.rows, residuals, isConstraint: true, ...present({ weight }) };
    return [{ term, group: g, slack, isTarget: false }];
  });
}

/** S(1) … S(T); people count by their weights, as in what was observed. */
export function drawToldCurve(
  { rows: members, observed }: Pick<ConstraintGroup, "rows" | "observed">,
  { bin, logits, first, weight }: Pick<SolveRows, "bin" | "logits" | "first" | "weight">,
  blocks: readonly TimeBlock[],
): Float64Array {
  const T = blocks[blocks.length - 1].last;
  const mean = new Float64Array(T);
  const alive = new Float64Array(members.length).fill(1);
  const total = sumWeights(weight, members);
  blocks.forEach(({ first: from, last }, b) => {
    const offset = findOffset(observed[b], (add) => {
      let [expected, slope] = [0, 0];
      for (const n of members) {
        const own = weight?.[n] ?? 1;
        for (let t = from; t <= Math.min(last, bin[n]); t++) {
          const h = 1 / (1 + exp(-(logits[first[n] + t - 1] + add)));
          expected += own * h;
          slope += own * (h * (1 - h));
        }
      }
      return { expected, slope };
    });
    members.forEach((n, k) => {
      const own = weight?.[n] ?? 1;
      for (let t = from; t <= last; t++) {
        alive[k] *= 1 / (1 + exp(logits[first[n] + t - 1] + offset));
        mean[t - 1] += (own * alive[k]) / total;
      }
    });
  });
  return mean;
}

/** Where expected(δ) + precision·δ, which rises with δ, is what was observed: Newton between bounds. */
function findOffset(
  observed: number,
  expect: (offset: number) => { readonly expected: number; readonly slope: number },
): number {
  let [low, high] = [-30, 30];
  let offset = 0;
  for (let step = 0; step < MOST_STEPS; step++) {
    const { expected, slope } = expect(offset);
    const excess = expected + OFFSET_PRECISION * offset - observed;
    if (excess > 0) high = offset;
    else low = offset;
    const next = offset - excess / (slope + OFFSET_PRECISION);
    const inside = next > low && next < high ? next : (low + high) / 2;
    if (Math.abs(inside - offset) < SETTLED) return inside;
    offset = inside;
  }
  return offset;
}
