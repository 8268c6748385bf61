/**
 * Jobs that a wasm backend runs by itself, in the thread that called it: work of a fraction of a millisecond, for which
 * the threads would take as long to wake. They have a job block and scratch of their own, so that they may run while
 * the threads have a job, too.
 */
import { JOB_SCRATCH, JOB_SLOTS, JOB_WORDS } from "./kernels/job.ts";
import type { WorkAreas } from "./memory.ts";
import type { JobWords } from "./team.ts";
import type { KernelMemory } from "./worker.ts";

export interface OwnJob {
  readonly address: number;
  /** The block, with zeros in all words but those of the one slot and of the scratch, which has so many bytes. */
  open(scratchBytes: number): Int32Array;
}

export function createOwnJob(memory: KernelMemory, areas: WorkAreas): OwnJob {
  const { address } = areas.take(JOB_WORDS * 4, false);
  const words = new Int32Array(memory.buffer, address, JOB_WORDS);
  return {
    address,
    open(scratchBytes) {
      words.fill(0);
      words[JOB_SLOTS] = 1;
      words[JOB_SCRATCH] = areas.place("host", scratchBytes);
      return words;
    },
  };
}

const FLOAT = new Float64Array(1);
const HALVES = new Int32Array(FLOAT.buffer);

/** Writes a float64 as two words. */
export function writeDouble(words: JobWords | Int32Array, first: number, value: number): void {
  FLOAT[0] = value;
  words[first] = HALVES[0];
  words[first + 1] = HALVES[1];
}
