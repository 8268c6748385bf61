/**
 * The compute contract: memory, and a few operations with hand-written gradients. `reference` is plain float64 and is
 * the truth; `wasm` is float32 SIMD on worker threads; `webgpu` is float32 on a graphics device. All arrays are
 * row-major; logits of K competing causes are [N,K,T], a curve after the other, and with one cause [N,T].
 *
 * Memory. An array is a handle, named `DeviceArray` because it lies on the device that computes, so that nobody
 * mistakes it for numbers of the host. `write` copies at once; `read` is asynchronous. Only a backend that shares its
 * memory with the host has a `view`, and nobody outside this folder asks for one: memory.ts gives the host the view, or
 * else a copy to pull and push, and is the one place that knows the difference. Operations are asynchronous and run one
 * at a time; `write`, `clear` and `gatherRows` take effect in the order they are called.
 *
 * Gradients. A forward pass fills a tape, and the backward pass uses it; a pass without a tape keeps nothing. The tape
 * knows its rows and weights, which must hold the same values in both passes: what did not fit in memory is computed
 * again.
 *
 * A device with memory of its own, as WebGPU's is, implements this interface with a `view` that returns null. Every
 * network, the trainer and prediction then work, with two round trips per step: logits come to the host and dLogits go
 * back (training/host-loss.ts); gradients come and weights go back (models/networks/host-parameters.ts). Where it has
 * `training` too, a step over all rows stays on the device (device-training.ts).
 */
import type { DeviceTraining } from "./device-training.ts";
import type { RowKernels } from "./row-kernels.ts";
import type {
  AdditiveShape,
  AdditiveWeights,
  DenseShape,
  DenseWeights,
  LstmShape,
  LstmWeights,
} from "./shapes.ts";

/** Numbers in the host's memory. */
export type Floats = Float32Array | Float64Array;

/** Numbers in a backend's memory; they stay in place until they are released. */
export interface DeviceArray {
  readonly kind: "array";
  readonly length: number;
}

/** What a forward pass of the LSTM leaves for the backward pass. */
export interface LstmTape {
  readonly kind: "tape";
  /** The number of rows of the pass that filled it last; 0 before the first. */
  readonly rows: number;
}

/** The shape of a pass, which decides how many rows it takes at once. */
export interface PassShape {
  /** Time bins. */
  readonly T: number;
  /** Competing causes, each with a curve of logits; 1 where it is absent. */
  readonly K?: number;
  /** Whether the pass keeps what a backward pass needs. */
  readonly keep: boolean;
}

/** Memory and the operations that networks are made of; see the top of this file. */
export interface Backend {
  readonly name: "reference" | "wasm" | "webgpu";
  readonly precision: "f64" | "f32";
  readonly threads: number;
  /** The name of the device, where there is one beside the processor. */
  readonly adapter?: string | undefined;

  /** Loss, constraints and optimiser beside the networks, where the host does not share the memory. */
  readonly training?: DeviceTraining | undefined;

  /** Loss and group sums in float64 in the memory that the host shares, where the backend has kernels for them. */
  readonly rowKernels?: RowKernels | undefined;

  /** The most rows that one pass should take, given this backend's memory; longer tables go in parts. */
  rowsAtOnce(pass: PassShape): number;

  /** Allocates zeroed memory. */
  allocate(length: number): DeviceArray;
  /** Room for the activations of a forward pass: allocated when it is filled, for as many rows as that pass has. */
  createTape(): LstmTape;
  /** Frees memory: from now on it may be reused. */
  release(memory: DeviceArray | LstmTape): void;

  /** A copy of `count` numbers starting at `from`; all by default. */
  read(array: DeviceArray, from?: number, count?: number): Promise<Floats>;
  /** Writes numbers into the array starting at `from`; default 0. */
  write(array: DeviceArray, values: ArrayLike<number>, from?: number): void;
  /** Sets the first `count` numbers to 0; all by default. */
  clear(array: DeviceArray, count?: number): void;
  /** The array's own memory where the host shares it, otherwise null. Use memory.ts instead. */
  view(array: DeviceArray): Floats | null;
  /** Row k of `to` becomes row rows[k] of `from`; both have `width` columns. */
  gatherRows(from: DeviceArray, width: number, rows: Int32Array, to: DeviceArray): void;

  /**
   * logits[n,k,t] += w_k·h_t(x_n) + b_k, with the LSTM run once over bins 1…T on the input [x_n, t/T]; fills the tape,
   * if there is one.
   */
  lstmForward(
    shape: LstmShape,
    weights: LstmWeights,
    x: DeviceArray, // [N,D]
    N: number,
    logits: DeviceArray, // [N,K,T]
    tape: LstmTape | null,
  ): Promise<void>;
  /** gradient += ∂(Σ dLogits · logits)/∂weights for the pass that filled the tape. */
  lstmBackward(tape: LstmTape, dLogits: DeviceArray, gradient: LstmWeights): Promise<void>;

  /** out[n,o] = activation(b[o] + Σ_i W[o,i] x[n,i]). */
  denseForward(
    shape: DenseShape,
    weights: DenseWeights,
    x: DeviceArray, // [N,inputs]
    N: number,
    out: DeviceArray, // [N,outputs]
  ): Promise<void>;
  /**
   * gradient += …, and dX[n,i] = Σ_o W[o,i] dA[n,o] if dX is given, where dA is the gradient before the activation; dA
   * overwrites dOut. `out` is the output of the forward pass.
   */
  denseBackward(
    shape: DenseShape,
    weights: DenseWeights,
    x: DeviceArray, // [N,inputs]
    N: number,
    out: DeviceArray, // [N,outputs]
    dOut: DeviceArray, // [N,outputs]
    gradient: DenseWeights,
    dX: DeviceArray | null, // [N,inputs]
  ): Promise<void>;

  /** logits[n,k,t] = b_kt + w_kᵀx_n, plus what x_n's groups add in bin t (shapes.ts). */
  additiveForward(
    shape: AdditiveShape,
    weights: AdditiveWeights,
    x: DeviceArray, // [N,D]
    N: number,
    logits: DeviceArray, // [N,K,T]
  ): Promise<void>;
  /** gradient += …; needs only x, so there is no tape. */
  additiveBackward(
    shape: AdditiveShape,
    x: DeviceArray, // [N,D]
    N: number,
    dLogits: DeviceArray, // [N,K,T]
    gradient: AdditiveWeights,
  ): Promise<void>;

  /** Ends worker threads and frees memory. */
  close(): Promise<void>;
}
