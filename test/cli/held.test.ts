// A run ends held to its groups: every group that the model may know, and everyone, is met, on every distance, alone and
// as an ensemble; what is said of it is as published; and what the model may not see does not enter a prediction.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createRandom, shuffle } from "../../src/core/random.ts";
import { modelFromBytes } from "../../src/files/model/model-file.ts";
import type { GroupVerdict } from "../../src/training/solve/verdict.ts";
import { checkJson } from "../json-schemas.ts";
import { runCli, runJson, writeScratch } from "./run-cli.ts";

const table = "datasets/nwtco/nwtco.csv";
const outcome = ["--time", "edrel", "--event", "rel"];
const quick = ["--network", "linear", "--steps", "20", "--draws", "0"];
/** For what holds on any time grid: the solve takes as long as there are bins. */
const few = ["--bins", "12"];
const scratch = (name: string) => writeScratch(name, "");

interface Residuals {
  readonly stationarity: number;
  readonly violation: number;
  readonly complementarity: number;
}

interface TrainDocument {
  readonly verdict: readonly GroupVerdict[];
  readonly solvedOn: string | null;
  readonly solve: {
    readonly residuals: Residuals;
    readonly blind: readonly { readonly group: string; readonly auc: number }[];
    readonly targets?: readonly { readonly group: string; readonly model: readonly number[] }[];
  } | null;
}

/** The document, which is as its schema promises. */
function train(args: readonly string[]): TrainDocument {
  const document = runJson<TrainDocument>(["train", table, ...outcome, ...quick, ...args]);
  expect(checkJson("train", document)).toEqual([]);
  return document;
}

const statusOf = ({ verdict }: TrainDocument, isTold = true) =>
  new Set(
    verdict.flatMap(({ told, status }) => (told === isTold && status !== "unsupported" ? [status] : [])),
  );

describe("a run with the groups of nwtco", () => {
  test("meets every one of them, and its conditions of optimality to 1e-6", () => {
    const document = train(["--groups", "datasets/nwtco/groups.json"]);
    expect(document.solvedOn).toBe("training and validation rows");
    expect(document.verdict).toHaveLength(12);
    expect(document.verdict[0]).toMatchObject({ group: "all", n: 2416 + 806, told: true });
    for (const { told, status, distance, slack, fresh, price } of document.verdict) {
      expect([told, status]).toEqual([true, "met"]);
      expect(distance.solve).toBeLessThanOrEqual(slack * (1 + 1e-6));
      expect(fresh?.adjusted).toBeGreaterThanOrEqual(fresh?.p ?? 2);
      expect(price).toBeGreaterThanOrEqual(0);
    }
    for (const left of Object.values(document.solve?.residuals ?? { none: 1 })) {
      expect(left).toBeLessThanOrEqual(1e-6);
    }
  });

  test.each(["l2", "variance"])("meets them by --distance %s too", (distance) => {
    const document = train(["--groups", "datasets/nwtco/groups.json", "--distance", distance, ...few]);
    expect(document.verdict).toHaveLength(12);
    expect(statusOf(document)).toEqual(new Set(["met"]));
    expect(document.solve?.residuals.violation).toBeLessThanOrEqual(1e-6);
  });

  test.each(["mlp", "anchored"])("meets them as the mean of two runs of %s, and exports that", (network) => {
    const model = scratch(`two-${network}.model`);
    const members = [
      "--ensemble",
      "2",
      "--network",
      network,
      "--hidden",
      "3",
      "--steps",
      "5",
      "--out",
      model,
    ];
    const document = train(["--groups", "datasets/nwtco/groups.json", ...members, ...few]);
    expect(statusOf(document)).toEqual(new Set(["met"]));
    const { predictor, training } = modelFromBytes(readFileSync(model), model);
    expect(predictor).toMatchObject({
      network: { kind: "held", base: { kind: "mean", members: [{ kind: network }, { kind: network }] } },
    });
    expect(training.solve?.solvedOn).toBe("training and validation rows");
    expect(runCli(["export", model, "--onnx", scratch(`two-${network}.onnx`), "--raw"]).code).toBe(0);
  });

  test("without the solve, as the paper has it, says what was met and what was not", () => {
    const paper = ["--preset", "paper", "--steps", "5", ...few];
    const document = train(["--groups", "datasets/nwtco/groups.json", ...paper]);
    expect([document.solvedOn, document.solve]).toEqual([null, null]);
    for (const { told, status, distance, slack, fresh } of document.verdict) {
      expect([told, fresh]).toEqual([true, null]);
      expect(status).toBe(distance.solve <= slack ? "met" : "unmet");
    }
  });
});

/** nwtco with the values of a column in another order, or without it. */
function changeColumn(column: string, name: string, change: "permute" | "remove"): string {
  const [head, ...rows] = readFileSync(table, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));
  const at = head.findIndex((one) => one.replaceAll('"', "") === column);
  const order = Int32Array.from(rows.keys());
  shuffle(order, createRandom(1, 1));
  const changed = rows.map((cells, k) =>
    change === "remove" ? cells.toSpliced(at, 1) : cells.with(at, rows[order[k]][at]),
  );
  const lines = [change === "remove" ? head.toSpliced(at, 1) : head, ...changed];
  return writeScratch(name, `${lines.map((cells) => cells.join(",")).join("\n")}\n`);
}

describe("a protected column", () => {
  const groups = ["--group", "histol = 2", "--group", "stage = 4", "--protected", "histol"];
  const model = scratch("protected.model");
  let whole: TrainDocument | null = null;
  /** Bins enough that the group is met. */
  const enough = ["--bins", "60"];
  /** Held by the default distance; trained once for the tests that ask for it. */
  const trainWhole = () => {
    whole ??= train([...groups, "--distance", "atRisk", ...enough, "--out", model]);
    return whole;
  };

  test.each(["atRisk", "l2"])(
    "is held by %s, and nobody whom the model may know pays with the constraint",
    (distance) => {
      const asked = [...groups, "--distance", distance, ...(distance === "l2" ? few : enough)];
      const document = distance === "l2" ? train(asked) : trainWhole();
      expect(document.verdict.map(({ group, told }) => [group, told])).toEqual([
        ["all", true],
        ["histol = 2", false],
        ["stage = 4", true],
      ]);
      expect(statusOf(document)).toEqual(new Set(["met"]));
      const [blind] = document.solve?.blind ?? [];
      expect(blind.group).toBe("histol = 2");
      // The institution's own reading of the histology is a feature, and gives most of it away.
      expect(blind.auc).toBeGreaterThan(0.8);
      const free = train([...asked, "--hold", "free"]);
      const heldTo = ({ verdict }: TrainDocument) => verdict[1].distance.solve;
      expect(heldTo(document)).toBeLessThan(heldTo(free));
    },
  );

  test("does not enter predictions: the same bytes where it is permuted, and where it is absent", () => {
    trainWhole();
    expect(modelFromBytes(readFileSync(model), model).predictor).toMatchObject({
      network: { kind: "held", chances: 1 },
    });
    const predicted = (path: string) => {
      const { code, stdout } = runCli(["predict", model, path, "--risk"]);
      expect(code).toBe(0);
      return stdout;
    };
    const plain = predicted(table);
    expect(plain.split("\n")).toHaveLength(4028 + 2);
    expect(predicted(changeColumn("histol", "permuted.csv", "permute"))).toBe(plain);
    expect(predicted(changeColumn("histol", "absent.csv", "remove"))).toBe(plain);
    // A column that the model may see does.
    expect(predicted(changeColumn("stage", "other.csv", "permute"))).not.toBe(plain);
  });

  test("whose groups the features hardly tell is left alone, with the reason", () => {
    const document = train([...groups, "--drop", "instit", ...few]);
    expect(statusOf(document)).toEqual(new Set(["met"]));
    const [, unseen] = document.verdict;
    expect(unseen).toMatchObject({ status: "infeasible", told: false });
    expect(unseen.reachable).toBeGreaterThan(unseen.slack);
    expect(unseen.reason).toContain("may not see who is in it");
  });
});

test("targets are in the document as its schema has them", () => {
  const rows = ["all,1000,0.875,0.01", "all,3000,0.86,0.01"].join("\n");
  const file = writeScratch("targets.csv", `group,time,survival,se\n${rows}\n`);
  const document = train(["--group", "stage = 4", "--targets", file, ...few]);
  expect(document.solve?.targets).toMatchObject([{ group: "all" }]);
  expect(statusOf(document)).toEqual(new Set(["met"]));
});
