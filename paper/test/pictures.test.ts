// The pictures of docs/results/pictures are what the committed lines give when they are drawn again, their numbers are
// those of the lines, and they can be drawn from whatever lines there are.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { runCli, writeScratch } from "../../test/cli/run-cli.ts";
import { makePictures } from "../src/commands/pictures.ts";
import { committedLines, STUDY_SUMMARIES } from "../src/commands/studies.ts";
import { drawPictures } from "../src/pictures/pictures.ts";
import type { HeldLine } from "../src/studies/held-not-told.ts";
import { readLines } from "../src/studies/lines.ts";
import type { TargetLine } from "../src/studies/targets.ts";

const folder = new URL("../../docs/results/pictures/", import.meta.url);
const { document } = parseHTML("<html></html>");
const names = ["held.svg", "price.svg", "registry.svg"];

/** What is written in a picture, in the order of its elements. */
const textsOf = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]+)<\/text>/g)].map(([, text]) => text);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Drawn from the committed lines, but for files of other ones. */
function draw(files: { readonly [study in "binding" | "held-not-told" | "targets"]?: string }) {
  return drawPictures(
    {
      binding: STUDY_SUMMARIES.binding(files.binding ?? committedLines("binding")),
      heldNotTold: STUDY_SUMMARIES["held-not-told"](
        files["held-not-told"] ?? committedLines("held-not-told"),
      ),
      targets: STUDY_SUMMARIES.targets(files.targets ?? committedLines("targets")),
    },
    { document },
  );
}

const writeLines = (name: string, lines: readonly object[]) =>
  writeScratch(name, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

describe("the committed pictures", () => {
  test("are drawn from the committed lines, and no others are there", async () => {
    const pictures = await makePictures();
    expect(pictures.map(({ name }) => name)).toEqual(names);
    expect(readdirSync(folder).sort()).toEqual(names);
    for (const { name, text } of pictures) {
      const drawn = readFileSync(new URL(name, folder), "utf8");
      // Not toBe: it would print both pictures.
      expect(text === drawn, `${name} is what \`reproduce pictures\` makes of the lines`).toBe(true);
      expect(text, name).toMatch(/^<svg [^>]*aria-label="[^"]{20,}"/);
      expect(text, name).toContain('role="img"');
      expect(text, name).toContain("prefers-color-scheme:dark");
      expect(text, name).not.toMatch(/NaN|undefined|Infinity/);
    }
  });

  test("are written by one command", () => {
    const out = writeScratch("pictures.mark", "").replace(/\.mark$/, "");
    expect(runCli(["reproduce", "pictures", "--out", out]).code).toBe(0);
    for (const name of names) {
      expect(readFileSync(join(out, name)).equals(readFileSync(new URL(name, folder)))).toBe(true);
    }
  });
});

test("the price: errors, seeds and costs are those of the seeds with both systems", () => {
  const lines = readLines<HeldLine>(committedLines("held-not-told")).filter(({ rows }) => rows === 20_000);
  const texts = textsOf(readFileSync(new URL("price.svg", folder), "utf8"));
  const strengths = [...new Set(lines.map(({ strength }) => strength))];
  const counts = strengths.map((strength) => {
    const of = (system: string) =>
      lines.filter((line) => line.strength === strength && line.system === system);
    const held = of("held").filter(({ seed }) => of("free").some((line) => line.seed === seed));
    const free = of("free").filter(({ seed }) => held.some((line) => line.seed === seed));
    expect(texts).toContain(`AUC ${strength.toFixed(2).slice(1)}`);
    expect(texts).toContain((100 * mean(free.map((line) => line.protectedError))).toFixed(1));
    const isAlone = held.every(({ seed, protectedError }) =>
      free.some((line) => line.seed === seed && line.protectedError === protectedError),
    );
    if (isAlone) expect(texts).toContain("left alone");
    else expect(texts).toContain((100 * mean(held.map((line) => line.protectedError))).toFixed(1));
    const more = 100 * (mean(held.map(({ ise }) => ise)) / mean(free.map(({ ise }) => ise)) - 1);
    expect(texts.some((text) => text.endsWith(`${Math.abs(more).toFixed(0)} %`))).toBe(true);
    return held.length;
  });
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const said = least === most ? String(least) : `${least} to ${most}`;
  expect(texts.find((text) => text.startsWith("20,000 people"))).toContain(` ${said} simulated cohort`);
});

test("the registry: means of the draws", () => {
  const lines = readLines<TargetLine>(committedLines("targets")).filter((line) => line.cohort === "eye");
  const texts = textsOf(readFileSync(new URL("registry.svg", folder), "utf8"));
  for (const system of ["without targets", "with targets", "with targets, slack 1"]) {
    const own = lines.filter((line) => line.system === system);
    expect(texts).toContain((100 * mean(own.map((line) => line.worstError))).toFixed(1));
    expect(texts).toContain((1000 * mean(own.map((line) => line.ise))).toFixed(1));
  }
});

describe("from other lines", () => {
  const held = readLines<HeldLine>(committedLines("held-not-told"));
  const at = (seed: number, line: HeldLine): HeldLine => ({ ...line, seed, rows: 20_000 });
  const of = (system: HeldLine["system"]) =>
    held.find((line) => line.strength === 0.88 && line.system === system) as HeldLine;

  test("strict is drawn where it has the seeds of the others, and seeds without a pair do not count", () => {
    const pairs = [901, 902].flatMap((seed) => [at(seed, of("free")), at(seed, of("held"))]);
    const one = [...pairs, at(901, of("held, strict")), at(903, of("free"))];
    const both = [...one, at(902, of("held, strict"))];
    const [few, all] = [one, both].map((lines, k) =>
      draw({ "held-not-told": writeLines(`held-${k}.jsonl`, lines) }).get("price.svg"),
    );
    expect(few).not.toContain("held, strict");
    expect(all).toContain("◇ held, strict");
    expect(all).toContain("2 simulated cohorts. Upright lines");
    expect(few).not.toContain("□ Cox");
  });

  test("one seed has no standard error, and a size without held is not compared", () => {
    const binding = readLines<{ part: string; seed: number; system: string }>(committedLines("binding"));
    const path = writeLines(
      "binding.jsonl",
      binding.filter(({ part, seed, system }) => part === "systems" && seed === 1201 && system !== "held"),
    );
    const picture = draw({ binding: path }).get("held.svg") ?? "";
    expect(picture).toContain("Means of 1 (4374) and 1 (20,000)");
    expect(picture).not.toContain("t-test");
    expect(picture).not.toMatch(/NaN|undefined|Infinity/);
  });
});
