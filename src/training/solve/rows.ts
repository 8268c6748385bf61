/**
 * The rows of a solve, from a model and rows in a backend's memory: the model's logits in every bin at risk (in all
 * bins where curves are held or priced too), the columns of x that take part, and who is in which group. Sets of rows
 * are joined in order, so that training and validation rows can be solved on together.
 */
import type { Backend, DeviceArray } from "../../compute/backend.ts";
import { mirrorArray } from "../../compute/memory.ts";
import { exp, log1p } from "../../core/elementary.ts";
import { present } from "../../core/present.ts";
import { type BinnedSingleCause, requireSingleCause } from "../../data/outcomes/outcomes.ts";
import type { Network } from "../../models/networks/network.ts";
import type { NamedRows } from "../../objectives/constraints.ts";
import type { LongRows } from "../rows/long-rows.ts";
import type { TrainingRows } from "../trainer.ts";
import type { RowLists, SolveRows } from "./layout.ts";

/** Rows in a backend's memory, or encoded as they are wanted. */
export type RowSet = TrainingRows | LongRows;

/** Rows of the solve before the layout is chosen. */
export interface GatheredRows {
  readonly binned: BinnedSingleCause;
  readonly groups: readonly NamedRows[];
  /** The model's inputs. */
  readonly x: Float32Array | Float64Array; // [N,D]
  readonly D: number;
  readonly logits: Float32Array | Float64Array;
  readonly first: Float64Array; // [N+1]
  /** With each logit, the chance of no event of the other causes given none of this one; where incidences are held. */
  readonly beside?: Float64Array;
}

export interface GatherOptions {
  /** Which sets have logits past a row's own time too; none unless given. */
  readonly isWhole?: (set: RowSet) => boolean;
  /** Whether the inputs are wanted beside the logits; they are unless said otherwise. */
  readonly keepsInputs?: boolean;
  /** Networks of the other causes: the logits become those of this one given them (objectives/causes/). */
  readonly others?: readonly Pick<Network, "forward">[];
  /** Whether incidences are held, which the other causes' hazards bend. */
  readonly keepsBeside?: boolean;
  /** Told how many rows are done. */
  readonly onRows?: (done: number, total: number) => void;
}

export async function gatherRows(
  backend: Backend,
  network: Pick<Network, "forward" | "D" | "T">,
  sets: readonly RowSet[],
  { isWhole = () => false, keepsInputs = true, others = [], keepsBeside = false, onRows }: GatherOptions = {},
): Promise<GatheredRows> {
  const { D, T } = network;
  const { binned, groups } = joinSets(sets, T);
  const N = binned.bin.length;
  const first = new Float64Array(N + 1);
  let row = 0;
  for (const set of sets) {
    const whole = isWhole(set);
    for (const bin of set.binned.bin) first[++row] = first[row - 1] + (whole ? T : bin);
  }
  const isWide = backend.precision === "f64";
  const createFloats = (length: number) => (isWide ? new Float64Array(length) : new Float32Array(length));
  const logits = createFloats(first[N]);
  const x = createFloats(keepsInputs ? N * D : 0);
  const beside = keepsBeside && others.length > 0 ? new Float64Array(first[N]) : undefined;
  const part = backend.rowsAtOnce({ T, keep: false });
  let n = 0;
  for (const set of sets) {
    const room = Math.min(part, set.binned.bin.length);
    const rowsHere = backend.allocate(room * D);
    const logitsHere = backend.allocate(room * T);
    const onHost = mirrorArray(backend, logitsHere);
    const sums = new Float64Array(others.length === 0 ? 0 : room * T);
    for (const count of bringParts(backend, set, D, { rowsHere, room })) {
      sums.fill(0);
      for (const other of others) {
        await other.forward(rowsHere, count, logitsHere, null);
        await onHost.pull();
        for (let k = 0; k < count * T; k++) sums[k] += exp(onHost.values[k]);
      }
      await network.forward(rowsHere, count, logitsHere, null);
      await onHost.pull();
      if (keepsInputs) x.set(await backend.read(rowsHere, 0, count * D), n * D);
      for (let k = 0; k < count; k++, n++) {
        const length = first[n + 1] - first[n];
        logits.set(onHost.values.subarray(k * T, k * T + length), first[n]);
        if (others.length === 0) continue;
        for (let t = 0; t < length; t++) logits[first[n] + t] -= log1p(sums[k * T + t]);
        if (beside) for (let t = 0; t < length; t++) beside[first[n] + t] = 1 / (1 + sums[k * T + t]);
      }
      onRows?.(n, N);
    }
    backend.release(rowsHere);
    backend.release(logitsHere);
  }
  return { binned, groups, x, D, logits, first, ...present({ beside }) };
}

/** Puts the rows of a set into the backend's memory, `room` of them at most at a time; yields how many. */
function* bringParts(
  backend: Backend,
  set: RowSet,
  D: number,
  { rowsHere, room }: { readonly rowsHere: DeviceArray; readonly room: number },
): Generator<number> {
  if ("blocks" in set) {
    for (const { N, values } of set.blocks()) {
      for (let from = 0; from < N; from += room) {
        const count = Math.min(room, N - from);
        backend.write(rowsHere, values.subarray(from * D, (from + count) * D));
        yield count;
      }
    }
    return;
  }
  const size = set.binned.bin.length;
  for (let from = 0; from < size; from += room) {
    const count = Math.min(room, size - from);
    const taken = Int32Array.from({ length: count }, (_, k) => from + k);
    backend.gatherRows(set.x, D, taken, rowsHere);
    yield count;
  }
}

/** One set of rows after the other; every set has the same groups. */
function joinSets(sets: readonly RowSet[], T: number): Pick<GatheredRows, "binned" | "groups"> {
  let N = 0;
  const starts = sets.map(({ binned }) => {
    const start = N;
    N += binned.bin.length;
    return start;
  });
  const groups = sets[0].groups.map(({ name }, g) => {
    const rows = new Int32Array(sets.reduce((sum, set) => sum + set.groups[g].rows.length, 0));
    let next = 0;
    sets.forEach((set, s) => {
      for (const row of set.groups[g].rows) rows[next++] = row + starts[s];
    });
    return { name, rows };
  });
  const parts = sets.map(({ binned }) => requireSingleCause(binned, "the solve"));
  return { binned: joinBinned(parts, T), groups };
}

/** The outcomes of one set of rows after the other. */
export function joinBinned(sets: readonly BinnedSingleCause[], T: number): BinnedSingleCause {
  const N = sets.reduce((sum, { bin }) => sum + bin.length, 0);
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  const firstBin = sets.some((set) => set.firstBin) ? new Int32Array(N).fill(1) : undefined;
  const weight = sets.some((set) => set.weight) ? new Float64Array(N).fill(1) : undefined;
  const rival = sets.some((set) => set.rival) ? new Uint8Array(N) : undefined;
  let start = 0;
  for (const set of sets) {
    bin.set(set.bin, start);
    event.set(set.event, start);
    if (set.firstBin) firstBin?.set(set.firstBin, start);
    if (set.weight) weight?.set(set.weight, start);
    if (set.rival) rival?.set(set.rival, start);
    start += set.bin.length;
  }
  return { T, bin, event, ...present({ firstBin, weight, rival }) };
}

/** `shaped`: columns with an offset by block. The first columns of x have slopes: they are read where they are. */
export function toSolveRows(gathered: GatheredRows, shaped: RowLists): SolveRows {
  const { binned, x, D, logits, first, beside } = gathered;
  const { bin, event, firstBin, weight, rival } = binned;
  return {
    N: bin.length,
    bin,
    event,
    ...present({ firstBin, weight, rival, beside }),
    logits,
    first,
    x,
    stride: D,
    shaped,
  };
}

/** The last `count` columns of x as lists of their entries that are not 0, and then the extra columns. */
export function listMembers(
  { x, D, binned }: GatheredRows,
  count: number,
  extra: readonly Float64Array[] = [],
): RowLists {
  const N = binned.bin.length;
  const first = new Int32Array(N + 1);
  for (let n = 0; n < N; n++) {
    let entries = extra.length;
    for (let at = n * D + D - count; at < n * D + D; at++) if (x[at] !== 0) entries++;
    first[n + 1] = first[n] + entries;
  }
  const column = new Int32Array(first[N]);
  const value = new Float64Array(first[N]).fill(1);
  let next = 0;
  for (let n = 0; n < N; n++) {
    for (let j = 0; j < count; j++) if (x[n * D + D - count + j] !== 0) column[next++] = j;
    extra.forEach((values, k) => {
      column[next] = count + k;
      value[next++] = values[n];
    });
  }
  return { first, column, value };
}
