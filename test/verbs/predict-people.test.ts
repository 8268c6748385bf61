// Predictions for people: what is read off the curves is that of the plain functions, in one piece or in parts.
import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { InputError } from "../../src/core/errors.ts";
import { selectRows, type Table } from "../../src/data/table.ts";
import { quantileTimes, restrictedMeanTimes, riskAt } from "../../src/stats/curve-readings.ts";
import type { Model } from "../../src/training/model.ts";
import { layOutPeople } from "../../src/verbs/people/people-columns.ts";
import {
  type PeoplePrediction,
  type PeopleRequest,
  predictPeople,
  preparePeople,
} from "../../src/verbs/people/predict-people.ts";
import { gridOf, predict, riskOf } from "../../src/verbs/predict.ts";
import { patientEncoder, patientModel, readPatients } from "../files/onnx-models.ts";

const request = { at: [0, 4, 12.5], quantiles: [0.25, 0.5, 0.9], rmst: 11, id: "pid", ranking: true };

let table: Table;
let cox: Model;
let whole: PeoplePrediction;

beforeAll(async () => {
  const patients = await readPatients();
  const levels = Array.from({ length: patients.rows }, (_, row) => `p${row % 5}`);
  const names = [...new Set(levels)];
  const codes = Int32Array.from(levels, (text, row) => (row === 1 ? -1 : names.indexOf(text)));
  table = {
    ...patients,
    columns: [...patients.columns, { name: "pid", type: "category", codes, levels: names }],
  };
  cox = patientModel(patientEncoder(patients), "cox");
  whole = await predictPeople(cox, table, null, request);
});

describe("predictPeople", () => {
  test("has the curves of predict and what is read off them", async () => {
    const plain = await predict(cox, table, null);
    const grid = gridOf(cox);
    expect(whole).toMatchObject(plain);
    expect(whole.risk).toEqual(riskAt(plain.curves, grid, request.at));
    expect(whole.survival.every((S, k) => 1 - S === whole.risk[k])).toBe(true);
    expect(whole.quantile).toEqual(quantileTimes(plain.curves, grid, request.quantiles));
    expect(whole.restrictedMean).toEqual(restrictedMeanTimes(plain.curves, grid, request.rmst));
    expect(whole.ranking).toEqual(riskOf(cox, plain.curves));
    expect(whole.id?.slice(0, 6)).toEqual(["p0", "", "p2", "p3", "p4", "p0"]);
  });

  test("in parts, and of some rows, it is that of the whole", async () => {
    const predictPart = preparePeople(cox, null, request);
    const rows = [5, 0, 3];
    const picked = await predictPeople(cox, table, null, request, rows);
    const part = await predictPart(selectRows(table, rows));
    expect(part).toEqual({ ...picked, warnings: part.warnings });
    for (const [i, row] of rows.entries()) {
      expect([...picked.risk.subarray(3 * i, 3 * i + 3)]).toEqual([
        ...whole.risk.subarray(3 * row, 3 * row + 3),
      ]);
      expect(picked.quantile.slice(3 * i, 3 * i + 3)).toEqual(whole.quantile.slice(3 * row, 3 * row + 3));
      expect(picked.doubts.imputed[i]).toEqual(whole.doubts.imputed[row]);
      expect(picked.id?.[i]).toBe(whole.id?.[row]);
    }
  });

  test("a network, asked for nothing, says what is doubtful", async () => {
    const network = patientModel(cox.encoder, "linear");
    const given = await predictPeople(network, table, createReferenceBackend(), {});
    expect([given.risk.length, given.quantile.length]).toEqual([0, 0]);
    expect([given.restrictedMean, given.id, given.ranking]).toEqual([null, null, null]);
    expect(given.doubts).toEqual(whole.doubts);
    expect(whole.doubts.imputed.some((names) => names.length > 0)).toBe(true);
  });

  test.each<[PeopleRequest, string, string]>([
    [{ at: [-1] }, "time.invalid", "time is not a number from 0 up: -1"],
    [{ at: [3, 16] }, "time.horizon", "time after the horizon: 16 (the curves end at 15)"],
    [{ at: [3, 4, 3] }, "time.duplicate", "time named twice: 3"],
    [{ quantiles: [0] }, "share.invalid", "quantile is not between 0 and 1: 0"],
    [{ quantiles: [Number.NaN] }, "share.invalid", "quantile is not between 0 and 1: NaN"],
    [{ quantiles: [0.3, 0.1 + 0.2] }, "share.duplicate", "quantile, in percent, named twice: 30"],
    [{ rmst: 0 }, "time.invalid", "end of a restricted mean is not after 0: 0"],
    [
      { rmst: 15.5 },
      "time.horizon",
      "end of a restricted mean after the horizon: 15.5 (the curves end at 15)",
    ],
  ])("refuses %j before it reads a row", (bad, code, message) => {
    const prepare = () => preparePeople(cox, null, bad);
    expect(prepare).toThrow(InputError);
    expect(prepare).toThrow(expect.objectContaining({ code, message }));
  });

  test("an id that is not there is named with the columns that are", async () => {
    const asked = predictPeople(cox, table, null, { id: "pids" });
    await expect(asked).rejects.toThrow(/missing column: "pids" \(have .*pid\)/);
  });

  test("ids that are numbers beyond 2^53 are refused: two people would have one id", async () => {
    const values = Float64Array.from({ length: table.rows }, () => 2 ** 53 + 2);
    const merged: Table = {
      ...table,
      columns: [...table.columns, { name: "number", type: "number", values }],
    };
    await expect(predictPeople(cox, merged, null, { id: "number" })).rejects.toThrow("beyond 2^53");
  });
});

describe("the table that people become", () => {
  const namesOf = (...of: Parameters<typeof layOutPeople>) =>
    layOutPeople(...of).columns.map(({ name }) => name);
  const DOUBTS = ["outside_range", "imputed", "unknown_levels"];

  test("what was there before comes first, then the id", () => {
    expect(namesOf({}, { curves: 2 })).toEqual(["row", "S1", "S2", "median", ...DOUBTS]);
    expect(namesOf({ ...request, quantiles: [0.29, 0.025] })).toEqual(
      [
        "row",
        "median",
        "risk",
        "id",
        "risk_0",
        "risk_4",
        "risk_12.5",
        "time_q29",
        "time_q2.5",
        "rmst_11",
      ].concat(DOUBTS),
    );
  });

  test("long, a person has a row for each time", () => {
    const { columns, rowsEach } = layOutPeople({ at: request.at, id: "pid" }, { long: true });
    expect(columns.map(({ name }) => name)).toEqual(["id", "row", "time", "survival", "risk", ...DOUBTS]);
    expect(rowsEach).toBe(3);
    const cells = columns.slice(0, 5).map((column) => column.cell({ ...whole, firstRow: 100 }, 2, 1));
    expect(cells).toEqual(["p2", 103, 4, whole.survival[7], whole.risk[7]]);
  });

  test("what belongs to a person has no place in it", () => {
    expect(() => layOutPeople(request, { long: true })).toThrow(
      "--long has one row a person and time: it cannot go with --quantiles, --rmst, --risk",
    );
  });

  test("a quantile that is not reached is an empty cell", () => {
    const { columns } = layOutPeople({ quantiles: request.quantiles });
    const last = columns.find(({ name }) => name === "time_q90");
    const cells = Array.from({ length: table.rows }, (_, i) => last?.cell({ ...whole, firstRow: 0 }, i, 0));
    expect(cells.some((cell) => cell === null) && cells.some((cell) => typeof cell === "number")).toBe(true);
  });
});
