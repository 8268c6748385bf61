/** Loss and constraints of all rows on the device: what device-training.ts asks for, as runs of kernels. */
import type { Backend, Floats } from "../../backend.ts";
import type { DeviceLoss, DeviceLossSettings, LossEntry } from "../../device-training.ts";
import type { HandleTable } from "../../host.ts";
import type { Placed } from "../device-memory.ts";
import type { Engine, KernelRun } from "../engine.ts";
import type { Bound, GpuBuffer } from "../gpu.ts";
import { bitsOf, type KernelSource } from "../wgsl.ts";
import { causeSlopesKernel, measureCausesKernel } from "./loss-causes.ts";
import { groupsKernel, segmentsKernel } from "./loss-groups.ts";
import { knownWidth, packGroups, packKnown, packRows, totalOf } from "./loss-layout.ts";
import {
  measureRowsKernel,
  type GroupSlope,
  nameObjective,
  slopeOf,
  slopesKernel,
  XCAL_ROWS,
  xcalPartsKernel,
} from "./loss-rows.ts";
import { kindOfRows, type RowKind } from "./row-text.ts";

type Memory = Pick<Backend, "allocate" | "read" | "write" | "release">;

/** Arrays and kernels of a loss, made once. */
function placeLoss(engine: Engine, memory: Memory, settings: DeviceLossSettings) {
  const { T, K, bin, objective, groups, entries } = settings;
  const N = bin.length;
  const kind = kindOfRows(settings);
  const G = groups?.groups.length ?? 0;
  const W = groups === null ? 0 : groups.gap === "blocks" ? 2 * groups.blocks.length : T;
  const own: GpuBuffer[] = [];
  const room = (numbers: number): GpuBuffer => {
    const buffer = engine.createBuffer(numbers * 4);
    own.push(buffer);
    return buffer;
  };
  const place = (values: Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>): GpuBuffer => {
    const buffer = room(values.length);
    engine.write(buffer, 0, values);
    return buffer;
  };
  const packed = groups && packGroups(T, groups);
  const bins = objective.kind === "xcal" ? objective.bins : 0;
  const parts = objective.kind === "xcal" ? Math.ceil(N / XCAL_ROWS) : 0;
  const [fractions, xcalParts] = [G * W, (packed?.segmentCount ?? 0) * W];
  const from = slopeOf(groups);
  const text = { objective, groups, kind, W, known: groups ? knownWidth(T, groups.blocks.length) : 0 };
  return {
    ...{ N, T, K, G, W, own, packed, parts, fractions, xcalParts, from },
    /** The last of the sizes of kernels that count rows. */
    total: kind.counted ? [bitsOf(totalOf(settings))] : [],
    onCurve: objective.kind === "rps" || objective.kind === "xcal" || from === "curve",
    usesSlopes: groups !== null || bins > 0,
    logits: memory.allocate(N * K * T),
    dLogits: memory.allocate(N * K * T),
    log: memory.allocate(entries * (1 + 2 * G)),
    multipliers: memory.allocate(Math.max(G, 1)),
    rows: place(packRows(settings)),
    /** Survival; with several causes, their hazards. */
    curves: room(N * K * T),
    terms: room(N * 2),
    /** With several causes, what a row adds to its groups for each, and S(t−1) where that is a curve. */
    added: K > 1 && G > 0 ? room(N * K * W) : null,
    before: K > 1 && from === "curve" ? room(N * T) : null,
    places: packed && place(packed.packed),
    known: groups && place(packKnown(T, groups)),
    partials: room(Math.max(xcalParts + parts * bins, 1)),
    slopes: room(Math.max(fractions + bins, 1)),
    kernels: {
      rows: K > 1 ? measureCausesKernel(T, from) : measureRowsKernel(objective, T),
      segments: groups && segmentsKernel(groups, kind),
      xcal: objective.kind === "xcal" ? xcalPartsKernel(objective) : null,
      groups: groupsKernel(text, `${nameObjective(objective)}, ${describeGroups(settings)}`),
      slopes: kernelOfSlopes(settings, from, kind),
    },
  };
}

function kernelOfSlopes(
  { T, K, objective, groups }: DeviceLossSettings,
  from: GroupSlope,
  kind: RowKind,
): KernelSource {
  if (K === 1) return slopesKernel(objective, from, T, kind);
  return causeSlopesKernel({ T, K, by: from, blocks: from === "blocks" ? (groups?.blocks.length ?? 0) : 0 });
}

type PlacedLoss = ReturnType<typeof placeLoss>;

/** Curves and loss of every row. */
function measureRows(placed: PlacedLoss, logits: Bound): KernelRun {
  const { N, T, K, W, packed, places, from, rows, curves, terms, added, before, kernels } = placed;
  const kernel = kernels.rows;
  if (K === 1) return { kernel, sizes: [N, T], arrays: [logits, rows, curves, terms], groups: N };
  return {
    kernel,
    sizes: [N, T, K, from === "blocks" ? W / 2 : 0, packed?.blockEnds ?? 0],
    arrays: [
      ...[logits, rows, ...(from === "blocks" && places !== null ? [places] : [])],
      ...[curves, terms, ...presentOf([added, before])],
    ],
    groups: N,
  };
}

function presentOf(buffers: readonly (GpuBuffer | null)[]): GpuBuffer[] {
  return buffers.filter((buffer) => buffer !== null);
}

/** Sums of rows by segments of groups, and by X-Cal's bins of probability. */
function sumRows(placed: PlacedLoss, logits: Bound): KernelRun[] {
  const { N, T, W, packed, places, from, rows, curves, added, partials, kernels, xcalParts, parts } = placed;
  const runs: KernelRun[] = [];
  if (kernels.segments !== null && packed !== null && places !== null) {
    const { order, segments, segmentCount, blockOf } = packed;
    const known = added ?? (from === "blocks" ? null : curves);
    const sizes = [
      known === null ? T : W,
      order,
      segments,
      segmentCount,
      ...(known === null ? [blockOf] : []),
    ];
    const arrays = [...(known === null ? [logits, rows] : [known]), places, partials];
    runs.push({ kernel: kernels.segments, sizes, arrays, groups: segmentCount });
  }
  if (kernels.xcal !== null) {
    const arrays = [rows, curves, partials];
    runs.push({ kernel: kernels.xcal, sizes: [N, T, xcalParts], arrays, groups: parts });
  }
  return runs;
}

/** Loss, distances, multipliers. */
function readEntry(values: Floats, G: number): LossEntry {
  return {
    loss: values[0],
    distances: Float64Array.from(values.subarray(1, 1 + G)),
    multipliers: Float64Array.from(values.subarray(1 + G, 1 + 2 * G)),
  };
}

export function openDeviceLoss(
  engine: Engine,
  handles: HandleTable<Placed>,
  memory: Memory,
  settings: DeviceLossSettings,
): DeviceLoss {
  refuseUnknown(settings);
  const placed = placeLoss(engine, memory, settings);
  const { N, T, K, G, W, own, packed, fractions, xcalParts, usesSlopes, onCurve, total, kernels } = placed;
  const { logits, dLogits, log, multipliers, rows, curves, terms, places, known, partials, slopes, before } =
    placed;
  const bufferOf = (array: typeof logits): Bound => handles.find("loss", array).buffer;

  return {
    logits,
    dLogits,
    writeMultipliers: (values) => memory.write(multipliers, values),
    measure(entry, takesDualStep) {
      engine.check();
      engine.submit([
        measureRows(placed, bufferOf(logits)),
        ...sumRows(placed, bufferOf(logits)),
        {
          kernel: kernels.groups,
          sizes: [
            ...[N, T, G, packed?.groups ?? 0, packed?.parts ?? 0],
            ...[xcalParts, fractions, entry, Number(takesDualStep), ...total],
          ],
          arrays: [
            terms,
            ...(usesSlopes ? [partials] : []),
            ...(places === null || known === null ? [] : [places, known]),
            bufferOf(log),
            ...(G === 0 ? [] : [bufferOf(multipliers)]),
            ...(usesSlopes ? [slopes] : []),
          ],
          groups: G + 1,
        },
      ]);
    },
    differentiate() {
      engine.check();
      engine.submit([
        {
          kernel: kernels.slopes,
          sizes: [
            ...[N, T, W, packed?.combinations ?? 0, packed?.members ?? 0],
            ...[packed?.blockOf ?? 0, ...(K > 1 ? [] : [fractions]), ...total],
          ],
          arrays: [
            ...(K > 1
              ? [curves, rows, ...presentOf([before])]
              : [bufferOf(logits), rows, terms, ...(onCurve ? [curves] : [])]),
            ...(places === null ? [] : [places]),
            ...(usesSlopes ? [slopes] : []),
            bufferOf(dLogits),
          ],
          groups: N,
        },
      ]);
    },
    async readLog(first, to) {
      const width = 1 + 2 * G;
      const values = await memory.read(log, first * width, (to - first) * width);
      return Array.from({ length: to - first }, (_, k) =>
        readEntry(values.subarray(k * width, (k + 1) * width), G),
      );
    },
    release() {
      for (const array of [logits, dLogits, log, multipliers]) memory.release(array);
      for (const buffer of own) engine.destroy(buffer);
    },
  };
}

/** What the kernels' code does not have; who asks for it is told elsewhere, with what to do. */
function refuseUnknown({ K, objective, groups }: DeviceLossSettings): void {
  if (K === 1) return;
  const isPlain = objective.kind === "likelihood" && !objective.tail;
  const takesOwn = groups?.gap === "largest" && groups.ownVariance;
  if (!isPlain || takesOwn)
    throw new Error("the device does not have this loss, or this gap, of several causes");
}

/** Everything of the groups that is written into the code. */
function describeGroups({ T, groups }: DeviceLossSettings): string {
  if (groups === null) return "no groups";
  const { gap, ownVariance, dual, blocks } = groups;
  const move = dual.form === "ascent" ? `ascent ${dual.rate}` : `augmented ${dual.penalty}`;
  return `${gap}${ownVariance ? " of its own" : ""}, ${move}, ${T} bins, ${blocks.length} blocks`;
}
