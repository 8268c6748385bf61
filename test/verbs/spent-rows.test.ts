// Which rows are left where the output layer was solved on the validation rows too: the test rows alone, divided by
// seed and by person; none without them; and the validation rows of a given split that the model has not learnt from.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { InputError } from "../../src/core/errors.ts";
import { pickPeople } from "../../src/data/outcomes/people.ts";
import { joinRows, type Split, splitByOrder } from "../../src/data/outcomes/split.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type { Table } from "../../src/data/table.ts";
import { sha256, toHex } from "../../src/files/container/checksum.ts";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import { discoverModel, openStudy } from "../../src/index.ts";
import type { Model } from "../../src/training/model.ts";
import { tallyTrainingRows } from "../../src/verbs/audit-model.ts";
import { chooseBoostRows, chooseJudgedRows, chooseSearchedRows } from "../../src/verbs/judged-rows.ts";
import { prepare, type TrainRequest, train } from "../../src/verbs/train.ts";
import { jitter } from "../data/other-rows.ts";

const read = async (name: string) => {
  const bytes = new Uint8Array(readFileSync(new URL(`../${name}`, import.meta.url)));
  const table = await readTable(tableSourceFromBytes(name, bytes));
  return { bytes, table, hash: toHex(sha256(bytes)) };
};
const backend = createReferenceBackend();
const request = {
  time: "rfstime",
  event: "status",
  drop: ["pid"],
  network: "linear",
  bins: 8,
  groups: [{ name: "grade = 3", expression: "grade = 3" }],
  options: { steps: 3 },
} as const satisfies TrainRequest;

async function trainOn(table: Table, hash: string | null, more: Partial<TrainRequest> = {}): Promise<Model> {
  const asked = { ...request, ...more };
  const run = train(prepare(table, asked, hash), asked, backend);
  for (let next = await run.next(); ; next = await run.next()) if (next.done) return next.value;
}

const BOTH = "the model has learnt from its training and validation rows";
const nothing = new Int32Array();
let table: Table;
let hash: string;
let split: Split;
let model: Model;
beforeAll(async () => {
  ({ table, hash } = await read("tables/gbsg.csv"));
  split = splitByOrder(table.rows, { seed: 5 });
  model = await trainOn(table, hash, { split });
});
const open = (given: Model, options: { readonly split?: Split; readonly id?: string } = {}) =>
  openStudy(given, table, backend, { sha256: hash, ...options });

describe("a model that was solved on training and validation rows", () => {
  test("has learnt from both, and is judged on its test rows", async () => {
    expect(model.training.solve?.solvedOn).toBe("training and validation rows");
    expect(model.training.rows).toEqual({ train: 411, validation: 137, test: 138 });
    const study = await open(modelFromBytes(modelToBytes(model), "solved.model"));
    expect(study).toMatchObject({ acquaintance: "stored", spent: split.validation, stored: split });
    expect(study.split).toEqual({
      train: joinRows(split.train, split.validation),
      validation: nothing,
      test: split.test,
    });
    expect(chooseJudgedRows(study)).toEqual({
      rows: split.test,
      which: "test rows",
      isTest: true,
      isSeen: false,
      warning: "the model was trained on this table: only its 138 test rows are judged",
    });
    expect(chooseJudgedRows(study, { allRows: true })).toMatchObject({ isTest: false, isSeen: true });
    // What is fixed before the test rows are seen comes from all rows that the model learnt from.
    expect(tallyTrainingRows(study)[0]?.n).toBe(548);
  });

  test("has one half of its test rows searched, and the other confirms", async () => {
    const study = await open(model);
    expect(chooseSearchedRows(study)).toEqual({
      rows: split.test,
      confirm: null,
      names: { search: "test rows", confirm: "test rows" },
      trainingRows: 548,
      warnings: [`${BOTH}: one half of its 138 test rows is searched, and the other half confirms`],
    });
    const options = { minRows: 30, minEvents: 5, top: 2, maxCross: 1 };
    const { found, which, warnings } = await discoverModel(study, backend, options);
    expect(found.rows).toEqual({ search: 69, confirm: 69 });
    expect([which.search, warnings.length]).toEqual(["test rows", 1]);
    expect((await discoverModel(study, backend, options)).found).toEqual(found);
  });

  test("is repaired on one half of its test rows, or on the share asked for, and judged on the others", async () => {
    const study = await open(model);
    const { rows, warnings } = chooseBoostRows(study, { seed: 1 });
    expect([rows.fit.length, rows.held.length]).toEqual([69, 69]);
    expect(joinRows(rows.fit, rows.held)).toEqual(split.test);
    expect(warnings).toEqual([`${BOTH}: one half of its 138 test rows fits, and the other half judges`]);
    expect(chooseBoostRows(study, { seed: 1 }).rows).toEqual(rows);
    expect(chooseBoostRows(study, { seed: 2 }).rows).not.toEqual(rows);
    const share = chooseBoostRows(study, { seed: 1, fit: 0.75 });
    expect([share.rows.fit.length, share.rows.held.length]).toEqual([103, 35]);
    expect(share.warnings).toEqual([
      `${BOTH}: a share of 0.75 of its 138 test rows fits, and the others judge`,
    ]);
  });

  test("without test rows has none to search, to repair on or to be certified by", async () => {
    const whole = await trainOn(table, hash, { fractions: [0.8, 0.2, 0] });
    for (const solved of [whole, await trainOn(table, hash, { fractions: [1, 0, 0] })]) {
      const study = await open(solved);
      const learnt = solved.training.solve?.solvedOn;
      const refusal = `the model has learnt from its ${learnt}, and the table has no others`;
      expect(codeOf(() => chooseSearchedRows(study))).toEqual(["rows.spent", refusal]);
      expect(codeOf(() => chooseBoostRows(study, { seed: 1, fit: 0.5 }))).toEqual(["rows.spent", refusal]);
      await expect(discoverModel(study, backend)).rejects.toThrow(refusal);
      const { isSeen, warning } = chooseJudgedRows(study);
      expect([isSeen, warning]).toEqual([true, expect.stringContaining("trained on every row")]);
    }
    const given = await open(model, {
      split: { ...split, train: joinRows(split.train, split.test), test: nothing },
    });
    expect(codeOf(() => chooseSearchedRows(given))[0]).toBe("rows.spent");
  });

  test("has seen nothing of another table, whose given split is taken as it is", async () => {
    const other = { sha256: "0".repeat(64) };
    const others = jitter(table, "age");
    const bare = await openStudy(model, others, backend, other);
    expect(chooseSearchedRows(bare)).toMatchObject({ names: { search: "rows" }, warnings: [] });
    expect(chooseBoostRows(bare, { seed: 1 }).rows.fit.length).toBe(343);
    const elsewhere = splitByOrder(table.rows, { seed: 6 });
    const told = await openStudy(model, others, backend, { ...other, split: elsewhere });
    expect(told.spent).toEqual(nothing);
    expect(chooseSearchedRows(told).names).toEqual({ search: "validation rows", confirm: "test rows" });
    expect(chooseBoostRows(told, { seed: 1 })).toEqual({
      rows: { fit: elsewhere.validation, held: elsewhere.test },
      warnings: [],
    });
  });
});

function codeOf(run: () => unknown): [string, string] {
  try {
    run();
  } catch (error) {
    if (error instanceof InputError) return [error.code, error.message];
  }
  throw new Error("was not refused");
}

describe("a given split", () => {
  test("that is the model's own has no validation rows left, whatever the table's file is called", async () => {
    const hashes = [{ sha256: hash }, { sha256: "0".repeat(64) }, {}];
    for (const one of hashes) {
      const study = await openStudy(model, table, backend, { ...one, split });
      expect(study).toMatchObject({ acquaintance: "given", spent: split.validation });
      expect(chooseSearchedRows(study)).toMatchObject({
        rows: split.test,
        confirm: null,
        warnings: [`${BOTH}: one half of its 138 test rows is searched, and the other half confirms`],
      });
      const { rows, warnings } = chooseBoostRows(study, { seed: 1 });
      expect([rows.fit.length, rows.held.length, warnings.length]).toEqual([69, 69, 1]);
    }
  });

  test("may divide the model's test rows: its validation rows are then new to the model", async () => {
    const validation = split.test.filter((_, k) => k % 2 === 0);
    const later = split.test.filter((_, k) => k % 2 === 1);
    const halved = { train: joinRows(split.train, split.validation), validation, test: later };
    const study = await open(model, { split: halved });
    expect(study).toMatchObject({ spent: nothing, split: halved });
    expect(chooseSearchedRows(study)).toMatchObject({
      names: { search: "validation rows", confirm: "test rows" },
      warnings: [],
    });
    expect(chooseBoostRows(study, { seed: 1 })).toEqual({
      rows: { fit: validation, held: later },
      warnings: [],
    });
    expect(chooseJudgedRows(study)).toMatchObject({ isTest: false, isSeen: false, warning: null });
    const mixed = { ...halved, train: split.train, validation: joinRows(split.validation, validation) };
    const part = await open(model, { split: mixed });
    expect(part).toMatchObject({ spent: split.validation, split: halved });
    expect(chooseBoostRows(part, { seed: 1 })).toEqual({
      rows: { fit: validation, held: later },
      warnings: ["the model has learnt from 137 validation rows of the split: they are left out"],
    });
  });

  test("that calls rows test which the model has seen says so, and they certify nothing", async () => {
    const swapped = { ...split, validation: split.test, test: split.validation };
    const warning =
      "the model has seen 137 of the 137 test rows of the split: what it learnt by heart will look right";
    const study = await open(model, { split: swapped });
    expect(chooseJudgedRows(study)).toMatchObject({ isTest: false, isSeen: true, warning });
    expect(chooseSearchedRows(study).warnings).toEqual([warning]);
    expect(chooseBoostRows(study, { seed: 1 }).warnings).toEqual([warning]);
    // A Cox model has not seen its validation rows.
    const cox = await trainOn(table, hash, { split, method: "cox", options: {} });
    expect(chooseJudgedRows(await open(cox, { split: swapped })).isSeen).toBe(false);
    const torn = { ...split, train: split.test, test: split.train };
    expect(chooseJudgedRows(await open(cox, { split: torn })).isSeen).toBe(true);
  });
});

describe("rows of people", () => {
  test("are divided by person, and the sentence says so", async () => {
    const eyes = await read("tables/retinopathy.csv");
    const asked = { time: "futime", event: "status", id: "id", drop: [], groups: [], seed: 2 };
    const solved = await trainOn(eyes.table, eyes.hash, asked);
    const study = await openStudy(solved, eyes.table, backend, { sha256: eyes.hash });
    const { people } = study;
    const { rows, warnings } = chooseBoostRows(study, { seed: 3 });
    expect(warnings).toEqual([
      `${BOTH}: one half of the 40 people in its 80 test rows fits, and the other half judges`,
    ]);
    if (people === null) throw new Error("no people");
    expect([pickPeople(people, rows.fit).count, pickPeople(people, rows.held).count]).toEqual([20, 20]);
    expect(pickPeople(people, study.split.test).count).toBe(40);
    const { found } = await discoverModel(study, backend, { minRows: 20, minEvents: 4, top: 1, maxCross: 1 });
    expect(found.people).toEqual({ search: 20, confirm: 20 });
  });
});

describe("models whose validation rows are not spent", () => {
  test("a network that was not solved, and the file of an earlier version", async () => {
    const unsolved = await open(await trainOn(table, hash, { split, options: { steps: 3, solve: "none" } }));
    expect(unsolved).toMatchObject({ spent: nothing, split });
    expect(chooseSearchedRows(unsolved).names).toEqual({ search: "validation rows", confirm: "test rows" });
    expect(chooseBoostRows(unsolved, { seed: 1 }).rows).toEqual({ fit: split.validation, held: split.test });
    const bytes = readFileSync(new URL("../files/v0.1.0/graduate.model", import.meta.url));
    const study = await open(modelFromBytes(new Uint8Array(bytes), "graduate.model"));
    expect(study).toMatchObject({ acquaintance: "redrawn", spent: nothing, stored: null });
    expect(study.split.validation.length).toBe(study.model.training.rows.validation);
    expect(chooseSearchedRows(study).names).toEqual({ search: "validation rows", confirm: "test rows" });
    expect(chooseBoostRows(study, { seed: 1 }).rows.fit).toEqual(study.split.validation);
  });

  test("an ensemble has its test rows alone, of whatever version it is", async () => {
    const bytes = readFileSync(new URL("../files/v0.1.0/ensemble.model", import.meta.url));
    const study = await open(modelFromBytes(new Uint8Array(bytes), "ensemble.model"));
    const { test: rows, train } = study.split;
    expect(chooseSearchedRows(study)).toEqual({
      rows,
      confirm: null,
      names: { search: "test rows", confirm: "test rows" },
      trainingRows: train.length,
      warnings: [
        `the model has learnt from its training rows: one half of its ${rows.length} test rows is searched, and the ` +
          "other half confirms; its file is of an earlier version and keeps no split, so these were drawn again by its seed",
      ],
    });
    // A split that is given still has no validation rows for it.
    const given = await open(study.model, { split });
    expect(given.spent).toEqual(split.validation);
    expect(joinRows(...valuesOf(chooseBoostRows(given, { seed: 1 }).rows))).toEqual(split.test);
  });
});

const valuesOf = ({ fit, held }: { readonly fit: Int32Array; readonly held: Int32Array }) =>
  [fit, held] as const;
