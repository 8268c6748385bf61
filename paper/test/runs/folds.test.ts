// The outside yardstick: a fold's Cox model against R, validation fifths, ranks by hand, and the committed page from
// the committed lines.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom } from "graduate-survival/core";
import { readTable } from "graduate-survival/data";
import { openWasmBackend, tableSourceFromPath } from "graduate-survival/node";
import { expect, test } from "vitest";
import { root, runCli } from "../../../test/cli/run-cli.ts";
import { foldsSummary, rankSections } from "../../src/pages/folds.page.ts";
import { FOLD_SYSTEMS, type FoldTask, readFolds, runFold } from "../../src/runs/folds.ts";
import { compareCox, type FoldLine, type PublishedFold } from "../../src/summaries/fold-ranks.ts";

const numbers = (name: string, values: readonly number[]) =>
  ({ name, type: "number", values: Float64Array.from(values) }) as const;

const TASK: FoldTask = {
  name: "nwtco",
  table: "-",
  testRows: "-",
  time: "edrel",
  event: "rel",
  category: ["stage"],
  groups: ["stage 1: stage = 1"],
};

test("Cox on a fold is R's", async () => {
  const table = await readTable(await tableSourceFromPath(join(root, "datasets/nwtco/nwtco.csv")), {
    category: ["stage"],
  });
  const keep = ["age", "histol", "stage", "edrel", "rel"];
  const first = {
    name: "nwtco",
    rows: 900,
    columns: table.columns
      .filter(({ name }) => keep.includes(name))
      .map((column) =>
        column.type === "category"
          ? { ...column, codes: column.codes.subarray(0, 900) }
          : column.type === "number"
            ? { ...column, values: column.values.subarray(0, 900) }
            : column,
      ),
  };
  const thirds = {
    name: "folds",
    rows: 300,
    columns: [
      numbers("iteration", Array(300).fill(4)),
      numbers(
        "row",
        Array.from({ length: 300 }, (_, k) => 3 * k + 3),
      ),
    ],
  };
  const folds = readFolds(thirds, "folds");
  expect([...folds.keys()]).toEqual([4]);
  const backend = await openWasmBackend({ threads: 1, deterministic: true });
  const test = folds.get(4) ?? new Int32Array();
  const request = { system: "cox", seed: 4, validation: 0.25 } as const;
  const { harrell } = await runFold({ task: TASK, table: first, test }, request, backend);
  await backend.close();
  // coxph(Surv(edrel, rel) ~ age + histol + factor(stage)) on rows 1–900 that are not a multiple of 3; concordance()
  // on the others: 8696 concordant, 4025 discordant, 27 tied.
  expect(harrell).toBeCloseTo((8696 + 27 / 2) / (8696 + 4025 + 27), 14);
});

test("a score that is undefined leaves the others; a level of the test rows alone does not stop Cox", async () => {
  const random = createRandom(2);
  const N = 60;
  const test = Int32Array.from({ length: 20 }, (_, k) => 3 * k);
  // Level c is that of one test row alone.
  const codes = Int32Array.from({ length: N }, (_, row) => (row === 0 ? 2 : random.integer(2)));
  const table = {
    name: "small",
    rows: N,
    columns: [
      { name: "site", type: "category", levels: ["a", "b", "c"], codes } as const,
      numbers(
        "time",
        Array.from(codes, (code) => 1 + (10 - 4 * (code % 2)) * random.uniform()),
      ),
      numbers(
        "status",
        Array.from(codes, (_, row) => (row % 3 === 0 ? 0 : 1)),
      ),
    ],
  };
  const task = { ...TASK, time: "time", event: "status", category: ["site"], groups: ["site = a"] };
  const backend = await openWasmBackend({ threads: 1, deterministic: true });
  const request = { system: "cox", seed: 1, validation: 0.25 } as const;
  const { harrell, uno, ibs, notes } = await runFold({ task, table, test }, request, backend);
  await backend.close();
  // No test row has the event: there is no pair to rank, and curves can be scored all the same.
  expect([harrell, uno, typeof ibs]).toEqual([null, null, "number"]);
  expect(notes?.[0]).toBe("site: only test rows have c, taken as a");
  expect(notes?.slice(1).map((note) => note.split(":")[0])).toEqual(["Harrell's C", "Uno's C"]);
});

test("a fold without a score counts for nobody in that score, and for everybody in the others", () => {
  const lines = [
    line("cox", 1, 0.7, 0.2),
    { ...line("cox", 2, 0, 0.1), harrell: null, uno: null },
    line("graduate", 1, 0.74, 0.15),
    { ...line("graduate", 2, 0, 0.11), harrell: null, uno: null },
  ];
  const theirs = [
    published("CPH", "harrell_c,isbs", 1, 0.7, 0.2),
    published("CPH", "harrell_c,isbs", 2, 0.1, 0.1),
  ];
  expect(compareCox(lines, theirs)).toEqual({ folds: 2, concordance: 0, ibs: 0, passed: true });
  const summary = foldsSummary([{ name: "a", test: 10, train: 20 }], lines, theirs);
  expect(summary).toContain("| graduate | 0.7400, 1 of 2 | 0.7400, 1 of 2 | 0.1300, 1 of 2 |");
  expect(summary).toContain("Harrell's C +0.0400 (better on 1 of 1 folds");
  expect(summary).toContain("IBS −0.0200 (better on 1 of 2 folds");
});

const line = (system: FoldLine["system"], iteration: number, harrell: number, ibs: number): FoldLine => ({
  task: "a",
  system,
  iteration,
  harrell,
  uno: harrell,
  ibs,
});
const published = (
  learner: string,
  tunedFor: string,
  iteration: number,
  harrell: number,
  ibs: number,
): PublishedFold => ({
  task: "a",
  learner,
  tunedFor,
  iteration,
  harrell,
  uno: harrell,
  ibs,
});

test("ranks: by the mean, C of the tuning for C, one that failed left out", () => {
  const lines = [
    line("cox", 1, 0.7, 0.2),
    line("cox", 2, 0.8, 0.1),
    line("graduate", 1, 0.74, 0.15),
    line("graduate", 2, 0.8, 0.11),
  ];
  const theirs = [
    published("CPH", "harrell_c,isbs", 1, 0.7, 0.2),
    published("CPH", "harrell_c,isbs", 2, 0.8, 0.1),
    published("Forest", "harrell_c", 1, 0.9, 0.9),
    published("Forest", "harrell_c", 2, 0.7, 0.9),
    published("Forest", "isbs", 1, 0.1, 0.12),
    published("Forest", "isbs", 2, 0.1, 0.1),
    published("Failed", "harrell_c", 1, 0.99, 0.01),
    published("Failed", "harrell_c", 2, Number.NaN, 0.01),
  ];
  expect(compareCox(lines, theirs)).toEqual({ folds: 2, concordance: 0, ibs: 0, passed: true });
  expect(compareCox([line("cox", 1, 0.7 + 2e-7, 0.2)], theirs).passed).toBe(false);
  const sizes = [{ name: "a", test: 10, train: 20 }];
  const rows = (page: string) =>
    page
      .split("\n")
      .filter((text) => text.startsWith("| ") && !text.startsWith("| rank") && !text.startsWith("| |"));
  expect(rows(rankSections(sizes, lines, theirs))).toEqual([
    "| 1 | Forest 0.8000 | Forest 0.8000 | Forest 0.1100 |",
    "| 2 | **graduate 0.7700** | **graduate 0.7700** | **graduate 0.1300** |",
    "| 3 | CPH 0.7500 | CPH 0.7500 | CPH 0.1500 |",
  ]);
  const summary = foldsSummary(sizes, lines, theirs);
  expect(rows(summary)).toEqual([
    "| cox | 0.7500, 2 of 2 | 0.7500, 2 of 2 | 0.1500, 2 of 2 |",
    "| graduate | 0.7700, 2 of 3 | 0.7700, 2 of 3 | 0.1300, 2 of 3 |",
  ]);
  // Differences .04 and 0: mean .02, s² .0008, t = .02/√(.0008·(½ + 10/20)) = .7071 on one degree of freedom, p = 1 −
  // 2·atan(t)/π.
  expect(summary).toContain("- graduate: Harrell's C +0.0200 (better on 1 of 2 folds, p 0.608)");
});

test("docs/results/folds.md is made from paper/results/folds.jsonl, but for the ranks", () => {
  const [page, lines] = ["docs/results/folds.md", "paper/results/folds.jsonl"].map((path) =>
    readFileSync(join(root, path), "utf8"),
  );
  const ours = lines
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text) as FoldLine);
  const sizes = [...page.matchAll(/^## (\w+)/gm)].map(([, name]) => ({ name, ...SIZES[name] }));
  // The published scores are not ours to keep: their ranks are left out of the comparison.
  const withoutRanks = (text: string) => text.replace(/, (?:–|\d+) of \d+(?= \|)/g, "");
  expect(withoutRanks(page)).toContain(withoutRanks(foldsSummary(sizes, ours, [])));
  expect(ours.length).toBe(2 * 15 * FOLD_SYSTEMS.length);
});

/** Of the benchmark: three folds of 4028 and of 4000 rows. */
const SIZES: Record<string, { test: number; train: number }> = {
  nwtco: { test: 1343, train: 2685 },
  flchain: { test: 1333, train: 2667 },
};

test("a folder without the files says what belongs there", () => {
  const folder = mkdtempSync(join(tmpdir(), "graduate-folds-"));
  const { code, stdout, stderr } = runCli(["reproduce", "folds", "--data", folder], "", folder);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("missing in the folder: scores.csv, nwtco.csv, nwtco_test_rows.csv");
  expect(stderr.replace(/\s+/g, " ")).toContain("columns iteration and row, counted from 1");
  expect(existsSync(join(folder, "folds.jsonl"))).toBe(false);
  rmSync(folder, { recursive: true });
});
