// An ensemble made in parts by several programs: the same bytes as one program's, whatever is stopped and begun again;
// parts of other runs are refused by name.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { checkpointFromBytes } from "../../src/files/model/checkpoint-file.ts";
import { partFromBytes, partToBytes } from "../../src/files/model/part-file.ts";
import { launcher, root, runCli, writeScratch } from "./run-cli.ts";

const cwd = join(writeScratch("gbsg.csv", readFileSync(join(root, "test/tables/gbsg.csv"))), "..");
const request = [
  ...["train", "gbsg.csv", "--time", "rfstime", "--event", "status", "--drop", "pid", "--group", "grade = 3"],
  ...["--network", "linear", "--bins", "8", "--threads", "1", "--draws", "0", "--deterministic"],
];
const asked = [...request, "--steps", "12", "--ensemble", "3"];
const bytesOf = (name: string) => readFileSync(join(cwd, name));
const run = (args: readonly string[]) => runCli(args, "", cwd);

function refusal(args: readonly string[]): string {
  const { code, stdout, stderr } = run(args);
  expect([code, stdout]).toEqual([1, ""]);
  return stderr.replace(/\s+/g, " ");
}

let whole: Buffer;
beforeAll(() => {
  expect(run([...asked, "--out", "whole.model"]).code).toBe(0);
  whole = bytesOf("whole.model");
  for (const shard of ["1/2", "2/2"]) {
    const { code, stdout } = run([...asked, "--out", "m.model", "--shard", shard]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("the same command without --shard")]);
  }
}, 60_000);

test("parts hold their runs, and are read back to the same bytes", () => {
  const parts = ["m.model.1-of-2", "m.model.2-of-2"].map((name) => partFromBytes(bytesOf(name), name));
  const places = parts.map(({ members }) => members.map(({ place }) => place));
  expect(places.flat().sort()).toEqual([0, 1, 2]);
  expect(parts.filter(({ last }) => last !== null)).toHaveLength(1);
  for (const [k, part] of parts.entries())
    expect(Buffer.compare(partToBytes(part), bytesOf(`m.model.${k + 1}-of-2`))).toBe(0);
  expect(() => partFromBytes(bytesOf("whole.model"), "whole.model")).toThrow("a model, not a part");
});

test("the command without --shard makes the model of them, with the bytes of one program's", () => {
  const { code, stderr } = run([...asked, "--out", "m.model"]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("3 runs from 2 parts beside m.model")]);
  expect(stderr).not.toContain("run 1 of 3: step");
  expect(bytesOf("m.model").equals(whole)).toBe(true);
});

test("a part that is there is not made again; more parts than runs are no harm", () => {
  expect(run([...asked, "--out", "m.model", "--shard", "1/2"]).stderr).toContain("nothing is trained");
  for (const shard of ["1/4", "2/4", "3/4", "4/4"])
    expect(run([...asked, "--out", "four.model", "--shard", shard]).code).toBe(0);
  expect(run([...asked, "--out", "four.model"]).code).toBe(0);
  expect(bytesOf("four.model").equals(whole)).toBe(true);
});

test("parts of another request, table, version or division are refused by name, and so is what is missing", () => {
  const other = (args: readonly string[]) => refusal([...args, "--out", "m.model"]);
  expect(other([...asked, "--seed", "2"])).toContain("m.model.1-of-2 belongs to another run");
  expect(other([...request, "--steps", "13", "--ensemble", "3"])).toContain("belongs to another run");
  expect(other(asked.filter((arg) => arg !== "--deterministic"))).toContain("made with --deterministic");
  const table = writeScratch("other.csv", `${bytesOf("gbsg.csv").toString().trimEnd()}\n\n`);
  expect(other(asked.map((arg) => (arg === "gbsg.csv" ? table : arg)))).toContain("or another table");
  const older = { ...partFromBytes(bytesOf("m.model.1-of-2"), ""), version: "0.0.1" };
  copyFileSync(join(cwd, "m.model.2-of-2"), join(cwd, "old.model.2-of-2"));
  writeScratch("old.model.1-of-2", partToBytes(older));
  expect(refusal([...asked, "--out", "old.model"])).toContain("old.model.1-of-2 was made by version 0.0.1");
  rmSync(join(cwd, "old.model.1-of-2"));
  const missing = refusal([...asked, "--out", "old.model"]);
  expect(missing).toContain("a part is missing: old.model.1-of-2");
  expect(missing).toContain("--out old.model --shard 1/2");
  copyFileSync(join(cwd, "m.model.1-of-2"), join(cwd, "old.model.1-of-3"));
  expect(refusal([...asked, "--out", "old.model"])).toContain("parts of two divisions");
});

test("what a shard cannot do is said before it begins", () => {
  const shard = [...asked, "--shard", "1/2"];
  expect(refusal(shard)).toContain("--shard needs --out");
  expect(refusal([...shard, "--out", "x.model", "--report", "x.html"])).toContain("--report needs them all");
  expect(refusal([...shard, "--out", "x.model", "--resume", "x.ckpt"])).toContain("leave --resume out");
  const single = [...request, "--steps", "12", "--fast", "--shard", "1/2", "--out", "x.model"];
  expect(refusal(single)).toContain("and this is one run");
  expect(refusal(["predict", "m.model.1-of-2", "gbsg.csv"])).toContain("a part of an ensemble, not a model");
});

test("a shard that is killed goes on from its checkpoint when the same command is given again", async () => {
  // One run at a time, and long enough that the second is still going when the shard is killed.
  const network = ["--network", "anchored", "--hidden", "24", "--threads", "1"];
  const long = [...request, ...network, "--steps", "100", "--ensemble", "2"];
  const shard = [...long, "--out", "killed.model", "--shard", "1/1"];
  const child = spawn(process.execPath, [launcher, ...shard], { cwd });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
    if (stderr.includes("run 2 of 2: step 25/") && !child.killed) child.kill("SIGKILL");
  });
  await new Promise((resolve) => child.on("close", resolve));
  const checkpoint = join(cwd, "killed.model.1-of-1.checkpoint");
  expect([existsSync(checkpoint), existsSync(join(cwd, "killed.model.1-of-1"))]).toEqual([true, false]);
  const saved = checkpointFromBytes(readFileSync(checkpoint), "checkpoint");
  const again = run(shard);
  expect(again.code).toBe(0);
  // Nothing that the checkpoint already had is done again.
  const ended = saved.members?.length ?? 0;
  const reported = [...again.stderr.matchAll(/run (\d) of 2: step (\d+)\//g)].map((match) =>
    match.map(Number),
  );
  expect(reported.length).toBeGreaterThan(0);
  for (const [, which, step] of reported)
    expect(which > ended + 1 || (which === ended + 1 && step > saved.checkpoint.step)).toBe(true);
  expect(existsSync(checkpoint)).toBe(false);
  renameSync(join(cwd, "killed.model.1-of-1"), join(cwd, "resumed"));
  expect(run(shard).code).toBe(0);
  expect(bytesOf("killed.model.1-of-1").equals(bytesOf("resumed"))).toBe(true);
});
