// Files whose shape is right and whose numbers mean nothing, under a checksum that is right: each is refused with the
// place of it. And the files of version 0.1.0, which are read and predict as they did.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { FormatError, GraduateError } from "../../src/core/errors.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import {
  encodeJson,
  FILE_VERSION,
  packSections,
  unpackSections,
} from "../../src/files/container/container.ts";
import { readSafetensors, writeSafetensors } from "../../src/files/container/safetensors.ts";
import { boostFromJson } from "../../src/files/model/boost-file.ts";
import { checkpointFromBytes, checkpointToBytes } from "../../src/files/model/checkpoint-file.ts";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import { applyBoost } from "../../src/repair/mcboost.ts";
import type { Model } from "../../src/training/model.ts";
import { predict } from "../../src/verbs/predict.ts";
import { writeScratch } from "../cli/run-cli.ts";
import { asVersion, headerOf, resealed, withHeader } from "./resealed.ts";
import { smallBent, smallCheckpoint, smallCox, smallNetwork } from "./sample-models.ts";

const fixture = (name: string) => new URL(`v0.1.0/${name}`, import.meta.url);
const bytesOf = (name: string) => new Uint8Array(readFileSync(fixture(name)));

function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof FormatError) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}

type Header = Record<string, never>;

function withChange(bytes: Uint8Array, change: (header: Header) => void): Uint8Array {
  const header = headerOf(bytes) as Header;
  change(header);
  return resealed(withHeader(bytes, header));
}

function withNumbers(bytes: Uint8Array, name: string, values: readonly number[]): Uint8Array {
  const { header, weights } = unpackSections(bytes, "");
  const tensors = readSafetensors(weights, "");
  tensors.set(name, { type: "F64", shape: [values.length], values });
  return packSections({ header, weights: writeSafetensors(tensors) });
}

const set = (target: unknown, key: string | number, value: unknown) => {
  (target as Record<string | number, unknown>)[key] = value;
};

describe("a Cox model", () => {
  const bytes = modelToBytes(smallCox);
  test.each([
    ["a hazard that falls", "cumulativeHazardAtMeans", [0.01, 0.03, 0.02]],
    ["a hazard below 0", "cumulativeHazardAtMeans", [-0.01, 0.02, 0.03]],
    ["a hazard that is none", "cumulativeHazardAtMeans", [0.01, 0.02, Number.NaN]],
    ["times that go back", "time", [0.5, 1.5, 1]],
    ["one time twice", "time", [0.5, 1, 1]],
    ["a time before the start", "time", [-0.5, 1, 1.5]],
    ["a mean that is none", "means", [0, Number.POSITIVE_INFINITY, 0.5]],
    ["an effect without end", "coefficients", [0.1, Number.NaN, Number.NEGATIVE_INFINITY]],
  ])("%s", (_, name, values) => {
    const says = refusal(() => modelFromBytes(withNumbers(bytes, `cox.${name}`, values), "m"));
    expect(says).toContain("numbers a Cox model cannot have: ");
  });

  test("a hazard that stays, and begins at 0, is one", () => {
    const flat = withNumbers(bytes, "cox.cumulativeHazardAtMeans", [0, 0.02, 0.02]);
    expect(modelFromBytes(flat, "m").predictor).toMatchObject({ cumulativeHazardAtMeans: [0, 0.02, 0.02] });
  });
});

/** Gives the first column another field. */
function shapeAge(fields: object): (header: Header) => void {
  return ({ encoder }) => {
    Object.assign((encoder as { columns: object[] }).columns[0], fields);
  };
}

describe("an encoder, a grid, a checkpoint", () => {
  const [plain, bent] = [smallNetwork, smallBent].map(modelToBytes);
  const held = checkpointToBytes({ checkpoint: smallCheckpoint, history: [], run: "run" });
  test.each([0, -1, "NaN", "Infinity"])("a scale of %s", (sd) => {
    const changed = withChange(plain, ({ encoder }: Header) =>
      set((encoder as { columns: unknown[] }).columns[0], "sd", sd),
    );
    expect(refusal(() => modelFromBytes(changed, "m"))).toContain("encoder.columns[0].sd");
  });

  test.each<[string, Uint8Array, string, (header: Header) => void]>([
    [
      "a column twice",
      plain,
      "encoder.columns: expected every column once",
      ({ encoder }) => {
        const { columns, names } = encoder as { columns: unknown[]; names: string[] };
        set(columns, 1, columns[0]);
        names.splice(1, 2, "age");
      },
    ],
    [
      "a level twice",
      plain,
      "encoder.columns[1].levels: expected every level once",
      ({ encoder }) => set((encoder as { columns: unknown[] }).columns[1], "levels", ["a", "a"]),
    ],
    [
      "scores that fall",
      bent,
      "encoder.columns[0].spline",
      ({ encoder }) => {
        const { columns } = encoder as { columns: { spline: unknown }[] };
        set(columns[0].spline, "scores", [1, 0, 2]);
      },
    ],
    ["a logarithm of 0", plain, "encoder.columns[0].logFloor", shapeAge({ logFloor: 0 })],
    ["a code twice", plain, "encoder.columns[0].codes", shapeAge({ codes: [1, 1, 2] })],
    ["codes without names", plain, "encoder.names", shapeAge({ codes: [1, 2, 3] })],
    ["edges that go back", plain, "grid.edges", ({ grid }) => set(grid, "edges", [0, 5, 2.5, 7.5, 10])],
  ])("%s", (_, bytes, says, change) => {
    expect(refusal(() => modelFromBytes(withChange(bytes, change), "m"))).toContain(says);
  });

  test.each<[string, string, (header: Header) => void]>([
    ["a multiplier below 0", "held.multipliers", ({ held: one }) => set(one, "multipliers", [-1, 0])],
    ["a multiplier of no cell", "held.cells", ({ held: one }) => set(one, "multipliers", [1, 2, 3])],
    ["a best step to come", "best.step", ({ best }) => set(best, "step", 91)],
  ])("%s", (_, says, change) => {
    expect(refusal(() => checkpointFromBytes(withChange(held, change), "c"))).toContain(says);
  });

  test("means of squares below 0", () => {
    const changed = withNumbers(held, "second.skip", [1, -1e-9, 1]);
    expect(refusal(() => checkpointFromBytes(changed, "c"))).toContain('"second.skip"');
  });
});

describe("sizes", () => {
  test("a network of half a million bins is refused before memory is taken for it", () => {
    const T = 5e5;
    const H = 2;
    const shapes = {
      input: [8, 4],
      recurrent: [8, H],
      inputBias: [8],
      recurrentBias: [8],
      output: [H],
      outputBias: [1],
    };
    const weights = writeSafetensors(
      new Map(
        Object.entries(shapes).map(([name, shape]) => {
          const values = new Array<number>(shape.reduce((a, b) => a * b)).fill(0.1);
          return [`parameters.lstm.${name}`, { type: "F64" as const, shape, values }];
        }),
      ),
    );
    const header = headerOf(modelToBytes(smallNetwork)) as object;
    const file = packSections({
      header: encodeJson({
        ...header,
        predictor: { kind: "network", network: { kind: "drsa", D: 3, T, H } },
        grid: { kind: "equal", T, edges: Array.from({ length: T + 1 }, (_, t) => t) },
      }),
      weights,
    });
    expect(refusal(() => modelFromBytes(file, "m"))).toContain("grid.T");
    const path = writeScratch("wide.model", file);
    const table = writeScratch("wide.csv", "age,x\n1,2\n");
    const program = `
      process.argv = [process.argv[0], "graduate", "predict", ${JSON.stringify(path)}, ${JSON.stringify(table)}];
      await (await import(${JSON.stringify(new URL("../../dist/node/cli.js", import.meta.url).href)})).main(process.argv);
      // Where there is one, the process's own peak: maxRSS may be that of the process which started it.
      const { readFileSync } = await import("node:fs");
      const [, peak] = /VmHWM:\\s+(\\d+)/.exec((() => {
        try { return readFileSync("/proc/self/status", "utf8"); } catch { return ""; }
      })()) ?? [];
      console.log(peak ?? process.resourceUsage().maxRSS);`;
    const args = ["--input-type=module", "-e", program];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(status, stderr).toBe(1);
    expect(stderr).toContain("grid.T");
    // Kilobytes; Node begins with some 60,000.
    expect(Number(stdout)).toBeLessThan(300_000);
  });

  test("weights that no float32 holds give no curve, and say so", async () => {
    const table = await readTable(
      tableSourceFromBytes("t.csv", new TextEncoder().encode('age,"sex, “quoted”"\n1,NaN\n')),
      { category: ["sex, “quoted”"] },
    );
    const model: Model = {
      ...smallNetwork,
      inputGroups: [],
      predictor: {
        kind: "network",
        network: { kind: "mlp", D: 3, T: 4, hidden: [1] },
        parameters: {
          "dense0.weight": [1e308, 1e308, 1e308],
          "dense0.bias": [-1e308],
          "dense1.weight": [1e308, -1e308, 1, 1],
          "dense1.bias": [0, 0, 0, 0],
        },
      },
    };
    const read = modelFromBytes(modelToBytes(model), "m");
    const curves = predict(read, table, createReferenceBackend());
    const refused = await curves.then(
      ({ curves: { survival } }) => survival.every((value) => value >= 0 && value <= 1),
      (error: unknown) => error instanceof GraduateError,
    );
    expect(refused).toBe(true);
  });
});

describe("files of version 0.1.0", () => {
  const expected = JSON.parse(readFileSync(fixture("expected.json"), "utf8")) as Record<
    string,
    readonly (readonly number[])[]
  >;
  const readRows = async () => {
    const lines = readFileSync(new URL("../tables/gbsg.csv", import.meta.url), "utf8").split("\n");
    return readTable(
      tableSourceFromBytes("gbsg.csv", new TextEncoder().encode(lines.slice(0, 4).join("\n"))),
    );
  };
  const curvesOf = async (name: string) => {
    const model = modelFromBytes(bytesOf(name), name);
    return (await predict(model, await readRows(), createReferenceBackend())).curves;
  };
  const expectCurves = (name: string, survival: ArrayLike<number>, T: number) => {
    expected[name].forEach((row, i) => {
      // Every tenth of the bins; printed with ten digits, computed there in float32.
      row.forEach((value, k) => {
        expect(Math.abs(survival[i * T + Math.ceil(((k + 1) * T) / 10) - 1] - value)).toBeLessThan(1e-5);
      });
    });
  };

  test.each(["graduate.model", "cox.model", "ensemble.model"])("%s predicts what it did", async (name) => {
    const { survival, T } = await curvesOf(name);
    expectCurves(name, survival, T);
  });

  test.each<[string, readonly (readonly [string, string, number])[]]>([
    [
      "graduate.model",
      [
        ["all", "met", 0.6613],
        ["grade = 2", "unmet", 1.1864],
        ["hormon = 0", "met", 0.4715],
        ["meno = 1", "met", 0.7944],
      ],
    ],
    ["ensemble.model", [["all", "met", 0.6217]]],
    ["cox.model", []],
  ])("%s says by a status what was met, on the training rows alone", (name, verdicts) => {
    const { training } = modelFromBytes(bytesOf(name), name);
    expect(training.solve).toBeUndefined();
    expect(
      training.verdict.map(({ group, status, distance }) => [
        group,
        status,
        Number(distance.solve.toFixed(4)),
        distance.fresh,
      ]),
    ).toEqual(verdicts.map((verdict) => [...verdict, null]));
  });

  test.each(["hazards.boost.json", "mcboost.boost.json"])("%s repairs what it did", async (name) => {
    const { boost, warnings } = boostFromJson(readFileSync(fixture(name), "utf8"), name);
    expect(warnings).toHaveLength(1);
    if (boost.kind === "cause hazards") throw new Error("a repair of several causes");
    const { resolveGroups } = await import("../../src/data/groups/groups.ts");
    const named = boost.groups.map((group) => ({ name: group.name, expression: group.expression ?? "all" }));
    const groups = resolveGroups(named, await readRows(), { unknownLevels: "allow" });
    const { survival, T } = applyBoost(boost, await curvesOf("graduate.model"), { groups });
    expectCurves(name, survival, T);
  });

  test("graduate.checkpoint is read, and is the same bytes again but for the version", () => {
    const bytes = bytesOf("graduate.checkpoint");
    const saved = checkpointFromBytes(bytes, "c");
    expect(saved.checkpoint.step).toBe(2);
    expect(checkpointToBytes(saved)).toEqual(asVersion(bytes, FILE_VERSION));
  });
});
