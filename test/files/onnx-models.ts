// A table with every type of column and every way to be missing, models of every kind on it, and the runtime that runs
// what is exported.
import { readFileSync, writeFileSync } from "node:fs";
import type { InferenceSession, Tensor } from "onnxruntime-node";
import { encode } from "../../src/data/encode/encode.ts";
import type { Encoder } from "../../src/data/encode/encoder.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import type { Group } from "../../src/data/groups/groups.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { cellText, findColumn, isMissing, type Table } from "../../src/data/table.ts";
import { type RawColumn, rawColumnsOf } from "../../src/files/onnx/columns.ts";
import { requireNetwork } from "../../src/models/networks/create-network.ts";
import type { NetworkSpec, SingleNetworkSpec } from "../../src/models/networks/list.ts";
import { parameterShapes } from "../../src/models/networks/network-spec.ts";
import type { Model, Predictor } from "../../src/training/model.ts";
import { smallCox } from "./sample-models.ts";

const oracles = new URL("../oracles/onnx/", import.meta.url);
export const readOracle = (name: string) => new Uint8Array(readFileSync(new URL(name, oracles)));
export const writeOracle = (name: string, bytes: Uint8Array) => writeFileSync(new URL(name, oracles), bytes);

/** The runtime's binary is not built for every platform. */
export const runtime = await import("onnxruntime-node").catch((error: unknown) => {
  const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
  process.stderr.write(`ONNX tests skipped: onnxruntime-node cannot be loaded here (${reason})\n`);
  return null;
});

type Feed = Record<string, Tensor>;

/** The file's first output, for these inputs. */
export async function runOnnx(bytes: Uint8Array, feed: Feed): Promise<Tensor> {
  const [first] = await runAllOnnx(bytes, feed);
  return first;
}

/** All outputs of the file, in its order. */
export async function runAllOnnx(bytes: Uint8Array, feed: Feed): Promise<readonly Tensor[]> {
  if (runtime === null) throw new Error("no runtime");
  const options: InferenceSession.SessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1 };
  const session = await runtime.InferenceSession.create(bytes, options);
  const outputs = await session.run(feed);
  return session.outputNames.map((name) => outputs[name]);
}

/** x as the encoder gives it. */
export function feedEncoded(encoder: Encoder, table: Table): Feed {
  if (runtime === null) throw new Error("no runtime");
  const { N, D, values } = encode(encoder, table);
  return { x: new runtime.Tensor("float32", Float32Array.from(values), [N, D]) };
}

/** The columns as someone who has the table would give them. */
export function feedRaw(encoder: Encoder, table: Table, inputGroups: readonly Group[] = []): Feed {
  const columns = rawColumnsOf(encoder, inputGroups);
  return Object.fromEntries(columns.map((column) => [column.name, feedColumn(column, table)]));
}

function feedColumn({ name, holds }: RawColumn, table: Table): Tensor {
  if (runtime === null) throw new Error("no runtime");
  const column = findColumn(table, name);
  const cells = Array.from({ length: table.rows }, (_, row) => row);
  if (holds === "string") {
    const texts = cells.map((row) => cellText(column, row));
    return new runtime.Tensor("string", texts, [table.rows]);
  }
  const numbers = cells.map((row) => {
    if (isMissing(column, row)) return Number.NaN;
    return column.type === "category" ? Number(cellText(column, row)) : column.values[row];
  });
  return new runtime.Tensor("float64", Float64Array.from(numbers), [table.rows]);
}

export async function readPatients(text?: string, category = ["stage"]): Promise<Table> {
  const bytes = text === undefined ? readOracle("patients.csv") : new TextEncoder().encode(text);
  return readTable(tableSourceFromBytes("patients.csv", bytes), { category });
}

/** Everything has been missing in training but sex and dose. */
export function patientEncoder(
  table: Table,
  reference: "keep" | "drop" = "keep",
  more: readonly string[] = [],
): Encoder {
  const features = ["age", "smoker", "sex", "visit", "stage", "site", "dose", ...more];
  return fitEncoder(table, { features, missingIndicator: true, reference });
}

const T = 6;

/** Weights without meaning: k ↦ a number within ±0.6 that any machine computes to the same bits. */
function drawWeights(length: number, start: number): number[] {
  return Array.from({ length }, (_, k) => Math.fround((((start + k) * 37) % 121) / 100 - 0.6));
}

/** "held mean": the solved layer over a mean of two; "held blind": over one network, with chances of membership. */
export type PatientKind = SingleNetworkSpec["kind"] | "mean" | "held" | "held mean" | "held blind" | "cox";

export function patientModel(
  encoder: Encoder,
  kind: PatientKind,
  inputGroups: readonly Group[] = [],
  causes: readonly string[] = [],
): Model {
  const D = encoder.names.length;
  const sizes = { D, T, groups: inputGroups.length, ...(causes.length > 0 && { causes: causes.length }) };
  return {
    ...smallCox,
    ...(causes.length > 0 && { causes }),
    method: kind === "cox" ? "cox" : "nll",
    encoder,
    inputGroups,
    grid: { kind: "equal", T, edges: [0, 2.5, 5, 7.5, 10, 12.5, 15] },
    predictor: kind === "cox" ? coxOn(D) : networkOn(sizes, kind),
  };
}

/** The first event falls in the second bin, the last edge but one on an event, and one column had no coefficient. */
function coxOn(D: number): Predictor {
  return {
    kind: "cox",
    D,
    coefficients: drawWeights(D, 5).map((weight, d) => (d === 2 ? Number.NaN : weight)),
    means: drawWeights(D, 50),
    time: [3, 5, 9, 12.5, 14],
    cumulativeHazardAtMeans: [0.1, 0.15, 0.4, 0.55, 0.9],
  };
}

interface Sizes {
  readonly D: number;
  readonly T: number;
  readonly groups: number;
  readonly causes?: number;
}

function networkOn(sizes: Sizes, kind: Exclude<PatientKind, "cox">): Predictor {
  const network = specFor(sizes, kind);
  const parameters = Object.fromEntries(
    Array.from(parameterShapes(network), ([name, shape], k) => [
      name,
      drawWeights(
        shape.reduce((a, b) => a * b),
        11 * k,
      ),
    ]),
  );
  return { kind: "network", network, parameters };
}

function specFor(sizes: Sizes, kind: Exclude<PatientKind, "cox">): NetworkSpec {
  const { groups, ...wide } = sizes;
  const members = () => (["anchored", "mlp"] as const).map((one) => specOn(sizes, one));
  const held = { kind: "held", ...wide, blocks: [1, 4, T] } as const;
  switch (kind) {
    case "mean":
      return { kind, ...wide, members: members() };
    case "held":
      return { ...held, base: specOn(sizes, "anchored"), chances: 0 };
    case "held mean":
      return { ...held, base: { kind: "mean", ...wide, members: members() }, chances: 0 };
    case "held blind":
      return { ...held, base: specOn(sizes, "linear"), chances: 2 };
    default:
      return specOn(sizes, kind);
  }
}

/** Hazards of each cause differ, and leave some in every bin. */
function specOn({ groups, ...wide }: Sizes, kind: SingleNetworkSpec["kind"]): SingleNetworkSpec {
  const hazards = [0.1, 0.05, 0.2, 0.1, 0.15, 0.1];
  const { causes = 1 } = wide;
  const baselineHazard = Array.from({ length: causes }, (_, k) => hazards.map((h) => h / (k + 1))).flat();
  if (kind === "mlp") return { kind, ...wide, hidden: [4, 3] };
  const choice = { D: wide.D, T, causes, groups, hidden: 3, hiddenIsGiven: true, baselineHazard };
  return requireNetwork(kind).describe(choice);
}

/** NaN where one is NaN and the other is not. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.NaN;
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    if (Number.isNaN(a[i]) && Number.isNaN(b[i])) continue;
    const difference = Math.abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}
