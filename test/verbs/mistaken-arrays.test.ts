// What a caller of the library may get wrong about causes, people and weights: refused by name, never another number.
import { describe, expect, test } from "vitest";
import * as library from "./public-library.ts";

const time = [5, 8, 8, 12, 3];
const event = [1, 0, 1, 0, 1];
const cause = [1, 0, 2, 0, 1];
const observed = { time, event, cause };
const groups = [0, 1, 0, 1, 1];
const x = [1, 2, 3, 4, 5];

/** As JavaScript may call it, where no type is in the way. */
const as = <Type>(value: unknown) => value as Type;

describe("causes", () => {
  const incidence = Array.from({ length: 10 }, (_, k) => (k % 2 === 0 ? 0.1 : 0.2));
  const scored = { outcomes: observed, times: [4, 9], incidence };
  test.each([0, -1, 1.5, 256, undefined])("there is no cause %s", (wrong) => {
    const refusal = expect.objectContaining({
      code: "cause.number",
      message: `no number of a cause: ${wrong}`,
    });
    const of = as<number>(wrong);
    expect(() => library.scoreIncidence({ ...scored, cause: of })).toThrow(refusal);
    expect(() => library.grayTest(observed, groups, 2, { cause: of })).toThrow(refusal);
    expect(() => library.fitSubdistribution({ ...observed, x, D: 1 }, { of })).toThrow(refusal);
  });

  test("a test without options asks for the cause", () => {
    const options = as<{ cause: number }>(undefined);
    expect(() => library.grayTest(observed, groups, 2, options)).toThrow("no number of a cause");
  });

  test("incidences beyond 0 and 1 are not scored; rounding is forgiven", () => {
    const with5 = (value: number) => incidence.map((one, k) => (k === 5 ? value : one));
    for (const wrong of [1.4, -0.1])
      expect(() => library.scoreIncidence({ ...scored, incidence: with5(wrong), cause: 1 })).toThrow(
        expect.objectContaining({ code: "curves.range", where: "row 3" }),
      );
    expect(library.scoreIncidence({ ...scored, incidence: with5(1 + 1e-12), cause: 1 })).toHaveProperty(
      "brier",
    );
  });

  test("where causes have no place, the sentence says what takes them", () => {
    expect(() => library.kaplanMeier(as<{ time: number[]; event: number[] }>(observed))).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("aalenJohansen") }),
    );
  });
});

describe("people and weights", () => {
  test("an id that is no whole number of 32 bits would join people", () => {
    for (const id of [
      [4294967297, 1, 2, 3, 4],
      ["a", "b", "c", "d", "e"],
      [0.5, 0.7, 1, 2, 3],
    ])
      expect(() => library.aalenJohansen({ ...observed, id: as<number[]>(id) })).toThrow(
        expect.objectContaining({ code: "id.value", where: expect.stringContaining("row") }),
      );
    const apart = library.aalenJohansen({ ...observed, id: [7, 1, 2, 3, 4] });
    expect([...apart.causes[0].variance]).toEqual([...library.aalenJohansen(observed).causes[0].variance]);
  });

  test("weights of no scale, by which Newton's method would stop too early", () => {
    const fitRows = (size: number) =>
      library.fitCox({ time, event, x, D: 1, weight: [1, 2, 1, 3, 1].map((one) => one * size) });
    for (const size of [1e-20, 1e20]) expect(() => fitRows(size)).toThrow("the largest weight is");
    expect(fitRows(1e-6).coefficients[0]).toBeCloseTo(fitRows(1).coefficients[0], 9);
    expect(fitRows(1e6).coefficients[0]).toBeCloseTo(fitRows(1).coefficients[0], 9);
  });
});

describe("requests", async () => {
  const lines = Array.from({ length: 40 }, (_, k) => `${1 + (k % 9)},${"nab"[k % 3]},${(k * 7) % 11}`);
  const bytes = new TextEncoder().encode(`t,e,x\n${lines.join("\n")}\n`);
  const table = await library.readTable(library.tableSourceFromBytes("t.csv", bytes));
  const fitRows = (request: object) => library.fit(table, as<library.TrainRequest>(request));
  test("causes are a list", async () => {
    await expect(fitRows({ time: "t", event: "e", causes: "a,b" })).rejects.toThrow(
      'causes are not a list: "a,b"',
    );
  });
  test("a cause without an event among the training rows is named", async () => {
    const one = lines.map((line, k) => (k === 3 ? line.replace(/,.,/, ",c,") : line));
    const rare = await library.readTable(
      library.tableSourceFromBytes("r.csv", new TextEncoder().encode(`t,e,x\n${one.join("\n")}\n`)),
    );
    const request = { time: "t", event: "e", causes: ["a", "b", "c"], censored: "n", ensemble: 1 };
    const refusals = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((seed) =>
        library.fit(rare, { ...request, seed, options: { steps: 1 } }).then(
          () => "",
          ({ message, hint }) => `${message}; ${hint}`,
        ),
      ),
    );
    const said = refusals.filter((text) => text !== "");
    expect(said.length).toBeGreaterThan(0);
    for (const text of said)
      expect(text).toMatch(/^no events of c among the 24 training rows; write rare causes/);
  });
  test("the time is named, also of rows that stop", async () => {
    const request = { start: "s", stop: "t", event: "e", causes: ["a", "b"] };
    await expect(fitRows(request)).rejects.toThrow("no column is named for the time");
  });
});
