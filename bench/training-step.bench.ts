/**
 * Training steps as train() takes them on nwtco's 2416 training rows, 12 groups under the l2 constraint, T 102, two
 * threads: the paper's full batch (D 10, H 50, Adam), and the default preset's batches of 256 with a refreshed cache,
 * for several H. A step is the time from one step event to the next: forward, curves, loss, group means, backward,
 * optimiser, multipliers, and in batches its share of the refresh. Losses of a few steps on 120 rows must agree with
 * the float64 reference first. The check and the timing have a process each, as a user's training has, so that neither
 * the reference nor another benchmark has a part in what the engine compiled.
 *
 * The full batch is held against one step in PyTorch when GRADUATE_PEER_PYTHON (an interpreter with torch) and
 * GRADUATE_PEER_STEP (a script that takes THREADS N D H and prints "fwd … ms total … ms" for some steps) are set: the
 * same number of hidden units, the fastest of its threads and wait policies, in the same run. Without them there is no
 * ratio, and `peer` says why. GFLOP/s count the recurrent products only: three of 2·N·T·4H·H, and one more for a
 * refresh.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import type { Backend } from "../src/compute/backend.ts";
import type { WasmBackend } from "../src/compute/wasm/wasm-backend.ts";
import type { Split } from "../src/data/outcomes/split.ts";
import type { TrainRequest } from "../src/verbs/train.ts";
import { measurePeak } from "./peak.ts";

interface BenchResult {
  readonly name: string;
  readonly seconds: number;
  readonly baseline?: { readonly name: string; readonly seconds: number };
  readonly extra: Record<string, number | string>;
}

const THREADS = 2;
const T = 102;
const CHECKED_ROWS = 120;
const CHECKED_STEPS = 3;
/** Of the losses, relative. */
const TOLERANCE = 2e-5;
/** Steps before the clock starts: compilation, and the first pass, which takes its memory. */
const WARM_UP = 3;

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1];
const round = (value: number, digits: number) => Number(value.toFixed(digits));

async function readNwtco() {
  const { readTable, tableSourceFromBytes } = await import("../dist/data/reading/read-table.js");
  const { parseGroupsFile } = await import("../dist/data/groups/groups.js");
  const folder = new URL("../datasets/nwtco/", import.meta.url);
  const bytes = new Uint8Array(await readFile(new URL("nwtco.csv", folder)));
  const table = await readTable(tableSourceFromBytes("nwtco.csv", bytes), { category: ["stage"] });
  const groupsFile = parseGroupsFile(await readFile(new URL("groups.json", folder), "utf8"), "groups.json");
  return { table, groupsFile };
}

/** The row id is a feature here as it is in the paper, which makes D 10. */
const FEATURES = ["seqno", "instit", "histol", "stage", "study", "age", "in.subcohort"];

/** The constraint is on and presses: without that its gradient would cost nothing. */
function makeRequest(batch: number | null, hidden: number, steps: number): Omit<TrainRequest, "groupsFile"> {
  return {
    time: "edrel",
    event: "rel",
    features: FEATURES,
    preset: batch === null ? "paper" : "default",
    hidden,
    bins: T,
    constraint: { distance: "l2", slack: 2e-4, strata: 1 },
    options: { batch, steps, evaluateEvery: steps + 1, dual: { form: "ascent", rate: 0.1, start: 1 } },
  };
}

interface Timing {
  readonly steps: readonly number[];
  readonly lossAt: readonly number[];
  readonly lstmSeconds: number;
  /** Rows run backward in a step, and forward passes for each: two with a refresh. */
  readonly rows: number;
  readonly passes: number;
  readonly N: number;
  readonly D: number;
}

/** With the kernels that this machine runs, and the most that its threads can do, in FLOP per second. */
interface TimingHere extends Timing, Pick<WasmBackend, "simd"> {
  readonly peak: number;
}

/** Trains and times its steps; `lstmSeconds` is what of them was spent in LSTM kernels. */
async function timeSteps(
  backend: Backend,
  request: Omit<TrainRequest, "groupsFile">,
  warmUp: number,
  split?: Split,
): Promise<Timing> {
  const { prepare, train } = await import("../dist/verbs/train.js");
  const { table, groupsFile } = await readNwtco();
  let lstm = 0;
  let forwardRows = 0;
  let backwardRows = 0;
  const timed: Backend = {
    ...backend,
    async lstmForward(shape, weights, x, N, logits, tape) {
      const start = performance.now();
      await backend.lstmForward(shape, weights, x, N, logits, tape);
      lstm += performance.now() - start;
      forwardRows += N;
    },
    async lstmBackward(tape, dLogits, gradient) {
      const start = performance.now();
      await backend.lstmBackward(tape, dLogits, gradient);
      lstm += performance.now() - start;
      backwardRows += tape.rows;
    },
  };
  const steps: number[] = [];
  const lossAt: number[] = [];
  let last = 0;
  let size = { N: 0, D: 0 };
  const asked = { ...request, groupsFile, ...(split ? { split } : {}) };
  for await (const event of train(prepare(table, asked), asked, timed)) {
    if (event.type === "start") size = { N: event.rows.train, D: event.D };
    if (event.type !== "step") continue;
    const now = performance.now();
    lossAt.push(event.lagrangian);
    if (event.step > warmUp) steps.push((now - last) / 1000);
    if (event.step === warmUp) [lstm, forwardRows, backwardRows] = [0, 0, 0];
    last = now;
    if (event.step === request.options?.steps) break;
  }
  const passes = forwardRows / backwardRows;
  return { steps, lossAt, lstmSeconds: lstm / 1000, rows: backwardRows / steps.length, passes, ...size };
}

/** The losses of a few steps on a few rows. */
async function listLosses(
  backend: Backend,
  batch: number | null,
  hidden: number,
): Promise<readonly number[]> {
  const { table } = await readNwtco();
  const rows = Int32Array.from({ length: CHECKED_ROWS }, (_, k) =>
    Math.floor((k * table.rows) / CHECKED_ROWS),
  );
  const split = { train: rows, validation: new Int32Array(0), test: new Int32Array(0) };
  const request = makeRequest(batch === null ? null : 50, hidden, CHECKED_STEPS);
  return (await timeSteps(backend, request, 0, split)).lossAt;
}

/** What a process of its own is asked for. */
interface Asked {
  readonly part: "losses" | "reference losses" | "steps";
  readonly batch: number | null;
  readonly hidden: number;
  readonly count: number;
}

async function answer({ part, batch, hidden, count }: Asked) {
  const { createReferenceBackend } = await import("../dist/compute/reference.js");
  const { openWasmBackend } = await import("../dist/node/workers/wasm-backend.js");
  if (part === "reference losses") return listLosses(createReferenceBackend(), batch, hidden);
  const backend = await openWasmBackend({ threads: THREADS });
  const { simd } = backend;
  const found =
    part === "losses"
      ? await listLosses(backend, batch, hidden)
      : await timeSteps(backend, makeRequest(batch, hidden, count + WARM_UP), WARM_UP);
  await backend.close();
  return part === "losses" ? found : { ...found, simd, peak: (await measurePeak(simd)) * THREADS };
}

const THIS_FILE = fileURLToPath(import.meta.url);

function ask<Answer>(asked: Asked): Answer {
  const given = [THIS_FILE, JSON.stringify(asked)];
  return JSON.parse(execFileSync(process.execPath, given, { encoding: "utf8" }));
}

function checkSteps(asked: Omit<Asked, "part">): void {
  const ours = ask<number[]>({ ...asked, part: "losses" });
  ask<number[]>({ ...asked, part: "reference losses" }).forEach((loss, k) => {
    const gap = Math.abs(ours[k] - loss) / Math.abs(loss);
    if (!(gap < TOLERANCE)) throw new Error(`step ${k + 1} is ${gap} from the reference`);
  });
}

interface PeerTiming {
  readonly setting: string;
  readonly seconds: number;
}

/** Median of the steps after the first, for the best setting; a sentence when there is no peer to time. */
function timePeer(N: number, D: number, H: number): PeerTiming | string {
  const { GRADUATE_PEER_PYTHON: python, GRADUATE_PEER_STEP: script, ...rest } = process.env;
  if (python === undefined || script === undefined) {
    return "none: GRADUATE_PEER_PYTHON and GRADUATE_PEER_STEP are not set";
  }
  if (spawnSync(python, ["-c", "import torch"]).status !== 0) return `none: ${python} has no torch`;
  const { OMP_WAIT_POLICY: _, ...env } = rest;
  const tried: PeerTiming[] = [];
  for (const threads of [1, 2]) {
    for (const policy of ["default", "active", "passive"]) {
      const { status, stdout, stderr } = spawnSync(python, [script, ...[threads, N, D, H].map(String)], {
        encoding: "utf8",
        env: policy === "default" ? env : { ...env, OMP_WAIT_POLICY: policy },
      });
      const totals = [...(stdout ?? "").matchAll(/total ([\d.]+) ms/g)].map(
        (found) => Number(found[1]) / 1000,
      );
      if (status !== 0 || totals.length < 2) throw new Error(`the peer failed: ${stderr}`);
      const setting = `${threads} thread${threads === 1 ? "" : "s"}, wait policy ${policy}`;
      tried.push({ setting, seconds: median(totals.slice(1)) });
    }
  }
  return tried.sort((a, b) => a.seconds - b.seconds)[0];
}

async function benchSteps(
  name: string,
  batch: number | null,
  hidden: number,
  count: number,
): Promise<BenchResult> {
  const load = loadavg()[0];
  const asked = { batch, hidden, count };
  checkSteps(asked);
  const { steps, lstmSeconds, rows, passes, N, D, simd, peak } = ask<TimingHere>({ ...asked, part: "steps" });
  const timed = batch === null ? timePeer(N, D, hidden) : "none: PyTorch is timed on the full batch";
  const peer = typeof timed === "string" ? null : timed;
  const total = steps.reduce((sum, seconds) => sum + seconds, 0);
  // In batches the refresh falls on the first step of an epoch: the mean says what a step costs.
  const seconds = batch === null ? median(steps) : total / steps.length;
  const flops = (2 + passes) * 2 * rows * T * 4 * hidden * hidden;
  return {
    name,
    seconds,
    ...(peer ? { baseline: { name: "PyTorch", seconds: peer.seconds } } : {}),
    extra: {
      peer: typeof timed === "string" ? timed : timed.setting,
      N,
      D,
      H: hidden,
      simd,
      fastestMs: round(1000 * Math.min(...steps), 1),
      gigaflops: round(flops / seconds / 1e9, 1),
      peakGigaflops: round(peak / 1e9, 1),
      shareOfPeak: round(flops / seconds / peak, 2),
      shareOutsideLstm: round(1 - lstmSeconds / total, 3),
      loadBefore: round(load, 2),
    },
  };
}

export const benches = [
  { name: "training-step, full batch, H 50", batch: null, hidden: 50, count: 12 },
  { name: "training-step, full batch, H 16", batch: null, hidden: 16, count: 20 },
  ...[16, 24, 32, 50].map((hidden) => ({
    name: `training-step, batches of 256, H ${hidden}`,
    batch: 256,
    hidden,
    count: 100,
  })),
].map(({ name, batch, hidden, count }) => ({ name, run: () => benchSteps(name, batch, hidden, count) }));

// This file runs itself for one part at a time.
if (process.argv[1] === THIS_FILE) console.log(JSON.stringify(await answer(JSON.parse(process.argv[2]))));
