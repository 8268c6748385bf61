/**
 * The wasm backend on Node's worker threads. Relaxed SIMD (fused multiply-add) is used where the engine supports it;
 * Node 20 has it behind a flag, which is set here before the module is compiled again. `deterministic` uses plain SIMD,
 * whose every operation is defined to the last bit on any machine.
 */
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import type { KernelThread } from "../../compute/wasm/team.ts";
import { createWasmBackend, type WasmBackend } from "../../compute/wasm/wasm-backend.ts";
import type { FromKernelThread } from "../../compute/wasm/worker.ts";
import { type KernelModule, webAssembly } from "../../compute/wasm/worker.ts";
import { BackendError, InputError } from "../../core/errors.ts";
import type { Model } from "../../training/model.ts";

export interface WasmBackendOptions {
  /** By default as many as the machine runs at once. */
  readonly threads?: number;
  /** Gives the same bytes on every machine, at about three quarters of the speed. */
  readonly deterministic?: boolean;
  /** Bytes the backend's memory may grow to, 2 GiB by default and at most 4 GiB; half of them may hold activations. */
  readonly memoryLimit?: number;
}

const DEFAULT_MEMORY_LIMIT = 2 ** 31;

/** Built files are beside this file when it is compiled, under dist/ when a test runner loads it from src/. */
function builtFile(path: string): URL {
  const here = import.meta.url;
  return new URL(here.endsWith(".ts") ? `../../../dist/${path}` : `../../${path}`, here);
}

async function compileKernels(simd: "plain" | "relaxed"): Promise<KernelModule | null> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(await readFile(builtFile(`compute/kernels-${simd}.wasm`)));
  } catch (error) {
    throw new BackendError(`the ${simd} SIMD kernels cannot be read: ${(error as Error).message}`, {
      code: "kernels.missing",
      hint: "`npm run build` compiles them; a bundle has to leave graduate outside (esbuild: --packages=external)",
    });
  }
  if (!webAssembly.validate(bytes)) return null;
  return webAssembly.compile(bytes);
}

function startThread(listen: (message: FromKernelThread) => void): KernelThread {
  // Passes on none of this process's own options: some of them cannot be given to a thread.
  const worker = new Worker(builtFile("node/workers/wasm-worker.js"), { execArgv: [] });
  worker.on("message", listen);
  worker.on("error", (error) =>
    listen({ kind: "failed", what: error instanceof Error ? error.message : String(error) }),
  );
  worker.on("exit", (code) => listen({ kind: "failed", what: `it ended with exit code ${code}` }));
  return {
    start: (message) => worker.postMessage(message),
    hold: () => worker.ref(),
    release: () => worker.unref(),
    end: async () => {
      await worker.terminate();
    },
  };
}

/** Starts the SIMD backend on worker threads; close it when done. */
export async function openWasmBackend(options: WasmBackendOptions = {}): Promise<WasmBackend> {
  const threads = options.threads ?? availableParallelism();
  if (!(Number.isInteger(threads) && threads >= 1)) {
    throw new InputError(`the number of threads is not a positive whole number: ${threads}`, {
      code: "option.invalid",
    });
  }
  const memoryLimit = options.memoryLimit ?? DEFAULT_MEMORY_LIMIT;
  let module: KernelModule | null = null;
  let simd: "plain" | "relaxed" = "relaxed";
  if (options.deterministic !== true) {
    module = await compileKernels("relaxed");
    if (module === null) {
      // Set only if needed: an engine that has relaxed SIMD without the flag complains about it on standard error.
      setFlagsFromString("--experimental-wasm-relaxed-simd");
      module = await compileKernels("relaxed");
    }
  }
  if (module === null) {
    simd = "plain";
    module = await compileKernels("plain");
  }
  if (module === null) {
    throw new BackendError("this engine does not run SIMD and threads in WebAssembly", {
      code: "kernels.unsupported",
      hint: "Node 20.19 or newer does; the reference backend runs everywhere",
    });
  }
  return createWasmBackend({ module, simd, threads, memoryLimit, startThread });
}

/**
 * What computes a model's predictions: nothing for Cox, the SIMD kernels for a network; close it when done. Relaxed
 * SIMD, whose last digits depend on the machine, is used only for a model that was trained with it: one trained with
 * --deterministic predicts the same digits everywhere.
 */
export async function openBackendOf(model: Model, threads: number): Promise<WasmBackend | null> {
  if (model.predictor.kind === "cox") return null;
  const trainedWith = model.provenance?.backend;
  return openWasmBackend({ threads, deterministic: trainedWith?.simd === "plain" });
}

/** A backend for one of several runs that are made at a time, like that of the command. */
export function openLane(
  { deterministic }: { readonly deterministic?: boolean | undefined },
  threads: number,
): Promise<WasmBackend> {
  return openWasmBackend({ threads, deterministic: deterministic === true });
}
