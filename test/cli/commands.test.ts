// Each command end to end, its JSON held against R's numbers for the bundled tables.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const nwtco = ["datasets/nwtco/nwtco.csv", "--time", "edrel", "--event", "rel"];
const flchain = ["datasets/flchain/flchain.csv", "--time", "futime", "--event", "death"];

// biome-ignore lint/suspicious/noExplicitAny: oracle files have no type of their own
const readOracle = (path: string): any => JSON.parse(readFileSync(`${root}test/oracles/${path}`, "utf8"));

/** Relative agreement, absolute near zero. */
function expectClose(actual: number | null, wanted: number, tolerance = 1e-10): void {
  expect(actual).not.toBeNull();
  expect(Math.abs(Number(actual) - wanted)).toBeLessThanOrEqual(
    tolerance * Math.max(1e-300, Math.abs(wanted)),
  );
}

interface Finding {
  readonly code: string;
  readonly level: string;
  readonly column: string | null;
  readonly message: string;
}

interface Description {
  readonly rows: number;
  readonly events: number;
  readonly censored: number;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly missing: number }[];
  readonly findings: readonly Finding[];
  readonly groups: readonly { readonly name: string; readonly rows: number }[];
}

describe("graduate describe", () => {
  test("nwtco: sizes, types, and seqno found to be an id", () => {
    const described = runJson<Description>(["describe", ...nwtco]);
    expect([described.rows, described.events, described.censored]).toEqual([4028, 571, 3457]);
    expect(described.columns.map(({ type }) => type)).toEqual([...new Array(8).fill("number"), "boolean"]);
    expect(described.findings.filter(({ code }) => code === "id").map(({ column }) => column)).toEqual([
      "seqno",
    ]);
    expect(described.findings.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("flchain: chapter leaks the event, three times are 0", () => {
    const described = runJson<Description>(["describe", ...flchain]);
    expect([described.rows, described.events]).toEqual([7874, 2169]);
    const errors = described.findings.filter(({ level }) => level === "error");
    expect(errors.map(({ code, column }) => [code, column])).toEqual([["leak.event", "chapter"]]);
    const zero = described.findings.find(({ code }) => code === "time.nonpositive");
    expect(zero?.level).toBe("warning");
    const missing = Object.fromEntries(described.columns.map((column) => [column.name, column.missing]));
    expect([missing.creatinine, missing.chapter]).toEqual([1350, 5705]);
  });

  test("--groups lists the paper's 12 groups of nwtco", () => {
    const described = runJson<Description>(["describe", ...nwtco, "--groups", "datasets/nwtco/groups.json"]);
    expect(described.groups).toHaveLength(12);
    expect(described.groups[0]).toMatchObject({ name: "all", rows: 4028 });
  });

  test("--category makes a number column a category", () => {
    const described = runJson<Description>(["describe", ...nwtco, "--category", "stage,study"]);
    const types = Object.fromEntries(described.columns.map((column) => [column.name, column.type]));
    expect([types.stage, types.study, types.histol]).toEqual(["category", "category", "number"]);
  });
});

interface KmGroup {
  readonly name: string;
  readonly time: number[];
  readonly atRisk: number[];
  readonly events: number[];
  readonly survival: number[];
  readonly variance: (number | null)[];
  readonly lower: (number | null)[];
}

interface Km {
  readonly groups: readonly KmGroup[];
  readonly logrank: { readonly chi2: number; readonly df: number; readonly p: number } | null;
}

describe("graduate km", () => {
  test("agrees with survfit on nwtco at the recorded times", () => {
    const { groups, logrank } = runJson<Km>(["km", ...nwtco]);
    const { km } = readOracle("r/nwtco.json");
    expect(groups.map(({ name }) => name)).toEqual(["all"]);
    expect(logrank).toBeNull();
    km.time.forEach((time: number, k: number) => {
      const i = groups[0].time.indexOf(time);
      expect(groups[0].atRisk[i]).toBe(km.n_risk[k]);
      expectClose(groups[0].survival[i], km.surv[k]);
      expectClose(groups[0].variance[i], km.var_surv[k]);
    });
  });

  test.each([
    ["nwtco", nwtco, "histol", ["histol=1", "histol=2"]],
    ["nwtco", nwtco, "stage", ["stage=1", "stage=2", "stage=3", "stage=4"]],
    ["flchain", flchain, "sex", ["sex=F", "sex=M"]],
  ] as const)("%s: the logrank test is survdiff's (%#)", (table, args, by, names) => {
    const { groups, logrank } = runJson<Km>(["km", ...args, "--by", by]);
    const oracle = readOracle(`r/${table}.json`).logrank[by];
    expect(groups.map(({ name }) => name)).toEqual(names);
    expectClose(logrank?.chi2 ?? null, oracle.chisq);
    expect(logrank?.df).toBe(oracle.df);
    expectClose(Math.log(logrank?.p ?? Number.NaN), oracle.log_p);
    groups.forEach((group, g) => {
      expect(group.events.reduce((sum, events) => sum + events, 0)).toBe(oracle.observed[g]);
    });
  });

  test("--interval changes the limits, --svg writes a picture", () => {
    const path = writeScratch("km.svg", "");
    const log = runJson<Km>(["km", ...nwtco, "--svg", path]).groups[0];
    const plain = runJson<Km>(["km", ...nwtco, "--interval", "plain"]).groups[0];
    const last = log.survival.length - 1;
    expect(log.survival).toEqual(plain.survival);
    expect(log.lower[last]).not.toBe(plain.lower[last]);
    expect(readFileSync(path, "utf8")).toMatch(/^<svg[\s\S]*<path[\s\S]*<\/svg>\n$/);
  });
});

interface Cox {
  readonly coefficients: readonly {
    readonly name: string;
    readonly estimate: number;
    readonly standardError: number;
  }[];
  readonly loglik: number;
  readonly n: number;
  readonly events: number;
  readonly concordance: Readonly<Record<string, number>>;
}

describe("graduate cox", () => {
  const features = ["--features", "histol,stage,study,age", "--category", "histol,stage,study"];

  test.each(["efron", "breslow"])("agrees with coxph on nwtco, %s ties", (ties) => {
    const fit = runJson<Cox>(["cox", ...nwtco, ...features, "--ties", ties]);
    const { columns, [ties]: wanted } = readOracle("cox/cox.json").nwtco;
    expect(fit.coefficients.map(({ name }) => name)).toEqual(columns);
    fit.coefficients.forEach(({ estimate, standardError }, k) => {
      expect(Math.abs(estimate - wanted.coef[k])).toBeLessThan(1e-8);
      expect(Math.abs(standardError - wanted.se[k])).toBeLessThan(1e-8);
    });
    expectClose(fit.loglik, wanted.loglik);
    expect([fit.n, fit.events]).toEqual([4028, 571]);
  });

  test("counts pairs as R's concordance does", () => {
    const { concordance } = runJson<Cox>(["cox", ...nwtco, ...features, "--ties", "breslow"]);
    const { harrell } = readOracle("r/nwtco.json").concordance;
    const { concordant, discordant, tiedRisk, tiedTime, tiedBoth } = concordance;
    expect([concordant, discordant, tiedRisk, tiedTime, tiedBoth]).toEqual([
      harrell.concordant,
      harrell.discordant,
      harrell.tied_x,
      harrell.tied_y,
      harrell.tied_xy,
    ]);
    expectClose(concordance.c, harrell.C);
  });

  test("leaves rows with missing values out, as R does, and leaves ids out by itself", () => {
    const fit = runJson<Cox>(["cox", ...flchain, "--drop", "chapter"]);
    expect(fit.n).toBe(7874 - 1350);
    const all = runJson<Cox>(["cox", ...nwtco]);
    expect(all.coefficients.map(({ name }) => name)).not.toContain("seqno");
  });

  test("uses a leaking column when it is allowed by name", () => {
    const args = ["cox", ...flchain, "--features", "age,chapter", "--allow-leak", "chapter"];
    const names = runJson<Cox>(args).coefficients.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("chapter"))).toHaveLength(15);
  });
});

interface AuditScores {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: compared field by field below
  readonly [field: string]: any;
}

function expectScores(scores: AuditScores, oracle: ReturnType<typeof readOracle>): void {
  expect([scores.n, scores.events]).toEqual([oracle.n, oracle.events]);
  expectClose(scores.concordance, oracle.C_td);
  expectClose(scores.concordanceHalfTies, oracle.C_td_half_ties);
  expectClose(scores.paper.ece, oracle.ECE);
  expectClose(scores.paper.distanceL2, oracle.L2_distance);
  expectClose(scores.paper.distanceVariance, oracle.variance_adjusted_max);
  expectClose(scores.ibs, oracle.IBS.mean_t1_tau_G_reverse);
  expectClose(scores.rps, oracle.RPS.sum_cens_t_le_c);
  expectClose(scores.dCalibration.chi2, oracle.Dcal.chisq);
  expectClose(scores.dCalibration.p, oracle.Dcal.p);
  for (const [k, count] of oracle.Dcal.counts.entries()) expectClose(scores.dCalibration.counts[k], count);
  const { mean_curve_neglogS: mean, individual_sum_hazard: individual } = oracle.one_sample_logrank;
  expectClose(scores.logrank.expected, mean.expected);
  expectClose(scores.logrank.chi2, mean.chisq);
  expectClose(scores.logrankIndividual.expected, individual.expected);
  expectClose(scores.paper.totalScore, oracle.total_score);
}

describe("graduate audit --curves", () => {
  const matrices = ["cox", "miscal", "strat"].flatMap((model) => [
    `nwtco_stride500_${model}`,
    `flchain_stride500_${model}`,
  ]);

  test.each(matrices)("%s: every score is R's, overall and by group", (matrix) => {
    const oracle = readOracle(`pred/${matrix}.json`);
    const by = Object.keys(oracle.subgroups);
    const path = `test/oracles/pred/${matrix}.csv.gz`;
    const audit = runJson<{ overall: AuditScores; groups: AuditScores[] }>([
      "audit",
      "--curves",
      path,
      "--by",
      by.join(","),
    ]);
    expectScores(audit.overall, oracle.overall);
    const named = new Map(audit.groups.map((scores) => [scores.name, scores]));
    for (const column of by) {
      for (const [level, wanted] of Object.entries(oracle.subgroups[column])) {
        const scores = named.get(`${column}=${level}`);
        expect(scores, `${column}=${level}`).toBeDefined();
        if (scores) expectScores(scores, wanted);
      }
    }
    expect(audit.overall.supported.bins).toBeGreaterThan(50);
    expect(audit.overall.noiseFloor.ece).toBeGreaterThan(0);
    expect(audit.overall.noiseFloor.eceCritical).toBeGreaterThan(audit.overall.noiseFloor.ece);
  });

  test("the noise floor tells the distorted curves from the fitted ones", () => {
    const p = (model: string) =>
      runJson<{ overall: AuditScores }>([
        "audit",
        "--curves",
        `test/oracles/pred/nwtco_stride500_${model}.csv.gz`,
      ]).overall.noiseFloor.p;
    expect(p("miscal")).toBeLessThan(0.01);
    expect(p("cox")).toBeGreaterThan(0.05);
  });

  test("times on a raw scale with a horizon give the same audit as their bins", () => {
    const text = gunzipSync(readFileSync(`${root}test/oracles/pred/nwtco_stride500_cox.csv.gz`)).toString();
    const [header, ...rows] = text.trimEnd().split("\n");
    const timed = rows.map((row) => {
      const cells = row.split(",");
      return [...cells, Number(cells[1]) * 10 - 3].join(",");
    });
    const path = writeScratch("timed.csv", `${header.replace("bin", "was")},days\n${timed.join("\n")}\n`);
    const args = ["--time", "days", "--horizon", "1020"];
    type Audited = { overall: AuditScores; edges: readonly number[] };
    const { edges, ...byTime } = runJson<Audited>(["audit", "--curves", path, ...args]);
    const { edges: bins, ...byBin } = runJson<Audited>([
      "audit",
      "--curves",
      "test/oracles/pred/nwtco_stride500_cox.csv.gz",
    ]);
    expect(byTime).toEqual(byBin);
    expect(edges).toEqual(bins.map((bin) => 10 * bin));
  });

  test("--replicates adds intervals that repeat with the seed, whatever the number of threads", () => {
    const args = [
      "audit",
      "--curves",
      "datasets/nwtco/example-curves.csv.gz",
      "--by",
      "histol",
      "--replicates",
      "40",
    ];
    const one = runJson<{ overall: AuditScores; groups: AuditScores[] }>([...args, "--threads", "1"]);
    const two = runJson<{ overall: AuditScores; groups: AuditScores[] }>([...args, "--threads", "2"]);
    expect(one).toEqual(two);
    const { lower, upper } = one.overall.intervals.concordance;
    expect(lower).toBeLessThan(one.overall.concordance);
    expect(upper).toBeGreaterThan(one.overall.concordance);
    expect(one.groups[0].intervals.ece.upper).toBeGreaterThan(0);
    expect(runJson([...args, "--seed", "2"])).not.toEqual(one);
    const before = runCli([...args.map((word) => word.replace("--replicates", "--intervals")), "--json"]);
    expect(JSON.parse(before.stdout)).toEqual(one);
    expect(before.stderr).toBe("graduate: --intervals is now --replicates; the old name still works here\n");
  });
});

test("reads a table from standard input", () => {
  const table = readFileSync(`${root}datasets/nwtco/nwtco.csv`, "utf8");
  const { code, stdout } = runCli(["describe", "-", "--time", "edrel", "--event", "rel", "--json"], table);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).rows).toBe(4028);
});
