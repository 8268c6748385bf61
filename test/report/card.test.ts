// The card of one person: what is gathered, its words, and the page it becomes, hostile names included.
import { requireRightCensored } from "../../src/data/outcomes/outcomes.ts";
import { parseHTML } from "linkedom";
import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { isAbsent } from "../../src/core/measured.ts";
import { equalTimeGrid } from "../../src/data/outcomes/time-grid.ts";
import { percentRisk, rangeSentence, riskSentence, toFrequency } from "../../src/report/card/card-data.ts";
import { renderCardBody, renderCardPage } from "../../src/report/card/render-card.ts";
import { audit } from "../../src/verbs/audit.ts";
import { predictRows } from "../../src/verbs/audit-model.ts";
import { openStudy } from "../../src/verbs/model-study.ts";
import { type CardData, chooseRiskTimes, gatherCard } from "../../src/verbs/people/card.ts";
import { makeCard, makeCardModel, makePeople } from "./card-input.ts";
import { HOSTILE } from "./report-input.ts";

let card: CardData;
let page: string;
const { document } = parseHTML("<html></html>");
const options = { document, program: "graduate 0.2.0" };
const readPage = () => parseHTML(page).document;
const textOf = (id: string) =>
  readPage().querySelector(`[aria-labelledby=${id}]`)?.textContent?.replace(/\s+/g, " ") ?? "";

beforeAll(async () => {
  card = await makeCard();
  page = renderCardPage(card, options);
});

describe("what is gathered", () => {
  test("risks are those of the curve, between the limits", () => {
    const { edges } = card.time;
    for (const { time, risk, limits } of card.risks) {
      const t = edges.findIndex((edge) => edge >= time);
      const share = (time - edges[t - 1]) / (edges[t] - edges[t - 1]);
      const S = (1 - share) * (t === 1 ? 1 : card.survival[t - 2]) + share * card.survival[t - 1];
      expect(risk).toBeCloseTo(1 - S, 12);
      expect(limits?.lower).toBeLessThan(risk);
      expect(limits?.upper).toBeGreaterThan(risk);
    }
  });

  test("the groups that the person is in, with the audit's own bounds", async () => {
    if (isAbsent(card.groups)) throw new Error(card.groups.absent);
    expect(card.groups.groups.map(({ name }) => name)).toEqual(["all", HOSTILE[0], "anywhere"]);
    const backend = createReferenceBackend();
    const people = makePeople();
    const study = await openStudy(makeCardModel(people), people, backend);
    const { curves, binned, groups } = await predictRows(study, study.split.test, backend);
    const { certificates } = await audit(
      { curves, outcomes: requireRightCensored(binned, "a test"), groups },
      { draws: 0, certify: { alpha: 0.05 } },
    );
    expect(card.groups.groups.map(({ expression: _, ...one }) => one)).toEqual(
      certificates?.groups.filter(({ name }) => name !== "tall"),
    );
  });

  test("every doubt is a sentence, and what was not given is listed", () => {
    expect(card.warnings).toEqual([
      expect.stringMatching(/ is 300, outside what training had, \d+ to \d+: the curve is a guess$/),
      expect.stringMatching(/^pulse is missing: the training median, \d+(\.\d+)?, stands in$/),
      `site is ${HOSTILE[1]}, a level that no training row had`,
    ]);
    expect(card.unseen).toEqual({ columns: ["height"], groups: ["anywhere", "tall"] });
  });

  test("without outcomes the card says why; limits of another grid are refused", () => {
    const people = makePeople();
    const model = makeCardModel(people);
    const input = { model, table: people, explanation: card.explanation };
    const bare = gatherCard(input);
    expect(bare.groups).toEqual({ absent: "no rows with a known outcome were given" });
    expect(bare.person).toMatchObject({ row: 1, id: null });
    expect(renderCardBody(bare, options)).toContain(
      "cannot be said: no rows with a known outcome were given.",
    );
    const bands = { level: 0.95, lower: new Float64Array(2), upper: new Float64Array(2) };
    expect(() => gatherCard({ ...input, bands })).toThrow("limits of 2 and 2 bins for a curve of 6");
  });
});

describe("words", () => {
  test.each([
    [0.124, "Of 100 people like this, 12 have had the event by 5 years."],
    [0.0143, "Of 100 people like this, 1 has had the event by 5 years."],
    [0.004, "Of 1000 people like this, 4 have had the event by 5 years."],
    [0.0001, "Of 1000 people like this, fewer than 1 has had the event by 5 years."],
    [0.99999, "Of 1000 people like this, more than 999 have had the event by 5 years."],
  ])("a risk of %d", (risk, sentence) => {
    expect(riskSentence(risk, "5 years")).toBe(sentence);
  });

  test.each([
    [0.008, 0.004, 0.015, "Between 4 and 15 of 1000 (95 % band)."],
    [0.12, 0.004, 0.2, "Between 0 and 20 of 100 (95 % band)."],
    [0.995, 0.98, 0.999, "Between 980 and 999 of 1000 (95 % band)."],
  ])("a band around a risk of %d counts the people of its sentence", (risk, lower, upper, sentence) => {
    expect(rangeSentence(risk, { lower, upper }, 0.95)).toBe(sentence);
  });

  test("percentages never round to nothing or to everyone", () => {
    const shown = [0, 0.0004, 0.012, 0.124, 0.9967, 0.99999, 1].map(percentRisk);
    expect(shown).toEqual(["0 %", "under 0.1 %", "1.2 %", "12 %", "99.7 %", "over 99.9 %", "100 %"]);
    expect(toFrequency(0.5)).toEqual({ count: 50, of: 100, words: "50" });
  });

  test.each([
    [6209, "days", [365.25, 1826.25, 3652.5]],
    [100, "days", [25, 50, 100]],
    [7.99, undefined, [1.9, 3.9, 7.9]],
    [9.97, undefined, [2.4, 4.9, 9.9]],
    [120, "Months", [12, 60, 120]],
    [6, "years", [1, 5]],
    [3, "years", [0.75, 1.5, 3]],
  ])("times to speak of up to %d %s", (horizon, unit, times) => {
    expect(chooseRiskTimes(equalTimeGrid(4, horizon), unit)).toEqual(times);
  });
});

describe("the page", () => {
  test("loads and runs nothing, and shows hostile names as text", () => {
    const { document: shown } = parseHTML(page);
    const foreign = "script, img, iframe, object, embed, link, form, [src], [onload], [onerror], [onclick]";
    expect([...shown.querySelectorAll(foreign)]).toEqual([]);
    expect(shown.querySelector("h1")?.textContent).toContain(HOSTILE[2]);
    expect(textOf("card-drivers")).toContain(HOSTILE[0]);
    expect(textOf("card-doubts")).toContain(HOSTILE[1]);
    expect(page).not.toContain("\u202e");
  });

  test("a hundred people for each time, as many of them filled as the sentence says", () => {
    const tiles = [...readPage().querySelectorAll(".hundred")];
    expect(tiles).toHaveLength(3);
    tiles.forEach((tile, k) => {
      const had = tile.querySelectorAll("g.had").length;
      expect(had).toBe(Math.round(100 * card.risks[k].risk));
      expect(had + tile.querySelectorAll("g.free").length).toBe(100);
      expect(tile.getAttribute("aria-label")).toBe(
        riskSentence(card.risks[k].risk, ["4 months", "8 months", "15 months"][k]),
      );
    });
    expect(textOf("card-risks")).toMatch(/Between \d+ and \d+ of 100 \(90 % band\)/);
  });

  test("drivers add up from everyone to the person, the strongest first", () => {
    const cells = [...readPage().querySelectorAll(".drivers tbody td:last-child")].map(
      ({ textContent }) => textContent,
    );
    const points = cells.slice(1, -1).map((text) => Number(text.replace("−", "-")));
    const sizes = points.map(Math.abs);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    const { baseline, prediction } = card.explanation.times[2].risk;
    const sum = points.reduce((a, b) => a + b, 100 * baseline);
    expect(Math.abs(sum - 100 * prediction)).toBeLessThan(0.05 * points.length + 1e-9);
  });

  test("small groups are hidden, unless asked for", () => {
    expect(textOf("card-groups")).toContain("under 5");
    expect(textOf("card-groups")).toContain("too few people to say");
    expect(textOf("card-groups")).toMatch(/everyone ?160/);
    const shown = renderCardBody({ ...card, hidesSmallCells: false }, options);
    expect(shown).not.toContain("under 5");
  });

  test("says what the model does not know", () => {
    const said = textOf("card-unknown");
    for (const part of [
      "Nothing after 15 months",
      "not given: height",
      "Who is in anywhere, tall",
      "need not cause",
    ])
      expect(said).toContain(part);
  });
});

test("errors of drawn orders stand beside the points, and what is left together has none", () => {
  const { explanation, risks } = card;
  const many = Array.from({ length: 20 }, (_, c) => ({ name: `x${c}`, kind: "column" as const, value: "1" }));
  const risk = {
    ...explanation.times[0].risk,
    contributions: Float64Array.from(many, (_, c) => (c % 2 === 0 ? 1 : -1) / (c + 4)),
    standardErrors: new Float64Array(20).fill(0.004),
  };
  const times = [{ ...explanation.times[0], risk }];
  const drawn: CardData = {
    ...card,
    risks: risks.slice(0, 1),
    explanation: { ...explanation, columns: many, times, method: "sampling", pairs: 5 },
  };
  const { document: shown } = parseHTML(renderCardPage(drawn, options));
  const rows = [...shown.querySelectorAll(".drivers tbody tr")].map(({ textContent }) => textContent);
  expect(rows).toHaveLength(14);
  expect(rows[1]).toBe("x01+25.0± 0.8");
  expect(rows[12]).toMatch(/^9 other columns[+−]\d\.\d$/);
  const exact = { ...risk, standardErrors: new Float64Array(20).fill(1e-6) };
  const fine = { ...drawn, explanation: { ...drawn.explanation, times: [{ ...times[0], risk: exact }] } };
  expect(renderCardBody(fine, options)).toContain("below a tenth of a point");
});
