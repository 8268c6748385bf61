// Columns that cannot be what they are named as: one column for two things, ids that are no longer different as
// numbers, one person only.
import { describe, expect, test } from "vitest";
import { runCli, writeScratch } from "./run-cli.ts";

const rows = Array.from(
  { length: 40 },
  (_, i) => `${9007199254740993n + BigInt(2 * i)},1,${1 + (i % 7)},${i % 2},${(i * 7) % 11}`,
);
const table = writeScratch("large-ids.csv", `id,one,time,status,x\n${rows.join("\n")}\n`);
const outcome = ["--time", "time", "--event", "status", "--features", "x"];

describe("columns of the outcome and of ids", () => {
  test.each(["km", "cox", "train"])("%s refuses one column as time and event", (command) => {
    const { code, stdout, stderr } = runCli([command, table, "--time", "status", "--event", "status"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain('one column is named twice in the outcome: "status"');
  });

  test.each(["cox", "train"])(
    "%s takes ids beyond 2^53 as they are written, and refuses them where they must be numbers",
    (command) => {
      const asked = [
        command,
        table,
        ...outcome,
        "--id",
        "id",
        ...(command === "train" ? ["--steps", "1"] : []),
      ];
      expect(runCli(asked).code).toBe(0);
      const refused = runCli([...asked, "--number", "id"]);
      expect([refused.code, refused.stdout]).toEqual([1, ""]);
      expect(refused.stderr).toContain("ids beyond 2^53 cannot be told apart as numbers: row 1");
      expect(refused.stderr).toContain("--category id");
    },
  );

  test("one impossible date is named, not the rows around it", () => {
    const dates = ["2020-01-05", "2020-02-07", "2020-13-01", "2020-04-01"];
    const csv = dates.map((start, i) => `${start},2021-0${i + 1}-01,${i % 2},${i}`).join("\n");
    const path = writeScratch("dates.csv", `start,end,status,x\n${csv}\n`);
    const { code, stderr } = runCli(["km", path, "--time", "end", "--origin", "start", "--event", "status"]);
    expect(code).toBe(1);
    const text = stderr.replaceAll(/\s+/g, " ");
    expect(text).toContain('start holds texts that are no dates: row 3 is "2020-13-01"');
    expect(text).not.toContain("row 1");
  });

  test("robust errors of one person are refused", () => {
    const { code, stderr } = runCli(["cox", table, ...outcome, "--id", "one"]);
    expect(code).toBe(1);
    expect(stderr).toContain("robust errors need two people or more");
  });
});
