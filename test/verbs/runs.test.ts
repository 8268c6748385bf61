// tune and compare as verbs: in this thread, on a backend that is handed in, with the numbers of the commands and
// their workers.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WasmBackend } from "../../src/compute/wasm/wasm-backend.ts";
import { parseNamedGroup } from "../../src/data/groups/groups.ts";
import { splitTable } from "../../src/data/outcomes/split.ts";
import type { Table } from "../../src/data/table.ts";
import { readTableFile } from "../../src/node/options/table-options.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { compare } from "../../src/verbs/compare.ts";
import type { ComparedMethod } from "../../src/verbs/comparison/method-run.ts";
import { runInTurn, runWithShares } from "../../src/verbs/runs.ts";
import { prepare } from "../../src/verbs/train.ts";
import { trainChosen, tune } from "../../src/verbs/tune.ts";
import { expandSweep, parseSweep } from "../../src/verbs/tuning/settings.ts";
import { runJson, writeScratch } from "../cli/run-cli.ts";

const tableAt = (name: string) => fileURLToPath(new URL(`../tables/${name}.csv`, import.meta.url));

/** Events in turn, and what the generator returns. */
async function follow<Event, Outcome>(events: AsyncGenerator<Event, Outcome>) {
  const seen: Event[] = [];
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return { seen, outcome: next.value };
    seen.push(next.value);
  }
}

let backend: WasmBackend;
beforeAll(async () => {
  backend = await openWasmBackend({ threads: 1, deterministic: true });
});
afterAll(() => backend.close());

describe("tune", () => {
  const VETERAN = tableAt("veteran");
  const groups = [parseNamedGroup("karno < 60")];
  const REQUEST = { time: "time", event: "status", bins: 8, seed: 1, groups };
  const ASKED = [VETERAN, "--time", "time", "--event", "status", "--bins", "8", "--group", "karno < 60"];
  let table: Table;
  beforeAll(async () => {
    table = await readTableFile(VETERAN, {});
  });

  test("in this thread has the command's runs, settings, choice and test scores", async () => {
    const { settings } = expandSweep([parseSweep("kappa=0.5,none")], { hidden: 2, steps: 10 });
    const choices = { settings, seeds: [1, 2] };
    const { seen, outcome } = await follow(tune(prepare(table, REQUEST), REQUEST, choices, { backend }));
    expect(seen[0]).toMatchObject({ type: "start", plan: { length: 4 } });
    expect(seen.filter(({ type }) => type === "result")).toHaveLength(4);
    expect(seen.filter(({ type }) => type === "progress").length).toBeGreaterThan(20);
    const { chosen, selection } = outcome;
    if (chosen === null) throw new Error("nothing was chosen");
    const final = await trainChosen(prepare(table, REQUEST), REQUEST, { setting: chosen, seed: 1 }, backend);
    const swept = ["--sweep", "kappa=0.5,none", "--hidden", "2", "--steps", "10", "--seeds", "1,2"];
    const kept = ["--results", writeScratch("verb.jsonl", ""), "--out", writeScratch("verb.model", "")];
    const command = runJson<Record<string, unknown>>([
      "tune",
      ...ASKED,
      ...swept,
      ...kept,
      "--deterministic",
      "--workers",
      "2",
    ]);
    const settingsShown = outcome.settings.map((one, k) => ({ ...one, isChosen: k === selection.chosen }));
    expect(command).toMatchObject(
      JSON.parse(
        JSON.stringify({
          ...{ rows: outcome.rows, seeds: [1, 2], chosen, runs: outcome.runs, settings: settingsShown },
          ...{ rule: selection.rule, usedFallback: selection.usedFallback, test: final.test },
        }),
      ),
    );
    const first = outcome.runs.find(({ setting, seed }) => setting === chosen && seed === 1);
    expect(final.validation).toEqual(first?.scores);
  });

  test("a run that diverges is a result; input that cannot be used ends the sweep", async () => {
    const settings = [{ rate: 1e30, steps: 2, hidden: 2 }];
    const { outcome } = await follow(tune(prepare(table, REQUEST), REQUEST, { settings }, { backend }));
    expect(outcome).toMatchObject({ chosen: null, runs: [{ scores: null }] });
    expect(outcome.runs[0].failure).toMatch(/./);
    const without = { ...REQUEST, fractions: [0.8, 0, 0.2] as const };
    await expect(follow(tune(prepare(table, without), without, { settings }, { backend }))).rejects.toThrow(
      "no validation rows to choose on",
    );
    const unknown = { ...REQUEST, time: "years" };
    expect(() => prepare(table, unknown)).toThrow('"years"');
  });
});

describe("compare", () => {
  const GBSG = tableAt("gbsg");
  const groups = [parseNamedGroup("grade = 3")];
  const REQUEST = { time: "rfstime", event: "status", drop: ["pid"], bins: 8, seed: 1, groups };
  const ASKED = [GBSG, "--time", "rfstime", "--event", "status", "--drop", "pid", "--bins", "8"];
  let table: Table;
  beforeAll(async () => {
    table = await readTableFile(GBSG, {});
  });
  const method = (label: string, boosted = false): ComparedMethod => ({
    ...{ label, distance: null, boosted },
    method: label === "nll" ? "nll" : "cox",
  });
  const request = { ...REQUEST, options: { steps: 10 } };
  const asked = ["compare", ...ASKED, "--group", "grade = 3", "--steps", "10", "--deterministic"];
  const withoutClock = (document: { readonly runs: readonly object[] }): unknown =>
    JSON.parse(JSON.stringify({ ...document, runs: document.runs.map((run) => ({ ...run, seconds: 0 })) }));

  test("on one split in this thread has the command's scores and differences", async () => {
    const methods = [method("cox"), method("cox+boost", true), method("nll")];
    const choices = { methods, replicates: 100 };
    const { outcome } = await follow(compare(prepare(table, request), request, choices, { backend }));
    const args = [...asked, "--methods", "cox,cox+boost,nll", "--replicates", "100"];
    const command = runJson<{ runs: object[] }>([...args, "--workers", "2", "--threads", "2"]);
    const runs = outcome.runs.map(({ method: own, split, scores, met, constrained, failure, audit }) => ({
      ...{ split, method: own.label, ...scores, met, constrained, failure, audit },
    }));
    expect(withoutClock(command)).toEqual(withoutClock({ ...outcome, runs }));
    expect(outcome.differences).toHaveLength(10);
    expect(outcome.runs[0].seconds).toBeNull();
  });

  test("over several splits the differences are paired, and each split has its own seed", async () => {
    const splits = [1, 2].map((seed) => ({
      ...{ name: `seed ${seed}`, seed },
      split: splitTable(table, request, { seed }),
    }));
    const methods = [method("cox"), method("cox+boost", true)];
    const { outcome } = await follow(
      compare(prepare(table, request), request, { methods, splits }, { backend }),
    );
    const command = runJson<{ differences: object[]; test: string }>([
      ...[...asked, "--methods", "cox,cox+boost", "--seeds", "1,2"],
    ]);
    expect(outcome.test).toBe(command.test);
    expect(outcome.differences).toEqual(command.differences);
    const twice = { methods, splits: [splits[0], splits[0]] };
    await expect(follow(compare(prepare(table, request), request, twice, { backend }))).rejects.toThrow(
      'two splits of one name: "seed 1"',
    );
    await expect(
      follow(compare(prepare(table, request), request, { methods: [methods[0]] }, { backend })),
    ).rejects.toThrow("two methods or more");
  });
});

describe("a runner in this thread", () => {
  async function* count(to: number): AsyncGenerator<number, string> {
    for (let k = 0; k < to; k++) yield k / to;
    return `counted to ${to}`;
  }

  test("makes one result after the other", async () => {
    const seen = [];
    for await (const event of runInTurn(count)([1, 2])) seen.push(event);
    expect(seen).toEqual([
      { type: "progress", index: 0, share: 0 },
      { type: "result", index: 0, result: "counted to 1", isKept: false },
      { type: "progress", index: 1, share: 0 },
      { type: "progress", index: 1, share: 0.5 },
      { type: "result", index: 1, result: "counted to 2", isKept: false },
    ]);
  });

  test("stops in the middle of a run when its signal says so", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => stop.abort(reason), 20);
    const endless = runInTurn(count, { signal: stop.signal })([Number.MAX_SAFE_INTEGER]);
    const drain = async () => {
      for await (const event of endless) expect(event.type).toBe("progress");
    };
    await expect(drain()).rejects.toBe(reason);
  });

  test("takes a promise that calls back for a run", async () => {
    const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const told = runWithShares(async (tell) => {
      tell(0.1);
      await sleep(5);
      tell(0.5);
      tell(0.6);
      await sleep(5);
      return "done";
    });
    expect(await follow(told)).toEqual({ seen: [0.1, 0.6], outcome: "done" });
    const failing = runWithShares(async () => {
      await sleep(1);
      throw new Error("no more");
    });
    await expect(follow(failing)).rejects.toThrow("no more");
  });
});
