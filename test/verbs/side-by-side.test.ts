// Runs side by side: told in order, made at the same time, and only while somebody waits for them.
import { describe, expect, test } from "vitest";
import { runSideBySide } from "../../src/verbs/ensemble/side-by-side.ts";

type Told = `${number}.${number}`;

/** Runs of three steps each, whose names are told; `taken` has every step when it was taken. */
function countRuns(lanes: number, { failing = -1, count = 4 } = {}) {
  const taken: Told[] = [];
  const closed: number[] = [];
  const atOnce = { now: 0, most: 0 };
  const inLane: number[] = [];
  async function* begin(index: number, lane: number): AsyncGenerator<Told, string> {
    inLane[index] = lane;
    atOnce.most = Math.max(atOnce.most, ++atOnce.now);
    try {
      for (let step = 1; step <= 3; step++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        taken.push(`${index}.${step}`);
        if (index === failing && step === 2) throw new Error(`run ${index} failed`);
        yield `${index}.${step}`;
      }
      return `made ${index}`;
    } finally {
      atOnce.now--;
      closed.push(index);
    }
  }
  const run = runSideBySide<Told, string>({
    ...{ count, lanes, begin },
    keep: (event) => (event.endsWith(".2") ? null : event),
    tell: (event, index, made) => (made.length === index ? event : null),
  });
  return { run, taken, closed, atOnce, inLane };
}

async function readAll(run: AsyncGenerator<Told, readonly string[]>) {
  const told: Told[] = [];
  for (let next = await run.next(); ; next = await run.next()) {
    if (next.done) return { told, made: next.value };
    told.push(next.value);
  }
}

const IN_ORDER = [0, 1, 2, 3].flatMap((run) => [1, 2, 3].map((step): Told => `${run}.${step}`));

describe("runs side by side", () => {
  test("one at a time are told as they are", async () => {
    const { run, taken, atOnce } = countRuns(1);
    expect(await readAll(run)).toEqual({ told: IN_ORDER, made: [0, 1, 2, 3].map((k) => `made ${k}`) });
    expect(taken).toEqual(IN_ORDER);
    expect(atOnce.most).toBe(1);
  });

  test("two at a time are told in the order of the runs, without what must not be kept", async () => {
    const { run, taken, atOnce, inLane } = countRuns(2);
    const { told, made } = await readAll(run);
    expect(made).toEqual([0, 1, 2, 3].map((k) => `made ${k}`));
    expect([...told].sort()).toEqual(told);
    const untold = IN_ORDER.filter((event) => !told.includes(event));
    expect(untold.length).toBeGreaterThan(0);
    expect(untold.every((event) => event.endsWith(".2"))).toBe(true);
    // The second run's first step is taken long before it is told.
    expect(taken.indexOf("1.1")).toBeLessThan(taken.indexOf("0.2"));
    expect(atOnce.most).toBe(2);
    expect(inLane.slice(0, 2)).toEqual([0, 1]);
  });

  test("rest while nobody waits, and end when nobody reads on", async () => {
    const { run, taken, closed } = countRuns(2);
    await run.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const sofar = taken.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(taken.length).toBe(sofar);
    expect(sofar).toBeLessThan(5);
    await run.return([]);
    expect(closed.sort()).toEqual([0, 1]);
  });

  test("that fail do so in their turn, after the runs before them", async () => {
    const { run, closed } = countRuns(3, { failing: 1 });
    const told: Told[] = [];
    const reading = (async () => {
      for (let next = await run.next(); !next.done; next = await run.next()) told.push(next.value);
    })();
    await expect(reading).rejects.toThrow("run 1 failed");
    expect(told).toEqual(["0.1", "0.2", "0.3", "1.1"]);
    expect(closed.sort()).toEqual([0, 1, 2, 3].slice(0, closed.length));
  });
});
