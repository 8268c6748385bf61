/**
 * What one thread of the wasm backend runs, both in Node's worker threads and in web workers: one message starts it; it
 * then sleeps on the job block in shared memory, runs the kernel named there and sleeps again. It receives no further
 * message. The thread that finishes last adds up the slots' sums and reports. The kernels decide which rows a thread
 * computes, slot by slot; results do not depend on it.
 */

import { JOB_GENERATION, JOB_KERNEL, JOB_QUIT, JOB_RUNNING, JOB_WORDS } from "./kernels/job.ts";

// The part of the WebAssembly API that is used here: TypeScript has it only as part of the browser's whole library,
// which the files for Node do not include.

export interface KernelMemory {
  readonly buffer: SharedArrayBuffer;
  grow(pages: number): number;
}

/** Compiled code; can be sent to other threads. */
export interface KernelModule {
  readonly [Symbol.toStringTag]: string;
}

interface WebAssemblyApi {
  readonly Memory: new (size: { initial: number; maximum: number; shared: true }) => KernelMemory;
  readonly Instance: new (
    module: KernelModule,
    imports: { readonly env: { readonly memory: KernelMemory } },
  ) => { readonly exports: unknown };
  validate(bytes: Uint8Array): boolean;
  compile(bytes: Uint8Array): Promise<KernelModule>;
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;

/** A kernel's index is its number in a job; `finish` runs once after all threads. */
export const KERNELS = [
  { run: "lstmForward", finish: null },
  { run: "lstmBackward", finish: "lstmGradient" },
  { run: "denseForward", finish: null },
  { run: "denseBackward", finish: "denseGradient" },
  { run: "fillCurves", finish: null },
  { run: "likelihood", finish: null },
  { run: "likelihoodTail", finish: null },
  { run: "fillCauseCurves", finish: null },
  { run: "causeLikelihood", finish: null },
  { run: "backThroughConditional", finish: null },
  { run: "fillFreeCurves", finish: null },
  { run: "backThroughFreeCurves", finish: null },
] as const;

export type KernelName = (typeof KERNELS)[number]["run"];
/** Those over rows in float64, which a backend also runs by itself. */
export type RowKernelName = Exclude<KernelName, `${"lstm" | "dense"}${string}`>;

/** What the kernels' module.ts exports; addresses and sizes are bytes in 32 bits. */
export interface KernelExports {
  lstmForward(job: number, thread: number): void;
  lstmBackward(job: number, thread: number): void;
  lstmGradient(job: number): void;
  denseForward(job: number, thread: number): void;
  denseBackward(job: number, thread: number): void;
  denseGradient(job: number): void;
  fillCurves(job: number, thread: number): void;
  likelihood(job: number, thread: number): void;
  likelihoodTail(job: number, thread: number): void;
  fillCauseCurves(job: number, thread: number): void;
  causeLikelihood(job: number, thread: number): void;
  backThroughConditional(job: number, thread: number): void;
  fillFreeCurves(job: number, thread: number): void;
  backThroughFreeCurves(job: number, thread: number): void;
  replaceCurves(job: number, thread: number): void;
  backThroughCurves(job: number): void;
  additiveForward(job: number): void;
  additiveBackward(job: number): void;
  likelihoodScratchBytes(T: number): number;
  additiveScratchBytes(D: number, T: number, G: number, K: number): number;
  lstmScratchBytes(D: number, H: number, T: number, K: number, backward: boolean): number;
  lstmSlotBytes(D: number, H: number, K: number): number;
  lstmTapeBytes(H: number, T: number): number;
  denseScratchBytes(inputs: number, outputs: number): number;
  denseSlotBytes(inputs: number, outputs: number): number;
  activate(x: number, sigmoids: number, tanhs: number, count: number, constants: number): void;
  chainMultiplyAdds(count: number): number;
}

export interface StartKernels {
  readonly kind: "start";
  readonly module: KernelModule;
  readonly memory: KernelMemory;
  /** The address of the job block. */
  readonly job: number;
  readonly thread: number;
}

export type FromKernelThread =
  | { readonly kind: "ready" }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly what: string };

export function instantiateKernels(module: KernelModule, memory: KernelMemory): KernelExports {
  return new webAssembly.Instance(module, { env: { memory } }).exports as unknown as KernelExports;
}

/** Returns when the job says quit, or after a failure. */
export function serveKernels(start: StartKernels, report: (message: FromKernelThread) => void): void {
  const { module, memory, job, thread } = start;
  const words = new Int32Array(memory.buffer, job, JOB_WORDS);
  let seen = Atomics.load(words, JOB_GENERATION);
  try {
    const kernels = instantiateKernels(module, memory);
    report({ kind: "ready" });
    for (;;) {
      Atomics.wait(words, JOB_GENERATION, seen);
      const generation = Atomics.load(words, JOB_GENERATION);
      if (generation === seen) continue;
      seen = generation;
      const number = Atomics.load(words, JOB_KERNEL);
      if (number === JOB_QUIT) return;
      const { run, finish } = KERNELS[number];
      kernels[run](job, thread);
      if (Atomics.sub(words, JOB_RUNNING, 1) > 1) continue;
      if (finish !== null) kernels[finish](job);
      report({ kind: "done" });
    }
  } catch (error) {
    report({ kind: "failed", what: error instanceof Error ? error.message : String(error) });
  }
}
