// The Kaplan-Meier figure: numbers at risk, censoring ticks, logrank p, axis title, and names that are not markup.
import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { plotKaplanMeier } from "../../src/report/plots/plots.ts";
import { kaplanMeier } from "../../src/stats/kaplan-meier.ts";

const outcomes = {
  time: Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
  event: Uint8Array.of(1, 0, 1, 0, 1, 0, 1, 0, 1, 0),
};
const draw = (names: readonly string[], logrankP?: number) =>
  plotKaplanMeier(
    names.map((name) => ({ name, ...kaplanMeier(outcomes) })),
    {
      document: parseHTML("<html></html>").document,
      timeLabel: "Time in days",
      ...(logrankP === undefined ? {} : { logrankP }),
    },
  );

/** Texts of the picture, in order. */
const textsOf = (svg: string) =>
  [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text).filter((text) => text !== "");

describe("the Kaplan-Meier figure", () => {
  test("has the axis titles and, under each tick, the numbers at risk", () => {
    const texts = textsOf(draw(["all"]));
    expect(texts).toContain("Time in days");
    expect(texts).toContain("Survival");
    // ticks 0, 2, …, 10: ten at risk before 0, nine before 2, one before 10
    expect(texts.slice(texts.indexOf("At risk"))).toEqual(["At risk", "all", "10", "9", "7", "5", "3", "1"]);
    expect(texts.some((text) => text.startsWith("logrank"))).toBe(false);
  });

  test("marks every censoring time once and says the logrank p", () => {
    const svg = draw(["a", "b"], 0.0321);
    const strokes = (svg.match(/<path[^>]*"censored"[^>]*>/g) ?? []).map((path) => path.match(/M/g)?.length);
    expect(strokes).toEqual([5, 5]);
    expect(textsOf(svg)).toContain("logrank p = 0.032");
    expect(textsOf(draw(["a", "b"], 0))).toContain("logrank p &lt;1e-300");
  });

  test("gives ten groups ten different strokes", () => {
    const svg = draw(Array.from({ length: 10 }, (_, g) => `group ${g}`));
    const lines = svg.match(/<line[^>]*x1="10"[^>]*>/g) ?? [];
    const swatches = lines.map((line) => line.replace(/ y[12]="[^"]*"/g, ""));
    expect(new Set(swatches).size).toBe(10);
  });

  test("cuts a long name and keeps it whole for the pointer; texts cannot become markup", () => {
    const long = "a treatment arm whose name goes on and on";
    const svg = draw([long, '<b>"x"</b> & co', "bell \u0007 escape \u001b[31m"]);
    expect(svg).toContain(`${long.slice(0, 25)}…<title>${long}</title>`);
    expect(svg).toContain("&lt;b&gt;");
    expect(svg).not.toContain("<b>");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(svg).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
    const attributes = [...svg.matchAll(/="([^"]*)"/g)].map(([, value]) => value);
    expect(attributes.filter((value) => value.includes("<"))).toEqual([]);
  });
});
