// What the page offers where something has to be settled, pressed one after the other: causes that compete, dates to
// count from, the corrected file, whose rows are whose; a group with & in a name; runs whose table or choices changed;
// the template of curves.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { findChromium, WHY_SKIPPED } from "../browser/chromium.ts";
import { root } from "../cli/run-cli.ts";
import {
  chooseQuick,
  download,
  findBarriers,
  goTo,
  openTable,
  PATIENCE,
  type Served,
  serveStudio,
  trainToEnd,
} from "./served.ts";

const program = findChromium();
if (program === null) console.log(`test/studio is skipped: ${WHY_SKIPPED}`);

const NWTCO = join(root, "datasets/nwtco/nwtco.csv");

/** People with an age, a time and what `cells` makes of them. */
function drawPeople(
  header: string,
  rows: number,
  cells: (draw: ReturnType<typeof createRandom>, row: number) => readonly (string | number)[],
): string {
  const random = createRandom(11);
  return `${[header, ...Array.from({ length: rows }, (_, row) => cells(random, row).join(","))].join("\n")}\n`;
}

const day = (number: number) => new Date(number * 86_400_000).toISOString().slice(0, 10);

describe.skipIf(program === null)("what has to be settled in the studio", { timeout: PATIENCE }, () => {
  let studio: Served;
  beforeAll(async () => {
    studio = await serveStudio(program ?? "");
  }, 60_000);
  afterAll(() => studio?.close());

  test("codes 0, 1 and 2: causes by one button, with names that the groups and the command have", async () => {
    const { page, context, problems } = await studio.open();
    const coded = drawPeople("time,status,age,grade & stage", 300, (draw) => [
      1 + draw.integer(900),
      draw.integer(3),
      20 + draw.integer(60),
      draw.integer(4),
    ]);
    await openTable(page, studio.write("coded.csv", coded));
    const next = page.getByRole("button", { name: "Next", exact: true });
    expect(await next.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "1 and 2 are causes that compete" }).click();
    await page.getByText("had cause 1").waitFor();
    await page.getByLabel("What 2 is called").fill("relapse");
    await page.getByText(/had relapse/).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await next.click();
    await page.getByLabel("Column", { exact: true }).selectOption("grade & stage");
    await page.getByRole("button", { name: "Add test" }).click();
    await page.getByLabel("Column", { exact: true }).selectOption("age");
    await page.getByLabel("Is", { exact: true }).selectOption(">=");
    await page.getByLabel("Value", { exact: true }).fill("40");
    await page.getByRole("button", { name: "And this" }).click();
    expect(await page.locator(".chip.test").count()).toBe(2);
    await page.getByRole("button", { name: 'Remove "grade & stage" = 0' }).click();
    expect(await page.getByLabel("Expression").inputValue()).toBe("age >= 40");
    await page.getByRole("button", { name: "Add group" }).click();
    await page.getByText(/^\d+ people, \d+ cause 1, \d+ relapse$/).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test("a date for a time: counted from another by one button, in days; cells that the file has to mend", async () => {
    const { page, context, problems } = await studio.open();
    const dated = drawPeople("enrolled,seen,followup_days,died,age", 200, (draw) => {
      const start = 12_000 + draw.integer(900);
      const length = 1 + draw.integer(999);
      return [
        day(start),
        day(start + length),
        length > 950 ? -length : length,
        draw.integer(2),
        draw.integer(90),
      ];
    });
    const path = studio.write("dated.csv", dated);
    await openTable(page, path);
    expect(await page.getByLabel("Time").inputValue()).toBe("seen");
    expect(await page.getByLabel("Counted from").inputValue()).toBe("enrolled");
    await page.getByLabel("Time").selectOption("followup_days");
    await page.getByText("time is negative").waitFor();
    const corrected = { name: "corrected.csv", mimeType: "text/csv", buffer: readFileSync(path) };
    await page.getByLabel("Corrected file").setInputFiles(corrected);
    await page.getByRole("heading", { name: "corrected.csv" }).waitFor();
    await page.getByLabel("Counted from").selectOption("");
    await page.getByRole("button", { name: "Count days from enrolled" }).click();
    expect(await page.getByLabel("Unit").inputValue()).toBe("days");
    await expect.poll(() => page.locator(".counts .say").textContent()).toMatch(/\d+ had the event/);
    expect(problems).toEqual([]);
    await context.close();
  });

  test("a file that is dropped beside its place is not opened in place of the page", async () => {
    const { page, context } = await studio.open();
    await page.getByText("Drop a file here").waitFor();
    const drop = `["dragover", "drop"].map((kind) => {
      const event = new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: new DataTransfer() });
      document.querySelector("footer").dispatchEvent(event);
      return event.defaultPrevented;
    })`;
    expect(await page.evaluate(drop)).toEqual([true, true]);
    await context.close();
  });

  test("decimal commas in quotes: read as numbers by one button, and what was chosen stays", async () => {
    const { page, context, problems } = await studio.open();
    const quoted = drawPeople("days,outcome,dose,code", 200, (draw, row) => [
      1 + draw.integer(900),
      ["relapse", "no relapse"][draw.integer(2)],
      `"${draw.integer(90)},${1 + draw.integer(9)}"`,
      // Thousands, each of its own: a column that the gate leaves out.
      `"${1 + Math.floor(row / 100)},${100 + row}"`,
    ]);
    await openTable(page, studio.write("quoted.csv", quoted));
    await page.getByLabel("Unit").fill("weeks");
    await page.getByRole("button", { name: "Only relapse is the event" }).click();
    await page.getByRole("button", { name: "Read dose with decimal commas" }).click();
    const dose = page.getByRole("row", { name: /^dose/ });
    await expect.poll(() => dose.locator(".words").textContent()).toMatch(/^0\.\d to 89\.\d, half below/);
    const code = page.getByRole("row", { name: /^code/ });
    expect(await code.locator(".words").textContent()).toContain("1,100");
    await page.getByText("code is left out.").first().waitFor();
    await page.getByRole("button", { name: "Read code with decimal commas" }).click();
    await expect.poll(() => code.locator(".words").textContent()).toMatch(/^1\.1 to 2\.299, half below/);
    await expect.poll(() => page.getByText("code is left out.").count()).toBe(0);
    expect(await dose.locator(".words").textContent()).toMatch(/^0\.\d to 89\.\d, half below/);
    expect(await page.getByLabel("Unit").inputValue()).toBe("weeks");
    expect(await page.getByLabel("Happened where it is").inputValue()).toBe("relapse");
    expect(problems).toEqual([]);
    await context.close();
  });

  test("rows one after the other: the question, the run, and the command's model", async () => {
    const { page, context, problems } = await studio.open();
    const rows = drawPeople("id,tstart,tstop,event,age,sex", 240, (draw, row) => {
      const person = Math.floor(row / 2);
      const middle = 100 + ((person * 37) % 200);
      const end = middle + 1 + ((person * 61) % 400);
      const fixed = [20.5 + ((person * 17) % 60), "FM"[person % 2]];
      return row % 2 === 0
        ? [person, 0, middle, 0, ...fixed]
        : [person, middle, end, draw.integer(2), ...fixed];
    });
    await openTable(page, studio.write("rows.csv", rows));
    expect(await page.getByLabel("Time").inputValue()).toBe("tstop");
    await page.getByRole("button", { name: "id says whose row it is" }).click();
    await expect
      .poll(() => page.getByRole("button", { name: "Next", exact: true }).isEnabled(), { timeout: 10_000 })
      .toBe(true);
    await chooseQuick(page, 4);
    await page.getByLabel("Runs to average").fill("1");
    await trainToEnd(page);
    await goTo(page, "verdict");
    const command = (await page.locator(".command code").textContent()) ?? "";
    expect(command).toMatch(/--start tstart\s+--id id\s/);
    const graduate = `'${process.execPath}' '${join(root, "bin/graduate.js")}'`;
    const typed = command.replace(/^graduate /, `${graduate} `);
    const { status, stderr } = spawnSync("sh", ["-c", typed], { cwd: studio.folder, encoding: "utf8" });
    expect(status, stderr).toBe(0);
    const ofTerminal = readFileSync(join(studio.folder, "rows.model"));
    expect((await download(page, "Download model")).equals(ofTerminal)).toBe(true);
    expect(problems).toEqual([]);
    await context.close();
  });

  test("a stopped run goes on with its own choices and table alone", async () => {
    const { page, context, problems } = await studio.open();
    await openTable(page, NWTCO);
    await chooseQuick(page, 5000);
    await page.getByLabel("Runs to average").fill("1");
    const train = page.getByRole("button", { name: "Train", exact: true });
    const goOn = page.getByRole("button", { name: /Go on from step \d+/ });
    await train.click();
    await page.getByText(/^step [1-9]\d* of/).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await goOn.waitFor();
    await page.getByLabel("Seed").fill("2");
    await goOn.click();
    expect(await page.getByRole("alert").textContent()).toContain("not what the stopped run had");
    await page.getByLabel("Seed").fill("1");
    await goOn.click();
    await page.getByText(/^step [1-9]\d* of/).waitFor();
    const other = drawPeople("time,event,age", 60, (draw) => [
      draw.integer(900),
      draw.integer(2),
      draw.integer(90),
    ]);
    await goTo(page, "table");
    await page.getByLabel("Table").setInputFiles(studio.write("other.csv", other));
    await page.getByRole("heading", { name: "other.csv" }).waitFor();
    await goTo(page, "train");
    await train.waitFor();
    expect(await goOn.count()).toBe(0);
    expect(await page.locator(".live-run").count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test("the template of curves is audited as it is; a file that cannot be read leaves no form behind", async () => {
    const { page, context, problems } = await studio.open();
    await goTo(page, "audit");
    const template = await download(page, "Download a template");
    const file = { name: "template.csv", mimeType: "text/csv", buffer: template };
    await page.getByLabel("Curves").setInputFiles(file);
    const audit = page.getByRole("button", { name: "Audit", exact: true });
    await audit.click();
    await page.frameLocator("iframe[title=Report]").getByRole("heading", { name: "template.csv" }).waitFor();
    const broken = { ...file, name: "broken.csv", buffer: Buffer.from("time,time\n1,2\n") };
    await page.getByLabel("Curves").setInputFiles(broken);
    expect(await page.getByRole("alert").textContent()).toContain("duplicate column name");
    expect(await audit.count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test("by keyboard alone from the example to the verdict: focus is never lost", async () => {
    const { page, context, problems } = await studio.open();
    const focused = () =>
      page.evaluate<string>("(document.activeElement.tagName + ' ' + document.activeElement.id).trim()");
    /** Tabs on until what has focus says `words`. */
    async function tabTo(words: RegExp): Promise<void> {
      const said = "document.activeElement.labels?.[0]?.innerText || document.activeElement.innerText";
      for (let k = 0; k < 60; k++) {
        await page.keyboard.press("Tab");
        if (words.test(await page.evaluate<string>(said))) return;
      }
      throw new Error(`nothing that can be reached says ${words}`);
    }
    await tabTo(/^nwtco/);
    await page.keyboard.press("Enter");
    await page.getByText("had the event").waitFor();
    expect(await focused()).toBe("DIV panel-table");
    await tabTo(/^Next/);
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("DIV panel-groups");
    await tabTo(/histol = 2$/);
    await page.keyboard.press("Space");
    await page.getByText("459 people, 194 events").waitFor();
    await tabTo(/^Next/);
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("DIV panel-train");
    await tabTo(/^Options for experts/);
    await page.keyboard.press("Enter");
    await tabTo(/^Steps/);
    await page.keyboard.type("4");
    await page.getByLabel("Runs to average").fill("1");
    await page.getByRole("button", { name: "Train", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Next", exact: true }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("DIV panel-verdict");
    expect(problems).toEqual([]);
    await context.close();
  });
});
