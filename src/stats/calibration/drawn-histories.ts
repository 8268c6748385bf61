/**
 * Outcomes as a perfect model would produce them, where people enter late, have weights or are followed over several
 * rows. Event bin of a row that is at risk from bin f: T* given T* > f − 1, P(T* > t) = S(t|x_i)/S(f − 1|x_i).
 * Censoring as in drawn-outcomes.ts, from the Kaplan-Meier curve of the censoring with the same entries and weights. A
 * person's rows that follow one another are one path: a row that another follows is not censored at its end, and an
 * event that is drawn in it takes the person out of the rows after. Where somebody was observed beyond an event, events
 * recur: each bin at risk then has its own with probability h. Rows of a person that overlap are drawn with the same
 * numbers. Counts, E and V are sums of weights (V: of their squares).
 */
import { createRandom } from "../../core/random.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import { groupByPerson, type People } from "../../data/outcomes/people.ts";
import { totalHazards } from "../individual-logrank.ts";
import { tallyBins } from "../kaplan-meier.ts";
import { type DrawnOutcomes, type DrawOptions, NOISE_STREAM } from "./drawn-outcomes.ts";

/** One group's counts, its censoring curve, and how often each row of the table is in it. */
interface GroupDraws extends DrawnOutcomes {
  readonly G: Float64Array; // [T+1]
  readonly times: Uint8Array; // [N]
}

/** One row while it is drawn: its bins at risk, weight and hazards. */
interface DrawnRow {
  readonly row: number;
  readonly before: number;
  readonly own: number;
  readonly weight: number;
  readonly hasEvent: boolean;
  readonly expected: Float64Array; // [T+1]
  readonly variance: Float64Array; // [T+1]
}

/** The draws of several groups; index 0 is what was observed, 1…draws what was drawn. */
export function drawHistories(
  curves: Curves,
  binned: BinnedSingleCause,
  groups: readonly ArrayLike<number>[],
  { draws, seed, people, onProgress }: DrawOptions,
): readonly DrawnOutcomes[] {
  const { N, T } = curves;
  const persons: People = people ?? { count: N, of: Int32Array.from({ length: N }, (_, row) => row) };
  const { first, paths } = orderPaths(binned, persons);
  const goesOn = new Uint8Array(N);
  for (const { rows, kind } of paths)
    if (kind !== "overlapping") for (const row of rows.slice(0, -1)) goesOn[row] = 1;
  const opened = groups.map((rows) => openGroup(binned, rows, goesOn, draws));
  const totals = { expected: new Float64Array(T + 1), variance: new Float64Array(T + 1) };
  paths.forEach(({ rows, kind }, path) => {
    if (path % PROGRESS_PEOPLE === 0) onProgress?.(path, paths.length);
    const open = () => createRandom(seed, NOISE_STREAM + persons.of[rows[0]]);
    let random = open();
    const gone = new Uint8Array(draws);
    for (const row of rows) {
      const own = binned.bin[row];
      const before = first[row] - 1;
      if (before >= own) continue;
      if (kind === "overlapping") random = open();
      totalHazards(curves.survival, row * T, T, totals);
      const weight = binned.weight === undefined ? 1 : binned.weight[row];
      const drawn = { row, before, own, weight, hasEvent: binned.event[row] === 1, ...totals };
      for (const group of opened) recordObserved(group, drawn);
      if (kind === "recurrent") drawRecurrent(opened, drawn, curves, draws, random.uniform);
      else drawOnce(opened, drawn, curves, gone, random.uniform, kind === "path");
    }
  });
  onProgress?.(paths.length, paths.length);
  return opened;
}

/** After so many people progress is told. */
const PROGRESS_PEOPLE = 4096;

type PathKind = "path" | "recurrent" | "overlapping";

/** Each person's rows in the order of time, and what they are to one another. */
function orderPaths({ bin, firstBin, event }: BinnedSingleCause, people: People) {
  const first = firstBin ?? new Int32Array(bin.length).fill(1);
  const everyRow = Int32Array.from(bin.keys());
  const paths = groupByPerson(people, everyRow).map((rows): { rows: number[]; kind: PathKind } => {
    rows.sort((a, b) => first[a] - first[b] || bin[a] - bin[b]);
    const overlaps = rows.some((row, k) => k > 0 && first[row] <= bin[rows[k - 1]]);
    const recurs = rows.slice(0, -1).some((row) => event[row] === 1);
    return { rows, kind: overlaps ? "overlapping" : recurs ? "recurrent" : "path" };
  });
  return { first, paths };
}

function openGroup(
  binned: BinnedSingleCause,
  rows: ArrayLike<number>,
  goesOn: Uint8Array,
  draws: number,
): GroupDraws {
  const { T, bin, event, firstBin, weight } = binned;
  const counts = () => new Float64Array((1 + draws) * (T + 1));
  const times = new Uint8Array(bin.length);
  const { atRisk, events, censored } = tallyBins(binned, undefined, rows);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    times[row]++;
    const isAtRisk = firstBin === undefined || firstBin[row] <= bin[row];
    if (goesOn[row] === 1 && event[row] === 0 && isAtRisk) censored[bin[row]] -= weight?.[row] ?? 1;
  }
  // P(C > t): in a bin, events come before censorings.
  const G = new Float64Array(T + 1).fill(1);
  for (let t = 1; t <= T; t++) {
    const exposed = atRisk[t] - events[t];
    const lost = Math.min(Math.max(censored[t], 0), exposed);
    G[t] = lost > 0 ? (G[t - 1] * (exposed - lost)) / exposed : G[t - 1];
  }
  const sums = () => new Float64Array(1 + draws);
  return { G, times, events: counts(), censored: counts(), expected: sums(), variance: sums() };
}

/** Adds a row that leaves in a bin to the counts of a draw. */
function record(group: GroupDraws, draw: number, drawn: DrawnRow, bin: number, happens: boolean): void {
  const { before, weight, expected, variance } = drawn;
  const count = group.times[drawn.row];
  const T = group.G.length - 1;
  (happens ? group.events : group.censored)[draw * (T + 1) + bin] += count * weight;
  group.expected[draw] += count * weight * (expected[bin] - expected[before]);
  group.variance[draw] += count * weight * weight * (variance[bin] - variance[before]);
}

function recordObserved(group: GroupDraws, drawn: DrawnRow): void {
  if (group.times[drawn.row] > 0) record(group, 0, drawn, drawn.own, drawn.hasEvent);
}

/** One event at most, after which a path ends. */
function drawOnce(
  groups: readonly GroupDraws[],
  drawn: DrawnRow,
  { T, survival }: Curves,
  gone: Uint8Array,
  uniform: () => number,
  isPath: boolean,
): void {
  const { row, before, own, hasEvent } = drawn;
  const base = row * T - 1;
  const start = before === 0 ? 1 : survival[base + before];
  for (let draw = 0; draw < gone.length; draw++) {
    // P(level ≥ S(t) | entry) = 1 − S(t)/S(f − 1).
    const level = uniform() * start;
    const forCensoring = uniform();
    if (gone[draw] === 1) continue;
    let bin = before + 1;
    while (bin <= T && survival[base + bin] > level) bin++;
    for (const group of groups) {
      if (group.times[row] === 0) continue;
      let last = own;
      if (hasEvent && bin > own) {
        const limit = forCensoring * group.G[own - 1];
        while (last <= T && group.G[last] > limit) last++;
      }
      record(group, 1 + draw, drawn, Math.min(bin, last, T), bin <= last && bin <= T);
    }
    if (isPath && bin <= own) gone[draw] = 1;
  }
}

/** An event in every bin at risk with the bin's own hazard; the row stays until its own end. */
function drawRecurrent(
  groups: readonly GroupDraws[],
  drawn: DrawnRow,
  { T }: Curves,
  draws: number,
  uniform: () => number,
): void {
  const { row, before, own, weight, expected } = drawn;
  for (let draw = 1; draw <= draws; draw++) {
    let events = 0;
    for (let t = before + 1; t <= own; t++) if (uniform() < expected[t] - expected[t - 1]) events++;
    for (const group of groups) {
      if (group.times[row] === 0) continue;
      record(group, draw, drawn, own, false);
      group.events[draw * (T + 1) + own] += group.times[row] * weight * events;
    }
  }
}
