/**
 * A boost as a file: human-readable JSON with the updates in order or the groups' hazard ratios, the groups by their
 * expressions, and what the boost belongs to (the model and the table it was fitted on, by SHA-256). It holds no row of
 * a table. How the boost was chosen and what it did on held-out rows is stored as written and is not read again.
 * `sha256` covers everything else in the file, as JSON without blanks. Version 1 knew only updates; versions 1 and 2
 * had no checksum. A repair of several causes is written as version 4, all others as 3; programs that knew no weights
 * read them unless rows had some: their counts of events are whole.
 */
import * as z from "zod";
import { FormatError } from "../../core/errors.ts";
import { MAX_BINS } from "../../data/outcomes/time-grid.ts";
import type { CauseHazardBoost } from "../../repair/cause-hazards.ts";
import type { HazardBoost } from "../../repair/hazard-boost.ts";
import type { Boost, McBoost } from "../../repair/mcboost.ts";
import { sha256, toHex } from "../container/checksum.ts";
import { checkGroups, count, describing, explainIssue, finite, finites, list } from "./schema-parts.ts";

interface SavedBoost {
  readonly boost: Boost | CauseHazardBoost;
  /** Hash of the model file whose curves it repairs; null for curves of another program. */
  readonly model: string | null;
  /** Hash of the file with the rows it was fitted on; null where that is not known. */
  readonly table: string | null;
}

interface ReadBoost extends SavedBoost {
  /** What anyone applying the boost should know about the file. */
  readonly warnings: readonly string[];
}

const FORMAT = "graduate-boost";
/** Of a repair of one kind of event, and of one of several causes. */
const VERSION = 3;
const CAUSES_VERSION = 4;
const UNCHECKED_VERSIONS = [1, 2];
const READ_VERSIONS = [...UNCHECKED_VERSIONS, VERSION, CAUSES_VERSION];
/** A file of 100 updates takes 30 kB; one this large is something else. */
export const MAX_BOOST_BYTES = 1 << 26;
const HINT = "get the file anew, or fit the boost again";

const hash = z.stringFormat("sha256", /^[0-9a-f]{64}$/);
const fileSchema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(READ_VERSIONS),
  sha256: hash.exactOptional(),
  model: hash.nullable(),
  table: hash.nullable(),
  boost: z.looseObject({ kind: z.enum(["mcboost", "hazards", "cause hazards"]) }),
});

/** `more` is stored for people to read. */
export function boostToJson({ boost, model, table }: SavedBoost, more: object = {}): string {
  const rest = { model, table, boost, ...more };
  const head = { format: FORMAT, version: boost.kind === "cause hazards" ? CAUSES_VERSION : VERSION };
  const checksum = checksumOf({ ...head, ...rest });
  return `${JSON.stringify({ ...head, sha256: checksum, ...rest }, null, 1)}\n`;
}

export function boostFromJson(text: string, fileName: string): ReadBoost {
  const refuse = (what: string) => new FormatError(what, { code: "boost.file", where: fileName, hint: HINT });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw refuse("not a boost: the file is not JSON");
  }
  const head = z.looseObject({ format: z.literal(FORMAT), version: z.int() }).safeParse(json);
  if (!head.success) throw refuse("not a boost that `graduate boost --save` wrote");
  const { version } = head.data;
  if (!READ_VERSIONS.includes(version)) {
    throw refuse(`a boost of version ${version}; this program reads versions 1 to ${CAUSES_VERSION}`);
  }
  const file = fileSchema.safeParse(json);
  if (!file.success) throw refuse(`a damaged boost: ${explainIssue(file.error)}`);
  const { model, table, sha256: stored } = file.data;
  const isUnchecked = stored === undefined && UNCHECKED_VERSIONS.includes(version);
  if (!isUnchecked) {
    const { sha256: _, ...rest } = json as Readonly<Record<string, unknown>>;
    if (stored !== checksumOf(rest))
      throw refuse("the boost's checksum does not match: the file was damaged or changed");
  }
  const { kind } = file.data.boost;
  if ((kind === "cause hazards") !== (version === CAUSES_VERSION))
    throw refuse(`a damaged boost: boost.kind "${kind}" in a file of version ${version}`);
  const read = boostSchemas[kind].safeParse(file.data.boost);
  if (!read.success) throw refuse(`a damaged boost: ${explainIssue(read.error, "boost")}`);
  const warning =
    `the boost was saved by an earlier version (${fileName}), which wrote no checksum: ` +
    "whether it was changed cannot be told";
  return { boost: read.data, model, table, warnings: isUnchecked ? [warning] : [] };
}

/** Independent of the file's indentation: parsed JSON is always written as the same text. */
function checksumOf(document: object): string {
  return toHex(sha256(new TextEncoder().encode(JSON.stringify(document))));
}

/*
 * The boost field by field: shapes as everywhere, and what the numbers mean. Bins lie on the boost's grid, shares and
 * probabilities lie between 0 and 1, every update refers to an existing group or existing features, and groups have
 * unique names and expressions that parse. Other limits on what a repair may do to a curve are enforced when it is
 * carried out (repair/mcboost.ts).
 */

/** Updates are replayed one after another over every row. */
const MAX_UPDATES = 100_000;
/**
 * Far beyond the hazard ratios a fit gives: e to this power is still finite, even when those of several groups are
 * multiplied.
 */
const MAX_LOG_RATIO = 100;

const bins = count.min(1).max(MAX_BINS);
const share = finite.refine((value) => value >= 0 && value <= 1, "expected a number between 0 and 1");
const atLeastZero = finite.refine((value) => value >= 0, "expected a number from 0 up");
const skipped = list(z.strictObject({ name: z.string(), reason: z.string() }));

const auditor = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("group"), group: count, value: finite }),
  z.strictObject({ kind: z.literal("ridge"), intercept: finite, coefficients: finites }),
]);
const update = z.strictObject({
  cell: z.strictObject({ fromBin: bins, toBin: bins, low: finite, high: finite }),
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
  ridgePenalty: atLeastZero,
  censoring: z.enum(["pooled", "group"]),
  correlateOver: z.enum(["all", "cell"]),
  minimumFollowed: count,
  doubt: atLeastZero,
  reference: z.boolean(),
});

const mcboostSchema = describing<McBoost>()(
  z.strictObject({
    kind: z.literal("mcboost"),
    T: bins,
    D: count,
    options,
    auditedBins: count,
    groups: list(z.strictObject({ name: z.string(), expression: z.string().exactOptional() })),
    skipped,
    updates: list(update),
    history: finites,
    stopped: z.enum(["tolerance", "rounds", "stuck", "unaudited"]),
  }),
).superRefine((boost, context) => {
  const complain = (message: string, ...path: (string | number)[]) =>
    context.addIssue({ code: "custom", path, message });
  if (boost.auditedBins > boost.T) return complain(`expected at most ${boost.T} bins`, "auditedBins");
  if (!checkGroups(boost.groups, context, "groups")) return;
  if (boost.updates.length > MAX_UPDATES) return complain(`expected at most ${MAX_UPDATES}`, "updates");
  for (const [k, { auditor: one, cell }] of boost.updates.entries()) {
    if (cell.toBin > boost.T || cell.fromBin > cell.toBin)
      return complain(`bins ${cell.fromBin} to ${cell.toBin} of ${boost.T}`, "updates", k, "cell");
    if (cell.low > cell.high) return complain(`from ${cell.low} down to ${cell.high}`, "updates", k, "cell");
    if (one.kind === "group" && one.group >= boost.groups.length)
      return complain(`no group ${one.group}`, "updates", k, "auditor");
    if (one.kind === "ridge" && one.coefficients.length !== boost.D)
      return complain(
        `${one.coefficients.length} coefficients for ${boost.D} features`,
        "updates",
        k,
        "auditor",
      );
  }
});

const hazardsSchema = describing<HazardBoost>()(
  z.strictObject({
    kind: z.literal("hazards"),
    T: bins,
    options: z.strictObject({ timeBuckets: count.min(1), doubt: atLeastZero }),
    share,
    blocks: list(z.strictObject({ first: bins, last: bins })),
    groups: list(
      z.strictObject({
        name: z.string(),
        expression: z.string().exactOptional(),
        events: atLeastZero, // weighted, where rows are
        expected: atLeastZero,
        probability: share,
        z: finite,
      }),
    ),
    updates: list(z.strictObject({ group: count, logRatios: finites })),
    skipped,
  }),
).superRefine((boost, context) => {
  const complain = (message: string, ...path: (string | number)[]) =>
    context.addIssue({ code: "custom", path, message });
  let before = 0;
  for (const [k, { first, last }] of boost.blocks.entries()) {
    if (first !== before + 1 || last < first)
      return complain(`bins ${first} to ${last} after ${before}`, "blocks", k);
    before = last;
  }
  if (before !== boost.T) return complain(`blocks up to bin ${before} of ${boost.T}`, "blocks");
  if (!checkGroups(boost.groups, context, "groups")) return;
  if (boost.updates.length > MAX_UPDATES) return complain(`expected at most ${MAX_UPDATES}`, "updates");
  for (const [k, { group, logRatios }] of boost.updates.entries()) {
    if (group >= boost.groups.length) return complain(`no group ${group}`, "updates", k);
    if (logRatios.length !== boost.blocks.length)
      return complain(`${logRatios.length} ratios for ${boost.blocks.length} blocks`, "updates", k);
    if (logRatios.some((a) => Math.abs(a) > MAX_LOG_RATIO))
      return complain(`expected log ratios of at most ${MAX_LOG_RATIO} in size`, "updates", k);
  }
});

const causeHazardsSchema = describing<CauseHazardBoost>()(
  z.strictObject({
    kind: z.literal("cause hazards"),
    T: bins,
    causes: list(z.string()),
    hazards: list(hazardsSchema),
  }),
).superRefine(({ T, causes, hazards }, context) => {
  const complain = (message: string, ...path: (string | number)[]) =>
    context.addIssue({ code: "custom", path, message });
  if (causes.length < 1) return complain("expected at least one cause", "causes");
  if (new Set(causes).size < causes.length) return complain("expected different names", "causes");
  if (hazards.length !== causes.length)
    return complain(`${hazards.length} repairs for ${causes.length} causes`, "hazards");
  const other = hazards.findIndex((one) => one.T !== T);
  if (other >= 0) return complain(`${hazards[other].T} bins where the boost has ${T}`, "hazards", other, "T");
  const names = ({ groups }: HazardBoost) => groups.map(({ name, expression }) => [name, expression]);
  const first = JSON.stringify(names(hazards[0]));
  const strange = hazards.findIndex((one) => JSON.stringify(names(one)) !== first);
  if (strange >= 0) complain("expected the groups of the first cause", "hazards", strange, "groups");
});

const boostSchemas = {
  mcboost: mcboostSchema,
  hazards: hazardsSchema,
  "cause hazards": causeHazardsSchema,
} as const;
