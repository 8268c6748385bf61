/**
 * A boost as a file: JSON that anyone can read, of the updates in their order, the groups by their expressions, and what the boost
 * belongs to (the model and the table it was fitted on, by SHA-256). No row of a table is in it. How it was chosen and what it did on
 * held-out rows travels along as it was written and is not read again.
 */
import { z } from "zod";
import { FormatError } from "../core/errors.ts";
import type { Boost } from "../training/mcboost.ts";
import { count, describing, finite } from "./schema-parts.ts";

export interface SavedBoost {
  readonly boost: Boost;
  /** Of the model's file whose curves it repairs; null for curves of another program. */
  readonly model: string | null;
  /** Of the file that held the rows it was fitted on; null where that is not known. */
  readonly table: string | null;
}

const FORMAT = "graduate-boost";
const VERSION = 1;
/** A file of 100 updates has 30 kB; one this large is something else. */
export const MAX_BOOST_BYTES = 1 << 26;
/** Updates are replayed one after the other over every row. */
const MAX_UPDATES = 100_000;

const cell = z.strictObject({ fromBin: count.min(1), toBin: count.min(1), low: finite, high: finite });
const auditor = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("group"), group: count, value: finite }),
  z.strictObject({ kind: z.literal("ridge"), intercept: finite, coefficients: z.array(finite) }),
]);
const update = z.strictObject({
  cell,
  auditor,
  sign: z.union([z.literal(1), z.literal(-1)]),
  step: finite,
  correlation: finite,
});
const options = z.strictObject({
  rounds: count,
  tolerance: finite,
  step: finite,
  timeBuckets: count,
  probabilityBuckets: count,
  auditor: z.enum(["group", "ridge"]),
  multiplicative: z.boolean(),
  scale: z.enum(["survival", "hazard"]),
  ridgePenalty: finite,
  censoring: z.enum(["pooled", "group"]),
  correlateOver: z.enum(["all", "cell"]),
  minimumFollowed: count,
  doubt: finite,
  reference: z.boolean(),
});
const boostSchema = describing<Boost>()(
  z.strictObject({
    kind: z.literal("mcboost"),
    T: count.min(1),
    D: count,
    options,
    auditedBins: count,
    groups: z.array(z.strictObject({ name: z.string(), expression: z.string().exactOptional() })),
    skipped: z.array(z.strictObject({ name: z.string(), reason: z.string() })),
    updates: z.array(update).max(MAX_UPDATES),
    history: z.array(finite),
    stopped: z.enum(["tolerance", "rounds", "stuck", "unaudited"]),
  }),
);
const hash = z.stringFormat("sha256", /^[0-9a-f]{64}$/).nullable();
const fileSchema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  model: hash,
  table: hash,
  boost: boostSchema,
});

/** `more` travels along for people to read. */
export function boostToJson({ boost, model, table }: SavedBoost, more: object = {}): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, model, table, boost, ...more }, null, 1)}\n`;
}

export function boostFromJson(text: string, fileName: string): SavedBoost {
  const refuse = (what: string) => new FormatError(what, { code: "boost.file", where: fileName });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw refuse("not a boost: the file is not JSON");
  }
  const head = z.looseObject({ format: z.literal(FORMAT), version: z.int() }).safeParse(json);
  if (!head.success) throw refuse("not a boost that `graduate boost --save` wrote");
  if (head.data.version !== VERSION) {
    throw refuse(`a boost of version ${head.data.version}; this program reads version ${VERSION}`);
  }
  const result = fileSchema.safeParse(json);
  if (!result.success) {
    const { path, message } = result.error.issues[0];
    throw refuse(`a damaged boost: ${path.join(".")}: ${message}`);
  }
  const { boost, model, table } = result.data;
  for (const { auditor: one, cell: at } of boost.updates) {
    if (at.toBin > boost.T || at.fromBin > at.toBin)
      throw refuse(`a damaged boost: bins ${at.fromBin} to ${at.toBin} of ${boost.T}`);
    if (one.kind === "group" && one.group >= boost.groups.length)
      throw refuse(`a damaged boost: no group ${one.group}`);
    if (one.kind === "ridge" && one.coefficients.length !== boost.D)
      throw refuse(`a damaged boost: ${one.coefficients.length} coefficients for ${boost.D} features`);
  }
  return { boost, model, table };
}
