// `graduate predict` for people: risks, quantiles, restricted means, ids and doubts of a table of several parts, against
// the whole table predicted at once; and the plain columns as they have always been.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parquetReadObjects } from "hyparquet";
import { beforeAll, describe, expect, test } from "vitest";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { modelToBytes } from "../../src/files/model/model-file.ts";
import type { Model } from "../../src/training/model.ts";
import { type PeoplePrediction, predictPeople } from "../../src/verbs/people/predict-people.ts";
import { patientEncoder, patientModel } from "../files/onnx-models.ts";
import { runCli } from "./run-cli.ts";

const ROWS = 10_000; // more than one part
const scratch = mkdtempSync(join(tmpdir(), "graduate-people-"));
const inScratch = (name: string) => join(scratch, name);
const cell = <T>(values: readonly T[], i: number) => String(values[i % values.length]);

/** Two rows a person; ids that differ beyond 2^53, that begin with 0, and that need quotation marks. */
const idOf = (i: number) =>
  cell([`90071992547409${Math.floor(i / 2)}93`, `00${i >> 1}`, `Müller, "${i >> 1}"`], i >> 1);
const quoted = (text: string) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const header = "pid,age,visit,smoker,sex,stage,site,dose";
function writeRow(i: number): string {
  const age = i % 11 === 0 ? "" : i % 997 === 5 ? "130" : String(30 + ((i * 7) % 500) / 10);
  const words = [cell(["true", "false", ""], i), cell(["M", "F"], i), cell([1, 2, 3, ""], i)];
  const rest = [cell(["north", '"a, b"', "Köln"], i), ((i * 3) % 17) / 10];
  return [quoted(idOf(i)), age, `${1 + (i % 12)}/${1 + (i % 28)}/2003`, ...words, ...rest].join(",");
}
const lines = Array.from({ length: ROWS }, (_, i) => writeRow(i));
const text = `${[header, ...lines].join("\n")}\n`;

const AT = [0, 3, 15];
const QUANTILES = [0.1, 0.25, 0.5];
const WISHES = ["--at", "0,3,15", "--quantiles", ".1,.25,.5", "--rmst", "9.5"];
let model: Model;
let whole: PeoplePrediction;

const predictCli = (...args: readonly string[]) =>
  runCli(["predict", inScratch("cox.model"), inScratch("people.csv"), ...args]);

beforeAll(async () => {
  writeFileSync(inScratch("people.csv"), text);
  const bytes = new TextEncoder().encode(text);
  const people = await readTable(tableSourceFromBytes("people.csv", bytes), { category: ["stage", "pid"] });
  const encoder = patientEncoder(people);
  const ranged = encoder.columns.map((one) =>
    one.column === "age" && one.type === "number" ? { ...one, range: { minimum: 30, maximum: 80 } } : one,
  );
  model = patientModel({ ...encoder, columns: ranged }, "cox");
  writeFileSync(inScratch("cox.model"), modelToBytes(model));
  const request = { at: AT, quantiles: QUANTILES, rmst: 9.5, id: "pid" };
  whole = await predictPeople(model, people, null, request);
});

const probability = (value: number) => String(Number(value.toFixed(10)));
const measured = (value: Measured) => (isAbsent(value) || Number.isNaN(value) ? "" : String(value));
const doubtsOf = (i: number) =>
  [whole.doubts.outsideRange, whole.doubts.imputed, whole.doubts.unknownLevels].map((of) => of[i].join(";"));
const curveOf = (i: number) =>
  Array.from(whole.curves.survival.subarray(i * whole.curves.T, (i + 1) * whole.curves.T), probability);
const NAMES = ["risk_0", "risk_3", "risk_15", "time_q10", "time_q25", "time_q50", "rmst_9.5"];
const DOUBTS = ["outside_range", "imputed", "unknown_levels"];
const BINS = ["S1", "S2", "S3", "S4", "S5", "S6"];

const readingsOf = (i: number) => [
  ...Array.from(whole.risk.subarray(3 * i, 3 * i + 3), probability),
  ...whole.quantile.slice(3 * i, 3 * i + 3).map(measured),
  String(whole.restrictedMean?.[i]),
];

function expectLines(
  given: string,
  names: readonly string[],
  rowOf: (i: number) => readonly string[][],
): void {
  const expected = [names, ...Array.from({ length: ROWS }, (_, i) => rowOf(i)).flat()];
  const written = `${expected.map((cells) => cells.join(",")).join("\n")}\n`;
  // a difference of megabytes is not to be printed
  if (given === written) return;
  const [a, b] = [given, written].map((one) => one.split("\n"));
  const first = a.findIndex((line, k) => line !== b[k]);
  expect(a[first]).toBe(b[first]);
  expect(a.length).toBe(b.length);
}

describe("a table of several parts", () => {
  test("without a wish, the columns are as they have always been", () => {
    const plain = predictCli();
    expect(plain.code).toBe(0);
    expectLines(plain.stdout, ["row", ...BINS, "median"], (i) => [
      [String(i + 1), ...curveOf(i), measured(whole.median[i])],
    ]);
  });

  test("ids, risks, times, means and doubts come after what was there, or without the curves", () => {
    const { code, stdout, stderr } = predictCli(...WISHES, "--id", "pid", "--no-curves");
    expect(code).toBe(0);
    expectLines(stdout, ["row", "median", "id", ...NAMES, ...DOUBTS], (i) => [
      [String(i + 1), measured(whole.median[i]), quoted(idOf(i)), ...readingsOf(i), ...doubtsOf(i)],
    ]);
    expect(stderr).toContain("age is missing in 910 of 10000 rows");
    const said = Array.from({ length: ROWS }, (_, i) => doubtsOf(i).join());
    expect(new Set(said).size).toBeGreaterThan(4);
    expect(said.filter((doubt) => doubt.startsWith("age,")).length).toBeGreaterThan(5);
  });

  test("the curves stay where they were, and so does the ranking", () => {
    const all = predictCli(...WISHES);
    expectLines(all.stdout, ["row", ...BINS, "median", ...NAMES, ...DOUBTS], (i) => [
      [String(i + 1), ...curveOf(i), measured(whole.median[i]), ...readingsOf(i), ...doubtsOf(i)],
    ]);
    const owned = predictCli("--id", "pid");
    expectLines(owned.stdout, ["row", ...BINS, "median", "id", ...DOUBTS], (i) => [
      [String(i + 1), ...curveOf(i), measured(whole.median[i]), quoted(idOf(i)), ...doubtsOf(i)],
    ]);
    const ranked = predictCli("--at", "3", "--risk", "--no-curves").stdout;
    expect(ranked.slice(0, ranked.indexOf("\n"))).toBe(["row,median,risk,risk_3", ...DOUBTS].join(","));
  });

  test("--long has a row for each person and time", () => {
    const { stdout } = predictCli("--long", "--at", "0,3,15", "--id", "pid");
    expectLines(stdout, ["id", "row", "time", "survival", "risk", ...DOUBTS], (i) =>
      AT.map((time, k) => [
        quoted(idOf(i)),
        String(i + 1),
        String(time),
        probability(whole.survival[3 * i + k]),
        probability(whole.risk[3 * i + k]),
        ...doubtsOf(i),
      ]),
    );
  });

  test("--long without times has those of all edges, and says how many rows it wrote", () => {
    const out = inScratch("long.csv");
    const { code, stdout } = predictCli("--long", "--out", out);
    expect([code, stdout]).toEqual([0, `${7 * ROWS} rows written to ${out}\n`]);
    expectLines(readFileSync(out, "utf8"), ["row", "time", "survival", "risk", ...DOUBTS], (i) =>
      model.grid.edges.map((time, t) => {
        const S = t === 0 ? 1 : whole.curves.survival[6 * i + t - 1];
        return [String(i + 1), String(time), probability(S), probability(1 - S), ...doubtsOf(i)];
      }),
    );
  });

  test("to Parquet, the numbers themselves", async () => {
    const read = async (name: string, ...args: readonly string[]) => {
      const out = inScratch(name);
      expect(predictCli(...args, "--out", out).code).toBe(0);
      return parquetReadObjects({ file: new Uint8Array(readFileSync(out)).buffer });
    };
    const wide = await read("wide.parquet", ...WISHES, "--id", "pid");
    expect(Object.keys(wide[0])).toEqual(["row", ...BINS, "median", "id", ...NAMES, ...DOUBTS]);
    expect(wide.length).toBe(ROWS);
    const isRight = (row: Record<string, unknown>, i: number) =>
      row.id === idOf(i) &&
      row.row === BigInt(i + 1) &&
      row.risk_3 === whole.risk[3 * i + 1] &&
      (row.time_q25 ?? null) ===
        (measured(whole.quantile[3 * i + 1]) === "" ? null : whole.quantile[3 * i + 1]) &&
      row["rmst_9.5"] === whole.restrictedMean?.[i] &&
      row.imputed === whole.doubts.imputed[i].join(";");
    expect(wide.findIndex((row, i) => !isRight(row, i))).toBe(-1);
    const long = await read("long.parquet", "--long"); // several row groups
    expect(long.length).toBe(7 * ROWS);
    expect(long.at(-1)).toMatchObject({
      row: BigInt(ROWS),
      time: 15,
      survival: whole.curves.survival.at(-1),
    });
  });

  test("from standard input, gzip and several files", () => {
    const args = ["--at", "3", "--id", "pid"];
    const { stdout } = predictCli(...args);
    const path = inScratch("cox.model");
    expect(runCli(["predict", path, "-", ...args], text).stdout === stdout).toBe(true);
    mkdirSync(inScratch("parts"));
    const [first, second] = [lines.slice(0, 6000), lines.slice(6000)].map((some) =>
      [header, ...some].join("\n"),
    );
    writeFileSync(inScratch("parts/1.csv"), first);
    writeFileSync(inScratch("parts/2.csv.gz"), gzipSync(second));
    expect(runCli(["predict", path, inScratch("parts"), ...args]).stdout === stdout).toBe(true);
  });
});

describe("cells and columns", () => {
  const small = (name: string, ...rows: readonly string[]) => {
    writeFileSync(inScratch(name), `${[header, ...rows].join("\n")}\n`);
    return inScratch(name);
  };

  test("a level that training did not have is refused, unless the model allows it, and then named", () => {
    const odd = small("odd.csv", "1,50,1/2/2003,true,M,1,north,0.1", "2,50,1/2/2003,true,X,1,south,0.1");
    const refused = runCli(["predict", inScratch("cox.model"), odd, "--at", "3"]);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain('level of "sex" not seen in training: "X"');
    const allowing = inScratch("allowing.model");
    writeFileSync(
      allowing,
      modelToBytes({ ...model, encoder: { ...model.encoder, unknownLevels: "allow" } }),
    );
    const { code, stdout } = runCli(["predict", allowing, odd, "--at", "3"]);
    expect(code).toBe(0);
    expect(stdout.split("\n").map((line) => line.split(",").at(-1))).toEqual([
      "unknown_levels",
      "",
      "sex;site",
      "",
    ]);
  });

  test("an id that is a column of the model is read as the model reads it; a missing one is empty", () => {
    const odd = small("few.csv", ",50,1/2/2003,true,M,1,north,0.1", "NA,51.50,1/2/2003,true,F,1,north,0.1");
    const idsBy = (id: string) =>
      runCli(["predict", inScratch("cox.model"), odd, "--no-curves", "--id", id])
        .stdout.trimEnd()
        .split("\n")
        .map((line) => line.split(",")[2]);
    expect(idsBy("age")).toEqual(["id", "50", "51.5"]);
    expect(idsBy("stage")).toEqual(["id", "1", "1"]);
    expect(idsBy("pid")).toEqual(["id", "", ""]);
  });

  test("control characters of an id are spelled out on standard output, and kept in a file", () => {
    const odd = small("hostile.csv", "a\u001b[31m,50,1/2/2003,true,M,1,north,0.1");
    const args = ["predict", inScratch("cox.model"), odd, "--at", "3", "--id", "pid"];
    expect(runCli(args).stdout).toContain(",a\\u001b[31m,");
    const out = inScratch("hostile-out.csv");
    expect(runCli([...args, "--out", out]).code).toBe(0);
    expect(readFileSync(out, "utf8")).toContain(",a\u001b[31m,");
  });
});

describe("bad wishes", () => {
  test.each([
    ["--at", "16", "time after the horizon: 16 (the curves end at 15)"],
    ["--at", "3,3", "time named twice: 3"],
    ["--at", "-3", "expected times from 0 up"],
    ["--at", "soon", 'invalid value for --at: "soon" (expected times from 0 up, e.g. 365,1825)'],
    ["--quantiles", "1", "expected numbers between 0 and 1"],
    ["--quantiles", "0.5,", "expected numbers between 0 and 1"],
    ["--quantiles", ".5,0.50", "quantile, in percent, named twice: 50"],
    ["--rmst", "0", "expected a number above 0"],
    ["--rmst", "15.5", "end of a restricted mean after the horizon: 15.5 (the curves end at 15)"],
    ["--id", "patient", 'missing column: "patient" (have pid, age, visit'],
  ])("%s %s", (option, value, message) => {
    const out = inScratch("never.csv");
    const { code, stdout, stderr } = predictCli(`${option}=${value}`, "--out", out);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.replace(/\s+/g, " ")).toContain(message);
    expect(() => readFileSync(out)).toThrow("ENOENT");
  });

  test.each(["--quantiles=.5", "--rmst=3", "--risk"])("--long %s", (option) => {
    const { code, stdout, stderr } = predictCli("--long", option);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.replace(/\s+/g, " ")).toContain(`it cannot go with ${option.split("=")[0]}`);
  });
});
