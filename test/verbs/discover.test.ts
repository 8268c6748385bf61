// Planted groups are found and confirmed, right curves are left alone, and what is printed is what was tested.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { evaluateGroup } from "../../src/data/groups/group-members.ts";
import type { Column, Table } from "../../src/data/table.ts";
import { binomialRange, holm } from "../../src/stats/comparison.ts";
import { chooseSearchColumns } from "../../src/verbs/discover/columns.ts";
import { holmWeighted } from "../../src/verbs/discover/confirm.ts";
import { type Discovery, discover } from "../../src/verbs/discover/discover.ts";
import { countLooks, MOST_LOOKS, refuseTooManyCrosses } from "../../src/verbs/discover/work.ts";
import { drawPeople, type People, type Plant } from "../simulated-people.ts";

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

function appendColumn(a: Column, b: Column): Column {
  if (a.type === "category" && b.type === "category")
    return { ...a, codes: Int32Array.from([...a.codes, ...b.codes]) };
  if (a.type === "number" && b.type === "number")
    return { ...a, values: Float64Array.from([...a.values, ...b.values]) };
  throw new Error(`${a.type} and ${b.type}`);
}

describe("holmWeighted", () => {
  test("equal weights: Holm's; others by hand", () => {
    const p = [0.012, 0.3, 0.004, 0.02];
    holmWeighted(p, [0.25, 0.25, 0.25, 0.25]).forEach((one, k) => {
      expect(one).toBeCloseTo(holm(p)[k], 14);
    });
    // p/w: 0.08, 0.06, 0.2 → the second first, at 0.03·1/0.5; then 0.02·0.5/0.25; then 0.05 as it is, but no less than
    // those before.
    const adjusted = holmWeighted([0.02, 0.03, 0.05], [0.25, 0.5, 0.25]);
    [0.06, 0.06, 0.06].forEach((one, k) => {
      expect(adjusted[k]).toBeCloseTo(one, 14);
    });
    // A place that is left empty keeps its share.
    expect(holmWeighted([0.01], [0.5])).toEqual([0.02]);
    const [rare, common] = holmWeighted([0.9, 0.8], [0.1, 0.9]);
    expect(common).toBeCloseTo(8 / 9, 14);
    expect(rare).toBeCloseTo(0.9, 14);
  });
});

describe("thousands of columns", () => {
  const N = 1000;
  const { curves, outcomes } = drawPeople(N, 3, null);
  const random = createRandom(12);
  const values = Float64Array.from({ length: N }, () => random.normal());
  const wide = (count: number) => ({
    curves,
    outcomes,
    table: {
      name: "wide",
      rows: N,
      columns: Array.from({ length: count }, (_, k): Column => ({ name: `x${k}`, type: "number", values })),
    },
  });

  test("their crosses are refused at once with a way out, and each by itself is searched", () => {
    const started = performance.now();
    expect(() => discover(wide(10_009))).toThrow(
      "10009 columns make 50085036 pairs: too many crosses to search",
    );
    // Looking at them would take hours; a second is for a busy machine.
    expect(performance.now() - started).toBeLessThan(1000);
    expect(discover(wide(200), { maxCross: 1 }).columns).toHaveLength(200);
  });

  test("looks are counted by runs and rows", () => {
    // Runs 2, 3, 5: 6 + 10 + 15 crosses; three pairs of 10 rows at 0.4 each.
    expect(countLooks([2, 3, 5], 10)).toBeCloseTo(31 + 12, 12);
    const most = Array.from({ length: 10 }, () => 1);
    expect(() => refuseTooManyCrosses(most, (MOST_LOOKS - 45) / 18, 2)).not.toThrow();
    expect(() => refuseTooManyCrosses(most, MOST_LOOKS / 18, 2)).toThrow("45 pairs");
    expect(() => refuseTooManyCrosses(most, MOST_LOOKS, 1)).not.toThrow();
  });
});

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
    let tested = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const { groups } = discover(drawPeople(1000, seed, null), { seed, top: 5, columns: COLUMNS });
      tested += groups.length;
      if (groups.some(({ confirmed }) => confirmed)) any++;
    }
    expect(any).toBeLessThanOrEqual(binomialRange(RUNS, 0.05).high);
    expect(tested).toBeGreaterThan(RUNS);
  });

  const people = drawPeople(4000, 3, PLANTS[4][1]);
  const found = discover(people, { seed: 3, top: 5 });

  test("says which way, and that larger groups are off only because of it", () => {
    const [first, ...others] = found.groups;
    expect(first).toMatchObject({ expression: "race = B", confirmed: true, explained: false });
    expect(first.direction).toBe("too many events predicted early, too few late");
    for (const { explained, confirmed, beyond } of others) {
      expect(beyond === null).toBe(!confirmed);
      if (confirmed) expect(explained).toBe(Number(beyond?.replicationP) > found.level);
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

  test("rows that are to confirm are taken for it, and the outcomes of no others count", () => {
    const confirmRows = Int32Array.from({ length: 1500 }, (_, k) => 2 * k + 1);
    const told = discover({ ...people, confirmRows }, { top: 2 });
    expect(told.rows).toEqual({ search: 2500, confirm: 1500 });
    expect(told.groups[0]).toMatchObject({ expression: "race = B", confirmed: true });
    // Other outcomes of the confirming rows change what is confirmed and nothing that is found.
    const event = people.outcomes.event.slice();
    for (const row of confirmRows) event[row] = 0;
    const changed = discover({ ...people, outcomes: { ...people.outcomes, event }, confirmRows }, { top: 2 });
    const searched = ({ groups }: Discovery) =>
      groups
        .map(({ expression, search }) => ({ expression, search }))
        .sort((a, b) => a.search.p - b.search.p);
    expect(searched(changed)).toEqual(searched(told));
    expect(changed.groups.find(({ expression }) => expression === "race = B")?.confirm.observed).toBe(0);
    expect(() => discover({ ...people, confirmRows: [] })).toThrow("4000 and 0");
  });

  test("what departs the other way on the confirming rows is not confirmed", () => {
    // Twice the hazard on the searched rows, half on the others: both depart, each its own way.
    const more = drawPeople(2000, 5, { expression: "race = B", ratio: () => 3 });
    const less = drawPeople(2000, 6, { expression: "race = B", ratio: () => 1 / 3 });
    const table = {
      ...more.table,
      rows: 4000,
      columns: more.table.columns.map((column, c) => appendColumn(column, less.table.columns[c])),
    };
    const { T } = more.curves;
    const survival = Float64Array.from([...more.curves.survival, ...less.curves.survival]);
    const outcomes = {
      T,
      bin: Int32Array.from([...more.outcomes.bin, ...less.outcomes.bin]),
      event: Uint8Array.from([...more.outcomes.event, ...less.outcomes.event]),
    };
    const confirmRows = Int32Array.from({ length: 2000 }, (_, k) => 2000 + k);
    const { groups } = discover(
      { table, curves: { N: 4000, T, survival }, outcomes, confirmRows },
      { top: 1 },
    );
    expect(groups[0].expression).toBe("race = B");
    expect(groups[0].confirm.p).toBeLessThan(1e-6);
    expect(groups[0].confirm.replicationP).toBeGreaterThan(0.99);
    expect(groups[0].confirmed).toBe(false);
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

test("the columns of the outcome make no groups, entries and weights among them", () => {
  const names = ["id", "start", "time", "event", "w", "age"];
  const table: Table = {
    name: "stays",
    rows: 40,
    columns: names.map((name, k) => ({
      name,
      type: "number",
      values: Float64Array.from({ length: 40 }, (_, row) =>
        name === "event" ? row % 2 : ((7 * row) % 40) + k,
      ),
    })),
  };
  const outcome = { time: "time", event: "event", start: "start", weights: "w" };
  const { columns, leftOut } = chooseSearchColumns(table, outcome, { columns: "all", id: "id" });
  expect([...columns, ...leftOut.map(({ name }) => name)]).toEqual(["age"]);
});
