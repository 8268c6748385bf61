/**
 * The job: a block of 32-bit words in shared memory that tells every thread what to do. Both compilers read this file,
 * so that the words are defined only once: the backend writes them, the kernels and worker.ts read them. Words are
 * numbered; a word's address is the job's address plus four times its number.
 */

/** Incremented for every job; threads sleep on it. */
export const JOB_GENERATION = 0;
/** Which kernel to run (its index in KERNELS of worker.ts), or JOB_QUIT. */
export const JOB_KERNEL = 1;
/** Threads that have not finished yet. */
export const JOB_RUNNING = 2;
/** The next free slot. A slot is a fixed range of rows, so the result does not depend on which thread takes it. */
export const JOB_NEXT_SLOT = 3;
export const JOB_SLOTS = 4;
/** Sums of each slot in float64, JOB_SLOT_BYTES apart. */
export const JOB_SLOT_SUMS = 5;
export const JOB_SLOT_BYTES = 6;
/** Scratch of each thread, JOB_SCRATCH_BYTES apart. */
export const JOB_SCRATCH = 7;
export const JOB_SCRATCH_BYTES = 8;

export const JOB_N = 9;
/** Features of the LSTM, inputs of a dense layer. */
export const JOB_D = 10;
/** Hidden units of the LSTM, outputs of a dense layer. */
export const JOB_H = 11;
export const JOB_T = 12;
export const JOB_X = 13;
/** Logits or dLogits of the LSTM, out or dOut of a dense layer. */
export const JOB_OUT = 14;
/** dX of a dense layer, 0 when it is not needed. */
export const JOB_D_X = 15;

/** The tape of the first JOB_TAPED_TILES tiles: written by the forward kernel, read by the backward kernel. */
export const JOB_TAPE = 16;
export const JOB_TAPED_TILES = 17;

/** Parameters in the order of shapes.ts: those of the LSTM, or weight and bias of a dense layer. */
export const JOB_WEIGHTS = 18;
/** Their gradients in the same order. */
export const JOB_GRADIENTS = 24;

/** The table of tanh for a dense layer that ends in tanh, otherwise 0. */
export const JOB_TANH = 30;
/** The output of a dense layer, for its backward kernel. */
export const JOB_ACTIVATED = 31;

/** Outputs of the LSTM: a curve of logits for each. */
export const JOB_OUTPUTS = 32;

export const JOB_WORDS = 33;

export const JOB_QUIT = -1;

/** Rows a tile holds: four vectors of four lanes. */
export const TILE_ROWS = 16;
