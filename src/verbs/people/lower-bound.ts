/**
 * A time that a person's event exceeds with a given probability, calibrated on rows that the curves have not learnt
 * from (stats/conformal.ts). One threshold is found for everyone and one for each of the model's groups that its
 * features tell of; a person gets the lowest of those that apply, so that the bound holds within every one of these
 * groups, at the price of being short where a person is in many. Censoring is weighed away with a Cox model of the
 * censoring times of the same rows. What is assumed and where it fails: docs/concepts/bands-and-bounds.md.
 */
import type { Backend } from "../../compute/backend.ts";
import { countBelow } from "../../core/ascending.ts";
import { exp } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { countOf } from "../../core/text.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { findSplines } from "../../data/encode/encoder.ts";
import { columnsOf } from "../../data/groups/group-expression.ts";
import { evaluateGroup } from "../../data/groups/group-members.ts";
import { ALL_GROUP, type Group } from "../../data/groups/groups.ts";
import { parseGroup } from "../../data/groups/parse-group.ts";
import { pickOutcomes, type RightCensored, requireRightCensored } from "../../data/outcomes/outcomes.ts";
import { interpolateCurve, quantileTime, type TimeGrid } from "../../data/outcomes/time-grid.ts";
import { checkRows, type Table } from "../../data/table.ts";
import { fitCox, linearPredictor } from "../../models/cox/cox.ts";
import { censoringKaplanMeier } from "../../stats/censoring.ts";
import { conformalThreshold } from "../../stats/conformal.ts";
import { encodeStudyRows } from "../../study/study.ts";
import type { Model } from "../../training/model.ts";
import { chooseJudgedRows } from "../judged-rows.ts";
import type { ModelStudy } from "../model-study.ts";
import { columnsNeeded, predictStudy } from "../predict.ts";
import { checkLevel } from "./bands.ts";

/** A calibrated bound, ready for any table of the model. */
export interface LowerBound {
  /** The probability with which the event comes later. */
  readonly level: number;
  /** The rows it was calibrated on: "test rows", "rows of the table". */
  readonly which: string;
  readonly rows: number;
  readonly events: number;
  /** No bound lies after this: the horizon, or when hardly anyone was still followed. */
  readonly until: number;
  /** Everyone first, then the model's groups; those over columns that it may not see are not among them. */
  readonly groups: readonly BoundGroup[];
}

export interface BoundGroup extends Group {
  readonly n: number;
  readonly events: number;
  /** The risk at which a member's bound lies; absent, with the reason, where the group is too small for its own. */
  readonly threshold: Measured;
}

/** The bounds of people. */
export interface PeopleBounds {
  readonly level: number;
  readonly time: Float64Array; // [N]
  /** 1 where the bound is the last time that can be spoken of: the true one may lie beyond. */
  readonly isBeyond: Uint8Array; // [N]
}

/** The level of a lower bound unless another is asked for. */
export const BOUND_LEVEL = 0.9;
/** Below this many events the threshold is the score of one or two people. */
const LEAST_EVENTS = 20;
/** A bound is not taken past the time at which this share would still be followed: weights beyond are above twenty. */
const LEAST_FOLLOWED = 0.05;
/** Of the Cox model of censoring: effects within a third of a unit of log-hazard for a standard deviation. */
const CENSORING_RIDGE = 10;

/** Calibrates on the rows of a study that are new to its model; refuses where there are none, or too few events. */
export async function calibrateBound(
  study: ModelStudy,
  backend: Backend | null,
  level: number,
): Promise<LowerBound> {
  checkLevel(level, "the level of a lower bound");
  const { rows, which, isSeen } = chooseJudgedRows(study);
  if (isSeen) {
    throw new InputError("a lower bound cannot be calibrated on rows that the model has learnt from", {
      code: "bound.seen",
      where: study.table.name,
      hint: "give a table of rows it has not seen, or keep rows for the test in training: --split 0.6,0.2,0.2",
    });
  }
  const outcomes = requireRightCensored(
    pickOutcomes(study.outcomes, rows),
    "a lower bound",
    "it counts people from the start of the clock, one row each: predict quantiles (--quantiles) or bands (--bands)",
  );
  const events = outcomes.event.reduce((sum, event) => sum + event, 0);
  if (events < LEAST_EVENTS) {
    throw new InputError(
      `${countOf(events, "event")} among ${countOf(rows.length, "row")}: a lower bound needs ${LEAST_EVENTS}`,
      { code: "bound.events", where: study.table.name, hint: "calibrate on a larger table" },
    );
  }
  const { curves } = await predictStudy(study, rows, backend);
  const until = lastFollowed(outcomes, study.grid);
  const scored = scoreEvents(
    { curves, outcomes, followed: followedUntil(study, rows, outcomes) },
    study.grid,
    until,
  );
  return {
    level,
    which,
    rows: rows.length,
    events,
    until,
    groups: [ALL_GROUP, ...listKnown(study.model)].map(({ name, expression }) => {
      const isMember = evaluateGroup(expression, study.table, { unknownLevels: "allow" });
      return { name, expression, ...calibrateGroup(scored, (n) => isMember[rows[n]] === 1, 1 - level) };
    }),
  };
}

/** The model's groups that every table it predicts on can tell: all their columns are ones that it needs. */
function listKnown(model: Model): readonly Group[] {
  const needed = new Set(columnsNeeded(model));
  return model.groups.filter(
    ({ name, expression }) =>
      name !== ALL_GROUP.name && columnsOf(parseGroup(expression)).every((column) => needed.has(column)),
  );
}

interface ScoredRows {
  readonly event: Uint8Array; // [N]
  /** Risk by the event, where one was seen in time; NaN elsewhere. */
  readonly score: Float64Array; // [N]
  readonly weight: Float64Array; // [N]
}

function calibrateGroup(
  { event, score, weight }: ScoredRows,
  isMember: (n: number) => boolean,
  alpha: number,
): Pick<BoundGroup, "n" | "events" | "threshold"> {
  const members = Array.from(event.keys()).filter(isMember);
  const seen = members.filter((n) => !Number.isNaN(score[n]));
  const events = members.reduce((sum, n) => sum + event[n], 0);
  const own = { score: seen.map((n) => score[n]), weight: seen.map((n) => weight[n]), n: members.length };
  return {
    n: members.length,
    events,
    threshold:
      events < LEAST_EVENTS
        ? absent(`${countOf(events, "event")}: a bound of its own needs ${LEAST_EVENTS}`)
        : conformalThreshold(own, alpha),
  };
}

/** The last time at which enough people would still be followed, at most the horizon. */
function lastFollowed(outcomes: RightCensored, { T, edges }: TimeGrid): number {
  const { time, survival } = censoringKaplanMeier(outcomes, { ties: "reverse" });
  const ended = survival.findIndex((G) => G < LEAST_FOLLOWED);
  return ended < 0 ? edges[T] : Math.min(edges[T], time[ended]);
}

function scoreEvents(
  {
    curves,
    outcomes,
    followed,
  }: {
    readonly curves: Curves;
    readonly outcomes: RightCensored;
    readonly followed: Float64Array;
  },
  grid: TimeGrid,
  until: number,
): ScoredRows {
  const { time, event } = outcomes;
  const score = new Float64Array(curves.N).fill(Number.NaN);
  for (let n = 0; n < curves.N; n++) {
    // Whoever has the event at the end or later keeps any bound.
    if (event[n] === 0 || time[n] >= until) continue;
    const curve = curves.survival.subarray(n * curves.T, (n + 1) * curves.T);
    const free = interpolateCurve(curve, grid, time[n]);
    if (!isAbsent(free)) score[n] = 1 - free;
  }
  return { event, score, weight: followed.map((G) => 1 / G) };
}

/** G(T−|x) of every row: the chance of being followed up to its own time. Events leave before censorings. */
function followedUntil(study: ModelStudy, rows: Int32Array, { time, event }: RightCensored): Float64Array {
  const leaves = event.map((one) => 1 - one);
  if (!leaves.includes(1)) return new Float64Array(rows.length).fill(1);
  const left = new Set(findSplines(study.encoder));
  const width = study.encoder.names.length;
  const columns = Array.from({ length: width - study.inputGroups.length }, (_, j) => j).filter(
    (j) => !left.has(j),
  );
  const D = columns.length;
  const x = new Float64Array(rows.length * D);
  let n = 0;
  for (const { N, values } of encodeStudyRows(study, rows)) {
    for (let i = 0; i < N; i++, n++) {
      columns.forEach((column, j) => {
        x[n * D + j] = values[i * width + column];
      });
    }
  }
  const fit = fitCox({ time, event: leaves, x, D }, { ridge: CENSORING_RIDGE });
  const { time: at, cumulativeHazardAtMeans: hazard } = fit.baseline;
  const atMeans = D === 0 ? 0 : linearPredictor(fit, fit.means)[0];
  const levels = D === 0 ? new Float64Array(rows.length) : linearPredictor(fit, x);
  return levels.map((own, k) => {
    const passed = countBelow(at, time[k]);
    return passed === 0 ? 1 : exp(-hazard[passed - 1] * exp(own - atMeans));
  });
}

/** The bounds of people of a table, all of them unless rows are given, whose curves are known. */
export function boundPeople(
  { level, until, groups }: LowerBound,
  table: Table,
  curves: Curves,
  grid: TimeGrid,
  rows?: ArrayLike<number>,
): PeopleBounds {
  const { N, T, survival } = curves;
  const taken = checkRows(table, rows);
  const threshold = new Float64Array(N).fill(Number.POSITIVE_INFINITY);
  for (const { expression, threshold: own } of groups) {
    if (isAbsent(own)) continue;
    const isMember = evaluateGroup(expression, table, { unknownLevels: "allow" });
    for (let n = 0; n < N; n++) if (isMember[taken[n]] === 1) threshold[n] = Math.min(threshold[n], own);
  }
  const time = new Float64Array(N).fill(until);
  const isBeyond = new Uint8Array(N).fill(1);
  for (let n = 0; n < N; n++) {
    if (threshold[n] === Number.POSITIVE_INFINITY) continue;
    const reached =
      threshold[n] === 0 ? 0 : quantileTime(survival.subarray(n * T, (n + 1) * T), grid, threshold[n]);
    if (isAbsent(reached) || reached >= until) continue;
    time[n] = reached;
    isBeyond[n] = 0;
  }
  return { level, time, isBeyond };
}
