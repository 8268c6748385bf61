/**
 * How a training step over all rows grows with them: T 102, D 10, H 16, 12 groups under the l2 constraint, Adam, two
 * threads, with 512 MiB for the backend's memory. One process for each N, whose peak memory is then its own;
 * `peakMegabytes` is the whole process with its engine, `atStart` what it had before the rows were made.
 * `msPerThousandRows` says whether time is linear in N. Checked first: a backend that must run most tiles again gives
 * the same bytes as one that keeps all activations.
 */
import { spawnSync } from "node:child_process";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";

interface BenchResult {
  readonly name: string;
  readonly seconds: number;
  readonly extra: Record<string, number | string>;
}

interface RowsTiming {
  readonly loss: number;
  readonly seconds: number;
  readonly peakMegabytes: number;
  readonly atStart: number;
}

const [D, H, T, GROUPS, THREADS] = [10, 16, 102, 12, 2];
const MEMORY_LIMIT = 512 * 2 ** 20;
/** Holds the arrays of 2,000 rows and the activations of about a quarter of them. */
const SMALL_LIMIT = 48 * 2 ** 20;
const CHECKED_ROWS = 2000;
const STEPS = 4;
/** The first step compiles. */
const WARM_UP = 1;
const megabytes = (bytes: number) => Math.round(bytes / 1e6);

/** Times steps on N simulated rows in this process. */
async function timeRows(N: number, memoryLimit: number): Promise<RowsTiming> {
  const atStart = megabytes(process.memoryUsage().rss);
  const { openWasmBackend } = await import("../dist/node/workers/wasm-backend.js");
  const { createRandom } = await import("../dist/core/random.js");
  const { createNetwork } = await import("../dist/models/networks/create-network.js");
  const { optimise } = await import("../dist/training/trainer.js");
  const { PRESETS } = await import("../dist/training/options.js");
  const backend = await openWasmBackend({ threads: THREADS, memoryLimit });
  const random = createRandom(1);
  const values = Float32Array.from({ length: N * D }, () => random.normal());
  const x = backend.allocate(values.length);
  backend.write(x, values);
  const binned = { T, bin: new Int32Array(N), event: new Uint8Array(N) };
  for (let row = 0; row < N; row++) {
    binned.bin[row] = 1 + random.integer(T);
    binned.event[row] = random.uniform() < 0.2 ? 1 : 0;
  }
  const groups = Array.from({ length: GROUPS }, (_, g) => ({
    name: `group ${g}`,
    rows: Int32Array.from({ length: N }, (_, row) => row).filter(
      (row) => g === 0 || values[row * D + (g % D)] > g / 12,
    ),
  }));
  const network = createNetwork(backend, { kind: "drsa", D, T, H }, 1);
  const options = { ...PRESETS.paper, steps: STEPS + WARM_UP, evaluateEvery: STEPS + WARM_UP + 1 };
  const training = { x, binned, groups };
  const times: number[] = [];
  let loss = 0;
  let last = 0;
  for await (const event of optimise({ backend, network, training, validation: null }, options)) {
    if (event.type !== "step") continue;
    const now = performance.now();
    if (event.step > WARM_UP) times.push((now - last) / 1000);
    last = now;
    loss = event.lagrangian;
  }
  await backend.close();
  const seconds = [...times].sort((a, b) => a - b)[times.length >> 1];
  return { loss, seconds, peakMegabytes: megabytes(process.resourceUsage().maxRSS * 1024), atStart };
}

function timeInProcess(N: number, memoryLimit: number): RowsTiming {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(import.meta.url), "child", String(N), String(memoryLimit)],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`the process for ${N} rows failed: ${stderr}`);
  return JSON.parse(stdout);
}

function benchRows(name: string, N: number): BenchResult {
  const kept = timeInProcess(CHECKED_ROWS, 4 * MEMORY_LIMIT);
  const again = timeInProcess(CHECKED_ROWS, SMALL_LIMIT);
  if (again.loss !== kept.loss) throw new Error(`tiles run again give ${again.loss}, kept ones ${kept.loss}`);
  const load = loadavg()[0];
  const { seconds, peakMegabytes, atStart } = timeInProcess(N, MEMORY_LIMIT);
  const msPerThousandRows = Math.round((1e8 * seconds) / N) / 100;
  return {
    name,
    seconds,
    extra: { N, H, msPerThousandRows, peakMegabytes, atStart, loadBefore: Math.round(100 * load) / 100 },
  };
}

export const benches = [2000, 10_000, 50_000, 200_000].map((N) => {
  const name = `rows: step over ${N.toLocaleString("en")} rows, 512 MiB`;
  return { name, run: async () => benchRows(name, N) };
});

if (process.argv[2] === "child") {
  console.log(JSON.stringify(await timeRows(Number(process.argv[3]), Number(process.argv[4]))));
}
