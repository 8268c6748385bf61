/**
 * A network's description as it is stored in a file: its schema, and the parameters it promises, known without building
 * the network. A reader compares the promise with the weights in the file before allocating any memory. All of it
 * derives from list.ts.
 */
import * as z from "zod";
import { countNumbers } from "../../compute/shapes.ts";
import { requireNetwork } from "./create-network.ts";
import { baseParameter, blocksFit, heldFields, heldParameters } from "./held.ts";
import { NETWORKS, type NetworkSpec } from "./list.ts";
import { memberParameter } from "./mean.ts";
import type { ParameterShape, SpecSizes } from "./network.ts";
import { causesSchema, sizeSchema } from "./spec-fields.ts";

/** More than anyone averages; a file must not ask for millions. */
export const MAX_MEMBERS = 100;

type SchemasOf<Definitions extends readonly unknown[]> = {
  [K in keyof Definitions]: Definitions[K] extends { readonly schema: infer Schema } ? Schema : never;
};

export const singleNetworkSchema = z.discriminatedUnion(
  "kind",
  NETWORKS.map(({ schema }) => schema) as unknown as SchemasOf<typeof NETWORKS>,
);

/** Counted before any of them is checked. */
const members = z
  .custom<unknown[]>(
    (list) => Array.isArray(list) && list.length >= 1 && list.length <= MAX_MEMBERS,
    `expected 1 to ${MAX_MEMBERS} networks`,
  )
  .pipe(z.array(singleNetworkSchema));

/** What a network shares with those that it is made of. */
const isAsWide = (one: SpecSizes, other: SpecSizes) => one.D === other.D && one.T === other.T;
const hasCauses = (one: SpecSizes, other: SpecSizes) => one.causes === other.causes;

const meanSchema = z
  .strictObject({
    kind: z.literal("mean"),
    D: sizeSchema,
    T: sizeSchema,
    causes: causesSchema.exactOptional(),
    members,
  })
  .refine(({ members: all, ...spec }) => all.every((one) => isAsWide(one, spec)), {
    path: ["members"],
    message: "expected members with the same features and time bins",
  })
  .refine(({ members: all, ...spec }) => all.every((one) => hasCauses(one, spec)), {
    path: ["members"],
    message: "expected members with the same number of causes",
  });

export const networkSpecSchema = z.discriminatedUnion("kind", [
  z
    .strictObject({
      kind: z.literal("held"),
      D: sizeSchema,
      T: sizeSchema,
      causes: causesSchema.exactOptional(),
      base: z.discriminatedUnion("kind", [meanSchema, singleNetworkSchema]),
      ...heldFields,
    })
    .refine(({ base, ...spec }) => isAsWide(base, spec), {
      path: ["base"],
      message: "expected a network with the same features and time bins",
    })
    .refine(({ base, ...spec }) => hasCauses(base, spec), {
      path: ["base"],
      message: "expected a network with the same number of causes",
    })
    .refine(blocksFit, { path: ["blocks"], message: "expected ascending bins, the last of them T" }),
  meanSchema,
  singleNetworkSchema,
]);

/** Every parameter of the network, in its own order. */
export function listParameters(spec: NetworkSpec): readonly ParameterShape[] {
  if (spec.kind === "held") {
    const below = listParameters(spec.base).map((one) => ({ ...one, name: baseParameter(one.name) }));
    return [...below, ...heldParameters(spec)];
  }
  if (spec.kind !== "mean") return requireNetwork(spec.kind).parameters(spec);
  return spec.members.flatMap((member, m) =>
    listParameters(member).map((one) => ({ ...one, name: memberParameter(m, one.name) })),
  );
}

/** Name → shape of every parameter of the network, in its own order. */
export function parameterShapes(spec: NetworkSpec): Map<string, readonly number[]> {
  return new Map(listParameters(spec).map(({ name, shape }) => [name, shape]));
}

/** How many numbers the network learns. */
export function countParameters(spec: NetworkSpec): number {
  return listParameters(spec).reduce((sum, { shape }) => sum + countNumbers(shape), 0);
}
