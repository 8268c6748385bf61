// The bundled tables: bytes, schema, and the groups of the paper on five splits (oracles/groups.R made the oracles).
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { selectGroups } from "../../src/data/groups/group-selection.ts";
import { groupsFromFile, parseGroupsFile, resolveGroups } from "../../src/data/groups/groups.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { countMissing, findColumn, type Table } from "../../src/data/table.ts";
import { datasetSchema } from "./dataset-schema.ts";

const open = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url));
const readJson = (path: string) => JSON.parse(open(path).toString("utf8"));
const splits: Record<string, Record<string, string>> = readJson("test/oracles/splits.json");
const paperGroups: Record<string, Record<string, Record<string, number>>> = readJson(
  "test/oracles/paper-groups.json",
);

const facts = [
  {
    name: "nwtco",
    sha256: "f70a813bb16cbf2cb611005e726d9b48ffcbc9edc63ebb02b44405bf0d08003c",
    rows: 4028,
    events: 571,
    longest: 6209,
    missing: {},
    groups: 12,
    training: 2416,
  },
  {
    name: "flchain",
    sha256: "09865a7fb99809deecbcd78b3898a83ac96f53e5d8c3b235196feb5ac9745e84",
    rows: 7874,
    events: 2169,
    longest: 5215,
    missing: { creatinine: 1350, chapter: 5705 },
    groups: 25,
    training: 4724,
  },
];

function numbersOf(table: Table, name: string): Float64Array {
  const column = findColumn(table, name);
  if (column.type !== "number") throw new Error(`${name} is a ${column.type} column`);
  return column.values;
}

describe.each(facts)("$name", ({ name, sha256, rows, events, longest, missing, groups, training }) => {
  const bytes = open(`datasets/${name}/${name}.csv`);
  const schema = datasetSchema.parse(readJson(`datasets/${name}/schema.json`));
  const table = readTable(tableSourceFromBytes(`${name}.csv`, bytes));
  const groupsFile = parseGroupsFile(
    open(`datasets/${name}/groups.json`).toString("utf8"),
    `datasets/${name}/groups.json`,
  );

  test("is R's table, byte for byte as exported", () => {
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
  });

  test("has the columns of its schema, of the types it says", async () => {
    const { columns } = await table;
    expect(columns.map((column) => ({ name: column.name, type: column.type }))).toEqual(
      schema.columns.map((column) => ({ name: column.name, type: column.type })),
    );
    for (const column of schema.columns) {
      if (column.values === undefined) continue;
      const found = findColumn(await table, column.name);
      const present = found.type === "category" ? found.levels : new Set(numbersOf(await table, column.name));
      expect([...present].map(String).sort()).toEqual(Object.keys(column.values).sort());
    }
  });

  test("has the rows, events and missing values its README gives", async () => {
    const whole = await table;
    expect(schema.name).toBe(name);
    expect(whole.rows).toBe(rows);
    expect(numbersOf(whole, schema.event).reduce((sum, value) => sum + value, 0)).toBe(events);
    expect(Math.max(...numbersOf(whole, schema.time))).toBe(longest);
    const counts = whole.columns.map((column) => [column.name, countMissing(column)] as const);
    expect(Object.fromEntries(counts.filter(([, count]) => count > 0))).toEqual(missing);
    const readme = open(`datasets/${name}/README.md`).toString("utf8");
    const censored = (100 * (1 - events / rows)).toFixed(2);
    expect(readme).toContain(
      `| ${rows} | \`${schema.time}\`, days | \`${schema.event}\` = 1 | ${events} | ${censored} % | ${longest} days |`,
    );
  });

  test.each(["1", "2", "3", "4", "5"])("groups.json gives the paper's groups on split %s", async (seed) => {
    const whole = await table;
    const split = splits[name][seed];
    expect(split.length).toBe(rows);
    const isTraining = Uint8Array.from(split, (set) => (set === "t" ? 1 : 0));
    const trainingRows = Array.from(isTraining.keys()).filter((row) => isTraining[row] === 1);
    expect(trainingRows.length).toBe(training);
    const resolved = resolveGroups(groupsFromFile(groupsFile, whole, trainingRows), whole);
    const sizes = resolved.map(({ expression, rows: members }) => [
      expression,
      members.filter((row) => isTraining[row] === 1).length,
    ]);
    expect(sizes).toEqual(Object.entries(paperGroups[name][seed]));
    expect(sizes.length).toBe(groups);
  });
});

// How many groups other readings of the rule give on the five splits, as counted in Python when the rule was studied.
test.each([
  ["nwtco", ["histol", "instit", "stage", "study", "in.subcohort"], 3, "new", [4, 4, 4, 3, 5]],
  ["nwtco", ["stage", "study"], 2, "new", [6, 6, 6, 6, 6]],
  ["nwtco", ["histol", "instit", "stage", "study"], 3, "jaccard", [23, 23, 23, 22, 24]],
  ["flchain", ["flc.grp", "sample.yr"], 2, "new", [18, 18, 18, 18, 18]],
  ["flchain", ["flc.grp", "mgus", "sample.yr"], 3, "new", [1, 1, 1, 1, 1]],
  ["flchain", ["flc.grp", "mgus", "sample.yr"], 3, "jaccard", [30, 31, 31, 30, 31]],
] as const)("%s %j, crosses of up to %i, %s", async (name, columns, maxCross, overlap, expected) => {
  const whole = await readTable(tableSourceFromBytes(name, open(`datasets/${name}/${name}.csv`)));
  const counts = Object.values(splits[name]).map((split) => {
    const trainingRows = Array.from(split, (set, row) => (set === "t" ? row : -1)).filter((row) => row >= 0);
    return selectGroups(whole, trainingRows, { columns, maxCross, overlap }).length;
  });
  expect(counts).toEqual(expected);
});

describe("datasetSchema refuses", () => {
  const good = readJson("datasets/nwtco/schema.json");
  test.each([
    [
      "an unknown role",
      { columns: [{ name: "edrel", type: "number", role: "outcome", meaning: "x" }] },
      "columns.0.role",
    ],
    ["a missing outcome column", { time: "futime" }, "time"],
    ["a column twice", { columns: [...good.columns, good.columns[0]] }, "columns.9.name"],
    ["an unknown key", { license: "x" }, ""],
  ])("%s", (_, change, path) => {
    const result = datasetSchema.safeParse({ ...good, ...change });
    expect(result.error?.issues.map((issue) => issue.path.join("."))).toContain(path);
  });
});
