// In one run of a command the outcome is read once, each group is resolved once, the leak search runs once and the
// table's file is hashed once. The engine's own call counts (NODE_V8_COVERAGE) of the built program say so.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "graduate-once-"));
const table = join(root, "test/tables/gbsg.csv");
const model = join(folder, "gbsg.model");
/** Milliseconds a counted command may take. */
const PATIENCE = 60_000;
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

/** How often the functions of this name in files of this name were called, on whichever thread. */
function countCalls(args: readonly string[]): (file: string, name: string) => number {
  const counts = mkdtempSync(join(folder, "counts-"));
  execFileSync(process.execPath, [join(root, "bin/graduate.js"), ...args], {
    env: { ...process.env, NODE_V8_COVERAGE: counts },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const scripts = readdirSync(counts).flatMap(
    (name) => (JSON.parse(readFileSync(join(counts, name), "utf8")) as Coverage).result,
  );
  return (file, name) =>
    scripts
      .filter(({ url }) => url.endsWith(`/dist/${file}`))
      .flatMap(({ functions }) => functions.filter(({ functionName }) => functionName === name))
      .reduce((sum, { ranges }) => sum + ranges[0].count, 0);
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

describe.each([
  [
    "train with a report",
    ["--out", model, "--report", join(folder, "gbsg.html"), "--replicates", "0", "--draws", "0"],
  ],
  [
    "train --ensemble",
    ["--ensemble", "3", "--report", join(folder, "five.html"), "--replicates", "0", "--draws", "0"],
  ],
])("%s", (_, more) => {
  let count: ReturnType<typeof countCalls>;
  beforeAll(() => {
    count = countCalls([...training, ...more]);
  }, PATIENCE);

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
    expect(count("node/io/provenance.js", "hashFile")).toBe(more.includes("--out") ? 2 : 1); // and the model's
  });
});

describe("audit of a model with a report", () => {
  let count: ReturnType<typeof countCalls>;
  beforeAll(() => {
    const asked = [
      "--report",
      join(folder, "audit.html"),
      "--replicates",
      "0",
      "--draws",
      "0",
      "--threads",
      "1",
    ];
    count = countCalls(["audit", model, table, ...asked]);
  }, PATIENCE);

  test("reads, searches and resolves once", () => {
    expect(count("data/outcomes/read-outcomes.js", "inspectOutcomes")).toBe(1);
    expect(count("data/leaks/find-leaks.js", "findLeaks")).toBe(1);
    expect(count("data/groups/group-members.js", "evaluateGroup")).toBe(1 + GROUPS.length);
    expect(count("node/io/provenance.js", "hashFile")).toBe(2); // the table's and the model's
  });
});
