/**
 * What a queue costs a run: 2,000 runs that compute nothing, by one worker process with two lanes and a Redis on this
 * machine that has every write on disk before it answers (appendfsync always); the baseline is the local pool with two
 * threads on the same runs. The start of the worker is not in it, the submission and the collection are. Checked first:
 * every result is there once, in the order of the plan, and is the pool's.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { programVersion } from "../dist/node/io/provenance.js";
import { hashKey } from "../dist/node/io/run-results.js";
import { type OpenQueue, openQueue } from "../dist/node/queue/open-queue.js";
import { runInQueue } from "../dist/node/queue/run-in-queue.js";
import { runInPool } from "../dist/node/workers/run-pool.js";

const RUNS = 2000;
const LANES = 2;
const REPEATS = 3;
const PORT = 17_379;
const URL_OF_QUEUE = `redis://127.0.0.1:${PORT}`;

interface TinyTask {
  readonly n: number;
}
interface TinyResult {
  readonly square: number;
}

const module = new URL("../test/node/tiny-runs.js", import.meta.url);
const tasks: readonly TinyTask[] = Array.from({ length: RUNS }, (_, n) => ({ n }));

async function runLocally(): Promise<readonly number[]> {
  const squares: number[] = [];
  const options = { worker: module, shared: {}, workers: LANES, what: "a run" };
  for await (const event of runInPool<object, TinyTask, TinyResult>(tasks, options))
    if (event.type === "result") squares[event.index] = event.result.square;
  return squares;
}

async function runQueued(name: string): Promise<readonly number[]> {
  const keyOf = ({ n }: TinyTask) => hashKey([name, n]);
  const head = {
    id: hashKey([name]),
    name,
    command: "tiny",
    version: programVersion,
    files: [],
    isShipped: false,
    total: RUNS,
    results: "tiny.jsonl",
    said: [],
  };
  const readResult = (_: TinyTask, value: unknown) => value as TinyResult;
  const plan = { head, shared: {}, table: null, keys: tasks.map(keyOf), keyOf, nameOf: String, readResult };
  const options = {
    open: () => openQueue(URL_OF_QUEUE),
    signal: new AbortController().signal,
    tell: () => {},
  };
  const squares: number[] = [];
  for await (const event of runInQueue<TinyTask, TinyResult>(plan, options)(tasks)) {
    if (event.type !== "result") continue;
    if (event.index !== squares.length) throw new Error("a result out of its turn");
    squares.push(event.result.square);
  }
  return squares;
}

async function time(work: () => Promise<readonly number[]>): Promise<number> {
  const started = performance.now();
  const squares = await work();
  const seconds = (performance.now() - started) / 1000;
  if (squares.length !== RUNS || squares.some((square, n) => square !== n ** 2))
    throw new Error("a wrong result");
  return seconds;
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function reach(): Promise<OpenQueue> {
  for (let tries = 0; ; tries++) {
    try {
      return await openQueue(URL_OF_QUEUE);
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function run() {
  const folder = mkdtempSync(join(tmpdir(), "graduate-queue-bench-"));
  const place = ["--port", String(PORT), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const redis = spawn("redis-server", [...place, "--appendonly", "yes", "--appendfsync", "always"], {
    stdio: "ignore",
  });
  let worker: ChildProcess | null = null;
  try {
    (await reach()).close();
    const file = fileURLToPath(new URL("../test/node/tiny-worker.js", import.meta.url));
    worker = spawn(process.execPath, [file, URL_OF_QUEUE, "30", String(LANES)], { stdio: "ignore" });
    // The first time, the worker starts.
    await time(() => runQueued("warm"));
    const [queued, local]: [number[], number[]] = [[], []];
    for (let k = 0; k < REPEATS; k++) {
      queued.push(await time(() => runQueued(`timed ${k}`)));
      local.push(await time(runLocally));
    }
    const [seconds, baseline] = [median(queued), median(local)];
    return {
      name: `${RUNS} runs that compute nothing, by a queue`,
      seconds,
      baseline: { name: `the local pool, ${LANES} threads`, seconds: baseline },
      extra: {
        overheadMsPerRun: Number((((seconds - baseline) / RUNS) * 1000).toFixed(2)),
        spread: Number((Math.max(...queued) - Math.min(...queued)).toFixed(3)),
      },
    };
  } finally {
    for (const child of [worker, redis]) {
      const ended = child && once(child, "exit");
      child?.kill("SIGTERM");
      await ended;
    }
    rmSync(folder, { recursive: true });
  }
}

export const benches = [{ name: "queue", run }];
