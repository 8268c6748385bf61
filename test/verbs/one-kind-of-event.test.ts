// A model of one kind of event, from the start and without weights, does not feel that models may have several causes,
// late entry or weights: its curves stay bit for bit what they are. Until 0.2.0 they were those of the code that knew
// none of them (commit f2a7d857); they changed once, with docs/decisions/025-order-of-things.md.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseNamedGroup } from "../../src/data/groups/groups.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { fit as fitModel } from "../../src/verbs/fit.ts";
import { predict } from "../../src/verbs/predict.ts";

/** Every eighth child of nwtco. */
function readSome() {
  const [head, ...rows] = readFileSync(
    new URL("../../datasets/nwtco/nwtco.csv", import.meta.url),
    "utf8",
  ).split("\n");
  const text = [head, ...rows.filter((row, k) => row !== "" && k % 8 === 0)].join("\n");
  return readTable(tableSourceFromBytes("some.csv", new TextEncoder().encode(text)));
}

test.each([
  ["anchored", "e27b2df459ed7d93c97bafae055f10b8572031048ed795b46e20fe7778c056b1"],
  ["mlp", "2a1fee6a2bfcdb6a69b19527a56a0147fc4ee1c05f95662742f8f6f65ec77dd5"],
] as const)("%s: the same curves", async (network, digest) => {
  const table = await readSome();
  const backend = await openWasmBackend({ threads: 1, deterministic: true });
  try {
    const request = {
      time: "edrel",
      event: "rel",
      features: ["age", "stage", "histol"],
      category: ["stage"],
    };
    const groups = [parseNamedGroup("young: age < 24")];
    const options = { steps: 6 };
    const model = await fitModel(
      table,
      { ...request, groups, network, bins: 20, ensemble: 2, options },
      backend,
    );
    const { curves } = await predict(model, table, backend);
    const { buffer, byteOffset, byteLength } = curves.survival;
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(digest);
  } finally {
    await backend.close();
  }
});
