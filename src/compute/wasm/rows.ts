/**
 * The float64 kernels over rows (row-kernels.ts) in the memory of a wasm backend. A pass of many rows goes to the
 * threads; a small one is computed here, in less time than the threads need to hear of it. Sums over groups are always
 * computed here. Slots are ranges of rows that do not depend on each other, so their number changes no bit.
 */
import type { DeviceArray } from "../backend.ts";
import type { HandleTable } from "../host.ts";
import type {
  CauseCurvePass,
  CauseLikelihoodPass,
  CausePass,
  CurvePass,
  GroupPass,
  LikelihoodPass,
  RowKernels,
  RowPass,
} from "../row-kernels.ts";
import { JOB_SCRATCH, JOB_SCRATCH_BYTES, JOB_SLOTS, JOB_WORDS } from "./kernels/job.ts";
import {
  ROW_BEYOND,
  ROW_BIN,
  ROW_CAUSES,
  ROW_COMBINATION,
  ROW_CONDITIONAL,
  ROW_D_LOGITS,
  ROW_EVENT,
  ROW_FIRST_BIN,
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
  ROW_WEIGHT,
} from "./kernels/row-job.ts";
import type { WorkAreas } from "./memory.ts";
import { type OwnJob, writeDouble } from "./own-job.ts";
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

/** Of a job that goes to the threads, or the block itself. */
type Words = JobWords | Int32Array;

function writeLikelihood(words: Words, { floats, doubles }: Places, pass: LikelihoodPass): void {
  const { N, T } = pass;
  words[ROW_N] = N;
  words[ROW_T] = T;
  words[ROW_LOGITS] = floats("logits", pass.logits, N * T);
  words[ROW_D_LOGITS] = floats("dLogits", pass.dLogits, N * T);
  words[ROW_TABLE] = doubles("table", pass.table, 1);
  words[ROW_ROWS] = floats("rows", pass.rows, N);
  words[ROW_BIN] = floats("bin", pass.bin, 0);
  words[ROW_EVENT] = floats("event", pass.event, 0);
  words[ROW_VALUES] = doubles("values", pass.values, ROW_VALUE_COUNT * N);
  words[ROW_TAIL] = pass.tail ? 1 : 0;
  writeDouble(words, ROW_SHARE, pass.share);
}

function writeCurves(words: Words, { floats, doubles }: Places, pass: CurvePass): void {
  const { N, T } = pass;
  words[ROW_N] = N;
  words[ROW_T] = T;
  words[ROW_LOGITS] = floats("logits", pass.logits, N * T);
  words[ROW_HAZARD] = doubles("hazard", pass.hazard, N * T);
  words[ROW_SURVIVAL] = doubles("survival", pass.survival, N * T);
  words[ROW_TABLE] = doubles("table", pass.table, 1);
}

function writeCauseCurves(words: Words, { floats, doubles }: Places, pass: CauseCurvePass): void {
  const { N, K, T } = pass;
  words[ROW_N] = N;
  words[ROW_CAUSES] = K;
  words[ROW_T] = T;
  words[ROW_LOGITS] = floats("logits", pass.logits, N * K * T);
  words[ROW_HAZARD] = doubles("hazard", pass.hazard, N * K * T);
  words[ROW_SURVIVAL] = doubles("survival", pass.survival, N * K * T);
  words[ROW_TABLE] = doubles("table", pass.table, 1);
}

function writeCauses(words: Words, { floats, doubles }: Places, pass: CausePass): void {
  const { N, K, T, firstBin } = pass;
  words[ROW_N] = N;
  words[ROW_CAUSES] = K;
  words[ROW_T] = T;
  words[ROW_HAZARD] = doubles("hazard", pass.hazard, N * K * T);
  words[ROW_D_LOGITS] = floats("dLogits", pass.dLogits, N * K * T);
  words[ROW_ROWS] = floats("rows", pass.rows, N);
  words[ROW_BIN] = floats("bin", pass.bin, 0);
  words[ROW_FIRST_BIN] = firstBin === null ? 0 : floats("first bin", firstBin, 0);
}

function writeSlopes(words: Words, places: Places, pass: CausePass, slopes: DeviceArray): void {
  writeCauses(words, places, pass);
  words[ROW_CONDITIONAL] = places.doubles("slopes of causes", slopes, pass.N * pass.K * pass.T);
}

function writeCauseLikelihood(words: Words, places: Places, pass: CauseLikelihoodPass): void {
  const { N, cause, weight, values, total } = pass;
  writeCauses(words, places, pass);
  words[ROW_EVENT] = places.floats("cause", cause, 0);
  words[ROW_WEIGHT] = weight === null ? 0 : places.doubles("weight", weight, 0);
  words[ROW_VALUES] = places.doubles("values", values, N);
  writeDouble(words, ROW_SHARE, total);
}

function writeGroups(words: Words, { floats, doubles }: Places, pass: GroupPass): void {
  const { N, T } = pass;
  words[ROW_N] = N;
  words[ROW_T] = T;
  words[ROW_HAZARD] = doubles("hazard", pass.hazard, N * T);
  words[ROW_SURVIVAL] = doubles("survival", pass.survival, N * T);
  words[ROW_ROWS] = floats("rows", pass.rows, N);
  words[ROW_ORDER] = floats("order", pass.order, N);
  words[ROW_COMBINATION] = floats("combinations", pass.combinationOf, 0);
  words[ROW_FIRST_MEMBER] = floats("first members", pass.firstMember, 0);
  words[ROW_MEMBERS] = floats("members", pass.members, 0);
}

export function createRowKernels(parts: RowMemory): RowKernels {
  const { kernels, memory, handles, areas, team, threads, job, ownJob } = parts;
  const teamWords = new Int32Array(memory.buffer, job, JOB_WORDS);
  const places: Places = {
    floats: (name, array, length) => handles.find(name, array, length).byteOffset,
    doubles: (name, array, length) => handles.find(name, array, 2 * length).byteOffset,
  };
  const { floats, doubles } = places;

  /** Runs a kernel over rows of so many numbers; returns whether it could take every row. */
  async function run(
    kernel: RowKernelName,
    { N, T, K = 1 }: Pick<RowPass, "N" | "T"> & { readonly K?: number },
    scratchBytes: number,
    write: (words: Words) => void,
  ): Promise<boolean> {
    if (N === 0) return true;
    if (N * K * T < NUMBERS_FOR_THREADS || team.isBusy()) {
      const words = ownJob.open(scratchBytes);
      write(words);
      kernels[kernel](ownJob.address, 0);
      return words[ROW_BEYOND] === 0;
    }
    team.check(kernel);
    const words: JobWords = {
      [JOB_SLOTS]: Math.ceil(N / SLOT_ROWS),
      [JOB_SCRATCH]: areas.place("scratch", threads * scratchBytes),
      [JOB_SCRATCH_BYTES]: scratchBytes,
    };
    write(words);
    await team.run(kernel, words);
    return teamWords[ROW_BEYOND] === 0;
  }

  const scratchOf = ({ T }: RowPass) => kernels.likelihoodScratchBytes(T);
  return {
    fillCurves: (pass) => run("fillCurves", pass, 0, (words) => writeCurves(words, places, pass)),
    likelihood: (pass) =>
      run("likelihood", pass, scratchOf(pass), (words) => writeLikelihood(words, places, pass)),
    async likelihoodTail(pass) {
      await run("likelihoodTail", pass, scratchOf(pass), (words) => writeLikelihood(words, places, pass));
    },
    // Room for one bin more: two are written at a time.
    fillCauseCurves: (pass) =>
      run("fillCauseCurves", pass, 8 * (pass.T + 1), (words) => writeCauseCurves(words, places, pass)),
    // No event in each bin, with room for one more; then what each cause has reached.
    fillFreeCurves: (pass) =>
      run("fillFreeCurves", pass, 8 * (pass.T + 1 + pass.K), (words) =>
        writeCauseCurves(words, places, pass),
      ),
    causeLikelihood: (pass) =>
      run("causeLikelihood", pass, 0, (words) => writeCauseLikelihood(words, places, pass)),
    async backThroughConditional(pass, slopes) {
      await run("backThroughConditional", pass, 16 * pass.K, (words) =>
        writeSlopes(words, places, pass, slopes),
      );
    },
    async backThroughFreeCurves(pass, slopes) {
      await run("backThroughFreeCurves", pass, 8 * (pass.T + pass.K), (words) =>
        writeSlopes(words, places, pass, slopes),
      );
    },
    replaceCurves(pass, terms, sums) {
      const words = ownJob.open(8 * pass.T);
      writeGroups(words, places, pass);
      words[ROW_TERMS] = terms === null ? 0 : doubles("terms", terms, 0);
      words[ROW_SUMS] = doubles("sums", sums, 0);
      kernels.replaceCurves(ownJob.address, 0);
    },
    backThroughCurves(pass, slopes, shares, dLogits, scale) {
      const words = ownJob.open(8 * pass.T);
      writeGroups(words, places, pass);
      words[ROW_SUMS] = doubles("slopes", slopes, 0);
      words[ROW_GROUP_SHARE] = doubles("shares", shares, 0);
      words[ROW_D_LOGITS] = floats("dLogits", dLogits, pass.N * pass.T);
      writeDouble(words, ROW_SHARE, scale);
      kernels.backThroughCurves(ownJob.address);
    },
  };
}
