// A hundred thousand rows in the studio, from the file to the verdict: the page answers all the while. What is measured
// is the processor time that each task of the page's own thread took (`tdur` of the browser's trace), so that a busy
// machine, which stretches every task on the clock, neither fails nor excuses the page.
import type { CDPSession } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { findChromium, WHY_SKIPPED } from "../browser/chromium.ts";
import { chooseQuick, goTo, LONG_TASK, openTable, type Served, serveStudio, waitForModel } from "./served.ts";

const program = findChromium();
if (program === null) console.log(`test/studio is skipped: ${WHY_SKIPPED}`);

/** Milliseconds: half a minute on two cores of its own, and many times that on cores that others use. */
const LONG_PATIENCE = 600_000;

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Every task of pages' own threads from here to `end`, in milliseconds of processor time, longest first. */
async function traceTasks(session: CDPSession): Promise<{ end(): Promise<number[]> }> {
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => {
    events.push(...(value as unknown as TraceEvent[]));
  });
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["toplevel", "__metadata"], excludedCategories: ["*"] },
  });
  return {
    async end() {
      const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
      await session.send("Tracing.end");
      await complete;
      const threads = events.filter(
        ({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain",
      );
      const pages = new Set(threads.map(({ pid, tid }) => `${pid} ${tid}`));
      const tasks = events.filter(
        ({ name, ph, pid, tid }) => ph === "X" && name.endsWith("RunTask") && pages.has(`${pid} ${tid}`),
      );
      return tasks.map(({ tdur = 0 }) => tdur / 1000).sort((a, b) => b - a);
    },
  };
}

/** Times by age and grade, so that there is something to train and to hold. */
function drawLines(rows: number): string[] {
  const random = createRandom(5);
  return Array.from({ length: rows }, () => {
    const age = 20 + Math.floor(600 * random.uniform()) / 10;
    const grade = random.integer(5);
    const time = (-Math.log(1 - random.uniform()) * 4000) / Math.exp(age / 40 + grade / 5);
    const end = 3000 * random.uniform();
    return `${(1 + Math.min(time, end)).toFixed(0)},${time < end ? 1 : 0},${age},${grade}`;
  });
}

describe.skipIf(program === null)("a hundred thousand rows", () => {
  let studio: Served;
  beforeAll(async () => {
    studio = await serveStudio(program ?? "");
  }, 60_000);
  afterAll(() => studio?.close());

  test("are read, trained on and judged without a long task of the page", {
    timeout: LONG_PATIENCE,
  }, async () => {
    const path = studio.write("long.csv", `time,event,age,grade\n${drawLines(100_000).join("\n")}\n`);
    const { page, context, problems } = await studio.open();
    const tracing = await traceTasks(await studio.browser.newBrowserCDPSession());
    await openTable(page, path);
    await goTo(page, "groups");
    await page.getByLabel("Expression").fill("age >= 60");
    await page.getByRole("button", { name: "Add group" }).click();
    await page.getByText("people,").first().waitFor();
    await chooseQuick(page, 3);
    await page.getByLabel("Runs to average").fill("1");
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await waitForModel(page, LONG_PATIENCE);
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.frameLocator("iframe[title=Report]").getByRole("heading", { name: "Settings" }).waitFor();
    const tasks = await tracing.end();
    // A trace that saw nothing would find nothing long.
    expect(tasks.length).toBeGreaterThan(100);
    expect(tasks[0]).toBeGreaterThan(1);
    expect(tasks.filter((task) => task > LONG_TASK)).toEqual([]);
    console.log(
      `longest tasks of the page, in ms: ${tasks
        .slice(0, 5)
        .map((one) => one.toFixed(0))
        .join(", ")}`,
    );
    expect(problems).toEqual([]);
    await context.close();
  });
});
