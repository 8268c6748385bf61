// A table of two causes in the studio, from its values to the card: what each value means, groups by cause, risks that
// sum, a report and a command that makes the same model in a terminal, and the audit of another model's incidences.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
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
} from "./served.ts";

const program = findChromium();
if (program === null) console.log(`test/studio is skipped: ${WHY_SKIPPED}`);

/** Two causes whose rates differ by age and sex, and people who are watched for five years. */
function drawTable(rows: number): string {
  const random = createRandom(17);
  const lines = Array.from({ length: rows }, () => {
    const age = Math.round(60 + 10 * random.normal());
    const isWoman = random.uniform() < 0.5;
    const [relapse, death] = [isWoman ? 0.06 : 0.12, 0.08 * Math.exp((age - 60) / 15)];
    const time = -Math.log(1 - random.uniform()) / (relapse + death);
    const which = random.uniform() < relapse / (relapse + death) ? "relapse" : "death";
    const isSeen = time < 5;
    return `${age},${isWoman ? "F" : "M"},${(isSeen ? time : 5).toFixed(3)},${isSeen ? which : "none"}`;
  });
  return `age,sex,years,status\n${lines.join("\n")}\n`;
}

/** The same for everyone, by each half year. */
function writeIncidences(rows: number): string {
  const times = Array.from({ length: 10 }, (_, k) => (k + 1) / 2);
  const line = times.map((time) => (0.06 * time).toFixed(2)).join(",");
  return `${times.map((time) => `F(${time})`).join(",")}\n${`${line}\n`.repeat(rows)}`;
}

/** Half of the people come under observation late, and some rows stand for two. */
function drawLateTable(rows: number): string {
  const random = createRandom(23);
  const lines = Array.from({ length: rows }, (_, row) => {
    const age = Math.round(60 + 10 * random.normal());
    const entered = row % 2 === 0 ? 0 : random.uniform();
    const time = entered + 0.01 - Math.log(1 - random.uniform()) / (0.15 * Math.exp((age - 60) / 15));
    return `${age},${entered.toFixed(3)},${Math.min(time, 5).toFixed(3)},${time < 5 ? 1 : 0},${1 + (row % 2)}`;
  });
  return `age,entered,years,died,copies\n${lines.join("\n")}\n`;
}

describe.skipIf(program === null)("a table of two causes in the studio", { timeout: PATIENCE }, () => {
  let studio: Served;
  beforeAll(async () => {
    studio = await serveStudio(program ?? "");
  }, 60_000);
  afterAll(() => studio?.close());

  test("from the values to the card, with the command's model", async () => {
    const { page, context, problems } = await studio.open();
    await openTable(page, studio.write("two.csv", drawTable(400)));
    await page.getByLabel("Time").selectOption("years");
    await page.getByLabel("Event").selectOption("status");
    await page.getByLabel("Where it is relapse").selectOption("cause");
    expect(await page.getByLabel("Where it is death").inputValue()).toBe("cause");
    expect(await page.getByLabel("Where it is none").inputValue()).toBe("censored");
    await page.getByText("had relapse").waitFor();
    expect(await page.locator(".counts .say").textContent()).toMatch(
      /^\d+ had death, \d+ had relapse, \d+ were observed without any\.$/,
    );
    await page.getByRole("img", { name: "Incidence of each cause, stacked" }).locator("svg").waitFor();
    await page.getByText("Late entry and weights, for experts").click();
    expect(await page.getByLabel("Entry").inputValue()).toBe("");
    expect(await page.getByLabel("Start", { exact: true }).inputValue()).toBe("");
    expect(await page.getByLabel("Weights").inputValue()).toBe("");
    expect(await findBarriers(page)).toEqual([]);
    await goTo(page, "groups");
    await page.getByLabel("Expression").fill("sex = F");
    await page.getByRole("button", { name: "Add group" }).click();
    await page.getByText(/^\d+ people, \d+ death, \d+ relapse$/).waitFor();
    await page.getByRole("img", { name: "Incidences of sex = F" }).locator("svg").waitFor();
    await chooseQuick(page, 10);
    await page.getByLabel("Runs to average").fill("1");
    await trainToEnd(page);
    await page.getByRole("button", { name: "Next", exact: true }).click();

    const report = page.frameLocator("iframe[title=Report]");
    await report.getByRole("heading", { name: "two.csv: graduate model" }).waitFor();
    await report.getByText("Calibration report by cause").waitFor();
    const verdict = page.getByRole("group", { name: "Groups by cause" });
    await page.getByText("What training said of each group and cause").click();
    expect(await verdict.locator("tbody th").allTextContents()).toEqual([
      "all: death",
      "all: relapse",
      "sex = F: death",
      "sex = F: relapse",
    ]);
    const command = (await page.locator(".command code").textContent()) ?? "";
    expect(command).toMatch(/--causes death,relapse\s+--censored none/);
    const bytes = await download(page, "Download model");
    const model = modelFromBytes(bytes, "two.model");
    expect(model.causes).toEqual(["death", "relapse"]);
    const graduate = `'${process.execPath}' '${join(root, "bin/graduate.js")}'`;
    const typed = command.replace(/^graduate /, `${graduate} `);
    const { status, stderr } = spawnSync("sh", ["-c", typed], { cwd: studio.folder, encoding: "utf8" });
    expect(status, stderr).toBe(0);
    expect(bytes.equals(readFileSync(join(studio.folder, "two.model")))).toBe(true);
    const ofTerminal = readFileSync(join(studio.folder, "two-report.html"), "utf8");
    const ofPage = (await download(page, "Download report")).toString();
    // Figures aside, whose last digits are the engine's own, and the settings, which name the command.
    const wordsOf = (text: string) =>
      text.slice(text.indexOf("<main"), text.indexOf('id="settings"')).replace(/<svg[\s\S]*?<\/svg>/g, "");
    expect(wordsOf(ofPage)).toBe(wordsOf(ofTerminal));
    expect((await download(page, "Download ONNX")).length).toBeGreaterThan(1000);
    expect(await findBarriers(page)).toEqual([]);

    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.locator(".person svg").first().waitFor();
    const cells = (row: number) =>
      page.locator(".risks tbody tr").nth(row).locator("td").last().textContent();
    const [any, death, relapse] = (await Promise.all([0, 1, 2].map(cells))).map((text) =>
      Number.parseFloat(text ?? ""),
    );
    // Each is rounded to a tenth.
    expect(Math.abs(any - death - relapse)).toBeLessThan(0.16);
    expect(await page.locator(".sentence").textContent()).toMatch(
      /^Of 100 such people, by 5 years: \d+ death, \d+ relapse, \d+ neither\.$/,
    );
    await page.getByRole("heading", { name: "What drives death" }).waitFor();
    await page.getByRole("heading", { name: "What drives relapse" }).waitFor();
    await page.getByRole("button", { name: "Write the whole card" }).click();
    const card = page.frameLocator("iframe[title=Card]");
    await card.getByText("What drives relapse").waitFor();
    expect(
      await card
        .getByText(/^Of 100 such people, by /)
        .first()
        .textContent(),
    ).toMatch(/: \d+ death, \d+ relapse, \d+ neither\.$/);
    expect(await findBarriers(page)).toEqual([]);

    await page.getByRole("button", { name: "Next", exact: true }).click();
    for (const cause of ["death", "relapse"]) {
      const path = studio.write(`${cause}.csv`, writeIncidences(400));
      await page.getByLabel(`Incidence of ${cause}`).setInputFiles(path);
    }
    await page.getByRole("button", { name: "Audit by cause" }).click();
    await page
      .frameLocator("iframe[title=Report]")
      .getByRole("heading", { name: "death, relapse on two.csv" })
      .waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    for (const step of ["audit", "people", "verdict", "table"]) {
      await goTo(page, step);
      expect(await findOverflow(page), step).toBeLessThanOrEqual(0);
    }
    expect(problems).toEqual([]);
    await context.close();
  });

  test.each([
    ["Entry", "entered", "--entry entered"],
    ["Weights", "copies", "--weights copies"],
  ])("%s: curves, report and card are there, and the command says it", async (label, column, option) => {
    const { page, context, problems } = await studio.open();
    await openTable(page, studio.write("late.csv", drawLateTable(300)));
    await page.getByText("Late entry and weights, for experts").click();
    await page.getByLabel(label, { exact: true }).selectOption(column);
    await page.getByRole("img", { name: "Kaplan-Meier curve of everyone" }).locator("svg").waitFor();
    await goTo(page, "groups");
    await page.getByLabel("Expression").fill("age >= 60");
    await page.getByRole("button", { name: "Add group" }).click();
    await page.locator(".group-card svg").waitFor();
    await chooseQuick(page, 4);
    await page.getByLabel("Runs to average").fill("1");
    await trainToEnd(page);
    await goTo(page, "verdict");
    await page
      .frameLocator("iframe[title=Report]")
      .getByRole("heading", { name: "late.csv: graduate model" })
      .waitFor();
    expect(await page.locator(".command code").textContent()).toContain(option);
    await goTo(page, "people");
    await page.getByRole("heading", { name: "What drives this risk" }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
