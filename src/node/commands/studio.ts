/**
 * `graduate studio`: serves the page of studio/ to this machine alone, with the headers that its threads need and a
 * policy that lets it reach nothing but its own files, and opens it in the browser. It answers requests for the files
 * it found at the start and no others, and only by the names of this machine, so that no other page can ask in its
 * place.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { PAGE_POLICY } from "../../report/page/policy.ts";
import { numberOption } from "../options/table-options.ts";
import { print, say } from "../print/output.ts";

interface StudioOptions {
  readonly port?: number;
  readonly open: boolean;
}

const HOST = "127.0.0.1";
/** Where the page is unless the port is taken. */
const USUAL_PORT = 8642;
/** Ports that are tried after it. */
const MORE_PORTS = 20;

const HTTP_PORT = 80;
const LARGEST_PORT = 65_535;

const isPort = (value: number) => Number.isInteger(value) && value >= 0 && value <= LARGEST_PORT;
const parsePort = numberOption(isPort, `a port from 0 to ${LARGEST_PORT}; 0 is any that is free`);

const BUILT = fileURLToPath(new URL("../../../studio/dist/", import.meta.url));
const DATASETS = fileURLToPath(new URL("../../../datasets/", import.meta.url));
const EXAMPLES = ["nwtco", "flchain"];

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".csv": "text/csv; charset=utf-8",
};

/** Sent with every file: workers need the second of them as the page does. */
const HEADERS: Readonly<Record<string, string>> = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy": `${PAGE_POLICY}; frame-ancestors 'none'`,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};

export function addStudio(program: Command): void {
  program
    .command("studio")
    .description("open a page that does all of this in the browser; nothing leaves this machine")
    .option(
      "--port <n>",
      `the port to serve on (default: ${USUAL_PORT}, or the next that is free)`,
      parsePort,
    )
    .option("--no-open", "do not open the browser")
    .action(runStudio);
}

async function runStudio({ port, open }: StudioOptions): Promise<void> {
  const server = createServer(answerFrom(listServed()));
  const address = `http://${HOST}:${await listen(server, port)}/`;
  print(`the studio is at ${address}\nCtrl-C ends it`);
  if (open) openBrowser(address);
  await new Promise<void>((resolve) => {
    process.removeAllListeners("SIGINT");
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  server.close();
  server.closeAllConnections();
}

/** Addresses and the files they stand for. */
function listServed(): ReadonlyMap<string, string> {
  if (!existsSync(join(BUILT, "index.html"))) {
    throw new InputError("the page is not built", {
      code: "studio.missing",
      hint: "in a checkout, `npm run studio:build` builds it",
    });
  }
  const names = readdirSync(BUILT, { recursive: true, encoding: "utf8" }).filter(
    (name) => extname(name) in TYPES,
  );
  return new Map([
    ["/", join(BUILT, "index.html")],
    ...names.map((name) => [`/${name.replaceAll("\\", "/")}`, join(BUILT, name)] as const),
    ...EXAMPLES.map((name) => [`/datasets/${name}.csv`, join(DATASETS, name, `${name}.csv`)] as const),
  ]);
}

function answerFrom(served: ReadonlyMap<string, string>) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", headers, socket } = request;
    const isOwn = [HOST, "localhost"].some((name) => namesOf(name, socket.localPort).includes(headers.host));
    const path = (request.url ?? "/").split(/[?#]/)[0];
    const file = served.get(path);
    const status = !isOwn
      ? 403
      : method !== "GET" && method !== "HEAD"
        ? 405
        : file === undefined
          ? 404
          : 200;
    if (status !== 200 || file === undefined) {
      response.writeHead(status, HEADERS).end();
      return;
    }
    try {
      const bytes = await readFile(file);
      response.writeHead(200, {
        ...HEADERS,
        "Content-Type": TYPES[extname(file)],
        "Content-Length": bytes.length,
      });
      response.end(method === "HEAD" ? undefined : bytes);
    } catch {
      response.writeHead(404, HEADERS).end();
    }
  };
}

/** A host as browsers name it: without its port where that is HTTP's own. */
function namesOf(name: string, port: number | undefined): (string | undefined)[] {
  return port === HTTP_PORT ? [name, `${name}:${port}`] : [`${name}:${port}`];
}

/** Resolves to the port; a port that was asked for is taken or refused, the usual one gives way to the next. */
async function listen(server: Server, asked: number | undefined): Promise<number> {
  const first = asked ?? USUAL_PORT;
  const last = asked ?? USUAL_PORT + MORE_PORTS;
  for (let port = first; port <= last; port++) {
    const failure = await tryPort(server, port);
    if (failure === null) {
      const address = server.address();
      return typeof address === "object" && address !== null ? address.port : port;
    }
    if (port < last) say(`port ${port} is taken: trying ${port + 1}`);
    else if (failure.code !== "EADDRINUSE" && failure.code !== "EACCES") throw failure;
  }
  throw new InputError(
    asked === undefined ? `no port is free from ${first} to ${last}` : `port ${asked} is taken`,
    {
      code: "port.taken",
      hint: "name another with --port N",
    },
  );
}

function tryPort(server: Server, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => resolve(error);
    server.once("error", fail);
    server.listen(port, HOST, () => {
      server.off("error", fail);
      resolve(null);
    });
  });
}

/** A browser that cannot be opened is no reason to stop: the address is on the screen. */
function openBrowser(address: string): void {
  const [program, ...args] =
    process.platform === "darwin"
      ? ["open", address]
      : process.platform === "win32"
        ? ["cmd", "/c", "start", "", address]
        : ["xdg-open", address];
  const sorry = () => say("no browser could be opened: open the address yourself");
  const opened = spawn(program, args, { stdio: "ignore", detached: true });
  opened.once("error", sorry);
  opened.once("exit", (code) => {
    if (code !== 0) sorry();
  });
  opened.unref();
}
