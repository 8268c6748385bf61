// The first steps of the studio: tables that are right and wrong, what is said of them before anything is fitted, what
// is kept and forgotten, and that the page answers all the while and asks for nothing but its own files.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { findChromium, WHY_SKIPPED } from "../browser/chromium.ts";
import { root } from "../cli/run-cli.ts";
import {
  findBarriers,
  findLongTasks,
  findOverflow,
  goTo,
  openTable,
  PATIENCE,
  type Served,
  serveStudio,
} from "./served.ts";

const program = findChromium();
if (program === null) console.log(`test/studio is skipped: ${WHY_SKIPPED}`);

/** Bytes of the first load, in gzip, without data. */
const MOST_AT_START = 300_000;
const NWTCO = join(root, "datasets/nwtco/nwtco.csv");
const FLCHAIN = join(root, "datasets/flchain/flchain.csv");

/** nwtco with cells changed; `change` gets a row's cells by name. */
function changeNwtco(change: (cells: Record<string, string>, row: number) => void): string {
  const [header, ...lines] = readFileSync(NWTCO, "utf8").trimEnd().split("\n");
  const names = header.replaceAll('"', "").split(",");
  const changed = lines.map((line, row) => {
    const cells = Object.fromEntries(line.split(",").map((cell, k) => [names[k], cell]));
    change(cells, row);
    return names.map((name) => cells[name]).join(",");
  });
  return `${header}\n${changed.join("\n")}\n`;
}

describe.skipIf(program === null)("a table in the studio", { timeout: PATIENCE }, () => {
  let studio: Served;
  beforeAll(async () => {
    studio = await serveStudio(program ?? "");
  }, 60_000);
  afterAll(() => studio?.close());

  test("nwtco: time and event are guessed, an id is left out, everyone's events are counted", async () => {
    const { page, context, problems } = await studio.open();
    await page.getByRole("button", { name: "nwtco" }).click();
    await page.getByText("had the event").waitFor();
    expect(await page.getByLabel("Time").inputValue()).toBe("edrel");
    expect(await page.getByLabel("Event").inputValue()).toBe("rel");
    expect(await page.getByLabel("Unit").inputValue()).toBe("days");
    expect(await page.locator(".counts .say").textContent()).toContain("571 had the event, 3,457");
    const seqno = page.getByRole("row", { name: /^seqno/ });
    expect(await seqno.getByLabel("Role").inputValue()).toBe("leave");
    expect(problems).toEqual([]);
    await context.close();
  });

  test("flchain: the column of causes of death is seen before training, and stops it until it is settled by name", async () => {
    const { page, context } = await studio.open();
    await openTable(page, FLCHAIN);
    const next = page.getByRole("button", { name: "Next", exact: true });
    await page.getByText("chapter determines the event").waitFor();
    expect(await next.isDisabled()).toBe(true);
    await goTo(page, "train");
    expect(await page.getByRole("button", { name: "Train", exact: true }).isDisabled()).toBe(true);
    await goTo(page, "table");
    await page.getByRole("button", { name: "Learn from chapter although it gives the outcome away" }).click();
    await expect.poll(() => next.isEnabled()).toBe(true);
    await page.getByRole("button", { name: "Leave out chapter" }).click();
    expect(
      await page
        .getByRole("row", { name: /^chapter/ })
        .getByLabel("Role")
        .inputValue(),
    ).toBe("leave");
    await expect.poll(() => next.isEnabled()).toBe(true);
    await page.getByText("Was age known at the start?").waitFor();
    await page.getByRole("button", { name: "Yes, it was" }).click();
    await page.getByText("Known at the start, you said.").waitFor();
    await context.close();
  });

  test("3a in a number column is told with its row, in a measure and in a code; the column can be left out", async () => {
    const { page, context } = await studio.open();
    const age = changeNwtco((cells, row) => {
      if (row === 16) cells.age = "3a";
    });
    await page.getByLabel("Table").setInputFiles(studio.write("age.csv", age));
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.textContent()).toContain('text in a number column: "age" has "3a"');
    expect(await alert.textContent()).toContain("row 17");
    await page.getByRole("button", { name: "Leave out age" }).click();
    await page.getByRole("heading", { name: "Columns" }).waitFor();
    expect(await page.getByRole("row", { name: /^age/ }).getByLabel("Role").inputValue()).toBe("leave");

    const stage = changeNwtco((cells, row) => {
      if (row === 16) cells.stage = "3a";
    });
    await openTable(page, studio.write("stage.csv", stage));
    await page.getByText('stage holds numbers but for 1 of 4028 cells (row 17: "3a")').waitFor();
    await page.getByRole("button", { name: "Leave out stage" }).click();
    expect(
      await page
        .getByRole("row", { name: /^stage/ })
        .getByLabel("Role")
        .inputValue(),
    ).toBe("leave");
    await context.close();
  });

  test("events coded 1 and 2 are told how they are read, and which value it is can be said", async () => {
    const { page, context } = await studio.open();
    const coded = changeNwtco((cells) => {
      cells.rel = String(Number(cells.rel) + 1);
    });
    await openTable(page, studio.write("coded.csv", coded));
    await page.getByText("rel is coded 1/2: read as 1 = censored, 2 = event, as in R's Surv").waitFor();
    expect(await page.locator(".counts .say").textContent()).toContain("571 had the event");
    await page.getByLabel("Happened where it is").selectOption("1");
    await expect.poll(() => page.locator(".counts .say").textContent()).toContain("3,457 had the event");
    await context.close();
  });

  test.each([
    ["empty.csv", "", /^empty file/],
    ["header.csv", "time,event,age\n", /^no rows: the table has column names and nothing below them/],
    ["quote.csv", 'a,b\n1,"2\n3,4\n', /quote/],
    ["picture.csv", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", /^not a table: it looks like a PNG image/],
    ["twice.csv", "time,event,event\n1,0,0\n", /^duplicate column name: "event" names columns 2, 3/],
  ])("%s is refused in a sentence", async (name, content, sentence) => {
    const { page, context, problems } = await studio.open();
    const file = { name, mimeType: "text/csv", buffer: Buffer.from(content, "latin1") };
    await page.getByLabel("Table").setInputFiles(file);
    const said = page.getByRole("alert").locator(".say");
    expect(await said.textContent()).toMatch(sentence);
    expect(problems).toEqual([]);
    await context.close();
  });

  /** Times, events and ages that mean nothing, with cells changed. */
  function drawRows(rows: number, change: (row: number) => Readonly<Record<string, string>>): string {
    const random = createRandom(3);
    const draw = (row: number) => ({
      time: String(1 + random.integer(900)),
      event: String(random.integer(2)),
      age: (20 + 60 * random.uniform()).toFixed(2),
      ...change(row),
    });
    const lines = Array.from({ length: rows }, (_, row) => Object.values(draw(row)).join(","));
    return `${Object.keys(draw(0)).join(",")}\n${lines.join("\n")}\n`;
  }

  test.each([
    ["one row", drawRows(1, () => ({})), /There is one row in the table: too few to train/],
    ["no event", drawRows(200, () => ({ event: "0" })), /Nobody had the event/],
    ["times in words", drawRows(200, (row) => ({ time: ["soon", "late"][row % 2] })), /time/],
    ["one time", drawRows(200, () => ({ time: "5" })), /Every row has one and the same time/],
  ])("%s: what has to be settled is said, and no run starts", async (_, table, sentence) => {
    const { page, context, problems } = await studio.open();
    await page.getByLabel("Table").setInputFiles(studio.write("small.csv", table));
    await page.getByRole("heading", { name: "Columns" }).waitFor();
    await page.getByLabel("Time").selectOption("time");
    await page.getByLabel("Event").selectOption("event");
    const said = page.locator(".finding.error, [role=alert]").first();
    await said.waitFor();
    expect(await said.textContent()).toMatch(sentence);
    expect(await page.getByRole("button", { name: "Next", exact: true }).isDisabled()).toBe(true);
    await goTo(page, "train");
    expect(await page.getByRole("button", { name: "Train", exact: true }).isEnabled()).toBe(false);
    expect(problems).toEqual([]);
    await context.close();
  });

  test("5,000 places are left out with the reason; semicolons and decimal commas are read", async () => {
    const { page, context, problems } = await studio.open();
    const many = drawRows(6000, (row) => ({ city: `town ${row % 5000}` }));
    await openTable(page, studio.write("many.csv", many));
    await page.getByText("city has many levels for its rows").waitFor();
    expect(await page.getByRole("row", { name: /^city/ }).getByLabel("Role").inputValue()).toBe("leave");
    const commas = drawRows(300, () => ({}))
      .replaceAll(",", ";")
      .replaceAll(".", ",");
    await openTable(page, studio.write("commas.csv", commas));
    const words = page.getByRole("row", { name: /^age/ }).locator(".words");
    await expect.poll(() => words.textContent()).toMatch(/^2\d\.\d+ to 79\.\d+, half below/);
    expect(problems).toEqual([]);
    await context.close();
  });

  test("groups are suggested, built, counted as they are written, and too few is said at once", async () => {
    const { page, context, problems } = await studio.open();
    await openTable(page, NWTCO);
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.getByRole("button", { name: "histol = 2", exact: true }).click();
    await page.getByText("459 people, 194 events").waitFor();
    const live = page.locator(".live");
    await page.getByLabel("Expression").fill("age >= 60 &");
    await expect.poll(() => live.textContent()).toMatch(/expected/);
    await page.getByLabel("Expression").fill("age >= 150 & stage = 4");
    await expect.poll(() => live.textContent()).toMatch(/too few to say/);
    await page.getByLabel("Column", { exact: true }).selectOption("study");
    await page.getByLabel("Value", { exact: true }).selectOption("4");
    await page.getByRole("button", { name: "And this" }).click();
    expect(await page.getByLabel("Expression").inputValue()).toBe("age >= 150 & stage = 4 & study = 4");
    await page.getByLabel("Expression").fill("age >= 60");
    await page.getByLabel("Called").fill("older");
    await page.getByRole("button", { name: "Add group" }).click();
    await page.getByRole("heading", { name: "older" }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test("work survives a reload only by consent, and is forgotten", async () => {
    const { page, context } = await studio.open();
    await openTable(page, NWTCO);
    await page.reload();
    await page.getByText("Drop a file here").waitFor();
    await openTable(page, NWTCO);
    await page.getByLabel("Keep my work in this browser").check();
    await page.getByLabel("Unit").fill("days");
    await page.waitForTimeout(600);
    await page.reload();
    await page.getByRole("heading", { name: "nwtco.csv" }).waitFor();
    expect(await page.getByLabel("Unit").inputValue()).toBe("days");
    expect(await page.getByLabel("Keep my work in this browser").isChecked()).toBe(true);
    await page.getByRole("button", { name: "Forget everything" }).click();
    await page.getByText("Drop a file here").waitFor();
    await page.reload();
    await page.getByText("Drop a file here").waitFor();
    const left = `navigator.storage.getDirectory().then(async (folder) => { const names = [];
      for await (const name of folder.keys()) names.push(name); return names; })`;
    expect(await page.evaluate(left)).toEqual([]);
    await context.close();
  });

  test("100,000 rows: read, checked and grouped without a long task on the page", async () => {
    const lines = Array.from({ length: 100_000 }, (_, row) => {
      const age = 20 + ((row * 7919) % 600) / 10;
      const time = 1 + ((row * 104_729) % 3000);
      return `${time},${row % 7 === 0 ? 1 : 0},${age},${"FM"[row % 2]},${(row * 31) % 5},${((row * 17) % 1000) / 7}`;
    });
    const path = studio.write("long.csv", `time,event,age,sex,grade,marker\n${lines.join("\n")}\n`);
    const { page, context, problems } = await studio.open();
    await openTable(page, path);
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.getByRole("button", { name: "Take them all" }).click();
    await page.getByText("people,").first().waitFor();
    expect(await findLongTasks(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test("the start is small, quick, and asks for nothing but the page's own files, by GET", async () => {
    const { page, context, requests, problems } = await studio.open();
    await page.getByText("Drop a file here").waitFor();
    expect(await page.evaluate<number>("performance.now()")).toBeLessThan(2000);
    const loaded = [
      ...new Set(requests.map(({ url }) => new URL(url).pathname.replace(/^\/$/, "/index.html"))),
    ];
    const sizes = loaded.map((path) => gzipSync(readFileSync(join(root, "studio/dist", path))).length);
    expect(loaded.length).toBeGreaterThan(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_AT_START);
    expect(requests.filter(({ method, url }) => method !== "GET" || !url.startsWith(studio.origin))).toEqual(
      [],
    );
    const answer = await page.request.get(`${studio.origin}/`);
    const policy = answer.headers()["content-security-policy"];
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-[^']+'; worker-src 'self'/,
    );
    expect(policy).toContain("connect-src 'self'");
    // The policy is what keeps data in: an attempt to send is refused by the browser itself.
    const sent =
      "fetch('http://localhost:9/', { method: 'POST', body: 'x' }).then(() => 'sent', () => 'refused')";
    expect(await page.evaluate(sent)).toBe("refused");
    expect(problems.filter((problem) => /Content Security Policy/.test(problem)).length).toBeGreaterThan(0);
    await context.close();
  });

  test("without barriers before there is a model, and where something has to be settled", async () => {
    const { page, context } = await studio.open();
    await page.getByText("Drop a file here").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await openTable(page, FLCHAIN);
    await page.getByText("chapter determines the event").waitFor();
    await page.locator(".counts svg").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    for (const step of ["train", "verdict", "people", "audit"]) {
      await goTo(page, step);
      expect(await findBarriers(page)).toEqual([]);
      expect(await findOverflow(page), step).toBeLessThanOrEqual(0);
    }
    await page.locator('[role="tab"][aria-selected="true"]').focus();
    await page.keyboard.press("ArrowRight");
    expect(new URL(page.url()).hash).toBe("#table");
    await context.close();
  });
});
