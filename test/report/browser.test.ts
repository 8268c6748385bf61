// The report in a real browser: opened from disk, no error, no request, no barrier, sorted by keyboard, printed to A4.
// Pictures are left in test/artifacts. Without a browser these tests say so and are left out; GRADUATE_CHROMIUM names
// one.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseHTML } from "linkedom";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gatherReport } from "../../src/report/data/gather-report.ts";
import { renderReport } from "../../src/report/page/render-report.ts";
import { HOSTILE, makeInput, type ReportInput } from "./report-input.ts";

const artifacts = fileURLToPath(new URL("../artifacts/", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

function findBrowser(): string | null {
  const named = process.env.GRADUATE_CHROMIUM;
  if (named !== undefined) return existsSync(named) ? named : null;
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    } catch {
      // The next name.
    }
  }
  return null;
}

const executablePath = findBrowser();
if (executablePath === null) {
  console.log("report in a browser: left out, no chromium found (set GRADUATE_CHROMIUM to the path of one)");
}

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What the colours of a page can break; the rest of it is the same in light and dark. */
const COLOURS = JSON.stringify({ runOnly: ["color-contrast", "link-in-text-block"] });
/** Fewer than a report may have: axe looks at every element of the page. */
const FEW_GROUPS = 6;

describe.skipIf(executablePath === null)("the report in a browser", () => {
  const folder = mkdtempSync(join(tmpdir(), "graduate-report-"));
  const file = join(folder, "report <i>&.html");
  let browser: Browser;
  let input: ReportInput;
  let light: Opened;
  let dark: Opened;

  interface Opened {
    readonly page: Page;
    readonly problems: string[];
    readonly requests: string[];
  }

  async function open(colorScheme: "light" | "dark"): Promise<Opened> {
    const viewport = { width: 1280, height: 900 };
    const page = await browser.newPage({ viewport, colorScheme, reducedMotion: "reduce" });
    const problems: string[] = [];
    const requests: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("dialog", (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(file).href);
    return { page, problems, requests };
  }

  beforeAll(async () => {
    mkdirSync(artifacts, { recursive: true });
    input = await makeInput({ draws: 40, replicates: 10 }, FEW_GROUPS);
    const { document } = parseHTML("<html></html>");
    writeFileSync(file, renderReport(gatherReport(input), { document }));
    browser = await chromium.launch({
      executablePath: executablePath ?? "",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    light = await open("light");
    dark = await open("dark");
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  test.each(["light", "dark"] as const)("%s: no barrier that axe knows of", async (scheme) => {
    const { page } = scheme === "light" ? light : dark;
    const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(ground).toBe(scheme === "light" ? "rgb(245, 246, 248)" : "rgb(14, 19, 24)");
    await page.screenshot({ path: join(artifacts, `report-${scheme}.png`), fullPage: true });
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    // Through the debugger, which the page's own policy does not hold: the policy stays as a reader has it.
    await page.evaluate(`${axe}; undefined`);
    const violations = (await page.evaluate(
      `axe.run(${scheme === "dark" ? COLOURS : "document"}).then((result) => result.violations)`,
    )) as AxeViolation[];
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`)).toEqual(
      [],
    );
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = false");
  });

  test("hostile names are shown as they are", async () => {
    expect(await light.page.textContent("#group-1 h3")).toBe(HOSTILE[0]);
    expect(await light.page.textContent(".glance")).toContain(HOSTILE[1]);
  });

  test("the table sorts by keyboard, says so, and keeps what is missing last", async () => {
    const { page } = light;
    const column = async () => {
      const cells = await page.$$eval("tbody[data-rows] td[data-key=ece]", (all) =>
        all.map((cell) => cell.getAttribute("data-value")),
      );
      return cells.map((text) => (text === null ? null : Number(text)));
    };
    const given = input.audit.groups.map(({ ece }) => ece);
    const present = given.filter((ece) => ece !== null).sort((a, b) => b - a);
    const missing = given.filter((ece) => ece === null);
    expect(missing.length).toBe(1);
    expect(await column()).toEqual(given);
    // Reached by Tab alone, from the heading before it.
    await page.locator("th[data-key=concordance] button").focus();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.closest('th').dataset.key")).toBe("ece");
    await page.keyboard.press("Enter");
    expect(await page.getAttribute("th[data-key=ece]", "aria-sort")).toBe("descending");
    expect(await column()).toEqual([...present, ...missing]);
    expect(await page.textContent("#sorted")).toBe("Sorted by ECE, descending");
    await page.keyboard.press("Space");
    expect(await page.getAttribute("th[data-key=ece]", "aria-sort")).toBe("ascending");
    expect(await column()).toEqual([...present.reverse(), ...missing]);
    // One sorted column at a time, and everyone still above.
    await page.locator(".main th[data-key=name] button").press("Enter");
    expect(await page.$$eval("th[aria-sort]", (heads) => heads.length)).toBe(1);
    expect(await page.$eval(".scores tbody", (body) => body.textContent?.startsWith("Everyone"))).toBe(true);
    // A dash leads to its reason.
    await page.locator("td[data-key=concordance] a").first().press("Enter");
    expect(await page.$eval(":target", (note) => note.textContent)).toMatch(/\w/);
  });

  test("prints to A4, light on paper also from a dark screen", async () => {
    const { page } = dark;
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
    // Nothing is wider than the paper's column: 184 mm at 96 dots an inch.
    await page.setViewportSize({ width: 695, height: 1000 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(695);
    const path = join(artifacts, "report.pdf");
    const pdf = await page.pdf({ path, preferCSSPageSize: true, printBackground: true });
    const boxes = [...pdf.toString("latin1").matchAll(/\/MediaBox\s*\[([^\]]*)\]/g)].map((match) =>
      match[1].trim().split(/\s+/).map(Number),
    );
    expect(boxes.length).toBeGreaterThan(4);
    for (const [left, bottom, width, height] of boxes) {
      expect([left, bottom]).toEqual([0, 0]);
      // 210 × 297 mm in points, to a third of a millimetre.
      expect(Math.abs(width - 595.28)).toBeLessThan(1);
      expect(Math.abs(height - 841.89)).toBeLessThan(1);
    }
  });

  test("on a phone nothing is cut: no sideways scroll but that of the folded table", async () => {
    const { page } = light;
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    const wide =
      "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth)";
    expect(
      await page.evaluate(
        `${wide}.map((one) => one.getAttribute('aria-label')).filter((name) => !/^Numbers/.test(name))`,
      ),
    ).toEqual(["Table of the other scores"]);
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = false");
    await page.evaluate("scrollTo(0, 0)");
    await page.screenshot({ path: join(artifacts, "report-narrow.png") });
  });

  test("through all of this: no error, no request but the file, nobody else's code", async () => {
    for (const { page, problems, requests } of [light, dark]) {
      expect(problems).toEqual([]);
      expect(requests.map((url) => url.replace(/#.*/, ""))).toEqual([pathToFileURL(file).href]);
      expect(await page.evaluate("window.broken")).toBeUndefined();
    }
  });
});
