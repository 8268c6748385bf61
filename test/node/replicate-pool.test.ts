import { describe, expect, it } from "vitest";
import { BackendError } from "../../src/core/errors.ts";
import { bootstrapInParallel } from "../../src/node/workers/replicate-pool.ts";
import { bootstrapScores, type GroupBootstrap } from "../../src/stats/scores/bootstrap.ts";
import { prepareScores } from "../../src/stats/scores/prepared-scores.ts";
import { randomCohort } from "../stats/simulated-cohort.ts";

const { curves, binned } = randomCohort(90, 12, 8, 7);
const groups = [
  prepareScores("all", curves, binned),
  prepareScores(
    "some",
    curves,
    binned,
    Int32Array.from({ length: 30 }, (_, k) => 3 * k),
  ),
];

/** Every value of every replicate as bytes, and everything derived from them. */
function bytesOf(results: readonly GroupBootstrap[]) {
  return results.map(({ values, ...rest }) => ({
    bytes: Array.from(new Uint8Array(values.buffer, values.byteOffset, values.byteLength)),
    rest: JSON.stringify(rest),
  }));
}

function runHere(replicates: number, seed: number): readonly GroupBootstrap[] {
  const steps = bootstrapScores(groups, { replicates, seed });
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

describe("bootstrapInParallel", () => {
  it("gives the same bytes on one, two and three threads", async () => {
    const expected = bytesOf(runHere(101, 6));
    for (const threads of [1, 2, 3]) {
      const results = await bootstrapInParallel(groups, { replicates: 101, seed: 6, threads });
      expect(bytesOf(results), `${threads} threads`).toEqual(expected);
    }
  });

  it("reports progress up to the whole", async () => {
    for (const threads of [1, 2]) {
      const seen: number[] = [];
      await bootstrapInParallel(groups, {
        replicates: 70,
        seed: 1,
        threads,
        onProgress: ({ done, total }) => {
          expect(total).toBe(70);
          seen.push(done);
        },
      });
      expect(seen.at(-1)).toBe(70);
      expect(seen).toEqual([...seen].sort((a, b) => a - b));
      expect(seen.length).toBeGreaterThan(10);
    }
  });

  it("stops when its signal is aborted, with the signal's reason", async () => {
    for (const threads of [1, 2]) {
      const stop = new AbortController();
      const reason = new Error("enough");
      let done = 0;
      const running = bootstrapInParallel(groups, {
        replicates: 100_000,
        seed: 1,
        threads,
        signal: stop.signal,
        onProgress: (progress) => {
          done = progress.done;
          stop.abort(reason);
        },
      });
      await expect(running).rejects.toBe(reason);
      expect(done).toBeLessThan(100_000);
      await expect(
        bootstrapInParallel(groups, { replicates: 10, seed: 1, threads, signal: stop.signal }),
      ).rejects.toBe(reason);
    }
  });

  it("turns a worker's exception into a BackendError that says what happened", async () => {
    // Mass that is not a number cannot be spread: the D-calibration of every replicate throws.
    const broken = { ...groups[0], dCalibrationOwn: new Float64Array(90).fill(Number.NaN) };
    const running = bootstrapInParallel([broken], { replicates: 20, seed: 1, threads: 2 });
    await expect(running).rejects.toBeInstanceOf(BackendError);
    await expect(running).rejects.toThrow(
      /^a bootstrap worker failed: D-calibration histogram does not hold/,
    );
  });

  it("passes on an exception of the progress callback", async () => {
    const onProgress = () => {
      throw new Error("no terminal");
    };
    for (const threads of [1, 2]) {
      const running = bootstrapInParallel(groups, { replicates: 20, seed: 1, threads, onProgress });
      await expect(running).rejects.toThrow("no terminal");
    }
  });

  it("needs no groups, and refuses a strange number of threads", async () => {
    expect(await bootstrapInParallel([], { replicates: 5, seed: 1 })).toEqual([]);
    await expect(bootstrapInParallel(groups, { replicates: 5, seed: 1, threads: 0 })).rejects.toThrow(
      "the number of threads is not a positive whole number: 0",
    );
  });
});
