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
  readonly words: Int32Array;
  /** Makes room for scratch and returns its address. */
  reserve(scratchBytes: number): number;
  /** Words not named are zero; all rows are one slot. */
  write(words: JobWords, scratch: number): void;
}

export function createOwnJob(memory: KernelMemory, areas: WorkAreas): OwnJob {
  const { address } = areas.take(JOB_WORDS * 4, false);
  const block = new Int32Array(memory.buffer, address, JOB_WORDS);
  return {
    address,
    words: block,
    reserve: (scratchBytes) => areas.place("host", scratchBytes),
    write(words, scratch) {
      block.fill(0);
      for (const place in words) block[place] = words[place];
      block[JOB_SLOTS] = 1;
      block[JOB_SCRATCH] = scratch;
    },
  };
}

const FLOAT = new Float64Array(1);
const HALVES = new Int32Array(FLOAT.buffer);

/** A float64 as two words. */
export function wordsOf(first: number, value: number): JobWords {
  FLOAT[0] = value;
  return { [first]: HALVES[0], [first + 1]: HALVES[1] };
}
