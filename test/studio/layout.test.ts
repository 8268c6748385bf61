// Every step of the studio in light and dark, wide and narrow, with a table and a model: no barriers by axe, nothing
// wider than the window, no text that is cut off. With GRADUATE_SHOTS set to a folder, each is kept there as a picture.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findChromium, WHY_SKIPPED } from "../browser/chromium.ts";
import { root } from "../cli/run-cli.ts";
import { findBarriers, findOverflow, goTo, openTable, PATIENCE, type Served, serveStudio } from "./served.ts";

const program = findChromium();
if (program === null) console.log(`test/studio is skipped: ${WHY_SKIPPED}`);

const NWTCO = join(root, "datasets/nwtco/nwtco.csv");
const GROUPS = ["histol = 2", "stage = 4", "age >= 60"];

/** What each step shows when it is there. */
const SHOWN = [
  ["table", ".counts svg"],
  ["groups", ".group-card svg"],
  ["train", ".distances li"],
  ["verdict", "iframe[title=Report]"],
  ["people", ".drivers"],
  ["audit", ".recipes"],
] as const;

/**
 * Text that is wider or higher than its box shows, and lists whose chosen words do not fit. What is for readers of the
 * screen alone is meant to be unseen, and what scrolls can be reached.
 */
const CUT_OFF = `(() => {
  const found = [];
  const context = document.createElement("canvas").getContext("2d");
  for (const element of document.querySelectorAll("body *")) {
    // Of a pixel: for those who hear the page.
    if (element.clientWidth <= 1) continue;
    if (element.closest(".unseen, svg, iframe") || element.checkVisibility?.() === false) continue;
    const style = getComputedStyle(element);
    if (element.tagName === "SELECT") {
      context.font = style.font;
      const words = element.selectedOptions[0]?.textContent ?? "";
      const arrow = 20;
      const room = element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - arrow;
      if (context.measureText(words).width > room) found.push("select: " + words);
      continue;
    }
    const isCut = /hidden|clip/.test(style.overflowX + style.overflowY);
    const isWide = element.scrollWidth > element.clientWidth + 1;
    const isHigh = element.scrollHeight > element.clientHeight + 1;
    if (isCut && (isWide || isHigh) && element.textContent.trim() !== "") {
      found.push(element.className + ": " + element.textContent.slice(0, 60));
    }
    if (/^(BUTTON|A)$/.test(element.tagName) && element.clientWidth > 0 && isWide) {
      found.push("wide " + element.tagName + ": " + element.textContent.slice(0, 60));
    }
  }
  return found;
})()`;

async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.GRADUATE_SHOTS;
  if (folder !== undefined)
    writeFileSync(join(folder, `${name}.png`), await page.screenshot({ fullPage: true }));
}

describe.skipIf(program === null)("the six steps", () => {
  let studio: Served;
  beforeAll(async () => {
    studio = await serveStudio(program ?? "");
  }, 60_000);
  afterAll(() => studio?.close());

  test("without barriers, within the window and with nothing cut off: light and dark, wide and narrow", {
    timeout: PATIENCE,
  }, async () => {
    const { page, context } = await studio.open();
    await openTable(page, NWTCO);
    await page.getByLabel("Unit").fill("days");
    await goTo(page, "groups");
    for (const group of GROUPS) {
      await page.getByLabel("Expression").fill(group);
      await page.getByRole("button", { name: "Add group" }).click();
    }
    await goTo(page, "train");
    await page.getByText("Options for experts").click();
    await page.getByLabel("Steps").fill("20");
    await page.getByLabel("Runs to average").fill("1");
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await page.locator("button:enabled", { hasText: "Next" }).waitFor({ timeout: 60_000 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        for (const [step, shown] of SHOWN) {
          await goTo(page, step);
          await page.locator(shown).first().waitFor();
          if (step === "verdict") await page.frameLocator(shown).getByRole("heading").first().waitFor();
          const where = `${step}, ${colorScheme}, ${width}`;
          await keepPicture(page, `${step}-${colorScheme}-${width}`);
          expect(await findOverflow(page), where).toBeLessThanOrEqual(0);
          expect(await page.evaluate(CUT_OFF), where).toEqual([]);
          expect(await findBarriers(page), where).toEqual([]);
        }
      }
    }
    await context.close();
  });
});
