/**
 * The constrained solve at the end of a run: 20,000 rows of 40 numbers with 12 and with 100 overlapping groups. Timed as
 * the difference between a run with the solve and the same run without it, which is also what it is compared with: the
 * training before it. Every told group must be met first, with residuals below 1e-6.
 */

interface BenchResult {
  readonly name: string;
  readonly seconds: number;
  readonly baseline: { readonly name: string; readonly seconds: number };
  readonly extra: Record<string, number | string>;
}

const N = 20_000;
const D = 40;
const LARGEST_RESIDUAL = 1e-6;

async function createTable(groups: number) {
  const { createRandom } = await import("../dist/core/random.js");
  const random = createRandom(1);
  const columns = Array.from({ length: D }, (_, d) => ({
    name: `x${d}`,
    type: "number" as const,
    values: Float64Array.from({ length: N }, () => random.normal()),
  }));
  const marks = Array.from({ length: groups }, (_, g) => ({
    name: `g${g}`,
    type: "number" as const,
    values: Float64Array.from({ length: N }, () => (random.uniform() < 0.05 + (0.4 * g) / groups ? 1 : 0)),
  }));
  const time = new Float64Array(N);
  const event = new Float64Array(N);
  for (let n = 0; n < N; n++) {
    let risk = 0.4 * marks[0].values[n];
    for (let d = 0; d < D; d++) risk += 0.1 * ((d % 5) - 2) * columns[d].values[n];
    const death = -5 * Math.log(1 - random.uniform()) * Math.exp(-risk);
    const censoring = 6 * random.uniform();
    event[n] = death <= censoring ? 1 : 0;
    time[n] = Math.min(death, censoring);
  }
  const outcome = [
    { name: "time", type: "number" as const, values: time },
    { name: "event", type: "number" as const, values: event },
  ];
  return { name: "simulated", rows: N, columns: [...columns, ...marks, ...outcome] };
}

async function benchSolve(count: number): Promise<BenchResult> {
  const { openWasmBackend } = await import("../dist/node/workers/wasm-backend.js");
  const { prepare, train } = await import("../dist/verbs/train.js");
  const table = await createTable(count);
  const groups = Array.from({ length: count }, (_, g) => ({ name: `g${g}`, expression: `g${g} = 1` }));
  const backend = await openWasmBackend();
  const time = async (solve: "none" | "held") => {
    const request = { time: "time", event: "event", groups, options: { solve } };
    const study = prepare(table, request);
    const start = performance.now();
    for await (const event of train(study, request, backend)) {
      if (event.type === "done") {
        return { model: event.model, seconds: (performance.now() - start) / 1000 };
      }
    }
    throw new Error("a run ended without a model");
  };
  const before = await time("none");
  const { model, seconds } = await time("held");
  await backend.close();
  const { solve } = model.training;
  if (solve === undefined) throw new Error("the run was not solved");
  const { residuals, iterations } = solve;
  const unmet = model.training.verdict.filter(({ status }: { status: string }) => status !== "met");
  const worst = Math.max(residuals.stationarity, residuals.violation, residuals.complementarity);
  if (unmet.length > 0 || worst > LARGEST_RESIDUAL) {
    throw new Error(`${unmet.length} groups unmet, residual ${worst}`);
  }
  return {
    name: `solve ${N} × ${D}, ${count} groups`,
    seconds: seconds - before.seconds,
    baseline: { name: "the training before it", seconds: before.seconds },
    extra: { rows: N, columns: D, groups: count, iterations, residual: worst.toExponential(1) },
  };
}

export const benches = [12, 100].map((groups) => ({
  name: `solve ${groups} groups`,
  run: () => benchSolve(groups),
}));
