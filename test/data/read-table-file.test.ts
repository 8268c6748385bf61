// Tables on disk and on standard input.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { tableSourceFromPath } from "../../src/node/io/input-file.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "graduate-table-file-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const fixture = (file: string) => fileURLToPath(new URL(`fixtures/${file}`, import.meta.url));

describe("a file", () => {
  test.each(["patients.csv", "patients-snappy.parquet"])("%s reads as its bytes do", async (file) => {
    const source = await tableSourceFromPath(fixture(file));
    expect(source.name).toBe(file);
    expect(source.byteLength).toBe(readFileSync(fixture(file)).length);
    expect(await readTable(source)).toEqual(
      await readTable(tableSourceFromBytes(file, readFileSync(fixture(file)))),
    );
  });

  test("larger than a chunk is streamed", async () => {
    const path = join(folder, "long.csv");
    writeFileSync(
      path,
      `id,x\n${Array.from({ length: 200_000 }, (_, row) => `${row},${row % 3}\n`).join("")}`,
    );
    const [id, x] = (await readTable(await tableSourceFromPath(path))).columns;
    if (id.type !== "number" || x.type !== "number") throw new Error("wrong types");
    expect(id.values.reduce((sum, value) => sum + value, 0)).toBe((199_999 * 200_000) / 2);
    expect(x.values.reduce((sum, value) => sum + value, 0)).toBe(199_999);
  });

  test("that is not there, or is a folder without tables, is named", async () => {
    const path = join(folder, "nowhere.csv");
    await expect(tableSourceFromPath(path)).rejects.toMatchObject({
      message: `no such file: "${path}"`,
      code: "file.missing",
    });
    await expect(tableSourceFromPath(join(fixture("patients.csv"), "x"))).rejects.toMatchObject({
      code: "file.missing",
    });
    const empty = mkdtempSync(join(folder, "empty-"));
    await expect(tableSourceFromPath(empty)).rejects.toMatchObject({
      message: `no table in the folder: "${empty}"`,
      code: "files.none",
    });
  });

  test("that vanishes or may not be read is an input error", async () => {
    const path = join(folder, "gone.csv");
    writeFileSync(path, "a\n1\n");
    const source = await tableSourceFromPath(path);
    rmSync(path);
    await expect(readTable(source)).rejects.toMatchObject({ code: "file.missing", where: path });
    writeFileSync(path, "a\n1\n");
    chmodSync(path, 0o000);
    // the superuser may read everything
    if (process.getuid?.() !== 0)
      await expect(tableSourceFromPath(path)).rejects.toMatchObject({ code: "file.unreadable" });
  });
});

test("a pipe is read once and kept", async () => {
  if (process.platform === "win32") return;
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const writing = spawnSync("sh", ["-c", `(printf 'a,b\\n1,x\\n' > '${pipe}') >/dev/null 2>&1 &`]);
  expect(writing.status).toBe(0);
  const source = await tableSourceFromPath(pipe);
  expect((await readTable(source)).rows).toBe(1);
  expect((await readTable(source)).rows).toBe(1);
});

test("- is standard input, read once and kept", async () => {
  const stdin = Object.getOwnPropertyDescriptor(process, "stdin");
  if (!stdin) throw new Error("no standard input");
  Object.defineProperty(process, "stdin", {
    ...stdin,
    get: () => createReadStream(fixture("patients-zstd.parquet")),
  });
  try {
    const source = await tableSourceFromPath("-");
    expect(source.name).toBe("standard input");
    expect((await readTable(source)).rows).toBe(7);
    expect((await readTable(source)).rows).toBe(7);
  } finally {
    Object.defineProperty(process, "stdin", stdin);
  }
});
