// A file is replaced as a whole or left as it was. What a full disk does is what any failure in the middle does: here, a folder in the way.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { readCheckpoint, readModel, writeCheckpoint, writeModel } from "../../src/node/model-file.ts";
import { replaceFile } from "../../src/node/replace-file.ts";
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
