// The library's shortest programs, as a user runs them: a script of its own in a folder that has the package installed.
// Their numbers are the command's.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root, runCli } from "../cli/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-library-"));
const table = join(root, "test/tables/rotterdam.csv");

/** Runs a script there; what it prints, line by line as JSON. */
function run(code: string, input = ""): unknown[] {
  const file = join(folder, "program.mjs");
  writeFileSync(file, code);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
    cwd: folder,
    encoding: "utf8",
    input,
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

const READ = `
import { readTable } from "graduate-survival";
import { readModel, tableSourceFromPath, writeModel } from "graduate-survival/node";
const read = async (path) => readTable(await tableSourceFromPath(path));
const say = (value) => console.log(JSON.stringify(value));
`;
const FIT = `{ time: "rtime", event: "recur", drop: ["dtime", "death"], ensemble: 1, options: { steps: 20 } }`;
const COMMAND = ["--time", "rtime", "--event", "recur", "--drop", "dtime,death", "--fast", "--steps", "20"];

beforeAll(() => {
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "graduate-survival"), "dir");
  symlinkSync(table, join(folder, "table.csv"));
  writeFileSync(join(folder, "packed.csv.gz"), gzipSync(readFileSync(table)));
  const [head, ...rows] = readFileSync(table, "utf8").trimEnd().split("\n");
  writeFileSync(join(folder, "turned.csv"), `${[head, ...rows.toReversed()].join("\n")}\n`);
  writeFileSync(join(folder, "part.csv"), `${[head, ...rows.slice(0, 500)].join("\n")}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Audited {
  readonly overall: { readonly n: number; readonly ece: number };
  readonly rows: { readonly which: string; readonly judged: number };
  readonly warnings: readonly string[];
}

const commandAudit = (file: string) => {
  const args = ["audit", "trained.model", file, "--json", "--draws", "20"];
  const { stdout, stderr, code } = runCli(args, "", folder);
  expect([code, stderr.includes("error")]).toEqual([0, false]);
  return JSON.parse(stdout) as Audited & Record<string, unknown>;
};

describe("fit and audit", () => {
  test("in one process, on one table: the rows that the model has not learnt from", () => {
    const [first, second, opened] = run(`${READ}
import { fit, modelFromBytes, openStudy } from "graduate-survival";
const table = await read("table.csv");
const model = await fit(table, ${FIT});
say(await model.audit(table, { draws: 20 }));
say(await modelFromBytes(model.toBytes(), "m").audit(table, { draws: 20 }));
const study = await openStudy(model, table);
say([study.acquaintance, study.split.train.length, study.split.test.length]);
await writeModel("trained.model", model);`) as [Audited, Audited, unknown];
    expect(first).toMatchObject({
      overall: { n: 597 },
      rows: { which: "test rows", judged: 597 },
      relation: "heldOut",
      warnings: ["the model was trained on this table: only its 597 test rows are judged"],
    });
    expect(second).toEqual(first);
    expect(opened).toEqual(["stored", 2385, 597]);
    const { tolerance: _, certificates: __, ...told } = commandAudit("table.csv");
    const { relation: ___, ...audited } = first as Audited & { relation: string };
    expect(told).toEqual(audited);
  });

  test("of a model file, on the table packed, turned over, and in part", () => {
    const audits = run(`${READ}
const model = await readModel("trained.model");
for (const name of ["table.csv", "packed.csv.gz", "turned.csv", "part.csv"])
  say(await model.audit(await read(name), { draws: 20 }));`) as Audited[];
    expect(audits.map(({ overall, rows }) => [overall.n, rows.judged])).toEqual([
      [597, 597],
      [597, 597],
      [597, 597],
      [500, 500],
    ]);
    expect(audits[1]).toEqual(audits[0]);
    expect(audits[2].overall.ece).toBeCloseTo(audits[0].overall.ece, 12);
    expect(audits[3].warnings[0]).toBe("no row had the event: all 500 rows are censored");
    expect(audits[3].warnings[1]).toMatch(
      /^the model has learnt from about (?:3[6-9]|4[0-3])\d of these 500 rows/,
    );
    for (const [k, name] of ["table.csv", "packed.csv.gz", "turned.csv", "part.csv"].entries()) {
      expect(commandAudit(name)).toMatchObject({ overall: audits[k].overall, warnings: audits[k].warnings });
    }
  });

  test("of a model that the command made: its numbers", () => {
    const made = runCli(["train", "table.csv", ...COMMAND, "--out", "trained.model"], "", folder);
    expect(made.code, made.stderr).toBe(0);
    const [audited] = run(`${READ}
const model = await readModel("trained.model");
say(await model.audit(await read("table.csv"), { draws: 20 }));`) as Audited[];
    expect(audited.overall.n).toBe(597);
    const told = commandAudit("table.csv");
    expect(audited.overall).toEqual(told.overall);
    expect(audited.rows).toEqual(told.rows);
  });

  test("a model that learnt from every row has none to judge; all rows are judged where that is asked for", () => {
    const [refused, all] = run(`${READ}
import { fit } from "graduate-survival";
const table = await read("table.csv");
const model = await fit(table, { ...${FIT}, method: "cox", fractions: [1, 0, 0] });
say(await model.audit(table).catch(({ name, code, message, hint }) => ({ name, code, message, hint })));
const { overall, warnings, relation } = await model.audit(table, { allRows: true, draws: 0 });
say({ n: overall.n, bound: overall.bound, warnings, relation });
await writeModel("whole.model", model);`) as [Record<string, string>, unknown];
    expect(refused).toMatchObject({
      name: "InputError",
      code: "rows.spent",
      message: "the model was trained on every row of this table, and none is left to judge it by",
    });
    expect(refused.hint).toContain("allRows");
    expect(all).toMatchObject({
      n: 2982,
      bound: null,
      relation: "seen",
      warnings: [expect.stringContaining("of the rows it has seen, what it learnt by heart will look right")],
    });
    const command = runCli(["audit", "whole.model", "table.csv"], "", folder);
    expect([command.code, command.stdout]).toEqual([1, ""]);
    expect(command.stderr.replaceAll(/\s+/g, " ")).toContain("none is left to judge it by");
    expect(runCli(["audit", "whole.model", "table.csv", "--all-rows", "--draws", "0"], "", folder).code).toBe(
      0,
    );
  });
});

describe("what a model does, without a backend", () => {
  test("it predicts, explains, sums up, searches and reports; so do the functions", () => {
    const [median, functions, people, explained, summed, found, page] = run(`${READ}
import * as graduate from "graduate-survival";
const table = await read("table.csv");
const model = await graduate.fit(table, ${FIT});
const rows = [0, 1];
const { median, curves } = await model.predict(table, { rows });
say([...median]);
const given = graduate.createReferenceBackend();
say([
  ...(await graduate.predict(model, table, null, rows)).median,
  ...(await graduate.predict(model, table, undefined, rows)).median,
  ...(await graduate.predict(model, table, given, rows)).median,
]);
const { risk } = await model.predictPeople(table, { at: [1826] }, { rows });
const same = await graduate.predictPeople(model, table, null, { at: [1826] }, rows);
say([...risk, ...same.risk]);
const one = await model.explain(table, 0, { at: [1826], budget: 2000 });
const other = await graduate.explainPerson(model, table, null, 0, { at: [1826], budget: 2000 });
say([one.background, one.times[0].risk.prediction, other.times[0].risk.prediction]);
say([(await model.summary()).effects.length, (await graduate.summariseModel(model)).effects.length]);
const search = { minRows: 100, minEvents: 5, top: 1, maxCross: 1 };
const { which, found } = await model.discover(table, search);
const study = await graduate.openStudy(model, table);
say([which, found.rows, (await graduate.discoverModel(study, null, search)).found.rows]);
const html = await model.report(table, { timeUnit: "days", draws: 20, replicates: 10 });
say([html.slice(0, 15), /the 597 test rows|597/.test(html), html.includes("model.report(table)")]);
`) as [number[], number[], number[], [unknown, number, number], number[], unknown[], unknown[]];
    expect(functions.slice(0, 4)).toEqual([...median, ...median]);
    expect(functions[4]).toBeCloseTo(median[0], 0);
    expect(people.slice(0, 2)).toEqual(people.slice(2));
    expect(explained[0]).toEqual({ rows: 64, which: "training rows" });
    expect(explained[1]).toBe(explained[2]);
    expect(explained[1]).toBeCloseTo(people[0], 6);
    expect(summed).toEqual([3, 3]);
    expect(found[0]).toEqual({ search: "test rows", confirm: "test rows" });
    expect(found[1]).toEqual(found[2]);
    expect(page).toEqual(["<!doctype html>", true, true]);
  });

  test("its threads end: the process does", () => {
    // run() waits for the process; a thread that was left open would keep it.
    const [ended] = run(`${READ}
const model = await readModel("trained.model");
await Promise.all([model.predict(await read("table.csv")), model.audit(await read("table.csv"), { draws: 0 })]);
say("ended");`);
    expect(ended).toBe("ended");
  });

  test("a model of several causes is audited by cause, and says so where it is not", () => {
    const [names, refused, page] = run(`${READ}
import { fit } from "graduate-survival";
const table = await read(${JSON.stringify(join(root, "test/tables/mgus2.csv"))});
const model = await fit(table, {
  time: "months", event: "event", causes: ["pcm", "death"], censored: "censored",
  features: ["age", "sex", "hgb"], ensemble: 1, options: { steps: 5 }, bins: 20,
});
const { causes, rows, relation } = await model.auditCauses(table, { draws: 10 });
say([causes.map(({ name, overall }) => [name, overall.n]), rows, relation]);
say(await model.audit(table).catch(({ code, hint }) => [code, hint]));
say((await model.report(table, { draws: 10 })).includes("pcm"));
`) as [unknown, unknown, unknown];
    expect(names).toMatchObject([
      [["pcm"], ["death"]].map(([name]) => [name, expect.any(Number)]),
      { which: "test rows" },
      "heldOut",
    ]);
    expect(refused).toEqual(["model.causes", expect.stringContaining("auditCauses")]);
    expect(page).toBe(true);
  });
});

describe("other programs' curves", () => {
  test("from a table of them in one call, and from lists: the command's numbers", () => {
    symlinkSync(join(root, "test/recipes/coxph.csv.gz"), join(folder, "coxph.csv"));
    const request = `{ time: "edrel", event: "rel", by: ["histol", "stage", "study"], draws: 100 }`;
    const [fromTable, fromLists, page, refused] = run(`${READ}
import { auditCurves, reportCurves } from "graduate-survival";
const table = await read("coxph.csv");
const audited = await auditCurves(table, ${request});
say(audited);
const named = (column) => /^S\\((.*)\\)$/.exec(column.name)?.[1];
const curves = table.columns.filter(named);
const people = { ...table, columns: table.columns.filter((column) => !named(column)) };
const times = curves.map((column) => Number(named(column)));
const survival = Array.from({ length: table.rows }, (_, row) => curves.map(({ values }) => values[row]));
say(await auditCurves(people, { ...${request}, curves: { times, survival } }));
const html = await reportCurves(table, { ...${request}, timeUnit: "days", replicates: 10 });
say([html.slice(0, 15), html.includes("histol=2")]);
say(await auditCurves(people, { ...${request}, curves: { times, survival: survival.slice(1) } })
  .catch(({ code, message }) => [code, message]));
`) as [Audited, Audited, unknown, unknown];
    const args = [
      "audit",
      "--curves",
      "coxph.csv",
      "--time",
      "edrel",
      "--event",
      "rel",
      "--draws",
      "100",
      "--json",
    ];
    const { stdout } = runCli([...args, "--by", "histol,stage,study"], "", folder);
    expect(JSON.parse(stdout)).toMatchObject(fromTable as object);
    expect(fromLists).toEqual(fromTable);
    expect(page).toEqual(["<!doctype html>", true]);
    expect(refused).toEqual(["rows.mismatch", "the curves do not fit: 1338 curves for 1339 rows"]);
  });

  test("Kaplan-Meier curves are drawn in one call: the command's picture", () => {
    const [svg] = run(`${READ}
import { kmDocument, plotKm } from "graduate-survival";
const km = kmDocument(await read("table.csv"), { time: "rtime", event: "recur", by: ["size"], timeUnit: "days" });
say(await plotKm(km));`) as [string];
    const args = ["km", "table.csv", "--time", "rtime", "--event", "recur", "--by", "size"];
    expect(runCli([...args, "--time-unit", "days", "--svg", "km.svg"], "", folder).code).toBe(0);
    expect(`${svg}\n`).toBe(readFileSync(join(folder, "km.svg"), "utf8"));
  });
});
