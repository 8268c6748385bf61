// Whatever is wrong with the input: one clear message that names file, row and column, exit code 1, no stack, no output.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { root, runCli, writeScratch } from "./run-cli.ts";

const nwtco = `${root}datasets/nwtco/nwtco.csv`;
const outcome = ["--time", "time", "--event", "event"];
const good = "time,event,age\n5,1,60\n8,0,70\n9,1,65\n12,0,58\n";
const curves = "bin,event,S1,S2\n1,1,0.9,0.8\n2,0,0.7,0.6\n";

interface BadInput {
  readonly name: string;
  readonly args: readonly string[];
  readonly says: readonly (string | RegExp)[];
}

const csv = (name: string, text: string) => writeScratch(name, text);

const cases: readonly BadInput[] = [
  {
    name: "a missing file",
    args: ["km", "no-such-file.csv", ...outcome],
    says: ["no-such-file.csv"],
  },
  {
    name: "a missing column",
    args: ["km", nwtco, "--time", "futime", "--event", "rel"],
    says: ['missing column: "futime"', "nwtco.csv", "edrel"],
  },
  {
    name: "a column in other letters",
    args: ["km", nwtco, "--time", "Edrel", "--event", "rel"],
    says: ['did you mean "edrel"'],
  },
  {
    name: "a text in the time column",
    args: ["km", csv("text-time.csv", good.replace("8,0", "soon,0")), ...outcome],
    says: ["text-time.csv", "row 2", "time", "soon"],
  },
  {
    name: "a text in a column declared a number",
    args: ["cox", csv("text-age.csv", good.replace(",70", ",old")), ...outcome, "--number", "age"],
    says: ["text-age.csv", "row 2", "age", "old"],
  },
  {
    name: "a negative time",
    args: ["km", csv("negative.csv", good.replace("8,0", "-8,0")), ...outcome],
    says: ["negative.csv", "row 2", "time", "-8"],
  },
  {
    name: "a missing time",
    args: ["km", csv("missing-time.csv", good.replace("8,0", ",0")), ...outcome],
    says: ["missing-time.csv", "row 2", "time"],
  },
  {
    name: "an event of 3",
    args: ["km", csv("event3.csv", good.replace("9,1", "9,3")), ...outcome],
    says: ["event3.csv", "row 3", "event", "3"],
  },
  {
    name: "an empty file",
    args: ["describe", csv("empty.csv", ""), ...outcome],
    says: ["empty.csv", "empty"],
  },
  {
    name: "a header alone",
    args: ["describe", csv("header.csv", "time,event\n"), ...outcome],
    says: ["header.csv", /no rows/],
  },
  {
    name: "a truncated Parquet",
    args: [
      "describe",
      writeScratch("cut.parquet", Uint8Array.from([80, 65, 82, 49, 21, 4, 21, 16])),
      ...outcome,
    ],
    says: ["cut.parquet"],
  },
  {
    name: "a binary file",
    args: [
      "describe",
      writeScratch("picture.csv", Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13])),
      ...outcome,
    ],
    says: ["picture.csv"],
  },
  {
    name: "a duplicate name in the header",
    args: ["describe", csv("duplicate.csv", good.replace("age", "time")), ...outcome],
    says: ["duplicate.csv", "time", /twice|duplicate/],
  },
  {
    name: "ragged rows",
    args: ["describe", csv("ragged.csv", good.replace("8,0,70", "8,0")), ...outcome],
    says: ["ragged.csv", "row 2", "2", "3"],
  },
  {
    name: "a typo in a group expression",
    args: ["describe", csv("good1.csv", good), ...outcome, "--group", "age >> 60"],
    says: ["age >> 60", "^", "expected"],
  },
  {
    name: "a group over an unknown column",
    args: ["describe", csv("good2.csv", good), ...outcome, "--group", "agee > 60"],
    says: ["agee", "age"],
  },
  {
    name: "a groups file that is not JSON",
    args: ["describe", csv("good3.csv", good), ...outcome, "--groups", csv("groups.json", "{")],
    says: ["groups.json", "JSON"],
  },
  {
    name: "a curve that rises",
    args: ["audit", "--curves", csv("rises.csv", curves.replace("0.7,0.6", "0.6,0.7"))],
    says: ["rises.csv", "row 2", "S2"],
  },
  {
    name: "a curve outside [0, 1]",
    args: ["audit", "--curves", csv("outside.csv", curves.replace("0.9", "1.9"))],
    says: ["outside.csv", "row 1", "S1", "1.9"],
  },
  {
    name: "a curve with a hole in its columns",
    args: ["audit", "--curves", csv("hole.csv", curves.replace("S2", "S3"))],
    says: ["hole.csv", "S2"],
  },
  {
    name: "a bin past the last column",
    args: ["audit", "--curves", csv("bin.csv", curves.replace("2,0", "3,0"))],
    says: ["bin.csv", "row 2", "bin"],
  },
  {
    name: "a leaking feature",
    args: [
      "cox",
      `${root}datasets/flchain/flchain.csv`,
      "--time",
      "futime",
      "--event",
      "death",
      "--features",
      "age,chapter",
    ],
    says: ["chapter", "--allow-leak"],
  },
  { name: "no command that we know", args: ["trian"], says: ["trian"] },
  { name: "no time column named", args: ["km", nwtco, "--event", "rel"], says: ["--time"] },
  {
    name: "an option that is no number",
    args: ["audit", "--curves", csv("c.csv", curves), "--intervals", "many"],
    says: ["many"],
  },
];

describe("bad input", () => {
  test.each(cases)("$name", ({ args, says }) => {
    const { code, stdout, stderr } = runCli(args);
    expect(stderr).not.toMatch(/^\s+at .*\.(js|ts):\d+/m);
    for (const part of says) {
      if (typeof part === "string") expect(stderr).toContain(part);
      else expect(stderr).toMatch(part);
    }
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });

  test("no more than twenty rows are named, the rest counted", () => {
    const rows = Array.from({ length: 50 }, (_, i) => (i < 30 ? `${-i - 1},1` : `${i},0`));
    const { stderr } = runCli(["km", csv("many.csv", `time,event\n${rows.join("\n")}\n`), ...outcome]);
    expect(stderr).toContain("20 (and 10 more)");
  });

  test("describe reports what it finds and still exits 0", () => {
    const path = csv("findings.csv", good.replace("8,0", "-8,3"));
    const { code, stdout } = runCli(["describe", path, ...outcome, "--json"]);
    expect(code).toBe(0);
    const { findings } = JSON.parse(stdout) as { findings: { code: string; level: string }[] };
    const found = findings.filter(({ level }) => level === "error").map((finding) => finding.code);
    expect(found).toEqual(expect.arrayContaining(["time.nonpositive", "event.values"]));
  });

  test("a plot that cannot be written leaves nothing behind and says so", () => {
    const { code, stdout, stderr } = runCli([
      "km",
      csv("good4.csv", good),
      ...outcome,
      "--svg",
      "no-such-folder/km.svg",
    ]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("no-such-folder/km.svg");
  });

  test("the table is never touched", () => {
    const path = csv("untouched.csv", good);
    runCli(["describe", path, ...outcome]);
    expect(readFileSync(path, "utf8")).toBe(good);
  });
});
