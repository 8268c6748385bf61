/**
 * A trained model: everything a prediction needs and everything a reader may ask about how it came to be, as plain data; never
 * a row of the table. `modelToBytes` and `modelFromBytes` are its form outside memory.
 */
import { FormatError } from "../core/errors.ts";
import type { Encoder } from "../data/encode.ts";
import type { Group } from "../data/groups.ts";
import type { OutcomeColumns } from "../data/read-outcomes.ts";
import type { TimeGridKind } from "../data/time-grid.ts";
import type { CoxPredictor } from "../models/cox-baseline.ts";
import type { NetworkSpec, ParameterValues } from "../models/create-network.ts";
import type { GroupVerdict } from "./finish.ts";
import type { TrainingOptions } from "./options.ts";

export type Method = "graduate" | "drsa" | "xcal" | "rps" | "nll" | "cox";

export interface ModelHistoryEntry {
  readonly step: number;
  readonly loss: number;
  readonly concordance: number | null;
}

export type Predictor =
  | { readonly kind: "network"; readonly network: NetworkSpec; readonly parameters: ParameterValues }
  | {
      readonly kind: "cox";
      readonly D: number;
      readonly coefficients: readonly number[];
      readonly means: readonly number[];
      readonly time: readonly number[];
      readonly cumulativeHazardAtMeans: readonly number[];
    };

export interface Model {
  readonly format: typeof MODEL_FORMAT;
  readonly version: typeof MODEL_VERSION;
  readonly method: Method;
  readonly columns: OutcomeColumns;
  readonly encoder: Encoder;
  readonly grid: { readonly kind: TimeGridKind; readonly T: number; readonly edges: readonly number[] };
  readonly groups: readonly Group[];
  readonly predictor: Predictor;
  readonly options: TrainingOptions | null;
  readonly training: {
    readonly seed: number;
    readonly backend: string;
    readonly rows: { readonly train: number; readonly valid: number; readonly test: number };
    readonly parameters: number;
    readonly steps: number;
    readonly bestStep: number;
    readonly history: readonly ModelHistoryEntry[];
    readonly verdict: readonly GroupVerdict[];
    readonly multipliers: {
      readonly start: readonly number[];
      readonly end: readonly number[];
      readonly fixedPenalty: boolean;
    } | null;
    readonly warnings: readonly string[];
  };
}

export const MODEL_FORMAT = "graduate-model";
export const MODEL_VERSION = 1;

export function modelToBytes(model: Model): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(model)}\n`);
}

export function modelFromBytes(bytes: Uint8Array, name: string): Model {
  let model: Partial<Model>;
  try {
    model = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new FormatError("not a model file, or a damaged one", { code: "model.format", where: name });
  }
  if (model === null || typeof model !== "object" || model.format !== MODEL_FORMAT) {
    throw new FormatError("not a model file", { code: "model.format", where: name });
  }
  if (model.version !== MODEL_VERSION) {
    throw new FormatError(
      `a model file of version ${model.version}, this program reads version ${MODEL_VERSION}`,
      {
        code: "model.version",
        where: name,
      },
    );
  }
  return model as Model;
}

/** A Cox predictor as its functions take it. */
export function coxPredictor(predictor: Extract<Predictor, { kind: "cox" }>): CoxPredictor {
  return {
    D: predictor.D,
    coefficients: Float64Array.from(predictor.coefficients, (value) => value ?? Number.NaN),
    means: Float64Array.from(predictor.means),
    baseline: {
      time: Float64Array.from(predictor.time),
      cumulativeHazardAtMeans: Float64Array.from(predictor.cumulativeHazardAtMeans),
    },
  };
}
