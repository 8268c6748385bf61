// Experiments as a command: results are kept as runs end, a killed file goes on, and one bad run does not stop the
// others.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { launcher, root, runCli, writeScratch } from "../../../test/cli/run-cli.ts";
import { parseResults } from "../../src/runs/results.ts";

const groups = { all: true, groups: [{ where: "grade = 3" }, { where: "nodes > 5" }] };
const cohort = {
  name: "gbsg",
  kind: "table",
  table: "test/tables/gbsg.csv",
  groups: relative(root, writeScratch("gbsg-groups.json", JSON.stringify(groups))),
  time: "rfstime",
  event: "status",
  drop: ["pid"],
  sizes: [412, 137, 137],
  paperSlack: 0.02,
};

function writePlan(name: string, changes: object = {}): string {
  const plan = {
    name: "small",
    about: "Cox on three splits",
    preset: "default",
    repeats: "splits",
    draws: 0,
    cohorts: [cohort],
    parts: [{ cohorts: ["gbsg"], systems: ["cox"], seeds: { from: 1, count: 3 } }],
    ...changes,
  };
  return writeScratch(name, JSON.stringify(plan));
}

const fresh = (name: string) => writeScratch(`${name}.mark`, "").replace(/\.mark$/, "");
const read = (path: string) => parseResults(readFileSync(path, "utf8"), path).get("small");
const withoutSeconds = (path: string) =>
  [...(read(path)?.runs.values() ?? [])]
    .map(({ seconds: _, ...run }) => run)
    .sort((a, b) => a.run.seed - b.run.seed);

describe("reproduce plan", () => {
  const plan = writePlan("plan.json");
  const out = fresh("results.jsonl");

  test("runs the subset that is asked for, then only the rest", () => {
    const first = runCli(["reproduce", "plan", plan, "--out", out, "--seeds", "1"]);
    expect(first.code).toBe(0);
    expect(read(out)?.runs.size).toBe(1);
    expect(first.stderr).toMatch(/^small: 1 run to do\n1\/1 gbsg, cox, seed 1: C 0\.6/);
    // What a kill leaves behind.
    appendFileSync(out, '{"run":{"plan":"small","coho');
    const second = runCli(["reproduce", "plan", plan, "--out", out, "--workers", "1"]);
    expect(second.code).toBe(0);
    expect(second.stderr).toContain("was cut off in the middle");
    expect(second.stderr).toContain(`2 runs to do (1 in ${out} already)`);
    expect(read(out)?.runs.size).toBe(3);
    const before = readFileSync(out, "utf8");
    expect(runCli(["reproduce", "plan", plan, "--out", out]).stderr).toContain("nothing left to do");
    expect(readFileSync(out, "utf8")).toBe(before);
  });

  test("runs of a graphics device and of the processor are not mixed in a file", () => {
    const before = readFileSync(out, "utf8");
    const refused = runCli(["reproduce", "plan", plan, "--out", out, "--backend", "webgpu"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('runs of "small" there were made on wasm, not on webgpu');
    expect(refused.stderr).toContain("go on with --backend wasm, or name another file (--out)");
    expect(readFileSync(out, "utf8")).toBe(before);
  });

  test("the same runs from the beginning are the same lines but for their seconds", () => {
    const again = fresh("again.jsonl");
    expect(runCli(["reproduce", "plan", plan, "--out", again, "--workers", "2"]).code).toBe(0);
    expect(withoutSeconds(again)).toEqual(withoutSeconds(out));
  });

  test("refuses results of another form of the plan, and files of another kind", () => {
    const other = writePlan("other.json", { draws: 1 });
    const refused = runCli(["reproduce", "plan", other, "--out", out]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('the results are of another form of the plan "small"');
    const foreign = writeScratch("foreign.jsonl", "time,event\n1,1\n");
    expect(runCli(["reproduce", "plan", plan, "--out", foreign]).stderr).toContain(
      "not a results file of reproduce",
    );
    expect(readFileSync(foreign, "utf8")).toBe("time,event\n1,1\n");
    expect(
      runCli(["reproduce", "plan", plan, "--systems", "oracle", "--out", fresh("none")]).stderr,
    ).toContain("no such system: oracle (have cox)");
  });

  test("a run that fails is kept, named and tried again; the others go on", () => {
    const bad = writePlan("bad.json", {
      cohorts: [{ ...cohort, name: "bad", drop: ["nothing"] }, cohort],
      parts: [{ cohorts: ["bad", "gbsg"], systems: ["cox"], seeds: { from: 1, count: 1 } }],
    });
    const kept = fresh("bad.jsonl");
    const { code, stderr } = runCli(["reproduce", "plan", bad, "--out", kept, "--workers", "1"]);
    expect(code).toBe(1);
    expect(stderr).toContain("1 run failed; the same command tries again");
    expect(stderr).toContain("bad, cox, seed 1: missing column");
    expect(read(kept)?.runs.size).toBe(1);
    expect(read(kept)?.failures.size).toBe(1);
    expect(runCli(["reproduce", "plan", bad, "--out", kept]).stderr).toContain("1 run to do (1 in");
  });

  test("files that a plan names and that are something else are refused without a word of what is in them", () => {
    const secret = relative(root, writeScratch("secret", "root:x:0:0:very secret\nbin:x:1:1\n"));
    const cohorts = [
      { ...cohort, name: "a table", table: secret },
      { ...cohort, name: "groups", groups: secret },
      { ...cohort, name: "no groups", groups: "test/none.json" },
      { ...cohort, name: "no table", table: "test/none.csv" },
    ];
    const names = cohorts.map(({ name }) => name);
    const parts = [{ cohorts: names, systems: ["cox"], seeds: { from: 1, count: 1 } }];
    const plan2 = writePlan("secrets.json", { cohorts, parts });
    const { code, stderr } = runCli([
      "reproduce",
      "plan",
      plan2,
      "--out",
      fresh("secrets.jsonl"),
      "--workers",
      "1",
    ]);
    expect(code).toBe(1);
    expect(stderr).not.toMatch(/secret\b(?!")|root:x|^\s+at /m);
    expect(stderr).toContain(
      `a table, cox, seed 1: the plan's table cannot be used: it has no column "rfstime"`,
    );
    expect(stderr).toContain("groups, cox, seed 1: groups file is not JSON");
    expect(stderr).toMatch(
      /no groups, cox, seed 1: cannot read the plan's groups file: ".*none.json" \(no such file\)/,
    );
    expect(stderr).toMatch(/no table, cox, seed 1: no such file: ".*none.csv"/);
  });

  test("Ctrl-C leaves a file to go on with", async () => {
    const long = writePlan("long.json", { draws: 2000 });
    const kept = fresh("long.jsonl");
    const args = ["reproduce", "plan", long, "--out", kept, "--workers", "1"];
    const child = spawn(process.execPath, [launcher, ...args], { cwd: root });
    let stderr = "";
    await new Promise<void>((resolve) => {
      child.stderr.on("data", (part) => {
        stderr += part;
        if (stderr.includes("1/3") && !stderr.includes("interrupted") && !child.killed) child.kill("SIGINT");
      });
      child.on("exit", () => resolve());
    });
    expect(child.exitCode).toBe(130);
    expect(stderr).toContain("interrupted with 1 of 3 runs done");
    expect(read(kept)?.runs.size).toBe(1);
  });
});

test("--tables makes the page of results that are there", () => {
  const lines = fresh("page.jsonl");
  const made = runCli(["reproduce", "nwtco", "--out", lines, "--seeds", "1", "--systems", "cox"]);
  expect(made.code).toBe(0);
  const { stdout, code } = runCli(["reproduce", "nwtco", "--tables", "--out", lines]);
  expect(code).toBe(0);
  expect(stdout).toContain("1 of its 462 planned runs has been made.");
  expect(stdout).toMatch(/\| Cox \| 0\.722 \| – \| 1 of 1 \|/);
  const page = join(fresh("page"), "..", "page.md");
  writeFileSync(page, "");
  expect(runCli(["reproduce", "nwtco", "--tables", page, "--out", lines]).stdout).toBe("");
  expect(readFileSync(page, "utf8")).toBe(stdout);
  expect(existsSync(lines)).toBe(true);
});
