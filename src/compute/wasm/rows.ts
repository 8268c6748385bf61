/**
 * The float64 kernels over rows (row-kernels.ts) in the memory of a wasm backend. A pass of many rows goes to the
 * threads; a small one is computed here, in less time than the threads need to hear of it. Sums over groups are always
 * computed here. Slots are ranges of rows that do not depend on each other, so their number changes no bit.
 */
import type { DeviceArray } from "../backend.ts";
import type { HandleTable } from "../host.ts";
import type { CurvePass, GroupPass, LikelihoodPass, RowKernels } from "../row-kernels.ts";
import { JOB_SCRATCH, JOB_SCRATCH_BYTES, JOB_SLOTS, JOB_WORDS } from "./kernels/job.ts";
import {
  ROW_BEYOND,
  ROW_BIN,
  ROW_COMBINATION,
  ROW_D_LOGITS,
  ROW_EVENT,
  ROW_FIRST_MEMBER,
  ROW_GROUP_SHARE,
  ROW_HAZARD,
  ROW_LOGITS,
  ROW_MEMBERS,
  ROW_N,
  ROW_ORDER,
  ROW_ROWS,
  ROW_SHARE,
  ROW_SUMS,
  ROW_SURVIVAL,
  ROW_T,
  ROW_TABLE,
  ROW_TAIL,
  ROW_TERMS,
  ROW_VALUE_COUNT,
  ROW_VALUES,
} from "./kernels/row-job.ts";
import type { WorkAreas } from "./memory.ts";
import { type OwnJob, wordsOf } from "./own-job.ts";
import type { JobWords, KernelTeam } from "./team.ts";
import type { KernelExports, KernelMemory, RowKernelName } from "./worker.ts";

/** From this many numbers on, about a fifth of a millisecond, a pass goes to the threads. */
const NUMBERS_FOR_THREADS = 2 ** 16;
/** Rows in a slot of such a pass: a few dozen microseconds. */
const SLOT_ROWS = 64;

/** What the kernels work in. */
export interface RowMemory {
  readonly kernels: KernelExports;
  readonly memory: KernelMemory;
  readonly handles: HandleTable<Float32Array>;
  readonly areas: WorkAreas;
  readonly team: KernelTeam;
  readonly threads: number;
  /** The address of the threads' job block. */
  readonly job: number;
  readonly ownJob: OwnJob;
}

/** Addresses of arrays, which must have at least so many numbers; a float64 is two of the backend's. */
interface Places {
  floats(name: string, array: DeviceArray, length: number): number;
  doubles(name: string, array: DeviceArray, length: number): number;
}

function likelihoodWords({ floats, doubles }: Places, pass: LikelihoodPass): JobWords {
  const { N, T } = pass;
  return {
    [ROW_N]: N,
    [ROW_T]: T,
    [ROW_LOGITS]: floats("logits", pass.logits, N * T),
    [ROW_D_LOGITS]: floats("dLogits", pass.dLogits, N * T),
    [ROW_TABLE]: doubles("table", pass.table, 1),
    [ROW_ROWS]: floats("rows", pass.rows, N),
    [ROW_BIN]: floats("bin", pass.bin, 0),
    [ROW_EVENT]: floats("event", pass.event, 0),
    [ROW_VALUES]: doubles("values", pass.values, ROW_VALUE_COUNT * N),
    [ROW_TAIL]: pass.tail ? 1 : 0,
    ...wordsOf(ROW_SHARE, pass.share),
  };
}

function groupWords({ floats, doubles }: Places, pass: GroupPass): JobWords {
  const { N, T } = pass;
  return {
    [ROW_N]: N,
    [ROW_T]: T,
    [ROW_HAZARD]: doubles("hazard", pass.hazard, N * T),
    [ROW_SURVIVAL]: doubles("survival", pass.survival, N * T),
    [ROW_ROWS]: floats("rows", pass.rows, N),
    [ROW_ORDER]: floats("order", pass.order, N),
    [ROW_COMBINATION]: floats("combinations", pass.combinationOf, 0),
    [ROW_FIRST_MEMBER]: floats("first members", pass.firstMember, 0),
    [ROW_MEMBERS]: floats("members", pass.members, 0),
  };
}

export function createRowKernels(parts: RowMemory): RowKernels {
  const { kernels, memory, handles, areas, team, threads, job, ownJob } = parts;
  const teamWords = new Int32Array(memory.buffer, job, JOB_WORDS);
  const places: Places = {
    floats: (name, array, length) => handles.find(name, array, length).byteOffset,
    doubles: (name, array, length) => handles.find(name, array, 2 * length).byteOffset,
  };
  const { floats, doubles } = places;

  /** Runs a kernel over rows; returns whether every row was within the table. */
  async function run(kernel: RowKernelName, words: JobWords, N: number, T: number, scratchBytes: number) {
    if (N === 0) return true;
    if (N * T < NUMBERS_FOR_THREADS || team.isBusy()) {
      ownJob.write(words, ownJob.reserve(scratchBytes));
      kernels[kernel](ownJob.address, 0);
      return ownJob.words[ROW_BEYOND] === 0;
    }
    team.check(kernel);
    await team.run(kernel, {
      ...words,
      [JOB_SLOTS]: Math.ceil(N / SLOT_ROWS),
      [JOB_SCRATCH]: areas.place("scratch", threads * scratchBytes),
      [JOB_SCRATCH_BYTES]: scratchBytes,
    });
    return teamWords[ROW_BEYOND] === 0;
  }

  return {
    fillCurves({ N, T, logits, table, hazard, survival }: CurvePass) {
      const words = {
        [ROW_N]: N,
        [ROW_T]: T,
        [ROW_LOGITS]: floats("logits", logits, N * T),
        [ROW_HAZARD]: doubles("hazard", hazard, N * T),
        [ROW_SURVIVAL]: doubles("survival", survival, N * T),
        [ROW_TABLE]: doubles("table", table, 1),
      };
      return run("fillCurves", words, N, T, 0);
    },
    likelihood(pass) {
      const { N, T } = pass;
      return run("likelihood", likelihoodWords(places, pass), N, T, kernels.likelihoodScratchBytes(T));
    },
    async likelihoodTail(pass) {
      const { N, T } = pass;
      await run("likelihoodTail", likelihoodWords(places, pass), N, T, kernels.likelihoodScratchBytes(T));
    },
    replaceCurves(pass, terms, sums) {
      const words = {
        ...groupWords(places, pass),
        [ROW_TERMS]: terms === null ? 0 : doubles("terms", terms, 0),
        [ROW_SUMS]: doubles("sums", sums, 0),
      };
      ownJob.write(words, ownJob.reserve(8 * pass.T));
      kernels.replaceCurves(ownJob.address, 0);
    },
    backThroughCurves(pass, slopes, shares, dLogits, scale) {
      const words = {
        ...groupWords(places, pass),
        [ROW_SUMS]: doubles("slopes", slopes, 0),
        [ROW_GROUP_SHARE]: doubles("shares", shares, 0),
        [ROW_D_LOGITS]: floats("dLogits", dLogits, pass.N * pass.T),
        ...wordsOf(ROW_SHARE, scale),
      };
      ownJob.write(words, ownJob.reserve(8 * pass.T));
      kernels.backThroughCurves(ownJob.address);
    },
  };
}
