// Loss, distances and their gradient at given logits on a graphics device, held to the float64 formulas of objectives/
// within the contract's tolerance: one to three kinds of event, late entry, weights, a bin or several for each thread,
// logits far from 0. Distances of mean incidences are held to the definition, and their gradient to its differences.
import { afterAll, describe, expect, test } from "vitest";
import { present } from "../../src/core/present.ts";
import type { DeviceGroups } from "../../src/compute/device-training.ts";
import { createRandom } from "../../src/core/random.ts";
import { type BinnedOutcomes, requireSingleCause } from "../../src/data/outcomes/outcomes.ts";
import { openWebGpuBackend } from "../../src/node/workers/webgpu-backend.ts";
import {
  backThroughConditional,
  fillCauseCurves,
  incidenceCurves,
} from "../../src/objectives/causes/cause-curves.ts";
import { causeLikelihood } from "../../src/objectives/causes/cause-likelihood.ts";
import type { Constraints } from "../../src/objectives/constraints.ts";
import { createCurveWorkspace } from "../../src/objectives/curves.ts";
import { distanceGradients, groupDistances, measureDistances } from "../../src/objectives/distances.ts";
import { backThroughStatistics, measureStatistics } from "../../src/objectives/group-statistics.ts";
import { discreteLikelihood } from "../../src/objectives/likelihood.ts";
import { groupsOf } from "../../src/training/device/device-settings.ts";
import { createLagrangian } from "../../src/training/lagrangian/lagrangian.ts";
import type { DualSpec } from "../../src/training/options.ts";
import { seeRows } from "../../src/training/rows/cause-view.ts";
import { findDevice } from "../compute/webgpu-device.ts";

const device = await findDevice();
const opened = "missing" in device ? null : await openWebGpuBackend();
if ("missing" in device) console.log(`losses on a device are skipped: ${device.missing}`);
afterAll(() => opened?.close());

const TOLERANCE = 2e-5;
/** Of differences. */
const STEP = 1e-5;
const DUAL: DualSpec = { form: "ascent", rate: 0.1, start: "uniform" };

interface Asked {
  readonly N: number;
  readonly T: number;
  readonly K: number;
  readonly entry?: boolean;
  readonly weights?: boolean;
  /** Of the logits; rows differ by it. */
  readonly spread: number;
}

function drawRows({ N, T, K, entry = false, weights = false, spread }: Asked) {
  const random = createRandom(5, N + T + K);
  const bin = Int32Array.from({ length: N }, () => 1 + random.integer(T));
  const event = Uint8Array.from({ length: N }, () => Number(random.uniform() < 0.7));
  const binned: BinnedOutcomes = {
    T,
    bin,
    event,
    ...present({
      cause: K > 1 ? event.map((one) => one * (1 + random.integer(K))) : undefined,
      firstBin: entry ? bin.map((last) => 1 + random.integer(last + 1)) : undefined,
      weight: weights ? Float64Array.from(bin, () => 0.2 + 2 * random.uniform()) : undefined,
    }),
  };
  const all = Int32Array.from({ length: N }, (_, row) => row);
  const groups = [
    { name: "all", rows: all },
    { name: "half", rows: all.filter(() => random.uniform() < 0.5) },
    { name: "fifth", rows: all.filter(() => random.uniform() < 0.2) },
  ];
  const logits = Float32Array.from({ length: N * K * T }, () => spread * random.normal() - 2);
  return { binned, groups, logits };
}

type Drawn = ReturnType<typeof drawRows>;

/** Lagrangian multipliers, and what the device gives of these logits. */
async function measureOnDevice(
  { T, K }: Asked,
  { binned, logits }: Drawn,
  groups: DeviceGroups,
  multipliers: Float64Array,
) {
  if (opened?.training === undefined) throw new Error("the device cannot keep a step to itself");
  const loss = opened.training.openLoss({
    T,
    K,
    bin: binned.bin,
    event: binned.cause ?? binned.event,
    first: binned.firstBin,
    weight: binned.weight,
    objective: { kind: "likelihood", tail: false },
    groups,
    entries: 1,
  });
  opened.write(loss.logits, logits);
  loss.writeMultipliers(multipliers);
  loss.measure(0, false);
  loss.differentiate();
  const [entry] = await loss.readLog(0, 1);
  const dLogits = await opened.read(loss.dLogits);
  loss.release();
  return { ...entry, dLogits };
}

function constrain({ N, K }: Asked, { binned, groups }: Drawn, distance: "atRisk" | "l2" | "variance") {
  const causes = K > 1 ? ["a", "b", "c"].slice(0, K) : undefined;
  return createLagrangian({
    constraint: { distance, variant: "paper", slack: 0.5, strata: 1 },
    dual: DUAL,
    ...seeRows({ binned, groups, ...present({ causes }) }),
    people: N,
    seed: 1,
  });
}

/** The float64 truth: loss, distances, dLogits. */
function measureTruth(
  { K, T, N }: Asked,
  binned: BinnedOutcomes,
  given: Float32Array,
  constraints: Constraints,
  multipliers: Float64Array,
) {
  const logits = Float64Array.from(given);
  const dLogits = new Float64Array(logits.length);
  const curves = createCurveWorkspace(N * K, T);
  if (K === 1) {
    const plain = requireSingleCause(binned, "a test");
    const loss = discreteLikelihood(logits, plain, { tail: false }, dLogits, 1);
    return { loss, distances: groupDistances(constraints, logits, multipliers, curves, dLogits, 1), dLogits };
  }
  const loss = causeLikelihood(logits, binned, K, dLogits, 1);
  fillCauseCurves(logits, { N, K, T }, curves);
  const statistics = measureStatistics(constraints, curves);
  const dConditional = new Float64Array(N * K * T);
  const gradient = distanceGradients(constraints, statistics, multipliers);
  backThroughStatistics(constraints, gradient, curves, null, dConditional, 1);
  backThroughConditional(curves.hazard, dConditional, { N, K, T }, dLogits);
  return { loss, distances: measureDistances(constraints, statistics), dLogits };
}

function expectNear(actual: ArrayLike<number>, wanted: ArrayLike<number>): void {
  expect(actual.length).toBe(wanted.length);
  const scale = Math.max(...Array.from(wanted, Math.abs));
  let largest = 0;
  for (let k = 0; k < wanted.length; k++) largest = Math.max(largest, Math.abs(actual[k] - wanted[k]));
  expect(largest).toBeLessThanOrEqual(TOLERANCE * scale);
}

describe.skipIf(opened === null)("loss and distances on the device", () => {
  test.each<Asked>([
    { N: 90, T: 9, K: 1, entry: true, weights: true, spread: 1 },
    { N: 90, T: 9, K: 1, weights: true, spread: 3 },
    { N: 90, T: 9, K: 2, spread: 1 },
    { N: 70, T: 9, K: 2, entry: true, weights: true, spread: 6 },
    { N: 130, T: 9, K: 3, entry: true, spread: 1 },
    { N: 40, T: 1, K: 3, weights: true, spread: 1 },
    { N: 40, T: 200, K: 2, entry: true, weights: true, spread: 2 },
  ])("$N rows, $T bins, $K kinds of event, logits spread by $spread", async (asked) => {
    const drawn = drawRows(asked);
    const lagrangian = constrain(asked, drawn, "atRisk");
    const { constraints, multipliers } = lagrangian;
    const own = await measureOnDevice(asked, drawn, groupsOf(lagrangian, DUAL), multipliers);
    const wanted = measureTruth(asked, drawn.binned, drawn.logits, constraints, multipliers);
    expectNear([own.loss], [wanted.loss]);
    expectNear(own.distances, wanted.distances);
    expectNear(own.dLogits, wanted.dLogits);
  });

  test.each<Asked & { readonly distance: "l2" | "variance" }>([
    { N: 30, T: 9, K: 2, spread: 1, distance: "l2" },
    { N: 20, T: 7, K: 3, spread: 3, distance: "l2" },
    { N: 6, T: 130, K: 2, spread: 1, distance: "l2" },
    { N: 30, T: 9, K: 2, spread: 2, distance: "variance" },
  ])("$distance of mean incidences of $K causes, $N rows, $T bins", async ({ distance, ...asked }) => {
    const drawn = drawRows(asked);
    const lagrangian = constrain(asked, drawn, distance);
    // Next to the likelihood the groups' pull would be lost in the comparison.
    const multipliers = lagrangian.multipliers.map((one) => 30 * one);
    const groups = groupsOf(lagrangian, DUAL);
    const own = await measureOnDevice(asked, drawn, groups, multipliers);
    const logits = Float64Array.from(drawn.logits);
    const dLogits = new Float64Array(logits.length);
    expectNear([own.loss], [causeLikelihood(logits, drawn.binned, asked.K, dLogits, 1)]);
    expectNear(own.distances, measureIncidences(asked, groups, logits));
    const term = () =>
      measureIncidences(asked, groups, logits).reduce((sum, one, g) => sum + multipliers[g] * one, 0);
    for (let i = 0; i < logits.length; i++) {
      const at = logits[i];
      logits[i] = at + STEP;
      const above = term();
      logits[i] = at - STEP;
      dLogits[i] += (above - term()) / (2 * STEP);
      logits[i] = at;
    }
    expectNear(own.dLogits, dLogits);
  });
});

/** Distances by their definition: of the mean of 1 − F_k over a group's rows from what the group is compared with. */
function measureIncidences({ N, K, T }: Asked, given: DeviceGroups, logits: Float64Array): number[] {
  const incidence = new Float64Array(N * K * T);
  incidenceCurves(logits, { N, K, T }, incidence);
  return given.groups.map(({ bins, members, survival, variance }, g) => {
    const rows = Array.from(given.combinationOf.keys()).filter((row) =>
      given.groupsOf[given.combinationOf[row]].includes(g),
    );
    expect(rows.length).toBe(members);
    if (rows.length === 0) return 0;
    const gaps = Array.from({ length: bins }, (_, t) => {
      const mean = rows.reduce((sum, row) => sum + 1 - incidence[row * T + t], 0) / rows.length;
      return mean - survival[t];
    });
    if (given.gap === "meanSquare") return gaps.reduce((sum, gap) => sum + gap * gap, 0) / bins;
    return Math.max(...gaps.map((gap, t) => (variance[t] > 0 ? Math.abs(gap) / Math.sqrt(variance[t]) : 0)));
  });
}
