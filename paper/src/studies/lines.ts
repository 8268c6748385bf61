/**
 * Files of result lines, one JSON object per line: read whole, and appended to as work ends. Work that has a line is
 * not repeated.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** All lines of one of our files; none where there is no file. */
export function readLines<Line>(path: string): Line[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => JSON.parse(text) as Line);
}

export function appendLine(path: string, line: object): void {
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}
