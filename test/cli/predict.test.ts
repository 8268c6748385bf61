// `graduate predict` on tables of several parts, against the whole table predicted at once and written the slow way.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type { Table } from "../../src/data/table.ts";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import { writeProbability } from "../../src/node/io/prediction-output.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { mortalityRisk } from "../../src/stats/mortality-risk.ts";
import type { Model } from "../../src/training/model.ts";
import { type Prediction, predict, riskOf } from "../../src/verbs/predict.ts";
import { patientEncoder, patientModel } from "../files/onnx-models.ts";
import { root, runCli } from "./run-cli.ts";

const ROWS = 9000; // more than one part
const scratch = mkdtempSync(join(tmpdir(), "graduate-predict-"));
const inScratch = (name: string) => join(scratch, name);
const launcher = join(root, "bin", "graduate.js");

const header = "id,age,visit,smoker,sex,stage,site,dose";
const cell = <T>(values: readonly T[], i: number) => String(values[i % values.length]);

function writeRow(i: number): string {
  const age = i % 11 === 0 ? "" : String(30 + ((i * 7) % 500) / 10);
  const visit = i % 13 === 0 ? "NA" : `${1 + (i % 12)}/${1 + (i % 28)}/2003`;
  const words = [cell(["true", "false", ""], i), cell(["M", "F"], i), cell([1, 2, 3, ""], i)];
  const site = cell(["north", '"a, b"', "Köln"], i);
  return [i, age, visit, ...words, site, ((i * 3) % 17) / 10].join(",");
}

/** What is said of the holes: one row in 11, one in 3, one in 13. */
const FILLED = `graduate: age is missing in 819 of 9000 rows: the training median, 55, stands in
graduate: smoker is missing in 3000 of 9000 rows: the training majority, false, stands in
graduate: visit is missing in 693 of 9000 rows: the training median, 2003-07-03, stands in
`;

const lines = Array.from({ length: ROWS }, (_, i) => writeRow(i));
const text = `${[header, ...lines].join("\n")}\n`;
const table = inScratch("people.csv");

const groups = [
  { name: "old or in the north", expression: "age >= 60 | site = north" },
  { name: "seen late", expression: "visit >= 2003-06-01" },
];

async function readPeople(): Promise<Table> {
  const bytes = new TextEncoder().encode(text);
  return readTable(tableSourceFromBytes("people.csv", bytes), { category: ["stage"] });
}

/** As the command wrote it when it held the whole table. */
function formatSlowly({ curves, median }: Prediction): string {
  const { N, T, survival } = curves;
  const written = [["row", ...Array.from({ length: T }, (_, t) => `S${t + 1}`), "median"].join(",")];
  for (let i = 0; i < N; i++) {
    const cells = Array.from(survival.subarray(i * T, (i + 1) * T), (S) => String(Number(S.toFixed(10))));
    written.push([i + 1, ...cells, Number.isNaN(median[i]) ? "" : median[i]].join(","));
  }
  return `${written.join("\n")}\n`;
}

const kinds = ["cox", "anchored"] as const;
const predictions = new Map<string, Prediction>();

beforeAll(async () => {
  writeFileSync(table, text);
  const people = await readPeople();
  const { addGroupColumns, groupColumnName } = await import("../../src/data/groups/groups.ts");
  const encoder = patientEncoder(addGroupColumns(people, groups), "keep", groups.map(groupColumnName));
  const backend = await openWasmBackend({ threads: 2 });
  for (const kind of kinds) {
    const model: Model = patientModel(encoder, kind, groups);
    writeFileSync(inScratch(`${kind}.model`), modelToBytes(model));
    predictions.set(kind, await predict(model, people, backend));
  }
  await backend.close();
});

function predictionOf(kind: string): Prediction {
  const found = predictions.get(kind);
  if (found === undefined) throw new Error(`no model: ${kind}`);
  return found;
}

describe("the same as of the whole table", () => {
  test.each(kinds)("%s, to CSV", (kind) => {
    const out = inScratch(`${kind}.csv`);
    const { code, stdout, stderr } = runCli(["predict", inScratch(`${kind}.model`), table, "--out", out]);
    expect([stderr, code, stdout]).toEqual([FILLED, 0, `${ROWS} rows written to ${out}\n`]);
    expect(readFileSync(out, "utf8") === formatSlowly(predictionOf(kind))).toBe(true);
  });

  test("to Parquet, the numbers themselves", async () => {
    const out = inScratch("cox.parquet");
    expect(runCli(["predict", inScratch("cox.model"), table, "--out", out]).code).toBe(0);
    const bytes = readFileSync(out);
    const file = new Uint8Array(bytes).buffer;
    const rows = await parquetReadObjects({ file });
    const { curves, median } = predictionOf("cox");
    const { T, survival } = curves;
    expect(Object.keys(rows[0])).toEqual(["row", "S1", "S2", "S3", "S4", "S5", "S6", "median"]);
    expect(rows.length).toBe(ROWS);
    const given = rows.flatMap((row) => Array.from({ length: T }, (_, t) => row[`S${t + 1}`] as number));
    expect(given.every((S, k) => S === survival[k])).toBe(true);
    expect(rows.every(({ row }, i) => row === BigInt(i + 1))).toBe(true);
    const expected = Array.from(median, (time) => (Number.isNaN(time) ? undefined : time));
    expect(rows.map((row) => row.median ?? undefined)).toEqual(expected);
    expect(expected.some((time) => time === undefined) && expected.some((time) => time !== undefined)).toBe(
      true,
    );
  });

  test("--risk comes last, in CSV and in Parquet; a file without the share at risk says how it counts", async () => {
    const [old, aware, out] = ["cox.model", "aware.model", "risk.parquet"].map(inScratch);
    const model = modelFromBytes(new Uint8Array(readFileSync(old)), "cox.model");
    const atRisk = [1, 0.9, 0.5, 0.3, 0.1, 0];
    writeFileSync(aware, modelToBytes({ ...model, grid: { ...model.grid, atRisk } }));
    const { curves } = predictionOf("cox");
    const risks = (stdout: string) =>
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(",").at(-1));
    const told = runCli(["predict", aware, table, "--risk"]);
    expect([told.code, told.stderr]).toEqual([0, FILLED]);
    expect(risks(told.stdout)).toEqual(["risk", ...Array.from(mortalityRisk(curves, atRisk), String)]);
    const untold = runCli(["predict", old, table, "--risk"]);
    expect(untold.stderr.replace(/\s+/g, " ")).toContain("the risk counts all time bins alike");
    expect(risks(untold.stdout)).toEqual(["risk", ...Array.from(riskOf(model, curves), String)]);
    expect(runCli(["predict", aware, table, "--risk", "--out", out]).code).toBe(0);
    const rows = await parquetReadObjects({ file: new Uint8Array(readFileSync(out)).buffer });
    expect(Object.keys(rows[0]).at(-1)).toBe("risk");
    expect(rows.map(({ risk }) => risk)).toEqual([...mortalityRisk(curves, atRisk)]);
  });

  test("from standard input, dates to be settled over all rows included", () => {
    const { code, stdout } = runCli(["predict", inScratch("cox.model"), "-"], text);
    expect([code, stdout === formatSlowly(predictionOf("cox"))]).toEqual([0, true]);
  });

  test("from a Parquet file", async () => {
    const people = await readPeople();
    const columnData = people.columns
      .filter(({ name }) => name !== "visit")
      .map((column) => {
        switch (column.type) {
          case "category": {
            const data = Array.from(column.codes, (code) => (code < 0 ? null : column.levels[code]));
            return { name: column.name, data, type: "STRING" as const };
          }
          case "boolean": {
            const data = Array.from(column.values, (value) => (value === 255 ? null : value === 1));
            return { name: column.name, data, type: "BOOLEAN" as const };
          }
          default: {
            const data = Array.from(column.values, (value) => (Number.isNaN(value) ? null : value));
            return { name: column.name, data, type: "DOUBLE" as const };
          }
        }
      });
    const visit = people.columns.find(({ name }) => name === "visit");
    if (visit?.type !== "date") throw new Error("visit is a date");
    const days = Array.from(visit.values, (day) => (Number.isNaN(day) ? null : new Date(day * 86_400_000)));
    const buffer = parquetWriteBuffer({
      columnData: [...columnData, { name: "visit", data: days, type: "TIMESTAMP" }],
      rowGroupSize: 5000,
    });
    writeFileSync(inScratch("people.parquet"), new Uint8Array(buffer));
    const { code, stdout, stderr } = runCli(["predict", inScratch("cox.model"), inScratch("people.parquet")]);
    expect([stderr, code, stdout === formatSlowly(predictionOf("cox"))]).toEqual([FILLED, 0, true]);
  });

  test("probabilities are written as String writes them", () => {
    const bytes = new Uint8Array(32);
    const write = (S: number) => String.fromCharCode(...bytes.subarray(0, writeProbability(S, bytes, 0)));
    const random = createRandom(7);
    const odd = [
      0,
      1,
      0.5,
      0.1,
      1e-6,
      9.99999e-7,
      1e-7,
      1.5e-10,
      5e-11,
      4.9e-11,
      1 - 1e-11,
      1 - 5e-11,
      1 - 1e-9,
    ];
    const ties = Array.from({ length: 2000 }, (_, k) => (k * 997 + 0.5) / 1e10);
    const drawn = Array.from({ length: 20_000 }, () => random.uniform() ** 3);
    for (const S of [...odd, ...ties, ...drawn]) {
      if (write(S) !== String(Number(S.toFixed(10)))) expect(write(S)).toBe(String(Number(S.toFixed(10))));
    }
  });
});

describe("a table that is still growing", () => {
  /** Feeds the rows, but does not end the input. */
  function start(args: readonly string[]) {
    const child = spawn(process.execPath, [launcher, "predict", ...args], { stdio: "pipe" });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (part) => {
      stdout += part;
    });
    child.stderr.on("data", (part) => {
      stderr += part;
    });
    child.stdin.on("error", () => undefined); // it may have ended
    const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
    return { child, ended, read: () => ({ stdout, stderr }) };
  }

  async function until(condition: () => boolean): Promise<void> {
    const deadline = performance.now() + 30_000;
    while (!condition()) {
      if (performance.now() > deadline) throw new Error("waited in vain");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** No date among its features: its input is read once. */
  const dateless = inScratch("dateless.model");
  beforeAll(async () => {
    const people = await readPeople();
    const columns = people.columns.filter(({ name }) => name !== "visit");
    const encoder = patientEncoder({
      ...people,
      columns: [
        ...columns,
        { name: "visit", type: "number", values: new Float64Array(ROWS).map((_, i) => i % 5) },
      ],
    });
    const encodings = encoder.columns.map((one) => (one.column === "visit" ? { ...one, column: "id" } : one));
    const names = encoder.names.map((name) => (name === "visit" ? "id" : name));
    writeFileSync(dateless, modelToBytes(patientModel({ ...encoder, columns: encodings, names }, "linear")));
  });

  test("its first rows come out before the last have come in", async () => {
    const { child, ended, read } = start([dateless, "-"]);
    child.stdin.write(`${text}${text.slice(header.length + 1)}`);
    await until(() => read().stdout.split("\n").length > 5000);
    expect(child.exitCode).toBeNull();
    child.stdin.end();
    expect(await ended).toBe(0);
    expect(read().stdout.trimEnd().split("\n").length).toBe(1 + 2 * ROWS);
    // One line a column, over all parts; ids are outside what training had.
    expect(read().stderr.match(/graduate: \w+ is (?:missing|outside)/g)).toEqual([
      "graduate: age is missing",
      "graduate: smoker is missing",
      "graduate: id is outside",
    ]);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("%s leaves what was there before", async (signal) => {
    const folder = inScratch(`stopped-${signal}`);
    mkdirSync(folder);
    const out = join(folder, "curves.csv");
    writeFileSync(out, "of yesterday");
    const { child, ended } = start([dateless, "-", "--out", out]);
    child.stdin.write(`${text}${text.slice(header.length + 1)}`);
    const part = () => readdirSync(folder).find((name) => name.endsWith(".part"));
    await until(() => statSync(join(folder, part() ?? "curves.csv")).size > 1000);
    child.kill(signal);
    expect(await ended).toBe(signal === "SIGINT" ? 130 : 143);
    expect(readdirSync(folder)).toEqual(["curves.csv"]);
    expect(readFileSync(out, "utf8")).toBe("of yesterday");
  });

  test("a reader that goes away ends it quietly", async () => {
    const child = spawn("bash", [
      "-c",
      'set -o pipefail; "$0" "$1" predict "$2" "$3" | head -n 1',
      process.execPath,
      launcher,
      dateless,
      table,
    ]);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (part) => {
      stdout += part;
    });
    child.stderr.on("data", (part) => {
      stderr += part;
    });
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
    expect([stdout, stderr]).toEqual(["row,S1,S2,S3,S4,S5,S6,median\n", ""]);
  });
});

describe("bad input", () => {
  const withLast = (line: string) => {
    const path = inScratch("bad.csv");
    writeFileSync(path, `${text}${line}\n`);
    return path;
  };
  test.each([
    [
      "an unknown level",
      "9,50,1/2/2003,true,X,1,north,0.1",
      `level of "sex" not seen in training: "X"`,
      "sex",
    ],
    [
      "a number beyond all",
      "9,1e300,1/2/2003,true,M,1,north,0.1",
      `value beyond anything training had: "age" is 1e+300`,
      "age",
    ],
  ])("%s in a later part is named by its row, and no file is left", (_, line, message, column) => {
    const out = inScratch("never.csv");
    const { code, stderr, stdout } = runCli([
      "predict",
      inScratch("cox.model"),
      withLast(line),
      "--out",
      out,
    ]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`in bad.csv, row ${ROWS + 1}, column "${column}"`);
    expect(readdirSync(scratch).filter((name) => name.startsWith("never.csv"))).toEqual([]);
  });

  test("a date that is none", () => {
    const { code, stderr } = runCli([
      "predict",
      inScratch("cox.model"),
      withLast("9,50,soon,true,M,1,north,0.1"),
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('"visit"');
  });
});
