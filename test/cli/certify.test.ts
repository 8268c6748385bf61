// `graduate audit --certify`: in JSON, in words, in the report, as a requirement; by training rows where the table
// holds them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Certificates } from "../../src/stats/certificates/certificates.ts";
import { strangersOf } from "../data/other-rows.ts";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const CURVES = join(root, "datasets", "nwtco", "example-curves.csv.gz");
const NWTCO = join(root, "datasets", "nwtco", "nwtco.csv");
const given = ["audit", "--curves", CURVES, "--draws", "0"];

interface Audited {
  readonly certificates: Certificates | null;
}

describe("certificates of another program's curves", () => {
  test("are null unless asked for", () => {
    expect(runJson<Audited>(given).certificates).toBeNull();
  });

  test("bound the observed distance, exactly more widely than tightly", () => {
    const { certificates } = runJson<Audited>([...given, "--certify", "0.05"]);
    expect(certificates?.alpha).toBe(0.05);
    const [all, ...groups] = certificates?.groups ?? [];
    expect(groups).toEqual([]);
    expect(all).toMatchObject({ name: "all", n: 500, bins: 96, basis: "audited rows", absent: {} });
    const { distance, tight, exact, exactPopulation } = all;
    expect(distance as number).toBeLessThan(tight as number);
    expect(tight as number).toBeLessThan(exact as number);
    expect(exact as number).toBeLessThan(exactPopulation as number);
    // √ of the supported L2 distance is the same number.
    const { overall } = runJson<{ overall: { supported: { distanceL2: number } } }>(given);
    expect(distance).toBeCloseTo(Math.sqrt(overall.supported.distanceL2), 12);
  });

  test("are at 5 % without a value, wherever the option stands", () => {
    const usual = runCli([...given, "--certify", "0.05"]);
    expect(runCli([...given, "--certify"])).toEqual(usual);
    expect(runCli(["audit", "--certify", "--curves", CURVES, "--draws", "0"])).toEqual(usual);
    expect(runCli([...given, "--certify=0.05"])).toEqual(usual);
  });

  test("are printed with what they assume, and Theorem 1 once, as vacuous", () => {
    const { stdout, code } = runCli([...given, "--certify", "0.1"]);
    expect(code).toBe(0);
    const text = stdout.replace(/\s+/g, " ");
    expect(text).toMatch(/certificates: .* all groups together with 90 % confidence/);
    expect(text).toMatch(/assumes: within each group censoring is independent of when the event comes/);
    expect(text.match(/Theorem 1/g)).toHaveLength(1);
    expect(text).toMatch(/ρ is at least 3\.4 B, .*vacuous/);
    for (const line of stdout.split("\n")) expect([...line].length).toBeLessThanOrEqual(100);
  });

  test("can be required, and stand in the report", () => {
    const required = [...given, "--certify", "0.05", "--require"];
    expect(runCli([...required, "certificate tight<0.2"]).code).toBe(0);
    const failed = runCli([...required, "certified<0.001"]);
    expect(failed.code).toBe(2);
    expect(failed.stdout).toMatch(/not met: certified<0.001/);
    const unasked = runCli([...given, "--require", "certified<0.5"]);
    expect(unasked.stdout).toMatch(/cannot say \(certificates were not asked for \(--certify\)\)/);
    const page = writeScratch("certified.html", "");
    const args = ["--certify", "0.05", "--replicates", "0", "--report", page];
    expect(runCli([...given, ...args]).code).toBe(0);
    const html = readFileSync(page, "utf8");
    expect(html).toContain("Certified gap");
    expect(html).toMatch(/data-key="certificate" [^>]*data-value="0\.\d+"/);
  });

  test("a share that is none is refused", () => {
    for (const share of ["0", "1", "5", "-1", ""]) {
      const { code, stderr } = runCli([...given, "--certify", share]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/between 0 and 1/);
    }
  });
});

describe("certificates of a model", () => {
  const model = writeScratch("certified.model", "");
  beforeAll(() => {
    const args = ["--time", "edrel", "--event", "rel", "--method", "cox", "--drop", "seqno"];
    const trained = runCli(["train", NWTCO, ...args, "--seed", "3", "--out", model]);
    if (trained.code !== 0) throw new Error(trained.stderr);
  });

  test("take λ from its training rows where the table is its own, and the bins of the audit", () => {
    const asked = ["audit", model, NWTCO, "--draws", "0", "--by", "stage,histol", "--certify", "0.05"];
    const { certificates } = runJson<Audited>(asked);
    const groups = certificates?.groups ?? [];
    expect(groups.length).toBeGreaterThan(5);
    expect(groups.every(({ basis }) => basis === "training rows")).toBe(true);
    expect(certificates?.assumes.join()).toMatch(/the bins were read off these rows/);
    for (const { distance, exact, exactPopulation, tight } of groups) {
      expect(exact as number).toBeGreaterThan(distance as number);
      expect(exactPopulation as number).toBeGreaterThan(exact as number);
      expect(tight as number).toBeGreaterThan(distance as number);
    }
  });

  test("leave the model and the table their places", () => {
    const rest = ["--draws", "0", "--json"];
    const usual = runCli(["audit", model, NWTCO, ...rest, "--certify", "0.05"]);
    expect(usual.code).toBe(0);
    expect(runCli(["audit", "--certify", model, NWTCO, ...rest])).toEqual(usual);
    expect(runCli(["audit", model, "--certify", NWTCO, ...rest])).toEqual(usual);
    expect(runCli(["audit", "--certify", "0.05", model, NWTCO, ...rest])).toEqual(usual);
  });

  test("are refused on rows it has seen", () => {
    const { code, stderr } = runCli([
      "audit",
      model,
      NWTCO,
      "--draws",
      "0",
      "--all-rows",
      "--certify",
      "0.05",
    ]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/the model has seen rows that are to certify it/);
  });

  test("of another table are those of its own rows", () => {
    const other = writeScratch("other.csv", strangersOf(readFileSync(NWTCO, "utf8"), "age", 1499));
    const { certificates } = runJson<Audited>(["audit", model, other, "--draws", "0", "--certify", "0.05"]);
    expect(certificates?.groups[0]).toMatchObject({ n: 1499, basis: "audited rows" });
    expect(certificates?.assumes.join()).toMatch(/read off these rows/);
  });
});
