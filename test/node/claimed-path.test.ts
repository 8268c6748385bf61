// Two programs that write one path: nothing of either is lost.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findUnclaimed, markFile } from "../../src/node/io/output-path.ts";
import { launcher, root } from "../cli/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-claimed-"));

test("a path that nobody has written to since is taken, one that has changed is not", async () => {
  const path = join(folder, "run.model");
  const free = await markFile(path);
  expect(free).toBeNull();
  expect(await findUnclaimed(path, free)).toBe(path);
  writeFileSync(path, "another's");
  expect(await findUnclaimed(path, free)).toBe(join(folder, "run-2.model"));
  writeFileSync(join(folder, "run-2.model"), "a third's");
  expect(await findUnclaimed(path, free)).toBe(join(folder, "run-3.model"));
  expect(await findUnclaimed(path, await markFile(path))).toBe(path);
});

test("train leaves a model alone that another program has written while it ran", async () => {
  const out = join(folder, "mine.model");
  const table = join(root, "datasets", "nwtco", "nwtco.csv");
  const options = [
    "--time",
    "edrel",
    "--event",
    "rel",
    "--network",
    "linear",
    "--bins",
    "12",
    "--steps",
    "100",
    "--out",
    out,
  ];
  const child = spawn(process.execPath, [launcher, "train", table, ...options]);
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (!stderr.includes("step")) writeFileSync(out, "another's");
    stderr += chunk;
  });
  const code = await new Promise((done) => child.once("close", done));
  expect(code).toBe(0);
  expect(stderr).toContain("was written by another program meanwhile");
  expect(readFileSync(out, "utf8")).toBe("another's");
  expect(readFileSync(join(folder, "mine-2.model")).length).toBeGreaterThan(1000);
});
