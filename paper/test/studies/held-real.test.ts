// Held, not told, on real tables: the plan, lines of a few hundred people of flchain, and that finished lines are not
// run again.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "graduate-survival";
import { InputError } from "graduate-survival/core";
import { parseGroup } from "graduate-survival/data";
import { openWasmBackend } from "graduate-survival/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCheckout } from "../../src/runs/checkout.ts";
import {
  createHeldRealRunner,
  expandHeldRealPlan,
  type HeldRealLine,
  type HeldRealPlan,
  parseHeldRealPlan,
  readHeldRealPlan,
  runHeldRealPlan,
} from "../../src/studies/held-real.ts";
import { readLines } from "../../src/studies/lines.ts";

const plan = readHeldRealPlan();
const [flchain] = plan.tables;
const FEW = "few.csv";
const tiny: HeldRealPlan = {
  ...plan,
  seeds: { from: 1, count: 1 },
  tables: [{ ...flchain, folder: "data", file: FEW, told: ["age < 70", "age >= 70"] }],
};
const training = { network: "linear", bins: 12, options: { steps: 3 } } as const;

describe("the plan", () => {
  test("has every table, column, split and system once, splits outermost", () => {
    const runs = expandHeldRealPlan(plan);
    expect(runs).toHaveLength(10 * 3 * 5);
    expect(new Set(runs.map((run) => JSON.stringify(run))).size).toBe(runs.length);
    expect(runs.map(({ seed }) => seed)).toEqual(runs.map((_, k) => 1401 + Math.floor(k / 15)));
  });

  test("holds groups over protected columns and tells of none", () => {
    for (const { held, told, protected: hidden } of plan.tables) {
      const reads = (expression: string) =>
        hidden.some((name) => JSON.stringify(parseGroup(expression)).includes(`"${name}"`));
      expect(held.map(({ expression }) => reads(expression))).toEqual(held.map(() => true));
      expect(told.map(reads)).toEqual(told.map(() => false));
    }
  });

  test("one that says something else is refused", () => {
    const changed = (edit: object) => () => parseHeldRealPlan(JSON.stringify({ ...plan, ...edit }), "a plan");
    expect(changed({ systems: ["dro-cox"] })).toThrow(InputError);
    expect(changed({ more: 1 })).toThrow(InputError);
  });
});

describe("lines", () => {
  const folder = mkdtempSync(join(tmpdir(), "graduate-held-real-"));
  const out = join(folder, "lines.jsonl");
  const runs = expandHeldRealPlan(tiny);
  let backend: Backend & { close(): Promise<void> };
  let lines: HeldRealLine[] = [];

  beforeAll(async () => {
    // Every eighth of the rows, which are sorted by age.
    const [header, ...rows] = readCheckout(flchain.file).trimEnd().split("\n");
    writeFileSync(join(folder, FEW), [header, ...rows.filter((_, k) => k % 8 === 0)].join("\n"));
    backend = await openWasmBackend({ threads: 1 });
    const run = createHeldRealRunner(tiny, backend, { data: folder, training });
    await runHeldRealPlan(runs, run, out, () => {});
    lines = readLines(out);
  }, 60_000);
  afterAll(async () => {
    await backend.close();
    rmSync(folder, { recursive: true });
  });

  test("one for every system, with scores that belong together", () => {
    expect(lines.map(({ system }) => system)).toEqual(plan.systems);
    for (const { rows, groups, worstGroup, worstGap, concordance } of lines) {
      expect(groups.map(({ group }) => group)).toEqual(["women", "men"]);
      expect(groups[0].n + groups[1].n).toBe(rows.test);
      for (const { gap, critical, noise, p, events } of groups) {
        expect(noise).toBeLessThan(critical);
        expect(gap > critical).toBe(p < 0.05);
        expect(events).toBe(lines[0].groups[groups[0].events === events ? 0 : 1].events);
      }
      expect(tiny.tables[0].told).toContain(worstGroup);
      expect(worstGap).toBeGreaterThan(0);
      expect(concordance).toBeGreaterThan(0.6);
    }
  });

  test("only what holds a group says what became of it, and with the verdict's own distance", () => {
    const said = lines.filter(({ groups }) => groups.some(({ status }) => status !== undefined));
    expect(said.map(({ system }) => system)).toEqual(["held", "held, strict"]);
    for (const { groups } of said) {
      for (const { auc, tells, before, after, freshDistance, atRisk } of groups) {
        expect(auc).toBeGreaterThan(0.6);
        expect(tells).toContain("creatinine.log");
        expect(after ?? 1).toBeLessThan(before ?? 0);
        expect(freshDistance).toBeCloseTo(atRisk, 2);
      }
    }
    // Nothing but the column tells the two Cox models apart.
    const [cox, told] = lines.slice(3);
    expect(told.concordance).not.toBe(cox.concordance);
  });

  test("are not run again; a lost one is, with the same scores", async () => {
    const kept = lines.slice(0, 3).map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(out, kept.join(""));
    const again: HeldRealLine[] = [];
    const run = createHeldRealRunner(tiny, backend, { data: folder, training });
    await runHeldRealPlan(runs, run, out, (line) => again.push(line));
    const scores = ({ seconds: _, ...rest }: HeldRealLine) => rest;
    expect(again.map(scores)).toEqual(lines.slice(3).map(scores));
    expect(readFileSync(out, "utf8").startsWith(kept.join(""))).toBe(true);
  });

  test("a table that is in no checkout must be pointed to", async () => {
    await expect(createHeldRealRunner(tiny, backend)(runs[0])).rejects.toThrow("where is few.csv?");
  });
});
