// Whose rows are whose: numbered by hand, split without tearing anybody apart, and found where a table does not say.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { createRandom } from "../../src/core/random.ts";
import { plainText } from "../../src/core/sentence.ts";
import { isNamedAsId } from "../../src/data/checks/identifiers.ts";
import { checkIndependence, checkTable, findRepeatedPeople } from "../../src/data/checks/sanity.ts";
import { groupByPerson, pickPeople, readPeople } from "../../src/data/outcomes/people.ts";
import { refuseTornPeople, splitByOrder } from "../../src/data/outcomes/split.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type { Column, Table } from "../../src/data/table.ts";

const ids = (values: readonly number[]): Table => ({
  name: "eyes",
  rows: values.length,
  columns: [{ name: "id", type: "number", values: Float64Array.from(values) }],
});

describe("readPeople", () => {
  test("numbers people by their first row, whatever the ids are", () => {
    const people = readPeople(ids([7, 3, 7, 9, 3]), "id");
    expect(people).toEqual({ count: 3, of: Int32Array.of(0, 1, 0, 2, 1) });
    expect(pickPeople(people, [3, 1, 4])).toEqual({ count: 2, of: Int32Array.of(0, 1, 1) });
    expect(groupByPerson(people, [4, 0, 1, 2])).toEqual([
      [4, 1],
      [0, 2],
    ]);
    const texts: Column = { name: "id", type: "category", levels: ["a", "b"], codes: Int32Array.of(1, 0, 1) };
    expect(readPeople({ name: "t", rows: 3, columns: [texts] }, "id").of).toEqual(Int32Array.of(0, 1, 0));
  });

  test("a row without an id is refused by its number", () => {
    expect(() => readPeople(ids([1, Number.NaN, 1, Number.NaN]), "id")).toThrow("no id in rows 2 and 4");
    expect(() => readPeople(ids([1]), "pid")).toThrow(InputError);
  });
});

describe("a split by person", () => {
  const random = createRandom(4);
  const table = ids(Array.from({ length: 900 }, () => random.integer(400)));
  const people = readPeople(table, "id");
  const event = Uint8Array.from({ length: 900 }, () => (random.uniform() < 0.3 ? 1 : 0));

  test.each([undefined, event])("puts every row in one set and nobody in two", (stratifyBy) => {
    for (let seed = 1; seed <= 20; seed++) {
      const split = splitByOrder(900, { seed, people, ...(stratifyBy && { stratifyBy }) });
      const rows = [...split.train, ...split.validation, ...split.test].sort((a, b) => a - b);
      expect(rows).toEqual(Array.from({ length: 900 }, (_, row) => row));
      const [train, valid, tested] = [split.train, split.validation, split.test].map(
        (set) => new Set(Array.from(set, (row) => people.of[row])),
      );
      // Shares of people, by the rule that shares rows out.
      const n = people.count;
      const nTrain = Math.floor(0.6 * n + 1e-9);
      expect([train.size, valid.size]).toEqual([nTrain, Math.floor((n - nTrain) / 2)]);
      expect(train.size + valid.size + tested.size).toBe(n);
      expect(() => refuseTornPeople(split, people, { table, id: "id" })).not.toThrow();
    }
  });

  test("where everybody has one row it is the split by row", () => {
    const single = readPeople(ids(Array.from({ length: 900 }, (_, k) => 5000 - k)), "id");
    for (const seed of [1, 2, 77]) {
      expect(splitByOrder(900, { seed, people: single })).toEqual(splitByOrder(900, { seed }));
      const stratified = { seed, stratifyBy: event, fractions: [0.5, 0, 0.5] as const };
      expect(splitByOrder(900, { ...stratified, people: single })).toEqual(splitByOrder(900, stratified));
    }
  });

  test("a split that tears somebody apart is refused with the name", () => {
    const eyes = ids([7, 3, 7, 9, 3, 9]);
    const split = { train: Int32Array.of(0, 1, 3), validation: Int32Array.of(2), test: Int32Array.of(4, 5) };
    expect(() => refuseTornPeople(split, readPeople(eyes, "id"), { table: eyes, id: "id" })).toThrow(
      "the split puts rows of one person into different sets: " +
        "id 7 (row 1 train, row 3 validation), 3 (row 2 train, row 5 test), 9 (row 4 train, row 6 test)",
    );
    expect(() => splitByOrder(6, { seed: 1, people: readPeople(ids([1, 1, 1, 1, 2, 2]), "id") })).toThrow(
      "too few people to split",
    );
    expect(() => splitByOrder(5, { seed: 1, people: readPeople(eyes, "id") })).toThrow(
      "people are given for 6 rows",
    );
  });
});

async function read(path: string): Promise<Table> {
  const url = new URL(`../../${path}`, import.meta.url);
  return readTable(tableSourceFromBytes(path, readFileSync(url)));
}

describe("findRepeatedPeople", () => {
  const find = (table: Table, time: string, event: string, features?: readonly string[]) =>
    findRepeatedPeople(table, checkTable(table, { time, event, ...(features && { features }) }), {
      time,
      event,
    });

  test("fires on two eyes a patient, also where other features are named, and on no table of one row a person", async () => {
    const eyes = await read("test/tables/retinopathy.csv");
    expect(find(eyes, "futime", "status")?.column).toBe("id");
    expect(find(eyes, "futime", "status", ["age", "trt"])?.column).toBe("id");
    for (const [path, time, event] of [
      ["test/tables/gbsg.csv", "rfstime", "status"],
      ["test/tables/pbc.csv", "time", "event"],
      ["test/tables/lung.csv", "time", "event"],
      ["test/tables/veteran.csv", "time", "status"],
      ["datasets/nwtco/nwtco.csv", "edrel", "rel"],
      ["datasets/flchain/flchain.csv", "futime", "death"],
    ]) {
      expect(find(await read(path), time, event), path).toBeNull();
    }
  });

  test("both ways out are named, and the second leaves a warning", async () => {
    const eyes = await read("test/tables/retinopathy.csv");
    const asked = { time: "futime", event: "status" };
    const checked = checkTable(eyes, asked);
    const message =
      "id identifies 197 patients or groups with several rows each (394 rows; every value occurs 2 times)";
    try {
      checkIndependence(eyes, checked, asked);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
      const { message: said, hint, where, code } = error as InputError;
      expect(said).toContain(message);
      expect([code, where]).toEqual(["rows.repeated", 'test/tables/retinopathy.csv, column "id"']);
      expect(hint).toContain("--id id keeps the rows of a person together");
      expect(hint).toContain("--rows-are-independent");
    }
    expect(checkIndependence(eyes, checked, { ...asked, id: "id" })).toEqual([]);
    const [warning] = checkIndependence(eyes, checked, { ...asked, rowsAreIndependent: true });
    expect(plainText(warning.sentence)).toContain(
      "these rows are not independent; they are taken as independent, as asked",
    );
  });

  test("a percentile of something is no person, and an id that fixes nothing else is one by its name", () => {
    const random = createRandom(8);
    const N = 1000;
    const draw = () => Float64Array.from({ length: N }, () => random.normal());
    const order = Int32Array.from({ length: N }, (_, k) => k);
    const scrambled = Float64Array.from(order, (k) => (k * 377) % 100);
    const make = (name: string, values = scrambled): Table => ({
      name: "t",
      rows: N,
      columns: [
        { name: "time", type: "number", values: draw().map(Math.abs) },
        { name: "event", type: "number", values: Float64Array.from(order, () => random.integer(2)) },
        { name, type: "number", values },
        { name: "x", type: "number", values: draw() },
      ],
    });
    expect(find(make("percentile"), "time", "event")).toBeNull();
    expect(find(make("patient_no"), "time", "event")?.column).toBe("patient_no");
    const litters = Float64Array.from(order, (k) => Math.floor(k / 4));
    expect(find(make("litter", litters), "time", "event")?.column).toBe("litter");
    expect(["id", "PID", "patID", "case.id", "subject"].map(isNamedAsId)).not.toContain(false);
    expect(["arachnid", "acid", "width", "paid"].map(isNamedAsId)).not.toContain(true);
  });

  test("a name that only ids of people have is enough, and a place is nobody", () => {
    const random = createRandom(6);
    const of = Array.from({ length: 300 }, () => random.integer(120));
    const numbers = Array.from({ length: 120 }, () => 100_000 + random.integer(900_000));
    const draw = (values: number) => Float64Array.from(of, () => random.integer(values));
    const perValue = (values: number) => {
      const own = Array.from({ length: 120 }, () => random.integer(values));
      return Float64Array.from(of, (k) => own[k]);
    };
    const make = (name: string, more: Readonly<Record<string, Float64Array>>): Table => {
      const own = {
        [name]: Float64Array.from(of, (k) => numbers[k]),
        age: draw(50),
        time: draw(900),
        event: draw(2),
      };
      const columns = Object.entries({ ...own, ...more });
      return {
        name: "visits",
        rows: 300,
        columns: columns.map(([column, values]) => ({ name: column, type: "number", values })),
      };
    };
    for (const name of [
      "patient_id",
      "MRN",
      "subj",
      "nhs_number",
      "PatientNr",
      "hospital_no",
      "pseudonym",
      "case_id",
    ])
      expect(find(make(name, {}), "time", "event")?.column, name).toBe(name);
    const own = Float64Array.from(of, (_, row) => row);
    expect(find(make("case_id", { id: own, sex: perValue(2) }), "time", "event")).toBeNull();
    for (const name of ["loan_id", "visitID"]) {
      expect(find(make(name, {}), "time", "event"), name).toBeNull();
      expect(find(make(name, { sex: perValue(2) }), "time", "event")?.column, name).toBe(name);
    }
    for (const name of ["dose", "inpatient_days", "age_of_person"])
      expect(find(make(name, { sex: perValue(2) }), "time", "event"), name).toBeNull();
    // The income and the region of a postcode are the same for all who live there.
    for (const name of ["zip", "hospital_id", "site"])
      expect(
        find(make(name, { income: perValue(700), region: perValue(6) }), "time", "event"),
        name,
      ).toBeNull();
  });
});
