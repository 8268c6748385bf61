// Which rows are new to a model: looked up where its file keeps the split, drawn again for files that keep none, and
// said.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { requireRightCensored } from "../../src/data/outcomes/outcomes.ts";
import { splitByOrder } from "../../src/data/outcomes/split.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type { Table } from "../../src/data/table.ts";
import { sha256, toHex } from "../../src/files/container/checksum.ts";
import { modelFromBytes } from "../../src/files/model/model-file.ts";
import { pickStudyRows } from "../../src/study/study.ts";
import type { Model } from "../../src/training/model.ts";
import { audit } from "../../src/verbs/audit.ts";
import { chooseBoostRows, chooseJudgedRows, chooseSearchedRows } from "../../src/verbs/judged-rows.ts";
import { openStudy } from "../../src/verbs/model-study.ts";
import { predict, predictStudy } from "../../src/verbs/predict.ts";
import { prepare, train } from "../../src/verbs/train.ts";
import { jitter } from "../data/other-rows.ts";

const bytes = new Uint8Array(readFileSync(new URL("../tables/gbsg.csv", import.meta.url)));
const hash = toHex(sha256(bytes));
const old = (name: string) => new URL(`../files/v0.1.0/${name}`, import.meta.url);
let table: Table;
beforeAll(async () => {
  table = await readTable(tableSourceFromBytes("gbsg.csv", bytes));
});

async function fitCox(
  split = splitByOrder(table.rows, { seed: 9, fractions: [0.5, 0.3, 0.2] }),
): Promise<Model> {
  const request = { time: "rfstime", event: "status", method: "cox", drop: ["pid"], split } as const;
  const run = train(prepare(table, request, hash), request, createReferenceBackend());
  for (let next = await run.next(); ; next = await run.next()) if (next.done) return next.value;
}

describe("a model that keeps its split", () => {
  test("is judged on its test rows, whoever chose them", async () => {
    const rows = Int32Array.from({ length: table.rows }, (_, row) => row);
    const own = (k: number) => rows.filter((row) => row % 3 === k);
    const split = { train: own(0), validation: own(1), test: own(2) };
    const study = await openStudy(await fitCox(split), table, null, { sha256: hash });
    expect(study.acquaintance).toBe("stored");
    expect(study.split).toEqual(split);
    const { rows: judged, isTest, warning } = chooseJudgedRows(study);
    expect([judged, isTest]).toEqual([split.test, true]);
    expect(warning).toBe("the model was trained on this table: only its 228 test rows are judged");
    expect(chooseSearchedRows(study)).toMatchObject({
      names: { search: "training rows", confirm: "validation and test rows" },
      trainingRows: 229,
    });
    expect(chooseBoostRows(study, { seed: 1 }).rows).toEqual({ fit: split.validation, held: split.test });
  });

  test("has seen nothing of another file, and every row of its own where none was left for the test", async () => {
    const model = await fitCox();
    const others = jitter(table, "age");
    expect((await openStudy(model, others, null, { sha256: "0".repeat(64) })).acquaintance).toBe("new");
    expect((await openStudy(model, others, null)).acquaintance).toBe("new");
    const whole = await fitCox(splitByOrder(table.rows, { seed: 1, fractions: [1, 0, 0] }));
    const study = await openStudy(whole, table, null, { sha256: hash });
    expect(chooseJudgedRows(study).warning).toContain("trained on every row of this table");
  });

  test("keeps row numbers alone, and hashes of all rows together", async () => {
    const { split } = await fitCox();
    expect(Object.keys(split ?? {})).toEqual(["sha256", "rows", "sets", "content"]);
    expect(split).toMatchObject({ sha256: hash, rows: 686 });
    expect(Object.keys(split?.content ?? {})).toEqual(["inOrder", "anyOrder", "sets", "sketch"]);
    // 548 rows that it learnt from, 1.44 bits each: no row's own hash would fit.
    expect(atob(split?.content?.sketch ?? "").length).toBe(Math.ceil((548 * Math.LOG2E) / 8));
  });
});

describe.each(["graduate.model", "cox.model", "ensemble.model"])("the file of 0.1.0 %s", (name) => {
  test("keeps no split: it is drawn again by its seed, and that is said", async () => {
    const model = modelFromBytes(new Uint8Array(readFileSync(old(name))), name);
    expect(model.split).toBeUndefined();
    const study = await openStudy(model, table, createReferenceBackend(), { sha256: hash });
    expect(study.acquaintance).toBe("redrawn");
    expect(study.split).toEqual(splitOf(model));
    expect(chooseJudgedRows(study).warning).toBe(
      `the model was trained on this table: only its ${model.training.rows.test} test rows are judged; ` +
        "its file is of an earlier version and keeps no split, so these were drawn again by its seed",
    );
  });
});

function splitOf({ training }: Model) {
  const { rows, seed } = training;
  const N = rows.train + rows.validation + rows.test;
  return splitByOrder(N, { seed, fractions: [rows.train / N, rows.validation / N, rows.test / N] });
}

test("curves beyond the limit are the same in single precision, block by block, and so is their audit", async () => {
  const study = await openStudy(await fitCox(), jitter(table, "age"), null);
  const rows = study.split.test;
  const told: number[] = [];
  const onProgress = (done: number) => told.push(done);
  const { curves } = await predictStudy(study, rows, null);
  const single = (await predictStudy(study, rows, null, { mostDoubles: 0, onProgress })).curves;
  expect(curves.survival).toBeInstanceOf(Float64Array);
  expect(single.survival).toEqual(Float32Array.from(curves.survival));
  expect((await predict(study.model, study.table, null)).curves).toEqual(curves);
  expect(told).toEqual([table.rows]);
  const outcomes = requireRightCensored(pickStudyRows(study, rows).binned, "a test");
  const [of, ofSingle] = await Promise.all(
    [curves, single].map((one) => audit({ curves: one, outcomes }, { draws: 20 })),
  );
  expect(ofSingle.overall.ece).toBeCloseTo(of.overall.ece ?? Number.NaN, 7);
  expect(ofSingle.overall.concordance).toBeCloseTo(of.overall.concordance ?? Number.NaN, 4);
});
