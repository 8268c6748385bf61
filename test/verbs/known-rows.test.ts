// A model knows the table it was trained on again: from any file or none, in any order of rows and columns, in part, or
// among other rows; and takes no stranger for one it knows.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { createRandom } from "../../src/core/random.ts";
import { type Split, splitByOrder } from "../../src/data/outcomes/split.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { selectRows, type Table } from "../../src/data/table.ts";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import type { Model } from "../../src/training/model.ts";
import { knowTable, packModelSplit } from "../../src/verbs/acquaintance/known-rows.ts";
import { chooseBoostRows, chooseJudgedRows } from "../../src/verbs/judged-rows.ts";
import { openStudy } from "../../src/verbs/model-study.ts";
import { prepare, type TrainRequest, train } from "../../src/verbs/train.ts";
import { jitter, permute } from "../data/other-rows.ts";
import { asVersion, headerOf, resealed, withHeader } from "../files/resealed.ts";

const bytes = new Uint8Array(readFileSync(new URL("../tables/gbsg.csv", import.meta.url)));
const request = { time: "rfstime", event: "status", drop: ["pid"], method: "cox" } as const;

async function trainOn(given: Table, more: Partial<TrainRequest> = {}, hash: string | null = null) {
  const asked = { ...request, ...more };
  const run = train(prepare(given, asked, hash), asked, createReferenceBackend());
  for (let next = await run.next(); ; next = await run.next()) if (next.done) return next.value;
}

let table: Table;
let split: Split;
let model: Model;
beforeAll(async () => {
  table = await readTable(tableSourceFromBytes("gbsg.csv", bytes));
  split = splitByOrder(table.rows, { seed: 5 });
  model = await trainOn(table, { split });
});

const rowsOf = ({ train: one, validation, test: other }: Split) => ({ train: one, validation, test: other });
const plain = (column: string) => (given: Table) => ({
  ...given,
  columns: given.columns.filter(({ name }) => name !== column),
});

describe("the table that a model was trained on, without any file", () => {
  test.each([
    ["the same object", (given: Table) => given],
    ["columns in another order", (given: Table) => ({ ...given, columns: given.columns.toReversed() })],
    ["without a column that is not needed", plain("pid")],
    ["under another name", (given: Table) => ({ ...given, name: "other.csv" })],
  ])("%s", async (_, change) => {
    for (const one of [model, modelFromBytes(modelToBytes(model), "m")]) {
      const study = await openStudy(one, change(table), null);
      expect(study.acquaintance).toBe("stored");
      expect(rowsOf(study.split)).toEqual(rowsOf(split));
    }
  });

  test("read again as other types, with a hash of another file", async () => {
    const again = await readTable(tableSourceFromBytes("again.csv", bytes), { category: ["grade", "meno"] });
    const study = await openStudy(model, again, null, { sha256: "1".repeat(64) });
    expect([study.acquaintance, study.split.test]).toEqual(["stored", split.test]);
  });

  test("with its rows in another order: each keeps its set", async () => {
    const turned = permute(table);
    const study = await openStudy(model, turned, null);
    expect([study.acquaintance, study.isOwnTable]).toEqual(["stored", true]);
    const isTest = new Set(split.test);
    const pids = (given: Table, rows: Iterable<number>) => {
      const column = given.columns.find(({ name }) => name === "pid");
      if (column?.type !== "number") throw new Error("no pid");
      return Array.from(rows, (row) => column.values[row]).sort((a, b) => a - b);
    };
    expect(pids(turned, study.split.test)).toEqual(pids(table, isTest));
    expect(chooseJudgedRows(study).rows.length).toBe(split.test.length);
  });

  test("with a cell changed, or one of the columns it needs: not the same", async () => {
    expect(knowTable(model, jitter(table, "age"), null).is).toBe("new");
    expect(knowTable(model, plain("age")(table), null).is).toBe("new");
    const columns = table.columns.map((column) =>
      column.type === "number" && column.name === "age"
        ? { ...column, values: column.values.map((value, row) => (row === 3 ? value + 1 : value)) }
        : column,
    );
    // It is no longer the table whose split is known, and four in five of its rows were still learnt from.
    const known = knowTable(model, { ...table, columns }, null);
    expect(known.is === "overlapping" ? known.share : 0).toBeCloseTo(0.8, 1);
  });
});

describe("a part of the table, or the table among others", () => {
  test("rows it learnt from are never called new", async () => {
    const half = selectRows(table, split.train.slice(0, 200));
    const study = await openStudy(model, half, null);
    expect([study.acquaintance, study.isOwnTable]).toEqual(["unknown", true]);
    const { rows, isSeen, warning } = chooseJudgedRows(study);
    expect([rows.length, isSeen]).toEqual([200, true]);
    expect(warning).toBe(
      "the model has learnt from about 200 of these 200 rows, and nothing says which: what it learnt by heart will " +
        "look right. Give its split with --split FILE, or rows it has not seen",
    );
    expect(() => chooseBoostRows(study, { seed: 1 })).toThrow("has learnt from about 200 of these 200 rows");
  });

  test("with as many strangers it is seen that some are known", async () => {
    const strangers = jitter(table, "age");
    const both: Table = {
      name: "both",
      rows: 2 * table.rows,
      columns: table.columns.map((column, c) => {
        const other = strangers.columns[c];
        if (column.type !== "number" || other.type !== "number") throw new Error("gbsg has numbers alone");
        return { ...column, values: Float64Array.from([...column.values, ...other.values]) };
      }),
    };
    const known = knowTable(model, both, null);
    // 549 of 1372 rows
    expect(known.is === "overlapping" ? known.share : 0).toBeGreaterThan(0.3);
    expect(known.is === "overlapping" ? known.share : 1).toBeLessThan(0.5);
  });

  test("its test rows by themselves are new to it", async () => {
    expect(knowTable(model, selectRows(table, split.test), null).is).toBe("new");
  });

  test("200 parts of at least 25 rows are known, 200 tables of strangers are not", () => {
    const random = createRandom(1);
    const strangers = Array.from({ length: 200 }, (_, k) => jitter(table, "age", 0.001 * (k + 1)));
    for (const stranger of strangers) {
      const take = (given: Table, from: Int32Array, count: number) =>
        selectRows(
          given,
          Int32Array.from({ length: count }, () => from[random.integer(from.length)]),
        );
      expect(knowTable(model, stranger, null).is).toBe("new");
      const part = take(table, split.train, 40 + random.integer(100));
      expect(knowTable(model, part, null).is).toBe("overlapping");
    }
  });

  test("a table whose rows are much alike keeps no sketch, and is known whole", async () => {
    const coarse = {
      ...table,
      columns: table.columns.filter(({ name }) => ["rfstime", "status", "meno"].includes(name)),
    };
    const round = (values: Float64Array) => values.map((value) => 500 * Math.ceil(value / 500));
    const columns = coarse.columns.map((column) =>
      column.type === "number" && column.name === "rfstime"
        ? { ...column, values: round(column.values) }
        : column,
    );
    const given = { ...coarse, columns };
    const trained = await trainOn(given, { split, drop: [] });
    expect(trained.split?.content).not.toHaveProperty("sketch");
    const study = await openStudy(trained, permute(given), null);
    expect([study.acquaintance, study.split.test.length]).toEqual(["stored", split.test.length]);
    expect(knowTable(trained, selectRows(given, split.train), null).is).toBe("new");
  });
});

test("a sketch has no more of a row than one bit, which every second stranger has too", () => {
  const { columns, encoder, inputGroups } = model;
  const { content } = packModelSplit({ table, sha256: null, split, columns, encoder, inputGroups });
  const sketch = Uint8Array.from(atob(content?.sketch ?? ""), (letter) => letter.charCodeAt(0));
  const ones = sketch.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  const share = ones / (8 * sketch.length);
  expect(Math.abs(share - 0.5)).toBeLessThan(0.06);
});

describe("a file of version 6, which keeps the hash of the table's file alone", () => {
  const old = (given: Model) => {
    const file = modelToBytes(given);
    const header = headerOf(file) as { split: Record<string, unknown> };
    const { content: _, ...kept } = header.split;
    return modelFromBytes(asVersion(resealed(withHeader(file, { ...header, split: kept })), 6), "old");
  };

  test("knows its file by the hash", async () => {
    const hash = "a".repeat(64);
    const study = await openStudy(old(await trainOn(table, { split }, hash)), table, null, { sha256: hash });
    expect([study.acquaintance, study.split.test]).toEqual(["stored", split.test]);
  });

  test("knows its table by the events recorded of its test rows, if they are recorded", async () => {
    const { rows: judged, audit } = await scored();
    expect(judged).toBe(split.test.length);
    const kept = old({ ...model, metrics: audit });
    expect((await openStudy(kept, table, null)).acquaintance).toBe("stored");
    expect((await openStudy(kept, table, null, { sha256: "1".repeat(64) })).acquaintance).toBe("stored");
    expect((await openStudy(kept, jitter(table, "age", 20), null)).acquaintance).toBe("new");
  });

  test("calls a table of as many rows unknown where nothing is recorded, and no other", async () => {
    const study = await openStudy(old(model), table, null);
    expect([study.acquaintance, study.isOwnTable]).toEqual(["unknown", false]);
    expect(chooseJudgedRows(study).warning).toContain(
      "the model's file is of an earlier version and does not say whether its 686 rows were these",
    );
    expect((await openStudy(old(model), selectRows(table, split.test), null)).acquaintance).toBe("new");
  });

  async function scored() {
    const { auditModel } = await import("../../src/verbs/audit-model.ts");
    const study = await openStudy(model, table, null);
    const { audit, curves } = await auditModel(study, study.split.test, null, { draws: 0 });
    return { rows: curves.N, audit };
  }
});
