// Commands on a folder or a pattern of files, against the same rows in one file.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const text = readFileSync(join(root, "test/tables/gbsg.csv"), "utf8");
const whole = writeScratch("gbsg.csv", text);
const cwd = join(whole, "..");
const outcome = ["--time", "rfstime", "--event", "status"];
const training = [...outcome, "--drop", "pid", "--group", "grade = 3", "--network", "linear", "--bins", "12"];
const fixed = ["--fast", "--steps", "20", "--deterministic", "--threads", "1", "--draws", "0"];

beforeAll(() => {
  const [header, ...rows] = text.trimEnd().split("\n");
  const part = (from: number, end?: number) => `${[header, ...rows.slice(from, end)].join("\n")}\n`;
  mkdirSync(join(cwd, "people"), { recursive: true });
  const write = (name: string, bytes: string | Uint8Array) => writeFileSync(join(cwd, "people", name), bytes);
  write("part-1.csv", part(0, 1));
  write("part-2.csv", part(1, 300));
  write("part-3.csv", part(300, 300));
  write("part-10.csv.gz", gzipSync(part(300)));
  write("_SUCCESS", "");
  write(".part-1.csv.crc", "crc");
  write("README.md", "not a table");
});

const run = (args: readonly string[]) => {
  const result = runCli(args, "", cwd);
  expect([result.code, result.code === 0 ? "" : result.stderr]).toEqual([0, ""]);
  return result.stdout;
};

test("the model of a folder is that of the one file, but for the table's name and hash", () => {
  run(["train", "people/", ...training, ...fixed, "--out", "folder.model"]);
  run(["train", "gbsg.csv", ...training, ...fixed, "--out", "whole.model"]);
  const [folder, one] = ["folder.model", "whole.model"].map((name) =>
    modelFromBytes(readFileSync(join(cwd, name)), name),
  );
  expect(folder.provenance?.table).toMatchObject({ name: "people/", rows: 686 });
  expect(folder.split?.sha256).toBe(folder.provenance?.table?.sha256);
  const { provenance, split } = one;
  const renamed = { ...folder, ...(provenance && { provenance }), ...(split && { split }) };
  expect(folder.split?.sets).toBe(split?.sets);
  expect(Buffer.compare(modelToBytes(renamed), readFileSync(join(cwd, "whole.model")))).toBe(0);
});

test("audit knows its own table, as a folder and as a pattern", () => {
  for (const table of ["people", "people/*.csv*"]) {
    const { stderr, code } = runCli(["audit", "folder.model", table, "--draws", "0"], "", cwd);
    expect([code, stderr]).toEqual([0, expect.stringContaining("only its 138 test rows are judged")]);
  }
  expect(
    runCli(["audit", "folder.model", "people/part-2.csv", "--draws", "0"], "", cwd).stderr,
  ).not.toContain("test rows are judged");
});

test("predict goes through the files part by part to the same curves", () => {
  const curves = run(["predict", "whole.model", "gbsg.csv", "--threads", "1"]);
  expect(run(["predict", "whole.model", "people", "--threads", "1"])).toBe(curves);
  expect(run(["predict", "whole.model", "people/**/*.csv*", "--threads", "1"])).toBe(curves);
});

test("the other commands: describe, km, cox, and files named after the folder", () => {
  const rows = (table: string) => runJson<{ rows: number }>(["describe", join(cwd, table), ...outcome]).rows;
  expect([rows("people"), rows("people/part-*"), rows("people/part-?.csv")]).toEqual([686, 686, 300]);
  expect(run(["km", "people", ...outcome])).toBe(run(["km", "gbsg.csv", ...outcome]));
  expect(run(["cox", "people", ...outcome, "--features", "age"])).toBe(
    run(["cox", "gbsg.csv", ...outcome, "--features", "age"]),
  );
});

test("outputs neither replace a file that is read nor come to lie among them", () => {
  const into = (out: string) => runCli(["predict", "whole.model", "people", "--out", out], "", cwd);
  expect(into("people/part-2.csv").stderr).toContain("would write over a file that it reads");
  expect(into("people/curves.csv").stderr).toContain("a table into the folder that it reads");
});
