/**
 * A training step with two causes against one with one kind of event, on the same rows, groups and network: nwtco's
 * training rows, T 102, the at-risk constraint on 12 groups, two threads, full batches and batches of 256. The two
 * causes are relapses with odd and even numbers, so that both have events enough. A step is the time from one step event
 * to the next, with its share of evaluations left out. The two take turns in one process; before, the losses of a few
 * steps on the plain backend must agree.
 */
import { readFile } from "node:fs/promises";
import type { Backend } from "../src/compute/backend.ts";
import type { Table } from "../src/data/table.ts";
import type { TrainRequest } from "../src/verbs/train.ts";

const THREADS = 2;
const WARM_UP = 4;
const CHECKED_STEPS = 2;
/** Of the losses, relative. */
const TOLERANCE = 2e-5;

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function readNwtco(): Promise<{ readonly table: Table; readonly groups: TrainRequest["groups"] }> {
  const { readTable, tableSourceFromBytes } = await import("../dist/data/reading/read-table.js");
  const { parseGroupsFile, groupsFromFile } = await import("../dist/data/groups/groups.js");
  const folder = new URL("../datasets/nwtco/", import.meta.url);
  const bytes = new Uint8Array(await readFile(new URL("nwtco.csv", folder)));
  const table = await readTable(tableSourceFromBytes("nwtco.csv", bytes), { category: ["stage"] });
  const file = parseGroupsFile(await readFile(new URL("groups.json", folder), "utf8"), "groups.json");
  const rows = Int32Array.from({ length: table.rows }, (_, row) => row);
  const groups = groupsFromFile(file, table, rows, { exclude: ["edrel", "rel"] }).slice(1);
  const relapse = table.columns.find(({ name }) => name === "rel");
  if (relapse?.type !== "number") throw new Error("nwtco has no column of relapses");
  const codes = Int32Array.from(relapse.values, (one, row) => (one === 0 ? 0 : 1 + (row % 2)));
  const cause = { name: "cause", type: "category", codes, levels: ["none", "odd", "even"] } as const;
  return { table: { ...table, columns: [...table.columns, cause] }, groups };
}

interface Asked {
  readonly causes: boolean;
  readonly batch: number | null;
  readonly hidden: number;
  readonly steps: number;
  readonly distance?: "atRisk" | "l2" | undefined;
}

async function timeSteps(backend: Backend, { causes, batch, hidden, steps, distance = "atRisk" }: Asked) {
  const { prepare, train } = await import("../dist/verbs/train.js");
  const { table, groups } = await readNwtco();
  const request: TrainRequest = {
    time: "edrel",
    event: causes ? "cause" : "rel",
    ...(causes && { causes: ["odd", "even"], censored: "none" }),
    drop: ["seqno", causes ? "rel" : "cause"],
    ...(groups && { groups }),
    hidden,
    constraint: { distance, slack: 1e-3 },
    options: { batch, steps, evaluateEvery: steps + 1, solve: "none" },
  };
  const times: number[] = [];
  const losses: number[] = [];
  let before = 0;
  for await (const event of train(prepare(table, request), request, backend)) {
    if (event.type !== "step") continue;
    const now = performance.now();
    if (event.step > WARM_UP) times.push((now - before) / 1000);
    before = now;
    losses.push(event.lagrangian);
  }
  return { seconds: median(times), losses };
}

async function checkLosses(distance: Asked["distance"]): Promise<void> {
  const { createReferenceBackend } = await import("../dist/compute/reference.js");
  const { openWasmBackend } = await import("../dist/node/workers/wasm-backend.js");
  const asked = { causes: true, batch: 64, hidden: 4, steps: CHECKED_STEPS, distance };
  const backend = await openWasmBackend({ threads: 1 });
  const [own, truth] = [await timeSteps(backend, asked), await timeSteps(createReferenceBackend(), asked)];
  await backend.close();
  own.losses.forEach((loss, k) => {
    const gap = Math.abs(loss - truth.losses[k]) / Math.abs(truth.losses[k]);
    if (!(gap < TOLERANCE))
      throw new Error(`step ${k + 1}: loss ${loss}, the reference has ${truth.losses[k]}`);
  });
}

async function compare(name: string, { batch, hidden, steps, distance = "atRisk" }: Omit<Asked, "causes">) {
  await checkLosses(distance);
  const { openWasmBackend } = await import("../dist/node/workers/wasm-backend.js");
  const backend = await openWasmBackend({ threads: THREADS });
  const tried: { readonly causes: boolean; readonly seconds: number }[] = [];
  for (const causes of [true, false, true, false, true, false])
    tried.push({
      causes,
      seconds: (await timeSteps(backend, { causes, batch, hidden, steps, distance })).seconds,
    });
  await backend.close();
  const best = (wanted: boolean) =>
    Math.min(...tried.filter(({ causes }) => causes === wanted).map(({ seconds }) => seconds));
  return {
    name,
    seconds: best(true),
    baseline: { name: "one kind of event", seconds: best(false) },
    extra: {
      threads: THREADS,
      H: hidden,
      batch: batch ?? "all",
      causes: 2,
      ...(distance !== "atRisk" && { distance }),
    },
  };
}

const asked: Readonly<Record<string, Omit<Asked, "causes">>> = {
  "two causes, full batch, H 50": { batch: null, hidden: 50, steps: 12 },
  "two causes, full batch, H 16": { batch: null, hidden: 16, steps: 24 },
  "two causes, batches of 256, H 12": { batch: 256, hidden: 12, steps: 120 },
  "two causes, full batch, H 50, mean incidences": { batch: null, hidden: 50, steps: 12, distance: "l2" },
  "two causes, batches of 256, H 12, mean incidences": { batch: 256, hidden: 12, steps: 120, distance: "l2" },
};
export const benches = Object.entries(asked).map(([name, one]) => ({ name, run: () => compare(name, one) }));
