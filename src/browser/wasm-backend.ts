/**
 * The wasm backend on web workers, for a page or one of its workers: the same kernels, memory and results as in Node.
 * The threads share one memory, which a browser allows only on a cross-origin isolated page, that is, one served with
 * the two headers named below; even one thread needs them. Kernels and the worker's script are fetched from where the
 * package's built files are, by addresses relative to this file, which bundlers follow.
 */
import type { KernelThread } from "../compute/wasm/team.ts";
import { createWasmBackend, type WasmBackend } from "../compute/wasm/wasm-backend.ts";
import type { FromKernelThread } from "../compute/wasm/worker.ts";
import { type KernelModule, webAssembly } from "../compute/wasm/worker.ts";
import { BackendError, InputError } from "../core/errors.ts";

/** Threads, memory and reproducibility of a backend. */
export interface WasmBackendOptions {
  /** Default: as many as the machine runs at once. */
  readonly threads?: number;
  /** The same bytes on every machine, at about three quarters of the speed. */
  readonly deterministic?: boolean;
  /** Bytes the backend's memory may grow to; default 2 GiB, at most 4 GiB. Half of them may hold activations. */
  readonly memoryLimit?: number;
  /**
   * The folder that `wasm-worker.js`, `kernels-plain.wasm` and `kernels-relaxed.wasm` are served from, relative to the
   * page; for bundlers that do not follow a module's relative addresses, such as esbuild.
   */
  readonly files?: string | URL;
}

const DEFAULT_MEMORY_LIMIT = 2 ** 31;

/** The first bytes of every WebAssembly module, "\0asm". */
const MAGIC = [0x00, 0x61, 0x73, 0x6d];

/** Addresses in the form that bundlers follow. */
const KERNELS = {
  plain: new URL("../compute/kernels-plain.wasm", import.meta.url),
  relaxed: new URL("../compute/kernels-relaxed.wasm", import.meta.url),
};

/** A file in the folder that the caller names. */
function fileIn(folder: string | URL, name: string): URL {
  return new URL(name, new URL(String(folder).replace(/\/?$/, "/"), globalThis.location.href));
}

function refuseKernels(url: URL, what: string): BackendError {
  return new BackendError(`the kernels cannot be fetched: ${what}`, {
    code: "kernels.missing",
    where: url.href,
    hint: "serve the package's dist folder whole, its .wasm files included, or name the folder they are in (files)",
  });
}

async function fetchKernels(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`status ${response.status}`);
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw refuseKernels(url, error instanceof Error ? error.message : String(error));
  }
  // Some servers answer every unknown address with their start page.
  if (!MAGIC.every((byte, k) => bytes[k] === byte)) throw refuseKernels(url, "not a WebAssembly file");
  return bytes;
}

async function compileKernels(
  simd: "plain" | "relaxed",
  { files }: WasmBackendOptions,
): Promise<KernelModule | null> {
  const url = files === undefined ? KERNELS[simd] : fileIn(files, `kernels-${simd}.wasm`);
  const bytes = await fetchKernels(url);
  if (!webAssembly.validate(bytes)) return null;
  return webAssembly.compile(bytes);
}

function openWorker({ files }: WasmBackendOptions): Worker {
  // Written out: this is the form that bundlers follow.
  return files === undefined
    ? new Worker(new URL("./wasm-worker.js", import.meta.url), { type: "module" })
    : new Worker(fileIn(files, "wasm-worker.js"), { type: "module" });
}

function startThread(worker: Worker, listen: (message: FromKernelThread) => void): KernelThread {
  worker.addEventListener("message", (event: MessageEvent<FromKernelThread>) => listen(event.data));
  worker.addEventListener("messageerror", () =>
    listen({ kind: "failed", what: "a message could not be read" }),
  );
  worker.addEventListener("error", (event) => {
    // A script that fails to load gives an event without a message.
    const what = event.message || "its script, wasm-worker.js, could not be loaded";
    listen({ kind: "failed", what });
  });
  return {
    start: (message) => worker.postMessage(message),
    // A page does not end before its workers, so there is nothing to keep alive.
    hold: () => {},
    release: () => {},
    end: async () => worker.terminate(),
  };
}

/** Starts the SIMD backend on worker threads of a page; close it when done. */
export async function openWasmBackend(options: WasmBackendOptions = {}): Promise<WasmBackend> {
  if (globalThis.crossOriginIsolated !== true) {
    throw new BackendError(
      "this page may not share memory between threads: it is not cross-origin isolated",
      {
        code: "page.notIsolated",
        hint:
          "serve it with the headers `Cross-Origin-Opener-Policy: same-origin` and " +
          "`Cross-Origin-Embedder-Policy: require-corp`, over https or from localhost; " +
          "the reference backend runs everywhere",
      },
    );
  }
  const threads = options.threads ?? navigator.hardwareConcurrency;
  if (!(Number.isInteger(threads) && threads >= 1)) {
    throw new InputError(`the number of threads is not a positive whole number: ${threads}`, {
      code: "option.invalid",
    });
  }
  const memoryLimit = options.memoryLimit ?? DEFAULT_MEMORY_LIMIT;
  let simd: "plain" | "relaxed" = "relaxed";
  let module = options.deterministic === true ? null : await compileKernels("relaxed", options);
  if (module === null) {
    simd = "plain";
    module = await compileKernels("plain", options);
  }
  if (module === null) {
    throw new BackendError("this browser does not run SIMD and threads in WebAssembly", {
      code: "kernels.unsupported",
      hint: "current ones do; the reference backend runs everywhere",
    });
  }
  return createWasmBackend({
    module,
    simd,
    threads,
    memoryLimit,
    startThread: (listen) => startThread(openWorker(options), listen),
  });
}
