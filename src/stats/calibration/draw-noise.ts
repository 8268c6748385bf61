/**
 * The draws of a perfect model for all groups (and causes) of an audit, and what the observed is among them: each
 * group's calibration error against its floor, and its departure, of which the verdict is made. Three statistics
 * stand for departures: the r.m.s. gap over the support, the largest |z| over time, which sees what comes late, and
 * observed against expected events (the individual logrank's χ²), which sees what is off by one factor throughout.
 * Under late entry there is no gap, and z is of events up to each time (measure-draws.ts). departures.ts judges them
 * together.
 *
 * Draws: those asked for, and from DEFAULT_DRAWS on at least DRAWS_A_CELL for each group and cause. Then, where a p
 * is near a decision (NEAR), the groups it is of have GROWTH times as many, all groups where the p is adjusted: there
 * the standard deviation of a p over seeds is below .005. Tables on which that would be more than MOST_ROW_DRAWS do
 * not grow.
 */
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import {
  type CellMeter,
  chooseKnots,
  describeSpan,
  keepObserved,
  openMeter,
  type Span,
} from "./cell-meter.ts";
import { type RankedDeparture, rankDepartures } from "./departures.ts";
import { type DrawnOutcomes, type DrawnTable, drawOutcomes, orderDraws } from "./drawn-outcomes.ts";
import { type CellValues, createValues, measureCurves, measureEvents } from "./measure-draws.ts";
import {
  checkDraws,
  DEFAULT_DRAWS,
  type MetricNoise,
  type NoiseFloorOptions,
  rankObserved,
  rankTogether,
} from "./noise-floor.ts";
import { surpriseOfLargest, surpriseOfSquare } from "./null-scale.ts";
import { logChiSquareUpperTail } from "../../core/distributions.ts";

/** Which statistic is the most surprising. */
export const DEPARTURE_STATISTICS = ["rmsGap", "largestZ", "events"] as const;
export type DepartureStatistic = (typeof DEPARTURE_STATISTICS)[number];

/** How far a group departs from what a perfect model would show, allowing for when. */
export interface Departure extends Span {
  /** How often a perfect model's rows depart as much, by any of the statistics. */
  readonly p: number;
  /** The same, allowing for all groups (and causes) that are judged; null where this one is not. */
  readonly adjustedP: number | null;
  /** The statistic that is the most surprising. */
  readonly statistic: DepartureStatistic;
  /** How often each statistic by itself is as large, of those that are defined. */
  readonly ownP: Readonly<Partial<Record<DepartureStatistic, number>>>;
  /** Draws that p is ranked among. */
  readonly draws: number;
}

/** One group and cause among its draws. */
export interface CellNoise {
  readonly ece: Measured<MetricNoise>;
  readonly eceAdjustedP: Measured;
  /** Over all bins; of one kind of event. */
  readonly paperEce: Measured<MetricNoise>;
  readonly paperEceAdjustedP: Measured;
  /** (O − E)²/V of the individual logrank. */
  readonly events: Measured<MetricNoise>;
  readonly eventsAdjustedP: Measured;
  readonly departure: Measured<Departure>;
}

export interface DrawNoiseOptions extends NoiseFloorOptions {
  /** Which groups have enough data to be judged, cause by cause; the others are not counted. */
  readonly judged: readonly (readonly boolean[])[]; // [G][K]
}

/** Draws for each group and cause, at least: with fewer no adjusted p of many groups can be small. */
export const DRAWS_A_CELL = 100;
/** So many times as many draws where a p is near a decision. */
export const GROWTH = 5;
/** Beyond this many rows times draws there are no more than were asked for. */
export const MOST_ROW_DRAWS = 1e9;
/** A p that could be between .02 and .1; below, fewer draws do. */
const NEAR = { low: 0.015, high: 0.13 } as const;
/** Draws of a round: its counts are measured and dropped. */
const ROUND_DRAWS = 1000;

/** How many draws are made before any grow. */
export function countDraws(draws: number, cells: number): number {
  return draws < DEFAULT_DRAWS ? draws : Math.max(draws, DRAWS_A_CELL * cells);
}

/** One group with its values so far. */
interface GroupNoise {
  readonly meter: CellMeter;
  readonly values: readonly CellValues[]; // [K]
  readonly events: readonly Float64Array[]; // [K], χ²
  /** Draws measured so far. */
  draws: number;
}

/** Draws for every group; `groups` are 0-based rows, which may overlap. */
export function drawNoise(
  table: DrawnTable,
  groups: readonly ArrayLike<number>[],
  { draws: asked = DEFAULT_DRAWS, seed, people, judged, onProgress }: DrawNoiseOptions,
): readonly (readonly CellNoise[])[] {
  checkDraws(asked);
  const { K, N } = table;
  const base = countDraws(asked, groups.length * K);
  const most = asked < DEFAULT_DRAWS || N * base * GROWTH > MOST_ROW_DRAWS ? base : base * GROWTH;
  const knots = chooseKnots(table);
  const opened = groups.map((rows): GroupNoise => {
    const make = () => Array.from({ length: K }, () => createValues(1 + most));
    const chi2 = () => Array.from({ length: K }, () => new Float64Array(1 + most));
    return { meter: openMeter(table, rows, knots), values: make(), events: chi2(), draws: 0 };
  });
  const ordered = orderDraws(table, people);
  let round = 0;
  const drawUpTo = (some: readonly number[], count: number) => {
    for (let done = round === 0 ? 0 : base; done < count; round++) {
      const draws = Math.min(ROUND_DRAWS, count - done);
      const told = (rows: number, all: number) =>
        onProgress?.(Math.floor((rows * draws + all * done) / count), all);
      const own = some.map((g) => groups[g]);
      const options = { draws, seed, round, knots, onProgress: told, ...(people && { people }) };
      const drawn = drawOutcomes(table, own, options, ordered);
      const isWeighted = table.weight !== undefined;
      for (const [k, g] of some.entries()) measureGroup(opened[g], drawn[k], draws, isWeighted);
      done += draws;
    }
  };
  drawUpTo([...groups.keys()], base);
  const first = judge(opened, judged, base);
  if (most > base) {
    const near = findNear(first, judged);
    if (near.length > 0) drawUpTo(near, most);
    if (near.length === groups.length) return judge(opened, judged, most);
    if (near.length > 0) return judge(opened, judged, base);
  }
  return first;
}

/** The groups with a p near a decision; all of them where an adjusted one is. */
function findNear(noise: readonly (readonly CellNoise[])[], judged: DrawNoiseOptions["judged"]): number[] {
  const isNear = (p: number | null) => p !== null && p >= NEAR.low && p <= NEAR.high;
  const numberOf = (p: Measured) => (isAbsent(p) ? null : p);
  const cells = noise.flatMap((own, g) => own.map((one, k) => ({ g, one, counts: judged[g][k] })));
  const isOpen = cells.some(
    ({ one: { departure, eceAdjustedP }, counts }) =>
      counts && ((!isAbsent(departure) && isNear(departure.adjustedP)) || isNear(numberOf(eceAdjustedP))),
  );
  if (isOpen) return [...noise.keys()];
  const near = cells.filter(
    ({ one: { ece, departure } }) =>
      (!isAbsent(ece) && isNear(ece.p)) || (!isAbsent(departure) && isNear(departure.p)),
  );
  return [...new Set(near.map(({ g }) => g))];
}

/** Adds a round's draws; the observed is measured with the first. */
function measureGroup(group: GroupNoise, drawn: DrawnOutcomes, draws: number, isWeighted: boolean): void {
  const { meter, values, events } = group;
  const isFirst = group.draws === 0;
  const which = {
    first: isFirst ? 0 : 1,
    from: isFirst ? 0 : 1 + group.draws,
    draws: isFirst ? 1 + draws : draws,
  };
  if (isFirst) keepObserved(meter, drawn, isWeighted);
  measureEvents(drawn, meter, { values, chi2: events, ...which });
  if (meter.hasCurves)
    measureCurves(drawn, meter, { values, ...which, ...(isFirst && { gaps: meter.departures }) });
  group.draws += draws;
}

/** Everything that is said of the draws; what is adjusted uses as many as all groups have. */
function judge(
  groups: readonly GroupNoise[],
  judged: DrawNoiseOptions["judged"],
  common: number,
): readonly (readonly CellNoise[])[] {
  const cells = groups.flatMap((group, g) =>
    group.values.map((values, k) => ({ group, g, k, values, surprises: surprisesOf(group, k) })),
  );
  const cut = (one: Float64Array) => one.subarray(0, 1 + common);
  const ranked = rankDepartures(
    cells.map(({ g, k, surprises }) => (judged[g][k] ? { statistics: surprises.statistics.map(cut) } : null)),
  );
  const adjust = (key: "ece" | "paperEce") =>
    rankTogether(
      cells.map(({ group, k, values }) => {
        const reason = group.meter.without(k, key);
        return reason === null ? cut(values[key]) : absent(reason);
      }),
      common,
    ).groups;
  const [ece, paper] = [adjust("ece"), adjust("paperEce")];
  const noEvents = ({ group, k }: (typeof cells)[number]) =>
    group.meter.hasVariance[k] ? null : absent("the expected number of events has no variance");
  const events = rankTogether(
    cells.map((cell) => noEvents(cell) ?? cut(cell.group.events[cell.k])),
    common,
  ).groups;
  const all = cells.map(({ group, k, values, surprises }, at): CellNoise => {
    const own = (key: "ece" | "paperEce") => {
      const reason = group.meter.without(k, key);
      return reason === null ? rankObserved(values[key].subarray(0, 1 + group.draws)) : absent(reason);
    };
    return {
      ece: own("ece"),
      eceAdjustedP: ece[at].adjustedP,
      paperEce: own("paperEce"),
      paperEceAdjustedP: paper[at].adjustedP,
      events: noEvents(cells[at]) ?? rankObserved(group.events[k].subarray(0, 1 + group.draws)),
      eventsAdjustedP: events[at].adjustedP,
      departure: describe(group, k, surprises, ranked[at]),
    };
  });
  return groups.map((_, g) => all.filter((_cell, at) => cells[at].g === g));
}

interface CellSurprises {
  readonly names: readonly DepartureStatistic[];
  readonly statistics: readonly Float64Array[];
}

/** Of the statistics that are defined, in the order of DEPARTURE_STATISTICS. */
function surprisesOf({ meter, values, events, draws }: GroupNoise, k: number): CellSurprises {
  const scale = meter.scales[k];
  const map = (of: Float64Array, surprise: (value: number) => number) =>
    of.subarray(0, 1 + draws).map(surprise);
  const gap = { name: "rmsGap", values: () => map(values[k].square, (one) => surpriseOfSquare(one, scale)) };
  const z = {
    name: "largestZ",
    values: () => map(values[k].largest, (one) => surpriseOfLargest(one, scale)),
  };
  const chi2 = { name: "events", values: () => map(events[k], (one) => -logChiSquareUpperTail(one, 1)) };
  const used = [...(meter.without(k, "ece") === null ? [gap] : []), ...(scale.bins > 0 ? [z] : []), chi2];
  return {
    names: used.map(({ name }) => name as DepartureStatistic),
    statistics: used.map((one) => one.values()),
  };
}

function describe(
  { meter, draws }: GroupNoise,
  k: number,
  { names, statistics }: CellSurprises,
  among: RankedDeparture | null,
): Measured<Departure> {
  if (meter.rows === 0) return absent("no rows");
  const [alone] = rankDepartures([{ statistics }]);
  if (alone === null) return absent("no statistic is defined");
  return {
    p: alone.p,
    adjustedP: among === null ? null : among.adjustedP,
    statistic: names[alone.largest],
    ownP: Object.fromEntries(names.map((name, s) => [name, alone.own[s]])),
    draws,
    ...describeSpan(meter, k),
  };
}
