// The report of an audit by cause in a real browser: no barrier, and nothing wider than a phone or a desk.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findChromium, launchChromium, WHY_SKIPPED } from "../browser/chromium.ts";
import { makeCauseInput, renderCauses } from "./cause-input.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const executablePath = findChromium();
if (executablePath === null) console.log(`the report by cause in a browser: left out, ${WHY_SKIPPED}`);

describe.skipIf(executablePath === null)("the report by cause in a browser", () => {
  let browser: Browser;
  let html = "";
  beforeAll(async () => {
    html = renderCauses((await makeCauseInput()).input);
    browser = await launchChromium(executablePath ?? "");
  });
  afterAll(() => browser?.close());

  test.each([
    ["light", 1280],
    ["dark", 390],
  ] as const)("%s, %d pixels wide", async (colorScheme, width) => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
    await page.setContent(html);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    if (colorScheme === "light") return; // its colours are those of the other report
    await page.evaluate(axe);
    const found = (await page.evaluate("axe.run()")) as {
      violations: { id: string; nodes: { html: string }[] }[];
    };
    expect(found.violations.map(({ id, nodes }) => [id, nodes[0].html])).toEqual([]);
  });
});
