// `graduate compare` as a command: one split with its resamples, several splits with the t test.
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runCli, runJson, writeScratch } from "./run-cli.ts";

const table = "datasets/nwtco/nwtco.csv";
const OUTCOME = ["--time", "edrel", "--event", "rel", "--drop", "seqno", "--bins", "12"];

interface CompareDocument {
  readonly test: string;
  readonly splits: readonly { readonly name: string; readonly rows: Readonly<Record<string, number>> }[];
  readonly runs: readonly {
    readonly method: string;
    readonly split: string;
    readonly concordance: number;
    readonly worstGroup: string;
    readonly met: number | null;
    readonly failure: string | null;
  }[];
  readonly differences: readonly {
    readonly method: string;
    readonly score: string;
    readonly estimate: number;
    readonly lower: number;
    readonly upper: number;
    readonly p: number;
    readonly adjustedP: number;
  }[];
}

describe("graduate compare", () => {
  test("one split: a table of methods, their differences, and what these are conditional on", () => {
    const args = ["compare", table, ...OUTCOME, "--methods", "cox,cox+boost,graduate", "--steps", "20"];
    const { code, stdout, stderr } = runCli([...args, "--group", "histol = 2", "--replicates", "100"]);
    expect(code).toBe(0);
    for (const line of stdout.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(100);
    expect(stdout).toMatch(/^seed 1: 2416 training, 806 validation and 806 test rows; 1 group judged/);
    expect(stdout).toMatch(/\ncox\s+0\.7\d\d .* – {2,}\d+\.\d\n/);
    expect(stdout).toMatch(/\ngraduate\s+0\.7\d\d .* \d\/2 {2,}\d+\.\d\n/);
    expect(stdout.replaceAll("\n", " ")).toContain("conditional on this split and these fits");
    expect(stdout.replaceAll("\n", " ")).toContain("no adjusted p-value can be below 0.20");
    expect(stderr).toContain("seed 1, cox+boost: C 0.");
  });

  test("without groups their scores are absent, and one line says so", () => {
    const args = [
      "compare",
      table,
      ...OUTCOME,
      "--methods",
      "cox,nll",
      "--steps",
      "2",
      "--replicates",
      "100",
    ];
    const { code, stdout } = runCli(args);
    expect(code).toBe(0);
    expect(stdout).toContain(
      "\n–: no difference in group ECE, worst ECE (one of the two scores is absent)\n",
    );
    expect(stdout.match(/^method/gm)?.length).toBe(2);
  });

  test("several splits: the same rows for all methods, and the corrected t", () => {
    const args = ["compare", table, ...OUTCOME, "--methods", "cox,graduate:l2", "--steps", "20"];
    const found = runJson<CompareDocument>([...args, "--seeds", "1,2,3", "--group", "stage = 4"]);
    expect(found.test).toBe("corrected resampled t");
    expect(found.splits.map(({ name }) => name)).toEqual(["seed 1", "seed 2", "seed 3"]);
    expect(found.runs.map(({ method }) => method)).toEqual(Array(3).fill(["cox", "graduate:l2"]).flat());
    expect(found.differences).toHaveLength(5);
    const [C] = found.differences;
    const values = found.runs.map(({ concordance }) => concordance);
    const differences = [0, 2, 4].map((k) => values[k + 1] - values[k]);
    const mean = differences.reduce((sum, value) => sum + value, 0) / 3;
    const variance = differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 2;
    expect(C).toMatchObject({ method: "graduate:l2", score: "concordance" });
    expect(C.estimate).toBeCloseTo(mean, 12);
    // qt(0.975, 2) standard errors, of variance × (1/J + n_test/n_train)
    const half = 4.302652729749462 * Math.sqrt(variance * (1 / 3 + 806 / 2416));
    expect(C.upper - C.lower).toBeCloseTo(2 * half, 10);
  });

  test("kept runs are not made again, and neither they nor workers change a number", () => {
    const asked = [
      "compare",
      "test/tables/gbsg.csv",
      "--time",
      "rfstime",
      "--event",
      "status",
      "--drop",
      "pid",
    ];
    const few = ["--bins", "8", "--methods", "cox,nll", "--steps", "5", "--replicates", "100"];
    const args = [...asked, ...few, "--group", "grade = 3"];
    const timeless = (document: CompareDocument) => ({
      ...document,
      runs: document.runs.map((run) => ({ ...run, seconds: 0 })),
    });
    const alone = timeless(runJson<CompareDocument>(args));
    const results = writeScratch("compared.jsonl", "");
    const kept = [...args, "--results", results];
    expect(timeless(runJson<CompareDocument>([...kept, "--workers", "2"]))).toEqual(alone);
    const lines = readFileSync(results, "utf8").trimEnd().split("\n").sort();
    expect(lines).toHaveLength(2);
    // One run is whole, the other was cut off by a kill.
    writeFileSync(results, `${lines[0]}\n${lines[1].slice(0, 90)}`);
    const { code, stderr } = runCli(kept);
    expect(code).toBe(0);
    expect(stderr).toContain("was cut off in the middle");
    expect(stderr).toContain("1 of 2 runs are in");
    expect(stderr.match(/^seed 1, /gm)).toHaveLength(1);
    expect(timeless(runJson<CompareDocument>(kept))).toEqual(alone);
    const tuned = writeScratch("of-tune.jsonl", '{"tune":1,');
    const refused = runCli([...args, "--results", tuned]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("not a results file of compare"),
    ]);
  });

  test("causes: a table for each, kept runs as they were, and nobody's cause refused", () => {
    const asked = [
      "compare",
      "test/tables/mgus2.csv",
      ...["--time", "months", "--event", "event", "--causes", "pcm,death=Death"],
      ...["--features", "age,hgb", "--bins", "8", "--replicates", "100"],
    ];
    const rivals = [...asked, "--methods", "cox,start", "--censored", "censored"];
    const { code, stdout, stderr } = runCli(rivals);
    expect(code).toBe(0);
    for (const line of stdout.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(100);
    expect(stdout).toContain("\npcm: 0 groups judged\n");
    expect(stdout).toContain("\nDeath: 0 groups judged\n");
    expect(stdout).toContain("–: no difference in group ECE (pcm, Death) (one of the two scores is absent)");
    expect(stderr).toMatch(/seed 1, cox: pcm C 0\.\d+, IBS 0\.\d+; Death C 0\.\d+, IBS/);
    const results = writeScratch("compared-causes.jsonl", "");
    const timeless = (document: CompareDocument) => ({
      ...document,
      runs: document.runs.map((run) => ({ ...run, seconds: 0 })),
    });
    const kept = [...rivals, "--results", results];
    const made = timeless(runJson<CompareDocument>([...kept, "--workers", "2"]));
    expect(made.differences).toHaveLength(10);
    expect(timeless(runJson<CompareDocument>(kept))).toEqual(made);
    const nobody = runCli([...asked.map((one) => one.replace("=Death", ",ghost")), "--censored", "censored"]);
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('no row of event is "ghost"')]);
  });
});
