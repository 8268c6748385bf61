// Customers are drawn by the law that is written down, lifetimes are areas below curves, a line scores what it says, and
// the page is made from the committed lines.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openWasmBackend } from "graduate-survival/node";
import { describe, expect, test } from "vitest";
import { runCli, writeScratch } from "../../../test/cli/run-cli.ts";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";
import { type Customer, cancelRate, MONTHS, simulateCustomers, staying } from "../../src/customers/law.ts";
import {
  type CustomerLine,
  createCustomersRunner,
  expandCustomersPlan,
  monthsWithin,
  readCustomersPlan,
} from "../../src/studies/customers.ts";
import { readLines } from "../../src/studies/lines.ts";
import { summariseCustomers } from "../../src/summaries/customers.ts";

const plain: Customer = {
  plan: "standard",
  region: "north",
  age: 45,
  devices: 2,
  calls: 0,
  autopay: false,
  discount: false,
  price: 20,
};
const changed = (change: Partial<Customer>, month: number) =>
  Math.log(cancelRate({ ...plain, ...change }, month) / cancelRate(plain, month));

describe("the law", () => {
  test("rates of cancelling, as they are written down", () => {
    expect(cancelRate(plain, 300)).toBeCloseTo(0.02, 12);
    expect(cancelRate(plain, 0)).toBeCloseTo(0.02 * Math.exp(0.7), 12);
    expect(changed({ plan: "basic" }, 5)).toBeCloseTo(0.35, 12);
    expect(changed({ region: "south" }, 5)).toBeCloseTo(0.1, 12);
    expect(changed({ age: 55, calls: 2, autopay: true, devices: 3 }, 5)).toBeCloseTo(
      -0.15 + 0.5 - 0.4 - 0.08,
      12,
    );
    expect([11, 12, 14, 15].map((month) => changed({ discount: true }, month))).toEqual(
      [-0.5, 1.2, 1.2, 0.2].map((effect) => expect.closeTo(effect, 12)),
    );
    const rival = { plan: "premium", region: "south" } as const;
    expect([17, 18].map((month) => changed(rival, month))).toEqual([
      expect.closeTo(-0.25, 12),
      expect.closeTo(0.65, 12),
    ]);
    const contract = { plan: "basic", region: "west" } as const;
    expect([5, 6].map((month) => changed(contract, month))).toEqual([
      expect.closeTo(0.35, 12),
      expect.closeTo(-0.15, 12),
    ]);
  });

  test("the true curve is the product of the months", () => {
    const rates = [0, 1, 2].map((month) => cancelRate(plain, month));
    const [none, one, half, three] = staying(plain, [0, 1, 1.5, 3]);
    expect(none).toBe(1);
    expect(one).toBeCloseTo(Math.exp(-rates[0]), 12);
    expect(half).toBeCloseTo(Math.exp(-rates[0] - rates[1] / 2), 12);
    expect(three).toBeCloseTo(Math.exp(-rates[0] - rates[1] - rates[2]), 12);
  });

  test("as many stay as the curve says, and the same seed draws the same customers", () => {
    const { people, text } = simulateCustomers(20_000, 5);
    expect(simulateCustomers(20_000, 5).text).toBe(text);
    const rows = text
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.split(","));
    expect(rows).toHaveLength(people.length);
    // Nobody is followed for less than a month: of everyone the first month is seen whole.
    const followed = rows.map((row, k) => ({ months: Number(row[0]), cancelled: row[1] === "1", k }));
    const expected = people.reduce((sum, customer) => sum + 1 - staying(customer, [1])[0], 0);
    const cancelled = followed.filter((row) => row.cancelled && row.months <= 1).length;
    expect(Math.abs(cancelled - expected)).toBeLessThan(4 * Math.sqrt(expected));
    expect(Math.max(...followed.map(({ months }) => months))).toBeLessThanOrEqual(MONTHS);
    expect(
      Math.max(...followed.filter(({ k }) => people[k].region === "west").map(({ months }) => months)),
    ).toBeLessThan(30.01);
  });
});

test("a lifetime is the area below the curve up to the horizon", () => {
  // 1 at 0, .5 at 10, .5 at 20: 7.5 + 5; up to 15: 7.5 + 2.5; up to 5: from 1 to .75.
  expect(monthsWithin([0, 10, 20], [0.5, 0.5], 36)).toBeCloseTo(12.5, 12);
  expect(monthsWithin([0, 10, 20], [0.5, 0.5], 15)).toBeCloseTo(10, 12);
  expect(monthsWithin([0, 10, 20], [0.5, 0.5], 5)).toBeCloseTo(4.375, 12);
});

test("a line has everyone and 19 groups, scored against the same truth for every system", async () => {
  const plan = { ...readCustomersPlan(), truthCustomers: 500 };
  const backend = await openWasmBackend({ threads: 1, deterministic: true });
  const run = createCustomersRunner(plan, backend, { network: "linear", bins: 20, ensemble: 1 });
  const lines: CustomerLine[] = [];
  for (const system of ["cox", "cox with group terms", "start"] as const)
    lines.push(await run({ seed: 3, rows: 800, system }));
  await backend.close();
  for (const { groups, ise } of lines) {
    expect(Object.keys(groups)).toHaveLength(20);
    expect(groups.all.trueMonths).toBe(lines[0].groups.all.trueMonths);
    expect(groups.all.A).toBeGreaterThan(0);
    expect(groups.all.A).toBeLessThan(0.08);
    expect(Math.abs(groups.all.months - groups.all.trueMonths)).toBeLessThan(2.5);
    expect(ise).toBeGreaterThan(groups.all.A ** 2 / 4);
  }
  expect(lines[1].ise).not.toBe(lines[0].ise);
});

test("docs/results/customers.md is made from paper/customers.jsonl, whose lines are all there", () => {
  const page = readFileSync(new URL("../../../docs/results/customers.md", import.meta.url), "utf8");
  expect(STUDY_PAGES.customers(committedLines("customers"))).toBe(page);
  const plan = readCustomersPlan();
  const lines = readLines<CustomerLine>(committedLines("customers"));
  expect(summariseCustomers(plan, lines).made).toBe(expandCustomersPlan(plan).length);
  const worst = lines
    .filter(({ system, rows }) => system === "cox" && rows === plan.rows[0])
    .map(({ groups: { all: _, ...groups } }) => Math.max(...Object.values(groups).map(({ A }) => A)));
  expect(page).toContain(
    `| Cox | ${worst.length} | ${((100 * worst.reduce((a, b) => a + b, 0)) / worst.length).toFixed(2)} ±`,
  );
});

test("a table to try is written by one command, with its groups", () => {
  const folder = writeScratch("customers.mark", "").replace(/\.mark$/, "");
  expect(runCli(["reproduce", "customers", "--write", folder]).code).toBe(0);
  expect(existsSync(join(folder, "groups.json"))).toBe(true);
  expect(readFileSync(join(folder, "customers.csv"), "utf8")).toBe(simulateCustomers(6000, 1).text);
});
