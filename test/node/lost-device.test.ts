// A graphics device that is lost on the way, or fails: the run goes on from the last checkpoint on the processor, to the model of a
// run that was never interrupted.
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import type { Backend } from "../../src/compute/backend.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { BackendError } from "../../src/core/errors.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { sayLost } from "../../src/node/commands/train.ts";
import { takesAllRows } from "../../src/verbs/train-request.ts";
import { followTraining } from "../../src/node/print/follow-training.ts";
import { prepare, type TrainRequest, train } from "../../src/verbs/train.ts";

afterEach(() => {
  process.removeAllListeners("SIGINT");
});

/** Computes until the backward pass of a step, and then fails. */
function loseAfter(steps: number, code: string): Backend {
  const backend = createReferenceBackend();
  let taken = 0;
  return {
    ...backend,
    async lstmBackward(...given) {
      if (++taken > steps) throw new BackendError("the graphics device was lost: unplugged", { code });
      return backend.lstmBackward(...given);
    },
  };
}

test.each(["device.lost", "device.failed", "device.memory", "device.small"])(
  "%s: the last checkpoint is where it goes on, and the model is the same",
  async (code) => {
    const bytes = readFileSync(new URL("../tables/gbsg.csv", import.meta.url));
    const table = await readTable(tableSourceFromBytes("gbsg.csv", bytes));
    const request: TrainRequest = {
      time: "rfstime",
      event: "status",
      drop: ["pid"],
      bins: 6,
      hidden: 2,
      preset: "paper",
      options: { steps: 6 },
    };
    const study = prepare(table, request);
    const begun = { run: "run", history: [] };
    const follow = (backend: Backend, hooks = {}) =>
      followTraining(train(study, request, backend, hooks), { json: true }, begun, []);
    const whole = await follow(createReferenceBackend());
    const { model, checkpoint, lost } = await follow(loseAfter(4, code));
    expect(model).toBeNull();
    expect(lost?.code).toBe(code);
    if (lost === undefined || checkpoint === null) throw new Error("nothing to go on from");
    // The last one before the loss, or an earlier one: they are taken by the clock.
    const { step } = checkpoint.checkpoint;
    expect([1, 2, 3, 4]).toContain(step);
    expect(sayLost({ lost, checkpoint })).toMatch(
      new RegExp(
        `the graphics device was lost: unplugged; the run goes on from step ${step} on the processor$`,
      ),
    );
    const { history } = checkpoint;
    const resumed = await follow(createReferenceBackend(), { resume: checkpoint.checkpoint, history });
    expect(resumed.model?.predictor).toEqual(whole.model?.predictor);
    expect(sayLost({ lost, checkpoint: null })).toContain("from the start on the processor");
  },
);

test("a graphics device is taken where every step has all rows", () => {
  expect(takesAllRows({ preset: "paper", method: "graduate" })).toBe(true);
  expect(takesAllRows({ preset: "default", method: "graduate" })).toBe(false);
  expect(takesAllRows({ preset: "default", method: "graduate", options: { batch: null } })).toBe(true);
  expect(takesAllRows({ preset: "paper", method: "drsa", options: { batch: 256 } })).toBe(false);
  expect(takesAllRows({ preset: "paper", method: "cox" })).toBe(false);
});
