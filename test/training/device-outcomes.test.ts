// Tables of several causes, late entries and weights, from the table to the solved model: steps stay on the device, and
// the model is the reference's.
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import type { Backend } from "../../src/compute/backend.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { openWebGpuBackend } from "../../src/node/workers/webgpu-backend.ts";
import type { Model } from "../../src/training/model.ts";
import type { TrainRequest } from "../../src/verbs/train-request.ts";
import { findDevice } from "../compute/webgpu-device.ts";
import { trainTable } from "../verbs/train-table.ts";

const device = await findDevice();
const opened = "missing" in device ? null : await openWebGpuBackend();
if ("missing" in device) console.log(`models made on a device are skipped: ${device.missing}`);
afterAll(() => opened?.close());

const ROWS = 120;
const TOLERANCE = 1e-4;
const bytes = readFileSync(new URL("../tables/mgus2.csv", import.meta.url));
const lines = new TextDecoder().decode(bytes).split("\n");
const some = new TextEncoder().encode(
  lines
    .filter((_, k) => k % 9 === 0)
    .slice(0, ROWS + 1)
    .join("\n"),
);
const table = await readTable(tableSourceFromBytes("mgus2.csv", some));

const REQUEST: TrainRequest = {
  time: "months",
  event: "event",
  causes: ["pcm", "death"],
  censored: "censored",
  features: ["age", "hgb", "creat"],
  groups: [{ name: "women", expression: "sex = F" }],
  bins: 6,
  hidden: 2,
  options: { batch: null, steps: 4, evaluateEvery: 2 },
};
const { causes: _, censored: __, ...PLAIN } = REQUEST;
// On the clock of age people are seen for a small part: with few bins hardly anyone is at risk in one.
const LATE = { time: "exitMonths", entry: "ageMonths", bins: 24 };

interface Made {
  readonly model: Model;
  readonly losses: readonly number[];
}

async function makeModel(request: TrainRequest, backend: Backend): Promise<Made> {
  const run = trainTable(table, request, backend);
  const losses: number[] = [];
  for (;;) {
    const { done, value } = await run.next();
    if (done) return { model: value, losses };
    if (value.type === "step") losses.push(value.lagrangian);
    if (value.type === "evaluation") losses.push(value.evaluation.loss);
  }
}

describe.skipIf(opened === null)("from the table to the model", () => {
  test.each<{ readonly what: string; readonly request: TrainRequest }>([
    { what: "two causes", request: REQUEST },
    { what: "two causes, late entry and weights", request: { ...REQUEST, ...LATE, weights: "weight" } },
    { what: "a linear network, two causes", request: { ...REQUEST, network: "linear" } },
    {
      what: "one kind of event, late entry and weights",
      request: { ...PLAIN, ...LATE, eventIs: "death", weights: "weight" },
    },
  ])("$what", async ({ request }) => {
    if (opened?.training === undefined) throw new Error("the device cannot keep a step to itself");
    const { training } = opened;
    let opens = 0;
    const counting: Backend = {
      ...opened,
      training: {
        ...training,
        openLoss(settings) {
          opens++;
          return training.openLoss(settings);
        },
      },
    };
    const own = await makeModel(request, counting);
    const wanted = await makeModel(request, createReferenceBackend());
    expect(opens).toBe(1);
    expect(own.losses.length).toBe(wanted.losses.length);
    own.losses.forEach((loss, k) => {
      expect(Math.abs(loss / wanted.losses[k] - 1)).toBeLessThan(TOLERANCE);
    });
    const { verdict, bestStep } = own.model.training;
    expect(bestStep).toBe(wanted.model.training.bestStep);
    expect(verdict.length).toBeGreaterThan(0);
    verdict.forEach(({ group, distance }, g) => {
      const other = wanted.model.training.verdict[g];
      expect(group).toBe(other.group);
      expect(Math.abs(distance.solve - other.distance.solve)).toBeLessThan(TOLERANCE);
    });
  });
});
