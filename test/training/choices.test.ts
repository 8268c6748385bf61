// One list for each choice: options, files, schemas and docs have its names and no others, and no source types them
// again.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { unreachable } from "../../src/core/errors.ts";
import { namesOf } from "../../src/core/names.ts";
import { modelToBytes } from "../../src/files/model/model-file.ts";
import { modelHeaderSchema } from "../../src/files/model/model-schema.ts";
import type { DistanceDefinition } from "../../src/objectives/distances/distance.ts";
import type { MetricDefinition } from "../../src/stats/scores/metrics.ts";
import {
  BACKENDS,
  DISTANCES,
  type DistanceName,
  DUAL_FORMS,
  KEEP_RULES,
  METHODS,
  METRICS,
  type Method,
  NETWORKS,
  OBJECTIVES,
  OPTIMISERS,
  PRESETS,
} from "../../src/training/choices.ts";
import { SETTING_OPTIONS } from "../../src/verbs/tuning/settings.ts";
import { runCli } from "../cli/run-cli.ts";
import { DERIVED_SCHEMAS, deriveSchema, formatSchema } from "../derived-schemas.ts";
import { headerOf } from "../files/resealed.ts";
import { smallNetwork } from "../files/sample-models.ts";
import { type Schema, schemas } from "../json-schemas.ts";

const root = new URL("../../", import.meta.url);
const isUpdate = process.env.UPDATE_GOLDEN === "1";

/** As the command line lists choices: "a, b or c". */
const listed = (choice: Readonly<Record<string, unknown>>) =>
  [...namesOf(choice)].join(", ").replace(/, ([^,]*)$/, " or $1");

test("the command line offers every name, in the order of its list", async () => {
  const { stdout } = await runCli(["train", "--help", "all"]);
  const help = stdout.replace(/\s+/g, " ");
  for (const [option, choice] of Object.entries({
    "--method": METHODS,
    "--distance": DISTANCES,
    "--preset": PRESETS,
    "--network": NETWORKS,
    "--backend": BACKENDS,
  })) {
    const described = help.slice(help.indexOf(` ${option} `)).slice(0, 160);
    expect(described, option).toContain(`(${listed(choice)}`);
  }
});

test("a sweep takes every name and no other", () => {
  for (const [setting, choice] of Object.entries({
    method: METHODS,
    distance: DISTANCES,
    preset: PRESETS,
    network: NETWORKS,
  })) {
    const { read } = SETTING_OPTIONS[setting as keyof typeof SETTING_OPTIONS];
    for (const name of Object.keys(choice)) expect(read(name)).toBe(name);
    expect(read("none of them")).toBeNull();
  }
});

describe("a model file", () => {
  interface Header {
    readonly options: { readonly constraint: object };
  }
  const header = headerOf(modelToBytes(smallNetwork)) as Header;
  const withOptions = (change: object) => ({ ...header, options: { ...header.options, ...change } });
  const withDistance = (distance: string) =>
    withOptions({ constraint: { ...header.options.constraint, distance } });

  test.each<[string, readonly string[], (name: string) => object]>([
    ["method", namesOf(METHODS), (method) => ({ ...header, method })],
    ["keep", namesOf(KEEP_RULES), (keep) => withOptions({ keep })],
    ["distance", namesOf(DISTANCES), withDistance],
  ])("takes every %s and no other", (_, names, spell) => {
    for (const name of names) expect(modelHeaderSchema.safeParse(spell(name)).success, name).toBe(true);
    expect(modelHeaderSchema.safeParse(spell("none of them")).success).toBe(false);
  });
});

describe("schemas", () => {
  test.each(DERIVED_SCHEMAS)("%s lists what the sources list, in the form it is written in", (name) => {
    const schema = schemas.get(name) as Schema;
    const derived = `${formatSchema(deriveSchema(name, schema))}\n`;
    const file = new URL(`schemas/${name}.schema.json`, root);
    if (isUpdate) writeFileSync(file, derived);
    expect(readFileSync(file, "utf8")).toBe(derived);
  });
});

test("docs/concepts/choices.md has every choice in words", () => {
  const file = new URL("docs/concepts/choices.md", root);
  const page = readFileSync(file, "utf8");
  const wordsOf = (choice: Readonly<Record<string, string | { readonly words: string }>>) =>
    Object.entries(choice).map(([name, one]) => [name, typeof one === "string" ? one : one.words]);
  const tables: Readonly<Record<string, readonly (readonly string[])[]>> = {
    methods: wordsOf(METHODS),
    networks: wordsOf(NETWORKS),
    distances: wordsOf(DISTANCES),
    backends: wordsOf(BACKENDS),
    metrics: wordsOf(METRICS),
    objectives: wordsOf(OBJECTIVES),
    duals: wordsOf(DUAL_FORMS),
    optimisers: wordsOf(OPTIMISERS),
    keep: wordsOf(KEEP_RULES),
  };
  const renewed = page.replace(
    /(<!-- (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => {
      const lines = tables[name].map(([key, words]) => `| \`${key}\` | ${words} |\n`);
      return `${begin}| name | |\n| --- | --- |\n${lines.join("")}${end}`;
    },
  );
  if (isUpdate) writeFileSync(file, renewed);
  expect(readFileSync(file, "utf8")).toBe(renewed);
  expect(
    [...page.matchAll(/<!-- (\w+) -->/g)].map(([, name]) => name).filter((name) => name !== "end"),
  ).toEqual(Object.keys(tables));
});

test("no source types a list again", () => {
  const src = new URL("src/", root);
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  for (const choice of [METHODS, NETWORKS, DISTANCES, KEEP_RULES, METRICS]) {
    const names = namesOf<string>(choice).map((one) => `"${one}"`);
    const one = `(?:${names.join("|")})`;
    // A part of a long list may be meant for itself; four names in a row, or all three, are the list.
    const list = new RegExp(`${one}(?:\\s*[,|]\\s*${one}){${Math.min(names.length, 4) - 1}}`);
    const typed = files.filter((file) => list.test(readFileSync(new URL(file, src), "utf8")));
    // Networks are listed in the room that makes them; the paper's four metrics and those by cause are choices of
    // their own.
    const own = [
      "models/networks/network.ts",
      "stats/scores/metrics.ts",
      "verbs/causes/cause-requirements.ts",
    ];
    expect(typed.filter((file) => !own.includes(file) && !file.startsWith("experiments/"))).toEqual([]);
  }
});

describe("a missing case does not compile", () => {
  test("in a switch", () => {
    function describeDistance(distance: DistanceName): string {
      switch (distance) {
        case "l2":
        case "variance":
          return "of curves";
        default:
          // @ts-expect-error atRisk is not handled
          return unreachable(distance);
      }
    }
    expect(describeDistance("l2")).toBe("of curves");
    expect(() => describeDistance("atRisk")).toThrow('unknown choice: "atRisk"');
  });

  test("in a list of words, a distance or a metric", () => {
    // @ts-expect-error cox is missing
    const words: Readonly<Record<Method, string>> = { graduate: "", drsa: "", xcal: "", rps: "", nll: "" };
    expect(namesOf(METHODS).filter((name) => !Object.hasOwn(words, name))).toEqual(["cox"]);
    const { fillGradient: _, ...withoutGradient } = DISTANCES.l2;
    // @ts-expect-error a distance has a gradient
    const distance: DistanceDefinition = withoutGradient;
    const { better: __, ...withoutDirection } = METRICS.ece;
    // @ts-expect-error a metric has a direction
    const metric: MetricDefinition = withoutDirection;
    expect([distance.words, metric.words]).toEqual([DISTANCES.l2.words, METRICS.ece.words]);
  });
});
