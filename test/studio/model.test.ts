// A model in the studio, from a file to the report: the same bytes as the command line's, whether or not the run was
// cancelled, the page closed and the run gone on with; and a model of the command line opened in the page.
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modelFromBytes } from "../../src/files/model/model-file.ts";
import { findChromium, WHY_SKIPPED } from "../browser/chromium.ts";
import { root } from "../cli/run-cli.ts";
import {
  chooseQuick,
  download,
  findBarriers,
  findOverflow,
  goTo,
  openTable,
  PATIENCE,
  type Served,
  serveStudio,
  trainToEnd,
  waitForModel,
} from "./served.ts";

const program = findChromium();
if (program === null) console.log(`test/studio is skipped: ${WHY_SKIPPED}`);

const NWTCO = join(root, "datasets/nwtco/nwtco.csv");
/** Enough to be stopped on the way. */
const STEPS = 80;

async function chooseGroups(page: Page): Promise<void> {
  await goTo(page, "groups");
  await page.getByRole("button", { name: "histol = 2", exact: true }).click();
  await page.getByLabel("Expression").fill("age >= 60");
  await page.getByLabel("Called").fill("older children");
  await page.getByRole("button", { name: "Add group" }).click();
  await page.getByRole("heading", { name: "older children" }).waitFor();
}

describe.skipIf(program === null)("a model in the studio", { timeout: PATIENCE }, () => {
  let studio: Served;
  /** The model file that the command line writes for the page's own command. */
  let ofCommand: Buffer;
  beforeAll(async () => {
    studio = await serveStudio(program ?? "");
    copyFileSync(NWTCO, join(studio.folder, "nwtco.csv"));
  }, 60_000);
  afterAll(() => studio?.close());

  /** Runs the command that the page shows, as it stands. */
  function runCommand(command: string): void {
    const graduate = `'${process.execPath}' '${join(root, "bin/graduate.js")}'`;
    const typed = command.replace(/^graduate /, `${graduate} `);
    const { status, stderr } = spawnSync("sh", ["-c", typed], { cwd: studio.folder, encoding: "utf8" });
    expect(stderr).not.toMatch(/error/);
    expect(status).toBe(0);
  }

  test("nwtco from file to report: the command's model, byte for byte, and its report", async () => {
    const { page, context, problems, requests } = await studio.open();
    await openTable(page, NWTCO);
    await page.getByLabel("Unit").fill("days");
    await chooseGroups(page);
    await chooseQuick(page, STEPS);
    await trainToEnd(page);
    await page.locator(".small-multiples svg").first().waitFor();
    expect(await page.locator(".distances li").count()).toBe(3);
    expect(await page.locator(".progress .hint").textContent()).toMatch(/WebAssembly, \d+ threads?/);
    await page.getByRole("button", { name: "Next", exact: true }).click();
    const frame = page.frameLocator("iframe[title=Report]");
    await frame.getByRole("heading", { name: "nwtco.csv: graduate model" }).waitFor();
    const model = await download(page, "Download model");
    const report = (await download(page, "Download report")).toString();
    const command = (await page.locator(".command code").textContent()) ?? "";
    expect(command).toContain("--group 'histol = 2' --group '\"older children\": age >= 60'");
    runCommand(command);
    ofCommand = readFileSync(join(studio.folder, "nwtco.model"));
    expect(model.equals(ofCommand)).toBe(true);
    const ofTerminal = readFileSync(join(studio.folder, "nwtco-report.html"), "utf8");
    // Figures aside, whose last digits are the engine's own.
    const wordsOf = (text: string) =>
      text.slice(text.indexOf("<main"), text.indexOf('id="settings"')).replace(/<svg[\s\S]*?<\/svg>/g, "");
    expect(wordsOf(report) === wordsOf(ofTerminal)).toBe(true);
    expect((await download(page, "Download ONNX")).length).toBeGreaterThan(1000);
    studio.write("curves.csv", (await download(page, "Download curves (CSV)")).toString());

    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.locator(".person svg").first().waitFor();
    const risk = () => page.locator(".risks tbody tr").first().textContent();
    const driven = () => page.locator(".drivers-of:not(.stale) .total").textContent();
    const before = await risk();
    const sentence = await page.locator(".sentence").textContent();
    expect(sentence).toMatch(/^Of 100 people like this, \d+ have had the event by \d+ years\.$/);
    // By 1, 5 and 10 years and to the end, each as a hundred people, with the band of the curve.
    expect(await page.locator(".hundred figcaption").allTextContents()).toEqual([
      "By 1 year",
      "By 5 years",
      "By 10 years",
      "By about 17 years",
    ]);
    const tile = page.locator(".hundred").nth(2);
    expect(await tile.locator("p").first().textContent()).toBe(sentence);
    expect(`${await tile.locator(".had").count()}`).toBe(
      /100 people like this, (\d+)/.exec(sentence ?? "")?.[1],
    );
    expect(await tile.locator(".hint").textContent()).toMatch(/^Between \d+ and \d+ of 100 \(95 % band\)\.$/);
    const drivenBefore = await driven();
    await page.getByLabel("age", { exact: true }).fill("150");
    await page.getByRole("button", { name: "Write the whole card" }).click();
    await page.getByText("as the row is", { exact: true }).waitFor();
    await expect.poll(risk).not.toBe(before);
    await expect.poll(() => page.locator(".sentence").textContent()).not.toBe(sentence);
    await expect.poll(driven).not.toBe(drivenBefore);
    expect(await page.locator(".drivers").textContent()).toContain("age150");
    await page
      .frameLocator("iframe[title=Card]")
      .getByText("Row 1 of nwtco.csv, with changed values")
      .waitFor();

    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.getByLabel("Curves").setInputFiles(join(studio.folder, "curves.csv"));
    await page.getByRole("button", { name: "Audit", exact: true }).click();
    await page.frameLocator("iframe[title=Report]").getByRole("heading", { name: "curves.csv" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    for (const [step, shown] of [
      ["people", ".person svg"],
      ["verdict", "iframe[title=Report]"],
      ["train", ".small-multiples svg"],
    ]) {
      await goTo(page, step);
      await page.locator(shown).first().waitFor();
      expect(await findBarriers(page), step).toEqual([]);
    }
    expect(problems).toEqual([]);
    const foreign = requests.filter(({ method, url }) => method !== "GET" || !isOwn(url));
    expect(foreign).toEqual([]);
    await context.close();
  });

  /** The page's own files, and what it made itself. */
  function isOwn(url: string): boolean {
    return url.startsWith(`${studio.origin}/`) || /^(blob:|about:srcdoc)/.test(url);
  }

  test("paused, cancelled, the page closed, and gone on with: the same bytes", async () => {
    const { page, context } = await studio.open();
    await openTable(page, NWTCO);
    await page.getByLabel("Keep my work in this browser").check();
    await page.getByLabel("Unit").fill("days");
    await chooseGroups(page);
    await chooseQuick(page, STEPS);
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    const goOn = page.getByRole("button", { name: /Go on from step \d+/ });
    await goOn.waitFor();
    await page.reload();
    await goOn.click();
    await waitForModel(page);
    await goTo(page, "verdict");
    expect((await download(page, "Download model")).equals(ofCommand)).toBe(true);
    await page.reload();
    await page.frameLocator("iframe[title=Report]").getByRole("heading", { name: "nwtco.model" }).waitFor();
    expect((await download(page, "Download model")).equals(ofCommand)).toBe(true);
    await page.getByRole("button", { name: "Forget everything" }).click();
    await page.getByRole("heading", { name: "No model yet" }).waitFor();
    await context.close();
  });

  test("an ensemble: the command's model, byte for byte", async () => {
    const { page, context } = await studio.open();
    const lines = readFileSync(NWTCO, "utf8").split("\n", 501).join("\n");
    await openTable(page, studio.write("few.csv", `${lines}\n`));
    await chooseQuick(page, 4);
    await page.getByLabel("Runs to average").fill("3");
    await trainToEnd(page);
    await goTo(page, "verdict");
    const command = (await page.locator(".command code").textContent()) ?? "";
    expect(command).toContain("--ensemble 3");
    runCommand(command);
    const ofTerminal = readFileSync(join(studio.folder, "few.model"));
    expect((await download(page, "Download model")).equals(ofTerminal)).toBe(true);
    expect(modelFromBytes(ofTerminal, "few.model").predictor.kind).toBe("network");
    await context.close();
  });

  test("cancelled while the groups are held: it ends at once, and is gone on with to the same bytes", async () => {
    const { page, context } = await studio.open();
    await openTable(page, NWTCO);
    await page.getByLabel("Unit").fill("days");
    await chooseGroups(page);
    await chooseQuick(page, STEPS);
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await page.evaluate(`new Promise((resolve) => {
      const look = () => document.querySelector(".progress .say strong")?.textContent === "Holding the groups";
      const press = () => {
        [...document.querySelectorAll(".go button")].find(({ textContent }) => textContent === "Cancel").click();
        globalThis.cancelledAt = performance.now();
        resolve();
      };
      if (look()) return press();
      const observer = new MutationObserver(() => {
        if (!look()) return;
        observer.disconnect();
        press();
      });
      observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    })`);
    await page.getByText("Stopped", { exact: true }).waitFor();
    await page
      .getByRole("button", { name: /^(Train|Go on from step \d+)$/ })
      .last()
      .click();
    await waitForModel(page);
    await goTo(page, "verdict");
    expect((await download(page, "Download model")).equals(ofCommand)).toBe(true);
    await context.close();
  });

  test("a model of the command line opens in the page: people without a table, the report with one", async () => {
    expect(modelFromBytes(ofCommand, "nwtco.model").method).toBe("graduate");
    const path = join(studio.folder, "nwtco.model");
    const { page, context, problems } = await studio.open({
      colorScheme: "dark",
      viewport: { width: 390, height: 844 },
    });
    await goTo(page, "people");
    await page.getByLabel("Model").setInputFiles(path);
    await page.locator(".person svg").first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await findOverflow(page)).toBeLessThanOrEqual(0);
    await goTo(page, "table");
    await openTable(page, NWTCO);
    await goTo(page, "verdict");
    await page.getByLabel("Model").setInputFiles(path);
    await page.getByText("only its 806 test rows are judged").waitFor();
    await page
      .frameLocator("iframe[title=Report]")
      .getByRole("heading", { name: "nwtco.model on nwtco.csv" })
      .waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await findOverflow(page)).toBeLessThanOrEqual(0);
    await page.getByLabel("Model").setInputFiles(NWTCO);
    await expect.poll(() => page.getByRole("alert").textContent()).toMatch(/not a graduate|model/);
    expect(problems).toEqual([]);
    await context.close();
  });
});
