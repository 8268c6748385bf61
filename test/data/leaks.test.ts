import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { compareIntervals, compareOrder, rankCorrelation } from "../../src/data/leaks/copies.ts";
import { logChanceOfAllEvents, logChanceOfNoEvent } from "../../src/data/leaks/follow-up.ts";
import { collectLeakRows } from "../../src/data/leaks/rows.ts";
import { readOutcomes } from "../../src/data/outcomes/read-outcomes.ts";
import type { Column } from "../../src/data/table.ts";
import * as tables from "./sanity-tables.ts";

const { booleans, brief, categories, dates, leaksAmong, numbers, readNamed, simulateCohort, without } =
  tables;
const MISSING = Number.NaN;

type Plant = (cohort: tables.Cohort) => readonly Column[];
const CAUSES = ["heart", "cancer", "stroke", "infection", "other"];

/** Columns that give the event away; the planted one is called "c". */
const EVENT_LEAKS: Record<string, Plant> = {
  "a copy": ({ outcomes }) => [booleans("c", outcomes.event)],
  "its negation as 0/1": ({ outcomes }) => [
    numbers(
      "c",
      outcomes.event.map((event) => 1 - event),
    ),
  ],
  "a status code": ({ outcomes, random, each }) => [
    numbers(
      "c",
      each((row) => (outcomes.event[row] ? 2 : random.integer(2))),
    ),
  ],
  "a cause of death": ({ outcomes, random }) => [
    categories(
      "c",
      Array.from(outcomes.event, (event) => (event ? CAUSES[random.integer(5)] : "alive")),
    ),
  ],
  "a text of every death": ({ outcomes }) => [
    categories(
      "c",
      Array.from(outcomes.event, (event, row) => (event ? `report ${row}` : "none")),
    ),
  ],
  "known for the dead only": ({ outcomes, random, each }) => [
    numbers(
      "c",
      each((row) => (outcomes.event[row] ? random.normal() : MISSING)),
    ),
  ],
  "known for the censored only": ({ outcomes, random, each }) => [
    dates(
      "c",
      each((row) => (outcomes.event[row] ? MISSING : 10_000 + random.integer(3000))),
    ),
  ],
  "a score above a threshold": ({ outcomes, random, each }) => [
    numbers(
      "c",
      each((row) => 5 + (outcomes.event[row] ? 1 : -1) * (0.01 + random.uniform())),
    ),
  ],
  "a number with 0 for the censored": ({ outcomes, random, each }) => [
    numbers(
      "c",
      each((row) => (outcomes.event[row] ? random.normal() : 0)),
    ),
  ],
  "a copy with a fifth missing": ({ outcomes, random, each }) => [
    numbers(
      "c",
      each((row) => (random.uniform() < 0.2 ? MISSING : outcomes.event[row])),
    ),
  ],
  "a cause for 6 of 10 deaths": ({ outcomes, random }) => [
    categories(
      "c",
      Array.from(outcomes.event, (event) =>
        event && random.uniform() < 0.6 ? CAUSES[random.integer(5)] : null,
      ),
    ),
  ],
};

const flipSome = ({ outcomes, random }: tables.Cohort) =>
  outcomes.event.map((event) => (random.uniform() < 0.01 ? 1 - event : event));

/** The same with 1 % of the rows wrong. */
const NEAR_LEAKS: Record<string, Plant> = {
  "a copy": (cohort) => [booleans("c", flipSome(cohort))],
  missingness: (cohort) => [
    numbers(
      "c",
      Array.from(flipSome(cohort), (event) => (event ? 1 : MISSING)),
    ),
  ],
  "a threshold": (cohort) => [
    numbers(
      "c",
      Array.from(flipSome(cohort), (event) => (event ? 1 : -1) * (0.01 + cohort.random.uniform())),
    ),
  ],
};

const TIME_LEAKS: Record<string, Plant> = {
  "a copy": ({ outcomes }) => [numbers("c", outcomes.time)],
  "its logarithm": ({ outcomes }) => [numbers("c", outcomes.time.map(Math.log))],
  "its negative": ({ outcomes }) => [
    numbers(
      "c",
      outcomes.time.map((time) => 100 - 3 * time),
    ),
  ],
  "months, rounded": ({ outcomes }) => [
    numbers(
      "c",
      outcomes.time.map((time) => Math.round(time / 30.4375)),
    ),
  ],
  "years begun": ({ outcomes }) => [
    numbers(
      "c",
      outcomes.time.map((time) => Math.ceil(time / 365.25)),
    ),
  ],
  "years as texts": ({ outcomes }) => [
    categories(
      "c",
      Array.from(outcomes.time, (time) => (time <= 365 ? "first year" : time <= 730 ? "second" : "later")),
    ),
  ],
  "alive after a year": ({ outcomes }) => [
    booleans(
      "c",
      outcomes.time.map((time) => (time > 365 ? 1 : 0)),
    ),
  ],
  "a date after one day of entry": ({ outcomes }) => [
    dates(
      "c",
      outcomes.time.map((time) => 10_000 + time),
    ),
  ],
  "dates of entry and end": ({ outcomes, random, each }) => {
    const entry = each(() => 10_000 + random.integer(3000));
    return [
      dates("entry", entry),
      dates(
        "c",
        entry.map((day, row) => day + outcomes.time[row]),
      ),
    ];
  },
  "ages at entry and end": ({ outcomes, random, each }) => {
    const age = each(() => Math.round(600 + 100 * random.normal()) / 10);
    return [
      numbers("age", age),
      numbers(
        "c",
        age.map((years, row) => years + outcomes.time[row] / 365.25),
      ),
    ];
  },
  "a copy for the dead only": ({ outcomes, each }) => [
    numbers(
      "c",
      each((row) => (outcomes.event[row] ? outcomes.time[row] : MISSING)),
    ),
  ],
  "a copy in 6 of 10 rows": ({ outcomes, random, each }) => [
    numbers(
      "c",
      each((row) => (random.uniform() < 0.6 ? outcomes.time[row] : 6000 * random.uniform())),
    ),
  ],
};

const NEAR_TIME_LEAKS: Record<string, Plant> = {
  "noise of 1 %": ({ outcomes, random }) => [
    numbers(
      "c",
      outcomes.time.map((time) => time * (1 + 0.01 * random.normal())),
    ),
  ],
  "1 % of the rows replaced": ({ outcomes, random }) => [
    numbers(
      "c",
      outcomes.time.map((time) => (random.uniform() < 0.01 ? 1000 * random.uniform() : time)),
    ),
  ],
};

const nwtco = await readNamed("nwtco");
const cohorts: [string, () => tables.Cohort][] = [
  ["nwtco", () => tables.cohortOfTable(nwtco, { time: "edrel", event: "rel" }, 5)],
  ["1000 rows, 20 % events", () => simulateCohort(1000, 0.2, 6)],
  ["600 rows, 70 % events", () => simulateCohort(600, 0.7, 7)],
];

function plantedLeaks(plant: Plant, makeCohort: () => tables.Cohort) {
  const cohort = makeCohort();
  const findings = leaksAmong([...cohort.honest, ...plant(cohort)], cohort.outcomes);
  // Nothing but the planted column may be accused.
  expect(findings.filter((finding) => finding.column !== "c")).toEqual([]);
  return findings;
}

describe.each(cohorts)("planted in %s", (_, makeCohort) => {
  test.each(Object.entries(EVENT_LEAKS))("event: %s is an error", (_, plant) => {
    expect(brief(plantedLeaks(plant, makeCohort))).toContain("error leak.event c");
  });

  test.each(Object.entries(NEAR_LEAKS))("event: %s with 1 % wrong is a warning", (_, plant) => {
    expect(brief(plantedLeaks(plant, makeCohort))).toEqual(["warning leak.near c"]);
  });

  test.each(Object.entries(TIME_LEAKS))("time: %s is an error", (_, plant) => {
    expect(brief(plantedLeaks(plant, makeCohort))).toContain("error leak.time c");
  });

  test.each(Object.entries(NEAR_TIME_LEAKS))("time: a copy with %s is found", (_, plant) => {
    expect(plantedLeaks(plant, makeCohort).map((finding) => finding.code)).toEqual(["leak.time"]);
  });
});

test("a cause for a third of the deaths is a warning", () => {
  const { outcomes, random, honest } = simulateCohort(3000, 0.3, 8);
  const cause = Array.from(outcomes.event, (event) => (event && random.uniform() < 0.33 ? "known" : null));
  expect(brief(leaksAmong([...honest, categories("c", cause)], outcomes))).toEqual(["warning leak.event c"]);
});

test("a cause for half of the deaths where they came early is a warning at least", async () => {
  const table = await readNamed("retinopathy");
  const { outcomes, honest } = tables.cohortOfTable(table, { time: "futime", event: "status" }, 9);
  let events = 0;
  const cause = Array.from(outcomes.event, (event) => (event && events++ % 2 === 0 ? "known" : null));
  expect(brief(leaksAmong([...honest, categories("c", cause)], outcomes))).toEqual(["warning leak.event c"]);
});

test("sentences carry the numbers", async () => {
  const say = async (name: string, time: string, event: string, column: string) => {
    const table = await readNamed(name);
    const outcomes = readOutcomes(table, { time, event });
    return leaksAmong(without(table, time, event), outcomes).find((finding) => finding.column === column)
      ?.message;
  };
  expect(await say("flchain", "futime", "death", "chapter")).toBe(
    "chapter determines the event: all 2169 rows with a value had it, none of the 5705 rows without",
  );
  expect(await say("pbc", "time", "event", "status")).toBe(
    "status determines the event: all 161 rows with 2 had it, none of the 257 rows with 0 or 1",
  );
  const { outcomes, honest, each } = simulateCohort(500, 0.4, 9);
  const score = numbers(
    "score",
    each((row) => (outcomes.event[row] ? 3 + (row % 7) : 2 - (row % 7))),
  );
  expect(leaksAmong([...honest, score], outcomes)[0].message).toBe(
    "score determines the event: all 201 rows above 2 had it, none of the 299 rows at or below 2",
  );
});

describe("no false alarm", () => {
  test.each([
    ["nwtco", "edrel", "rel"],
    ["gbsg", "rfstime", "status"],
    ["veteran", "time", "status"],
    ["retinopathy", "futime", "status"],
  ])("%s", async (name, time, event) => {
    const table = await readNamed(name);
    expect(leaksAmong(without(table, time, event), readOutcomes(table, { time, event }))).toEqual([]);
  });

  test.each([
    ["pbc", "event", "status"],
    ["lung", "event", "status"],
    ["flchain", "death", "chapter"],
  ])("%s beyond its one leak", async (name, event, leak) => {
    const table = await readNamed(name);
    const time = name === "flchain" ? "futime" : "time";
    const outcomes = readOutcomes(table, { time, event });
    expect(brief(leaksAmong(without(table, time, event), outcomes))).toEqual([`error leak.event ${leak}`]);
  });

  test("the date of entry of a study that ends on one day", () => {
    // Everybody censored has time = end − entry: known at entry, and no leak.
    const { outcomes, random, each } = simulateCohort(2000, 0.2, 10);
    const wait = each((row) => (outcomes.event[row] ? random.integer(500) : 0));
    const entry = dates(
      "entry",
      each((row) => 20_000 - outcomes.time[row] - wait[row]),
    );
    expect(leaksAmong([entry], outcomes)).toEqual([]);
  });

  test("pure by strong risk: everybody in one class dies early", () => {
    // Hazard ratio 40 between two classes, censoring spread over the whole follow-up.
    const random = createRandom(11);
    const high = Array.from({ length: 1000 }, (_, row) => (row % 4 === 0 ? 1 : 0));
    const eventTime = high.map((one) => -Math.log(1 - random.uniform()) / (one ? 40 : 1));
    const censored = high.map(() => 1 + random.uniform());
    const time = Float64Array.from(eventTime, (value, row) => Math.min(value, censored[row]));
    const event = Uint8Array.from(eventTime, (value, row) => (value <= censored[row] ? 1 : 0));
    expect(high.every((one, row) => one === 0 || event[row] === 1)).toBe(true);
    expect(leaksAmong([booleans("high", high)], { time, event })).toEqual([]);
  });
});

describe("orders", () => {
  const time = Float64Array.of(1, 2, 3, 4, 5, 6);
  const rows = Int32Array.of(0, 1, 2, 3, 4, 5);

  test("a strict order leaves 1 of 6! arrangements, both directions counted", () => {
    const falling = compareOrder(Float64Array.of(9, 8, 5, 4, 2, 0), time, rows);
    expect(falling.inOrder).toBe(true);
    expect(falling.evidence).toBeCloseTo(Math.log(720 / 2), 12);
    expect(compareOrder(Float64Array.of(1, 2, 4, 3, 5, 6), time, rows).inOrder).toBe(false);
  });

  test("ties leave their arrangements open", () => {
    // Blocks of 2, 1 and 3 rows: 6! / (2! 1! 3!) = 60.
    expect(compareOrder(Float64Array.of(1, 1, 2, 3, 3, 3), time, rows).evidence).toBeCloseTo(
      Math.log(60 / 2),
      12,
    );
    // One common time joins the values 1 and 2 into one block of 4 rows: 6! / (4! 1! 1!) = 30.
    const tied = Float64Array.of(1, 2, 2, 3, 4, 5);
    expect(compareOrder(Float64Array.of(1, 1, 2, 2, 3, 4), tied, rows).evidence).toBeCloseTo(
      Math.log(30 / 2),
      12,
    );
  });

  test("intervals: 6! / (2! 4!) assignments, either code first", () => {
    expect(compareIntervals(Int32Array.of(1, 1, 0, 0, 0, 0), 2, time, rows).evidence).toBeCloseTo(
      Math.log(15 / 2),
      12,
    );
    expect(compareIntervals(Int32Array.of(1, 0, 1, 0, 0, 0), 2, time, rows).evidence).toBe(0);
  });

  test("Spearman with ties, by hand", () => {
    // Ranks 1.5, 1.5, 4, 4, 4, 6 against 1…6, less 3.5: Σxy = 15, Σx² = 15, Σy² = 17.5.
    const values = Float64Array.of(2, 2, 5, 5, 5, 9);
    expect(rankCorrelation(values, time, rows)).toBeCloseTo(15 / Math.sqrt(15 * 17.5), 14);
    expect(rankCorrelation(new Float64Array(6), time, rows)).toBe(0);
  });
});

describe("what the follow-up of a pure side allows, by hand", () => {
  const leakRows = (time: number[], event: number[]) =>
    collectLeakRows(Float64Array.from(time), Uint8Array.from(event), new Uint8Array(time.length).fill(1), 1);

  test("nobody censored on the event side", () => {
    // Event side 1 1 3 3, t* = 1, two at risk after it. Other side: event at 1, censored at 2 and 4, event at 5.
    // Without events between t* and 4 the ratio leaves everybody alive: censored at 2 with 1/3, at 4 with 2/3 · 1/2.
    const leak = leakRows([1, 1, 3, 3, 1, 2, 4, 5], [1, 1, 1, 1, 1, 0, 0, 1]);
    const chance = logChanceOfAllEvents((row) => (row < 4 ? 1 : 0), leak);
    expect(chance).toBeCloseTo(2 * Math.log(1 - 2 / 3), 12);
  });

  test("nobody with the event on the other side, at a 30th of the hazard", () => {
    // Event side: events at 1 and 3, censored at 4: hazard 1/3 at time 2, 1/3 + 1/2 at time 5.
    const leak = leakRows([1, 3, 4, 2, 5], [1, 1, 0, 0, 0]);
    const chance = logChanceOfNoEvent((row) => (row < 3 ? 1 : 0), leak);
    expect(chance).toBeCloseTo(-(1 / 3 + 5 / 6) / 30, 14);
  });
});

describe("where the rules begin", () => {
  /** `marked` of 200 events among 1000 rows known, times and censoring independent of it. */
  const partly = (marked: number) => {
    const random = createRandom(12);
    const event = Uint8Array.from({ length: 1000 }, (_, row) => (row < 200 ? 1 : 0));
    const time = Float64Array.from({ length: 1000 }, () => random.uniform());
    return leaksAmong(
      [
        numbers(
          "c",
          Array.from({ length: 1000 }, (_, row) => (row < marked ? 1 : MISSING)),
        ),
      ],
      {
        time,
        event,
      },
    ).map((finding) => finding.level);
  };
  test("45 % of the events for an error, 10 % for a warning", () => {
    expect(partly(90)).toEqual(["error"]);
    expect(partly(89)).toEqual(["warning"]);
    expect(partly(19)).toEqual([]);
  });

  test("a threshold must have separated 10 rows of the rarer class", () => {
    const separated = (events: number) => {
      const event = Uint8Array.from({ length: 200 }, (_, row) => (row < events ? 1 : 0));
      const random = createRandom(13);
      const time = Float64Array.from({ length: 200 }, () => random.uniform());
      const score = Float64Array.from(
        { length: 200 },
        (_, row) => (row < events ? 1 : 0) + 0.9 * random.uniform(),
      );
      return brief(leaksAmong([numbers("score", score)], { time, event }));
    };
    expect(separated(10)).toEqual(["error leak.event score"]);
    expect(separated(9)).toEqual([]);
  });

  test("too few rows say nothing: a copy of 2 events among 20 rows", () => {
    const event = Uint8Array.from({ length: 20 }, (_, row) => (row < 2 ? 1 : 0));
    const time = Float64Array.from({ length: 20 }, (_, row) => 1 + ((row * 7) % 20));
    expect(leaksAmong([booleans("copy", event)], { time, event })).toEqual([]);
  });
});
