// Tables and options that a training run must refuse in a sentence before it starts, or see through with its warnings.
// Most of them go through the verbs in this process; what only a process can show (signals, pipes) has one of its own.
// How a refusal looks as a command is in test/golden.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { GraduateError } from "../../src/core/errors.ts";
import { createRandom } from "../../src/core/random.ts";
import { checkTable } from "../../src/data/checks/sanity.ts";
import { encode } from "../../src/data/encode/encode.ts";
import { chooseFeatures } from "../../src/data/encode/features.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import { parseNamedGroup, refuseOutcomeGroups } from "../../src/data/groups/groups.ts";
import { splitFromTable } from "../../src/data/outcomes/split.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type { Table } from "../../src/data/table.ts";
import { createTrainProgress } from "../../src/node/print/follow-training.ts";
import type { Method } from "../../src/training/choices.ts";
import type { Model } from "../../src/training/model.ts";
import { predict } from "../../src/verbs/predict.ts";
import type { StartEvent, TrainRequest } from "../../src/verbs/train.ts";
import { trainTable } from "../verbs/train-table.ts";
import { root, runCli, writeScratch } from "./run-cli.ts";

const METHODS: readonly Method[] = ["graduate", "drsa", "xcal", "rps", "nll", "cox"];
const columns = { time: "time", event: "event" } as const;

interface Person {
  readonly time: number;
  readonly event: number;
  readonly age: number;
  readonly sex: string;
}

/** Exponential times that shorten with age, four events in ten. */
function drawPeople(N: number): Person[] {
  const random = createRandom(7, 1);
  return Array.from({ length: N }, () => {
    const age = 40 + Math.round(400 * random.uniform()) / 10;
    const time =
      Math.round((-1000 * Math.log(1 - random.uniform())) / Math.exp((age - 60) / 20)) / 100 + 0.01;
    return { time, event: random.uniform() < 0.4 ? 1 : 0, age, sex: random.uniform() < 0.5 ? "F" : "M" };
  });
}

const people = drawPeople(200);

function toCsv(rows: readonly object[]): string {
  const names = Object.keys(rows[0]);
  const lines = rows.map((row) => Object.values(row).join(","));
  return `${[names.join(","), ...lines].join("\n")}\n`;
}

const tableOf = (rows: readonly object[]): Promise<Table> =>
  readTable(tableSourceFromBytes("people.csv", new TextEncoder().encode(toCsv(rows))));

const quick: Partial<TrainRequest> = { hidden: 3, bins: 10, options: { steps: 4, evaluateEvery: 2 } };

const rowsFrom = (from: number, to: number) => Int32Array.from({ length: to - from }, (_, k) => from + k);

interface Run {
  readonly start: StartEvent;
  readonly model: Model;
}

async function run(table: Table, request: Partial<TrainRequest> = {}): Promise<Run> {
  const steps = trainTable(table, { ...columns, ...quick, ...request }, createReferenceBackend());
  const first = await steps.next();
  if (first.done || first.value.type !== "start")
    throw new Error("a run begins by saying what it starts with");
  for (let next = await steps.next(); ; next = await steps.next())
    if (next.done) return { start: first.value, model: next.value };
}

/** Why the run does not begin. */
async function refusal(table: Table, request: Partial<TrainRequest>): Promise<GraduateError> {
  const steps = trainTable(table, { ...columns, ...quick, ...request }, createReferenceBackend());
  const error = await steps.next().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GraduateError)) throw new Error(`expected a refusal, not ${error}`);
  return error;
}

async function expectCurves(model: Model, table: Table): Promise<void> {
  const { curves } = await predict(model, table, createReferenceBackend());
  const { T, survival } = curves;
  expect(survival.length).toBe(table.rows * T);
  const isCurve = survival.every((S, k) => S >= 0 && S <= (k % T === 0 ? 1 : survival[k - 1]));
  expect(isCurve).toBe(true);
}

describe.each(METHODS)("%s refuses before it starts", (method) => {
  test.each<[string, readonly object[], Partial<TrainRequest>, string | RegExp]>([
    ["no events", people.map((one) => ({ ...one, event: 0 })), {}, "no events among"],
    ["one row", people.slice(0, 1), {}, "no column is left to learn from: age has a single value"],
    ["two rows", people.slice(0, 2), {}, "too few rows to split by 0.6, 0.2, 0.2: 2"],
    [
      "features without a value",
      people.map(({ time, event }) => ({ time, event, age: "", sex: "" })),
      {},
      "no column is left to learn from: age has no value, sex has no value",
    ],
    [
      "a constant alone",
      people.map(({ time, event }) => ({ time, event, site: 7 })),
      {},
      "no column is left to learn from: site has a single value",
    ],
    [
      "no features",
      people.map(({ time, event }) => ({ time, event })),
      {},
      "no column is left to learn from",
    ],
    ["only times of 0", people.map((one) => ({ ...one, time: 0 })), {}, "every training time is 0"],
    [
      "a value of 1e300",
      people.map((one, k) => ({ ...one, age: k % 10 === 7 ? "1e300" : one.age })),
      {},
      /value too large to standardise: "age" is 1e\+300/,
    ],
    [
      "values of 1e-300",
      people.map((one) => ({ ...one, age: `${one.age}e-302` })),
      {},
      'values too close together to standardise: "age"',
    ],
    [
      "a group by no such column",
      people,
      { groups: [parseNamedGroup("agee > 60")] },
      'unknown column: "agee"',
    ],
    [
      "two groups of one name",
      people,
      { groups: [parseNamedGroup("old: age > 60"), parseNamedGroup("old: age > 65")] },
      'two groups have the same name: "old"',
    ],
    [
      "a group that the outcome cuts",
      people,
      { groups: [parseNamedGroup("time > 5")] },
      'a group cannot be cut by the outcome: "time"',
    ],
    [
      "a test row that cannot be encoded",
      people.map((one, k) => ({ ...one, age: k === 199 ? "1e300" : one.age })),
      { split: { train: rowsFrom(0, 150), validation: rowsFrom(150, 175), test: rowsFrom(175, 200) } },
      'value beyond anything training had: "age" is 1e+300',
    ],
    ["no bins", people, { bins: 0 }, "number of time bins is not a whole number from 1 to 20000: 0"],
  ])("%s", async (_, rows, request, says) => {
    const error = await refusal(await tableOf(rows), { ...request, method });
    expect(error.message).toMatch(says);
    expect(error.message).not.toContain("\n    at ");
  });
});

describe.each(METHODS)("%s sees it through", (method) => {
  test.each<[string, readonly object[], Partial<TrainRequest>, RegExp | null]>([
    ["ten rows", people.slice(0, 10), { seed: 2 }, /group "all" has \d events? in 6 rows: fewer than 10/],
    [
      "a group without events",
      people.map((one) => ({ ...one, event: one.sex === "F" ? 0 : one.event })),
      { groups: [parseNamedGroup("sex = F")], allowLeak: ["sex"] },
      /group "sex = F" has 0 events in/,
    ],
    [
      "a group without rows",
      people,
      { groups: [parseNamedGroup("age > 200")] },
      /group "age > 200" has 0 events in 0 rows/,
    ],
    [
      "a feature without a value",
      people.map((one) => ({ ...one, dose: "" })),
      {},
      /dose is not used: it has no value/,
    ],
    [
      "a constant feature",
      people.map((one) => ({ ...one, site: 7 })),
      {},
      /site is not used: it has a single value/,
    ],
    [
      "a level that only test rows have",
      people.map((one, k) => ({ ...one, sex: k >= 195 ? "other" : one.sex })),
      { split: { train: rowsFrom(0, 150), validation: rowsFrom(150, 175), test: rowsFrom(175, 200) } },
      /sex: level other has fewer than 2 training rows, taken as none of the others/,
    ],
    [
      "more features than events",
      people.slice(0, 40).map((one, i) => ({
        ...one,
        ...Object.fromEntries(
          Array.from({ length: 30 }, (_, k) => [`g${k}`, ((i + 1) * (k + 7) * 0.37) % 1]),
        ),
      })),
      {},
      /\d+ features for \d+ training events/,
    ],
    ["events alone", people.map((one) => ({ ...one, event: 1 })), {}, null],
    ["one time for all", people.map((one) => ({ ...one, time: 5 })), {}, null],
    ["no validation rows", people, { fractions: [0.7, 0, 0.3] }, null],
    ["no test rows", people, { fractions: [0.7, 0.3, 0] }, null],
    ["training rows alone", people, { fractions: [1, 0, 0] }, null],
    ["a batch beyond the rows", people, { options: { steps: 2, batch: 5000 } }, null],
    ["one bin", people, { bins: 1 }, null],
    ["one hidden unit", people, { hidden: 1 }, null],
    ["no steps", people, { options: { steps: 0 } }, null],
    ["times of 1e300", people.map((one) => ({ ...one, time: `${one.time}e300` })), {}, null],
    ["times of 1e-300", people.map((one) => ({ ...one, time: `${one.time}e-300` })), {}, null],
  ])("%s", async (_, rows, request, warns) => {
    const table = await tableOf(rows);
    const { start, model } = await run(table, { ...request, method });
    if (warns !== null) expect(start.warnings.join("\n")).toMatch(warns);
    await expectCurves(model, table);
  });
});

test("a group that the outcome cuts is refused by the column it names", () => {
  const groups = [parseNamedGroup("age > 60"), parseNamedGroup("late: age > 60 & !(time <= 2)")];
  expect(() => refuseOutcomeGroups(groups, ["time", "event"])).toThrow(
    'cannot be cut by the outcome: "time"',
  );
  expect(() => refuseOutcomeGroups(groups, ["death"])).not.toThrow();
});

test("a split that trains on nobody names its file", async () => {
  const split = await tableOf(people.map((_, k) => ({ row: k + 1, set: k < 150 ? "valid" : "test" })));
  expect(() => splitFromTable(split, people.length)).toThrow('no row of the split is in "train"');
});

describe("wide tables", () => {
  test("a category of 5000 levels in 10000 rows is a warning and is left out", async () => {
    const table = await tableOf(
      drawPeople(10_000).map((one, k) => ({ ...one, site: `L${(k * 7919) % 5000}x` })),
    );
    // Every level twice would be patients with two rows each; some have more and some fewer.
    const { codes } = table.columns[4] as Extract<Table["columns"][number], { type: "category" }>;
    for (let row = 0; row < 500; row++) codes[row] = codes[9999 - row];
    const checked = checkTable(table, columns);
    const found = checked.findings.filter(({ column }) => column === "site");
    expect(found.map(({ code, level }) => [code, level])).toEqual([["levels.many", "warning"]]);
    expect(found[0].message).toMatch(
      /^site has many levels for its rows: \d+ in 10000 rows, none with 10 rows/,
    );
    const { features, leftOut } = chooseFeatures(table, checked, columns);
    expect(features).toEqual(["age", "sex"]);
    expect(leftOut.map(({ name }) => name)).toEqual(["site"]);
  });

  test("with frequent levels among them it stays", async () => {
    const random = createRandom(3, 1);
    const site = () =>
      random.uniform() < 0.7
        ? `big ${Math.floor(3 * random.uniform())}`
        : `small ${Math.floor(300 * random.uniform())}`;
    const table = await tableOf(drawPeople(1000).map((one) => ({ ...one, site: site() })));
    const checked = checkTable(table, columns);
    const found = checked.findings.filter(({ code }) => code === "levels.many");
    expect(found.map(({ evidence }) => evidence.frequent)).toEqual([3]);
    expect(checked.features.find(({ name }) => name === "site")?.usable).toBe(true);
  });

  // A pass over all pairs of columns would be 400 million steps: the limit on the time is there to notice one.
  test("20000 columns of whole numbers are checked, chosen and encoded", () => {
    const N = 40;
    const random = createRandom(5, 1);
    const draw = (values: () => number) => Float64Array.from({ length: N }, values);
    const names = Array.from({ length: 20_000 }, (_, k) => `g${k}`);
    const table: Table = {
      name: "wide.csv",
      rows: N,
      columns: [
        { name: "time", type: "number", values: draw(() => 10 * random.uniform()) },
        { name: "event", type: "number", values: draw(() => (random.uniform() < 0.4 ? 1 : 0)) },
        ...names.map((name) => ({
          name,
          type: "number" as const,
          values: draw(() => Math.floor(40 * random.uniform())),
        })),
      ],
    };
    const { features } = chooseFeatures(table, checkTable(table, columns), columns);
    expect(features).toEqual(names);
    const { D, values } = encode(fitEncoder(table, { features }), table);
    expect([D, values.length]).toEqual([20_000, 20_000 * N]);
  }, 20_000);
});

describe("rows a model has not seen", () => {
  let model: Model;
  beforeAll(async () => {
    ({ model } = await run(await tableOf(people)));
  });
  const told = async (rows: readonly object[]) => {
    const table = await tableOf(rows);
    return predict(model, table, createReferenceBackend()).then(
      () => "",
      (error: unknown) => {
        if (!(error instanceof GraduateError)) throw error;
        return `${error.message} (${error.where})`;
      },
    );
  };

  test("need no outcome", async () => {
    const table = await tableOf(people.map(({ age, sex }) => ({ age, sex })));
    await expectCurves(model, table);
  });

  test.each<[string, readonly object[], string]>([
    ["a missing column", people.map(({ sex }) => ({ sex })), 'missing column: "age"'],
    [
      "an unknown level",
      people.map((one, k) => (k === 4 ? { ...one, sex: "X" } : one)),
      'level of "sex" not seen in training: "X" (people.csv, row 5, column "sex")',
    ],
    [
      "a missing level",
      people.map((one, k) => (k === 4 ? { ...one, sex: "" } : one)),
      'missing value where training had none: "sex" (people.csv, row 5, column "sex")',
    ],
    [
      "a value that overflows",
      people.map((one, k) => (k === 4 ? { ...one, age: "1e300" } : one)),
      'value beyond anything training had: "age" is 1e+300 (people.csv, row 5, column "age")',
    ],
  ])("%s is named with its row", async (_, rows, says) => {
    expect(await told(rows)).toContain(says);
  });
});

describe("as commands", () => {
  const table = writeScratch("people.csv", toCsv(people));
  const request = ["train", table, "--time", "time", "--event", "event", "--hidden", "3", "--bins", "10"];

  /** Sends Ctrl-C once training has begun, and again as often as asked. */
  async function interrupt(args: readonly string[], cwd: string, times: number) {
    const child = spawn(process.execPath, [join(root, "bin", "graduate.js"), ...args], { cwd });
    let stderr = "";
    let sent = 0;
    child.stderr.on("data", (part) => {
      stderr += part;
      const due = stderr.includes("Ctrl-C again") ? 2 : stderr.includes("step 50/") ? 1 : 0;
      for (; sent < Math.min(due, times); sent++) child.kill("SIGINT");
    });
    const code = await new Promise<number | null>((resolve) => {
      child.on("close", resolve);
    });
    return { code, stderr };
  }

  test("Ctrl-C leaves a checkpoint where the run was started, and the run goes on from it", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "graduate-interrupted-"));
    const { code, stderr } = await interrupt([...request, "--steps", "100000"], cwd, 1);
    expect(code).toBe(130);
    const said = /interrupted at step (\d+); the same command with --resume (\S+) goes on/.exec(stderr);
    const [step, checkpoint] = [Number(said?.[1]), join(cwd, said?.[2] ?? "")];
    expect(step).toBeGreaterThanOrEqual(50);
    expect(existsSync(checkpoint)).toBe(true);
    const resumed = runCli([...request, "--steps", String(step + 10), "--resume", checkpoint]);
    expect([resumed.code, resumed.stderr.includes(`step ${step + 10}/${step + 10}`)]).toEqual([0, true]);
  });

  test("a second Ctrl-C does not wait", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "graduate-stopped-"));
    const long = [...request, "--steps", "100000", "--batch", "2"];
    const { code } = await interrupt(long, cwd, 2);
    expect(code).toBe(130);
  });

  test("a reader that goes away ends nothing in a stack", async () => {
    const child = spawn(process.execPath, [join(root, "bin", "graduate.js"), ...request, "--steps", "20"]);
    let stderr = "";
    child.stderr.on("data", (part) => {
      stderr += part;
    });
    child.stdout.destroy();
    const code = await new Promise<number | null>((resolve) => {
      child.on("close", resolve);
    });
    expect([code, stderr.includes(" at ")]).toEqual([0, false]);
  });
});

test("the live line never fills a narrow terminal", () => {
  const { isTTY, columns: before } = process.stderr;
  const written: string[] = [];
  const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    Object.assign(process.stderr, { isTTY: true, columns: 24 });
    const show = createTrainProgress();
    const G = new Float64Array(0);
    show({
      type: "step",
      step: 1,
      loss: 0.123456,
      lagrangian: 0.2,
      groups: [],
      constrained: [],
      distances: G,
      slack: G,
      multipliers: G,
    });
  } finally {
    Object.assign(process.stderr, { isTTY, columns: before });
    spy.mockRestore();
  }
  expect(written).toHaveLength(1);
  const line = written[0].replace("\r\x1b[K", "");
  expect(line).toMatch(/^step 1\//);
  expect([...line].length).toBeLessThan(24);
});
