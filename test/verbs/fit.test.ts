// `fit`: a model and nothing else, the one that train's events end with; cancelled from outside.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { InputError } from "../../src/core/errors.ts";
import { parseGroupsFile } from "../../src/data/groups/groups.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { selectRows } from "../../src/data/table.ts";
import { fit as fitInNode } from "../../src/node/library.ts";
import { countMembers, type Model } from "../../src/training/model.ts";
import { fit as fitModel } from "../../src/verbs/fit.ts";
import type { TrainEvent } from "../../src/verbs/train.ts";
import { trainTable, trainTableEnsemble } from "./train-table.ts";

const bytes = readFileSync(new URL("../../datasets/nwtco/nwtco.csv", import.meta.url));
const nwtco = await readTable(tableSourceFromBytes("nwtco.csv", bytes));
const table = selectRows(
  nwtco,
  Array.from({ length: nwtco.rows / 8 }, (_, k) => 8 * k),
);
const request = {
  time: "edrel",
  event: "rel",
  features: ["stage", "histol", "age"],
  network: "linear",
  bins: 12,
  options: { steps: 10 },
} as const;

/** The model as `for await` gets it. */
async function followed(run: AsyncIterable<TrainEvent>): Promise<Model | null> {
  let model: Model | null = null;
  for await (const event of run) if (event.type === "done") model = event.model;
  return model;
}

describe("fit", () => {
  test("gives the model that for await ends with", async () => {
    const model = await fitModel(table, request);
    expect(model.training.steps).toBe(10);
    expect(await followed(trainTable(table, request, createReferenceBackend()))).toEqual(model);
  });

  test("gives an ensemble where members are asked for", async () => {
    const asked = { ...request, ensemble: 2 };
    const model = await fitModel(table, asked);
    expect(countMembers(model)).toBe(2);
    expect(await followed(trainTableEnsemble(table, asked, createReferenceBackend()))).toEqual(model);
  });

  test("a group that the model may not see is for the solve: training is that without it", async () => {
    const seen = [{ where: "stage = 3" }, { where: "histol = 2" }];
    const steps = async (groups: readonly { readonly where: string }[], asked = {}) => {
      const found: TrainEvent[] = [];
      const model = await fitModel(
        table,
        {
          ...request,
          ...asked,
          ensemble: 1,
          groupsFile: parseGroupsFile(JSON.stringify({ groups }), "groups.json"),
          protected: ["instit"],
        },
        createReferenceBackend(),
        { onEvent: (event) => void (event.type === "step" && found.push(event)) },
      );
      return { found, verdict: model.training.verdict, history: model.training.history };
    };
    const [with_, without] = [await steps([...seen, { where: "instit = 2" }]), await steps(seen)];
    expect(with_.found).toHaveLength(10);
    expect(with_.found).toEqual(without.found);
    expect(with_.history).toEqual(without.history);
    expect(with_.verdict.map(({ group, told }) => [group, told])).toContainEqual(["instit = 2", false]);
    // The paper's preset has no solve: there the multipliers are all that holds the group.
    const paper = await steps([...seen, { where: "instit = 2" }], { preset: "paper" });
    expect(paper.found[0]).toMatchObject({ groups: expect.arrayContaining(["instit = 2"]) });
  });

  test("in Node finds its backend by itself, and closes it", async () => {
    const model = await fitInNode(table, request);
    expect(model.training.backend).toMatch(/^wasm/);
    expect((await fitInNode(table, { ...request, method: "cox" })).training.backend).toBe("none");
    expect((await fitInNode(table, request, createReferenceBackend())).training.backend).toMatch(
      /^reference/,
    );
  });

  test("tells its events, the model's last, and waits for who hears them", async () => {
    const seen: string[] = [];
    await fitModel(table, request, createReferenceBackend(), {
      onEvent: async ({ type }) => {
        await Promise.resolve();
        seen.push(type);
      },
    });
    expect(seen[0]).toBe("start");
    expect(seen.at(-1)).toBe("done");
    expect(seen.filter((type) => type === "done")).toHaveLength(1);
    expect(seen.filter((type) => type === "step")).toHaveLength(10);
  });

  test("is refused what train is refused", async () => {
    await expect(fitModel(table, { ...request, time: "nowhere" })).rejects.toThrow(InputError);
  });
});

describe("a fit that is cancelled", () => {
  test("before it begins does nothing", async () => {
    const signal = AbortSignal.abort(new Error("not now"));
    const seen: string[] = [];
    const run = fitModel(table, request, createReferenceBackend(), {
      signal,
      onEvent: ({ type }) => void seen.push(type),
    });
    await expect(run).rejects.toThrow("not now");
    expect(seen).toEqual([]);
  });

  test("from outside stops soon, and leaves the backend usable", async () => {
    const controller = new AbortController();
    const backend = createReferenceBackend();
    setTimeout(() => controller.abort(new Error("enough")), 20);
    const long = { ...request, options: { steps: 1e6 } };
    await expect(fitModel(table, long, backend, { signal: controller.signal })).rejects.toThrow("enough");
    expect((await fitModel(table, request, backend)).training.steps).toBe(10);
  });
});
