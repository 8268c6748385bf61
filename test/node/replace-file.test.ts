// A file is replaced as a whole or left as it was. What a full disk does is what any failure in the middle does: here,
// a folder in the way.
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { removeLeftovers, replaceFile } from "../../src/node/io/growing-file.ts";
import { readCheckpoint, readModel, writeCheckpoint, writeModel } from "../../src/node/io/model-file.ts";
import { smallCheckpoint, smallNetwork } from "../files/sample-models.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-replace-"));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

describe("replaceFile", () => {
  test("makes a file, then replaces it, keeping its permissions and nothing beside it", async () => {
    await replaceFile(at("one"), "first", "it");
    chmodSync(at("one"), 0o600);
    await replaceFile(at("one"), Uint8Array.of(1, 2), "it");
    expect([...readFileSync(at("one"))]).toEqual([1, 2]);
    expect(statSync(at("one")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["one"]);
  });

  test("follows a link", async () => {
    writeFileSync(at("target"), "old");
    symlinkSync(at("target"), at("link"));
    await replaceFile(at("link"), "new", "it");
    expect(readFileSync(at("target"), "utf8")).toBe("new");
  });

  test("follows links to a file that is not there yet, and makes it", async () => {
    mkdirSync(at("far"));
    symlinkSync("far/made", at("first"));
    symlinkSync("first", at("second"));
    await replaceFile(at("second"), "new", "it");
    expect(readFileSync(at("far/made"), "utf8")).toBe("new");
    expect([at("first"), at("second")].map((path) => lstatSync(path).isSymbolicLink())).toEqual([true, true]);
    symlinkSync("nowhere/made", at("lost"));
    await expect(replaceFile(at("lost"), "new", "it")).rejects.toThrow(/\(no such folder\)/);
    symlinkSync("round", at("round"));
    await expect(replaceFile(at("round"), "new", "it")).rejects.toThrow(/\(its links lead in a circle\)/);
  });

  test("keeps permissions that the mask would take away", async () => {
    writeFileSync(at("open"), "old");
    chmodSync(at("open"), 0o666);
    await replaceFile(at("open"), "new", "it");
    expect(statSync(at("open")).mode & 0o7777).toBe(0o666);
  });

  test("takes a name as long as a name can be", async () => {
    const path = at("n".repeat(255));
    await replaceFile(path, "new", "it");
    expect(readFileSync(path, "utf8")).toBe("new");
  });

  test("many writers at once leave what one of them wrote", async () => {
    const texts = Array.from({ length: 20 }, (_, k) => String(k).repeat(10000));
    await Promise.all(texts.map((text) => replaceFile(at("shared"), text, "it")));
    expect(texts).toContain(readFileSync(at("shared"), "utf8"));
  });

  test.each([
    ["a folder of that name", "folder", /cannot write it: ".*folder" \(a folder has that name\)/],
    ["no folder", "none/file", /cannot write it: ".*file" \(no such folder\)/],
  ])("%s: one sentence, nothing left behind", async (_, name, says) => {
    mkdirSync(at("folder"), { recursive: true });
    const before = readdirSync(folder);
    const refused = replaceFile(at(name), "new", "it");
    await expect(refused).rejects.toThrow(InputError);
    await expect(refused).rejects.toThrow(says);
    expect(readdirSync(folder)).toEqual(before);
  });
});

describe("what a killed run left", () => {
  /** Writes without end until it is killed; says when the file beside has bytes. */
  const writer = (path: string) => `
    import { openGrowingFile } from ${JSON.stringify(new URL("../../dist/node/io/growing-file.js", import.meta.url).href)};
    const file = await openGrowingFile(${JSON.stringify(path)}, "it");
    await file.write(Buffer.from("half"));
    console.log("written");
    setInterval(() => {}, 1000);`;
  const leave = async (path: string, signal: NodeJS.Signals) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", writer(path)], { stdio: "pipe" });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const during = partsOf(path);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    return { during, kill: () => child.kill(signal) && ended };
  };
  const partsOf = (path: string) =>
    readdirSync(folder).filter((name) => name.startsWith(basename(path)) && name.endsWith(".part"));

  test("is removed when the path is written again, and not while its process lives", async () => {
    writeFileSync(at("result"), "old");
    const { during, kill } = await leave(at("result"), "SIGKILL");
    expect(during).toHaveLength(1);
    // Of a name of its own, so that the folder is looked through again.
    symlinkSync("result", at("alias"));
    await removeLeftovers(at("result"));
    expect(partsOf(at("result"))).toEqual(during);
    await kill();
    expect(partsOf(at("result"))).toEqual(during);
    expect(readFileSync(at("result"), "utf8")).toBe("old");
    await runElsewhere(at("alias"), "new");
    expect(partsOf(at("result"))).toEqual([]);
    expect(readFileSync(at("result"), "utf8")).toBe("new");
  });

  test("a signal that can be answered leaves nothing", async () => {
    const { during, kill } = await leave(at("asked"), "SIGTERM");
    expect(during).toHaveLength(1);
    expect(await kill()).toBe(143);
    expect(partsOf(at("asked"))).toEqual([]);
  });

  test("of another machine, or of version 0.1.0: after a day; files of other names never", async () => {
    const names = ["x.0a1b2c3d.part", "x.000000-1-0a1b2c3d.part", "x.part", "xx.0a1b2c3d.part", "x.old.part"];
    for (const name of names) writeFileSync(at(name), "half");
    await runElsewhere(at("x"), "new");
    expect(names.filter((name) => existsSync(at(name)))).toEqual(names);
    for (const name of names) utimesSync(at(name), new Date(), new Date(Date.now() - 25 * 3600 * 1000));
    await runElsewhere(at("x"), "newer");
    expect(names.filter((name) => existsSync(at(name)))).toEqual(names.slice(2));
  });

  /** In a process of its own: one looks through a folder once for each path. */
  async function runElsewhere(path: string, text: string): Promise<void> {
    const module = new URL("../../dist/node/io/growing-file.js", import.meta.url).href;
    const program = `(await import(${JSON.stringify(module)})).replaceFile(${JSON.stringify(path)}, "${text}", "it")`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
  }
});

describe.runIf(existsSync("/dev/full"))("a full disk", () => {
  test("is named", async () => {
    await expect(replaceFile("/dev/full", "new", "it")).rejects.toThrow(
      /cannot write it: ".*" \(the disk is full\)/,
    );
  });
});

describe("models on disk", () => {
  test("come back as they were", async () => {
    await writeModel(at("a.model"), smallNetwork);
    expect(await readModel(at("a.model"))).toEqual(smallNetwork);
    const saved = { checkpoint: smallCheckpoint, history: [], run: null };
    await writeCheckpoint(at("a.checkpoint"), saved);
    expect(await readCheckpoint(at("a.checkpoint"))).toEqual(saved);
    await expect(readModel(at("a.checkpoint"))).rejects.toThrow(/a checkpoint of an unfinished run/);
  });

  test.each([
    ["a folder", ".", /cannot read the model: ".*" \(it is a folder\)/],
    ["a file that is not there", "none.model", /cannot read the model: ".*none.model" \(no such file\)/],
  ])("%s is refused", async (_, name, says) => {
    await expect(readModel(at(name))).rejects.toThrow(says);
  });
});
