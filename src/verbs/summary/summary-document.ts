/** The document that `summary --json` prints: a summary as plain JSON, null with a reason where something is absent. */
import { isAbsent, type Measured, type Reasons, toPlainNumbers } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import type { ColumnEffect, Contrast, GroupSummary, ModelSummary } from "./model-summary.ts";

/** What `summary --json` prints. */
export type SummaryDocument = Readonly<Record<string, unknown>> & { readonly absent: Reasons };

/** Fields of a summary that may be absent as a whole. */
type Flat<Fields> = {
  readonly [Key in keyof Fields]: Exclude<Fields[Key], { readonly absent: string }> | null;
};

/** Each field as it is, or null with its reason under `absent`. */
function flatten<Fields extends Readonly<Record<string, unknown>>>(
  fields: Fields,
): { readonly values: Flat<Fields>; readonly absent: Reasons } {
  const entries = Object.entries(fields);
  const reasons = entries.flatMap(([key, value]) => (isAbsent(value) ? [[key, value.absent] as const] : []));
  const values = entries.map(([key, value]) => [key, isAbsent(value) ? null : value] as const);
  return { values: Object.fromEntries(values) as Flat<Fields>, absent: Object.fromEntries(reasons) };
}

/** A summary as one JSON document. */
export function summaryDocument(summary: ModelSummary): SummaryDocument {
  const { version, trainedOn, effects, groups, causes, method, outcome, ...plain } = summary;
  const { entry, start, weights, censored } = outcome;
  const { rows, ...known } = trainedOn;
  const { values, absent } = flatten({ version, ...known });
  return {
    method: method.name,
    ...plain,
    version: values.version,
    trainedOn: { table: values.table, rows, people: values.people, events: values.events },
    outcome: {
      time: outcome.time,
      event: outcome.event,
      origin: outcome.origin ?? null,
      eventIs: outcome.eventIs ?? null,
      id: outcome.id ?? null,
      ...present({ entry, start, weights, causes: outcome.causes, censored }),
    },
    effects: effects.map(describeEffect),
    groups: groups.map(describeGroup),
    ...(causes && {
      causes: causes.map((one) => ({
        name: one.name,
        effects: one.effects.map(describeEffect),
        groups: one.groups.map(describeGroup),
      })),
    }),
    absent,
  };
}

function describeEffect({ contrasts, curve, ...effect }: ColumnEffect) {
  return {
    ...effect,
    contrasts: contrasts.map(describeContrast),
    curve: curve.map(({ quantile, value, logRatio }) => ({
      quantile,
      value,
      ...toPlainNumbers({ logRatio }),
    })),
  };
}

function describeContrast({ from, to, hazardRatio, interval }: Contrast) {
  const pick = (field: "level" | "lower" | "upper"): Measured =>
    isAbsent(interval) ? interval : interval[field];
  return {
    from,
    to,
    ...toPlainNumbers({ hazardRatio, level: pick("level"), lower: pick("lower"), upper: pick("upper") }),
  };
}

function describeGroup({ name, expression, isInput, offset, verdict }: GroupSummary) {
  return { name, expression, input: isInput, ...toPlainNumbers({ offset }), verdict };
}
