/**
 * The job: a block of 32-bit words in shared memory that says what every thread is to do. This file is read by both
 * compilers, so that the words have one place only: wasm-backend.ts writes them, the kernels and worker.ts read them.
 * Words are numbered; a word's address is the job's address plus four times its number.
 */

/** Raised by one for every job; threads sleep on it. */
export const JOB_GENERATION = 0;
/** Which kernel to run (its place in KERNELS of wasm-worker.ts), or JOB_QUIT. */
export const JOB_KERNEL = 1;
/** Threads that have not finished yet. */
export const JOB_RUNNING = 2;
/** The next slot nobody has taken. A slot is a fixed range of rows, so that who takes it does not change the result. */
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
/** dX of a dense layer, 0 when nobody wants it. */
export const JOB_D_X = 15;

/** The tape of the first JOB_TAPED_TILES tiles: written by the forward kernel, read by the backward kernel. */
export const JOB_TAPE = 16;
export const JOB_TAPED_TILES = 17;

/** Parameters in the order of LstmWeights, or weight and bias of a dense layer. */
export const JOB_WEIGHTS = 18;
/** Their gradients in the same order. */
export const JOB_GRADIENTS = 24;

export const JOB_WORDS = 32;

export const JOB_QUIT = -1;

/** Rows a tile holds: four vectors of four lanes. */
export const TILE_ROWS = 16;
