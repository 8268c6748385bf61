// What the published schemas take from the lists of choices and metrics: the parts as the sources have them, and the
// schema as a file's text. test/schemas.test.ts holds the files to it; UPDATE_GOLDEN=1 writes them anew.
import { namesOf } from "../src/core/names.ts";
import { isMetric, METRICS, type MetricName, metricOf } from "../src/stats/scores/metrics.ts";
import { DISTANCES, METHODS, NETWORKS, PRESETS } from "../src/training/choices.ts";
import type { Schema } from "./json-schemas.ts";

const metricNames: readonly string[] = namesOf(METRICS);
/** A metric that the schema does not have yet is put before this, as the audit prints it. */
const AFTER_METRICS = "dCalibration";

function describeMetric(name: MetricName): Schema {
  const { maximum, words } = metricOf(name);
  return {
    type: ["number", "null"],
    minimum: 0,
    ...(maximum === undefined ? {} : { maximum }),
    description: words,
  };
}

/** The names with every metric among them. */
function withMetrics(names: readonly string[]): string[] {
  const missing = metricNames.filter((name) => !names.includes(name));
  return names.flatMap((name) => (name === AFTER_METRICS ? [...missing, name] : [name]));
}

const enumOf = (choice: Readonly<Record<string, unknown>>, description: string) => ({
  enum: [...namesOf(choice)],
  description,
});

interface Described {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
}

function withScores(scores: Described): Described {
  const { properties, required } = scores;
  const described = withMetrics(Object.keys(properties)).map((key) => [
    key,
    isMetric(key) ? describeMetric(key) : properties[key],
  ]);
  return { ...scores, properties: Object.fromEntries(described), required: withMetrics(required) };
}

function withIntervals(intervals: Described, missing: readonly string[]): Described {
  const { properties, required } = intervals;
  const added = missing.map((key) => [key, { $ref: "#/$defs/interval", description: `Of ${key}.` }]);
  return {
    ...intervals,
    properties: { ...properties, ...Object.fromEntries(added) },
    required: [...required, ...missing],
  };
}

/** The `$defs` of a schema with what the sources list in their places; every other schema has no such list. */
const DERIVED: Readonly<Record<string, (defs: Definitions) => Definitions>> = {
  definitions: ({ scores, absent, intervals, ...rest }) => {
    const missing = namesOf(METRICS).filter(
      (name) => metricOf(name).hasInterval && !intervals.required.includes(name),
    );
    const paths = withMetrics(absent.propertyNames.enum);
    return {
      ...rest,
      method: enumOf(METHODS, "What is fitted, as --method names it."),
      scores: withScores(scores),
      absent: {
        ...absent,
        propertyNames: { enum: [...paths, ...missing.map((name) => `intervals.${name}`)] },
      },
      intervals: withIntervals(intervals, missing),
    };
  },
  tune: ({ setting, ...rest }) => ({
    ...rest,
    setting: {
      ...setting,
      properties: {
        ...setting.properties,
        preset: enumOf(PRESETS, "Whose defaults."),
        distance: enumOf(DISTANCES, "The constraint."),
        network: enumOf(NETWORKS, "The network."),
      },
    },
  }),
  compare: ({ methodName, ...rest }) => {
    const others = namesOf(METHODS).filter((name) => name !== "graduate");
    const distances = namesOf(DISTANCES).join("|");
    const pattern = `^(graduate(:(${distances}))?|${others.join("|")}|start)(\\+boost)?$`;
    return { ...rest, methodName: { ...methodName, pattern } };
  },
};

// biome-ignore lint/suspicious/noExplicitAny: parts of JSON documents, each of its own shape
type Definitions = Record<string, any>;

/** The names of the schemas that list choices or metrics. */
export const DERIVED_SCHEMAS: readonly string[] = Object.keys(DERIVED);

/** The schema with what the sources list in its place, in the order of the file. */
export function deriveSchema(name: string, schema: Schema): Schema {
  const before = schema.$defs as Definitions;
  const after = DERIVED[name](before);
  return { ...schema, $defs: Object.fromEntries(Object.keys(before).map((key) => [key, after[key]])) };
}

/** Longer objects and lists are broken over lines. */
const LINE = 120;

/** A schema as the text of its file. */
export function formatSchema(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const [open, close] = isList ? "[]" : "{}";
  const flat = isList
    ? `[${value.map((one) => formatSchema(one)).join(", ")}]`
    : `{ ${Object.entries(value)
        .map(([key, one]) => `${JSON.stringify(key)}: ${formatSchema(one)}`)
        .join(", ")} }`;
  if (!flat.includes("\n") && indent !== "" && indent.length + flat.length <= LINE) return flat;
  if (Object.keys(value).length === 0) return `${open}${close}`;
  const lines = isList
    ? value.map((one) => inner + formatSchema(one, inner))
    : Object.entries(value).map(
        ([key, one]) => `${inner}${JSON.stringify(key)}: ${formatSchema(one, inner)}`,
      );
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}
