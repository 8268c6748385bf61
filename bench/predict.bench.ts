/**
 * `predict` on a million rows, nwtco's drawn again at random, with the model that the default preset fits to nwtco and
 * its 12 groups, two threads; the peer is onnxruntime-node with the exported model on the same rows. Each timing is a
 * process of its own, whose peak memory is then its own.
 *   forward   x to S [N,T], nothing read or written: ours in blocks of 4096 rows as `predict` runs them, onnxruntime in
 *             the best of several batch sizes. Its LSTM operator wants x at every bin, so it multiplies it T times and
 * we once.
 *   command   CSV to CSV, `graduate predict --out` against what a user of the --raw export would write, on a tenth of
 *             the rows: csv-parse, onnxruntime, toFixed(7).
 * Checked first, on all of nwtco: curves within 1e-5 of each other; then of each run: the same mean, or the first rows
 * of the file and how many.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { InferenceSession } from "onnxruntime-node";
import type { EncodedFeatures } from "../src/data/encode/encode.ts";
import type { Model } from "../src/training/model.ts";

interface BenchResult {
  readonly name: string;
  readonly seconds: number;
  readonly baseline?: { readonly name: string; readonly seconds: number };
  readonly extra: Record<string, number | string>;
}

/** What a child prints. */
interface Measured {
  readonly seconds: number;
  /** Of S at the last bin over all rows; null where it went to a file. */
  readonly meanLast: number | null;
  /** Processor time of all threads, which other work on the machine disturbs less. */
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
  /** Of the seconds, what was spent in the network; the rest makes survival of logits. */
  readonly networkSeconds?: number;
}

const ROWS = 1_000_000;
/** For memory that does not grow. */
const FEWER_ROWS = 100_000;
/** For choosing how onnxruntime is best run. */
const TRIED_ROWS = 32_768;
const THREADS = 2;
const BATCHES = [256, 1024, 4096, 16_384];
/** As predict.ts takes them. */
const ROWS_AT_ONCE = 4096;
/** Of a probability. */
const TOLERANCE = 1e-5;
/** A linear congruential generator modulo 2^32, the same rows in every process. */
const [FACTOR, STEP, SEED] = [1_664_525, 1_013_904_223, 7];

const root = new URL("..", import.meta.url);
const nwtcoPath = fileURLToPath(new URL("datasets/nwtco/nwtco.csv", root));
const groupsPath = fileURLToPath(new URL("datasets/nwtco/groups.json", root));
const launcher = fileURLToPath(new URL("bin/graduate.js", root));
const self = fileURLToPath(import.meta.url);

const round = (value: number, digits: number) => Number(value.toFixed(digits));

/** Starts the clocks; what it returns reads them. */
function startClock(): () => Pick<Measured, "seconds" | "cpuSeconds" | "peakMegabytes"> {
  const cpuStart = process.cpuUsage();
  const start = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(cpuStart);
    return {
      seconds: (performance.now() - start) / 1000,
      cpuSeconds: (user + system) / 1e6,
      peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024),
    };
  };
}

/** Which of `from` rows stands in each of N places. */
function drawRows(N: number, from: number): Int32Array {
  let state = SEED;
  return Int32Array.from({ length: N }, () => {
    state = (Math.imul(state, FACTOR) + STEP) >>> 0;
    return Math.floor((state / 2 ** 32) * from);
  });
}

async function writeTable(path: string, N: number): Promise<void> {
  const [header, ...lines] = readFileSync(nwtcoPath, "utf8").trimEnd().split("\n");
  const drawn = drawRows(N, lines.length);
  const out = createWriteStream(path);
  out.write(`${header}\n`);
  for (let from = 0; from < N; from += ROWS_AT_ONCE) {
    const part = drawn.subarray(from, Math.min(from + ROWS_AT_ONCE, N));
    if (!out.write(`${Array.from(part, (row) => lines[row]).join("\n")}\n`)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
}

async function openModel(path: string): Promise<{ model: Model; x: EncodedFeatures }> {
  const { readModel } = await import("../dist/node/io/model-file.js");
  const { readTable, tableSourceFromBytes } = await import("../dist/data/reading/read-table.js");
  const { addGroupColumns } = await import("../dist/data/groups/groups.js");
  const { categoriesOf } = await import("../dist/verbs/predict.js");
  const { encode } = await import("../dist/data/encode/encode.js");
  const model = await readModel(path);
  const source = tableSourceFromBytes("nwtco.csv", new Uint8Array(readFileSync(nwtcoPath)));
  const table = await readTable(source, { category: categoriesOf(model) });
  return { model, x: encode(model.encoder, addGroupColumns(table, model.inputGroups)) };
}

/** Rows of x, drawn, into a batch. */
function gather({ D, values }: EncodedFeatures, rows: Int32Array, into: Float32Array): void {
  for (let k = 0; k < rows.length; k++) {
    for (let d = 0; d < D; d++) into[k * D + d] = values[rows[k] * D + d];
  }
}

interface Forward {
  readonly batch: number;
  readonly T: number;
  /** Survival [N,T] of N rows of x, which are in `x`. */
  run(N: number): Promise<Float32Array | Float64Array>;
  readonly x: Float32Array;
  networkSeconds(): number;
  close(): Promise<void>;
}

async function openOurs(model: Model): Promise<Forward> {
  const { openWasmBackend } = await import("../dist/node/workers/wasm-backend.js");
  const { createNetwork } = await import("../dist/models/networks/create-network.js");
  const { writeParameters } = await import("../dist/models/networks/parameters.js");
  const { mirrorArray } = await import("../dist/compute/memory.js");
  const { survivalCurves } = await import("../dist/objectives/curves.js");
  if (model.predictor.kind !== "network") throw new Error("a network is wanted");
  const backend = await openWasmBackend({ threads: THREADS });
  const network = createNetwork(backend, model.predictor.network, 0);
  writeParameters(network, model.predictor.parameters);
  const { T } = model.grid;
  const x = backend.allocate(ROWS_AT_ONCE * model.encoder.names.length);
  const logits = backend.allocate(ROWS_AT_ONCE * T);
  const onHost = mirrorArray(backend, logits);
  const survival = new Float64Array(ROWS_AT_ONCE * T);
  let spent = 0;
  return {
    batch: ROWS_AT_ONCE,
    T,
    x: mirrorArray(backend, x).values as Float32Array,
    async run(N) {
      const start = performance.now();
      await network.forward(x, N, logits, null);
      spent += performance.now() - start;
      survivalCurves(onHost.values, N, T, survival);
      return survival;
    },
    networkSeconds: () => spent / 1000,
    close: () => backend.close(),
  };
}

/** Idle threads of onnxruntime turn in a loop or sleep. */
const SPINNING = { spin: "1", sleep: "0" } as const;
type Waiting = keyof typeof SPINNING;

function sessionOptions(waiting: Waiting): InferenceSession.SessionOptions {
  return {
    intraOpNumThreads: THREADS,
    interOpNumThreads: 1,
    extra: { session: { intra_op: { allow_spinning: SPINNING[waiting] } } },
  };
}

async function openOnnx(model: Model, batch: number, waiting: Waiting): Promise<Forward> {
  const { InferenceSession, Tensor } = await import("onnxruntime-node");
  const { modelToOnnx } = await import("../dist/files/onnx/onnx.js");
  const session = await InferenceSession.create(modelToOnnx(model).bytes, sessionOptions(waiting));
  const D = model.encoder.names.length;
  const x = new Float32Array(batch * D);
  let seconds = 0;
  return {
    batch,
    T: model.grid.T,
    x,
    async run(N) {
      const start = performance.now();
      const { survival } = await session.run({ x: new Tensor("float32", x.subarray(0, N * D), [N, D]) });
      seconds += performance.now() - start;
      return survival.data as Float32Array;
    },
    networkSeconds: () => seconds / 1000,
    close: async () => session.release(),
  };
}

/** Child: `batch` 0 is ours. */
async function timeForward(path: string, N: number, batch: number, waiting: Waiting): Promise<Measured> {
  const { model, x } = await openModel(path);
  const forward = batch === 0 ? await openOurs(model) : await openOnnx(model, batch, waiting);
  const drawn = drawRows(N, x.N);
  const { T } = forward;
  const runBatch = async (rows: Int32Array) => {
    gather(x, rows, forward.x);
    return forward.run(rows.length);
  };
  await runBatch(drawn.subarray(0, forward.batch)); // compiles
  const before = forward.networkSeconds();
  const readClock = startClock();
  let sum = 0;
  for (let from = 0; from < N; from += forward.batch) {
    const rows = drawn.subarray(from, Math.min(from + forward.batch, N));
    const survival = await runBatch(rows);
    for (let k = 0; k < rows.length; k++) sum += survival[k * T + T - 1];
  }
  const measured = readClock();
  const networkSeconds = forward.networkSeconds() - before;
  await forward.close();
  return { ...measured, meanLast: sum / N, networkSeconds };
}

/** Child: the whole command. */
async function runOurCommand(path: string, table: string, out: string): Promise<Measured> {
  const { runCommand } = await import("../dist/node/cli.js");
  const readClock = startClock();
  const threads = String(THREADS);
  await runCommand(["node", "graduate", "predict", path, table, "--out", out, "--threads", threads]);
  return { ...readClock(), meanLast: null };
}

/** A cell of a column of numbers or of true and false. */
function readNumber(cell: string): number {
  if (cell === "TRUE" || cell === "FALSE") return cell === "TRUE" ? 1 : 0;
  return cell === "" ? Number.NaN : Number(cell);
}

/** Child: the same table to the same columns, as a user of the raw export would write it. */
async function runPeerCommand(
  path: string,
  table: string,
  out: string,
  batch: number,
  waiting: Waiting,
): Promise<Measured> {
  const { parse } = await import("csv-parse");
  const { InferenceSession, Tensor } = await import("onnxruntime-node");
  const { readModel } = await import("../dist/node/io/model-file.js");
  const { modelToOnnx } = await import("../dist/files/onnx/onnx.js");
  const model = await readModel(path);
  const { bytes, inputs } = modelToOnnx(model, { raw: true });
  const readClock = startClock();
  const session = await InferenceSession.create(bytes, sessionOptions(waiting));
  const { T } = model.grid;
  const output = createWriteStream(out);
  output.write(`row,${Array.from({ length: T }, (_, t) => `S${t + 1}`).join(",")}\n`);
  let row = 0;
  let places: readonly number[] | null = null;
  let records: string[][] = [];
  async function flush(): Promise<void> {
    const from = places ?? [];
    const feed = Object.fromEntries(
      inputs.map(({ name, type }, k) => {
        const cells = records.map((record) => record[from[k]]);
        const column =
          type === "string"
            ? new Tensor("string", cells, [cells.length])
            : new Tensor("float64", Float64Array.from(cells, readNumber), [cells.length]);
        return [name, column];
      }),
    );
    const outputs = await session.run(feed);
    const survival = outputs[session.outputNames[0]].data as Float32Array;
    let text = "";
    for (let i = 0; i < records.length; i++) {
      text += ++row;
      for (let k = i * T; k < (i + 1) * T; k++) text += `,${survival[k].toFixed(7)}`;
      text += "\n";
    }
    records = [];
    if (!output.write(text)) await once(output, "drain");
  }
  for await (const record of createReadStream(table, { highWaterMark: 1 << 18 }).pipe(parse())) {
    if (places === null) {
      places = inputs.map(({ name }) => (record as string[]).indexOf(name));
      continue;
    }
    records.push(record as string[]);
    if (records.length === batch) await flush();
  }
  if (records.length > 0) await flush();
  output.end();
  await once(output, "finish");
  return { ...readClock(), meanLast: null };
}

function inProcess(...parts: readonly (string | number)[]): Measured {
  const { status, stdout, stderr } = spawnSync(process.execPath, [self, "child", ...parts.map(String)], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${parts.join(" ")} failed: ${stderr}`);
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
}

interface Written {
  readonly rows: number;
  /** S1 … ST of the first rows. */
  readonly head: readonly (readonly number[])[];
}

/** Of a file of more than a gigabyte, without holding it. */
async function readWritten(path: string, T: number): Promise<Written> {
  const { createInterface } = await import("node:readline");
  const head: number[][] = [];
  let rows = -1;
  for await (const line of createInterface({ input: createReadStream(path, { highWaterMark: 1 << 20 }) })) {
    if (rows++ < 0 || head.length === ROWS_AT_ONCE) continue;
    head.push(
      line
        .split(",")
        .slice(1, T + 1)
        .map(Number),
    );
  }
  return { rows, head };
}

function agreeOnHead({ head }: Written, other: Written): void {
  head.forEach((curve, i) => {
    curve.forEach((S, t) => {
      const gap = Math.abs(S - other.head[i][t]);
      if (!(gap < TOLERANCE)) throw new Error(`row ${i + 1} differs by ${gap} in bin ${t + 1}`);
    });
  });
}

/** On every row of nwtco, curve by curve. */
async function checkCurves(path: string): Promise<void> {
  const { model, x } = await openModel(path);
  const [ours, onnx] = [await openOurs(model), await openOnnx(model, x.N, "sleep")];
  const rows = Int32Array.from({ length: ROWS_AT_ONCE }, (_, k) => k % x.N);
  gather(x, rows.subarray(0, x.N), ours.x);
  gather(x, rows.subarray(0, x.N), onnx.x);
  const [a, b] = [await ours.run(x.N), await onnx.run(x.N)];
  let largest = 0;
  for (let k = 0; k < x.N * ours.T; k++) largest = Math.max(largest, Math.abs(a[k] - b[k]));
  await ours.close();
  await onnx.close();
  if (!(largest < TOLERANCE)) throw new Error(`curves differ by ${largest}`);
}

function agree(one: number | null, other: number | null): void {
  if (one === null || other === null || !(Math.abs(one - other) < TOLERANCE))
    throw new Error(`mean survival ${one} and ${other}`);
}

/** The model that `graduate train` makes of nwtco, in a folder that is removed. */
async function withModel(run: (path: string, folder: string) => Promise<BenchResult>): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), "graduate-bench-"));
  try {
    const path = join(folder, "nwtco.model");
    const outcome = ["--time", "edrel", "--event", "rel", "--drop", "seqno", "--category", "stage"];
    const { status, stderr } = spawnSync(
      process.execPath,
      [launcher, "train", nwtcoPath, ...outcome, "--groups", groupsPath, "--out", path],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`training failed: ${stderr}`);
    await checkCurves(path);
    return await run(path, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface PeerSetting {
  readonly batch: number;
  readonly waiting: Waiting;
  readonly tried: string;
}

/** The fastest of several batch sizes and ways to wait. */
function chooseSetting(path: string): PeerSetting {
  const times = BATCHES.flatMap((batch) =>
    (["spin", "sleep"] as const).map((waiting) => {
      const { seconds } = inProcess("forward", path, TRIED_ROWS, batch, waiting);
      return { batch, waiting, seconds };
    }),
  );
  const best = times.reduce((one, other) => (other.seconds < one.seconds ? other : one));
  const tried = times.map(
    ({ batch, waiting, seconds }) => `${batch} ${waiting} ${Math.round(TRIED_ROWS / seconds)}/s`,
  );
  return { ...best, tried: tried.join(", ") };
}

/** Ours before and after the peer, so that a change of other work on the machine falls on both. */
async function benchForward(name: string): Promise<BenchResult> {
  return withModel(async (path) => {
    const load = loadavg()[0];
    const { batch, waiting, tried } = chooseSetting(path);
    const before = inProcess("forward", path, ROWS, 0, waiting);
    const peer = inProcess("forward", path, ROWS, batch, waiting);
    const after = inProcess("forward", path, ROWS, 0, waiting);
    for (const { meanLast } of [before, after]) agree(meanLast, peer.meanLast);
    const seconds = (before.seconds + after.seconds) / 2;
    return {
      name,
      seconds,
      baseline: { name: "onnxruntime-node", seconds: peer.seconds },
      extra: {
        N: ROWS,
        rowsPerSecond: Math.round(ROWS / seconds),
        peerRowsPerSecond: Math.round(ROWS / peer.seconds),
        cpuSeconds: round((before.cpuSeconds + after.cpuSeconds) / 2, 1),
        peerCpuSeconds: round(peer.cpuSeconds, 1),
        shareOutsideNetwork: round(1 - (before.networkSeconds ?? Number.NaN) / before.seconds, 3),
        peakMegabytes: Math.max(before.peakMegabytes, after.peakMegabytes),
        peerPeakMegabytes: peer.peakMegabytes,
        peerSetting: `${batch} ${waiting}`,
        peerTried: tried,
        loadBefore: round(load, 2),
      },
    };
  });
}

async function benchCommand(name: string): Promise<BenchResult> {
  return withModel(async (path, folder) => {
    const load = loadavg()[0];
    const { model } = await openModel(path);
    const { T } = model.grid;
    const [table, few, out] = ["table.csv", "few.csv", "curves.csv"].map((file) => join(folder, file));
    await writeTable(table, ROWS);
    await writeTable(few, FEWER_ROWS);
    const { batch, waiting } = chooseSetting(path);
    const peer = inProcess("peer", path, few, out, batch, waiting);
    const peerWritten = await readWritten(out, T);
    const small = inProcess("command", path, few, out);
    const smallWritten = await readWritten(out, T);
    agreeOnHead(smallWritten, peerWritten);
    const ours = inProcess("command", path, table, out);
    const written = await readWritten(out, T);
    agreeOnHead(written, smallWritten);
    const rows = [peerWritten, smallWritten, written].map((one) => one.rows);
    if (rows.join() !== [FEWER_ROWS, FEWER_ROWS, ROWS].join()) throw new Error(`rows written: ${rows}`);
    const times = ROWS / FEWER_ROWS;
    return {
      name,
      seconds: ours.seconds,
      baseline: {
        name: `csv-parse and onnxruntime-node, ${times} × its time for ${FEWER_ROWS.toLocaleString("en")} rows`,
        seconds: peer.seconds * times,
      },
      extra: {
        N: ROWS,
        rowsPerSecond: Math.round(ROWS / ours.seconds),
        peerRowsPerSecond: Math.round(FEWER_ROWS / peer.seconds),
        cpuSeconds: round(ours.cpuSeconds, 1),
        peerCpuSeconds: round(peer.cpuSeconds * times, 1),
        readMegabytes: Math.round(statSync(table).size / 1e6),
        writtenMegabytes: Math.round(statSync(out).size / 1e6),
        peakMegabytes: ours.peakMegabytes,
        peakMegabytesOfTenth: small.peakMegabytes,
        peerPeakMegabytesOfTenth: peer.peakMegabytes,
        peerSetting: `${batch} ${waiting}`,
        loadBefore: round(load, 2),
      },
    };
  });
}

export const benches = [
  { name: "predict: forward, 1,000,000 rows", run: benchForward },
  { name: "predict: CSV to CSV, 1,000,000 rows", run: benchCommand },
].map(({ name, run }) => ({ name, run: () => run(name) }));

if (process.argv[2] === "child") {
  const [what, path, ...rest] = process.argv.slice(3);
  const measured =
    what === "forward"
      ? await timeForward(path, Number(rest[0]), Number(rest[1]), rest[2] as Waiting)
      : what === "command"
        ? await runOurCommand(path, rest[0], rest[1])
        : await runPeerCommand(path, rest[0], rest[1], Number(rest[2]), rest[3] as Waiting);
  console.log(JSON.stringify(measured));
}
