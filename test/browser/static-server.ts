/**
 * A small server for browser tests: the project's built files, its dependencies and its tables, and pages given as
 * text. Whether a page is cross-origin isolated is decided by the headers of the page itself; everything else is
 * allowed into either kind.
 */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

export interface ServedPage {
  readonly html: string;
  /** Whether the page is sent with the two headers that let its threads share memory. */
  readonly isolated: boolean;
}

export interface StaticServer {
  readonly origin: string;
  close(): Promise<void>;
}

const SERVED = /^\/(dist|node_modules|datasets)\//;

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
  ".csv": "text/csv",
};

/** What a page has loaded, the next one need not load again. */
const KEPT = { "Cache-Control": "max-age=3600" };

const ISOLATED = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** `pages` by path, e.g. "/page.html". */
export async function startServer(
  root: string,
  pages: Readonly<Record<string, ServedPage>>,
): Promise<StaticServer> {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
    const page = Object.hasOwn(pages, path) ? pages[path] : null;
    if (page !== null) {
      response.writeHead(200, { "Content-Type": "text/html", ...(page.isolated ? ISOLATED : {}) });
      response.end(page.html);
      return;
    }
    try {
      if (!SERVED.test(path)) throw new Error("not among the folders that are served");
      const bytes = await readFile(join(root, path));
      // A worker's script needs the second header like the page that starts it.
      response.writeHead(200, {
        "Content-Type": TYPES[extname(path)] ?? "application/octet-stream",
        "Cross-Origin-Embedder-Policy": "require-corp",
        "Cross-Origin-Resource-Policy": "same-origin",
        ...KEPT,
      });
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
