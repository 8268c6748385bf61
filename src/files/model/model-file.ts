/**
 * A model as bytes and back (docs/model-file.md): header and weights in one container. The round trip is exact: weights
 * are kept as F32 where every one of them is a float32 (what the wasm backend trains), as F64 otherwise and always for
 * Cox; and writing what was read gives the same bytes. A writer passes its output through the reader's schema, so no
 * file is written that could not be opened. `checkpoint-file.ts` does the same for an unfinished run.
 */
import type * as z from "zod";
import { FormatError } from "../../core/errors.ts";
import { parameterShapes } from "../../models/networks/network-spec.ts";
import type { ParameterValues } from "../../models/networks/parameters.ts";
import type { Model, Predictor } from "../../training/model.ts";
import { decodeJson, encodeJson, packSections, UNREADABLE, unpackSections } from "../container/container.ts";
import { readSafetensors, type Tensor, writeSafetensors } from "../container/safetensors.ts";
import { checkNames, checkShape, refuseWeights } from "./check-tensors.ts";
import { isAscending, modelHeaderSchema } from "./model-schema.ts";
import { explainIssue } from "./schema-parts.ts";
import {
  describeUncertainty,
  divideTensors,
  readUncertainty,
  uncertaintyTensors,
} from "./uncertainty-file.ts";

const PARAMETERS = "parameters.";
const COX = ["coefficients", "means", "time", "cumulativeHazardAtMeans"] as const;

/** A model as the bytes of a file; the same model gives the same bytes. */
export function modelToBytes(model: Model): Uint8Array {
  const { predictor, uncertainty, metrics, ...rest } = model;
  const where = "the model to be written";
  const header = checkHeader(
    modelHeaderSchema,
    {
      kind: "model",
      predictor: describe(predictor),
      ...(uncertainty && { uncertainty: describeUncertainty(uncertainty) }),
      ...rest,
      // As `--json` prints them: there, what is not a number is null rather than a word.
      ...(metrics && { metrics: JSON.parse(JSON.stringify(metrics)) }),
    },
    where,
  );
  const weights = predictorTensors(predictor);
  readPredictor(header.predictor, weights, where);
  const ofBands = uncertainty === undefined ? new Map<string, Tensor>() : uncertaintyTensors(uncertainty);
  readUncertainty(header, ofBands, where);
  for (const [name, tensor] of ofBands) weights.set(name, tensor);
  return packSections({ header: encodeJson(header), weights: writeSafetensors(weights) });
}

/** `name` is the file's name in errors. */
export function modelFromBytes(bytes: Uint8Array, name: string): Model {
  const { version, header, weights } = openSections(bytes, name, "model");
  const current = updateHeader(header, version);
  const parsed = parseHeader(modelHeaderSchema, current, name);
  const { kind: _, predictor, uncertainty: __, ...rest } = parsed;
  const { ofBands, others } = divideTensors(weights);
  const uncertainty = readUncertainty(parsed, ofBands, name);
  return {
    ...rest,
    predictor: readPredictor(predictor, others, name),
    ...(uncertainty && { uncertainty }),
  };
}

type DescribedPredictor = z.output<typeof modelHeaderSchema>["predictor"];

function describe(predictor: Predictor): DescribedPredictor {
  if (predictor.kind === "cox") return { kind: "cox", D: predictor.D };
  return { kind: "network", network: predictor.network };
}

function predictorTensors(predictor: Predictor): Map<string, Tensor> {
  if (predictor.kind === "network") {
    return parameterTensors(PARAMETERS, predictor.parameters, parameterShapes(predictor.network));
  }
  return new Map(
    COX.map((name) => [
      `cox.${name}`,
      { type: "F64", shape: [predictor[name].length], values: predictor[name] },
    ]),
  );
}

function readPredictor(
  described: DescribedPredictor,
  tensors: ReadonlyMap<string, Tensor>,
  where: string,
): Predictor {
  if (described.kind === "network") {
    const shapes = parameterShapes(described.network);
    checkNames(tensors, new Set([...shapes.keys()].map((name) => PARAMETERS + name)), where);
    const parameters = takeParameters(tensors, PARAMETERS, where);
    for (const [name, shape] of shapes) checkShape(tensors, PARAMETERS + name, shape, where);
    return { ...described, parameters };
  }
  const { D } = described;
  checkNames(tensors, new Set(COX.map((name) => `cox.${name}`)), where);
  const take = (name: (typeof COX)[number], shape: readonly number[]) =>
    Array.from(checkShape(tensors, `cox.${name}`, shape, where).values);
  // A coefficient is NaN where the fit left its column out.
  const coefficients = take("coefficients", [D]);
  const means = take("means", [D]);
  const times = tensors.get("cox.time")?.values.length ?? 0;
  const time = take("time", [times]);
  const cumulativeHazardAtMeans = take("cumulativeHazardAtMeans", [times]);
  const flaw = findCoxFlaw({ coefficients, means, time, cumulativeHazardAtMeans });
  if (flaw !== null) throw refuseWeights(`numbers a Cox model cannot have: ${flaw}`, where);
  return { kind: "cox", D, coefficients, means, time, cumulativeHazardAtMeans };
}

/** A cumulative hazard starts at 0 or above and never falls: otherwise survival would leave 0 to 1, or rise. */
function findCoxFlaw(cox: Readonly<Record<(typeof COX)[number], readonly number[]>>): string | null {
  const { coefficients, means, time, cumulativeHazardAtMeans: hazard } = cox;
  if (coefficients.some((value) => Math.abs(value) === Number.POSITIVE_INFINITY))
    return "a coefficient is infinite";
  if ([means, time, hazard].some((list) => !list.every(Number.isFinite)))
    return "a mean, time or hazard is not finite";
  if (time.length > 0 && time[0] < 0) return "an event time is below 0";
  if (!isAscending(time)) return "event times do not ascend";
  if (hazard.some((value, k) => value < (k === 0 ? 0 : hazard[k - 1])))
    return "the cumulative hazard falls, or is below 0";
  return null;
}

/** F32 where that loses nothing. Without shapes the tensors are flat. */
export function parameterTensors(
  prefix: string,
  values: Readonly<Record<string, readonly number[]>>,
  shapes: ReadonlyMap<string, readonly number[]> | null = null,
): Map<string, Tensor> {
  const isSingle = Object.values(values).every((list) =>
    list.every((value) => Object.is(Math.fround(value), value)),
  );
  return new Map(
    Object.entries(values).map(([name, list]) => {
      const shape = shapes?.get(name) ?? [list.length];
      return [prefix + name, { type: isSingle ? "F32" : "F64", shape, values: list }];
    }),
  );
}

/** The parameters whose names begin with the prefix; all must be finite. */
export function takeParameters(
  tensors: ReadonlyMap<string, Tensor>,
  prefix: string,
  where: string,
): ParameterValues {
  const entries = [...tensors]
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, { values }]): [string, number[]] => {
      const list = Array.from(values);
      if (!list.every(Number.isFinite))
        throw refuseWeights(`"${name}" has values that are not finite`, where);
      return [name.slice(prefix.length), list];
    });
  return Object.fromEntries(entries);
}

/** Container, kind and weights; the header is parsed as JSON but not yet checked further. */
export function openSections(
  bytes: Uint8Array,
  where: string,
  kind: "model" | "checkpoint" | "part",
): { readonly version: number; readonly header: unknown; readonly weights: Map<string, Tensor> } {
  const sections = unpackSections(bytes, where);
  const header = decodeJson(sections.header, "the header", where);
  const found = typeof header === "object" && header !== null && "kind" in header ? header.kind : undefined;
  if (kind === "model" && found === "checkpoint") {
    throw new FormatError("a checkpoint of an unfinished run, not a model", {
      code: "model.kind",
      where,
      hint: "to finish the run, repeat its `graduate train` command with --resume",
    });
  }
  if (kind !== "part" && found === "part") {
    throw new FormatError(`a part of an ensemble, not a ${kind}`, {
      code: "model.kind",
      where,
      hint: "the `graduate train` command that made it, without --shard, makes the model once all parts are there",
    });
  }
  if (kind === "part" && (found === "model" || found === "checkpoint")) {
    throw new FormatError(`a ${found}, not a part of an ensemble`, {
      code: "model.kind",
      where,
      hint: "`graduate train … --shard i/n` makes a part",
    });
  }
  if (kind === "checkpoint" && found === "model") {
    throw new FormatError("a finished model, not a checkpoint", {
      code: "model.kind",
      where,
      hint: "only an unfinished run can be resumed",
    });
  }
  return { version: sections.version, header, weights: readSafetensors(sections.weights, where) };
}

export function parseHeader<T>(schema: z.ZodType<T>, header: unknown, where: string): T {
  const result = schema.safeParse(header);
  if (result.success) return result.data;
  throw new FormatError(`the header is not as it should be: ${explainIssue(result.error)}`, {
    code: "model.header",
    where,
    hint: UNREADABLE,
  });
}

/** The header as a reader will see it: through JSON and the schema, which also puts the fields in order. */
export function checkHeader<T>(schema: z.ZodType<T>, header: object, where: string): T {
  return parseHeader(schema, decodeJson(encodeJson(header), "the header", where), where);
}

/** The first version with the present names, and the first with the present verdicts. */
const PRESENT_NAMES = 3;
const PRESENT_VERDICTS = 4;
const SETS = { valid: "validation" } as const;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Converts headers of earlier versions to the present field names. Files before version 3 call the distance of a
 * constraint `kind` and the validation rows `valid`; files before version 4 have verdicts without a solve. The schema
 * reports anything else that is wrong with a header.
 */
function updateHeader(header: unknown, version: number): unknown {
  if (version >= PRESENT_VERDICTS || !isObject(header)) return header;
  const named = version >= PRESENT_NAMES ? header : updateNames(header);
  const { training } = named;
  if (!isObject(training) || !Array.isArray(training.verdict)) return named;
  return { ...named, training: { ...training, verdict: training.verdict.map(updateVerdict) } };
}

/** Runs of those versions were not solved. Whom they were not told of they did not say: `told` stands for all. */
function updateVerdict(verdict: unknown): unknown {
  if (!isObject(verdict)) return verdict;
  const { group, n, events, slack, train, met, reason } = verdict;
  return {
    group,
    told: true,
    n,
    events,
    slack,
    distance: { solve: train, fresh: null },
    fresh: null,
    status: met === null ? "unsupported" : met === true ? "met" : "unmet",
    reachable: null,
    price: null,
    reason,
  };
}

function updateNames(header: Fields): Fields {
  const { options, training } = header;
  return {
    ...header,
    ...(isObject(options) ? { options: updateField(options, "constraint", { kind: "distance" }) } : {}),
    ...(isObject(training)
      ? { training: updateField(updateField(training, "rows", SETS), "people", SETS) }
      : {}),
  };
}

/**
 * The object with fields renamed in one of its inner objects, their order kept. A version spells a field in one way
 * only: the present spelling in an earlier version is left out, and the schema then reports it missing.
 */
function updateField(object: Fields, name: string, names: Readonly<Record<string, string>>): Fields {
  const field = object[name];
  if (!isObject(field)) return object;
  const present = new Set(Object.values(names));
  const renamed = Object.entries(field)
    .filter(([key]) => !present.has(key))
    .map(([key, value]) => [Object.hasOwn(names, key) ? names[key] : key, value]);
  return { ...object, [name]: Object.fromEntries(renamed) };
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
