// The verbs end to end on the bundled tables: a table in, a model out, the model through bytes, curves for new rows.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { createRandom } from "../../src/core/random.ts";
import { plainText } from "../../src/core/sentence.ts";
import { parseGroupsFile } from "../../src/data/groups/groups.ts";
import { pickOutcomes } from "../../src/data/outcomes/outcomes.ts";
import { readOutcomes } from "../../src/data/outcomes/read-outcomes.ts";
import { splitTable } from "../../src/data/outcomes/split.ts";
import { binOutcomes } from "../../src/data/outcomes/time-grid.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { selectRows, type Table } from "../../src/data/table.ts";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { atRiskShare, mortalityRisk } from "../../src/stats/mortality-risk.ts";
import { scoreCurves } from "../../src/stats/scores/scores.ts";
import type { Model } from "../../src/training/model.ts";
import { gridOf, knowsAtRisk, predict, riskOf } from "../../src/verbs/predict.ts";
import { prepare, type TrainEvent, type TrainRequest } from "../../src/verbs/train.ts";
import { trainTable } from "./train-table.ts";

const datasets = new URL("../../datasets/", import.meta.url);
const groupsFile = parseGroupsFile(
  readFileSync(new URL("nwtco/groups.json", datasets), "utf8"),
  "groups.json",
);
let nwtco: Table;
/** A quarter of its rows, where the table plays no part. */
let quarter: Table;
let flchain: Table;

async function readBundled(name: string): Promise<Table> {
  return readTable(
    tableSourceFromBytes(`${name}.csv`, readFileSync(new URL(`${name}/${name}.csv`, datasets))),
  );
}

beforeAll(async () => {
  nwtco = await readBundled("nwtco");
  quarter = selectRows(
    nwtco,
    Array.from({ length: nwtco.rows / 4 }, (_, k) => 4 * k),
  );
  flchain = await readBundled("flchain");
});

async function run(table: Table, request: TrainRequest): Promise<{ model: Model; events: TrainEvent[] }> {
  const steps = trainTable(table, request, createReferenceBackend());
  const events: TrainEvent[] = [];
  for (let next = await steps.next(); ; next = await steps.next()) {
    if (next.done) return { model: next.value, events };
    events.push(next.value);
  }
}

const linear: TrainRequest = {
  time: "edrel",
  event: "rel",
  network: "linear",
  groupsFile,
  options: { steps: 60, average: { decay: 0.98, from: 20 } },
};

/** Enough to see what a run does, in a moment. */
const small: TrainRequest = { ...linear, bins: 12, options: { steps: 10 } };

describe("train and predict", () => {
  test("a linear hazard under twelve constraints: verdict, history, and curves that survive the round trip", async () => {
    const { model, events } = await run(nwtco, linear);
    const start = events[0];
    if (start.type !== "start") throw new Error("the first event says what the run starts with");
    expect(start.rows).toEqual({ train: 2416, validation: 806, test: 806 });
    expect(start.features).not.toContain("seqno");
    expect(start.groups).toHaveLength(12);
    expect(model.training.verdict.map(({ group }) => group)).toEqual(start.groups.map(({ name }) => name));
    const { history } = model.training;
    expect(history[history.length - 1].loss).toBeLessThan(history[0].loss);
    const again = modelFromBytes(modelToBytes(model), "model");
    expect(again).toEqual(model);
    const rows = selectRows(nwtco, [0, 1, 2]);
    const first = await predict(model, rows, createReferenceBackend());
    const second = await predict(again, rows, createReferenceBackend());
    expect(second).toEqual(first);
    const { N, T, survival } = first.curves;
    expect([N, T]).toEqual([3, 102]);
    for (let i = 0; i < N; i++) {
      for (let t = 1; t < T; t++) expect(survival[i * T + t]).toBeLessThanOrEqual(survival[i * T + t - 1]);
    }
    // Unfavourable histology (row 1) against favourable (row 2): the table's strongest predictor.
    expect(survival[T - 1]).toBeLessThan(survival[2 * T - 1]);
  });

  test.each([
    [{}, true],
    [{ solve: "none" }, false],
  ] as const)(
    "risk strata guide training; a run that ends held (%j) says that whole groups are",
    async (end, isSaid) => {
      const { model } = await run(quarter, {
        ...linear,
        constraint: { strata: 2 },
        options: { steps: 1, ...end },
      });
      const said = model.training.notices?.some(({ sentence }) =>
        plainText(sentence).includes("2 risk strata of each group"),
      );
      expect(said).toBe(isSaid);
    },
  );

  test("the same seed gives the same bytes, another seed others", async () => {
    const bytes = async (seed: number) => modelToBytes((await run(quarter, { ...small, seed })).model);
    const first = await bytes(1);
    expect(await bytes(1)).toEqual(first);
    expect(await bytes(2)).not.toEqual(first);
  });

  test("two threads give the same bytes twice", async () => {
    const once = async () => {
      const backend = await openWasmBackend({ threads: 2 });
      const steps = trainTable(quarter, { ...small, network: "anchored", options: { steps: 30 } }, backend);
      let next = await steps.next();
      while (!next.done) next = await steps.next();
      await backend.close();
      return modelToBytes(next.value);
    };
    expect(await once()).toEqual(await once());
  });

  test("with splines an effect that bends is found: risk that is high for the young and the old", async () => {
    const random = createRandom(4, 1);
    const age = Float64Array.from({ length: 1500 }, () => 20 + 60 * random.uniform());
    const outcomes = Array.from(age, (years) => {
      const time = (-20 * Math.log(random.uniform())) / Math.exp(0.004 * (years - 50) ** 2);
      return { time: Math.min(time, 15), died: time < 15 };
    });
    const values = (name: string, of: ArrayLike<number>) =>
      ({ name, type: "number", values: Float64Array.from(of) }) as const;
    const table: Table = {
      name: "bent.csv",
      rows: 1500,
      columns: [
        values("age", age),
        values(
          "months",
          outcomes.map(({ time }) => time),
        ),
        values(
          "died",
          outcomes.map(({ died }) => Number(died)),
        ),
      ],
    };
    const request: TrainRequest = {
      time: "months",
      event: "died",
      bins: 12,
      network: "linear",
      options: { steps: 1 },
    };
    const earlyRiskOf = async (one: Model) => {
      const { curves } = await predict(one, table, createReferenceBackend());
      const at = (years: number) => age.findIndex((value) => Math.abs(value - years) < 0.5);
      return [25, 50, 75].map((years) => 1 - curves.survival[at(years) * 12 + 2]);
    };
    const { model: bent } = await run(table, { ...request, splines: true });
    expect(bent.encoder.names).toEqual(["age", "age.score", "age.bend1", "age.bend2", "age.bend3"]);
    const [young, middle, old] = await earlyRiskOf(bent);
    expect(Math.min(young, old)).toBeGreaterThan(3 * middle);
    // Events are enough for the default to choose them, and the run says so.
    const { model: decided, events } = await run(table, request);
    expect(decided.encoder).toEqual(bent.encoder);
    expect(events[0].type === "start" && events[0].warnings).toContain("how numbers enter: splines of age");
    const { model: straight } = await run(table, { ...request, splines: false });
    const [first, second, third] = await earlyRiskOf(straight);
    expect(second).toBeGreaterThan(Math.min(first, third));
    const again = modelFromBytes(modelToBytes(bent), "bent.model");
    expect(again.encoder).toEqual(bent.encoder);
    expect(await earlyRiskOf(again)).toEqual([young, middle, old]);
  });

  test("splines come by themselves only with events enough; Cox and the paper's preset take numbers as written", () => {
    const columns = { time: "edrel", event: "rel", features: ["stage", "age"] };
    const namesOf = (table: Table, more: Partial<TrainRequest> = {}) =>
      prepare(table, { ...columns, ...more }).encoder.names;
    const codes = ["stage=1", "stage=2", "stage=3", "stage=4"];
    const bends = ["age.score", "age.bend1", "age.bend2", "age.bend3"];
    expect(namesOf(nwtco)).toEqual(["stage", ...codes, "age", ...bends]);
    expect(namesOf(quarter)).not.toContain("age.score");
    expect(namesOf(quarter, { splines: true })).toContain("age.score");
    const asWritten = [{ preset: "paper" }, { network: "mlp" }, { splines: false, numbers: "raw" }] as const;
    for (const more of asWritten) expect(namesOf(nwtco, more)).toEqual(["stage", "age"]);
    expect(namesOf(nwtco, { method: "cox" })).toEqual(["stage", "age"]);
  });

  test("splines are refused where nothing would hold them: the paper's preset, more columns than Newton can carry", async () => {
    await expect(run(quarter, { ...small, splines: true, preset: "paper" })).rejects.toThrow(/no splines/);
    const wide: Table = {
      ...quarter,
      columns: [
        ...quarter.columns,
        ...Array.from({ length: 90 }, (_, k) => ({
          name: `x${k}`,
          type: "number" as const,
          values: Float64Array.from({ length: quarter.rows }, (_, i) => Math.sin(i * (k + 2))),
        })),
      ],
    };
    await expect(run(wide, { ...small, splines: true })).rejects.toThrow(
      /too many columns for splines: 46\d/,
    );
  });

  test("groups of features are inputs, groups of other columns and the paper's network have none", async () => {
    const few: TrainRequest = { ...small, options: { steps: 2, solve: "heldOnTraining" } };
    const named = ({ inputGroups }: Pick<Model, "inputGroups">) => inputGroups.map(({ name }) => name);
    const { model } = await run(nwtco, few);
    expect(named(model)).toEqual(model.groups.slice(1).map(({ name }) => name));
    expect(model.encoder.names.slice(-11)[0]).toContain("group: age under 24 months");
    // What a model of the others would see.
    const without = prepare(nwtco, { ...few, drop: ["stage"] });
    expect(named(without).filter((name) => name.startsWith("stage"))).toEqual([]);
    expect(without.groups.filter(({ name }) => name.startsWith("stage"))).toHaveLength(4);
    expect(named(prepare(nwtco, { ...few, preset: "paper" }))).toEqual([]);
    expect(named(prepare(nwtco, { ...few, inputGroups: "none" }))).toEqual([]);
    const infants = [{ name: "infants", expression: "age < 12" }];
    expect(named(prepare(nwtco, { ...few, inputGroups: infants }))).toEqual(["infants"]);
    // A person of one stage: the groups of the others are empty there, and nothing is refused.
    const { curves } = await predict(model, selectRows(nwtco, [0]), createReferenceBackend());
    expect(curves.survival).toHaveLength(12);
  });

  test("X-Cal's weight is the one of the best total score on the validation rows; given, it is kept", async () => {
    const request: TrainRequest = { ...small, method: "xcal" };
    const { model, events } = await run(quarter, request);
    expect(events.flatMap((event) => (event.type === "candidate" ? [event.what] : []))).toEqual(
      [1, 10, 100].map((lambda) => `X-Cal with a penalty of weight ${lambda}`),
    );
    const totals = [];
    for (const lambda of [1, 10, 100]) {
      const objective = { kind: "xcal", tail: false, lambda } as const;
      const single = await run(quarter, { ...request, options: { steps: 10, objective } });
      expect(single.model.options?.objective).toEqual(objective);
      const split = splitTable(quarter, small, { seed: 1 });
      const { curves } = await predict(single.model, quarter, createReferenceBackend(), split.validation);
      const binned = binOutcomes(
        pickOutcomes(readOutcomes(quarter, { time: "edrel", event: "rel" }), split.validation),
        gridOf(single.model),
      );
      totals.push({ lambda, total: scoreCurves("all", curves, binned).totalScore ?? 0 });
    }
    const best = totals.reduce((one, other) => (other.total > one.total ? other : one));
    expect(model.options?.objective).toMatchObject({ kind: "xcal", lambda: best.lambda });
  });

  test.each(["nll", "drsa", "xcal", "rps"] as const)("%s trains and predicts", async (method) => {
    const { model } = await run(quarter, {
      ...small,
      method,
    });
    expect(model.method).toBe(method);
    expect(modelFromBytes(modelToBytes(model), "model")).toEqual(model);
    expect(model.training.verdict).toEqual([]);
    const { curves } = await predict(model, selectRows(quarter, [7]), createReferenceBackend());
    for (const S of curves.survival) expect(S > 0 && S < 1).toBe(true);
  });

  test("cox is R's fit, read on the grid", async () => {
    const { model } = await run(nwtco, {
      time: "edrel",
      event: "rel",
      method: "cox",
      features: ["histol", "age"],
    });
    expect(modelFromBytes(modelToBytes(model), "model")).toEqual(model);
    const { curves, median } = await predict(model, selectRows(nwtco, [0, 1]), null);
    expect(curves.survival[101]).toBeLessThan(curves.survival[203]);
    expect(Number.isNaN(median[1])).toBe(true);
  });

  test("ranks people by the hazard while training rows were at risk; a file without their share counts all bins", async () => {
    const request = { time: "edrel", event: "rel", features: ["histol", "stage", "age"] } as const;
    const { model } = await run(nwtco, { ...request, method: "cox", bins: 12 });
    const { train: learnt, test: tested } = splitTable(nwtco, request, { seed: 1 });
    const binned = binOutcomes(pickOutcomes(readOutcomes(nwtco, request), learnt), gridOf(model));
    expect(model.grid.atRisk).toEqual([...atRiskShare(binned)]);
    const read = modelFromBytes(modelToBytes(model), "cox.model");
    const { curves } = await predict(read, nwtco, null, tested);
    expect(riskOf(read, curves)).toEqual(mortalityRisk(curves, atRiskShare(binned)));
    const { atRisk: _, ...grid } = model.grid;
    const older = riskOf({ grid }, curves);
    older.forEach((risk, i) => {
      expect(risk).toBeCloseTo(-Math.log(curves.survival[12 * i + 11]), 12);
    });
    expect([knowsAtRisk(read), knowsAtRisk({ grid })]).toEqual([true, false]);
  });

  test("a leaking column is refused unless it is allowed by name", async () => {
    const request: TrainRequest = {
      time: "futime",
      event: "death",
      network: "linear",
      bins: 12,
      options: { steps: 2 },
    };
    await expect(run(flchain, request)).rejects.toThrow(/chapter determines the event/);
    const { model } = await run(flchain, { ...request, allowLeak: ["chapter"] });
    expect(model.encoder.columns.map(({ column }) => column)).toContain("chapter");
  });

  test("a table without events stops before training", async () => {
    const quiet = {
      ...nwtco,
      columns: nwtco.columns.map((column) =>
        column.name === "rel" && column.type === "number"
          ? { ...column, values: new Float64Array(nwtco.rows) }
          : column,
      ),
    };
    await expect(run(quiet, linear)).rejects.toThrow(/no events/);
  });

  test("a level that training never saw is refused at prediction, with its row", async () => {
    const { model } = await run(flchain, {
      time: "futime",
      event: "death",
      features: ["sex"],
      network: "linear",
      bins: 12,
      options: { steps: 2 },
    });
    const sex = flchain.columns[1];
    if (sex.type !== "category") throw new Error("sex is a category");
    const odd: Table = {
      ...selectRows(flchain, [0, 1]),
      columns: [{ ...sex, codes: Int32Array.of(0, 2), levels: ["F", "M", "X"] }],
    };
    await expect(predict(model, odd, createReferenceBackend())).rejects.toThrow(/not seen in training: "X"/);
  });
});
