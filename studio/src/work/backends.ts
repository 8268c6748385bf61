/**
 * What computes: WebAssembly threads where the page may share memory, the graphics device where it is asked for or is
 * all there is, and otherwise one plain thread, which is slow and said to be. Opened once and kept.
 */
import { type Backend, createReferenceBackend } from "graduate-survival";
import { openWasmBackend, openWebGpuBackend } from "graduate-survival/browser";
import type { TrainChoices } from "../protocol.ts";

type Wanted = Pick<TrainChoices, "backend" | "deterministic">;

export interface OpenBackend {
  readonly backend: Backend;
  /** In words: "WebAssembly, 8 threads". */
  readonly words: string;
}

/** A keeper of one backend: the next that is asked for replaces it. */
export function createBackends(): { open(wanted: Wanted): Promise<OpenBackend>; close(): Promise<void> } {
  let kept: { readonly key: string; readonly opened: OpenBackend } | null = null;
  async function close(): Promise<void> {
    await kept?.opened.backend.close();
    kept = null;
  }
  return {
    async open(wanted) {
      const key = `${wanted.backend} ${wanted.deterministic}`;
      if (kept?.key === key) return kept.opened;
      await close();
      kept = { key, opened: await openOne(wanted) };
      return kept.opened;
    },
    close,
  };
}

async function openOne({ backend: asked, deterministic }: Wanted): Promise<OpenBackend> {
  if (asked === "webgpu" || (asked === "wasm" && !isIsolated() && (await hasGraphics()))) {
    const backend = await openWebGpuBackend();
    return { backend, words: `WebGPU, ${backend.adapter ?? "a graphics device"}` };
  }
  if (asked === "reference" || !isIsolated()) {
    const why = isIsolated() ? "" : " (this page was not sent with the headers that threads need)";
    return { backend: createReferenceBackend(), words: `one plain thread, slow${why}` };
  }
  const backend = await openWasmBackend({ deterministic });
  return {
    backend,
    words: `WebAssembly, ${backend.threads} ${backend.threads === 1 ? "thread" : "threads"}`,
  };
}

/** Another backend of WebAssembly threads, for a run of an ensemble that is made beside others. */
export function openLane(
  { deterministic }: Pick<Wanted, "deterministic">,
  threads: number,
): Promise<Backend> {
  return openWasmBackend({ deterministic, threads });
}

function isIsolated(): boolean {
  return globalThis.crossOriginIsolated === true;
}

async function hasGraphics(): Promise<boolean> {
  const { gpu } = navigator as { readonly gpu?: { requestAdapter(): Promise<unknown> } };
  return gpu !== undefined && (await gpu.requestAdapter().catch(() => null)) !== null;
}
