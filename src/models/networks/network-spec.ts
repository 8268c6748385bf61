/**
 * A network's description as it stands in a file: its schema, and the names and shapes of the parameters it promises, known
 * without building the network. A reader compares the promise with the weights there are before any memory is taken. A new
 * kind of network is added here and in create-network.ts.
 */
import { z } from "zod";
import type { NetworkSpec, SingleNetworkSpec } from "./create-network.ts";
import { DEFAULT_HIDDEN } from "./drsa.ts";
import { GROUP_KNOTS } from "./group-offsets.ts";
import { memberParameter } from "./mean.ts";
import { DEFAULT_LAYERS } from "./mlp.ts";

/** Deeper than anyone builds; a file may not ask for millions. */
const MAX_LAYERS = 1000;
/** The same of networks in a mean. */
export const MAX_MEMBERS = 100;

const size = z.int().min(1);
/** Asked of the whole list, so that a long wrong one makes one complaint. */
const hazards = z.custom<number[]>(
  (list) => Array.isArray(list) && list.every((h) => typeof h === "number" && h > 0 && h < 1),
  "expected hazards between 0 and 1",
);
const layers = z.custom<number[]>(
  (list) =>
    Array.isArray(list) &&
    list.length <= MAX_LAYERS &&
    list.every((units) => Number.isSafeInteger(units) && units >= 1),
  `expected at most ${MAX_LAYERS} whole numbers from 1`,
);

export const singleNetworkSchema = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("drsa"), D: size, T: size, H: size.exactOptional() }),
    z.strictObject({
      kind: z.literal("anchored"),
      D: size,
      T: size,
      H: z.int().min(0).exactOptional(),
      baselineHazard: hazards,
      lstm: z.boolean().exactOptional(),
      groups: z.int().min(0).exactOptional(),
    }),
    z.strictObject({
      kind: z.literal("mlp"),
      D: size,
      T: size,
      hidden: layers.exactOptional(),
      baselineHazard: hazards.exactOptional(),
    }),
    z.strictObject({
      kind: z.literal("linear"),
      D: size,
      T: size,
      baselineHazard: hazards.exactOptional(),
      groups: z.int().min(0).exactOptional(),
    }),
  ])
  .refine((spec) => !("groups" in spec) || (spec.groups ?? 0) <= spec.D, {
    path: ["groups"],
    message: "expected no more group columns than columns",
  })
  .refine((spec) => spec.kind === "drsa" || (spec.baselineHazard?.length ?? spec.T) === spec.T, {
    path: ["baselineHazard"],
    message: "expected one baseline hazard a bin",
  });

/** Counted before any of them is looked at. */
const members = z
  .custom<unknown[]>(
    (list) => Array.isArray(list) && list.length >= 1 && list.length <= MAX_MEMBERS,
    `expected 1 to ${MAX_MEMBERS} networks`,
  )
  .pipe(z.array(singleNetworkSchema));

export const networkSpecSchema = z.discriminatedUnion("kind", [
  z
    .strictObject({ kind: z.literal("mean"), D: size, T: size, members })
    .refine(({ D, T, members: all }) => all.every((one) => one.D === D && one.T === T), {
      path: ["members"],
      message: "expected members of the same features and time bins",
    }),
  singleNetworkSchema,
]);

/** Name → shape of every parameter of the network, in its own order. */
export function parameterShapes(spec: NetworkSpec): Map<string, readonly number[]> {
  if (spec.kind !== "mean") return singleShapes(spec);
  return new Map(
    spec.members.flatMap((member, m) =>
      Array.from(singleShapes(member), ([name, shape]) => [memberParameter(m, name), shape] as const),
    ),
  );
}

/** How many numbers a network has, known without building it. */
export function countParameters(spec: NetworkSpec): number {
  let count = 0;
  for (const shape of parameterShapes(spec).values())
    count += shape.reduce((product, size) => product * size, 1);
  return count;
}

function singleShapes(spec: SingleNetworkSpec): Map<string, readonly number[]> {
  const { D, T } = spec;
  switch (spec.kind) {
    case "drsa":
      return new Map(lstmShapes(D, spec.H ?? DEFAULT_HIDDEN));
    case "anchored": {
      const H = spec.lstm === false ? 0 : (spec.H ?? DEFAULT_HIDDEN);
      return new Map([...(H === 0 ? [] : lstmShapes(D, H)), ...baselineAndSkipShapes(D, T, spec.groups)]);
    }
    case "mlp": {
      const widths = [D, ...(spec.hidden ?? DEFAULT_LAYERS), T];
      return new Map(
        widths.slice(1).flatMap((outputs, l): [string, number[]][] => [
          [`dense${l}.weight`, [outputs, widths[l]]],
          [`dense${l}.bias`, [outputs]],
        ]),
      );
    }
    case "linear":
      return new Map(baselineAndSkipShapes(D, T, spec.groups));
  }
}

function lstmShapes(D: number, H: number): [string, readonly number[]][] {
  return [
    ["lstm.input", [4 * H, D + 1]],
    ["lstm.recurrent", [4 * H, H]],
    ["lstm.inputBias", [4 * H]],
    ["lstm.recurrentBias", [4 * H]],
    ["lstm.output", [H]],
    ["lstm.outputBias", [1]],
  ];
}

function baselineAndSkipShapes(D: number, T: number, groups = 0): [string, readonly number[]][] {
  return [
    ["baseline", [T]],
    ["skip", [D]],
    ...(groups > 0 ? [["groupOffsets", [groups, GROUP_KNOTS]] as [string, number[]]] : []),
  ];
}
