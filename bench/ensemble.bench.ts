/**
 * The default ensemble on nwtco, five runs of 500 steps in batches of 256 with their start, on two threads: two runs at
 * a time with a thread each, against one run at a time with both. The models must have the same bytes.
 */
import { readFile } from "node:fs/promises";
import type { Model } from "../src/training/model.ts";

const THREADS = 2;
const REQUEST = { time: "edrel", event: "rel", ensemble: 5 } as const;

async function trainNwtco(isBeside: boolean): Promise<{ readonly model: Model; readonly seconds: number }> {
  const { readTable, tableSourceFromBytes } = await import("../dist/data/reading/read-table.js");
  const { parseGroupsFile } = await import("../dist/data/groups/groups.js");
  const { prepare } = await import("../dist/verbs/train.js");
  const { trainEnsemble } = await import("../dist/verbs/ensemble/ensemble.js");
  const { openWasmBackend } = await import("../dist/node/workers/wasm-backend.js");
  const { openMemberLanes } = await import("../dist/verbs/ensemble/member-lanes.js");
  const folder = new URL("../datasets/nwtco/", import.meta.url);
  const bytes = new Uint8Array(await readFile(new URL("nwtco.csv", folder)));
  const table = await readTable(tableSourceFromBytes("nwtco.csv", bytes), { category: ["stage"] });
  const groupsFile = parseGroupsFile(await readFile(new URL("groups.json", folder), "utf8"), "groups.json");
  const request = { ...REQUEST, groupsFile };
  const backend = await openWasmBackend({ threads: THREADS });
  const runs = { count: isBeside ? REQUEST.ensemble : 1, rows: table.rows, request: {} };
  const { lanes, close } = await openMemberLanes(backend, runs, (threads) => openWasmBackend({ threads }));
  const start = performance.now();
  const run = trainEnsemble(prepare(table, request), request, backend, { lanes });
  for (let next = await run.next(); ; next = await run.next()) {
    if (!next.done) continue;
    const seconds = (performance.now() - start) / 1000;
    await close();
    await backend.close();
    return { model: next.value, seconds };
  }
}

export const benches = [
  {
    name: "ensemble of 5 on nwtco",
    async run() {
      const { modelToBytes } = await import("../dist/files/model/model-file.js");
      // In turns, and the better of two: other work on the cores would fall on one of them.
      const tried: (Awaited<ReturnType<typeof trainNwtco>> & { readonly isBeside: boolean })[] = [];
      for (const isBeside of [true, false, true, false])
        tried.push({ isBeside, ...(await trainNwtco(isBeside)) });
      const bytes = tried.map(({ model }) => Buffer.from(modelToBytes(model)));
      if (bytes.some((one) => !one.equals(bytes[0]))) throw new Error("runs side by side change the model");
      const best = (wanted: boolean) =>
        Math.min(...tried.filter(({ isBeside }) => isBeside === wanted).map(({ seconds }) => seconds));
      return {
        name: "ensemble of 5 on nwtco",
        seconds: best(true),
        baseline: { name: "one run at a time, both threads on it", seconds: best(false) },
        extra: { threads: THREADS, lanes: THREADS },
      };
    },
  },
];
