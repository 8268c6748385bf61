// All that `graduate cox` says of a fit against R's coxph, summary, cluster() and cox.zph
// (test/oracles/cox/inference.R).
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readTable } from "../../src/data/reading/read-table.ts";
import { findColumn, type Table } from "../../src/data/table.ts";
import { tableSourceFromPath } from "../../src/node/io/input-file.ts";
import { type CoxRequest, coxDocument } from "../../src/verbs/statistics/cox.ts";
import type { CoxDocument } from "../../src/verbs/statistics/cox-document.ts";

interface TestRow {
  readonly term: string;
  readonly chi2: number;
  readonly df: number;
  readonly p: number;
}

interface Oracle {
  readonly coef: readonly number[];
  readonly se: readonly number[];
  readonly used_se: readonly number[];
  readonly z: readonly number[];
  readonly p: readonly number[];
  readonly hr: readonly number[];
  readonly lower: readonly number[];
  readonly upper: readonly number[];
  readonly loglik: readonly number[];
  readonly n: number;
  readonly events: number;
  readonly lr: readonly number[];
  readonly wald: readonly number[];
  readonly score: readonly number[];
  readonly robust_score?: readonly number[];
  readonly concordance: readonly number[];
  readonly km: readonly TestRow[];
  readonly identity: readonly TestRow[];
}

const oracle = JSON.parse(readFileSync(new URL("../oracles/cox/inference.json", import.meta.url), "utf8"));

type Case = CoxRequest & { readonly table: string; readonly category?: readonly string[] };

const lung = {
  table: "lung",
  time: "time",
  event: "status",
  eventIs: "2",
  category: ["sex", "ph.ecog"],
} as const;
const veteran = { table: "veteran", time: "time", event: "status", category: ["trt"] } as const;
const pbc = { table: "pbc", time: "time", event: "status", eventIs: "2" } as const;
const retinopathy = { table: "retinopathy", time: "futime", event: "status" } as const;

const CASES: Readonly<Record<string, Case>> = {
  plain: { ...lung, features: ["age", "sex", "ph.ecog", "wt.loss"] },
  tied: { ...lung, time: "quarter", features: ["age", "sex", "ph.ecog"] },
  strata: { ...veteran, features: ["karno", "age", "trt"], strata: ["celltype"] },
  strata_two: { ...pbc, features: ["age", "log_bili"], strata: ["edema", "sex"] },
  reference: { ...veteran, features: ["karno", "celltype", "trt"], reference: ["celltype=squamous"] },
  number_number: { ...pbc, features: ["age", "bili"], interaction: ["age:bili"] },
  number_category: { ...veteran, features: ["karno", "celltype"], interaction: ["karno:celltype"] },
  category_category: { ...veteran, features: ["trt"], interaction: ["trt:celltype"] },
  cluster: { ...retinopathy, features: ["trt", "age", "type", "risk"], id: "id" },
  cluster_strata: { ...retinopathy, features: ["age", "trt", "risk"], strata: ["type"], id: "id" },
  cluster_tied: { ...lung, time: "quarter", features: ["age", "sex"], id: "inst" },
  gbsg: {
    table: "gbsg",
    time: "rfstime",
    event: "status",
    features: ["age", "meno", "size", "grade", "nodes", "pgr", "er", "hormon"],
  },
};

async function load(name: string, category: readonly string[] = []): Promise<Table> {
  const path = fileURLToPath(new URL(`../tables/${name}.csv`, import.meta.url));
  const table = await readTable(await tableSourceFromPath(path), { category });
  const derive = (from: string, to: string, change: (value: number) => number) => {
    const column = findColumn(table, from);
    if (column.type !== "number") throw new Error(`${from} is not a number`);
    return { ...column, name: to, values: column.values.map(change) };
  };
  const added =
    name === "lung"
      ? [derive("time", "quarter", (time) => Math.ceil(time / 91))]
      : name === "pbc"
        ? [derive("bili", "log_bili", Math.log)]
        : [];
  return { ...table, columns: [...table.columns, ...added] };
}

const NEAR = 1e-8; // relative; R's own last Newton step decides the rest

function near(actual: number | null, expected: number, what: string): void {
  const off = Math.abs((actual ?? Number.NaN) - expected);
  expect(off, `${what}: ${actual} against ${expected}`).toBeLessThanOrEqual(
    NEAR * Math.max(Math.abs(expected), NEAR),
  );
}

function compare(document: CoxDocument, expected: Oracle): void {
  expect(document.coefficients).toHaveLength(expected.coef.length);
  document.coefficients.forEach((one, j) => {
    near(one.estimate, expected.coef[j], `${one.name} estimate`);
    near(one.standardError, expected.se[j], `${one.name} se`);
    if (document.id !== null) near(one.robustStandardError, expected.used_se[j], `${one.name} robust se`);
    near(one.hazardRatio, expected.hr[j], `${one.name} hazard ratio`);
    near(one.lower, expected.lower[j], `${one.name} lower`);
    near(one.upper, expected.upper[j], `${one.name} upper`);
    near(one.z, expected.z[j], `${one.name} z`);
    near(one.p, expected.p[j], `${one.name} p`);
  });
  expect([document.n, document.events]).toEqual([expected.n, expected.events]);
  near(document.loglikNull, expected.loglik[0], "null log-likelihood");
  near(document.loglik, expected.loglik[1], "log-likelihood");
  for (const [key, own] of [
    ["likelihoodRatio", expected.lr],
    ["wald", expected.wald],
    ["score", expected.score],
    ...(expected.robust_score === undefined ? [] : [["robustScore", expected.robust_score] as const]),
  ] as const) {
    near(document.tests[key]?.chi2 ?? null, own[0], `${key} chi2`);
    expect(document.tests[key]?.df).toBe(own[1]);
  }
  const { concordant, discordant, tiedRisk, tiedTime, tiedBoth, c } = document.concordance;
  expect([concordant, discordant, tiedRisk, tiedTime, tiedBoth]).toEqual(expected.concordance.slice(0, 5));
  near(c, expected.concordance[5], "C-index");
  for (const transform of ["km", "identity"] as const) {
    const { terms, global } = document.proportionalHazards[transform];
    const rows = [...terms, { ...global, term: "GLOBAL" }];
    expect(rows).toHaveLength(expected[transform].length);
    rows.forEach((row, t) => {
      const own = expected[transform][t];
      near(row.chi2, own.chi2, `${transform} ${row.term} chi2`);
      near(row.p, own.p, `${transform} ${row.term} p`);
      expect(row.df).toBe(own.df);
    });
  }
}

describe.each(Object.entries(CASES))("R on %s", (name, { table: file, category, ...asked }) => {
  test.each(["efron", "breslow"] as const)("%s ties: coefficients, intervals, tests", async (ties) => {
    const table = await load(file, category);
    compare(coxDocument(table, { ...asked, ties }), oracle[name][ties]);
  });
});
