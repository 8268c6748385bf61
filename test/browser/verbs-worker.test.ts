// Every verb in a web worker of a page: the package bundled into one script, as an application would, and its numbers
// against Node's.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as Graduate from "../../src/index.ts";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import { findChromium, launchChromium } from "./chromium.ts";
import { type StaticServer, startServer } from "./static-server.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const program = findChromium();
const folder = fileURLToPath(new URL("../../dist/verbs-worker/", import.meta.url));

/** Train, predict, audit, discover, boost, compare and tune on one table; in Node and, by its text, in the worker. */
async function useVerbs(graduate: typeof Graduate, bytes: Uint8Array<ArrayBuffer>) {
  const table = await graduate.readTable(graduate.tableSourceFromBytes("gbsg.csv", bytes));
  const groups = [graduate.parseNamedGroup("older: age >= 60")];
  const request = {
    time: "rfstime",
    event: "status",
    drop: ["pid"],
    bins: 8,
    seed: 1,
    groups,
    method: "cox" as const,
  };
  const last = async <Outcome>(events: AsyncGenerator<unknown, Outcome>): Promise<Outcome> => {
    let next = await events.next();
    while (!next.done) next = await events.next();
    return next.value;
  };
  const backend = graduate.createReferenceBackend();
  const sha256 = "0".repeat(64);
  const study = graduate.prepare(table, request, sha256);
  const model = await last(graduate.train(study, request, backend));
  const opened = await graduate.openStudy(model, table, backend, { sha256 });
  const { test: rows } = opened.split;
  const {
    audit,
    curves,
    binned,
    groups: members,
  } = await graduate.auditModel(opened, rows, backend, { draws: 5 });
  const { found } = await graduate.discoverModel(opened, backend, { minRows: 50, top: 2, maxCross: 1 });
  const half = rows.length >> 1;
  const places = Int32Array.from(rows.keys());
  const boosted = graduate.boost(
    { curves, outcomes: binned as BinnedRightCensored, groups: members },
    { fit: places.slice(0, half), held: places.slice(half) },
  );
  const settings = [
    { method: "cox" as const },
    { method: "nll" as const, steps: 2, network: "linear" as const },
  ];
  const { method: _, ...shared } = request;
  const tuned = await last(graduate.tune(study, shared, { settings }, { backend }));
  const methods = settings.map(({ method }) => ({ label: method, method, distance: null, boosted: false }));
  const asked = { ...shared, options: { steps: 2 }, network: "linear" as const };
  const compared = await last(graduate.compare(study, asked, { methods, replicates: 20 }, { backend }));
  const told = {
    concordance: audit.overall.concordance,
    judged: [opened.acquaintance, rows.length],
    candidates: found.candidates,
    ibs: boosted.verdict.ibs,
    tuned: tuned.settings.map(({ concordance }) => concordance),
    differences: compared.differences.map(({ estimate }) => estimate),
  };
  return JSON.parse(JSON.stringify(told)) as typeof told;
}

describe.skipIf(program === null)("in a worker", () => {
  let server: StaticServer;
  let chromium: Browser;

  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    const listen = `self.onmessage = ({ data }) => (${useVerbs})(graduate, data).then(
      (told) => self.postMessage(told),
      (error) => self.postMessage(String(error.stack)),
    );`;
    writeFileSync(`${folder}entry.js`, `import * as graduate from "../index.js";\n${listen}\n`);
    await build({
      root: folder,
      logLevel: "error",
      configFile: false,
      build: {
        outDir: "bundled",
        minify: false,
        lib: { entry: "entry.js", formats: ["es"], fileName: () => "worker.js" },
      },
    });
    const page = `<!doctype html><link rel="icon" href="data:,"><script>
      globalThis.askWorker = (bytes) => new Promise((resolve, reject) => {
        const worker = new Worker("/dist/verbs-worker/bundled/worker.js", { type: "module" });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.postMessage(bytes);
      });
    </script>`;
    server = await startServer(root, { "/worker.html": { html: page, isolated: false } });
    chromium = await launchChromium(program ?? "");
  }, 60_000);

  afterAll(async () => {
    await chromium?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("every verb gives Node's numbers", async () => {
    const bytes = new Uint8Array(readFileSync(new URL("../tables/gbsg.csv", import.meta.url)));
    const graduate: typeof Graduate = await import(new URL("../../dist/index.js", import.meta.url).href);
    const here = await useVerbs(graduate, bytes);
    expect(here.judged).toEqual(["stored", 138]);
    const page = await (await chromium.newContext()).newPage();
    await page.goto(`${server.origin}/worker.html`);
    const text = JSON.stringify(new TextDecoder().decode(bytes));
    const there = await page.evaluate(`askWorker(new TextEncoder().encode(${text}))`);
    expect(there).toEqual(here);
  });
});
