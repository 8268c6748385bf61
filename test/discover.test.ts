// Planted groups are found and confirmed, right curves are left alone, and what is printed is what was tested.
import { describe, expect, test } from "vitest";
import { evaluateGroup } from "../src/data/group-members.ts";
import { type Discovery, discover } from "../src/discover.ts";
import { binomialRange } from "../src/stats/comparison.ts";
import { drawPeople, type People, type Plant } from "./simulated-people.ts";

/** The largest Jaccard similarity of a confirmed group to the planted one. */
function likeness({ groups }: Discovery, { table, planted }: People): number {
  const each = groups
    .filter(({ confirmed }) => confirmed)
    .map(({ expression }) => {
      const members = evaluateGroup(expression, table);
      const both = members.reduce((sum, member, row) => sum + (member & planted[row]), 0);
      return both / members.reduce((sum, member, row) => sum + (member | planted[row]), 0);
    });
  return Math.max(0, ...each);
}

/** Fewer columns and groups than in earnest: every run takes hundredths of a second. */
const COLUMNS = ["race", "house", "sex", "age", "lab", "bmi"];

const twice = () => 2;
const PLANTS: readonly (readonly [string, Plant])[] = [
  ["a category", { expression: "race = B", ratio: twice }],
  ["a cross of categories", { expression: "house = rent & sex = F", ratio: twice }],
  ["a range", { expression: "age >= 74", ratio: twice }],
  ["a range of a category", { expression: "sex = M & lab >= 0.7", ratio: twice }],
  ["events that come late", { expression: "race = B", ratio: (share) => (share < 0.3 ? 1 / 3 : 2.1) }],
];

describe("discover", () => {
  test.each(PLANTS)("%s is found and confirmed in at least 9 of 10", (_, plant) => {
    const SEEDS = 10;
    let found = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const people = drawPeople(4000, seed, plant);
      if (likeness(discover(people, { seed, top: 2, columns: COLUMNS }), people) >= 0.5) found++;
    }
    expect(found).toBeGreaterThanOrEqual(9);
  });

  test("right curves: any group confirmed in no more of 40 tables than the level allows", () => {
    const RUNS = 40;
    let any = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const { groups } = discover(drawPeople(1000, seed, null), { seed, top: 5, columns: COLUMNS });
      expect(groups.length).toBeGreaterThan(0);
      if (groups.some(({ confirmed }) => confirmed)) any++;
    }
    expect(any).toBeLessThanOrEqual(binomialRange(RUNS, 0.05).high);
  });

  const people = drawPeople(4000, 3, PLANTS[4][1]);
  const found = discover(people, { seed: 3, top: 5 });

  test("says which way, and that larger groups are off only because of it", () => {
    const [first, ...others] = found.groups;
    expect(first).toMatchObject({ expression: "race = B", confirmed: true, explained: false });
    expect(first.direction).toBe("too many events predicted early, too few late");
    for (const { explained, confirmed, beyond } of others) {
      expect(beyond === null).toBe(!confirmed);
      if (confirmed) expect(explained).toBe(Number(beyond?.p) > found.level);
    }
  });

  test("the halves share events evenly and are all of the rows; a group's rows are those of its expression", () => {
    expect(found.rows.search + found.rows.confirm).toBe(4000);
    expect(Math.abs(found.events.search - found.events.confirm)).toBeLessThanOrEqual(1);
    for (const { expression, search, confirm } of found.groups) {
      const members = evaluateGroup(expression, people.table).reduce((sum, member) => sum + member, 0);
      expect(search.n + confirm.n).toBe(members);
      expect(search.n).toBeGreaterThanOrEqual(50);
    }
  });

  test("a seed gives one answer, another seed other halves", () => {
    expect(discover(people, { seed: 3, top: 5 })).toEqual(found);
    const other = discover(people, { seed: 4, top: 1 });
    expect(other.groups[0].confirm.expected).not.toBe(found.groups[0].confirm.expected);
  });

  test("only the columns that are named form groups", () => {
    const { groups, columns } = discover(people, { columns: ["sex", "age"], maxCross: 1, top: 4 });
    expect(columns).toEqual(["sex", "age"]);
    for (const { expression } of groups) expect(expression).toMatch(/^(all|.*(sex|age).*)$/);
  });

  test.each([
    ["top", { top: 0 }],
    ["maxCross", { maxCross: 4 }],
    ["level", { level: 1 }],
    ["minRows", { minRows: 0 }],
  ])("%s out of range is refused", (name, options) => {
    expect(() => discover(people, options)).toThrow(`${name} cannot be`);
  });

  test("curves of other rows are refused", () => {
    const table = { ...people.table, rows: 3999 };
    expect(() => discover({ ...people, table })).toThrow("3999 rows");
  });
});
