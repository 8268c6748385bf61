/**
 * Some runs of an ensemble as bytes and back, in the container of the model file: what a shard leaves for the command
 * that joins the parts. Weights are members.2.NAME, as in a checkpoint; the part with the ensemble's last run also
 * holds the header that run's model would have. Whether a part belongs to a run is the caller's to compare.
 */
import * as z from "zod";
import { memberParameter } from "../../models/networks/mean.ts";
import type { EnsemblePart } from "../../training/model.ts";
import { encodeJson, packSections } from "../container/container.ts";
import { writeSafetensors } from "../container/safetensors.ts";
import { refuseWeights } from "./check-tensors.ts";
import { MEMBERS, memberSchema, readMembers } from "./checkpoint-file.ts";
import { checkHeader, openSections, parameterTensors, parseHeader } from "./model-file.ts";
import { modelHeaderSchema } from "./model-schema.ts";
import { count, list } from "./schema-parts.ts";

/** A part of an ensemble and what it is a part of. */
export interface SavedPart extends EnsemblePart {
  /** What the ensemble was asked, as text to compare. */
  readonly run: string;
  /** Version of the package that made it. */
  readonly version: string;
  /** Whether it was made with --deterministic. */
  readonly deterministic: boolean;
  /** Which of how many parts it is, from 1. */
  readonly index: number;
  readonly count: number;
}

const partHeaderSchema = z
  .strictObject({
    kind: z.literal("part"),
    run: z.string(),
    version: z.string(),
    deterministic: z.boolean(),
    index: z.int().min(1),
    count: z.int().min(1),
    places: z.array(count),
    members: list(memberSchema),
    last: modelHeaderSchema.nullable(),
  })
  .refine(({ index, count: of }) => index <= of, {
    path: ["index"],
    message: "expected a place among the parts",
  })
  .refine(({ places, members }) => places.length === members.length, {
    path: ["places"],
    message: "expected a place for every run",
  });

/** A part as the bytes of a file. */
export function partToBytes({ members, last, ...part }: SavedPart): Uint8Array {
  const header = checkHeader(
    partHeaderSchema,
    {
      kind: "part",
      ...part,
      places: members.map(({ place }) => place),
      members: members.map(({ network, steps }) => ({ network, steps })),
      last: last && describeLast(last),
    },
    "the part to be written",
  );
  const tensors = members.flatMap((one, m) => [
    ...parameterTensors(MEMBERS + memberParameter(m, ""), one.parameters),
  ]);
  return packSections({ header: encodeJson(header), weights: writeSafetensors(new Map(tensors)) });
}

/** The header of the model: its weights are those of the part's last member. */
function describeLast({ predictor, uncertainty: _, ...rest }: NonNullable<EnsemblePart["last"]>) {
  if (predictor.kind !== "network") return null;
  return { kind: "model", ...rest, predictor: { kind: "network", network: predictor.network } };
}

/** `name` is the file's name in errors. */
export function partFromBytes(bytes: Uint8Array, name: string): SavedPart {
  const { header, weights } = openSections(bytes, name, "part");
  const { kind: _, places, members, last, ...part } = parseHeader(partHeaderSchema, header, name);
  for (const key of weights.keys())
    if (!key.startsWith(MEMBERS)) throw refuseWeights(`"${key.slice(0, 60)}" is none of a part's`, name);
  const read = readMembers(members, weights, name);
  const placed = read.map((one, k) => ({ ...one, place: places[k] }));
  if (last === null) return { ...part, members: placed, last };
  const own = placed.at(-1);
  const { kind: __, predictor, uncertainty: ___, ...rest } = last;
  if (own === undefined || predictor.kind !== "network")
    throw refuseWeights("the last run of the ensemble has none", name);
  return {
    ...part,
    members: placed,
    last: { ...rest, predictor: { ...predictor, parameters: own.parameters } },
  };
}
