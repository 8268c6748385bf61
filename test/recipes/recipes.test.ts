// docs/audit-any-model.md: its scripts are the ones kept here, and its table is what audits of the curves they wrote
// give.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { AuditedScores, AuditTable } from "../../src/verbs/audit.ts";
import { root, runCli, runJson } from "../cli/run-cli.ts";

const page = readFileSync(join(root, "docs/audit-any-model.md"), "utf8");
const recipe = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");

describe("scripts", () => {
  test("those of the page are the ones that were run", () => {
    const blocks = [...page.matchAll(/^```(?:r|python)\n([\s\S]*?)^```/gm)].map(([, code]) => code);
    const names = [
      "coxph.R",
      "lifelines_weibull.py",
      "scikit_survival_forest.py",
      "pycox_logistic_hazard.py",
    ];
    expect(blocks).toEqual(names.map(recipe));
  });

  test("the one without histology is the first without histology", () => {
    const without = recipe("coxph.R").replace(" + factor(histol)", "");
    expect(recipe("coxph-without-histology.R")).toBe(
      without.replace('"coxph.csv"', '"coxph-without-histology.csv"'),
    );
  });
});

/** Of the printed audit's --tolerance. */
const TOLERANCE = 0.05;
const WORDS = {
  disagrees: "disagrees",
  noDisagreementShown: "no disagreement shown",
  tooFewEvents: "too few events",
};

type Audited = Pick<AuditTable, "overall" | "groups"> & { readonly warnings: readonly string[] };

/** The command of the page, after the file. */
const COMMAND = ["--time", "edrel", "--event", "rel", "--by", "histol,stage,study", "--time-unit", "days"];
const pathOf = (name: string) => fileURLToPath(new URL(`${name}.csv.gz`, import.meta.url));

function auditRecipe(name: string) {
  const { overall, groups, warnings } = runJson<Audited>([
    "audit",
    "--curves",
    pathOf(name),
    ...COMMAND,
    "--json",
  ]);
  expect([overall.n, overall.events, overall.supported.bins, warnings]).toEqual([1339, 181, 30, []]);
  return [overall, ...groups];
}

const points = (value: unknown) => (100 * (value as number)).toFixed(1);

function distances(group: AuditedScores | undefined): string {
  if (group === undefined) throw new Error("no such group");
  const gap = points(Math.sqrt(group.distanceL2 as number));
  return `${gap}, below ${points(group.bound)}: ${WORDS[group.agreement]}`;
}

test.each([
  ["coxph", "Cox (R)"],
  ["lifelines", "Weibull (lifelines)"],
  ["scikit-survival", "random survival forest (scikit-survival)"],
  ["pycox", "LogisticHazard (pycox)"],
  ["coxph-without-histology", "Cox without histology (R)"],
])(
  "the page has the audit of %s",
  async (name, title) => {
    const groups = await auditRecipe(name);
    const loose = groups.filter(({ bound }) => !((bound as number) < TOLERANCE)).map((one) => one.name);
    const cells = [
      title,
      (groups[0].concordance as number).toFixed(3),
      distances(groups[0]),
      distances(groups.find((one) => one.name === "histol=2")),
      loose.join(", "),
    ];
    expect(page).toContain(`| ${cells.join(" | ")} |`);
  },
  30_000,
);

test("the sentences below the table", () => {
  const four = ["coxph", "lifelines", "scikit-survival", "pycox"].map(auditRecipe);
  const disagreeing = four.map((groups) =>
    groups.filter(({ agreement }) => agreement === "disagrees").map(({ name }) => name),
  );
  expect(disagreeing).toEqual([[], ["all", "histol=1", "histol=2", "study=3", "study=4"], [], []]);
  expect(four.map((groups) => groups.length)).toEqual([9, 9, 9, 9]);
  for (const [everyone] of four) expect(everyone.bound).toBeLessThan(TOLERANCE);
  const bounds = four.map((groups) => groups.find(({ name }) => name === "histol=2")?.bound as number);
  expect(page).toContain(`between ${points(Math.min(...bounds))} and ${points(Math.max(...bounds))} points`);
  const { stdout } = runCli(["audit", "--curves", pathOf("lifelines"), ...COMMAND]);
  expect(stdout).toContain(
    "\nall: from 270 days to 4.19 years, up to 3.5 points too high (curves at single times)\n",
  );
  expect(page.replaceAll("\n", " ")).toContain("up to 3.5 points too high from 270 days to 4.19 years");
});
