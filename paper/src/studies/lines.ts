/**
 * Files of result lines, one JSON object a line: read whole, and added to as work ends. What is there is not done
 * again.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** All lines of a file of ours; none where there is no file. */
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
