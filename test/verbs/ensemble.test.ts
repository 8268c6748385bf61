// An ensemble of short linear runs on a quarter of nwtco: its curves, rows and verdict against those of its members,
// trained one by one.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { parseGroupsFile, resolveGroups } from "../../src/data/groups/groups.ts";
import { pickOutcomes } from "../../src/data/outcomes/outcomes.ts";
import { readOutcomes } from "../../src/data/outcomes/read-outcomes.ts";
import { splitTable } from "../../src/data/outcomes/split.ts";
import { binOutcomes } from "../../src/data/outcomes/time-grid.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { selectRows, type Table } from "../../src/data/table.ts";
import { checkpointFromBytes, checkpointToBytes } from "../../src/files/model/checkpoint-file.ts";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import { groupSupport, kaplanMeierBinned } from "../../src/stats/kaplan-meier.ts";
import { atRiskShare } from "../../src/stats/mortality-risk.ts";
import { orderRows } from "../../src/study/order.ts";
import { countMembers, type Model } from "../../src/training/model.ts";
import { cutRows, type EnsembleRequest } from "../../src/verbs/ensemble/ensemble.ts";
import { gridOf, predict } from "../../src/verbs/predict.ts";
import { prepare, type TrainEvent, type TrainRequest } from "../../src/verbs/train.ts";
import { trainTable, trainTableEnsemble } from "./train-table.ts";

const datasets = new URL("../../datasets/nwtco/", import.meta.url);
const groupsFile = parseGroupsFile(readFileSync(new URL("groups.json", datasets), "utf8"), "groups.json");
const request: TrainRequest & EnsembleRequest = {
  time: "edrel",
  event: "rel",
  network: "linear",
  groupsFile,
  bins: 12,
  seed: 5,
  ensemble: 3,
  options: { steps: 10 },
};
/** Without the solve, an ensemble is the mean of its runs and nothing else. */
const free = { ...request, options: { ...request.options, solve: "none" as const } };
let table: Table;
let model: Model;
let events: TrainEvent[];

async function finish(
  run: AsyncGenerator<TrainEvent, Model>,
): Promise<{ model: Model; events: TrainEvent[] }> {
  const seen: TrainEvent[] = [];
  for (let next = await run.next(); ; next = await run.next()) {
    if (next.done) return { model: next.value, events: seen };
    seen.push(next.value);
  }
}

beforeAll(async () => {
  const bytes = readFileSync(new URL("nwtco.csv", datasets));
  const nwtco = await readTable(tableSourceFromBytes("nwtco.csv", bytes));
  table = selectRows(
    nwtco,
    Array.from({ length: nwtco.rows / 4 }, (_, k) => 4 * k),
  );
  ({ model, events } = await finish(trainTableEnsemble(table, request, createReferenceBackend())));
});

describe("an ensemble", () => {
  test("predicts the mean of its members' curves, each trained with its part for validation", async () => {
    const { train: learnt, validation: valid, test: tested } = splitTable(table, request, { seed: 5 });
    const rows = Int32Array.from([...learnt, ...valid]).sort();
    const { model: plain } = await finish(trainTableEnsemble(table, free, createReferenceBackend()));
    const { curves } = await predict(plain, table, createReferenceBackend(), tested);
    const { ensemble: _, ...single } = free;
    const mean = new Float64Array(curves.survival.length);
    const whole = { train: rows, validation: new Int32Array(), test: tested };
    const ordered = orderRows(prepare(table, { ...single, split: whole }), rows);
    for (const [m, part] of cutRows(ordered, 3, 5).entries()) {
      const held = new Set(part);
      const split = { train: rows.filter((row) => !held.has(row)), validation: part, test: tested };
      const backend = createReferenceBackend();
      const { model: one } = await finish(
        trainTable(table, { ...single, seed: 5 + m, split, fitRows: rows }, backend),
      );
      expect(one.encoder).toEqual(model.encoder);
      expect(one.grid).toEqual(model.grid);
      const alone = await predict(one, table, backend, tested);
      alone.curves.survival.forEach((value, k) => {
        mean[k] += value / 3;
      });
    }
    curves.survival.forEach((value, k) => {
      expect(Math.abs(value - mean[k])).toBeLessThan(1e-14);
    });
  });

  test("learns from all rows outside the test, and says so", () => {
    const { train: learnt, validation: valid, test: tested } = splitTable(table, request, { seed: 5 });
    expect(model.training.rows).toEqual({
      train: learnt.length + valid.length,
      validation: 0,
      test: tested.length,
    });
    expect(countMembers(model)).toBe(3);
    expect(model.training.steps).toBe(30);
    const inTest = new Set(tested);
    const sizes = resolveGroups(model.groups, table).map(
      ({ rows }) => rows.filter((row) => !inTest.has(row)).length,
    );
    expect(model.training.verdict.map(({ n }) => n)).toEqual(sizes);
    expect(model.training.solve?.solvedOn).toBe("training and validation rows");
    const rows = Int32Array.from([...learnt, ...valid]).sort();
    const binned = binOutcomes(pickOutcomes(readOutcomes(table, request), rows), gridOf(model));
    expect(model.grid.atRisk).toEqual([...atRiskShare(binned)]);
  });

  test.each([
    ["free", free],
    ["held", request],
  ])(
    "the verdict is of the %s mean curves: everyone's against Kaplan-Meier, on the same rows",
    async (_, asked) => {
      const backend = createReferenceBackend();
      const { model: held } = await finish(
        trainTableEnsemble(table, { ...asked, constraint: { distance: "l2" } }, backend),
      );
      const { train: learnt, validation: valid } = splitTable(table, request, { seed: 5 });
      const rows = Int32Array.from([...learnt, ...valid]).sort();
      const { curves } = await predict(held, table, backend, rows);
      const binned = binOutcomes(pickOutcomes(readOutcomes(table, request), rows), gridOf(held));
      const km = kaplanMeierBinned(binned).survival; // from S(0)
      const L = groupSupport(binned);
      let distance = 0;
      for (let t = 0; t < L; t++) {
        let mean = 0;
        for (let i = 0; i < curves.N; i++) mean += curves.survival[i * curves.T + t] / curves.N;
        distance += (mean - km[t + 1]) ** 2 / L;
      }
      expect(held.training.verdict[0].distance.solve).toBeCloseTo(distance, 12);
      // Far above what twelve digits leave open.
      expect(distance).toBeGreaterThan(1e-7);
    },
  );

  test("announces each run and starts once", () => {
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === "start")).toHaveLength(1);
    const announced = ["run 1 of 3", "run 2 of 3", "run 3 of 3", "the mean of 3 runs"];
    expect(events.filter(({ type }) => type === "candidate")).toEqual(
      announced.map((what) => ({ type: "candidate", what, leavesCheckpoints: true })),
    );
    // The members are mixed only: what is solved is their mean.
    expect(types.filter((type) => type === "solve")).toHaveLength(1);
  });

  test("goes on from a checkpoint of any of its runs to the same bytes", async () => {
    const backend = createReferenceBackend();
    const saved: Uint8Array[] = [];
    const run = trainTableEnsemble(table, request, backend);
    for (let next = await run.next(); !next.done; next = await run.next()) {
      if (next.value.type !== "checkpoint") continue;
      const { checkpoint, members } = next.value;
      saved.push(checkpointToBytes({ checkpoint, history: [], run: null, ...(members && { members }) }));
    }
    const perRun = saved.length / 3;
    expect(perRun).toBeGreaterThan(1);
    for (const k of [0, perRun - 1, perRun, 2 * perRun + 3]) {
      const { checkpoint, members = [] } = checkpointFromBytes(saved[k], "saved");
      expect(members).toHaveLength(Math.floor(k / perRun));
      const resumed = await finish(
        trainTableEnsemble(table, request, createReferenceBackend(), { resume: { checkpoint, members } }),
      );
      expect(modelToBytes(resumed.model)).toEqual(modelToBytes(model));
      expect(resumed.events.filter(({ type }) => type === "start")).toHaveLength(1);
      expect(resumed.events[0]).toMatchObject({ what: `run ${members.length + 1} of 3` });
    }
    const { checkpoint, members = [] } = checkpointFromBytes(saved[saved.length - 1], "saved");
    const fewer = { ...request, ensemble: 2 };
    await expect(
      trainTableEnsemble(table, fewer, backend, { resume: { checkpoint, members } }).next(),
    ).rejects.toThrow(/2 finished runs/);
  });

  test("of X-Cal says which weight each run is trying, and that it leaves no checkpoint", async () => {
    const xcal = { ...request, ensemble: 2, method: "xcal" as const, options: { steps: 2 } };
    const { events: told } = await finish(trainTableEnsemble(table, xcal, createReferenceBackend()));
    const runs = told.flatMap((event) => (event.type === "candidate" ? [event] : []));
    expect(runs.map(({ what }) => what.replace(/, .*?(\d+)$/, " λ $1"))).toEqual(
      [1, 2].flatMap((k) => [`run ${k} of 2`, ...[1, 10, 100].map((weight) => `run ${k} of 2 λ ${weight}`)]),
    );
    expect(runs.map(({ leavesCheckpoints }) => leavesCheckpoints)).toEqual(
      [1, 2].flatMap(() => [true, false, false, false]),
    );
    expect(told.map(({ type }) => type)).not.toContain("checkpoint");
  });

  test("with runs side by side gives the same bytes and the same words, and goes on from where it was", async () => {
    const backend = createReferenceBackend();
    const lanes = [createReferenceBackend(), createReferenceBackend()];
    const { model: beside, events: told } = await finish(
      trainTableEnsemble(table, request, backend, { lanes }),
    );
    expect(modelToBytes(beside)).toEqual(modelToBytes(model));
    // Only checkpoints of a run behind the first are not told.
    const isSaid = ({ type }: TrainEvent) => type !== "checkpoint" && type !== "done";
    expect(told.filter(isSaid)).toEqual(events.filter(isSaid));
    const run = trainTableEnsemble(table, request, backend, { lanes });
    for (let next = await run.next(); !next.done; next = await run.next()) {
      if (next.value.type !== "checkpoint" || next.value.members?.length !== 2) continue;
      const { checkpoint, members = [] } = next.value;
      await run.return(undefined as never);
      const resume = { checkpoint, members };
      const resumed = await finish(trainTableEnsemble(table, request, backend, { lanes, resume }));
      expect(modelToBytes(resumed.model)).toEqual(modelToBytes(model));
      return;
    }
    expect.unreachable("the third run left no checkpoint");
  });

  test("the same seed gives the same bytes, which open again", async () => {
    const bytes = modelToBytes(model);
    const again = await finish(trainTableEnsemble(table, request, createReferenceBackend()));
    expect(modelToBytes(again.model)).toEqual(bytes);
    const { metrics: _, ...read } = modelFromBytes(bytes, "ensemble.model");
    expect(modelToBytes(read)).toEqual(bytes);
  });

  test.each([1, 101, 2.5])("of %d runs is refused, and so is one of Cox models", async (members) => {
    const backend = createReferenceBackend();
    await expect(
      trainTableEnsemble(table, { ...request, ensemble: members }, backend).next(),
    ).rejects.toThrow(/expected 2 to 100/);
    await expect(trainTableEnsemble(table, { ...request, method: "cox" }, backend).next()).rejects.toThrow(
      /of networks/,
    );
  });
});

test("rows are cut into parts of nearly equal size, each row in one", () => {
  const rows = Int32Array.from({ length: 103 }, (_, k) => 2 * k);
  const parts = cutRows(rows, 5, 3);
  expect(parts.map(({ length }) => length)).toEqual([21, 20, 21, 20, 21]);
  expect(parts.flatMap((part) => [...part]).sort((a, b) => a - b)).toEqual([...rows]);
  for (const part of parts) expect([...part]).toEqual([...part].sort((a, b) => a - b));
  expect(cutRows(rows, 5, 4)[0]).not.toEqual(parts[0]);
});
