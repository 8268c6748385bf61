// Programs that write one path at once: nothing of any is lost, and each says where its own is.
import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeUnclaimed } from "../../src/node/io/growing-file.ts";
import { markFile } from "../../src/node/io/output-path.ts";
import { launcher, root } from "../cli/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-claimed-"));
const bytes = (text: string) => Buffer.from(text);
const read = (path: string) => readFileSync(path, "utf8");

test("a path that nobody has written to since is taken, one that has changed is not", async () => {
  const path = join(folder, "run.model");
  const free = await markFile(path);
  expect(free).toBeNull();
  writeFileSync(path, "another's");
  expect(await writeUnclaimed(path, free, bytes("second"), "it")).toBe(join(folder, "run-2.model"));
  expect(await writeUnclaimed(path, free, bytes("third"), "it")).toBe(join(folder, "run-3.model"));
  const mark = await markFile(path);
  chmodSync(path, 0o640);
  expect(await writeUnclaimed(path, mark, bytes("mine"), "it")).toBe(path);
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(await writeUnclaimed(path, mark, bytes("late"), "it")).toBe(join(folder, "run-4.model"));
  expect(["run", "run-2", "run-3", "run-4"].map((name) => read(join(folder, `${name}.model`)))).toEqual([
    "mine",
    "second",
    "third",
    "late",
  ]);
  expect(readdirSync(folder).filter((name) => !/^run(-\d)?\.model$/.test(name))).toEqual([]);
});

test("a link is followed, and the other name is beside what it leads to", async () => {
  mkdirSync(join(folder, "far"));
  const path = join(folder, "link.model");
  symlinkSync("far/real.model", path);
  const far = (name: string) => join(folder, "far", name);
  expect(await writeUnclaimed(path, null, bytes("one"), "it")).toBe(path);
  expect(await writeUnclaimed(path, null, bytes("two"), "it")).toBe(far("real-2.model"));
  expect([read(far("real.model")), read(far("real-2.model"))]).toEqual(["one", "two"]);
});

/** Ten processes write a text of their own at the same moment; returns what each says of its name. */
async function writeTenTimes(path: string, mark: string | null, preload = ""): Promise<readonly string[]> {
  const module = new URL("../../dist/node/io/growing-file.js", import.meta.url).href;
  const at = Date.now() + 1500;
  const writers = Array.from({ length: 10 }, async (_, k) => {
    const program = `${preload}
      const { writeUnclaimed } = await import(${JSON.stringify(module)});
      while (Date.now() < ${at});
      const text = Buffer.from("writer ${k} ".repeat(1000));
      console.log(await writeUnclaimed(${JSON.stringify(path)}, ${JSON.stringify(mark)}, text, "it"));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
    let stdout = "";
    child.stdout.on("data", (part) => {
      stdout += part;
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    const name = stdout.trim();
    expect(read(name)).toBe(`writer ${k} `.repeat(1000));
    return name;
  });
  return Promise.all(writers);
}

const NO_LINKS = `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  fs.promises.link = async () => { throw Object.assign(new Error("no links"), { code: "EPERM" }); };
  syncBuiltinESMExports();`;

test.each([
  ["where nothing was", "new", false, ""],
  ["in the place of a file that all of them may replace", "old", true, ""],
  ["on a file system without links", "unlinked", false, NO_LINKS],
])("ten at once leave ten files, %s", async (_, name, isThere, preload) => {
  const path = join(folder, `${name}.model`);
  if (isThere) writeFileSync(path, "old");
  const names = await writeTenTimes(path, await markFile(path), preload);
  const others = Array.from({ length: 9 }, (_, k) => join(folder, `${name}-${k + 2}.model`));
  expect([...names].sort()).toEqual([path, ...others].sort());
  expect(readdirSync(folder).filter((one) => one.startsWith(name)).length).toBe(10);
});

test("ten trainings with one --out: ten models, each announced once", { timeout: 240_000 }, async () => {
  const out = join(folder, "ten.model");
  const table = join(root, "datasets", "nwtco", "nwtco.csv");
  const options =
    "--time edrel --event rel --method cox --features age --bins 6 --draws 0 --replicates 0".split(" ");
  const trained = Array.from({ length: 10 }, async (_, k) => {
    const args = ["train", table, ...options, "--seed", String(k), "--out", out];
    const child = spawn(process.execPath, [launcher, ...args], { stdio: ["ignore", "pipe", "ignore"] });
    let stdout = "";
    child.stdout.on("data", (part) => {
      stdout += part;
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    return stdout.replace(/\s+/g, " ").match(/model written to (\S+)/)?.[1] ?? "";
  });
  const names = await Promise.all(trained);
  expect(new Set(names).size).toBe(10);
  expect(names.map((name) => statSync(name).size > 1000)).toEqual(names.map(() => true));
  expect(readdirSync(folder).filter((name) => name.startsWith("ten")).length).toBe(10);
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
