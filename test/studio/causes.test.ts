// A table of two causes in the studio, from its values to the card: what each value means, groups by cause, risks that
// sum, and a command that makes the same model in a terminal.
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

describe.skipIf(program === null)("a table of two causes in the studio", () => {
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
    await page.getByText("had the event").waitFor();
    await page.getByText("Late entry and weights, for experts").click();
    expect(await page.getByLabel("Entry").inputValue()).toBe("");
    expect(await page.getByLabel("Start", { exact: true }).inputValue()).toBe("");
    expect(await page.getByLabel("Weights").inputValue()).toBe("");
    expect(await findBarriers(page)).toEqual([]);
    await goTo(page, "groups");
    await page.getByLabel("Expression").fill("sex = F");
    await page.getByRole("button", { name: "Add group" }).click();
    await chooseQuick(page, 10);
    await page.getByLabel("Runs to average").fill("1");
    await trainToEnd(page);
    await page.getByRole("button", { name: "Next: verdict" }).click();

    const verdict = page.getByRole("region", { name: "Groups by cause" });
    expect(await verdict.locator("tbody th").allTextContents()).toEqual([
      "all: death",
      "all: relapse",
      "sex = F: death",
      "sex = F: relapse",
    ]);
    expect(await verdict.textContent()).toContain(
      "The report by cause is made by the command graduate audit",
    );
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
    expect((await download(page, "Download ONNX")).length).toBeGreaterThan(1000);
    expect(await findBarriers(page)).toEqual([]);

    await page.getByRole("button", { name: "Next: people" }).click();
    await page.locator(".person svg").waitFor();
    const cells = (row: number) =>
      page.locator(".risks tbody tr").nth(row).locator("td").last().textContent();
    const [any, death, relapse] = (await Promise.all([0, 1, 2].map(cells))).map((text) =>
      Number.parseFloat(text ?? ""),
    );
    // Each is rounded to a tenth.
    expect(Math.abs(any - death - relapse)).toBeLessThan(0.16);
    await page.getByRole("button", { name: "What drives this risk?" }).click();
    const card = page.frameLocator("iframe[title=Card]");
    await card.getByText("What drives relapse").waitFor();
    expect(
      await card
        .getByText(/^Of 100 such people, by /)
        .first()
        .textContent(),
    ).toMatch(/: \d+ death, \d+ relapse, \d+ neither\.$/);
    expect(await findBarriers(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    for (const step of ["people", "verdict", "table"]) {
      await goTo(page, step);
      expect(await findOverflow(page), step).toBeLessThanOrEqual(0);
    }
    expect(problems).toEqual([]);
    await context.close();
  });
});
