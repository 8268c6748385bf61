// The study of a group that no model is told of: its plan, lines of a few hundred people, and that finished lines are
// not run again.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom, InputError } from "graduate-survival/core";
import { type CategoryColumn, findColumn, type Table } from "graduate-survival/data";
import { openWasmBackend } from "graduate-survival/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addProxy, drawProxy, PROTECTED_GROUP } from "../../src/eye/proxy.ts";
import { simulateEye } from "../../src/eye/simulate.ts";
import { readCheckout } from "../../src/runs/checkout.ts";
import {
  createHeldRunner,
  EYE_PEOPLE,
  expandHeldPlan,
  type HeldLine,
  type HeldPlan,
  parseHeldPlan,
  runHeldPlan,
} from "../../src/studies/held-not-told.ts";
import {
  fitHeldSystem,
  freeRequest,
  type HeldPeople,
  heldRequest,
  isProtected,
} from "../../src/studies/held-systems.ts";

const path = "paper/plans/held-not-told.json";
const plan = parseHeldPlan(readCheckout(path), path);
const tiny: HeldPlan = {
  ...plan,
  strengths: [0.96],
  seeds: { from: 1, count: 1 },
  rows: [400],
  // Half of the test rows must do for the repair.
  split: [0.4, 0.1, 0.5],
  truthPeople: 1000,
};
const training = { network: "linear", bins: 12, options: { steps: 3 } } as const;

describe("the plan", () => {
  test("has every strength, seed, size and system once", () => {
    const runs = expandHeldPlan(plan);
    expect(runs).toHaveLength(4 * 15 * 2 * 7);
    expect(new Set(runs.map((run) => JSON.stringify(run))).size).toBe(runs.length);
    expect([...new Set(runs.map(({ seed }) => seed))]).toEqual(Array.from({ length: 15 }, (_, k) => 901 + k));
    expect(plan.truthPeople).toBe(30_000);
    // The fresh people are nobody's training rows.
    expect(plan.truthSeedOffset).toBeGreaterThan(1000);
  });

  test("one that says something else is refused", () => {
    const changed = (edit: object) => () => parseHeldPlan(JSON.stringify({ ...plan, ...edit }), path);
    expect(changed({ strengths: [0.6] })).toThrow(InputError);
    expect(changed({ systems: ["magic"] })).toThrow(InputError);
    expect(changed({ more: 1 })).toThrow(InputError);
  });
});

describe("lines", () => {
  const folder = mkdtempSync(join(tmpdir(), "graduate-held-"));
  const out = join(folder, "lines.jsonl");
  let backend: Awaited<ReturnType<typeof openWasmBackend>>;
  const runs = expandHeldPlan(tiny);
  const said: HeldLine[] = [];
  let lines: HeldLine[] = [];

  beforeAll(async () => {
    backend = await openWasmBackend({ threads: 1 });
    await runHeldPlan(runs, createHeldRunner(tiny, backend, training), out, (line) => said.push(line));
    lines = readFileSync(out, "utf8")
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text) as HeldLine);
  }, 60_000);
  afterAll(async () => {
    await backend.close();
    rmSync(folder, { recursive: true });
  });

  test("one for every system, in the order of the plan", () => {
    expect(lines.map(({ system }) => system)).toEqual(plan.systems);
    expect(said).toEqual(lines);
  });

  test("with scores that belong together", () => {
    for (const line of lines) {
      const { protectedError, everyoneError, worstError, worstGroup, errors, ise } = line;
      expect(line.rows).toBe(400);
      expect(Object.keys(errors)).toHaveLength(24);
      expect(errors["Malay in 1-2 room housing"]).toBe(protectedError);
      expect(errors[worstGroup]).toBe(worstError);
      expect(worstError).toBeGreaterThanOrEqual(errors.women);
      expect(everyoneError ** 2).toBeLessThanOrEqual(ise);
      expect(line.concordance).toBeGreaterThan(0.5);
      expect(line.concordanceOfTruth).toBe(lines[0].concordanceOfTruth);
    }
    const [free, held, strict, , , boosted, dro] = lines;
    expect(dro.converged).toBe(true);
    // The repair starts from the network of "free", and its time counts.
    expect(boosted.seconds).toBeGreaterThanOrEqual(free.seconds);
    // Only what holds the group says what became of it.
    expect(lines.filter(({ status }) => status !== undefined)).toEqual([held, strict]);
  });

  test("are not run again; a lost one is, with the same scores", async () => {
    const kept = lines.slice(0, 5).map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(out, kept.join(""));
    const again: HeldLine[] = [];
    await runHeldPlan(runs, createHeldRunner(tiny, backend, training), out, (line) => again.push(line));
    expect(again.map(({ system }) => system)).toEqual(["hazard boost", "dro-cox"]);
    const scores = ({ seconds: _, scoringSeconds: __, ...rest }: HeldLine) => rest;
    expect(again.map(scores)).toEqual(lines.slice(5).map(scores));
  });

  test("told and not told: race and housing may be shuffled under those that are not told", async () => {
    const { table, outcomes } = simulateEye({ seed: 1, n: 400, level: 2, censoring: "dependent" });
    const rows = (from: number, to: number) => Int32Array.from({ length: to - from }, (_, k) => from + k);
    const people: HeldPeople = {
      ...EYE_PEOPLE,
      table: addProxy(table, drawProxy(table, 1, 1)),
      outcomes,
      split: { train: rows(0, 240), validation: rows(240, 320), test: rows(320, 400) },
      groups: [
        { name: "all", expression: "all" },
        { name: "women", expression: "sex = 'F'" },
        { name: "Malay", expression: "race = 'Malay'" },
      ],
      seed: 1,
    };
    const options = { dro: plan.dro, training };
    expect(freeRequest(people, training).groups?.map(({ name }) => name)).toEqual(["women"]);
    expect(people.groups.filter((group) => isProtected(group, people)).map(({ name }) => name)).toEqual([
      "Malay",
    ]);
    const held = heldRequest(people, "balanced", training);
    expect(held.groups?.map(({ name }) => name)).toEqual(["women", PROTECTED_GROUP.name]);
    expect(held.protected).toEqual(["race", "housing"]);
    for (const system of ["free", "held", "cox", "dro-cox", "cox with the column"] as const) {
      const fitted = await fitHeldSystem(system, people, options, backend);
      const curves = await fitted.predictCurves(people.table);
      const shuffled = await fitted.predictCurves(shuffleProtected(people.table));
      if (system === "cox with the column") expect(shuffled.survival).not.toEqual(curves.survival);
      else expect(shuffled.survival, system).toEqual(curves.survival);
    }
  });
});

/** Gives people others' race and housing. */
function shuffleProtected(table: Table): Table {
  const random = createRandom(9);
  const from = Array.from({ length: table.rows }, () => random.integer(table.rows));
  const columns = table.columns.map((column) => {
    if (column.name !== "race" && column.name !== "housing") return column;
    const { codes } = findColumn(table, column.name) as CategoryColumn;
    return { ...column, codes: Int32Array.from(from, (row) => codes[row]) } as CategoryColumn;
  });
  return { ...table, columns };
}
