// `graduate boost` as a command: a Cox model that was not told of the histology, repaired for it.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { splitByOrder } from "../../src/data/outcomes/split.ts";
import { writeModel } from "../../src/node/io/model-file.ts";
import { describeOrigin } from "../../src/node/io/provenance.ts";
import { openTableFile } from "../../src/node/options/table-options.ts";
import { auditModel } from "../../src/verbs/audit-model.ts";
import { studyOf } from "../../src/verbs/model-study.ts";
import { prepare, train } from "../../src/verbs/train.ts";
import { resealedBoost } from "../files/resealed.ts";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const table = "datasets/nwtco/nwtco.csv";
const model = writeScratch("cox.model", "");
const saved = writeScratch("boost.json", "");
const curves = writeScratch("boosted.csv", "");
const QUICK = ["--method", "mcboost", "--rounds", "20", "--time-ranges", "2"];
const N = 4028;

interface BoostDocument {
  readonly rows: { readonly fit: number; readonly held: number };
  readonly choice: { readonly share: number };
  readonly boost: { readonly kind: string };
  readonly warnings: readonly string[];
  readonly verdict: {
    readonly worst: Record<"before" | "after", { readonly group: string; readonly distance: number }>;
    readonly ibsChange: number;
    readonly concordance: { readonly before: number; readonly after: number };
  };
}

beforeAll(async () => {
  const split = splitByOrder(N, { seed: 1 });
  const groups = [
    { name: "histol = 2", expression: "histol = 2" },
    { name: "stage = 4", expression: "stage = 4" },
  ];
  const drop = ["histol", "instit", "seqno"];
  const request = { time: "edrel", event: "rel", method: "cox", drop, split, groups, bins: 20 } as const;
  const file = await openTableFile(`${root}${table}`, {});
  const study = prepare(file.table, request, file.sha256);
  const run = train(study, request, createReferenceBackend());
  let next = await run.next();
  while (!next.done) next = await run.next();
  const { audit: metrics } = await auditModel(studyOf(next.value, study, split), split.test, null, {
    draws: 0,
  });
  await writeModel(model, { ...next.value, provenance: describeOrigin(file, null), metrics });
});

describe("graduate boost", () => {
  test("MCBoostSurv on request: twenty rounds take the worst group to under three tenths of its distance", () => {
    const { verdict, rows } = runJson<BoostDocument>(["boost", model, table, ...QUICK]);
    expect(rows).toEqual({ fit: 806, held: 806 });
    expect(verdict.worst.before.group).toBe("histol = 2");
    expect(verdict.worst.after.distance).toBeLessThan(0.3 * verdict.worst.before.distance);
  });

  test("--reference is MCBoostSurv as the R package has it, and is said to be", () => {
    const args = ["boost", model, table, "--reference", "--rounds", "3"];
    const { boost: fitted, choice } = runJson<{ boost: { kind: string; options: object }; choice: null }>(
      args,
    );
    expect([fitted.kind, choice]).toEqual(["mcboost", null]);
    expect(fitted.options).toMatchObject({ reference: true, rounds: 3, step: 0.1 });
    expect(runCli(args).stdout).toContain("MCBoostSurv as the R package has it, faults included: 3 updates");
    const { code, stderr } = runCli([...args, "--time-ranges", "2"]);
    expect(code).toBe(1);
    expect(stderr).toContain("the reference's form has one range of time: leave out --time-ranges");
  });

  test("fits on the validation rows, judges on the test rows, and keeps curves and repair", () => {
    const args = ["boost", model, table, "--out", curves, "--save", saved];
    const found = runJson<BoostDocument>(args);
    expect(found.rows).toEqual({ fit: 806, held: 806 });
    expect(found.warnings[0]).toContain("only the 1612 rows that it has not learnt from are used");
    expect(found.boost.kind).toBe("hazards");
    expect(found.choice.share).toBeGreaterThan(0);
    const { worst, ibsChange, concordance } = found.verdict;
    expect(worst.before.group).toBe("histol = 2");
    expect(worst.after.distance).toBeLessThan(0.4 * worst.before.distance);
    expect(ibsChange).toBeLessThan(0);
    expect(concordance.after).toBeGreaterThan(concordance.before);
    const lines = readFileSync(curves, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(N + 1);
    expect(lines[0]).toMatch(/^row,S1,S2,.*,S20,median,bin,event,set$/);
  });

  test("the curves it wrote are audited by the command it prints, as they are", () => {
    const out = writeScratch("printed.parquet", "");
    const { stdout } = runCli(["boost", model, table, "--out", out]);
    expect(stdout).toContain("hazards multiplied by, early to late:");
    const [, command] = /^ {2}npx graduate (audit .*)$/m.exec(stdout) ?? [];
    expect(command).toBe(`audit --curves ${out} --group "set = test"`);
    for (const file of [out, curves]) {
      const args = ["audit", "--curves", file, "--group", "set = test", "--draws", "0", "--replicates", "0"];
      const { groups } = runJson<{ groups: { name: string; n: number }[] }>(args);
      expect(groups.map(({ name, n }) => [name, n])).toEqual([["set = test", 806]]);
    }
  });

  test("a repair that was kept gives the same curves again", () => {
    const again = writeScratch("again.csv", "");
    const { code, stdout } = runCli(["boost", model, table, "--apply", saved, "--out", again]);
    expect(code).toBe(0);
    expect(stdout).toContain("carried out on 4028 rows");
    expect(stdout).toContain("not judged: the boost was fitted on rows of this table");
    // without the column that says which rows were fitted on
    const plain = readFileSync(curves, "utf8").replaceAll(/,(set|train|validation|test)$/gm, "");
    expect(readFileSync(again, "utf8") === plain).toBe(true);
  });

  test("curves of another program: half of the rows judge; the text fits 100 columns", () => {
    const people = readFileSync(`${root}${table}`, "utf8").trimEnd().split("\n").slice(1, 1201);
    const rows = people.map((line) => {
      const cells = line.split(",");
      const bin = Math.min(20, Math.max(1, Math.ceil((Number(cells[6]) * 20) / 6209)));
      const flat = Array.from({ length: 20 }, (_, t) => (0.993 ** (t + 1)).toFixed(6));
      return [cells[2], bin, cells[5], ...flat].join(",");
    });
    const header = `histol,bin,event,${Array.from({ length: 20 }, (_, t) => `S${t + 1}`).join(",")}`;
    const file = writeScratch("other.csv", `${[header, ...rows].join("\n")}\n`);
    const { code, stdout, stderr } = runCli(["boost", "--curves", file, "--group", "histol = 2", ...QUICK]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    for (const line of stdout.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(100);
    expect(stdout).toContain("on 600 rows (");
    expect(stdout).toMatch(/worst group: L2 \S+ \(histol = 2\) before/);
  });

  test("another model, and a path that would be written over, are refused", () => {
    const text = readFileSync(saved, "utf8").replace(
      /"model": "[0-9a-f]{64}"/,
      `"model": "${"0".repeat(64)}"`,
    );
    const changed = runCli(["boost", model, table, "--apply", writeScratch("changed.json", text)]);
    expect(changed.code).toBe(1);
    expect(changed.stderr).toContain("the boost's checksum does not match");
    const other = writeScratch("other.json", resealedBoost(JSON.parse(text)));
    const { code, stderr } = runCli(["boost", model, table, "--apply", other]);
    expect(code).toBe(1);
    expect(stderr).toContain("the curves of another model");
    const over = runCli(["boost", model, table, "--out", model]);
    expect(over.code).toBe(1);
    expect(over.stderr).toContain("would write over a file that it reads");
  });
});
