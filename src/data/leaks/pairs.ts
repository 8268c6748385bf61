/**
 * Pairs of columns whose difference is the time: the dates of entry and of death, the ages at both. Neither is a copy
 * alone. Pairs are screened on a sample of event rows by plain correlation (a difference in one unit is linear in the
 * time) and judged like a single column (time.ts). The finding is on the column that grows with the time, which is
 * the one that was filled in last.
 */
import { createFinding, type Finding } from "../checks/findings.ts";
import { type LeakColumn, type LeakRows, sampleOf } from "./rows.ts";
import { orderOfNumbers } from "./time.ts";

export type PairColumn = Pick<LeakColumn, "name" | "type" | "numbers">;

const PAIR_SAMPLE_ROWS = 200;
/** Fewer known rows than this in the sample say nothing. */
const MIN_SAMPLE_ROWS = 20;
/** A date pair rounded to years still correlates 0.99 with the time; honest differences stay far below. */
const PAIR_SCREEN = 0.9;
/** Differences are tried only among the first so many columns: the number of pairs grows with the square. */
const MAX_PAIR_COLUMNS = 400;

export function findTimePairs(columns: readonly PairColumn[], leak: LeakRows): Finding[] {
  const candidates = columns.filter((column) => column.numbers !== null).slice(0, MAX_PAIR_COLUMNS);
  if (candidates.length < 2 || leak.events < MIN_SAMPLE_ROWS) return [];
  const rows = sampleOf(leak.eventsByTime(), PAIR_SAMPLE_ROWS);
  const time = Float64Array.from(rows, (row) => leak.time[row]);
  const samples = candidates.map(({ numbers }) =>
    Float64Array.from(rows, (row) => numbers?.[row] ?? Number.NaN),
  );
  const findings: Finding[] = [];
  for (let a = 0; a < candidates.length; a++) {
    for (let b = a + 1; b < candidates.length; b++) {
      if (candidates[a].type !== candidates[b].type) continue; // days minus something else is no length of time
      const correlation = correlateDifference(samples[a], samples[b], time);
      if (Math.abs(correlation) < PAIR_SCREEN) continue;
      const [late, early] = correlation > 0 ? [a, b] : [b, a];
      const [x, y] = [candidates[late].numbers, candidates[early].numbers];
      if (x === null || y === null) continue;
      const what = `${candidates[late].name} − ${candidates[early].name}`;
      const difference = x.map((value, row) => value - y[row]);
      const found = orderOfNumbers(difference, what, leak, candidates[late].name);
      if (found === null) continue;
      const evidence = { ...found.evidence, partner: candidates[early].name };
      findings.push(createFinding({ ...found, code: "leak.time", column: candidates[late].name, evidence }));
    }
  }
  return findings;
}

/** Pearson correlation of x − y with t over rows where both are known; 0 where too few are. */
function correlateDifference(x: Float64Array, y: Float64Array, t: Float64Array): number {
  let n = 0;
  let meanX = 0;
  let meanT = 0;
  let xx = 0;
  let tt = 0;
  let xt = 0;
  for (let i = 0; i < t.length; i++) {
    const value = x[i] - y[i];
    if (Number.isNaN(value)) continue;
    n++;
    const dx = value - meanX;
    const dt = t[i] - meanT;
    meanX += dx / n;
    meanT += dt / n;
    xx += dx * (value - meanX);
    tt += dt * (t[i] - meanT);
    xt += dx * (t[i] - meanT);
  }
  return n >= MIN_SAMPLE_ROWS && xx > 0 && tt > 0 ? xt / Math.sqrt(xx * tt) : 0;
}
