// A sweep where causes compete: the validation scores against the audit by cause of the same rows, what is refused
// before any run, and the chosen model's test rows.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { auditCauseModel } from "../../src/verbs/causes/audit-cause-model.ts";
import { studyOf } from "../../src/verbs/model-study.ts";
import { prepare, type TrainRequest } from "../../src/verbs/train-request.ts";
import { trainChosen, tune } from "../../src/verbs/tune.ts";
import type { SelectionRule } from "../../src/verbs/tuning/selection.ts";
import type { Setting } from "../../src/verbs/tuning/settings.ts";

const bytes = readFileSync(new URL("../tables/mgus2.csv", import.meta.url));
const table = await readTable(tableSourceFromBytes("mgus2.csv", bytes));
const request: TrainRequest = {
  time: "months",
  event: "event",
  causes: ["pcm", "death"],
  censored: "censored",
  features: ["hgb", "creat"],
  groups: [{ name: "women", expression: "sex = F" }],
  bins: 8,
};
const late: Partial<TrainRequest> = { time: "exitMonths", entry: "ageMonths", seed: 2 };

test.each([
  ["", {}],
  ["of late entries", late],
] as const)("validation scores %s are those of the audit by cause", async (_, more) => {
  const asked = { ...request, ...more };
  const study = prepare(table, asked);
  const backend = createReferenceBackend();
  const task = { setting: { method: "nll", steps: 2 } as const, seed: 1 };
  const { model, validation, test: judged } = await trainChosen(study, asked, task, backend);
  const own = studyOf(model, study, study.split);
  const { causes } = (await auditCauseModel(own, study.split.validation, backend, { draws: 0 })).audit;
  const meanOf = (read: (scores: (typeof causes)[number]["overall"]) => number | null) =>
    causes.reduce((sum, { overall }) => sum + (read(overall) ?? Number.NaN), 0) / causes.length;
  expect(validation.constrained).toBe(0);
  expect(judged !== null && "causes" in judged && judged.causes.map(({ name }) => name)).toEqual(
    asked.causes,
  );
  const cells = causes.flatMap(({ name, overall, groups }) =>
    [overall, ...groups].map((scores) => ({ cell: `${scores.name}: ${name}`, scores })),
  );
  const worst = cells.find(({ cell }) => cell === validation.worst?.group)?.scores;
  if ("entry" in asked) {
    expect(validation).toMatchObject({ concordance: null, ece: null, total: null, worst: { ece: null } });
    const { ratio = 0, critical = 0 } = validation.worst ?? {};
    expect((ratio * critical) ** 2).toBeCloseTo(worst?.logrankIndividual.chi2 ?? Number.NaN, 10);
    return;
  }
  expect(validation.concordance).toBeCloseTo(
    meanOf(({ concordance }) => concordance),
    12,
  );
  expect(validation.ece).toBeCloseTo(
    meanOf(({ ece }) => ece),
    12,
  );
  expect(validation.worst?.ece).toBeCloseTo(worst?.ece ?? Number.NaN, 12);
  expect(validation.p).toBeGreaterThan(0);
});

async function begin(settings: readonly Setting[], select?: SelectionRule, more: Partial<TrainRequest> = {}) {
  const asked = { ...request, ...more };
  await tune(prepare(table, asked), asked, { settings, ...(select && { select }) }).next();
}

test.each([
  [{ method: "cox" }, "a Cox model is of one hazard"],
  [{ method: "rps" }, "the method rps is of one kind of event"],
  [{ preset: "paper" }, "the paper's preset is of one kind of event"],
] as const)("%o is refused before any run", async (setting, message) => {
  await expect(begin([{}, setting])).rejects.toThrow(message);
});

test("groups may be held to their mean incidences", async () => {
  await expect(begin([{ distance: "l2" }, { distance: "variance" }])).resolves.toBeUndefined();
});

test("late entry leaves no concordance to choose by", async () => {
  await expect(begin([{}], undefined, late)).rejects.toThrow("has no concordance to be chosen by");
  await expect(begin([{}], "worst", late)).resolves.toBeUndefined();
});
