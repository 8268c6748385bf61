// --report and --require as commands: the page holds the audit that was printed, the exit code says whether it was good
// enough.
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { refuseUnwritable } from "../../src/node/io/output-path.ts";
import { auditSettings } from "../../src/node/print/write-report.ts";
import { spreadLabels } from "../../src/report/plots/plot-canvas.ts";
import { describeCommand, quoteArgument } from "../../src/report/words/command-words.ts";
import { momentOf } from "../../src/report/words/report-time.ts";
import { formatNumber, formatTable } from "../../src/report/words/text-table.ts";
import type { Scores } from "../../src/stats/scores/scores.ts";
import type { RequirementResult } from "../../src/verbs/requirements.ts";
import { runCli, writeScratch } from "./run-cli.ts";

const table = "datasets/nwtco/nwtco.csv";
const request = [table, "--time", "edrel", "--event", "rel", "--drop", "seqno", "--category", "stage"];
const model = writeScratch("of nwtco.model", "");
const page = writeScratch("report.html", "");
rmSync(page);

interface Document {
  readonly overall: Scores;
  readonly groups: readonly Scores[];
  readonly requirements: readonly RequirementResult[];
  readonly report: string;
}

function readPage(): { readonly text: string; readonly rows: string[][]; readonly headings: string[] } {
  const { document } = parseHTML(readFileSync(page, "utf8"));
  return {
    text: document.body.textContent ?? "",
    rows: [...document.querySelectorAll("section[aria-labelledby=scores] tbody tr")].map((row) =>
      [...row.querySelectorAll("th,td")].map((cell) => cell.textContent ?? ""),
    ),
    headings: [...document.querySelectorAll("h2")].map((heading) => heading.textContent ?? ""),
  };
}

describe("graduate train --report --require", () => {
  test("ends with everything a person needs next", () => {
    const { code, stdout, stderr } = runCli([
      "train",
      ...request,
      ...[
        "--groups",
        "datasets/nwtco/groups.json",
        "--network",
        "linear",
        "--steps",
        "50",
        "--bins",
        "40",
        "--draws",
        "10",
      ],
      ...["--out", model, "--report", page, "--replicates", "5", "--time-unit", "days"],
      ...["--require", "ece<0.5", "--require", "all groups: ece<0", "--require", 'group "stage = 4": ibs>2'],
    ]);
    expect([code, stderr.includes(" at ")]).toEqual([2, false]);
    const wide = stdout.split("\n").filter((line) => [...line].length > 100 && !line.includes(model));
    expect(wide).toEqual([]);
    expect(stdout).toContain("50 steps on 2416 training and 806 validation rows");
    expect(stdout).toMatch(/12 of 12 groups met on the training and validation\s+rows/);
    expect(stdout).toMatch(
      /no disagreement shown: \d+ of 12 groups, everyone included; could be off by up to/,
    );
    expect(stdout).toMatch(/ {2}met: ece<0\.5\n {2}not met: all groups: ece<0\n {4}all has 0\.0\d+\n/);
    expect(stdout).toMatch(/not met: group "stage = 4": ibs>2\n {4}stage = 4 has 0\.\d+\n/);
    expect(stdout).toContain(`model written to ${model}\nreport written to ${page}\n`);
    // in the checkout's own folder
    expect(stdout).toContain(`  npx graduate audit '${model}' ${table}\n`);
    expect(stdout).toContain(`  npx graduate predict '${model}' ${table} --out nwtco-curves.csv\n`);
    const { text, rows, headings } = readPage();
    expect(rows).toHaveLength(24);
    expect(headings).toContain("How the model was trained");
    expect(text).toContain("Each group’s distance over its slack");
    expect(text).toContain("test rows audited: 110 events");
    expect(text).toContain(
      "seqno counts rows: 4028 different integers in 4028 rows (the model does not use it)",
    );
    expect(text).toMatch(/at worst \([\d.]+ years?\)/);
    expect(text).toContain("rel (1 = event, 0 = censored)");
    expect(text).toContain("806 test rows of nwtco.csv, 110 events among them; held out");
    expect(text).toContain(`graduate train ${table} --time edrel`);
  });

  test("the printed audit command gives the same test rows the same scores, and the page shows them", () => {
    const { code, stdout, stderr } = runCli([
      ...["audit", model, table, "--report", page, "--replicates", "5", "--draws", "10", "--json"],
      ...["--require", "n>=806", "--require", "each group: events>30"],
    ]);
    expect(code).toBe(2);
    const audited = JSON.parse(stdout) as Document;
    expect(audited.overall.n).toBe(806);
    expect(stderr).toContain("only its 806 test rows are judged");
    expect(stderr).toContain("not met: each group: events>30; age under 24 months has 30");
    expect(audited.report).toBe(page);
    expect(audited.requirements.map(({ met, metric }) => [met, metric])).toEqual([
      [true, "n"],
      [false, "events"],
    ]);
    const failed = [audited.overall, ...audited.groups].filter(({ events }) => events <= 30);
    expect(audited.requirements[1].failed).toEqual(
      failed.map(({ name, events }) => ({ group: name, value: events })),
    );
    const { rows, text } = readPage();
    for (const [g, { n, events, ece }] of [audited.overall, ...audited.groups].entries()) {
      expect(rows[g].slice(2, 4)).toEqual([String(n), String(events)]);
      expect(rows[g][5].startsWith(formatNumber(ece)), rows[g][5]).toBe(true);
    }
    expect(text).toContain("rows to train and to validate on, not audited");
  });
});

describe("paths to write to", () => {
  test("are looked at before the work", async () => {
    await expect(refuseUnwritable(["no/such/folder/r.html"])).rejects.toThrow('cannot write to "no/such');
    await expect(refuseUnwritable([dirname(page)])).rejects.toThrow("cannot write to");
    await expect(refuseUnwritable([page], [join(dirname(page), ".", "report.html")])).rejects.toThrow(
      "would write over a file that it reads",
    );
    await expect(refuseUnwritable([page, undefined, page])).rejects.toThrow("two outputs have the same path");
    await expect(refuseUnwritable([page, model], ["-", undefined])).resolves.toBeUndefined();
    await expect(refuseUnwritable(["/dev/null", "/dev/null"])).resolves.toBeUndefined();
  });
});

describe("graduate audit --curves --report", () => {
  test("makes the same page of any program's predictions", () => {
    const { code, stdout } = runCli([
      ...["audit", "--curves", "datasets/nwtco/example-curves.csv.gz", "--by", "histol,stage"],
      ...["--report", page, "--draws", "10", "--replicates", "5", "--require", "all groups: ece<0.9"],
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("95 % bootstrap intervals, 5 replicates");
    expect(stdout).toContain(`report written to ${page}`);
    const { rows, headings, text } = readPage();
    expect(rows).toHaveLength(14);
    expect(rows[0].join(" ")).toContain("500");
    expect(headings).not.toContain("How the model was trained");
    expect(text).toMatch(/at worst \(time bin \d+\)/);
  });
});

describe("graduate train --id --report", () => {
  // Forty people with two rows each, from one date to another; weight is written with decimal commas.
  const day = (count: number) => new Date(Date.UTC(2010, 0, 1 + count)).toISOString().slice(0, 10);
  const lines = Array.from({ length: 80 }, (_, row) => {
    const person = Math.floor(row / 2);
    const length = 100 + ((row * 37) % 211) * 5;
    const weight = `"${40 + ((row * row + row) % 17)},5"`;
    return [
      `P${person}`,
      30 + ((person * 7) % 13),
      weight,
      day(person),
      day(person + length),
      row % 3 === 0 ? 0 : 1,
    ];
  });
  const eyes = writeScratch("eyes.csv", ["pid,age,weight,entry,seen,dead", ...lines].join("\n"));
  const subject = [
    "--time",
    "seen",
    "--origin",
    "entry",
    "--event",
    "dead",
    "--id",
    "pid",
    "--drop",
    "weight",
  ];
  const quick = ["--method", "cox", "--draws", "5", "--replicates", "5", "--report", page];

  test("rows are rows of people, times are days, and an unused column has no hint", () => {
    const out = ["--out", writeScratch("eyes.model", ""), "--tolerance", "0.05"];
    const { code, stderr } = runCli(["train", eyes, ...subject, ...quick, ...out]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("tolerance is in points of survival, 0 to 100: 0.05 is a twentieth of a point");
    const { text } = readPage();
    expect(text).toContain("16 test rows of 8 people in eyes.csv");
    expect(text).toContain("Counted in days from entry to seen");
    expect(text).toContain("rows of one person were kept together (--id pid)");
    expect(text).not.toContain("these rows are not independent");
    expect(text).toContain("and read as a category of 9 levels (the model does not use it)");
  });
});

test("a report has intervals unless told otherwise", () => {
  const options = { draws: 10, seed: 1, threads: 1, tolerance: 5, smallCells: "hide" as const };
  expect(auditSettings(options).replicates).toBe(0);
  expect(auditSettings({ ...options, report: page }).replicates).toBe(200);
  expect(auditSettings({ ...options, report: page, intervals: 0 }).replicates).toBe(0);
  expect(auditSettings({ ...options, intervals: 7 }).replicates).toBe(7);
});

describe("text", () => {
  const columns = [
    { title: "group", flexible: true },
    ...Array.from({ length: 11 }, (_, k) => ({ title: `score ${k}`, align: "right" as const })),
  ];
  const rows = ["everyone", "a group with quite a long name of its own"].map((name) => [
    name,
    ...Array.from({ length: 11 }, (_, k) => `0.${1000 + k}`),
  ]);

  test.each([40, 50, 60, 80, 90, 100, 200])("a table fits %i columns and loses no number", (width) => {
    const text = formatTable(columns, rows, width);
    for (const line of text.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(width);
    for (const { title } of columns.slice(1)) expect(text).toContain(title);
    for (const cell of rows[1].slice(1)) expect(text.split(cell)).toHaveLength(3);
    for (const part of text.split("\n\n")) {
      const lines = part.split("\n");
      expect(lines.map((line) => line.slice(0, 5))).toEqual(["group", "every", "a gro"]);
    }
  });

  test("labels at the bottom of a figure move up, not out of it; times say what they count", () => {
    const placed = spreadLabels([0, 0.02, 0.9, 0], 0.1);
    expect(placed[2]).toBe(0.9);
    for (const [k, place] of [...placed]
      .sort((a, b) => a - b)
      .slice(0, 3)
      .entries())
      expect(place).toBeCloseTo(0.1 * k, 12);
    expect(["days", "time bins", "time"].map((label) => momentOf(69, label))).toEqual([
      "69 days",
      "time bin 69",
      "time 69",
    ]);
    expect([momentOf(1, "years"), momentOf(1.5, "years")]).toEqual(["1 year", "1.5 years"]);
  });

  test("arguments are quoted for a shell where they have to be", () => {
    expect(["a/b-1.csv", "edrel,rel", "a b", "it's", "$HOME", ""].map(quoteArgument)).toEqual([
      "a/b-1.csv",
      "edrel,rel",
      "'a b'",
      "'it'\\''s'",
      "'$HOME'",
      "''",
    ]);
    expect(describeCommand(["audit", "my model", "t.csv"])).toBe("graduate audit 'my model' t.csv");
  });
});
