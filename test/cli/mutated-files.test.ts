// Files of ours with one thing changed under a checksum that was made right, given to the commands that read them:
// whatever it is, there is a result or a sentence, never a stack, and no curve leaves 0 to 1. GRADUATE_FUZZ=1000 tries
// more of them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRandom, type Random } from "../../src/core/random.ts";
import { encodeJson, packSections, unpackSections } from "../../src/files/container/container.ts";
import { readSafetensors, type Tensor, writeSafetensors } from "../../src/files/container/safetensors.ts";
import { resealedBoost } from "../files/resealed.ts";
import { root, runCli, writeScratch } from "./run-cli.ts";

const TRIES = Number(process.env.GRADUATE_FUZZ ?? 12);
const old = (name: string) => join(root, "test/files/v0.1.0", name);
const bytesOf = (name: string) => new Uint8Array(readFileSync(old(name)));
// A few rows of the table that the models were trained on.
const table = writeScratch(
  "few.csv",
  readFileSync(join(root, "test/tables/gbsg.csv"), "utf8").split("\n").slice(0, 41).join("\n"),
);

const VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 2, 1e9, 2e6, 1e308, -1e308, 5e-324, 2 ** 53],
  ...["", "x", "NaN", "Infinity", "-0", "\u001b[31m", "all", "age >= 1", [], [[]], {}, { kind: "x" }, [0, 1]],
];

/** One place of the document, chosen by chance, left out, doubled, nudged, or with another value in it. */
function mutate(document: unknown, random: Random): unknown {
  if (typeof document !== "object" || document === null || random.uniform() < 0.02) {
    const nudge = [-1, 0.5, 2, 1e6, 1.0001][random.integer(5)];
    if (typeof document === "number" && random.uniform() < 0.5) return document * nudge;
    return VALUES[random.integer(VALUES.length)];
  }
  const keys = Object.keys(document);
  if (keys.length === 0) return VALUES[random.integer(VALUES.length)];
  const key = keys[random.integer(keys.length)];
  const entries = Object.entries(document).flatMap(([name, value]): [string, unknown][] => {
    if (name !== key) return [[name, value]];
    const what = random.uniform();
    if (what < 0.04) return [];
    if (what < 0.08 && Array.isArray(document)) return [name, name].map((one) => [one, value]);
    return [[name, mutate(value, random)]];
  });
  return Array.isArray(document) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

function mutateTensors(tensors: ReadonlyMap<string, Tensor>, random: Random): Map<string, Tensor> {
  const names = [...tensors.keys()];
  const name = names[random.integer(names.length)];
  const tensor = tensors.get(name) as Tensor;
  const values = Array.from(tensor.values);
  const strange = [0, -1, 1e30, -1e30, 3e38, -3e38, 1e-45, Number.NaN, Number.POSITIVE_INFINITY, 88.8];
  values[random.integer(values.length)] = strange[random.integer(strange.length)];
  return new Map([...tensors, [name, { ...tensor, values }]]);
}

/** Of a model or checkpoint: its header in three of four, its weights in the fourth. */
function mutateFile(bytes: Uint8Array, random: Random): Uint8Array {
  const { header, weights } = unpackSections(bytes, "");
  if (random.uniform() < 0.25) {
    const changed = mutateTensors(readSafetensors(weights, ""), random);
    return packSections({ header, weights: writeSafetensors(changed) });
  }
  const changed = mutate(JSON.parse(new TextDecoder().decode(header)), random);
  return packSections({ header: encodeJson(changed), weights });
}

/** Exit code 0 or 1 and, with 1, one sentence; no stack, no control character, no curve that is none. */
function expectCalm(what: string, args: readonly string[]): string {
  const { code, stdout, stderr } = runCli(args);
  const said = `${what}: ${args[0]} ${code}\n${stderr.slice(-1500)}`;
  expect([0, 1], said).toContain(code);
  expect(stderr, said).not.toMatch(/^\s+at .*:\d+|please report/m);
  if (code === 1) expect(stderr, said).toMatch(/^graduate: /m);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(stdout + stderr, said).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  expect(stderr.length, said).toBeLessThan(6000);
  return code === 0 ? stdout : "";
}

function expectCurves(what: string, csv: string): void {
  const [header, ...rows] = csv.split("\n").map((line) => line.split(","));
  const isCurve = header.map((name) => /^S\d+$/.test(name));
  for (const row of rows.slice(0, -1)) {
    const curve = row.filter((_, k) => isCurve[k]).map(Number);
    const isSound = curve.every((value, t) => value >= 0 && value <= (curve[t - 1] ?? 1));
    expect(isSound, `${what}: ${row}`).toBe(true);
  }
}

describe("files with one thing changed", () => {
  test.each(["graduate.model", "cox.model", "ensemble.model"])("%s", (name) => {
    const random = createRandom(1, name.length);
    for (let k = 0; k < TRIES; k++) {
      const what = `${name} ${k}`;
      const model = writeScratch("mutated.model", mutateFile(bytesOf(name), random));
      expectCurves(what, expectCalm(what, ["predict", model, table, "--threads", "1"]));
      if (k % 3 === 0) expectCalm(what, ["audit", model, table, "--draws", "0", "--threads", "1"]);
      if (k % 6 === 1) expectCalm(what, ["export", model, "--onnx", writeScratch("mutated.onnx", "")]);
    }
  });

  test("graduate.checkpoint", () => {
    const random = createRandom(2);
    const gbsg = join(root, "test/tables/gbsg.csv");
    const run = [
      "--time",
      "rfstime",
      "--event",
      "status",
      "--drop",
      "pid",
      "--auto-groups",
      "3",
      "--hidden",
      "2",
    ];
    const small = ["--steps", "20", "--bins", "30", "--threads", "1", "--deterministic", "--draws", "0"];
    for (let k = 0; k < TRIES / 2; k++) {
      const from = writeScratch("mutated.checkpoint", mutateFile(bytesOf("graduate.checkpoint"), random));
      expectCalm(`checkpoint ${k}`, ["train", gbsg, ...run, ...small, "--resume", from]);
    }
  });

  test.each(["hazards.boost.json", "mcboost.boost.json"])("%s", (name) => {
    const random = createRandom(3, name.length);
    const out = writeScratch("repaired.csv", "");
    for (let k = 0; k < TRIES; k++) {
      const changed = mutate(JSON.parse(readFileSync(old(name), "utf8")), random) as object;
      const boost = writeScratch("mutated.json", resealedBoost({ ...changed, version: 3 }));
      const apply = ["boost", old("graduate.model"), table, "--apply", boost, "--out", out, "--threads", "1"];
      if (expectCalm(`${name} ${k}`, apply) !== "") expectCurves(`${name} ${k}`, readFileSync(out, "utf8"));
    }
  });

  test("plans and groups files", () => {
    const random = createRandom(4);
    const plan = JSON.parse(readFileSync(join(root, "paper/plans/nwtco.json"), "utf8"));
    const groups = JSON.parse(readFileSync(join(root, "datasets/nwtco/groups.json"), "utf8"));
    for (let k = 0; k < TRIES; k++) {
      const file = writeScratch("mutated-plan.json", JSON.stringify(mutate(plan, random)) ?? "");
      const none = writeScratch("none.jsonl", "");
      // A seed that no plan has: it is read, checked and spread out, and nothing is run.
      const { stderr } = runCli(["reproduce", "plan", file, "--out", none, "--seeds", "4000000000"]);
      expect(stderr, `plan ${k}`).toMatch(/^graduate: /);
      expect(stderr, `plan ${k}`).not.toMatch(/^\s+at |please report/m);
      const named = writeScratch("mutated-groups.json", JSON.stringify(mutate(groups, random)) ?? "");
      const nwtco = join(root, "datasets/nwtco/nwtco.csv");
      expectCalm(`groups ${k}`, ["describe", nwtco, "--time", "edrel", "--event", "rel", "--groups", named]);
    }
  });
});
