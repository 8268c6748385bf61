// Sweeps and comparisons in parts: each part has its file, and merged they are what one machine makes.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { root, runCli, runFresh, writeScratch } from "./run-cli.ts";

const folder = writeScratch("shards.mark", "").replace(/[^/]*$/, "");
const table = join(root, "test", "tables", "gbsg.csv");
const subject = [
  table,
  "--time",
  "rfstime",
  "--event",
  "status",
  "--drop",
  "pid",
  "--bins",
  "8",
  "--deterministic",
];
const sweep = [
  "tune",
  ...subject,
  "--sweep",
  "kappa=0.5,1",
  "--seeds",
  "1,2",
  "--network",
  "linear",
  "--steps",
  "3",
];
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const at = (name: string) => join(folder, name);

describe("tune", () => {
  beforeAll(() => {
    const first = runCli([...sweep, "--workers", "1", "--results", at("runs.jsonl"), "--shard", "1/2"]);
    expect(first.code).toBe(0);
    expect(first.stdout).toContain("shard 1 of 2: its 2 of 4 runs are in ");
    expect(first.stdout).toContain("runs.*-of-2.jsonl --out ");
  });

  test("the file of a part has the runs it is to make, and those it has made", () => {
    const [head, ...runs] = read("runs.1-of-2.jsonl")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(head).toMatchObject({
      shard: 1,
      index: 1,
      count: 2,
      command: expect.not.stringContaining("--shard"),
    });
    expect(runs.map(({ key }) => key).sort()).toEqual(head.runs.map(([key]: [string]) => key).sort());
    expect(head.runs.map(([, name]: [string, string]) => name)).toEqual([
      expect.stringMatching(/^kappa=\S+.*, seed [12]$/),
      expect.stringMatching(/^kappa=\S+.*, seed [12]$/),
    ]);
    expect(existsSync(at("runs.jsonl"))).toBe(false);
  });

  test("a part that is started again makes nothing twice", () => {
    const before = read("runs.1-of-2.jsonl");
    const again = runCli([...sweep, "--workers", "1", "--results", at("runs.jsonl"), "--shard", "1/2"]);
    expect(again.stderr).toContain("2 of 2 runs are in ");
    expect(read("runs.1-of-2.jsonl")).toBe(before);
  });

  test("merge names the part that is missing, and the command that makes it", () => {
    const { code, stdout } = runCli(["merge", at("runs.1-of-2.jsonl"), "--out", at("partial.jsonl")]);
    expect(code).toBe(2);
    expect(stdout).toContain("2 runs of 1 file");
    expect(stdout).toContain("shard 2 of 2: no file of it");
    expect(stdout.replace(/\s+/g, " ")).toContain("--steps 3 --workers 1 --results ");
    expect(stdout).toMatch(/--shard 2\/2\n$/);
  });

  test("merged they are the bytes of one machine, from which the sweep is told", () => {
    expect(runCli([...sweep, "--workers", "1", "--results", at("runs.jsonl"), "--shard", "2/2"]).code).toBe(
      0,
    );
    const parts = ["runs.2-of-2.jsonl", "runs.1-of-2.jsonl"].map(at);
    expect(runCli(["merge", ...parts, "--out", at("runs.jsonl")]).code).toBe(0);
    const told = runCli([...sweep, "--results", at("runs.jsonl")]);
    expect(told.code).toBe(0);
    expect(told.stderr).toContain("4 of 4 runs are in ");
    expect(runCli([...sweep, "--workers", "2", "--results", at("alone.jsonl")]).code).toBe(0);
    expect(runCli(["merge", at("alone.jsonl"), "--out", at("alone.jsonl")]).code).toBe(0);
    expect(read("alone.jsonl")).toBe(read("runs.jsonl"));
  });

  test.each([
    ["--json", "--json needs them all"],
    ["--plot", "--plot needs them all"],
    ["--out", "--out needs them all"],
  ])("%s is refused: a part chooses nothing", (option, said) => {
    const value = option === "--json" ? [] : [at("x.svg")];
    const refused = runCli([...sweep, "--shard", "1/2", option, ...value]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(said);
  });
});

test("compare keeps its parts beside the table's name where no file is named", () => {
  const compare = [
    "compare",
    ...subject,
    "--methods",
    "cox,nll",
    "--network",
    "linear",
    "--steps",
    "3",
    "--replicates",
    "100",
  ];
  for (const shard of ["1/2", "2/2"])
    expect(runFresh([...compare, "--shard", shard], "", folder).code).toBe(0);
  const parts = [1, 2].map((k) => at(`gbsg.csv.compare.${k}-of-2.jsonl`));
  expect(runCli(["merge", ...parts, "--out", at("compared.jsonl")]).code).toBe(0);
  const told = runCli([...compare, "--results", at("compared.jsonl")]);
  expect(told.stderr).toContain("2 of 2 runs are in ");
  expect(told.stdout).toMatch(/cox[\s\S]*nll/);
});
