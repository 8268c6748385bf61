// `graduate discover` as a command: models that were not told of the histology are found out by it.

import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { parseNamedGroup } from "../../src/data/groups/groups.ts";
import { type Split, splitByOrder } from "../../src/data/outcomes/split.ts";
import { readModel, writeModel } from "../../src/node/io/model-file.ts";
import { describeOrigin } from "../../src/node/io/provenance.ts";
import { openTableFile, readTableFile } from "../../src/node/options/table-options.ts";
import type { Model } from "../../src/training/model.ts";
import { auditModel } from "../../src/verbs/audit-model.ts";
import { studyOf } from "../../src/verbs/model-study.ts";
import { predict } from "../../src/verbs/predict.ts";
import { prepare, train } from "../../src/verbs/train.ts";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const table = "datasets/nwtco/nwtco.csv";
const drawn = writeScratch("drawn.model", "");
const listed = writeScratch("listed.model", "");
const N = 4028;

interface DiscoverDocument {
  readonly rows: { readonly search: number; readonly confirm: number };
  readonly which: { readonly search: string; readonly confirm: string };
  readonly columns: readonly string[];
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
  readonly warnings: readonly string[];
  readonly groups: readonly {
    readonly expression: string;
    readonly confirmed: boolean;
    readonly confirm: { readonly ratio: number };
  }[];
}

const everySecond: Split = {
  train: Int32Array.from({ length: N / 2 }, (_, k) => 2 * k),
  validation: new Int32Array(),
  test: Int32Array.from({ length: N / 2 }, (_, k) => 2 * k + 1),
};

/** A Cox model with what `graduate train --out` keeps beside it. */
async function fitWithoutHistology(path: string, split: Split): Promise<Model> {
  const request = { time: "edrel", event: "rel", method: "cox", drop: ["histol", "instit"], split } as const;
  const file = await openTableFile(`${root}${table}`, {});
  const study = prepare(file.table, request, file.sha256);
  const run = train(study, request, createReferenceBackend());
  let next = await run.next();
  while (!next.done) next = await run.next();
  const model = next.value;
  const { audit: metrics } = await auditModel(studyOf(model, study, split), split.test, null, { draws: 0 });
  await writeModel(path, { ...model, provenance: describeOrigin(file, null), metrics });
  return model;
}

let model: Model;
beforeAll(async () => {
  model = await fitWithoutHistology(drawn, splitByOrder(N, { seed: 1, fractions: [0.4, 0.1, 0.5] }));
  await fitWithoutHistology(listed, everySecond);
});

describe("graduate discover", () => {
  test("on the table of the training: rows a Cox model has not seen confirm, and name the column that was left out", () => {
    const found = runJson<DiscoverDocument>(["discover", drawn, table, "--columns", "all"]);
    expect(found.rows).toEqual({ search: 1611, confirm: 2417 });
    expect(found.which).toEqual({ search: "training rows", confirm: "validation and test rows" });
    expect(found.warnings).toEqual([
      "the model was trained on this table: its 1611 training rows are searched, and its 2417 validation and test rows, which it has not seen, confirm",
    ]);
    expect(found.leftOut).toEqual([{ name: "seqno", reason: "identifies rows" }]);
    expect(found.groups[0]).toMatchObject({ expression: "histol = 2", confirmed: true });
    expect(found.groups[0].confirm.ratio).toBeGreaterThan(2);
  });

  test("without being told, the model's own columns alone: what was dropped is named and not searched", () => {
    const found = runJson<DiscoverDocument>(["discover", drawn, table, "--top", "2"]);
    expect(found.columns).toEqual(["stage", "study", "age", "in.subcohort"]);
    const foreign = "is not one of the model's columns";
    expect(found.leftOut).toEqual([
      { name: "seqno", reason: foreign },
      { name: "instit", reason: foreign },
      { name: "histol", reason: foreign },
    ]);
    const { stdout } = runCli(["discover", drawn, table, "--top", "2"]);
    expect(stdout).toContain("searched: stage, study, age, in.subcohort\n");
    expect(stdout).toContain(
      "not searched: seqno, instit, histol (not the model's; --columns all searches them too)",
    );
    expect(stdout).not.toMatch(/--group .*(histol|instit)/);
    const named = ["--columns", "histol,stage", "--drop", "stage"];
    expect(runJson<DiscoverDocument>(["discover", drawn, table, "--cross", "1", ...named]).columns).toEqual([
      "histol",
    ]);
  });

  test("the text fits 100 columns and ends with options to paste", () => {
    const { code, stdout, stderr } = runCli(["discover", drawn, table, "--columns", "all"]);
    expect(code).toBe(0);
    for (const line of stdout.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(100);
    expect(stdout).toMatch(/^\d+ groups of 6 columns searched on 1611 training rows/);
    expect(stdout).toContain("too few events predicted");
    expect(stderr).toContain("1611 training rows are searched");
    const groups = [...stdout.matchAll(/--group "(.*)"/g)].map((match) => match[1]);
    expect(groups).toContain("histol = 2");
    for (const group of groups) expect(parseNamedGroup(group)).toEqual({ name: group, expression: group });
  });

  test("a split that the model keeps is looked up, whoever drew it", () => {
    const found = runJson<DiscoverDocument>(["discover", listed, table, "--top", "1", "--cross", "1"]);
    expect(found.rows).toEqual({ search: N / 2, confirm: N / 2 });
    expect(found.warnings[0]).toContain("its 2014 test rows, which it has not seen, confirm");
  });

  test("of a file that keeps none, one that cannot be drawn again is said, and can be given", async () => {
    const quick = ["--top", "1", "--cross", "1"];
    const { split: _, ...old } = await readModel(listed);
    await writeModel(listed, old);
    const blind = runJson<DiscoverDocument>(["discover", listed, table, ...quick]);
    expect(blind.warnings[0]).toContain("nothing says which rows it has not seen");
    expect(blind.rows.search + blind.rows.confirm).toBe(N);
    const sets = Array.from({ length: N }, (_, row) => `${row + 1},${row % 2 === 0 ? "train" : "test"}`);
    const split = writeScratch("every-second.csv", `row,set\n${sets.join("\n")}\n`);
    const told = runJson<DiscoverDocument>(["discover", listed, table, ...quick, "--split", split]);
    expect(told.warnings).toEqual([]);
    expect(told.rows).toEqual({ search: N / 2, confirm: N / 2 });
    expect(told.which).toEqual({ search: "training rows", confirm: "test rows" });
  });

  test("curves of any program, with the table beside them", async () => {
    const { curves } = await predict(model, await readTableFile(`${root}${table}`, {}), null);
    const { T, survival } = curves;
    const lines = Array.from({ length: N }, (_, i) => survival.subarray(i * T, (i + 1) * T).join(","));
    const header = Array.from({ length: T }, (_, t) => `S${t + 1}`).join(",");
    const path = writeScratch("curves.csv", `${header}\n${lines.join("\n")}\n`);
    const horizon = String(model.grid.edges[T]);
    const outcome = ["--time", "edrel", "--event", "rel", "--horizon", horizon];
    const found = runJson<DiscoverDocument>(["discover", "--curves", path, table, ...outcome]);
    expect(found.rows.search + found.rows.confirm).toBe(N);
    expect(found.columns).toEqual(["instit", "histol", "stage", "study", "age", "in.subcohort"]);
    expect(found.groups[0]).toMatchObject({ expression: "histol = 2", confirmed: true });
  });

  test("curves alone: the columns of their file", () => {
    const path = "test/oracles/pred/nwtco_stride500_miscal.csv.gz";
    const found = runJson<DiscoverDocument>(["discover", "--curves", path, "--top", "3"]);
    expect(found.columns).toEqual(["histol", "stage", "study", "age_group"]);
    expect(found.groups.some(({ confirmed }) => confirmed)).toBe(true);
  });

  test.each([
    ["nothing to look at", ["discover"], "no predictions"],
    [
      "curves of other rows",
      ["discover", "--curves", "test/oracles/pred/nwtco_stride500_cox.csv.gz", table],
      "500 rows",
    ],
  ])("%s is refused in a sentence", (_, args, says) => {
    const { code, stdout, stderr } = runCli(args);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/^\s+at .*\.(js|ts):\d+/m);
  });
});
