/**
 * Leaks: columns that could only be filled in after the outcome was known. A model fitted on one looks excellent and
 * is worthless. The detectors look at what a column says about event (event.ts) and time (time.ts), never
 * at its name; the rules and their reasons are in docs/decisions/005-leak-rules.md. Findings, worst first per column.
 */
import type { Finding } from "../findings.ts";
import type { Outcomes } from "../outcomes.ts";
import type { Column } from "../table.ts";
import { findEventLeak } from "./event.ts";
import { findTimePairs } from "./pairs.ts";
import { collectLeakColumn, collectLeakRows } from "./rows.ts";
import { findTimeLeak } from "./time.ts";

/** Leaks among the given columns (time and event themselves not among them), in the order of the columns. */
export function findLeaks(columns: readonly Column[], outcomes: Outcomes, usable: Uint8Array): Finding[] {
  const leak = collectLeakRows(outcomes.time, outcomes.event, usable, columns.length);
  if (leak.rows.length === 0) return [];
  const single = columns.map((column) => {
    const collected = collectLeakColumn(column, leak);
    const { name, type, numbers } = collected; // the counts of every column at once would fill the memory
    const event = findEventLeak(collected, leak);
    return { column: { name, type, numbers }, event, time: findTimeLeak(collected, leak) };
  });
  const suspects = single.filter(({ time }) => time?.level !== "error").map(({ column }) => column);
  const pairs = findTimePairs(suspects, leak);
  return single.flatMap(({ column, event, time }) => {
    const paired = pairs.filter((finding) => finding.column === column.name);
    const pair = paired.find((finding) => finding.level === "error") ?? paired[0];
    // A column has one finding about the time: the pair's if it is graver than its own.
    const graver = pair && (time === null || pair.level === "error") ? pair : time;
    return [event, graver].filter((finding) => finding !== null);
  });
}
