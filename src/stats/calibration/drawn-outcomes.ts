/**
 * Outcomes as a perfect model would produce them: each row's event bin drawn from its own predicted curve, its
 * censoring kept or drawn. Event bin of a row at risk from bin f (1 unless it entered late): P(T* = t | T* > f − 1) =
 * (S(t−1|x_i) − S(t|x_i))/S(f−1|x_i), beyond the grid with what is left. The number that chose the bin, uniform on
 * [S(t), S(t−1)), chooses the cause by where it lies there: k with probability ΔF_k/Σ ΔF_j. Censoring bin: a censored
 * row keeps its own; a row with its event in bin t_i would have been censored in some bin ≥ t_i (within a bin events
 * come before censorings, as everywhere here), so C* follows the group's reverse-ties censoring curve given C* ≥ t_i;
 * where that curve ends above 0, C* may never come. The event is observed if T* ≤ C*, otherwise a censoring in
 * min(C*, T). A person's rows that follow one another are one path (drawn-people.ts). Counts are sums of weights.
 *
 * A row has the same numbers in every group, so all groups are drawn in one pass. Every person has a stream of random
 * numbers by the rank of outcome and curve among all, not by the place in the table: rows in another order, or other
 * groups, are the same draws. Only counts per bin are kept, never the drawn rows. Curves are assumed non-increasing.
 */
import { createRandom } from "../../core/random.ts";
import { type CauseCurves, survivalOf } from "../../data/curves/cause-curves.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedOutcomes } from "../../data/outcomes/outcomes.ts";
import type { People } from "../../data/outcomes/people.ts";
import { totalHazards } from "../individual-logrank.ts";
import { tallyBins } from "../kaplan-meier.ts";
import { orderPeople, type PersonRows, rankPeople } from "./drawn-people.ts";

/** Keeps these streams (one per row or person) apart from the bootstrap's (one per replicate) under the same seed. */
export const NOISE_STREAM = 0x40000000;

/** Predicted curves and what was observed, of one cause or several. */
export interface DrawnTable {
  readonly N: number;
  readonly K: number;
  readonly T: number;
  readonly survival: Float64Array | Float32Array; // [N,T]
  /** F_k(t|x), where K > 1. */
  readonly incidence?: Float64Array; // [N,K,T]
  readonly bin: Int32Array; // [N]
  /** 0 = censored, k = an event of cause k; with one cause, 1 = event. */
  readonly cause: Uint8Array; // [N]
  readonly firstBin?: Int32Array | undefined; // [N]
  readonly weight?: Float64Array | undefined; // [N]
}

/** What is drawn of one kind of event, or of the causes of incidences. */
export function drawnTable(curves: Curves | CauseCurves, outcomes: BinnedOutcomes): DrawnTable {
  const { N, T } = curves;
  const { bin, event, firstBin, weight } = outcomes;
  const own = { bin, firstBin, weight };
  if ("survival" in curves) return { N, K: 1, T, survival: curves.survival, cause: event, ...own };
  const { K, incidence } = curves;
  const { survival } = survivalOf(curves);
  const cause = outcomes.cause ?? event;
  return { N, K, T, survival, ...(K > 1 && { incidence }), cause, ...own };
}

/** One group's counts: index 0 is what was observed, 1…draws what was drawn. */
export interface DrawnOutcomes {
  /** Events of cause 1…K, then censorings, by the bin in which a row left. */
  readonly counts: Float64Array | Int32Array; // [1 + draws, K + 1, T + 1]
  /** Σ w Σ_{s≤knot} h_k(s) over the rows at risk, for each knot; empty where no knots are asked for. */
  readonly expected: Float64Array; // [1 + draws, K, knots]
  /** Σ w² Σ_{s≤knot} h_k(1 − h_k). */
  readonly variance: Float64Array; // [1 + draws, K, knots]
}

/** What is drawn, and whom to tell how far it is. */
export interface DrawOptions {
  readonly draws: number;
  readonly seed: number;
  /** Rounds of one seed are draws of their own: more of them are added to those there are. */
  readonly round?: number;
  readonly people?: People;
  /** Bins by whose end expected events are added up; none unless given. */
  readonly knots?: readonly number[];
  /** Rows of the table that are done, and all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Cells of [0, 1) that a guide has: more than there usually are bins, so that a step or two are left to take. */
const CELLS = 128;

/**
 * Where to begin looking for the first bin 1…T whose value is at most a level in [0, 1): for each cell of levels, the
 * first bin whose value is at most the cell's upper end, which no level of the cell comes before. Values do not
 * increase from base + 1 to base + T.
 */
function fillGuide(guide: Int32Array, values: Float64Array | Float32Array, base: number, T: number): void {
  let bin = 1;
  for (let cell = CELLS - 1; cell >= 0; cell--) {
    const top = (cell + 1) / CELLS;
    while (bin <= T && values[base + bin] > top) bin++;
    guide[cell] = bin;
  }
}

/** After so many rows progress is told: a whole number of blocks. */
const PROGRESS_ROWS = 16_384;
/** Rows of a block: its draws and totals stay in the cache while the groups take turns. */
const BLOCK_ROWS = 128;
/** The row has left before, with the event of an earlier row of the person. */
const GONE = -1;
/** A censored row without an event before: as observed, which is most of what is drawn. */
const STAY = -2;
/** Below this the group's censoring is still to be drawn, and what was drawn is coded as OPEN − index. */
const OPEN = -3;

/** One group's counts, and what its draws need. */
interface GroupDraws extends DrawnOutcomes {
  /** Its rows, as places in the order of people, ascending. */
  readonly places: Int32Array;
  /** P(C > t). */
  readonly G: Float64Array; // [T+1]
  readonly guide: Int32Array; // [CELLS], to G
  /** Of rows that every draw has as observed unless it says otherwise; null where weights would not cancel. */
  readonly stayed: DrawnOutcomes | null;
  /** The next of its rows. */
  next: number;
}

/** Everything that is the same for all blocks. */
interface Drawing {
  readonly table: DrawnTable;
  readonly draws: number;
  readonly knots: readonly number[];
  readonly order: PersonRows;
  /** Where nobody is censored in the bin of an index: K (T + 1). */
  readonly never: number;
}

/** The draws of some rows, which are the same in every group. */
interface BlockDraws {
  /** The index into the counts of one draw; GONE, or OPEN and below. */
  readonly outcome: Int32Array; // [draws, BLOCK_ROWS]
  readonly uniform: Float64Array; // [draws, BLOCK_ROWS], for the censoring
  readonly weight: Float64Array; // [BLOCK_ROWS]
  /** The index of a row that stays as observed, 0 (no index of a draw) of any other. */
  readonly kept: Int32Array; // [BLOCK_ROWS]
  /** The rows' totals of hazard by cause, those before the entry taken off. */
  readonly expected: Float64Array; // [BLOCK_ROWS, K, T+1]
  readonly variance: Float64Array;
  readonly guide: Int32Array; // [CELLS], to one row's curve
  /** Events of rows on which events recur: of each place, pairs of a draw and an index. */
  readonly recurring: Map<number, number[]>;
}

/**
 * The draws of several groups in one pass over the table: its rows (0-based; one may be in a group several times) may
 * be in several groups. `given` is the order of the people, where it is known.
 */
export function drawOutcomes(
  table: DrawnTable,
  groups: readonly ArrayLike<number>[],
  { draws, seed, round = 0, people, knots = [], onProgress }: DrawOptions,
  given: OrderedPeople = orderDraws(table, people),
): readonly DrawnOutcomes[] {
  const { N, K, T } = table;
  const { order, ranks, placeOf } = given;
  const drawing: Drawing = { table, draws, knots, order, never: K * (T + 1) };
  const opened = groups.map((rows) => openGroup(drawing, rows, placeOf));
  const block = createBlock(drawing);
  // Each round has seeds of its own, beyond the 32 bits that people choose.
  const openRandom = (person: number) => createRandom(seed + round * ROUND, NOISE_STREAM + ranks[person]);
  let person = 0;
  let random = openRandom(0);
  let gone: Uint8Array | null = null;
  for (let from = 0; from < N; from += BLOCK_ROWS) {
    if (from % PROGRESS_ROWS === 0) onProgress?.(from, N);
    const end = Math.min(from + BLOCK_ROWS, N);
    block.recurring.clear();
    for (let place = from; place < end; place++) {
      const isFirst = place === order.starts[person];
      const kind = order.kinds[person];
      if (isFirst || kind === "overlapping") random = openRandom(person);
      if (isFirst) gone = kind === "path" ? new Uint8Array(draws) : null;
      fillRow(block, place - from, order.rows[place], drawing);
      if (kind === "recurrent")
        drawRecurrent(block, place - from, order.rows[place], drawing, random.uniform);
      else drawRow(block, place - from, order.rows[place], drawing, random.uniform, gone);
      if (place + 1 === order.starts[person + 1]) person++;
    }
    for (const group of opened) recordBlock(group, block, from, end, drawing);
  }
  for (const group of opened) addStayed(group, draws);
  onProgress?.(N, N);
  return opened;
}

/** Counts rows that are as observed in every draw, from which those that are not were taken off. */
function addStayed({ counts, expected, variance, stayed }: GroupDraws, draws: number): void {
  if (stayed === null) return;
  const add = (to: DrawnOutcomes["counts"], own: DrawnOutcomes["counts"]) => {
    for (let draw = 1, at = own.length; draw <= draws; draw++, at += own.length)
      for (let k = 0; k < own.length; k++) to[at + k] += own[k];
  };
  add(counts, stayed.counts);
  add(expected, stayed.expected);
  add(variance, stayed.variance);
}

/** The people of a table in the order of their draws. */
export interface OrderedPeople {
  readonly order: PersonRows;
  readonly ranks: Int32Array;
  /** Of each row, in the order of people. */
  readonly placeOf: Int32Array;
}

/** Orders the people of a table, once for all rounds. */
export function orderDraws(table: DrawnTable, people?: People): OrderedPeople {
  const order = orderPeople(table, people);
  const placeOf = new Int32Array(table.N);
  order.rows.forEach((row, place) => {
    placeOf[row] = place;
  });
  return { order, ranks: rankPeople(table, order), placeOf };
}

/** Added to the seed for each round. */
const ROUND = 2 ** 40;

function openGroup({ table, draws, knots, order }: Drawing, rows: ArrayLike<number>, placeOf: Int32Array) {
  const { K, T, bin, cause, firstBin, weight } = table;
  const event = cause.map((one) => (one > 0 ? 1 : 0));
  const given = { T, bin, event, ...(firstBin && { firstBin }), ...(weight && { weight }) };
  const { atRisk, events, censored } = tallyBins(given, undefined, rows);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    // A row that another of the person follows was not censored at its end.
    if (order.goesOn[row] === 1 && cause[row] === 0 && (firstBin?.[row] ?? 1) <= bin[row])
      censored[bin[row]] -= weight?.[row] ?? 1;
  }
  const G = new Float64Array(T + 1).fill(1);
  for (let t = 1; t <= T; t++) {
    // Events of the bin leave first. Where nobody goes on or comes late, those left are added up, not subtracted, so
    // that G reaches 0 exactly for any weights.
    const lost = Math.max(censored[t], 0);
    const isPlain = firstBin === undefined;
    const left = isPlain ? (t < T ? atRisk[t + 1] : 0) : Math.max(atRisk[t] - events[t] - lost, 0);
    G[t] = lost > 0 ? (G[t - 1] * left) / (left + lost) : G[t - 1];
  }
  const guide = new Int32Array(CELLS);
  fillGuide(guide, G, 0, T);
  const sums = (count = 1 + draws) => new Float64Array(count * K * knots.length);
  const size = (K + 1) * (T + 1);
  const counts = (length: number) =>
    weight === undefined ? new Int32Array(length) : new Float64Array(length);
  return {
    places: Int32Array.from(rows, (row) => placeOf[row]).sort(),
    G,
    guide,
    next: 0,
    counts: counts((1 + draws) * size),
    stayed: weight === undefined ? { counts: counts(size), expected: sums(1), variance: sums(1) } : null,
    expected: sums(),
    variance: sums(),
  };
}

function createBlock({ table: { K, T }, draws, knots }: Drawing): BlockDraws {
  const totals = () => new Float64Array(knots.length === 0 ? 0 : BLOCK_ROWS * K * (T + 1));
  return {
    outcome: new Int32Array(draws * BLOCK_ROWS),
    uniform: new Float64Array(draws * BLOCK_ROWS),
    weight: new Float64Array(BLOCK_ROWS),
    kept: new Int32Array(BLOCK_ROWS),
    expected: totals(),
    variance: totals(),
    guide: new Int32Array(CELLS),
    recurring: new Map(),
  };
}

/** The row's weight and totals of hazard. */
function fillRow(block: BlockDraws, place: number, row: number, { table, never }: Drawing): void {
  const { K, T, survival, incidence, bin, cause, firstBin, weight } = table;
  const stays = cause[row] === 0 && (firstBin?.[row] ?? 1) <= bin[row];
  block.kept[place] = stays ? never + bin[row] : 0;
  block.weight[place] = weight?.[row] ?? 1;
  if (block.expected.length === 0) return;
  const before = Math.min((firstBin?.[row] ?? 1) - 1, T);
  for (let k = 0; k < K; k++) {
    const own = [(place * K + k) * (T + 1), (place * K + k + 1) * (T + 1)] as const;
    const expected = block.expected.subarray(...own);
    const variance = block.variance.subarray(...own);
    if (incidence === undefined) totalHazards(survival, row * T, T, { expected, variance });
    else totalCause(table, row, k, expected, variance);
    const [E, V] = [expected[before], variance[before]];
    for (let t = 0; t <= T; t++) {
      expected[t] = Math.max(0, expected[t] - E);
      variance[t] = Math.max(0, variance[t] - V);
    }
  }
}

/** The same of one of several causes: h_k = ΔF_k/S(t−1), kept within [0, 1]. */
function totalCause(
  { K, T, survival, incidence = new Float64Array() }: DrawnTable,
  row: number,
  k: number,
  expected: Float64Array,
  variance: Float64Array,
): void {
  const start = (row * K + k) * T - 1;
  for (let t = 1; t <= T; t++) {
    const before = t === 1 ? 1 : survival[row * T + t - 2];
    const step = incidence[start + t] - (t === 1 ? 0 : incidence[start + t - 1]);
    const h = before > 0 ? Math.min(Math.max(step / before, 0), 1) : 0;
    expected[t] = expected[t - 1] + h;
    variance[t] = variance[t - 1] + h * (1 - h);
  }
}

/** Draws one row, which is at `place` in the block; an event takes a person out of the rows after. */
function drawRow(
  { outcome, uniform, guide }: BlockDraws,
  place: number,
  row: number,
  { table, draws, never }: Drawing,
  next: () => number,
  gone: Uint8Array | null,
): void {
  const { K, T, survival, incidence, bin: own, cause, firstBin } = table;
  const first = firstBin?.[row] ?? 1;
  const last = own[row];
  const base = row * T - 1;
  if (first > last) {
    for (let draw = 0, at = place; draw < draws; draw++, at += BLOCK_ROWS) outcome[at] = GONE;
    return;
  }
  const start = first === 1 ? 1 : survival[base + first - 1];
  const hasEvent = cause[row] > 0;
  fillGuide(guide, survival, base, T);
  for (let draw = 0, at = place; draw < draws; draw++, at += BLOCK_ROWS) {
    // P(level ≥ S(t)) = 1 − S(t)/S(f − 1) = P(T* ≤ t).
    const level = next() * start;
    let bin = Math.max(first, guide[(level * CELLS) | 0]);
    while (bin <= T && survival[base + bin] > level) bin++;
    if (gone !== null && gone[draw] === 1) {
      outcome[at] = GONE;
      continue;
    }
    if (bin > last && !hasEvent) {
      outcome[at] = STAY;
      continue;
    }
    const of =
      K === 1 || bin > T ? 0 : causeAt(incidence, row * K * T, K, T, bin, level - survival[base + bin]);
    const index = bin > T ? never : of * (T + 1) + bin;
    // Nobody is censored before the own bin, so an event up to then is observed.
    outcome[at] = bin <= last ? index : OPEN - index;
    if (gone !== null && bin <= last) gone[draw] = 1;
  }
  if (!hasEvent) return;
  for (let draw = 0, at = place; draw < draws; draw++, at += BLOCK_ROWS) uniform[at] = next();
}

/** The cause, from 0, in whose part of the bin's probability the place `above` S(t) lies. */
function causeAt(
  incidence: Float64Array | undefined,
  start: number,
  K: number,
  T: number,
  bin: number,
  above: number,
): number {
  let passed = 0;
  let last = 0;
  for (let k = 0; k < K && incidence !== undefined; k++) {
    const at = start + k * T + bin - 1;
    const step = incidence[at] - (bin === 1 ? 0 : incidence[at - 1]);
    // A cause that cannot strike here is never chosen, whatever rounding does to the sum.
    if (!(step > 0)) continue;
    passed += step;
    last = k;
    if (above < passed) return last;
  }
  return last;
}

/** An event in every bin at risk with the bin's own hazard; the row stays until its own end. */
function drawRecurrent(
  block: BlockDraws,
  place: number,
  row: number,
  { table, draws, never }: Drawing,
  next: () => number,
): void {
  const { K, T, survival, incidence, bin, firstBin } = table;
  const first = firstBin?.[row] ?? 1;
  const base = row * T - 1;
  const found: number[] = [];
  for (let draw = 0; draw < draws; draw++) {
    block.outcome[draw * BLOCK_ROWS + place] = first > bin[row] ? GONE : never + bin[row];
    for (let t = first; t <= bin[row]; t++) {
      const before = t === 1 ? 1 : survival[base + t - 1];
      const level = next() * before;
      const above = level - survival[base + t];
      if (!(before > 0) || above < 0) continue;
      const of = K === 1 ? 0 : causeAt(incidence, row * K * T, K, T, t, above);
      found.push(draw, of * (T + 1) + t);
    }
  }
  block.recurring.set(place, found);
}

/**
 * Adds the rows at places [from, end) that a group has to its counts, draw by draw: the counts of one draw are few.
 */
function recordBlock(
  group: GroupDraws,
  block: BlockDraws,
  from: number,
  end: number,
  drawing: Drawing,
): void {
  const { draws, knots, order, never } = drawing;
  const { T, bin: ownBin } = drawing.table;
  const { places, counts, stayed } = group;
  const { outcome, uniform, weight, kept } = block;
  const size = never + T + 1;
  const hasSums = knots.length > 0;
  const first = group.next;
  while (group.next < places.length && places[group.next] < end) group.next++;
  recordObserved(group, block, first, from, drawing);
  for (let draw = 0, at = size; draw < draws; draw++, at += size) {
    const base = draw * BLOCK_ROWS - from;
    for (let i = first; i < group.next; i++) {
      let index = outcome[base + places[i]];
      const place = places[i] - from;
      if (index === STAY) {
        if (stayed !== null) continue;
        index = kept[place];
      } else if (stayed !== null && kept[place] !== 0) {
        counts[at + kept[place]]--;
        if (hasSums) addSums(group, block, 1 + draw, place, kept[place] - never, -1, drawing);
      }
      if (index <= OPEN) {
        const own = ownBin[order.rows[places[i]]];
        index = drawCensoring(group, OPEN - index, own, uniform[base + places[i]], drawing);
      }
      if (index === GONE) continue;
      counts[at + index] += weight[place];
      if (hasSums) addSums(group, block, 1 + draw, place, index % (T + 1), 1, drawing);
    }
  }
  if (block.recurring.size === 0) return;
  for (let i = first; i < group.next; i++) {
    const place = places[i] - from;
    const found = block.recurring.get(place) ?? [];
    for (let k = 0; k < found.length; k += 2) counts[(1 + found[k]) * size + found[k + 1]] += weight[place];
  }
}

/** Adds what was observed of the same rows, and to the rows that stay so those that would. */
function recordObserved(
  group: GroupDraws,
  block: BlockDraws,
  first: number,
  from: number,
  drawing: Drawing,
): void {
  const { table, order, never } = drawing;
  const { T, bin: ownBin, cause, firstBin } = table;
  for (let i = first; i < group.next; i++) {
    const row = order.rows[group.places[i]];
    const place = group.places[i] - from;
    if ((firstBin?.[row] ?? 1) > ownBin[row]) continue;
    const index = cause[row] === 0 ? never + ownBin[row] : (cause[row] - 1) * (T + 1) + ownBin[row];
    group.counts[index] += block.weight[place];
    addSums(group, block, 0, place, ownBin[row], 1, drawing);
    if (group.stayed === null || block.kept[place] === 0) continue;
    group.stayed.counts[index]++;
    addSums(group.stayed, block, 0, place, ownBin[row], 1, drawing);
  }
}

/** What is observed of an event beyond the own bin: itself, or a censoring before it. */
function drawCensoring(
  { G, guide }: GroupDraws,
  index: number,
  own: number,
  uniform: number,
  { table: { T }, never }: Drawing,
): number {
  const level = uniform * G[own - 1];
  let censoring = Math.max(own, guide[(level * CELLS) | 0]);
  while (censoring <= T && G[censoring] > level) censoring++;
  const bin = index === never ? T + 1 : index % (T + 1);
  return bin <= censoring && bin <= T ? index : never + Math.min(censoring, T);
}

/** Adds expected events of a row that leaves in a bin, up to each knot, or takes them off. */
function addSums(
  to: Pick<DrawnOutcomes, "expected" | "variance">,
  { expected, variance, weight }: BlockDraws,
  draw: number,
  place: number,
  bin: number,
  sign: 1 | -1,
  { table: { K, T }, knots }: Drawing,
): void {
  const B = knots.length;
  const w = weight[place];
  for (let k = 0, at = draw * K * B; k < K; k++) {
    const own = (place * K + k) * (T + 1);
    for (let b = 0; b < B; b++, at++) {
      const t = own + Math.min(bin, knots[b]);
      to.expected[at] += sign * w * expected[t];
      to.variance[at] += sign * w * w * variance[t];
    }
  }
}
