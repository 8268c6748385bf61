// Shards: which runs are whose, what a cluster's variables mean, and files of results that become one.
import { describe, expect, test } from "vitest";
import { mergeLines } from "../../src/node/shards/merge-lines.ts";
import { parseShard, pickShard, shardFile } from "../../src/node/shards/shard.ts";
import { createHead } from "../../src/node/shards/shard-head.ts";

describe("--shard", () => {
  test("names a shard, counted from 1", () => {
    expect(parseShard("2/8", {})).toEqual({ index: 2, count: 8 });
    expect(shardFile("folder/runs.jsonl", { index: 2, count: 8 })).toBe("folder/runs.2-of-8.jsonl");
    for (const text of ["0/8", "9/8", "2", "a/b", "1/0", "-1/4", "1.5/4", ""])
      expect(() => parseShard(text, {}), text).toThrow(/expected i\/n such as 2\/8/);
  });

  test("auto is the place in Slurm's array, wherever it begins and however it goes on", () => {
    const array = (id: number, first: number, step: number) => ({
      SLURM_ARRAY_TASK_ID: String(id),
      SLURM_ARRAY_TASK_MIN: String(first),
      SLURM_ARRAY_TASK_STEP: String(step),
      SLURM_ARRAY_TASK_COUNT: "4",
    });
    expect(parseShard("auto", array(1, 1, 1))).toEqual({ index: 1, count: 4 });
    expect(parseShard("auto", array(3, 0, 1))).toEqual({ index: 4, count: 4 });
    expect(parseShard("auto", array(14, 10, 2))).toEqual({ index: 3, count: 4 });
    expect(parseShard("auto/6", array(2, 0, 1))).toEqual({ index: 3, count: 6 });
    expect(() => parseShard("auto/2", array(3, 0, 1))).toThrow("task is number 4, and there are 2 shards");
  });

  test("auto/n is the place in a Kubernetes job, which counts from 0 and not how many", () => {
    expect(parseShard("auto/5", { JOB_COMPLETION_INDEX: "0" })).toEqual({ index: 1, count: 5 });
    expect(parseShard("auto/5", { JOB_COMPLETION_INDEX: "4" })).toEqual({ index: 5, count: 5 });
    expect(() => parseShard("auto", { JOB_COMPLETION_INDEX: "0" })).toThrow("SLURM_ARRAY_TASK_COUNT");
    expect(() => parseShard("auto/5", {})).toThrow(
      "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set",
    );
  });
});

describe("the runs of a shard", () => {
  const tasks = Array.from({ length: 23 }, (_, k) => ({
    name: `run ${k}`,
    network: k % 3 === 0 ? null : `${k >> 2}`,
  }));

  test.each([1, 2, 5, 23, 40])("of %i shards every run is in one, and they are even", (count) => {
    const shards = Array.from({ length: count }, (_, k) => pickShard(tasks, { index: k + 1, count }));
    expect(shards.flat().sort((a, b) => a - b)).toEqual(tasks.map((_, k) => k));
    const sizes = shards.map(({ length }) => length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    for (const own of shards) expect(own).toEqual(own.toSorted((a, b) => a - b));
  });

  test("runs that share work are in one shard, and a plan's regular places are not", () => {
    const shards = [1, 2, 3].map((index) => pickShard(tasks, { index, count: 3 }, ({ network }) => network));
    expect(shards.flat().sort((a, b) => a - b)).toEqual(tasks.map((_, k) => k));
    const whereIs = (network: string) =>
      shards.filter((own) => own.some((k) => tasks[k].network === network)).length;
    for (const { network } of tasks) if (network !== null) expect(whereIs(network)).toBe(1);
    const everyOther = pickShard(tasks, { index: 1, count: 2 }).filter((k) => k % 2 === 0);
    expect(everyOther.length).toBeGreaterThan(2);
    expect(everyOther.length).toBeLessThan(10);
  });
});

describe("merging", () => {
  const line = (key: string, more: object = {}) =>
    JSON.stringify({
      tune: 1,
      key,
      setting: { kappa: 0.5 },
      seed: 2,
      scores: { ece: 0.1 },
      failure: null,
      ...more,
    });
  const head = (index: number, keys: readonly string[]) =>
    JSON.stringify(
      createHead(
        { index, count: 2 },
        keys.map((key) => [key, `the run ${key}`]),
        ["tune", "my table.csv", "--shard", `${index}/2`, "--time", "t"],
      ),
    );
  const file = (path: string, lines: readonly string[]) => ({
    path,
    text: lines.map((one) => `${one}\n`).join(""),
  });
  const [first, second] = [
    file("1.jsonl", [head(1, ["b", "c"]), line("c"), line("b")]),
    file("2.jsonl", [head(2, ["a"]), line("a")]),
  ];

  test("runs in the order of their keys, whatever the order of files, and again the same", () => {
    const merged = mergeLines([first, second]);
    expect(merged).toEqual({ lines: [line("a"), line("b"), line("c")], runs: 3, missing: [], cut: [] });
    expect(mergeLines([second, first]).lines).toEqual(merged.lines);
    const once = file("m.jsonl", merged.lines);
    expect(mergeLines([once, once, first]).lines).toEqual(merged.lines);
  });

  test("what is missing is named, with the command that makes it", () => {
    const { missing } = mergeLines([file("1.jsonl", [head(1, ["b", "c"]), line("c")])]);
    expect(missing).toEqual([
      {
        index: 1,
        count: 2,
        command: expect.stringMatching(/graduate.* tune "?'?my table\.csv'?"? --time t --shard 1\/2$/),
        names: ["the run b"],
      },
      { index: 2, count: 2, command: expect.stringMatching(/--shard 2\/2$/), names: null },
    ]);
  });

  test("a plan begun in three parts and made in two has nothing missing", () => {
    const begun = JSON.stringify({ ...JSON.parse(head(1, ["b"])), count: 3 });
    expect(mergeLines([file("0.jsonl", [begun, line("b")]), first, second]).missing).toEqual([]);
  });

  test("two results of one run are refused by name, but for their seconds", () => {
    const other = file("x.jsonl", [line("b", { scores: { ece: 0.2 } })]);
    expect(() => mergeLines([first, other])).toThrow(
      expect.objectContaining({
        code: "merge.conflict",
        message: "two different results of the same run: kappa 0.5, seed 2",
        where: "1.jsonl, line 3; x.jsonl, line 1",
      }),
    );
    const slower = file("y.jsonl", [line("b", { seconds: 9 })]);
    const quicker = file("z.jsonl", [line("b", { seconds: 3 })]);
    expect(mergeLines([slower, quicker]).lines).toEqual(mergeLines([quicker, slower]).lines);
  });

  test("lines of reproduce: plans first, and a run that failed gives way to one that did not", () => {
    const run = { plan: "p", cohort: "c", system: "cox", seed: 1 };
    const plan = JSON.stringify({ reproduce: 1, plan: { name: "p" } });
    const names = JSON.stringify({ plan: "p", cohort: "c", groups: [] });
    const done = JSON.stringify({ run, scores: { ece: [0.1] } });
    const failed = JSON.stringify({ run, failure: "no memory" });
    const [a, b] = [file("a", [plan, names, failed]), file("b", [plan, names, done])];
    expect(mergeLines([a, b]).lines).toEqual([plan, names, done]);
    expect(mergeLines([b, a]).lines).toEqual([plan, names, done]);
  });

  test("a line that was cut off is left out and said; what is no line is refused", () => {
    const cut = { path: "cut.jsonl", text: `${line("a")}\n{"tune":1,"ke` };
    expect(mergeLines([cut])).toMatchObject({ runs: 1, cut: ["cut.jsonl"] });
    expect(() => mergeLines([file("table.csv", ["a,b,c"])])).toThrow(
      expect.objectContaining({ code: "merge.line", where: "table.csv, line 1" }),
    );
  });
});
