/**
 * A boost as a file: JSON that anyone can read, of the updates in their order or the groups' hazard ratios, the groups by their
 * expressions, and what the boost belongs to (the model and the table it was fitted on, by SHA-256). No row of a table is in it. How
 * it was chosen and what it did on held-out rows travels along as it was written and is not read again. Version 1 knew updates only.
 */
import { z } from "zod";
import { FormatError } from "../core/errors.ts";
import type { HazardBoost } from "../training/hazard-boost.ts";
import type { Boost, McBoost } from "../training/mcboost.ts";
import { count, describing, finite } from "./schema-parts.ts";

export interface SavedBoost {
  readonly boost: Boost;
  /** Of the model's file whose curves it repairs; null for curves of another program. */
  readonly model: string | null;
  /** Of the file that held the rows it was fitted on; null where that is not known. */
  readonly table: string | null;
}

const FORMAT = "graduate-boost";
const VERSION = 2;
const READ_VERSIONS = [1, VERSION];
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
const mcboostSchema = describing<McBoost>()(
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
const hazardsSchema = describing<HazardBoost>()(
  z.strictObject({
    kind: z.literal("hazards"),
    T: count.min(1),
    options: z.strictObject({ timeBuckets: count.min(1), doubt: finite }),
    share: finite,
    blocks: z.array(z.strictObject({ first: count.min(1), last: count.min(1) })).min(1),
    groups: z.array(
      z.strictObject({
        name: z.string(),
        expression: z.string().exactOptional(),
        events: count,
        expected: finite,
        probability: finite,
        z: finite,
      }),
    ),
    updates: z.array(z.strictObject({ group: count, logRatios: z.array(finite) })),
    skipped: z.array(z.strictObject({ name: z.string(), reason: z.string() })),
  }),
);
const boostSchemas = { mcboost: mcboostSchema, hazards: hazardsSchema } as const;
const hash = z.stringFormat("sha256", /^[0-9a-f]{64}$/).nullable();
const fileSchema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(READ_VERSIONS),
  model: hash,
  table: hash,
  boost: z.looseObject({ kind: z.enum(["mcboost", "hazards"]) }),
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
  if (!READ_VERSIONS.includes(head.data.version)) {
    throw refuse(`a boost of version ${head.data.version}; this program reads versions 1 to ${VERSION}`);
  }
  const complain = (error: z.ZodError, under: readonly string[] = []) => {
    const { path, message } = error.issues[0];
    return refuse(`a damaged boost: ${[...under, ...path].join(".")}: ${message}`);
  };
  const file = fileSchema.safeParse(json);
  if (!file.success) throw complain(file.error);
  const { model, table } = file.data;
  const read = boostSchemas[file.data.boost.kind].safeParse(file.data.boost);
  if (!read.success) throw complain(read.error, ["boost"]);
  const boost: Boost = read.data;
  const flaw = findFlaw(boost);
  if (flaw !== undefined) throw refuse(`a damaged boost: ${flaw}`);
  return { boost, model, table };
}

/** What no field shows by itself. */
function findFlaw(boost: Boost): string | undefined {
  if (boost.kind === "hazards") {
    let before = 0;
    for (const { first, last } of boost.blocks) {
      if (first !== before + 1 || last < first) return `bins ${first} to ${last} after ${before}`;
      before = last;
    }
    if (before !== boost.T) return `blocks up to bin ${before} of ${boost.T}`;
    for (const { group, logRatios } of boost.updates) {
      if (group >= boost.groups.length) return `no group ${group}`;
      if (logRatios.length !== boost.blocks.length)
        return `${logRatios.length} ratios for ${boost.blocks.length} blocks`;
    }
    return undefined;
  }
  for (const { auditor: one, cell: at } of boost.updates) {
    if (at.toBin > boost.T || at.fromBin > at.toBin) return `bins ${at.fromBin} to ${at.toBin} of ${boost.T}`;
    if (one.kind === "group" && one.group >= boost.groups.length) return `no group ${one.group}`;
    if (one.kind === "ridge" && one.coefficients.length !== boost.D)
      return `${one.coefficients.length} coefficients for ${boost.D} features`;
  }
  return undefined;
}
