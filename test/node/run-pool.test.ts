// The pool of runs, on threads and on processes: every task once, how far they are, what ends all of them and what
// ends one.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { BackendError, InputError } from "../../src/core/errors.ts";
import { chooseNext, type PoolOptions, runInPool, workerModule } from "../../src/node/workers/run-pool.ts";
import type { RunEvent } from "../../src/verbs/runs.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-pool-"));
afterAll(() => rmSync(folder, { recursive: true }));
const module = join(folder, "worker.mjs");
const errors = new URL("../../core/errors.js", workerModule("run-worker"));
writeFileSync(
  module,
  `import { serveRuns } from ${JSON.stringify(workerModule("run-worker").href)};
import { InputError } from ${JSON.stringify(errors.href)};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const done = [];
serveRuns(({ offset }) => async function* ({ n, what = "add" }) {
  yield 0;
  if (what === "refuse") throw new InputError("not this one: " + n, { code: "test.refused", hint: "another" });
  if (what === "memory") throw new RangeError("Array buffer allocation failed");
  if (what === "bug") throw new TypeError("undefined is not what it seems");
  if (what === "exit") process.exit(3);
  if (what === "wait") await sleep(60_000);
  if (what === "report") { await sleep(120); yield 0.5; }
  done.push(n);
  return { sum: n + offset, done: [...done] };
});
`,
);

interface Task {
  readonly n: number;
  readonly what?: string;
}
interface Result {
  readonly sum: number;
  /** What the worker did before, and this. */
  readonly done: readonly number[];
}
type Options = Partial<PoolOptions<{ readonly offset: number }, Task, Result>>;

async function run(tasks: readonly Task[], options: Options = {}, events: RunEvent<Result>[] = []) {
  const worker = pathToFileURL(module);
  const pool = runInPool<{ readonly offset: number }, Task, Result>(tasks, {
    ...{ worker, shared: { offset: 100 }, workers: 2, what: "a run of the test", ...options },
  });
  for await (const event of pool) events.push(event);
  return events;
}

const resultsOf = (events: readonly RunEvent<Result>[]) =>
  events.flatMap((event) => (event.type === "result" ? [event] : []));
const plain = (count: number) => Array.from({ length: count }, (_, n): Task => ({ n }));

describe.each(["thread", "process"] as const)("on a %s", (place) => {
  test("every task is run once, with what all share", async () => {
    const events = await run(plain(7), { place });
    const results = resultsOf(events).sort((a, b) => a.index - b.index);
    expect(results.map(({ index, result }) => [index, result.sum])).toEqual(
      plain(7).map(({ n }) => [n, n + 100]),
    );
  });

  test("how far a run is comes before its result", async () => {
    const events = await run([{ n: 1, what: "report" }], { place });
    expect(events.map((event) => (event.type === "progress" ? event.share : event.type))).toEqual([
      0.5,
      "result",
    ]);
  });

  test("a refusal keeps its class, code and hint, and ends the plan; what had ended before is told", async () => {
    const events: RunEvent<Result>[] = [];
    const running = run([{ n: 1 }, { n: 2, what: "refuse" }, { n: 3 }], { place, workers: 1 }, events);
    await expect(running).rejects.toMatchObject({
      ...{ name: "InputError", message: "not this one: 2", code: "test.refused", hint: "another" },
    });
    await expect(running).rejects.toBeInstanceOf(InputError);
    expect(resultsOf(events).map(({ index }) => index)).toEqual([0]);
  });

  test("memory that ran out is told apart from a bug", async () => {
    await expect(run([{ n: 1, what: "memory" }], { place })).rejects.toMatchObject({
      ...{ name: "BackendError", code: "memory.exhausted" },
    });
    const broken = run([{ n: 1, what: "bug" }], { place });
    await expect(broken).rejects.toBeInstanceOf(BackendError);
    await expect(broken).rejects.toMatchObject({ code: "worker.failed" });
    await expect(broken).rejects.toThrow(/^a run of the test failed: /);
  });

  test("a lost worker fails its run alone where the caller can say what that means", async () => {
    const tasks = [{ n: 1 }, { n: 2, what: "exit" }, { n: 3 }, { n: 4 }];
    const lost = (_: Task, why: string): Result => ({ sum: Number.NaN, done: [why.length] });
    const results = resultsOf(await run(tasks, { place, workers: 1, lost }));
    expect(results.map(({ index, result }) => [index, result.sum])).toEqual([
      [0, 101],
      [1, Number.NaN],
      [2, 103],
      [3, 104],
    ]);
    await expect(run(tasks, { place, workers: 1 })).rejects.toThrow(
      /^a run of the test failed: its .* ended/,
    );
  });

  test("a signal ends runs where they are, with its reason", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const started = performance.now();
    const running = run(Array(4).fill({ n: 1, what: "wait" }), { place, signal: stop.signal });
    setTimeout(() => stop.abort(reason), 300);
    await expect(running).rejects.toBe(reason);
    expect(performance.now() - started).toBeLessThan(30_000);
    await expect(run(plain(1), { place, signal: stop.signal })).rejects.toBe(reason);
  });
});

test("a reader that leaves ends the workers", async () => {
  const worker = pathToFileURL(module);
  const tasks: Task[] = [{ n: 1 }, { n: 2, what: "wait" }];
  const options = { worker, shared: { offset: 0 }, workers: 2, what: "a run" };
  for await (const event of runInPool<{ readonly offset: number }, Task, Result>(tasks, options)) {
    expect(event).toMatchObject({ type: "result", index: 0 });
    break;
  }
});

test("tasks that share work go to one worker, as long as there are others to do", async () => {
  const tasks = [0, 1, 0, 1, 0, 1].map((n) => ({ n }));
  const results = resultsOf(await run(tasks, { affinity: ({ n }) => `of ${n}` }));
  for (const { result } of results) {
    // Whoever is last may have taken over what was left.
    if (result.done.length <= 3) expect(new Set(result.done).size).toBe(1);
  }
  expect(chooseNext(["a", null, "b"], "b", new Set(["a", "b"]))).toBe(2);
  expect(chooseNext(["a", null, "b"], null, new Set(["a"]))).toBe(1);
  expect(chooseNext(["a", "b"], null, new Set(["a"]))).toBe(1);
  expect(chooseNext(["a", "a"], "b", new Set(["a", "b"]))).toBe(0);
  expect(chooseNext([], "b", new Set(["b"]))).toBe(0);
});

test("a task that cannot be sent ends the plan", async () => {
  const task = { n: 1, what: (() => "add") as unknown as string };
  await expect(run([task])).rejects.toThrow(/could not be cloned/);
});

test("no tasks need no workers, and their number is checked", async () => {
  expect(await run([])).toEqual([]);
  await expect(run(plain(1), { workers: 0 })).rejects.toThrow("workers are not a positive whole number: 0");
});
