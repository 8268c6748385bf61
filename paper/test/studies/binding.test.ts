// The study of holding: its plan, lines of a few hundred people, its groups, and the table with a jump.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "graduate-survival/core";
import { findColumn, splitByOrder } from "graduate-survival/data";
import { openWasmBackend } from "graduate-survival/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { simulateEye } from "../../src/eye/simulate.ts";
import {
  type BindingLine,
  type BindingPlan,
  type BindingRun,
  createBindingRunner,
  expandBindingPlan,
  parseBindingPlan,
  readBindingPlan,
  runBindingPlan,
} from "../../src/studies/binding.ts";
import { drawJump } from "../../src/studies/binding-parts.ts";
import {
  BINDING_SYSTEMS,
  bindingRequest,
  type SplineCoxSystem,
  splineCoxRequest,
} from "../../src/studies/binding-systems.ts";
import { crossGroups } from "../../src/studies/cross-groups.ts";

const plan = readBindingPlan();
const tiny: BindingPlan = {
  ...plan,
  seeds: { from: 1, count: 1 },
  sizes: [{ rows: 600, systems: ["cox", "start", "held", "held, all only", "held, placebo groups"] }],
  three: {
    seeds: { from: 351, count: 1 },
    rows: 900,
    told: ["women", "insulin", "eye medication"],
    systems: ["cox with splines and group terms", "cox with splines, stratified by three"],
  },
  told: ["women", "men", "insulin"],
  lostAtMost: 1,
  truthPeople: 1000,
};
const training = { network: "linear", bins: 12, options: { steps: 3 } } as const;

describe("the plan", () => {
  test("has every seed, size and system once, seeds outermost", () => {
    const runs = expandBindingPlan(plan);
    expect(runs).toHaveLength(15 * (14 + 10) + 10 * 4);
    expect(new Set(runs.map((run) => JSON.stringify(run))).size).toBe(runs.length);
    const [systems, three] = ["systems", "three"].map((part) => runs.filter((run) => run.part === part));
    expect(systems.map(({ seed }) => seed)).toEqual(systems.map((_, k) => 1201 + Math.floor(k / 24)));
    expect(three.map(({ seed }) => seed)).toEqual(three.map((_, k) => 351 + Math.floor(k / 4)));
    expect(plan.sizes[0].systems).toEqual([...BINDING_SYSTEMS]);
    // The fresh people are nobody's training rows.
    expect(plan.truthSeedOffset).toBeGreaterThan(10_000);
  });

  test("one that says something else is refused", () => {
    const changed = (edit: object) => () => parseBindingPlan(JSON.stringify({ ...plan, ...edit }), "plan");
    expect(changed({ sizes: [{ rows: 10, systems: ["magic"] }] })).toThrow(InputError);
    expect(changed({ more: 1 })).toThrow(InputError);
  });
});

describe("lines", () => {
  const folder = mkdtempSync(join(tmpdir(), "graduate-binding-"));
  const out = join(folder, "lines.jsonl");
  let backend: Awaited<ReturnType<typeof openWasmBackend>>;
  let lines: BindingLine[] = [];
  const runAll = async (said: (line: BindingRun) => void) =>
    runBindingPlan(expandBindingPlan(tiny), createBindingRunner(tiny, backend, { training }), out, said);

  beforeAll(async () => {
    backend = await openWasmBackend({ threads: 1 });
    await runAll(() => {});
    lines = readFileSync(out, "utf8")
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text) as BindingLine);
  }, 60_000);
  afterAll(async () => {
    await backend.close();
    rmSync(folder, { recursive: true });
  });

  test("one for every system, with what its solve says", () => {
    expect(lines.map(({ system }) => system)).toEqual([...tiny.sizes[0].systems, ...tiny.three.systems]);
    const systems = lines.filter(({ part }) => part === "systems");
    expect(systems.map(({ residual }) => residual !== null)).toEqual([false, false, true, true, true]);
    expect(systems[2].met).toBe(systems[2].held);
    expect(systems[3].held).toBe(1);
    for (const { worstError, everyoneError, errors, ise } of systems) {
      expect(Object.keys(errors)).toEqual(["all", "women", "men", "insulin"]);
      expect(worstError).toBeGreaterThanOrEqual(errors.women);
      expect(everyoneError ** 2).toBeLessThanOrEqual(ise);
    }
    expect(new Set(lines.map(({ worstError }) => worstError)).size).toBe(7);
  });

  test("of the three groups: their strata, and the errors of these groups alone", () => {
    const [terms, strata] = lines.filter(({ part }) => part === "three");
    for (const line of [terms, strata])
      expect(Object.keys(line.errors)).toEqual(["all", "women", "insulin", "eye medication"]);
    expect([terms.strata, terms.lost]).toEqual([1, 0]);
    expect(strata.strata).toBeGreaterThan(4);
    expect(strata.strata).toBeLessThanOrEqual(8);
  });

  test("where strata have too few events there is a count and no score", async () => {
    const counted: BindingPlan = {
      ...tiny,
      sizes: [{ rows: 600, systems: ["cox with splines, stratified"] }],
      three: { ...tiny.three, systems: [] },
      told: ["Malay", "insulin", "eye medication", "women", "age 75 and over"],
      lostAtMost: 0.001,
    };
    const [run] = expandBindingPlan(counted);
    const line = await createBindingRunner(counted, backend, { training })(run);
    expect(line).toMatchObject({ absent: true, system: "cox with splines, stratified", seed: 1 });
    expect(line).not.toHaveProperty("ise");
    expect(line.withoutEvents).toBeGreaterThan(0);
    expect(line.lost).toBeGreaterThan(1);
  });

  test("are not run again", async () => {
    const again: BindingRun[] = [];
    await runAll((line) => again.push(line));
    expect(again).toEqual([]);
  });
});

test("each system leaves out what its name says", () => {
  const eye = simulateEye({ seed: 1, n: 300, level: 2, censoring: "dependent" });
  const women = { name: "women", expression: "sex = 'F'" };
  const people = {
    ...eye,
    split: splitByOrder(300, { seed: 1 }),
    groups: [{ name: "all", expression: "all" }, women],
    three: [],
    seed: 1,
  };
  const of = (system: Exclude<(typeof BINDING_SYSTEMS)[number], SplineCoxSystem>) =>
    bindingRequest(system, people, {});
  expect(of("held")).not.toHaveProperty("options");
  expect(of("held").groups).toEqual([women]);
  expect(of("held, all only").groups).toEqual([]);
  expect(of("trained").options).toEqual({ solve: "none" });
  expect(of("start").options).toEqual({ solve: "none", steps: 1 });
  const ofCox = (system: SplineCoxSystem) => splineCoxRequest(system, { ...people, three: [women] });
  expect(ofCox("cox with splines and group terms")).toMatchObject({ terms: [women], strata: [] });
  expect(ofCox("cox with splines, stratified by three")).toMatchObject({ terms: [], strata: [women] });
  expect(ofCox("cox with splines, stratified")).toMatchObject({ terms: [], strata: [women] });
  expect(ofCox("cox with splines, stratified").rows).toHaveLength(240);
  expect(of("0.1.0")).toMatchObject({ splines: false, numbers: "raw", options: { solve: "none" } });
});

test("many groups: always the same, each of 100 training rows or more", () => {
  const { table } = simulateEye({ seed: 2, n: 3000, level: 2, censoring: "dependent" });
  const { train } = splitByOrder(3000, { seed: 2 });
  const groups = crossGroups(table, train, 150);
  expect(groups).toHaveLength(150);
  expect(new Set(groups.map(({ name }) => name)).size).toBe(150);
  expect(groups[0].expression).toBe("sex = 'F'");
  expect(crossGroups(table, train, 150)).toEqual(groups);
});

test("the table with a jump has eight times the hazard in a tenth of the time", () => {
  const table = drawJump(1, 20_000, 3);
  const numbers = (name: string) => {
    const column = findColumn(table, name);
    return column.type === "number" ? column.values : new Float64Array();
  };
  const [time, event] = [numbers("time"), numbers("event")];
  const rate = (from: number, to: number) => {
    let [events, years] = [0, 0];
    time.forEach((value, i) => {
      years += Math.max(0, Math.min(value, to) - from);
      if (event[i] === 1 && value >= from && value < to) events++;
    });
    return events / years;
  };
  expect(rate(0.4, 0.5) / rate(0.2, 0.4)).toBeGreaterThan(6.5);
  expect(rate(0.4, 0.5) / rate(0.2, 0.4)).toBeLessThan(8.5);
  expect(rate(0.5, 0.7)).toBeLessThan(rate(0, 0.4) * 1.2);
});
