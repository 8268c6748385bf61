// How the page is served: by the command to this machine alone, and by any host without headers, where a worker of the
// page's own adds them.
import { readFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findChromium, launchChromium } from "../browser/chromium.ts";
import { root } from "../cli/run-cli.ts";
import { endStudio, goTo, startStudio } from "./served.ts";

const program = findChromium();
const opened: Server[] = [];
afterAll(() => {
  for (const server of opened) server.close();
});

async function listen(server: Server, port = 0): Promise<number> {
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function ask(
  origin: string,
  path: string,
  options: { readonly method?: string; readonly host?: string } = {},
) {
  const { port } = new URL(origin);
  const { method = "GET", host = `127.0.0.1:${port}` } = options;
  return new Promise<{ readonly status: number; readonly headers: Record<string, unknown> }>(
    (resolve, reject) => {
      const asked = request({ port, host: "127.0.0.1", path, method, headers: { host } }, (answer) => {
        answer.resume();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers });
      });
      asked.once("error", reject);
      asked.end();
    },
  );
}

describe("graduate studio", () => {
  test("answers GETs of its own files, by this machine's names; Ctrl-C ends it", async () => {
    const { child, origin } = await startStudio("--port", "0");
    const { status, headers } = await ask(origin, "/");
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-embedder-policy": "require-corp",
    });
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    const statuses = await Promise.all([
      ask(origin, "/datasets/nwtco.csv"),
      ask(origin, "/", { method: "POST" }),
      ask(origin, "/../package.json"),
      ask(origin, "/%2e%2e/package.json"),
      ask(origin, "/.built"),
      ask(origin, "/", { host: "elsewhere.example" }),
    ]);
    expect(statuses.map((one) => one.status)).toEqual([200, 405, 404, 404, 404, 403]);
    expect(await endStudio(child)).toBe(0);
  });

  test("a port that was asked for and is taken is refused, with what to do", async () => {
    const port = await listen(createServer());
    await expect(startStudio("--port", String(port))).rejects.toThrow(
      new RegExp(`port ${port} is taken[\\s\\S]*--port N`),
    );
    await expect(startStudio("--port", "70000")).rejects.toThrow(/invalid value for --port: "70000"/);
  });
});

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
};

test.skipIf(program === null)(
  "a host without headers: a worker adds them, and threads share memory",
  async () => {
    const folder = join(root, "studio/dist");
    const server = createServer(async ({ url = "/" }, response) => {
      const path = url === "/" ? "/index.html" : url;
      const bytes = await readFile(join(folder, path)).catch(() => null);
      const type = TYPES[extname(path)] ?? "application/octet-stream";
      response.writeHead(bytes === null ? 404 : 200, {
        "Content-Type": extname(path) === ".css" ? "text/css" : type,
      });
      response.end(bytes ?? undefined);
    });
    const port = await listen(server);
    const browser = await launchChromium(program ?? "");
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.getByText("Drop a file here").waitFor();
    expect(await page.evaluate("crossOriginIsolated")).toBe(true);
    await page.getByRole("button", { name: "nwtco" }).click();
    await page.getByText("had the event").waitFor();
    // Where such a worker is refused without a word, the page is not waiting for it, and says what it computes with.
    const context = await browser.newContext({ serviceWorkers: "block" });
    const plain = await context.newPage();
    await plain.goto(`http://127.0.0.1:${port}/`);
    await plain.getByRole("button", { name: "nwtco" }).click();
    await plain.getByText("had the event").waitFor();
    expect(await plain.evaluate("crossOriginIsolated")).toBe(false);
    await goTo(plain, "train");
    await plain.getByRole("button", { name: "Train", exact: true }).click();
    await plain.getByText(/one plain thread, slow \(this page was not sent/).waitFor();
    await browser.close();
    server.closeAllConnections();
  },
);
