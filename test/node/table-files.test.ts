// Which files a folder or a pattern stands for, in which order, and the hash of them all.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readTable } from "../../src/data/reading/read-table.ts";
import { toExpression } from "../../src/node/io/file-pattern.ts";
import { tableSourceFromPath } from "../../src/node/io/input-file.ts";
import { hashFile } from "../../src/node/io/provenance.ts";
import { listTableFiles, stemOfTable } from "../../src/node/io/table-files.ts";

const scratch = mkdtempSync(join(tmpdir(), "graduate-files-"));
afterAll(() => rmSync(scratch, { recursive: true }));

/** Writes files, each with its own name as content, and gives their folder. */
function folderOf(name: string, files: readonly string[]): string {
  for (const file of files) {
    mkdirSync(join(scratch, name, file, ".."), { recursive: true });
    writeFileSync(join(scratch, name, file), `x\n${file.length}\n`);
  }
  return join(scratch, name);
}

const namesAt = async (path: string) => (await listTableFiles(path))?.files.map(({ name }) => name);

describe("a folder", () => {
  const spark = folderOf("spark.parquet", [
    ...["part-10.snappy.parquet", "part-2.snappy.parquet", "_SUCCESS", "._SUCCESS.crc", "README.md"],
    ...[".part-2.snappy.parquet.crc", "_metadata.parquet", "deeper/part-3.parquet", "notes.txt"],
  ]);

  test("stands for its tables in natural order, and passes over everything else", async () => {
    expect(await namesAt(spark)).toEqual(["part-2.snappy.parquet", "part-10.snappy.parquet"]);
    expect(await namesAt(`${spark}/`)).toHaveLength(2);
    expect((await listTableFiles(spark))?.name).toBe("spark.parquet/");
    const texts = folderOf("texts", ["b.CSV", "a.csv.gz", "c.tsv", "d.gz"]);
    expect(await namesAt(texts)).toEqual(["a.csv.gz", "b.CSV", "c.tsv"]);
  });

  test("without a table, or with two kinds, is refused in a sentence", async () => {
    const none = folderOf("none", ["README", "deeper/a.csv"]);
    await expect(listTableFiles(none)).rejects.toMatchObject({ code: "files.none" });
    const both = folderOf("both", ["a.csv", "b.parquet"]);
    await expect(listTableFiles(both)).rejects.toThrow(
      'tables of two kinds in one folder: "a.csv" and "b.parquet"',
    );
  });

  test("with a link that leads nowhere is refused by that name, not read without it", async () => {
    const broken = folderOf("broken", ["a.csv"]);
    symlinkSync(join(broken, "gone.csv"), join(broken, "b.csv"));
    await expect(tableSourceFromPath(broken)).rejects.toMatchObject({
      code: "file.missing",
      where: join(broken, "b.csv"),
    });
  });

  test("that holds one file is that file", async () => {
    const one = folderOf("one", ["a.csv", "README"]);
    expect((await tableSourceFromPath(one)).name).toBe("a.csv");
    expect(await hashFile(one)).toBe(await hashFile(join(one, "a.csv")));
  });
});

describe("a pattern", () => {
  const data = folderOf("data", [
    ...["2023/a.csv", "2023/b.csv", "2024/q1/a.csv", "2024/_temporary/x.csv", "2024/.hidden.csv"],
    ...["part-1.csv", "part-2.csv", "part-10.csv", "[odd].csv", "notes.txt", "_own.csv"],
  ]);
  symlinkSync(data, join(data, "2023", "back"));

  test("stands for the files that match, in natural order", async () => {
    expect(await namesAt(`${data}/part-*.csv`)).toEqual(["part-1.csv", "part-2.csv", "part-10.csv"]);
    expect(await namesAt(`${data}/part-?.csv`)).toEqual(["part-1.csv", "part-2.csv"]);
    expect(await namesAt(`${data}/part-[!1]*.csv`)).toEqual(["part-2.csv"]);
    expect(await namesAt(`${data}/part-{1,10}.csv`)).toEqual(["part-1.csv", "part-10.csv"]);
    expect(await namesAt(`${data}/*/?.csv`)).toEqual(["2023/a.csv", "2023/b.csv"]);
    expect(await namesAt(`${data}/202?/**/a.csv`)).toEqual(["2023/a.csv", "2024/q1/a.csv"]);
    expect(await namesAt(`${data}/n*`)).toEqual(["notes.txt"]); // named, so taken
    expect(await namesAt(`${data}/_*.csv`)).toEqual(["_own.csv"]);
    expect((await namesAt(`${data}/**`))?.filter((name) => /_|\/\.|back/.test(name))).toEqual([]);
  });

  test("is a file's name where there is such a file, and nothing where nothing matches", async () => {
    expect(await listTableFiles(join(data, "[odd].csv"))).toBeNull();
    await expect(listTableFiles(`${data}/*.parquet`)).rejects.toMatchObject({ code: "files.none" });
    await expect(tableSourceFromPath(join(data, "none.csv"))).rejects.toMatchObject({ code: "file.missing" });
  });

  test("names of results are made of the folder's name", () => {
    expect(stemOfTable(`${data}/*.csv`)).toBe("data");
    expect(stemOfTable("*.csv")).toBe("table");
    expect(stemOfTable(`${data}/`)).toBe("data");
    expect(stemOfTable(join(data, "part-1.csv"))).toBe("part-1.csv");
  });

  test("as an expression; signs that are never closed mean themselves", () => {
    const matches = (pattern: string, name: string) => toExpression(pattern).test(name);
    expect(matches("a.b", "axb")).toBe(false);
    expect(matches("[a-c]?", "bz")).toBe(true);
    expect(matches("{a,b*}.csv", "bcd.csv")).toBe(true);
    expect(matches("a[b", "a[b")).toBe(true);
    expect(matches("a{b", "a{b")).toBe(true);
    expect(matches("[z-a]", "[z-a]")).toBe(true);
    expect(matches("[]x]", "]")).toBe(true);
  });
});

test("the hash of several files is that of the lines of sha256sum; the order and the names count", async () => {
  const folder = folderOf("hashed", ["a-2.csv", "a-10.csv"]);
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const line = (name: string) => `${sha256(`x\n${name.length}\n`)}  ${name}\n`;
  expect(await hashFile(folder)).toBe(sha256(line("a-2.csv") + line("a-10.csv")));
  expect(await hashFile(`${folder}/*.csv`)).toBe(await hashFile(folder));
  const table = await readTable(await tableSourceFromPath(folder));
  expect(table).toMatchObject({ name: "hashed/", rows: 2 });
  expect(table.parts).toEqual([
    { name: "hashed/a-2.csv", rows: 1 },
    { name: "hashed/a-10.csv", rows: 1 },
  ]);
  expect([...(table.columns[0] as { values: Float64Array }).values]).toEqual([7, 8]);
});
