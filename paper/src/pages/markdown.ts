/** Numbers and tables as Markdown, the same on every page. */

import type { RunResult } from "../runs/results.ts";
import { type Read, spreadOf } from "../summaries/summary.ts";

/** A Markdown table; columns after the first are numbers. */
export function formatMarkdown(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(titles), line(titles.map((_, k) => (k === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n");
}

export function formatMean(runs: readonly RunResult[], read: Read, digits: number): string {
  return spreadOf(runs, read)?.mean.toFixed(digits) ?? "–";
}

export function formatSigned(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : value < 0 ? `−${text}` : `+${text}`;
}

/** "a, b and c" */
export function listOf(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
