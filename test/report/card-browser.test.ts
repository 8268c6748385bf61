// The card in a real browser: light, dark and on a narrow screen, without a barrier, a request or a sideways scroll.
// Pictures are left in test/artifacts.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseHTML } from "linkedom";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderCardPage } from "../../src/report/card/render-card.ts";
import { findChromium, launchChromium, WHY_SKIPPED } from "../browser/chromium.ts";
import { makeCard } from "./card-input.ts";

const artifacts = fileURLToPath(new URL("../artifacts/", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const executablePath = findChromium();
if (executablePath === null) console.log(`the card in a browser: left out, ${WHY_SKIPPED}`);

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

describe.skipIf(executablePath === null)("the card in a browser", () => {
  const folder = mkdtempSync(join(tmpdir(), "graduate-card-"));
  const file = join(folder, "card.html");
  let browser: Browser;

  beforeAll(async () => {
    mkdirSync(artifacts, { recursive: true });
    const { document } = parseHTML("<html></html>");
    writeFileSync(file, renderCardPage(await makeCard(), { document, program: "graduate 0.2.0" }));
    browser = await launchChromium(executablePath ?? "");
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
  ] as const)("%s, %d pixels wide", async (colorScheme, width) => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const problems: string[] = [];
    const requests: string[] = [];
    page.on("console", (message) => problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(file).href);
    await page.screenshot({ path: join(artifacts, `card-${colorScheme}-${width}.png`), fullPage: true });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    await page.evaluate(`${axe}; undefined`);
    const found = (await page.evaluate(
      "axe.run(document).then((result) => result.violations)",
    )) as AxeViolation[];
    expect(found.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`)).toEqual([]);
    expect(problems).toEqual([]);
    expect(requests).toEqual([pathToFileURL(file).href]);
    expect(await page.evaluate("window.broken")).toBeUndefined();
    await page.close();
  });
});
