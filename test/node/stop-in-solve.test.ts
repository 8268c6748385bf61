// A run that is stopped while its groups are held: it ends after the turn that is being made, and goes on from the last
// checkpoint to the model of a run that was never interrupted.
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { selectRows } from "../../src/data/table.ts";
import { followTraining } from "../../src/node/print/follow-training.ts";
import type { Model } from "../../src/training/model.ts";
import { trainEnsemble } from "../../src/verbs/ensemble/ensemble.ts";
import { prepare, type TrainEvent, type TrainRequest, train } from "../../src/verbs/train.ts";

afterEach(() => {
  process.removeAllListeners("SIGINT");
});

const bytes = readFileSync(new URL("../tables/gbsg.csv", import.meta.url));
const whole = await readTable(tableSourceFromBytes("gbsg.csv", bytes));
const table = selectRows(
  whole,
  Array.from({ length: Math.floor(whole.rows / 3) }, (_, k) => 3 * k),
);
const request: TrainRequest = {
  time: "rfstime",
  event: "status",
  drop: ["pid"],
  bins: 6,
  hidden: 2,
  groups: [{ name: "hormon = 1", expression: "hormon = 1" }],
  // Held and not told, so that the frontier is walked too.
  protected: ["hormon"],
  options: { steps: 4 },
};
const study = prepare(table, request);
const begun = { run: "run", history: [] };
const follow = (run: AsyncGenerator<TrainEvent, Model>) => followTraining(run, { json: true }, begun, []);

/** Sends Ctrl-C at a turn of the solve, and counts the turns that were made after it. */
function stopAt(run: AsyncGenerator<TrainEvent, Model>, turn: number) {
  const turns = { made: 0, after: 0 };
  const events = async function* (): AsyncGenerator<TrainEvent, Model> {
    try {
      for (let next = await run.next(); ; next = await run.next()) {
        if (next.done) return next.value;
        if (next.value.type === "solving" && turns.made++ === turn) process.emit("SIGINT");
        else if (turns.made > turn) turns.after++;
        yield next.value;
      }
    } finally {
      await run.return(undefined as never);
    }
  };
  return { turns, events: events() };
}

test.each([0, 3, 20])("a single run, at turn %i", async (turn) => {
  const backend = createReferenceBackend();
  const { model: uninterrupted } = await follow(train(study, request, backend));
  const { turns, events } = stopAt(train(study, request, backend), turn);
  const { model, checkpoint } = await follow(events);
  expect([model, turns.after]).toEqual([null, 0]);
  if (checkpoint === null) throw new Error("nothing to go on from");
  const { history } = checkpoint;
  const resumed = await follow(train(study, request, backend, { resume: checkpoint.checkpoint, history }));
  expect(resumed.model?.predictor).toEqual(uninterrupted?.predictor);
});

test("an ensemble, in the mixture of a run and in the solve of the mean", async () => {
  const backend = createReferenceBackend();
  const ensemble = { ...request, ensemble: 2 };
  const { model: uninterrupted } = await follow(trainEnsemble(study, ensemble, backend));
  const counted = stopAt(trainEnsemble(study, ensemble, backend), Number.POSITIVE_INFINITY);
  await follow(counted.events);
  for (const turn of [1, counted.turns.made - 1]) {
    const { turns, events } = stopAt(trainEnsemble(study, ensemble, backend), turn);
    const { model, checkpoint } = await follow(events);
    expect([model, turns.after]).toEqual([null, 0]);
    if (checkpoint === null) throw new Error("nothing to go on from");
    const resume = { checkpoint: checkpoint.checkpoint, members: checkpoint.members ?? [] };
    const resumed = await follow(trainEnsemble(study, ensemble, backend, { resume }));
    expect(resumed.model?.predictor).toEqual(uninterrupted?.predictor);
  }
});
