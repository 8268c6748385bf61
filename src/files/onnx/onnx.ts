/**
 * A model as an ONNX file, which Python, R, C++ and a dozen other places run without this library: features in,
 * survival [N,T] out, and of several causes the incidence of each [N,K,T]. Two forms: x, the encoded features as one
 * float input [N,D]; and raw, one input per column of the table, with the whole encoding inside. A row that `predict`
 * would refuse comes out as NaN in every bin. Names, scaling and the time grid are in the file's metadata, as JSON. The
 * other contents of a model file (options, history, verdict) are left out.
 */

import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { ColumnEncoding } from "../../data/encode/encoder.ts";
import { type ScoreLine, SPLINE_COLUMNS } from "../../data/encode/spline.ts";
import { groupColumnName } from "../../data/groups/groups.ts";
import type { Model } from "../../training/model.ts";
import { describeInput, rawColumnsOf } from "./columns.ts";
import { encodeToOnnx } from "./encode.ts";
import { createOnnxGraph } from "./graph.ts";
import { predictorToOnnx } from "./predictor.ts";
import type { OnnxValue } from "./writer.ts";

/** What the exported model takes. */
export interface OnnxOptions {
  /** Take the columns of the table as they are, instead of x; default false. */
  readonly raw?: boolean;
}

/** An exported model: its bytes, inputs and output. */
export interface OnnxFile {
  readonly bytes: Uint8Array;
  readonly inputs: readonly OnnxValue[];
  /** Survival [N,T]. */
  readonly output: OnnxValue;
  /** The incidence of each cause [N,K,T], where the model has several. */
  readonly incidence?: OnnxValue;
}

/** Exports a model for onnxruntime. */
export function modelToOnnx(model: Model, options: OnnxOptions = {}): OnnxFile {
  const { encoder, inputGroups, grid, predictor } = model;
  const { names } = encoder;
  const D = predictor.kind === "cox" ? predictor.D : predictor.network.D;
  if (D !== names.length) {
    throw new InputError(`the model takes ${D} features and its encoder gives ${names.length}`, {
      code: "onnx.features",
      hint: "the model was put together by hand: take one that train made",
    });
  }
  const inputs: readonly OnnxValue[] = options.raw
    ? rawColumnsOf(encoder, inputGroups).map(describeInput)
    : [{ name: "x", type: "float", shape: ["N", D], about: `encoded features: ${names.join(", ")}` }];
  const graph = createOnnxGraph(inputs);
  const x = options.raw ? encodeToOnnx(graph, encoder, inputGroups) : "x";
  const output: OnnxValue = {
    name: graph.freeName("survival"),
    type: "float",
    shape: ["N", grid.T],
    about: "probability to be event-free at the end of each time bin; NaN for a row that cannot be used",
  };
  const curves = predictorToOnnx(graph, predictor, x, grid.edges);
  const about = {
    producer: { name: "graduate", version: model.provenance?.version ?? "" },
    name: model.method,
    about:
      `Survival curves (${model.method}) of ${model.columns.time} to ${model.columns.event}; ` +
      "see the metadata for features and times",
    metadata: describeModel(model),
  };
  if (curves.incidence === null)
    return { bytes: graph.finish(curves.survival, output, about), inputs, output };
  const { causes = [] } = model;
  const incidence: OnnxValue = {
    name: graph.freeName("incidence"),
    type: "float",
    shape: ["N", causes.length, grid.T],
    about: `probability of an event of each cause by the end of each time bin: ${causes.join(", ")}`,
  };
  const more = [{ result: curves.incidence, output: incidence }];
  return { bytes: graph.finish(curves.survival, output, about, more), inputs, output, incidence };
}

/** Metadata values of an ONNX file are texts; all but two of ours are JSON. */
function describeModel(model: Model): Record<string, string> {
  const { method, columns, encoder, grid, groups, training, provenance, causes } = model;
  const lists = {
    features: describeFeatures(model),
    times: grid.edges.slice(1),
    outcome: columns,
    ...(causes && { causes }),
    unknownLevels: encoder.unknownLevels,
    groups,
    training: { seed: training.seed, rows: training.rows },
    ...(provenance && { provenance }),
  };
  return {
    format: "graduate-onnx 1",
    method,
    ...Object.fromEntries(Object.entries(lists).map(([key, value]) => [key, JSON.stringify(value)])),
  };
}

/**
 * One column of x: a scaled number (value − mean) / sd, with the median where it is missing; a 0/1, with the majority
 * where it is missing; an indicator that is 1 where a level or any of several is met, a value is missing, or a row is
 * in a group, or a number has a `value`; or a spline of a number (data/encode/spline.ts), whose normal score is
 * interpolated between `scores` at the values `at`. A number with `logFloor` enters as
 * sign·log(max(sign·(value − logFrom), logFloor)) in place of its value, with logFrom 0 and the sign `logSign` 1 unless
 * they are given.
 */
export type OnnxFeature = { readonly name: string; readonly column: string } & (
  | {
      readonly type: "number" | "date";
      readonly median: number;
      readonly mean: number;
      readonly sd: number;
      readonly logFloor?: number;
      readonly logFrom?: number;
      readonly logSign?: -1;
    }
  | { readonly type: "code"; readonly value: number; readonly median: number }
  | { readonly type: "boolean"; readonly majority: 0 | 1 }
  | { readonly type: "level"; readonly level: string }
  | { readonly type: "levels"; readonly levels: readonly string[] }
  | ({ readonly type: "spline"; readonly part: number } & ScoreLine)
  | { readonly type: "missing" }
  | { readonly type: "group"; readonly expression: string }
);

export function describeFeatures({
  encoder,
  inputGroups,
}: Pick<Model, "encoder" | "inputGroups">): OnnxFeature[] {
  const expressions = new Map(inputGroups.map((group) => [groupColumnName(group), group.expression]));
  const parts = encoder.columns.flatMap((encoding): Unnamed<OnnxFeature>[] => {
    const { column } = encoding;
    const expression = expressions.get(column);
    return expression === undefined ? describeColumn(encoding) : [{ column, type: "group", expression }];
  });
  return parts.map((part, d) => ({ name: encoder.names[d], ...part }));
}

type Unnamed<F> = F extends unknown ? Omit<F, "name"> : never;

function describeColumn(encoding: ColumnEncoding): Unnamed<OnnxFeature>[] {
  const { column, type } = encoding;
  const missing = { column, type: "missing" } as const;
  if (type === "category") {
    const { levels, pooled = [], otherLevel = false } = encoding;
    const all = [
      ...levels.map((level) => ({ column, type: "level", level }) as const),
      ...(otherLevel ? [{ column, type: "levels", levels: pooled } as const] : []),
      ...(encoding.missingLevel ? [missing] : []),
    ];
    return encoding.dropFirst ? all.slice(1) : all;
  }
  const missingToo = encoding.missingIndicator ? [missing] : [];
  if (type === "boolean") return [{ column, type, majority: encoding.majority }, ...missingToo];
  const { median, mean, sd, logFloor, logFrom, logSign, spline, codes = [] } = encoding;
  return [
    { column, type, median, mean, sd, ...present({ logFloor, logFrom, logSign }) },
    ...missingToo,
    ...(spline
      ? Array.from(
          { length: SPLINE_COLUMNS },
          (_, part) => ({ column, type: "spline", part, ...spline }) as const,
        )
      : []),
    ...codes.map((value) => ({ column, type: "code", value, median }) as const),
  ];
}
