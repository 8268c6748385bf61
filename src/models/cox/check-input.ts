/**
 * What a Cox model can be fitted to: as many values as rows, finite times and covariates, entries before times, strata
 * and weights that are such. Each fault is refused with its rows and what to do.
 */
import { InputError, nameRows } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { checkIntervals } from "../../data/outcomes/intervals.ts";
import { WEIGHT_RANGE } from "../../data/outcomes/rows-by-time.ts";
import { type CoxInput, type StratifiedCoxInput, toCoxRows } from "./rows.ts";

/** Throws unless the rows can be used. */
export function checkInput(given: CoxInput | StratifiedCoxInput, caseWeights?: ArrayLike<number>): void {
  const { time, event, x, D, names, strata, entry, weight } = toCoxRows(given);
  const weights = caseWeights ?? weight;
  const N = time.length;
  const refuse = (message: string, where?: string, hint?: string) => {
    throw new InputError(message, { code: "cox.input", ...present({ where, hint }) });
  };
  if (N === 0) refuse("no rows: a Cox model needs at least one");
  if (event.length !== N) refuse(`event has ${event.length} entries, time has ${N}`);
  if (x.length !== N * D) refuse(`x has ${x.length} entries, expected ${N} rows × ${D} columns`);
  if (names && names.length !== D) refuse(`${names.length} names for ${D} columns`);
  if (strata && strata.length !== N) refuse(`strata has ${strata.length} entries, time has ${N}`);
  if (weights && weights.length !== N) refuse(`weights has ${weights.length} entries, time has ${N}`);
  if (entry && entry.length !== N) refuse(`entry has ${entry.length} entries, time has ${N}`);
  const refuseRows = (
    value: (row: number) => number,
    good: (value: number) => boolean,
    what: string,
    hint: string,
  ) => {
    const bad: number[] = [];
    for (let row = 0; row < N; row++) if (!good(value(row))) bad.push(row);
    if (bad.length > 0) refuse(`${what}: ${value(bad[0])}`, nameRows(bad.map((row) => row + 1)), hint);
  };
  refuseRows(
    (row) => time[row],
    Number.isFinite,
    "time is not a finite number",
    "leave rows without a time out",
  );
  checkIntervals({ time, ...present({ entry }) });
  for (let j = 0; j < D; j++)
    refuseRows(
      (row) => x[row * D + j],
      Number.isFinite,
      `column "${nameColumn(names, j)}" is not a finite number`,
      "encode or fill missing values first",
    );
  if (strata)
    refuseRows(
      (row) => strata[row],
      (s) => Number.isInteger(s) && s >= 0 && s < N,
      "stratum is not a whole number from 0 up and below the number of rows",
      "number the strata",
    );
  if (weights)
    refuseRows(
      (row) => weights[row],
      (w) => w >= 0 && w < Number.POSITIVE_INFINITY,
      "weight is not ≥ 0",
      "use 0 to leave a row out",
    );
  const { least, most } = WEIGHT_RANGE;
  const largest = weights === undefined ? 1 : Array.from(weights).reduce((top, w) => Math.max(top, w), 0);
  if (largest > most || (largest > 0 && largest < least))
    refuse(
      `the largest weight is ${largest}`,
      undefined,
      `scale weights: the largest from ${least} to ${most}`,
    );
}

/** Columns without names are called x1, x2, … */
export function nameColumn(names: readonly string[] | undefined, j: number): string {
  return names?.[j] ?? `x${j + 1}`;
}
