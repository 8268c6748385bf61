/**
 * The rows of a solve, from a model and rows in a backend's memory: the model's logits in every bin at risk (in all
 * bins where curves are held or priced too), the columns of x that take part, and who is in which group. Sets of rows
 * are joined in order, so that training and validation rows can be solved on together.
 */
import type { Backend } from "../../compute/backend.ts";
import { mirrorArray } from "../../compute/memory.ts";
import type { BinnedRightCensored } from "../../data/outcomes/outcomes.ts";
import type { Network } from "../../models/networks/network.ts";
import type { NamedRows } from "../../objectives/constraints.ts";
import type { TrainingRows } from "../trainer.ts";
import { listByRow, type RowLists, type SolveRows } from "./layout.ts";

/** Rows of the solve before the layout is chosen. */
export interface GatheredRows {
  readonly binned: BinnedRightCensored;
  readonly groups: readonly NamedRows[];
  /** The model's inputs. */
  readonly x: Float32Array | Float64Array; // [N,D]
  readonly D: number;
  readonly logits: Float32Array | Float64Array;
  readonly first: Float64Array; // [N+1]
}

/** `isWhole`: which sets have logits past a row's own time too. */
export async function gatherRows(
  backend: Backend,
  network: Pick<Network, "forward" | "D" | "T">,
  sets: readonly TrainingRows[],
  isWhole: (set: TrainingRows) => boolean = () => false,
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
  const logits = isWide ? new Float64Array(first[N]) : new Float32Array(first[N]);
  const x = isWide ? new Float64Array(N * D) : new Float32Array(N * D);
  const part = backend.rowsAtOnce({ T, keep: false });
  let n = 0;
  for (const set of sets) {
    const size = set.binned.bin.length;
    const room = Math.min(part, size);
    const rowsHere = backend.allocate(room * D);
    const logitsHere = backend.allocate(room * T);
    const onHost = mirrorArray(backend, logitsHere);
    for (let from = 0; from < size; from += room) {
      const count = Math.min(room, size - from);
      const taken = Int32Array.from({ length: count }, (_, k) => from + k);
      backend.gatherRows(set.x, D, taken, rowsHere);
      await network.forward(rowsHere, count, logitsHere, null);
      await onHost.pull();
      x.set(await backend.read(rowsHere, 0, count * D), n * D);
      for (let k = 0; k < count; k++, n++) {
        const length = first[n + 1] - first[n];
        logits.set(onHost.values.subarray(k * T, k * T + length), first[n]);
      }
    }
    backend.release(rowsHere);
    backend.release(logitsHere);
  }
  return { binned, groups, x, D, logits, first };
}

/** One set of rows after the other; every set has the same groups. */
function joinSets(sets: readonly TrainingRows[], T: number): Pick<GatheredRows, "binned" | "groups"> {
  let N = 0;
  const starts = sets.map(({ binned }) => {
    const start = N;
    N += binned.bin.length;
    return start;
  });
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  sets.forEach(({ binned }, s) => {
    bin.set(binned.bin, starts[s]);
    event.set(binned.event, starts[s]);
  });
  const groups = sets[0].groups.map(({ name }, g) => ({
    name,
    rows: Int32Array.from(sets.flatMap((set, s) => Array.from(set.groups[g].rows, (row) => row + starts[s]))),
  }));
  return { binned: { T, bin, event }, groups };
}

/** `dense`: how many of the first columns of x are slopes; `shaped`: columns with an offset by block. */
export function toSolveRows(gathered: GatheredRows, dense: number, shaped: RowLists): SolveRows {
  const { binned, x, D, logits, first } = gathered;
  const N = binned.bin.length;
  return { N, bin: binned.bin, event: binned.event, logits, first, x: takeColumns(x, N, D, dense), shaped };
}

function takeColumns(x: GatheredRows["x"], N: number, D: number, dense: number): GatheredRows["x"] {
  if (dense === D) return x;
  const out = x instanceof Float64Array ? new Float64Array(N * dense) : new Float32Array(N * dense);
  for (let n = 0; n < N; n++) out.set(x.subarray(n * D, n * D + dense), n * dense);
  return out;
}

/** The last `count` columns of x as lists of their entries that are not 0. */
export function listMembers(
  { x, D, binned }: GatheredRows,
  count: number,
  extra: readonly Float64Array[] = [],
): RowLists {
  const N = binned.bin.length;
  const columns = Array.from({ length: count }, (_, j) => {
    const rows: number[] = [];
    for (let n = 0; n < N; n++) if (x[n * D + D - count + j] !== 0) rows.push(n);
    return { rows };
  });
  const all = Int32Array.from({ length: N }, (_, n) => n);
  return listByRow(N, [...columns, ...extra.map((values) => ({ rows: all, values }))]);
}
