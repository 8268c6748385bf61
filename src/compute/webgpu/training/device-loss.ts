/** Loss and constraints of all rows on the device: what device-training.ts asks for, as runs of kernels. */
import type { Backend } from "../../backend.ts";
import type { DeviceLoss, DeviceLossSettings, LossEntry } from "../../device-training.ts";
import type { HandleTable } from "../../host.ts";
import type { Placed } from "../device-memory.ts";
import type { Engine, KernelRun } from "../engine.ts";
import type { Bound, GpuBuffer } from "../gpu.ts";
import { groupsKernel, segmentsKernel } from "./loss-groups.ts";
import { knownWidth, packGroups, packKnown, packRows } from "./loss-layout.ts";
import {
  measureRowsKernel,
  nameObjective,
  slopeOf,
  slopesKernel,
  XCAL_ROWS,
  xcalPartsKernel,
} from "./loss-rows.ts";

type Memory = Pick<Backend, "allocate" | "read" | "write" | "release">;

export function openDeviceLoss(
  engine: Engine,
  handles: HandleTable<Placed>,
  memory: Memory,
  settings: DeviceLossSettings,
): DeviceLoss {
  const { T, bin, objective, groups, entries } = settings;
  const N = bin.length;
  const G = groups?.groups.length ?? 0;
  const W = groups === null ? 0 : groups.distance === "atRisk" ? 2 * groups.blocks.length : T;
  const own: GpuBuffer[] = [];
  const place = (values: Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>): GpuBuffer => {
    const buffer = engine.createBuffer(values.byteLength);
    engine.write(buffer, 0, values);
    own.push(buffer);
    return buffer;
  };
  const room = (numbers: number): GpuBuffer => {
    const buffer = engine.createBuffer(numbers * 4);
    own.push(buffer);
    return buffer;
  };

  const logits = memory.allocate(N * T);
  const dLogits = memory.allocate(N * T);
  const log = memory.allocate(entries * (1 + 2 * G));
  const multipliers = memory.allocate(Math.max(G, 1));
  const bufferOf = (array: typeof logits): Bound => handles.find("loss", array).buffer;

  const rows = place(packRows(settings));
  const survival = room(N * T);
  const terms = room(N * 2);
  const packed = groups && packGroups(T, groups);
  const places = packed && place(packed.packed);
  const known = groups && place(packKnown(T, groups));
  const isXcal = objective.kind === "xcal";
  const parts = isXcal ? Math.ceil(N / XCAL_ROWS) : 0;
  const fractions = G * W;
  const xcalParts = (packed?.segmentCount ?? 0) * W;
  const partials = room(Math.max(xcalParts + parts * (isXcal ? objective.bins : 0), 1));
  const slopes = room(Math.max(fractions + (isXcal ? objective.bins : 0), 1));

  const from = slopeOf(groups);
  const onCurve = objective.kind === "rps" || from === "curve" || isXcal;
  const usesSlopes = groups !== null || isXcal;
  const name = `${nameObjective(objective)}, ${describeGroups(settings)}`;
  const text = { objective, groups, W, known: groups ? knownWidth(T, groups.blocks.length) : 0 };
  const kernels = {
    rows: measureRowsKernel(objective, T),
    segments: groups && segmentsKernel(groups),
    xcal: isXcal ? xcalPartsKernel(objective) : null,
    groups: groupsKernel(text, name),
    slopes: slopesKernel(objective, from, T),
  };

  function sumSegments(): KernelRun[] {
    if (kernels.segments === null || packed === null || places === null) return [];
    const { order, segments, segmentCount, blockOf } = packed;
    const sizes = [T, order, segments, segmentCount];
    return from === "blocks"
      ? [
          {
            kernel: kernels.segments,
            sizes: [...sizes, blockOf],
            arrays: [bufferOf(logits), rows, places, partials],
            groups: segmentCount,
          },
        ]
      : [{ kernel: kernels.segments, sizes, arrays: [survival, places, partials], groups: segmentCount }];
  }

  function sumXcal(): KernelRun[] {
    if (kernels.xcal === null) return [];
    return [
      { kernel: kernels.xcal, sizes: [N, T, xcalParts], arrays: [rows, survival, partials], groups: parts },
    ];
  }

  return {
    logits,
    dLogits,
    writeMultipliers: (values) => memory.write(multipliers, values),
    measure(entry, takesDualStep) {
      engine.check();
      engine.submit([
        {
          kernel: kernels.rows,
          sizes: [N, T],
          arrays: [bufferOf(logits), rows, survival, terms],
          groups: N,
        },
        ...sumSegments(),
        ...sumXcal(),
        {
          kernel: kernels.groups,
          sizes: [
            ...[N, T, G, packed?.groups ?? 0, packed?.parts ?? 0],
            ...[xcalParts, fractions, entry, Number(takesDualStep)],
          ],
          arrays: [
            terms,
            ...(usesSlopes ? [partials] : []),
            ...(places === null || known === null ? [] : [places, known]),
            bufferOf(log),
            ...(groups === null ? [] : [bufferOf(multipliers)]),
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
            ...[packed?.blockOf ?? 0, fractions],
          ],
          arrays: [
            ...[bufferOf(logits), rows, terms],
            ...(onCurve ? [survival] : []),
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
      return Array.from({ length: to - first }, (_, k): LossEntry => {
        const at = k * width + 1;
        return {
          loss: values[at - 1],
          distances: Float64Array.from(values.subarray(at, at + G)),
          multipliers: Float64Array.from(values.subarray(at + G, at + 2 * G)),
        };
      });
    },
    release() {
      for (const array of [logits, dLogits, log, multipliers]) memory.release(array);
      for (const buffer of own) engine.destroy(buffer);
    },
  };
}

/** Everything of the groups that is written into the code. */
function describeGroups({ T, groups }: DeviceLossSettings): string {
  if (groups === null) return "no groups";
  const { distance, ownVariance, dual, blocks } = groups;
  const move = dual.form === "ascent" ? `ascent ${dual.rate}` : `augmented ${dual.penalty}`;
  return `${distance}${ownVariance ? " of its own" : ""}, ${move}, ${T} bins, ${blocks.length} blocks`;
}
