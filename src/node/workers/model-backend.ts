/**
 * What computes a model's predictions: nothing for Cox, the SIMD kernels for a network. Relaxed SIMD, whose last digits
 * depend on the machine, is used only for a model that was trained with it: one trained with --deterministic predicts
 * the same digits everywhere.
 */
import type { WasmBackend } from "../../compute/wasm/wasm-backend.ts";
import type { Model } from "../../training/model.ts";
import { openWasmBackend } from "./wasm-backend.ts";

/** Close it when done. */
export async function openBackendOf(model: Model, threads: number): Promise<WasmBackend | null> {
  if (model.predictor.kind === "cox") return null;
  const trainedWith = model.provenance?.backend;
  return openWasmBackend({ threads, deterministic: trainedWith?.simd === "plain" });
}
