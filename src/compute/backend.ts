/**
 * What a compute backend gives to the networks: memory, and a few operations with hand-written gradients. `reference` is plain
 * float64 and is the truth; `wasm` is float32 SIMD on worker threads. Operations are asynchronous because a backend may
 * run them on other threads; none of them may be called while another of the same backend is running.
 * All arrays come from `allocate`, are row-major and keep their place until they are released.
 */

export type Floats = Float32Array | Float64Array;

export interface LstmShape {
  readonly D: number; // features
  readonly H: number; // hidden units
  readonly T: number; // time bins
}

/** Gates in the order i, f, g, o; two bias vectors as in PyTorch, each with its own gradient. */
export interface LstmWeights {
  readonly input: Floats; // [4H, D+1], the last column belongs to t/T
  readonly recurrent: Floats; // [4H, H]
  readonly inputBias: Floats; // [4H]
  readonly recurrentBias: Floats; // [4H]
  readonly output: Floats; // [H]
  readonly outputBias: Floats; // [1]
}

export interface DenseWeights {
  readonly weight: Floats; // [outputs, inputs]
  readonly bias: Floats; // [outputs]
}

/** Memory and the operations that networks are made of; see the head of this file. */
export interface Backend {
  readonly name: "reference" | "wasm";
  readonly precision: "f64" | "f32";
  readonly threads: number;

  /** Zeroed memory that the operations of this backend can reach. */
  allocate(length: number): Floats;
  /** Takes an array of `allocate` back: from now on its memory may be another's. */
  release(array: Floats): void;

  /** logits[n,t] += w·h_t(x_n) + b, the LSTM run over bins 1…T on the input [x_n, t/T]. */
  lstmForward(shape: LstmShape, weights: LstmWeights, x: Floats, N: number, logits: Floats): Promise<void>;
  /** gradient += ∂(Σ dLogits · logits)/∂weights for the same x; stores or recomputes activations as it likes. */
  lstmBackward(
    shape: LstmShape,
    weights: LstmWeights,
    x: Floats,
    N: number,
    dLogits: Floats,
    gradient: LstmWeights,
  ): Promise<void>;

  /** out[n,o] = b[o] + Σ_i W[o,i] in[n,i]. */
  denseForward(
    weights: DenseWeights,
    inputs: number,
    outputs: number,
    x: Floats,
    N: number,
    out: Floats,
  ): Promise<void>;
  /** gradient += …; dX[n,i] = Σ_o W[o,i] dOut[n,o] when given. */
  denseBackward(
    weights: DenseWeights,
    inputs: number,
    outputs: number,
    x: Floats,
    N: number,
    dOut: Floats,
    gradient: DenseWeights,
    dX: Floats | null,
  ): Promise<void>;

  /** Ends worker threads and frees memory. */
  close(): Promise<void>;
}
