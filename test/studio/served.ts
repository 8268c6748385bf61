/**
 * A page of the studio for a test: served by the command itself, in a Chromium without a window, with a record of every
 * request, every complaint and every task that held the page up.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { launchChromium } from "../browser/chromium.ts";
import { root } from "../cli/run-cli.ts";

const launcher = join(root, "bin", "graduate.js");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Milliseconds that a test of the page may take: some seconds each on cores of its own, many more on shared ones. */
export const PATIENCE = 240_000;

/** Milliseconds after which a task is said to hold the page up. */
export const LONG_TASK = 200;

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the page and of its workers. */
  readonly problems: string[];
  readonly requests: { readonly method: string; readonly url: string }[];
}

export interface Served {
  readonly origin: string;
  readonly browser: Browser;
  /** A scratch folder. */
  readonly folder: string;
  /** A new context, or another page of one. */
  open(options?: BrowserContextOptions, within?: BrowserContext): Promise<OpenPage>;
  write(name: string, content: string): string;
  close(): Promise<void>;
}

/** The command on any free port; resolves to what it says. */
export async function startStudio(
  ...args: readonly string[]
): Promise<{ readonly child: ChildProcess; readonly origin: string; readonly said: string }> {
  const child = spawn(process.execPath, [launcher, "studio", "--no-open", ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const origin = await new Promise<string>((resolve, reject) => {
    const hear = (part: Buffer) => {
      said += part.toString();
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (address !== undefined) resolve(address);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", () => reject(new Error(said)));
  });
  return { child, origin, said };
}

export function endStudio(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once("exit", resolve);
    child.kill("SIGINT");
  });
}

export async function serveStudio(program: string): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "graduate-studio-"));
  const [{ child, origin }, browser] = await Promise.all([
    startStudio("--port", "0"),
    launchChromium(program),
  ]);
  async function open(options: BrowserContextOptions = {}, within?: BrowserContext): Promise<OpenPage> {
    const context =
      within ?? (await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options }));
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    const problems: string[] = [];
    const requests: { method: string; url: string }[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => requests.push({ method: request.method(), url: request.url() }));
    await page.addInitScript(`globalThis.longTasks = [];
      new PerformanceObserver((list) => {
        for (const { duration, name } of list.getEntries()) globalThis.longTasks.push({ duration, name });
      }).observe({ type: "longtask", buffered: true });`);
    await page.goto(`${origin}/`);
    return { page, context, problems, requests };
  }
  return {
    origin,
    browser,
    folder,
    open,
    write(name, content) {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
    async close() {
      await browser.close();
      expect(await endStudio(child)).toBe(0);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Chooses a table and waits until the gate has looked at it. */
export async function openTable(page: Page, path: string): Promise<void> {
  await page.getByLabel("Table").setInputFiles(path);
  await page.getByRole("heading", { name: "Before anything is fitted" }).waitFor();
}

/** Goes to a step by its link. */
export async function goTo(page: Page, step: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(step)}`);
  await page.locator(`#panel-${step}`).waitFor();
}

/** Few steps, one run, the same bytes everywhere. */
export async function chooseQuick(page: Page, steps: number): Promise<void> {
  await goTo(page, "train");
  await page.getByText("Options for experts").click();
  await page.getByLabel("Steps").fill(String(steps));
  await page.getByLabel("Deterministic").check();
}

export async function trainToEnd(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await waitForModel(page);
}

export async function waitForModel(page: Page, timeout = PATIENCE): Promise<void> {
  await page.locator("button:enabled", { hasText: "Next" }).waitFor({ timeout });
}

/** The bytes behind a button. */
export async function download(page: Page, name: string): Promise<Buffer> {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name }).click(),
  ]);
  return readFileSync(await file.path());
}

/** What axe has to say of the page, frames aside: a report has a test of its own. */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = (await page.evaluate(
    `axe.run({ exclude: [["iframe"]] }, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(
      ({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary).join("; ")))`,
  )) as string[];
  return found;
}

/** Pixels by which the page is wider than its window. */
export async function findOverflow(page: Page): Promise<number> {
  return page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
}

/** Tasks of the page that were too long, each with whose it was. */
export async function findLongTasks(page: Page): Promise<string[]> {
  // They are told a moment after they end.
  await page.waitForTimeout(100);
  const all =
    await page.evaluate<{ readonly duration: number; readonly name: string }[]>("globalThis.longTasks");
  const long = all.filter(({ duration }) => duration > LONG_TASK);
  return long.map(({ duration, name }) => `${name} ${duration} ms`);
}
