// In one run of a command the outcome is read once, each group is resolved once, the leak search runs once and the
// table's file is hashed once. The engine's own call counts (NODE_V8_COVERAGE) of the built program say so.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "graduate-once-"));
const table = join(root, "test/tables/gbsg.csv");
const model = join(folder, "gbsg.model");
/** Milliseconds the counted commands may take. */
const PATIENCE = 120_000;
const GROUPS = ["age < 50", "grade = 3", "nodes > 5"];

afterAll(() => rmSync(folder, { recursive: true }));

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { count: number }[];
    }[];
  }[];
}

type CountCalls = (file: string, name: string) => number;

/**
 * How often the functions of this name in files of this name were called by each command, on whichever thread. The
 * commands share a process, which loads the program once.
 */
function countCalls(commands: readonly (readonly string[])[]): CountCalls[] {
  const raw = join(folder, "raw");
  mkdirSync(raw);
  execFileSync(process.execPath, [fileURLToPath(new URL("count-calls.js", import.meta.url)), folder], {
    env: { ...process.env, NODE_V8_COVERAGE: raw },
    input: JSON.stringify(commands),
    stdio: ["pipe", "ignore", "pipe"],
  });
  return commands.map((_, k) => {
    const counts = join(folder, String(k));
    const scripts = readdirSync(counts).flatMap(
      (name) => (JSON.parse(readFileSync(join(counts, name), "utf8")) as Coverage).result,
    );
    return (file, name) =>
      scripts
        .filter(({ url }) => url.endsWith(`/dist/${file}`))
        .flatMap(({ functions }) => functions.filter(({ functionName }) => functionName === name))
        .reduce((sum, { ranges }) => sum + ranges[0].count, 0);
  });
}

const training = [
  ...[
    "train",
    table,
    "--time",
    "rfstime",
    "--event",
    "status",
    "--drop",
    "pid",
    "--steps",
    "3",
    "--bins",
    "12",
    "--threads",
    "1",
  ],
  ...GROUPS.flatMap((group) => ["--group", group]),
];

const quick = ["--replicates", "0", "--draws", "0"];
const withReport = ["--out", model, "--report", join(folder, "gbsg.html"), ...quick];
const asEnsemble = ["--ensemble", "3", "--report", join(folder, "five.html"), ...quick];
const audited = ["audit", model, table, "--report", join(folder, "audit.html"), ...quick, "--threads", "1"];

let counted: CountCalls[];
beforeAll(() => {
  counted = countCalls([[...training, ...withReport], [...training, ...asEnsemble], audited]);
}, PATIENCE);

describe.each([
  ["train with a report", 0],
  ["train --ensemble", 1],
])("%s", (_, k) => {
  const count: CountCalls = (file, name) => counted[k](file, name);

  test("reads the outcome once", () => {
    expect(count("data/outcomes/read-outcomes.js", "inspectOutcomes")).toBe(1);
  });

  test("searches for leaks once", () => {
    expect(count("data/leaks/find-leaks.js", "findLeaks")).toBe(1);
  });

  test("resolves everyone and each of the groups once", () => {
    expect(count("data/groups/group-members.js", "evaluateGroup")).toBe(1 + GROUPS.length);
  });

  test("hashes the table's file once", () => {
    expect(count("node/io/provenance.js", "hashFile")).toBe(k === 0 ? 2 : 1); // and the model's
  });
});

test("audit of a model with a report reads, searches and resolves once", () => {
  const [, , count] = counted;
  expect(count("data/outcomes/read-outcomes.js", "inspectOutcomes")).toBe(1);
  expect(count("data/leaks/find-leaks.js", "findLeaks")).toBe(1);
  expect(count("data/groups/group-members.js", "evaluateGroup")).toBe(1 + GROUPS.length);
  expect(count("node/io/provenance.js", "hashFile")).toBe(2); // the table's and the model's
});
