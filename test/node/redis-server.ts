// A Redis of the tests' own: a real server on a free port of this machine, with a password and an append-only file that
// is on disk before it answers, in a folder of its own. It can be killed and started again.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openQueue } from "../../src/node/queue/open-queue.ts";
import { loadQueuePackages } from "../../src/node/queue/queue-packages.ts";

export const PASSWORD = "p@ss:word/1";

/** Why queues cannot be tested here; null where they can. */
export async function findMissing(): Promise<string | null> {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
  } catch {
    return "redis-server is not installed";
  }
  return loadQueuePackages().then(
    () => null,
    (error: Error) => error.message,
  );
}

export interface TestRedis {
  readonly port: number;
  readonly url: string;
  start(...options: readonly string[]): Promise<void>;
  /** As a power cut would. */
  kill(): Promise<void>;
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

export async function createRedis(): Promise<TestRedis> {
  const port = await findPort();
  const folder = mkdtempSync(join(tmpdir(), "graduate-redis-"));
  const url = `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`;
  let server: ChildProcess | null = null;
  return {
    port,
    url,
    async start(...options) {
      const place = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
      const durable = ["--appendonly", "yes", "--appendfsync", "always", "--requirepass", PASSWORD];
      server = spawn("redis-server", [...place, ...durable, ...options], { stdio: "ignore" });
      for (let tries = 0; ; tries++) {
        try {
          return (await openQueue(url)).close();
        } catch (error) {
          if (tries === 100 || (error as { code?: string }).code === "queue.version") throw error;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    },
    async kill() {
      const ended = server && once(server, "exit");
      server?.kill("SIGKILL");
      await ended;
    },
  };
}
