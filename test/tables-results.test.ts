// docs/results/tables.md is what its script makes of the committed lines, and the lines are all that the plan asks for.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("..", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

interface Plan {
  readonly seeds: readonly number[];
  readonly systems: readonly string[];
  readonly tables: readonly { readonly name: string }[];
}

test("docs/results/tables.md is made from paper/tables.jsonl", () => {
  const made = execFileSync(process.execPath, ["paper/tables-page.js"], { cwd: root, encoding: "utf8" });
  expect(made).toBe(read("docs/results/tables.md"));
});

test("every table, system and split of the plan has one line, and every command ended well", () => {
  const plan = JSON.parse(read("paper/tables.json")) as Plan;
  const lines = read("paper/tables.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const wanted = plan.tables.flatMap(({ name }) =>
    plan.seeds.flatMap((seed) => plan.systems.map((system) => `${name} ${system} ${seed}`)),
  );
  const runs = lines.filter(({ kind }) => kind === "run");
  expect(runs.map(({ table, system, seed }) => `${table} ${system} ${seed}`).sort()).toEqual(wanted.sort());
  expect(runs.filter(({ failure }) => failure !== undefined)).toEqual([]);
  const commands = lines.filter(({ kind }) => kind === "command");
  expect(commands.length).toBe(6 * plan.tables.length);
  expect(commands.filter(({ exit }) => exit !== 0)).toEqual([]);
});
