// However a command ends, it leaves no temporary file; the exit code is 128 and the signal's number.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { launcher, root, runCli } from "../cli/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-end-"));
const table = join(root, "datasets", "nwtco", "nwtco.csv");
const model = join(folder, "cox.model");
const outcome = ["--time", "edrel", "--event", "rel"];

const SIGNALS = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGQUIT", 131],
] as const;

const until = async (isSo: () => boolean) => {
  for (let tries = 0; tries < 300 && !isSo(); tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isSo()).toBe(true);
};

beforeAll(() => {
  expect(
    runCli([
      "train",
      table,
      ...outcome,
      "--method",
      "cox",
      "--features",
      "age",
      "--bins",
      "6",
      "--out",
      model,
    ]).code,
  ).toBe(0);
});

describe.each(SIGNALS)("%s", (signal, code) => {
  test("a Parquet table that comes by a pipe, and predictions beside their file, are gone", async () => {
    const [temporary, out] = ["temporary", "out"].map((name) => mkdtempSync(join(folder, name)));
    const args = ["predict", model, "-", "--out", join(out, "curves.csv")];
    const child = spawn(process.execPath, [launcher, ...args], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.stdin?.write(Buffer.concat([Buffer.from("PAR1"), Buffer.alloc(100_000, 1)]));
    await until(() => readdirSync(temporary).some((name) => readdirSync(join(temporary, name)).length > 0));
    const ended = once(child, "exit");
    child.kill(signal);
    expect((await ended)[0]).toBe(code);
    expect([readdirSync(temporary), readdirSync(out)]).toEqual([[], []]);
  });

  test("a sweep leaves its results, no lock and no worker", async () => {
    const results = join(folder, `${signal}.jsonl`);
    const sweep = ["--sweep", "kappa=0.5,1", "--network", "linear", "--steps", "100000", "--features", "age"];
    const args = ["tune", table, ...outcome, ...sweep, "--workers", "2", "--results", results];
    const child = spawn(process.execPath, [launcher, ...args], { stdio: "ignore" });
    await until(() => readdirSync(folder).includes(`${signal}.jsonl.lock`));
    const ended = once(child, "exit");
    child.kill(signal);
    expect((await ended)[0]).toBe(code);
    expect(readdirSync(folder).filter((name) => name.startsWith(signal))).toEqual([]);
  });
});

test("what is written beside a file is gone after each of them", async () => {
  const module = new URL("../../dist/node/io/growing-file.js", import.meta.url).href;
  for (const [signal, code] of SIGNALS.slice(1)) {
    const program = `
      const { openGrowingFile } = await import(${JSON.stringify(module)});
      const file = await openGrowingFile(${JSON.stringify(join(folder, "target"))}, "it");
      await file.write(Buffer.from("half"));
      console.log("written");
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
    await once(child.stdout, "data");
    expect(readdirSync(folder).filter((name) => name.endsWith(".part")).length).toBe(1);
    const ended = once(child, "exit");
    child.kill(signal);
    expect((await ended)[0]).toBe(code);
    expect(readdirSync(folder).filter((name) => name.startsWith("target"))).toEqual([]);
  }
  expect(readFileSync(model).length).toBeGreaterThan(100);
});
