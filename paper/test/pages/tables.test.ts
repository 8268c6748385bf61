// docs/results/tables.md is what its page makes of the committed lines, and the lines are all that the plan asks for.
import { readFileSync } from "node:fs";
import { isAbsent } from "graduate-survival/core";
import { correctedResampledT, holm } from "graduate-survival/stats";
import { expect, test } from "vitest";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

interface Plan {
  readonly seeds: readonly number[];
  readonly systems: readonly string[];
  readonly tables: readonly { readonly name: string }[];
}

interface TableRun {
  readonly kind: string;
  readonly table: string;
  readonly system: string;
  readonly seed: number;
  readonly rows: { readonly train: number; readonly test: number };
  readonly concordance: number;
  readonly ece: number;
  readonly groupEce: number;
  readonly worstEce: number;
  readonly ibs: number;
}

test("docs/results/tables.md is made from paper/tables.jsonl", () => {
  expect(STUDY_PAGES.tables(committedLines("tables"))).toBe(
    readFileSync(new URL("docs/results/tables.md", root), "utf8"),
  );
});

test("every table, system and split of the plan has one line, and every command ended well", () => {
  const plan = JSON.parse(read("paper/tables.json")) as Plan;
  const lines = read("paper/tables.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const wanted = plan.tables.flatMap(({ name }) =>
    plan.seeds.flatMap((seed) => plan.systems.map((system) => `${name} ${system} ${seed}`)),
  );
  const runs = lines.filter(({ kind }) => kind === "run");
  expect(runs.map(({ table, system, seed }) => `${table} ${system} ${seed}`).sort()).toEqual(wanted.sort());
  expect(runs.filter(({ failure }) => failure !== undefined)).toEqual([]);
  const commands = lines.filter(({ kind }) => kind === "command");
  expect(commands.length).toBe(6 * plan.tables.length);
  expect(commands.filter(({ exit }) => exit !== 0)).toEqual([]);
});

/** What a sentence of the page names: "lung (C better)" as "lung: C better". */
function namedIn(sentence: string): string[] {
  return [...sentence.matchAll(/([A-Za-z0-9]+) \(((?:[^()]+ (?:better|worse))(?:, [^()]+)*)\)/g)].flatMap(
    ([, table, scores]) => scores.split(", ").map((score) => `${table}: ${score}`),
  );
}

test("the page's conclusions are those of its lines, worked out anew", () => {
  const page = read("docs/results/tables.md");
  const plan = JSON.parse(read("paper/tables.json")) as Plan;
  const runs = read("paper/tables.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TableRun)
    .filter(({ kind }) => kind === "run");
  const scores = [
    ["concordance", "C", 1],
    ["ece", "ECE", -1],
    ["groupEce", "mean group ECE", -1],
    ["worstEce", "worst group ECE", -1],
    ["ibs", "IBS", -1],
  ] as const;
  const differencesOf = (table: string, system: string, other: string) =>
    scores.map(([key, title, better]) => {
      const scoreOf = (name: string, seed: number) =>
        runs.find((run) => run.table === table && run.system === name && run.seed === seed)?.[key] ??
        Number.NaN;
      const differences = plan.seeds.map((seed) => scoreOf(system, seed) - scoreOf(other, seed));
      const own = runs.filter((run) => run.table === table && run.system === "cox").map(({ rows }) => rows);
      const size = (part: "test" | "train") => own.reduce((sum, rows) => sum + rows[part], 0) / own.length;
      const tested = correctedResampledT(differences, { testSize: size("test"), trainSize: size("train") });
      if (isAbsent(tested)) return { said: "", p: 1 };
      return { said: `${table}: ${title} ${tested.mean * better > 0 ? "better" : "worse"}`, p: tested.p };
    });
  for (const other of ["cox", "cox with group terms", "graduate 0.1.0", "start"]) {
    const start = `- 5 splits separate \`graduate\` from ${other} (p < 0.05) `;
    const line = page.split("\n").find((one) => one.startsWith(start)) ?? "";
    const [separated, byHolm] = line.slice(start.length).split("by Holm's p on ");
    const pairs = [
      ["cox with group terms", "cox"],
      ["graduate", "cox"],
      ["graduate", "cox with group terms"],
      ["graduate", "graduate 0.1.0"],
      ["graduate", "start"],
      ["one run", "start"],
    ];
    const found = plan.tables.flatMap(({ name }) => {
      const all = pairs.flatMap(([one, two]) =>
        differencesOf(name, one, two).map((difference) => ({
          ...difference,
          isAsked: one === "graduate" && two === other,
        })),
      );
      const adjusted = holm(all.map(({ p }) => p));
      return all.map((one, k) => ({ ...one, adjusted: adjusted[k] })).filter(({ isAsked }) => isAsked);
    });
    expect(namedIn(separated)).toEqual(found.filter(({ p }) => p < 0.05).map(({ said }) => said));
    expect(namedIn(byHolm)).toEqual(found.filter(({ adjusted }) => adjusted < 0.05).map(({ said }) => said));
    const silent = plan.tables
      .map(({ name }) => name)
      .filter((name) => !found.some(({ said, p }) => p < 0.05 && said.startsWith(`${name}:`)));
    for (const name of silent) expect(separated.split("on no score of ")[1]).toContain(name);
  }
  const meanWorst = (system: string) => {
    const own = runs.filter((run) => run.table === "SUPPORT" && run.system === system);
    return own.reduce((sum, run) => sum + run.worstEce, 0) / own.length;
  };
  const [plain, terms, graduate] = ["cox", "cox with group terms", "graduate"].map(meanWorst);
  expect(page).toContain(
    `worst group ECE ${plain.toFixed(4)}, with group terms ${terms.toFixed(4)}, \`graduate\` ${graduate.toFixed(4)}. ` +
      `Of that fall ${Math.round((100 * (plain - terms)) / (plain - graduate))} % is in knowing the groups`,
  );
});

test("Cox stratified by all groups: a row where strata have events, worked out anew", () => {
  interface StrataRun extends TableRun {
    readonly strata: number;
    readonly lost: number;
    readonly test: number;
  }
  const plan = JSON.parse(read("paper/tables.json")) as Plan;
  const page = read("docs/results/tables.md");
  const section = page.split("## The simplest rival")[1].split("\n## ")[0];
  const lines = read("paper/tables.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as StrataRun);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const shown: string[] = [];
  for (const { name } of plan.tables) {
    const own = lines.filter(({ kind, table }) => kind === "strata" && table === name);
    const default_ = lines.filter(
      ({ kind, table, system }) => kind === "run" && table === name && system === "graduate",
    );
    expect(own.map(({ seed }) => seed)).toEqual([...plan.seeds]);
    const row = section.split("\n").find((line) => line.startsWith(`| ${name} |`)) ?? "";
    const lost = mean(own.map((line) => line.lost / line.test));
    expect(row).toContain(`| ${(100 * lost).toFixed(1)} % |`);
    if (lost > 0.01) {
      expect(row.split("absent")).toHaveLength(6);
      continue;
    }
    shown.push(name);
    for (const key of ["concordance", "ece", "worstEce", "ibs"] as const) {
      const gap = mean(default_.map((line) => line[key])) - mean(own.map((line) => line[key]));
      const sign = gap < 0 ? "−" : "+";
      expect(row).toContain(
        `| ${mean(own.map((line) => line[key])).toFixed(4)}; ${sign}${Math.abs(gap).toFixed(4)}`,
      );
    }
  }
  expect(shown).toEqual(["retinopathy", "METABRIC", "SUPPORT"]);
});
