// The card of a model of several causes: whole numbers that sum to a hundred, incidences stacked, people in shades,
// drivers and groups by cause, hostile names as text; bands refused by name.
import { parseHTML } from "linkedom";
import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import type { Table } from "../../src/data/table.ts";
import { causeSentence, countHundred } from "../../src/report/card/render-causes.ts";
import { renderCardPage } from "../../src/report/card/render-card.ts";
import { aalenJohansen } from "../../src/stats/causes/aalen-johansen.ts";
import type { Model } from "../../src/training/model.ts";
import { openStudy } from "../../src/verbs/model-study.ts";
import { hasBands } from "../../src/verbs/people/bands.ts";
import { type CardData, gatherCard } from "../../src/verbs/people/card.ts";
import { auditCauseModel } from "../../src/verbs/causes/audit-cause-model.ts";
import { judgeCardGroups } from "../../src/verbs/people/card-groups.ts";
import { explainPerson } from "../../src/verbs/people/explain.ts";
import { predictPeople } from "../../src/verbs/people/predict-people.ts";
import { patientModel } from "../files/onnx-models.ts";
import { makeCardModel, makePeople } from "./card-input.ts";
import { HOSTILE } from "./report-input.ts";

const backend = createReferenceBackend();
const CAUSES = [HOSTILE[1], "death"];

/** The people of the other card, with two causes in place of one event. */
function makeCausePeople(): Table {
  const random = createRandom(5);
  const people = makePeople();
  const codes = Int32Array.from({ length: people.rows }, () => random.integer(3));
  const status = { name: "status", type: "category", levels: ["none", "a", "b"], codes } as const;
  return { ...people, columns: people.columns.map((one) => (one.name === "status" ? status : one)) };
}

function makeModel(people: Table): Model {
  const single = makeCardModel(people);
  return {
    ...patientModel(single.encoder, "linear", [], CAUSES),
    columns: {
      time: "months",
      event: "status",
      causes: [`a=${CAUSES[0]}`, `b=${CAUSES[1]}`],
      censored: "none",
    },
    groups: single.groups,
  };
}

const people = makeCausePeople();
const model = makeModel(people);
let card: CardData;
let page: string;
const read = () => parseHTML(page).document;
const textOf = (id: string) =>
  read().querySelector(`[aria-labelledby=${id}]`)?.textContent?.replace(/\s+/g, " ") ?? "";

beforeAll(async () => {
  const explanation = await explainPerson(model, people, backend, 0, { at: [4, 15], cause: "death" });
  const groups = await judgeCardGroups(await openStudy(model, people, backend), backend);
  card = gatherCard({ model, table: people, explanation, groups, timeUnit: "months", id: "who" });
  page = renderCardPage(card, { document: parseHTML("<html></html>").document, program: "graduate 0.2.0" });
});

describe("a hundred people", () => {
  test.each([
    [
      [0.121, 0.212],
      [12, 21, 67],
    ],
    [
      [0.334, 0.333],
      [34, 33, 33],
    ],
    [
      [0.005, 0.005, 0.005],
      [1, 1, 0, 98],
    ],
    [
      [0.6, 0.4],
      [60, 40, 0],
    ],
    [
      [0, 0],
      [0, 0, 100],
    ],
  ])("of risks %j", (risks, counts) => {
    expect(countHundred(risks)).toEqual(counts);
  });

  test("sum to a hundred, each within one of its share", () => {
    const random = createRandom(8);
    for (let draw = 0; draw < 300; draw++) {
      const parts = Array.from({ length: 2 + random.integer(7) }, () => random.uniform() ** 3);
      const total = parts.reduce((sum, part) => sum + part, 0);
      const risks = parts.slice(1).map((part) => part / total);
      const counts = countHundred(risks);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(100);
      risks.forEach((risk, k) => {
        expect(Math.abs(counts[k] - 100 * risk)).toBeLessThan(1);
      });
    }
  });

  test("are said in the model's names", () => {
    expect(causeSentence(["pcm", "death"], [0.121, 0.212], "10 years")).toBe(
      "Of 100 such people, by 10 years: 12 pcm, 21 death, 67 neither.",
    );
    expect(causeSentence(["a", "b", "c"], [0.1, 0.2, 0.3], "time 4")).toBe(
      "Of 100 such people, by time 4: 10 a, 20 b, 30 c, 40 none of these.",
    );
  });

  test("without a name but a number are called causes", () => {
    expect(causeSentence(["1", "2"], [0.12, 0.21], "5 years")).toBe(
      "Of 100 such people, by 5 years: 12 cause 1, 21 cause 2, 67 neither.",
    );
  });
});

describe("the page", () => {
  test("stacks the incidences and shows people in as many shades as there are causes, and one more", () => {
    expect(textOf("card-curve")).toContain("death");
    const figure = read().querySelector("[aria-labelledby=card-curve] .figure");
    expect(figure?.getAttribute("aria-label")).toMatch(
      /^Cumulative incidence of each cause, stacked\. Of 100 such/,
    );
    const hundreds = [...read().querySelectorAll("[aria-labelledby=card-risks] .hundred")];
    expect(hundreds).toHaveLength(2);
    for (const [t, one] of hundreds.entries()) {
      const risks = card.explanation.byCause?.all.map(({ times }) => times[t].risk.prediction) ?? [];
      const [first, second, none] = countHundred(risks);
      expect(one.querySelectorAll('g[fill="var(--predicted)"]')).toHaveLength(first);
      expect(one.querySelectorAll('g[fill="var(--observed)"]')).toHaveLength(second);
      expect(one.querySelectorAll("g.free")).toHaveLength(none);
    }
  });

  test("has drivers of each cause, the one that was asked for first", () => {
    expect(textOf("card-drivers-1")).toContain("What drives death");
    expect(textOf("card-drivers-2")).toContain("What drives");
    expect(textOf("card-drivers-3")).toBe("");
    expect(card.risks[0].risk).toBe(card.explanation.byCause?.all[1].times[0].risk.prediction);
  });

  test("shows hostile names as text", () => {
    const foreign = "script, img, iframe, object, embed, link, form, [src], [onload], [onerror], [onclick]";
    expect([...read().querySelectorAll(foreign)]).toEqual([]);
    expect(textOf("card-risks")).toContain(HOSTILE[1]);
  });

  test("gives each group of the person its gap to Aalen-Johansen", async () => {
    if (isAbsent(card.groups)) throw new Error(card.groups.absent);
    expect(card.groups.groups).toEqual([]);
    const { byCause } = card.groups;
    expect(byCause?.map(({ name }) => name)).toEqual(["all", HOSTILE[0], "anywhere"]);
    const everyone = byCause?.[0];
    const study = await openStudy(model, people, backend);
    const rows = study.split.test;
    expect(everyone?.n).toBe(rows.length);
    const { causes } = await predictPeople(model, people, backend, {}, rows);
    const { T } = model.grid;
    const pick = (values: ArrayLike<number>) => Array.from(rows, (row) => values[row]);
    const { time, event, cause = [] } = study.outcomes;
    const observed = aalenJohansen({ time: pick(time), event: pick(event), cause: pick(cause) });
    for (const [k, one] of (everyone?.causes ?? []).entries()) {
      if (isAbsent(one.gap)) throw new Error(one.gap.absent);
      const t = model.grid.edges.indexOf(one.gap.time);
      let mean = 0;
      for (let i = 0; i < rows.length; i++)
        mean += (causes?.incidence[(i * CAUSES.length + k) * T + t - 1] ?? 0) / rows.length;
      expect(one.gap.predicted).toBeCloseTo(mean, 12);
      const passed = observed.time.filter((own) => own <= Number(t && model.grid.edges[t])).length;
      expect(one.gap.observed).toBeCloseTo(observed.causes[k].incidence[passed - 1], 12);
    }
  });

  test("bounds them as an audit of the same rows does", async () => {
    if (isAbsent(card.groups)) throw new Error(card.groups.absent);
    const { byCause } = card.groups;
    const study = await openStudy(model, people, backend);
    const { audit } = await auditCauseModel(study, study.split.test, backend, { draws: 0 });
    for (const [k, { overall, groups }] of audit.causes.entries()) {
      const audited = new Map([overall, ...groups].map(({ name, bound }) => [name, bound]));
      for (const { name, causes } of byCause ?? []) {
        const { bound } = causes[k];
        expect(isAbsent(bound) ? null : bound).toBe(audited.get(name));
      }
      if (overall.bound === null) throw new Error("everyone has no bound");
      expect(textOf("card-groups")).toContain(`on average up to ${(100 * overall.bound).toFixed(1)}`);
    }
  });
});

test("bands of several causes are refused by name", async () => {
  expect(hasBands(model)).toBe(false);
  expect(hasBands(patientModel(model.encoder, "mean", [], CAUSES))).toBe(false);
  expect(hasBands(patientModel(model.encoder, "mean"))).toBe(true);
  await expect(predictPeople(model, people, backend, { bands: 0.9 })).rejects.toMatchObject({
    code: "bands.causes",
    message: expect.stringMatching(/^bands of several causes are not available: /),
  });
});
