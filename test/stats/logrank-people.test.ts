// The individual logrank by person: a table with every row several times must say what it says once.
import { describe, expect, test } from "vitest";
import { audit } from "../../src/verbs/audit.ts";

const T = 4;
const N = 40;
/** Hazards from .1 to .3, and times that do not follow them. */
const once = Array.from({ length: N }, (_, i) => {
  const hazard = 0.1 + (0.2 * (i % 5)) / 4;
  const curve = Array.from({ length: T }, (_, t) => (1 - hazard) ** (t + 1));
  return { curve, bin: 1 + ((7 * i) % T), event: i % 3 === 0 ? 1 : 0 };
});

function repeat(copies: number) {
  const rows = Array.from({ length: copies }, () => once).flat();
  return {
    curves: { N: rows.length, T, survival: rows.flatMap(({ curve }) => curve) },
    outcomes: { T, bin: rows.map(({ bin }) => bin), event: rows.map(({ event }) => event) },
    people: { count: N, of: Int32Array.from(rows, (_, row) => row % N) },
  };
}

const score = async (copies: number) => (await audit(repeat(copies), { draws: 20 })).overall;

describe("people with several rows", () => {
  test("copies change neither the logrank by person nor the number of events that a group is judged by", async () => {
    const [two, four] = [await score(2), await score(4)];
    expect(two.logrankIndividual.p).toBeCloseTo(four.logrankIndividual.p ?? Number.NaN, 12);
    expect([two.events, two.peopleWithEvents, four.peopleWithEvents]).toEqual([28, 14, 14]);
    const rest = once.map(({ bin, event, curve }) => {
      const hazard = 1 - curve[0];
      return event - bin * hazard;
    });
    const sum = rest.reduce((total, one) => total + one, 0);
    const sandwich = rest.reduce((total, one) => total + one * one, 0);
    expect(four.logrankIndividual.chi2).toBeCloseTo((sum * sum) / sandwich, 12);
    expect(four.logrankIndividual.variance).toBeCloseTo(16 * sandwich, 10);
  });

  test("one row a person is the test by row", async () => {
    const { people: _, ...rows } = repeat(1);
    const plain = await audit(rows, { draws: 20 });
    expect((await score(1)).logrankIndividual).toEqual(plain.overall.logrankIndividual);
    expect(plain.overall.peopleWithEvents).toBeUndefined();
  });
});
