/**
 * The files of a study: its plan, and its result lines, one JSON object per line, read whole and appended to as work
 * ends. Work that has a line is not repeated. Numbers are rounded, so that lines stay short.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { InputError } from "graduate-survival/core";
import { z } from "zod";

export function parseStudyPlan<Plan>(schema: z.ZodType<Plan>, text: string, where: string): Plan {
  const { success, data, error } = schema.safeParse(JSON.parse(text));
  if (success) return data;
  throw new InputError(`not a plan of this study: ${z.prettifyError(error)}`, { code: "plan.form", where });
}

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

/** Runs what the file has no line of; `said` is told of every new line. */
export type RunPlan<Run, Line extends Run> = (
  runs: readonly Run[],
  runLine: (run: Run) => Promise<Line>,
  out: string,
  said: (line: Line) => void,
) => Promise<void>;

/** The file is read before every run: several processes may add to it. */
export function createPlanRunner<Run extends object, Line extends Run>(
  isLineOf: (line: Line, run: Run) => boolean,
): RunPlan<Run, Line> {
  return async (runs, runLine, out, said) => {
    for (const run of runs) {
      if (readLines<Line>(out).some((line) => isLineOf(line, run))) continue;
      const line = await runLine(run);
      appendLine(out, line);
      said(line);
    }
  };
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

export function secondsSince(started: number): number {
  return round((performance.now() - started) / 1000, 2);
}
