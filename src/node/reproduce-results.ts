/**
 * The results of a plan on disk: lines of experiments/results.ts, appended as runs end, each in one write. What a kill left of the last line
 * is cut off. A file that is something else is refused, not appended to. Two programs may not write to one file at once.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { FormatError, InputError } from "../core/errors.ts";
import type { Plan } from "../experiments/plan.ts";
import {
  type CohortNames,
  LINE_STARTS,
  parseResults,
  planLine,
  type Results,
  type RunFailure,
  type RunResult,
  refuseLine,
  requireSamePlan,
} from "../experiments/results.ts";

export interface ResultsFile {
  /** What the file had of the plan; undefined where it had nothing. */
  readonly before: Results | undefined;
  /** Whether a half-written line was cut off. */
  readonly repaired: boolean;
  append(line: RunResult | RunFailure, names?: CohortNames): void;
  close(): void;
}

/** Opens, or makes, the file for one plan; those of other plans in it stay. */
export function openResultsFile(path: string, plan: Plan): ResultsFile {
  let file: number;
  let bytes: Buffer;
  try {
    file = openSync(path, "a+");
    bytes = readFileSync(path);
  } catch (error) {
    throw refuseFile(path, error);
  }
  const end = bytes.lastIndexOf(0x0a) + 1;
  let before: Results | undefined;
  try {
    before = parseResults(bytes.subarray(0, end).toString("utf8"), path).get(plan.name);
    requireSamePlan(before, plan, path);
    const rest = bytes.subarray(end).toString("utf8");
    const isOurs = LINE_STARTS.some((start) => start.startsWith(rest.slice(0, start.length)));
    if (!isOurs) throw refuseLine(`${path}, the last line`);
    if (end < bytes.length) ftruncateSync(file, end);
  } catch (error) {
    closeSync(file);
    throw error instanceof FormatError ? error : refuseFile(path, error);
  }
  let isEmpty = end === 0;
  let hasPlan = before !== undefined;
  const named = new Map(before?.cohorts);
  const write = (lines: readonly string[]) => {
    try {
      writeSync(file, lines.map((line) => `${line}\n`).join(""));
      fsyncSync(file);
      isEmpty = false;
    } catch (error) {
      throw refuseFile(path, error);
    }
  };
  return {
    before,
    repaired: end < bytes.length,
    append(line, names) {
      const lines = hasPlan ? [] : [planLine(plan)];
      const known = names && named.get(names.cohort);
      if (names !== undefined && known === undefined) {
        lines.push(JSON.stringify(names));
        named.set(names.cohort, names);
      } else if (names !== undefined && JSON.stringify(names) !== JSON.stringify(known)) {
        throw new FormatError(`the groups of "${names.cohort}" are not those of the results file`, {
          code: "results.groups",
          where: path,
          hint: "name another file (--out), or delete this one to begin anew",
        });
      }
      write([...lines, JSON.stringify(line)]);
      hasPlan = true;
    },
    close() {
      closeSync(file);
      if (isEmpty) unlinkSync(path);
    },
  };
}

function refuseFile(path: string, error: unknown): InputError {
  const { code } = error as NodeJS.ErrnoException;
  return new InputError(`cannot keep the results in "${path}" (${code ?? "unknown reason"})`, {
    code: "file.unwritable",
    hint: "--out names the file",
  });
}
