// Results files: what was kept is not run again, lines of every kind that were ever written are read, and others are
// refused.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FormatError } from "../../src/core/errors.ts";
import { COMPARE_LINES, TUNE_LINES } from "../../src/node/io/run-lines.ts";
import {
  hashKey,
  keepRuns,
  type LineForm,
  openLines,
  openRunResults,
  type RunForm,
} from "../../src/node/io/run-results.ts";
import type { CompareTask, MethodResult } from "../../src/verbs/comparison/method-run.ts";
import { type RunEvent, runInTurn } from "../../src/verbs/runs.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-results-"));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const SQUARES: RunForm<number, number> = {
  of: "squares",
  code: "squares.results",
  option: "--results",
  starts: ['{"squares":1,'],
  parse(json) {
    if (typeof json !== "object" || json === null || !("squares" in json)) return null;
    const { key, n, square } = json as unknown as { key: string; n: number; square: number };
    return { key, task: n, result: square };
  },
  write: ({ key, task, result }) => ({ squares: 1, key, n: task, square: result }),
};
const keyOf = (n: number) => hashKey(["squares", n]);

/** Squares the numbers, those that the file does not have; `stopAt` ends the program's reading there. */
async function square(path: string, numbers: readonly number[], stopAt = Infinity) {
  const file = openRunResults(path, SQUARES);
  const ran: number[] = [];
  const events: RunEvent<number>[] = [];
  // biome-ignore lint/correctness/useYield: a square is done at once
  const runner = runInTurn<number, number>(async function* (n) {
    ran.push(n);
    return n * n;
  });
  let found: unknown = null;
  const keep = keepRuns(runner, file, {
    keyOf,
    onStart: (said) => {
      found = said;
    },
  });
  for await (const event of keep(numbers)) {
    events.push(event);
    if (events.length >= stopAt) break;
  }
  file.close();
  return { ran, events, found, repaired: file.repaired };
}

describe("kept runs", () => {
  test("are not run again: a plan that was stopped goes on, whatever its order", async () => {
    const path = at("squares.jsonl");
    const first = await square(path, [1, 2, 3, 4], 2);
    expect([first.ran, first.found]).toEqual([[1, 2], { kept: 0, total: 4 }]);
    appendFileSync(path, '{"squares":1,"key":"0');
    const second = await square(path, [4, 2, 3]);
    expect([second.ran, second.found, second.repaired]).toEqual([[4, 3], { kept: 1, total: 3 }, true]);
    expect(second.events).toEqual([
      { type: "result", index: 1, result: 4, isKept: true },
      { type: "result", index: 0, result: 16, isKept: false },
      { type: "result", index: 2, result: 9, isKept: false },
    ]);
    expect((await square(path, [1, 2, 3, 4])).ran).toEqual([]);
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(4);
  });

  test("of two lines of a run the later one counts", async () => {
    const path = at("twice.jsonl");
    const line = (square: number) => `${JSON.stringify({ squares: 1, key: keyOf(5), n: 5, square })}\n`;
    writeFileSync(path, line(24) + line(25));
    expect((await square(path, [5])).events).toMatchObject([{ result: 25, isKept: true }]);
  });
});

describe("a key", () => {
  test("is of what JSON says, typed arrays as lists", () => {
    expect(hashKey({ rows: Int32Array.of(1, 2) })).toBe(hashKey({ rows: [1, 2] }));
    expect(hashKey([1])).not.toBe(hashKey([2]));
    expect(hashKey([1])).toMatch(/^[0-9a-f]{32}$/);
  });
});

test("a line of tune as version 0.1.0 wrote it is read, and written the same", () => {
  const path = at("old.tune.jsonl");
  const scores =
    '{"concordance":0.7,"ece":0.02,"total":0.8,"worst":{"group":"a","ece":0.1,"critical":0.05,"ratio":2},' +
    '"p":0.01,"met":1,"constrained":2,"steps":10}';
  const key = "0123456789abcdef0123456789abcdef";
  const line = `{"tune":1,"key":"${key}","setting":{"kappa":0.5},"seed":1,"scores":${scores},"failure":null}\n`;
  writeFileSync(path, line);
  const file = openRunResults(path, TUNE_LINES);
  const result = file.recorded.get(key);
  expect(result?.scores?.worst?.ratio).toBe(2);
  if (result !== undefined) file.append({ key, task: { setting: { kappa: 0.5 }, seed: 1 }, result });
  file.close();
  expect(readFileSync(path, "utf8")).toBe(line + line);
});

test("a line of compare comes back as it was, scores that are undefined too", () => {
  const path = at("compare.jsonl");
  const task: CompareTask = {
    ...{ split: "seed 1", replicates: 2 },
    method: { label: "cox+boost", method: "cox", distance: null, boosted: true },
  };
  const draws = Float64Array.of(0.1 + 0.2, Number.NaN);
  const result = {
    scores: {
      ...{ concordance: 0.7, ece: 0.1, groupEce: null, worstEce: null, ibs: 0.2 },
      ...{ worstGroup: null, judged: 0 },
    },
    audit: { overall: { n: 3 }, groups: [] },
    draws: { concordance: draws, ece: draws, groupEce: draws, worstEce: draws, ibs: draws },
    ...{ met: null, constrained: null, seconds: 0.25, failure: null, warnings: ["few rows"] },
  } as unknown as MethodResult;
  const key = hashKey("a run");
  const file = openRunResults(path, COMPARE_LINES);
  file.append({ key, task, result });
  file.close();
  const again = openRunResults(path, COMPARE_LINES);
  expect(again.recorded.get(key)).toEqual(result);
  again.close();
  expect(() => openRunResults(path, TUNE_LINES)).toThrow(`not a results file of tune: "${path}"`);
});

test("lines of several kinds: the reader and writer of a plan with a heading", () => {
  const path = at("plan.jsonl");
  const form: LineForm<{ readonly plan: string } | { readonly run: number }> = {
    of: "reproduce",
    code: "results.line",
    option: "--out",
    starts: ['{"plan":', '{"run":'],
    parse: (json) =>
      typeof json === "object" && json !== null && ("plan" in json || "run" in json)
        ? (json as { readonly plan: string })
        : null,
  };
  const file = openLines(path, form);
  file.append({ plan: "one" }, { run: 1 });
  file.close();
  const again = openLines(path, form);
  expect(again.lines).toEqual([{ plan: "one" }, { run: 1 }]);
  again.close();
  appendFileSync(path, "{}\n");
  expect(() => openLines(path, form)).toThrow(FormatError);
  expect(() => openLines(path, form)).toThrow(/not a results file of reproduce/);
});
