/**
 * The boost of a boost file, field by field: shapes as everywhere, and what the numbers mean. Bins lie on the boost's
 * grid, shares and probabilities lie between 0 and 1, every update refers to an existing group or existing features,
 * and groups have unique names and expressions that parse. Other limits on what a repair may do to a curve are enforced
 * when it is carried out (repair/mcboost.ts).
 */
import { z } from "zod";
import { MAX_BINS } from "../../data/outcomes/time-grid.ts";
import type { HazardBoost } from "../../repair/hazard-boost.ts";
import type { McBoost } from "../../repair/mcboost.ts";
import { checkGroups } from "./group-schema.ts";
import { count, describing, finite, finites, list } from "./schema-parts.ts";

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
        events: count,
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

export const boostSchemas = { mcboost: mcboostSchema, hazards: hazardsSchema } as const;
