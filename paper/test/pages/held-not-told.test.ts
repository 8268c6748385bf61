// docs/results/held-not-told.md is what its page makes of the committed lines, and says what is missing.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";
import { heldPage } from "../../src/pages/held-not-told.page.ts";
import { expandHeldPlan, type HeldLine, readHeldPlan } from "../../src/studies/held-not-told.ts";
import { readHeldRealPlan } from "../../src/studies/held-real.ts";
import { readLines } from "../../src/studies/lines.ts";
import { summariseHeld } from "../../src/summaries/held-not-told.ts";
import { summariseHeldReal } from "../../src/summaries/held-real.ts";

const root = new URL("../../../", import.meta.url);
const plan = readHeldPlan();
const lines = readLines<HeldLine>(committedLines("held-not-told"));

test("docs/results/held-not-told.md is made from paper/held-not-told.jsonl", () => {
  const page = readFileSync(new URL("docs/results/held-not-told.md", root), "utf8");
  expect(STUDY_PAGES["held-not-told"](committedLines("held-not-told"))).toBe(page);
  expect(page).toContain(`**${lines.length} of ${expandHeldPlan(plan).length} planned lines**`);
});

test("every line is of the plan, once", () => {
  const key = ({ strength, seed, rows, system }: HeldLine) => `${strength} ${seed} ${rows} ${system}`;
  expect(new Set(lines.map(key)).size).toBe(lines.length);
  expect(summariseHeld(plan, lines).lines).toBe(lines.length);
});

test("a wish is judged on the seeds that have both systems", () => {
  const line = (system: HeldLine["system"], seed: number, protectedError: number): HeldLine => ({
    ...lines[0],
    ...{ strength: 0.88, rows: 20000, system, seed, protectedError, ise: 0.001, concordance: 0.7 },
  });
  const free = [line("free", 901, 0.05), line("free", 902, 0.05), line("free", 903, 9)];
  const judge = (...held: HeldLine[]) => summariseHeld(plan, [...free, ...held]).wishes;
  const [error, ise, concordance] = judge(line("held", 901, 0.02), line("held", 902, 0.03));
  expect(error).toMatchObject({ measured: "0.50", isMet: true });
  expect(ise.isMet).toBe(true);
  expect(concordance.isMet).toBe(true);
  const missed = summariseHeld(plan, [...free, line("held", 901, 0.031)]);
  expect(missed.wishes[0]).toMatchObject({ measured: "0.62", isMet: false });
  expect(heldPage(missed, summariseHeldReal(readHeldRealPlan(), []))).toContain("| 0.62 | **missed** |");
});

test("where features tell too little, a group that was not left alone is a miss", () => {
  const line = (system: HeldLine["system"], protectedError: number): HeldLine => {
    const { status: _, ...own } = {
      ...lines[0],
      strength: 0.55,
      rows: 20000,
      seed: 901,
      system,
      protectedError,
    };
    return system === "held" ? { ...own, status: "infeasible" } : own;
  };
  const judge = (held: number) => summariseHeld(plan, [line("free", 0.06), line("held", held)]).wishes;
  expect(judge(0.06)).toMatchObject([{ isMet: true, measured: "left alone in 1, said in 1 of 1" }]);
  expect(judge(0.05)).toMatchObject([{ isMet: false }]);
});
