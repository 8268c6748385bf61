/**
 * By what a model knows its table again. Beside its split it keeps what the rows hold, over the columns that any audit
 * of it needs (data/row-hash.ts): a SHA-256 of all rows' hashes, in their order and in ascending order, and the sets in
 * ascending order. So the same cells are known from any file or none, and in any order of rows and columns. Of the rows
 * it learnt from it also keeps a sketch: half of some bits are set, among them one for each such row. Every row it
 * learnt from finds its bit set, and so does every second stranger. That says nothing of one person (the odds at most
 * double), and much of a table: of 25 rows that all find theirs set, or of a larger table that holds some of them
 * (docs/decisions/026-a-table-is-known-by-its-rows.md).
 */
import { createSha256, toHex } from "../../files/container/checksum.ts";
import { outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { joinRows, type Split } from "../../data/outcomes/split.ts";
import { hashRows, orderByHash, type RowHashes } from "../../data/row-hash.ts";
import type { Table } from "../../data/table.ts";
import {
  fromBase64,
  packSets,
  type PackedContent,
  type PackedSplit,
  toBase64,
  unpackSets,
} from "../../study/split.ts";
import type { Model } from "../../training/model.ts";
import { columnsNeeded } from "../predict.ts";

/** What a model knows of a table. */
export type KnownTable =
  /** It is the table that it was trained on; with its split, where the file keeps one. */
  | { readonly is: "own"; readonly split: Split | null }
  /** About so large a share of the rows is among those that it learnt from; which ones, nothing says. */
  | { readonly is: "overlapping"; readonly share: number }
  /** It has as many rows, and the file, of an earlier version, keeps nothing to tell more by. */
  | { readonly is: "undecided"; readonly split: Split | null }
  | { readonly is: "new" };

/** A sketch is kept, and asked, of at least so many different rows. */
const LEAST_SKETCHED = 25;
/** No sketch where a larger share of the rows is like another row: strangers would be taken for rows it learnt from. */
const MOST_ALIKE = 0.05;
/** Bits for each row: half of them are set, 1 - exp(-1 / 1.4427). */
const BITS_A_ROW = Math.LOG2E;
/** Found rows beyond those that chance would find, in standard deviations; and the share that is worth a word. */
const BEYOND_CHANCE = 5;
const LEAST_SHARE = 0.1;

type Identified = Pick<Model, "columns" | "encoder" | "inputGroups">;

/** The split of a model with what its table's rows hold. */
export function packModelSplit({
  table,
  sha256,
  split,
  ...model
}: Identified & {
  readonly table: Table;
  readonly sha256: string | null;
  readonly split: Split;
}): PackedSplit {
  const { hashes, order, inOrder, anyOrder } = identify(table, identifyingColumns(model));
  const sketch = drawSketch(hashes, order, joinRows(split.train, split.validation));
  const content: PackedContent = {
    inOrder: inOrder(),
    anyOrder: anyOrder(),
    sets: packSets(split, table.rows, order()),
    ...(sketch === null ? {} : { sketch }),
  };
  return { sha256, rows: table.rows, sets: packSets(split, table.rows), content };
}

/** Whether the model was trained on rows of the file with this hash. */
export function isTrainedOn(model: Model, sha256: string | null): boolean {
  return sha256 !== null && hashOf(model) === sha256;
}

/** SHA-256 of the file that the model was trained on, if it came from one. */
export function hashOf({ split, provenance }: Model): string | null {
  return split?.sha256 ?? provenance?.table?.sha256 ?? null;
}

/** Compares a table with that of a model; `sha256` is the hash of the table's file, where it came from one. */
export function knowTable(model: Model, table: Table, sha256: string | null): KnownTable {
  const { split, training } = model;
  const hasRows = split === undefined || split.rows === table.rows;
  const byRow = split !== undefined && hasRows ? unpackSets(split.sets, table.rows) : null;
  if (isTrainedOn(model, sha256)) return { is: "own", split: byRow };
  if (split?.content === undefined) {
    const { train, validation, test } = training.rows;
    const isAsLong = split === undefined ? train + validation + test === table.rows : hasRows;
    return isAsLong ? { is: "undecided", split: byRow } : { is: "new" };
  }
  const columns = identifyingColumns(model);
  const names = new Set(table.columns.map(({ name }) => name));
  if (table.rows === 0 || !columns.every((name) => names.has(name))) return { is: "new" };
  const own = identify(table, columns);
  const { content } = split;
  if (hasRows) {
    if (own.inOrder() === content.inOrder) return { is: "own", split: byRow };
    if (own.anyOrder() === content.anyOrder) {
      return { is: "own", split: unpackSets(content.sets, table.rows, own.order()) };
    }
  }
  const share = content.sketch === undefined ? null : measureOverlap(own, content.sketch);
  return share === null ? { is: "new" } : { is: "overlapping", share };
}

/** Columns without which nobody can audit the model: its outcome, and what its predictions depend on. */
function identifyingColumns(model: Identified): string[] {
  return [...new Set([...outcomeNames(model.columns), ...columnsNeeded(model)])].sort();
}

/** What a table's rows hold, each part computed when it is first asked for. */
interface Identity {
  readonly hashes: RowHashes;
  readonly order: () => Int32Array;
  readonly inOrder: () => string;
  readonly anyOrder: () => string;
}

/** Many models may be made of one table, and a table is never changed. */
const identities = new WeakMap<Table["columns"], Map<string, Identity>>();

function identify({ columns, ...table }: Table, names: readonly string[]): Identity {
  const known = identities.get(columns) ?? new Map<string, Identity>();
  identities.set(columns, known);
  const key = JSON.stringify(names);
  const found = known.get(key);
  if (found !== undefined) return found;
  const hashes = hashRows({ ...table, columns }, names);
  const order = once(() => orderByHash(hashes));
  const made = {
    hashes,
    order,
    inOrder: once(() => digestRows(hashes, null)),
    anyOrder: once(() => digestRows(hashes, order())),
  };
  known.set(key, made);
  return made;
}

function once<Value>(compute: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => {
    made ??= { value: compute() };
    return made.value;
  };
}

const BLOCK_ROWS = 8192;

/** SHA-256 of the hashes, eight bytes a row, the highest first. */
function digestRows({ high, low }: RowHashes, order: Int32Array | null): string {
  const hash = createSha256();
  const block = new DataView(new ArrayBuffer(8 * BLOCK_ROWS));
  for (let from = 0; from < high.length; from += BLOCK_ROWS) {
    const count = Math.min(BLOCK_ROWS, high.length - from);
    for (let k = 0; k < count; k++) {
      const row = order === null ? from + k : order[from + k];
      block.setUint32(8 * k, high[row]);
      block.setUint32(8 * k + 4, low[row]);
    }
    hash.update(new Uint8Array(block.buffer, 0, 8 * count));
  }
  return toHex(hash.digest());
}

/** Whether the row at a place of the order is the first of its hash. */
function isFirst({ high, low }: RowHashes, order: Int32Array, place: number): boolean {
  if (place === 0) return true;
  const [one, other] = [order[place], order[place - 1]];
  return high[one] !== high[other] || low[one] !== low[other];
}

/** The bits of the rows that were learnt from, in base64; null where they could not tell strangers from these. */
function drawSketch(hashes: RowHashes, order: () => Int32Array, learnt: Int32Array): string | null {
  if (learnt.length < LEAST_SKETCHED) return null;
  const sorted = order();
  let different = 0;
  for (let place = 0; place < sorted.length; place++) if (isFirst(hashes, sorted, place)) different++;
  if (different < (1 - MOST_ALIKE) * sorted.length) return null;
  const bytes = new Uint8Array(Math.ceil((learnt.length * BITS_A_ROW) / 8));
  for (const row of learnt) {
    const bit = bitOf(hashes, row, bytes);
    bytes[bit >> 3] |= 1 << (bit & 7);
  }
  return toBase64(bytes);
}

function bitOf({ low }: RowHashes, row: number, { length }: Uint8Array): number {
  return Math.floor((low[row] / 2 ** 32) * 8 * length);
}

/** The share of the table's rows that the model learnt from, where more find their bit set than chance explains. */
function measureOverlap({ hashes, order }: Identity, sketch: string): number | null {
  const bytes = fromBase64(sketch);
  if (bytes === null || bytes.length === 0) return null;
  const isSet = (bit: number) => (bytes[bit >> 3] >> (bit & 7)) & 1;
  let bits = 0;
  for (let bit = 0; bit < 8 * bytes.length; bit++) bits += isSet(bit);
  const byChance = bits / (8 * bytes.length);
  const sorted = order();
  let different = 0;
  let found = 0;
  for (let place = 0; place < sorted.length; place++) {
    // A stranger who is there a hundred times is one piece of evidence.
    if (!isFirst(hashes, sorted, place)) continue;
    different++;
    found += isSet(bitOf(hashes, sorted[place], bytes));
  }
  if (different < LEAST_SKETCHED) return null;
  const share = (found / different - byChance) / (1 - byChance);
  const deviation = Math.sqrt(different * byChance * (1 - byChance));
  const isBeyond = found - different * byChance >= BEYOND_CHANCE * deviation;
  return isBeyond && share >= LEAST_SHARE ? share : null;
}
