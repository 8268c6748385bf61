/**
 * Tables of 1e5, 1e6 and 1e7 rows × 20 columns (long-table.ts) read, described by Kaplan-Meier with the logrank test,
 * fitted by Cox's model, trained on, predicted and audited; and the paper's concordance of as many curves on 102 bins. One process
 * for each, whose peak memory is then its own; `peakMegabytes` is the whole process with its table. `rowsPerCpuSecond`
 * does not depend on what else the machine does. Checked first: counts of rows, coefficients of the law, the
 * concordance of a short table pair by pair. Last, Cox on 1e6 × 20 beside R's coxph and lifelines in one run: coefficients must
 * agree first. R and lifelines are found as `Rscript` and `python3`, or as RSCRIPT and PYTHON say.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EFFECTS, writeLongCsv, writeLongParquet } from "./long-table.ts";

interface BenchResult {
  readonly name: string;
  readonly seconds: number;
  readonly baseline?: { readonly name: string; readonly seconds: number };
  readonly extra: Record<string, number | string>;
}

interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
  /** What the operation has to read before it begins. */
  readonly readSeconds?: number;
  readonly extra?: Record<string, number | string>;
}

const SIZES = [100_000, 1_000_000, 10_000_000];
/** Rows of the table that the model is fitted to; its seed is its own, so that every other table is new to it. */
const MODEL = { rows: 50_000, seed: 2 };
const T = 102;
const CHECKED_ROWS = 300;
/** Twenty-odd coefficients are checked: chance alone exceeds this once in 80,000 runs. */
const LARGEST_Z = 5;
/** What rounding the times to thousandths may move a coefficient by. */
const ROUNDING = 1e-3;
const OUTCOME = { time: "time", event: "event" };
/** Groups of the audit: every value of these columns. */
const GROUPED = ["site", "arm", "grade", "sex"];
/** Draws of the noise floor, as in the command. */
const DRAWS = 200;

function fail(message: string): never {
  throw new Error(message);
}

/** Seconds and memory since it was made. */
function startClock(): () => Pick<Measured, "seconds" | "cpuSeconds" | "peakMegabytes"> {
  const start = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return {
      seconds: (performance.now() - start) / 1000,
      cpuSeconds: Math.round((user + system) / 1e4) / 100,
      peakMegabytes: Math.round((process.resourceUsage().maxRSS * 1024) / 1e6),
    };
  };
}

async function readFile(path: string) {
  const { readTable } = await import("../dist/data/reading/read-table.js");
  const { tableSourceFromPath } = await import("../dist/node/io/input-file.js");
  return readTable(await tableSourceFromPath(path));
}

async function measureReading(path: string, N: number): Promise<Measured> {
  const stop = startClock();
  const table = await readFile(path);
  if (table.rows !== N || table.columns.length !== 20) fail(`${table.rows} rows read of ${N}`);
  return stop();
}

async function measureKm(path: string, N: number): Promise<Measured> {
  const { kmDocument } = await import("../dist/verbs/statistics/km.js");
  const reading = startClock();
  const table = await readFile(path);
  const readSeconds = reading().seconds;
  const stop = startClock();
  const { groups, logrank } = kmDocument(table, { ...OUTCOME, by: ["site"] });
  const measured = stop();
  const counted = groups.reduce((sum, { atRisk }) => sum + atRisk[0], 0);
  if (counted !== N || logrank?.df !== 4) fail(`${counted} of ${N} rows at risk`);
  return { ...measured, readSeconds, extra: { logrank: logrank.chi2.toFixed(1) } };
}

async function measureCox(path: string, N: number): Promise<Measured> {
  const { coxDocument } = await import("../dist/verbs/statistics/cox.js");
  const reading = startClock();
  const table = await readFile(path);
  const readSeconds = reading().seconds;
  const stop = startClock();
  const { n, coefficients, iterations } = coxDocument(table, OUTCOME);
  const measured = stop();
  if (n !== N || coefficients.length !== Object.keys(EFFECTS).length) fail(`${n} of ${N} rows fitted`);
  for (const { name, estimate, standardError } of coefficients) {
    const far = Math.abs((estimate ?? Number.NaN) - EFFECTS[name]);
    if (!(far < LARGEST_Z * (standardError ?? 0) + ROUNDING))
      fail(`${name} is ${estimate}, not ${EFFECTS[name]}`);
  }
  return { ...measured, readSeconds, extra: { iterations } };
}

/** Curves with proportional hazards, and outcomes drawn from them. */
async function drawCurves(N: number) {
  const { createRandom } = await import("../dist/core/random.js");
  const random = createRandom(3);
  const survival = new Float32Array(N * T);
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    const hazard = 0.002 + 0.02 * random.uniform() * random.uniform();
    const uniform = random.uniform();
    const censoring = 1 + random.integer(T);
    let S = 1;
    let death = T + 1;
    for (let t = 1; t <= T; t++) {
      S *= 1 - hazard * (0.8 + (0.4 * t) / T);
      survival[i * T + t - 1] = S;
      if (death > T && S < uniform) death = t;
    }
    bin[i] = Math.min(death, censoring);
    event[i] = death <= censoring ? 1 : 0;
  }
  return { curves: { N, T, survival }, binned: { T, bin, event } };
}

async function measureConcordance(N: number): Promise<Measured> {
  const { timeDependentPairs } = await import("../dist/stats/concordance/time-dependent.js");
  const small = await drawCurves(CHECKED_ROWS);
  const { pairs, concordant } = timeDependentPairs(small.curves, small.binned);
  const { bin, event } = small.binned;
  let [allPairs, ordered] = [0, 0];
  for (let i = 0; i < CHECKED_ROWS; i++) {
    for (let j = 0; j < CHECKED_ROWS; j++) {
      if (event[i] !== 1 || bin[j] <= bin[i]) continue;
      allPairs++;
      const at = (row: number) => small.curves.survival[row * T + bin[i] - 1];
      if (at(i) < at(j)) ordered++;
    }
  }
  if (pairs !== allPairs || concordant !== ordered) fail(`${concordant} concordant pairs, not ${ordered}`);
  const { curves, binned } = await drawCurves(N);
  const stop = startClock();
  const counts = timeDependentPairs(curves, binned);
  return { ...stop(), extra: { bins: T, concordance: (counts.concordant / counts.pairs).toFixed(6) } };
}

async function measureAudit(path: string, N: number, modelPath: string): Promise<Measured> {
  const { readModel } = await import("../dist/node/io/model-file.js");
  const { openStudy, addGroups } = await import("../dist/verbs/model-study.js");
  const { auditModel } = await import("../dist/verbs/audit-model.js");
  const { groupByColumns } = await import("../dist/data/groups/group-by.js");
  const model = await readModel(modelPath);
  const reading = startClock();
  const table = await readFile(path);
  const readSeconds = reading().seconds;
  const stop = startClock();
  const phases: Record<string, number> = {};
  let last = performance.now();
  let current = "";
  const onProgress = (phase: string) => {
    const now = performance.now();
    if (current !== "") phases[current] = (phases[current] ?? 0) + (now - last) / 1000;
    [current, last] = [phase, now];
  };
  const study = await openStudy(model, table, null);
  const groups = GROUPED.flatMap((name) => groupByColumns(table, [name]).groups);
  const { audit } = await auditModel(addGroups(study, groups), study.split.test, null, {
    draws: DRAWS,
    onProgress,
  });
  onProgress("");
  const measured = stop();
  if (audit.overall.n !== N || audit.groups.length < groups.length)
    fail(`${audit.overall.n} of ${N} rows judged`);
  const extra = Object.fromEntries(
    Object.entries(phases).map(([phase, s]) => [phase, Math.round(10 * s) / 10]),
  );
  return {
    ...measured,
    readSeconds,
    extra: { groups: audit.groups.length, draws: DRAWS, bins: T, ...extra },
  };
}

/** As `train` does it on one thread: prepared, trained, held to everyone and two groups, the test rows audited. */
async function measureTrain(path: string, N: number): Promise<Measured> {
  const { prepare, train } = await import("../dist/verbs/train.js");
  const { studyOf } = await import("../dist/verbs/model-study.js");
  const { auditModel } = await import("../dist/verbs/audit-model.js");
  const { parseNamedGroup } = await import("../dist/data/groups/groups.js");
  const { openWasmBackend } = await import("../dist/node/workers/wasm-backend.js");
  const reading = startClock();
  const table = await readFile(path);
  const readSeconds = reading().seconds;
  const groups = ["east: site = east", "smokers: smoker = 1"].map(parseNamedGroup);
  const backend = await openWasmBackend({ threads: 1 });
  const stop = startClock();
  const study = prepare(table, { ...OUTCOME, groups });
  const run = train(study, {}, backend);
  let next = await run.next();
  while (!next.done) next = await run.next();
  const model = next.value;
  const { verdict, solve, steps } = model.training;
  if (verdict.some(({ status }) => status !== "met")) fail("a group is not met");
  const residual = Math.max(...Object.values(solve?.residuals ?? { none: 1 }));
  if (residual > 1e-6) fail(`the solve leaves a residual of ${residual}`);
  const { audit } = await auditModel(studyOf(model, study, study.split), study.split.test, backend, {
    draws: DRAWS,
  });
  const measured = stop();
  await backend.close();
  if (audit.overall.n !== study.split.test.length) fail(`${audit.overall.n} of ${N} rows judged`);
  const share = solve?.mixture?.share ?? "none";
  return { ...measured, readSeconds, extra: { bins: T, steps, share, residual: residual.toExponential(1) } };
}

async function measurePredict(path: string, modelPath: string): Promise<Measured> {
  const { main } = await import("../dist/node/cli.js");
  const stop = startClock();
  await main([process.execPath, "graduate", "predict", modelPath, path]);
  return { ...stop(), extra: { bins: T } };
}

const OPERATIONS = {
  "read CSV": (files: Files, N: number) => measureReading(files.csv, N),
  "read Parquet": (files: Files, N: number) => measureReading(files.parquet, N),
  "Kaplan-Meier by site, logrank": (files: Files, N: number) => measureKm(files.csv, N),
  "Cox, 18 features": (files: Files, N: number) => measureCox(files.csv, N),
  "the paper's concordance": (_: Files, N: number) => measureConcordance(N),
  "audit of a model": (files: Files, N: number) => measureAudit(files.csv, N, files.model),
  train: (files: Files, N: number) => measureTrain(files.csv, N),
  predict: (files: Files) => measurePredict(files.csv, files.model),
};
type Operation = keyof typeof OPERATIONS;

interface Files {
  readonly csv: string;
  readonly parquet: string;
  readonly model: string;
}

let folder: string | null = null;
const made = new Map<string, Promise<void>>();

/** Where the files of these benchmarks are: they go with the process, or stay in the folder that LONG_TABLES names. */
function openFolder(): string {
  folder ??= process.env.LONG_TABLES ?? null;
  if (folder === null) {
    const own = mkdtempSync(join(tmpdir(), "graduate-long-tables-"));
    process.on("exit", () => rmSync(own, { recursive: true, force: true }));
    folder = own;
  }
  return folder;
}

/** Makes a file unless it is there. */
function makeOnce(path: string, make: () => Promise<void>): Promise<void> {
  const making = made.get(path) ?? (existsSync(path) ? Promise.resolve() : make());
  made.set(path, making);
  return making;
}

async function makeFiles(operation: Operation, N: number): Promise<Files> {
  const at = (name: string) => join(openFolder(), name);
  const files = { csv: at(`${N}.csv`), parquet: at(`${N}.parquet`), model: at("cox.model") };
  if (operation === "read Parquet") await makeOnce(files.parquet, () => writeLongParquet(files.parquet, N));
  else if (operation !== "the paper's concordance")
    await makeOnce(files.csv, () => writeLongCsv(files.csv, N));
  if (operation === "predict" || operation === "audit of a model") {
    await makeOnce(files.model, () => trainModel(at("model.csv"), files.model));
  }
  return files;
}

async function trainModel(csv: string, out: string): Promise<void> {
  await writeLongCsv(csv, MODEL.rows, MODEL.seed);
  const graduate = fileURLToPath(new URL("../bin/graduate.js", import.meta.url));
  const outcome = ["--time", "time", "--event", "event"];
  runProgram(process.execPath, [graduate, "train", csv, ...outcome, "--method", "cox", "--out", out]);
}

function runProgram(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) fail(`${program} failed: ${error?.message ?? stderr}`);
  return stdout;
}

async function benchOperation(name: string, operation: Operation, N: number): Promise<BenchResult> {
  const files = await makeFiles(operation, N);
  const loadBefore = Math.round(100 * loadavg()[0]) / 100;
  const args = [fileURLToPath(import.meta.url), "child", operation, String(N), JSON.stringify(files)];
  // What an operation prints goes nowhere; its measurement comes through a fourth channel.
  const { status, output, stderr } = spawnSync(process.execPath, args, {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    encoding: "utf8",
  });
  if (status !== 0) fail(`${name}: ${stderr}`);
  const { seconds, cpuSeconds, peakMegabytes, readSeconds, extra }: Measured = JSON.parse(output[3] ?? "");
  return {
    name,
    seconds,
    extra: {
      N,
      rowsPerSecond: Math.round(N / seconds),
      cpuSeconds,
      rowsPerCpuSecond: Math.round(N / cpuSeconds),
      peakMegabytes,
      ...(readSeconds === undefined ? {} : { readSeconds: Math.round(100 * readSeconds) / 100 }),
      ...extra,
      loadBefore,
    },
  };
}

const PEERS = { rows: 1_000_000, columns: 20 };
/** Relative difference of coefficients up to which programs agree: each stops its iteration by a rule of its own. */
const SAME_COEFFICIENT = 1e-6;

const R_SCRIPT = `
suppressMessages(library(survival))
args <- commandArgs(TRUE); N <- as.integer(args[2]); D <- as.integer(args[3])
values <- readBin(args[1], "double", N * (D + 2))
time <- values[1:N]; event <- values[N + 1:N]; x <- matrix(values[2 * N + 1:(N * D)], N, D, byrow = TRUE)
seconds <- system.time(fit <- coxph(Surv(time, event) ~ x, ties = "efron"))[["elapsed"]]
cat(sprintf("%.17g", c(seconds, coef(fit))), sep = "\\n")
`;
const LIFELINES_SCRIPT = `
import sys, time, numpy, pandas, lifelines
path, N, D = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
values = numpy.fromfile(path)
frame = pandas.DataFrame(values[2 * N:].reshape(N, D), columns=[f"x{j}" for j in range(D)])
frame["time"], frame["event"] = values[:N], values[N:2 * N]
start = time.perf_counter()
fit = lifelines.CoxPHFitter().fit(frame, "time", "event")
print(time.perf_counter() - start, *[repr(float(one)) for one in fit.params_], sep="\\n")
`;

/** Fits the same rows here, in R and in lifelines; R and lifelines count concordant pairs too, R while it fits. */
async function benchPeers(name: string): Promise<BenchResult> {
  const { rows: N, columns: D } = PEERS;
  const { createRandom } = await import("../dist/core/random.js");
  const { fitCox, linearPredictor } = await import("../dist/models/cox/cox.js");
  const { concordanceHarrell } = await import("../dist/stats/concordance/concordance.js");
  const random = createRandom(1);
  const x = Float64Array.from({ length: N * D }, () => random.normal());
  const time = new Float64Array(N);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    let predictor = 0;
    for (let j = 0; j < D; j++) predictor += (x[i * D + j] * ((j % 5) - 1.5)) / 5;
    const death = -Math.log(1 - random.uniform()) * Math.exp(-predictor);
    const censoring = -2 * Math.log(1 - random.uniform());
    time[i] = Math.min(death, censoring);
    event[i] = death <= censoring ? 1 : 0;
  }
  const loadBefore = Math.round(100 * loadavg()[0]) / 100;
  const start = performance.now();
  const model = fitCox({ time, event, x, D });
  concordanceHarrell({ time, event }, linearPredictor(model, x));
  const seconds = (performance.now() - start) / 1000;
  const at = (file: string) => join(openFolder(), file);
  const all = new Float64Array(N * (D + 2));
  all.set(time);
  all.set(event, N);
  all.set(x, 2 * N);
  writeFileSync(at("peers.bin"), new Uint8Array(all.buffer));
  writeFileSync(at("peer.R"), R_SCRIPT);
  writeFileSync(at("peer.py"), LIFELINES_SCRIPT);
  const sizes = [at("peers.bin"), String(N), String(D)];
  const compare = (program: string, script: string) => {
    const [took, ...coefficients] = runProgram(program, [at(script), ...sizes])
      .trim()
      .split("\n")
      .map(Number);
    const far = coefficients.reduce(
      (most, one, j) => Math.max(most, Math.abs(one / model.coefficients[j] - 1)),
      coefficients.length === D ? 0 : Number.NaN,
    );
    if (!(far < SAME_COEFFICIENT)) fail(`${script}: coefficients differ by ${far}`);
    return { seconds: took, far };
  };
  const r = compare(process.env.RSCRIPT ?? "Rscript", "peer.R");
  const lifelines = compare(process.env.PYTHON ?? "python3", "peer.py");
  return {
    name,
    seconds,
    baseline: { name: "R's coxph", seconds: r.seconds },
    extra: {
      N,
      columns: D,
      iterations: model.iterations,
      lifelinesSeconds: Math.round(100 * lifelines.seconds) / 100,
      farFromR: r.far.toExponential(1),
      farFromLifelines: lifelines.far.toExponential(1),
      loadBefore,
    },
  };
}

const PEERS_NAME = "long tables: Cox on 1,000,000 × 20 beside R and lifelines";

export const benches = [
  ...SIZES.flatMap((N) =>
    (Object.keys(OPERATIONS) as Operation[]).map((operation) => {
      const name = `long tables: ${operation}, ${N.toLocaleString("en")} rows`;
      return { name, run: () => benchOperation(name, operation, N) };
    }),
  ),
  { name: PEERS_NAME, run: () => benchPeers(PEERS_NAME) },
];

if (process.argv[2] === "child") {
  const [operation, rows, files] = process.argv.slice(3);
  const measured = await OPERATIONS[operation as Operation](JSON.parse(files), Number(rows));
  writeSync(3, JSON.stringify(measured));
}
