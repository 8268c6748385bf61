// Models and checkpoints through their bytes: nothing changes on the way, and whatever is wrong with a file is named.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { FormatError } from "../../src/core/errors.ts";
import { sha256 } from "../../src/files/container/checksum.ts";
import {
  encodeJson,
  FILE_VERSION,
  MAX_HEADER_BYTES,
  packSections,
  unpackSections,
} from "../../src/files/container/container.ts";
import { readSafetensors, type Tensor, writeSafetensors } from "../../src/files/container/safetensors.ts";
import { checkpointFromBytes, checkpointToBytes } from "../../src/files/model/checkpoint-file.ts";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import type { Model } from "../../src/training/model.ts";
import { asVersion, headerOf, resealed, withHeader } from "./resealed.ts";
import {
  smallBent,
  smallCheckpoint,
  smallCox,
  smallHeld,
  smallHeldMean,
  smallMean,
  smallMembers,
  smallMlp,
  smallNetwork,
  smallShaped,
} from "./sample-models.ts";

const models = {
  smallNetwork,
  smallMlp,
  smallMean,
  smallHeld,
  smallHeldMean,
  smallBent,
  smallShaped,
  smallCox,
};
const tiny = new Uint8Array(readFileSync(new URL("../oracles/model-file/tiny.model", import.meta.url)));
const headerBytes = new DataView(tiny.buffer, tiny.byteOffset).getUint32(12, true);
const saved = { checkpoint: smallCheckpoint, history: smallNetwork.training.history, run: "the run" };

function refusal(read: () => unknown): FormatError {
  try {
    read();
  } catch (error) {
    if (error instanceof FormatError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** The bytes with another header, or other weights, and a checksum that is right. */
function rewrite(
  bytes: Uint8Array,
  edit: (header: Record<string, unknown>) => unknown,
  weights = unpackSections(bytes, "").weights,
): Uint8Array {
  const { version, header } = unpackSections(bytes, "");
  const edited = encodeJson(edit(JSON.parse(new TextDecoder().decode(header))));
  return asVersion(packSections({ header: edited, weights }), version);
}

/** What tiny.model says of its groups, as it is written now: what was met is said by a status. */
const PRESENT_VERDICTS = [
  ["all", "met", null],
  ["<b>é 𝒮</b>", "unsupported", "fewer than 10 events"],
].map(([group, status, reason]) => ({
  group,
  told: true,
  n: 20,
  events: 4,
  slack: "Infinity",
  distance: { solve: "-0", fresh: null },
  fresh: null,
  status,
  reachable: null,
  price: null,
  reason,
}));

describe("a model file", () => {
  test.each(Object.entries(models))("%s comes back as it was, and its bytes with it", (_, model) => {
    const bytes = modelToBytes(model);
    const read = modelFromBytes(bytes, "model");
    expect(read).toEqual(model);
    expect(modelToBytes(read)).toEqual(bytes);
  });

  test("a checkpoint too, with the history so far", () => {
    const bytes = checkpointToBytes(saved);
    expect(checkpointFromBytes(bytes, "checkpoint")).toEqual(saved);
    expect(checkpointToBytes(checkpointFromBytes(bytes, "checkpoint"))).toEqual(bytes);
    const plain = {
      ...saved,
      run: null,
      checkpoint: {
        ...smallCheckpoint,
        lagrangian: null,
        best: null,
        optimiser: { ...smallCheckpoint.optimiser, kind: "sgd" as const, second: {} },
      },
    };
    expect(checkpointFromBytes(checkpointToBytes(plain), "checkpoint")).toEqual(plain);
  });

  test.each([[smallMembers], [[]]])(
    "a checkpoint of an ensemble, with the runs that have ended",
    (members) => {
      const bytes = checkpointToBytes({ ...saved, members });
      expect(checkpointFromBytes(bytes, "checkpoint")).toEqual({ ...saved, members });
      expect(checkpointToBytes(checkpointFromBytes(bytes, "checkpoint"))).toEqual(bytes);
    },
  );

  test.each([1, 2])(
    "version %i, whose constraint has a kind and whose rows are valid, is read and written by the present names",
    (version) => {
      const old = asVersion(tiny, version);
      expect(modelFromBytes(old, "tiny.model")).toEqual(smallNetwork);
      const text = JSON.stringify(headerOf(tiny));
      const renamed = text
        .replace('"constraint":{"kind":', '"constraint":{"distance":')
        .replace(/"valid":/g, '"validation":');
      expect(renamed).not.toBe(text);
      const header = JSON.parse(renamed);
      header.training.verdict = PRESENT_VERDICTS;
      const current = resealed(withHeader(asVersion(tiny, FILE_VERSION), header));
      expect(modelToBytes(smallNetwork)).toEqual(current);
    },
  );

  test.each([
    [true, "met"],
    [false, "unmet"],
    [null, "unsupported"],
  ])("version 3, whose verdict says met: %s, is read as %s", (met, status) => {
    const header = headerOf(modelToBytes(smallNetwork)) as { training: { verdict: object[] } };
    const old = {
      group: "all",
      n: 20,
      events: 4,
      slack: 1,
      noise: 1,
      train: 0.5,
      validation: 2,
      met,
      reason: null,
    };
    header.training.verdict = [old];
    const bytes = resealed(withHeader(asVersion(modelToBytes(smallNetwork), 3), header));
    const { training } = modelFromBytes(bytes, "m");
    expect(training.verdict).toEqual([
      {
        group: "all",
        told: true,
        n: 20,
        events: 4,
        slack: 1,
        distance: { solve: 0.5, fresh: null },
        fresh: null,
        status,
        reachable: null,
        price: null,
        reason: null,
      },
    ]);
    expect(training).not.toHaveProperty("solve");
    expect(refusal(() => modelFromBytes(asVersion(bytes, 4), "m")).message).toContain("training.verdict[0]");
  });

  test("a version spells a field in one way only", () => {
    const ofKind = refusal(() => modelFromBytes(asVersion(tiny, FILE_VERSION), "m"));
    expect(ofKind.message).toContain("options.constraint");
    const ofDistance = refusal(() => modelFromBytes(asVersion(modelToBytes(smallNetwork), 2), "m"));
    expect(ofDistance.message).toContain("options.constraint");
  });

  test("weights are float32 where nothing is lost, float64 elsewhere, and lie where they can be viewed", () => {
    const typesOf = (bytes: Uint8Array) =>
      new Set([...readSafetensors(unpackSections(bytes, "").weights, "").values()].map(({ type }) => type));
    expect(typesOf(modelToBytes(smallNetwork))).toEqual(new Set(["F32"]));
    expect(typesOf(modelToBytes(smallMlp))).toEqual(new Set(["F64"]));
    expect(typesOf(modelToBytes(smallCox))).toEqual(new Set(["F64"]));
    expect(typesOf(checkpointToBytes(saved))).toEqual(new Set(["F32", "F64"]));
    for (const bytes of [...Object.values(models).map(modelToBytes), checkpointToBytes(saved)]) {
      expect(unpackSections(bytes, "").header.byteOffset % 8).toBe(0);
      expect(unpackSections(bytes, "").weights.byteOffset % 8).toBe(0);
    }
  });

  test("the order in which fields were put together does not show in the bytes", () => {
    const reversed = Object.fromEntries(Object.entries(smallNetwork).reverse()) as unknown as Model;
    expect(modelToBytes(reversed)).toEqual(modelToBytes(smallNetwork));
  });

  test("scores that are not numbers are null, as JSON has it", () => {
    const read = modelFromBytes(
      modelToBytes({ ...smallNetwork, metrics: { a: Number.NaN, b: [-0] } }),
      "model",
    );
    expect(read.metrics).toEqual({ a: null, b: [0] });
  });

  test.each<[string, unknown]>([
    [
      "weights",
      { ...smallNetwork.predictor, parameters: { baseline: [1, 2, 3, Number.NaN], skip: [1, 2, 3] } },
    ],
    ["weights", { ...smallNetwork.predictor, parameters: { baseline: [1, 2, 3], skip: [1, 2, 3] } }],
    ["weights", { ...smallNetwork.predictor, parameters: { baseline: [1, 2, 3, 4] } }],
    ["header", { ...smallNetwork.predictor, network: { kind: "linear", D: 2, T: 4 } }],
    ["weights", { ...smallCox.predictor, time: [1, 1, 2] }],
  ])("what could not be read is not written: %s", (part, predictor) => {
    expect(refusal(() => modelToBytes({ ...smallNetwork, predictor } as Model)).code).toBe(`model.${part}`);
  });
});

describe("a file that is no model", () => {
  const text = (content: string) => new TextEncoder().encode(content);
  test.each<[string, Uint8Array]>([
    ["a CSV table", text("age,months,status\n61,4.5,1\n")],
    ["a CSV table", text("\ufeffâge;months;status\n61;4,5;1\n")],
    ["text", text("Dear all\n")],
    ["JSON", text('{"a": 1}')],
    ["a model in the JSON of an earlier build", text('{"format":"graduate-model","version":1}')],
    ["a gzip file", gzipSync(tiny)],
    ["a zip archive", Uint8Array.of(0x50, 0x4b, 3, 4, 20, 0, 0, 0)],
    ["a Parquet table", text("PAR1\x15\x04")],
    ["bare safetensors", unpackSections(tiny, "").weights],
    ["one that was transferred as text", tiny.filter((byte) => byte !== 0x0d)],
    ["one that was transferred as text", tiny.map((byte) => byte & 0x7f)],
  ])("looks like %s", (looks, bytes) => {
    const error = refusal(() => modelFromBytes(bytes, "my.file"));
    expect(error.message).toContain(`not a model file: it looks like ${looks}`);
    expect([error.code, error.where]).toEqual(["model.magic", "my.file"]);
    expect(error.hint).toBeDefined();
  });

  test.each<[string, Uint8Array, string, RegExp]>([
    ["nothing", new Uint8Array(0), "model.magic", /empty/],
    ["bytes of no known kind", Uint8Array.of(1, 2, 3, 0, 255), "model.magic", /^not a model file$/],
    ["its first three bytes", tiny.subarray(0, 3), "model.truncated", /3 bytes/],
    [
      "all but its last byte",
      tiny.subarray(0, -1),
      "model.truncated",
      new RegExp(`${tiny.length - 1} bytes, ${tiny.length} expected`),
    ],
    [
      "one byte more",
      Uint8Array.of(...tiny, 0),
      "model.trailing",
      new RegExp(`${tiny.length + 1} bytes, ${tiny.length}`),
    ],
    [
      "two of them",
      Uint8Array.of(...tiny, ...tiny),
      "model.trailing",
      new RegExp(`${2 * tiny.length} bytes`),
    ],
    ["version 8", edited(8, 8), "model.version", /newer format: 8 \(this program knows 1 to 7\)/],
    ["version 0", edited(8, 0), "model.version", /older format: 0 \(this program knows 1 to 7\)/],
    ["a header of 4 GB", edited(12, 0xffffffff), "model.size", /4294967295/],
    [
      "a header of one byte more",
      edited(12, headerBytes + 1),
      "model.size",
      new RegExp(`${headerBytes + 1}`),
    ],
    [
      "a header of eight bytes more",
      edited(12, headerBytes + 8),
      "model.truncated",
      new RegExp(`${tiny.length + 8} expected`),
    ],
    ["weights of 2^40 bytes", edited(20, 256), "model.size", /1099511627956/],
    ["a changed weight", edited(0x8b0, 0), "model.checksum", /checksum/],
    ["a changed letter", edited(40, 0x20), "model.checksum", /checksum/],
    ["a changed checksum", edited(tiny.length - 4, 0), "model.checksum", /checksum/],
  ])("%s", (_, bytes, code, says) => {
    const error = refusal(() => modelFromBytes(bytes, "my.file"));
    expect(error.message).toMatch(says);
    expect([error.code, error.where]).toEqual([code, "my.file"]);
    expect(error.hint).toBeDefined();
  });

  /** With four other bytes at that place. */
  function edited(offset: number, value: number): Uint8Array {
    const bytes = tiny.slice();
    new DataView(bytes.buffer).setUint32(offset, value, true);
    return bytes;
  }

  test("a checkpoint is not a model, a model not a checkpoint, and each says what to do", () => {
    const checkpoint = refusal(() => modelFromBytes(checkpointToBytes(saved), "a"));
    expect([checkpoint.code, checkpoint.message]).toEqual([
      "model.kind",
      "a checkpoint of an unfinished run, not a model",
    ]);
    expect(checkpoint.hint).toContain("--resume");
    expect(refusal(() => checkpointFromBytes(tiny, "a")).code).toBe("model.kind");
  });
});

describe("a header that was tampered with and given a new checksum", () => {
  const cox = modelToBytes(smallCox);
  type Edit = (header: Record<string, unknown>) => unknown;
  const put =
    (key: string, value: unknown): Edit =>
    (header) => ({ ...header, [key]: value });
  const put2 =
    (key: string, inner: string, value: unknown): Edit =>
    (header) => ({ ...header, [key]: { ...(header[key] as object), [inner]: value } });
  test.each<[string, Edit]>([
    ["rows", put("rows", [[61, 4.5, 1]])],
    ["kind", put("kind", "other")],
    ["method", put("method", "magic")],
    ["method", ({ method: _, ...rest }) => rest],
    ["grid.edges", put2("grid", "T", 5)],
    ["grid.edges", put2("grid", "edges", [0, 2, 2, 7, 10])],
    ["grid.edges", put2("grid", "edges", [0, 2, 3, 7, "NaN"])],
    ["grid.edges", put2("grid", "edges", [0, 2, 3, 7, "Infinity"])],
    ["grid.edges[1]", put2("grid", "edges", [0, "2", 3, 7, 10])],
    ["grid.atRisk", put2("grid", "atRisk", [1, 0.5, 0.25])],
    ["grid.atRisk", put2("grid", "atRisk", [0.9, 0.5, 0.75, 0])],
    ["grid.atRisk", put2("grid", "atRisk", [1.5, 1, 0.5, 0])],
    ["grid.atRisk", put2("grid", "atRisk", [1, 0.5, 0.25, "NaN"])],
    ["encoder.names", put2("encoder", "names", ["age"])],
    ["encoder.columns[0]", put2("encoder", "columns", [0])],
    ["groups[0].expression", put("groups", [{ name: "a", expression: "age >=" }])],
    ["groups[0].expression", put("groups", [{ name: "a", expression: "(".repeat(1e4) }])],
    ["groups: expected expressions of at most", put("groups", [{ name: "a", expression: "(".repeat(2e6) }])],
    ["different names", put("groups", Array(2).fill({ name: "a", expression: "all" }))],
    ["training.steps", put2("training", "steps", -1)],
    ["training.steps", put2("training", "steps", 1.5)],
    ["training.history[0].loss", put2("training", "history", [{ step: 1, loss: "x", concordance: null }])],
    ["provenance.table", put2("provenance", "table", { name: "a", rows: 1, sha256: "x" })],
    ["predictor.kind", put("predictor", { kind: "forest" })],
    ["predictor.network.kind", put("predictor", { kind: "network", network: { kind: "forest" } })],
    ["as many features", put("predictor", { kind: "network", network: { kind: "linear", D: 4, T: 4 } })],
    ["as many time bins", put("predictor", { kind: "network", network: { kind: "linear", D: 3, T: 5 } })],
    [
      "weights do not fit",
      put("predictor", { kind: "network", network: { kind: "drsa", D: 3, T: 4, H: 2 ** 40 } }),
    ],
    [
      "weights do not fit",
      put("predictor", { kind: "network", network: { kind: "mlp", D: 3, T: 4, hidden: [2 ** 50, 2 ** 50] } }),
    ],
    [
      "predictor.network.hidden",
      put("predictor", {
        kind: "network",
        network: { kind: "mlp", D: 3, T: 4, hidden: Array(1001).fill(1) },
      }),
    ],
    [
      "baseline hazard a bin",
      put("predictor", { kind: "network", network: { kind: "linear", D: 3, T: 4, baselineHazard: [0.5] } }),
    ],
    [
      "predictor.network.baselineHazard",
      put("predictor", {
        kind: "network",
        network: { kind: "linear", D: 3, T: 4, baselineHazard: [0.5, 0.5, 0.5, 1] },
      }),
    ],
    ["weights do not fit", put("predictor", { kind: "cox", D: 3 })],
    ["it should be: ", () => null],
    ["it should be: ", () => []],
    ["it should be: ", () => "model"],
  ])("%s", (says, edit) => {
    const error = refusal(() => modelFromBytes(rewrite(tiny, edit), "my.file"));
    expect(error.message).toContain(says);
    expect(error.message.length).toBeLessThan(300);
    expect(error.where).toBe("my.file");
  });

  test("weights of another model", () => {
    const { weights } = unpackSections(cox, "");
    expect(
      refusal(() =>
        modelFromBytes(
          rewrite(tiny, (header) => header, weights),
          "m",
        ),
      ).message,
    ).toContain('"cox.coefficients" is none of this model\'s');
  });

  test("weights that are not finite", () => {
    const tensors = new Map(readSafetensors(unpackSections(tiny, "").weights, ""));
    tensors.set("parameters.skip", { type: "F32", shape: [3], values: [1, Number.POSITIVE_INFINITY, 3] });
    const bytes = rewrite(tiny, (header) => header, writeSafetensors(tensors));
    expect(refusal(() => modelFromBytes(bytes, "m")).message).toContain('"parameters.skip"');
  });

  test("a checkpoint whose moments are not those of its parameters", () => {
    const bytes = checkpointToBytes(saved);
    const tensors = new Map(readSafetensors(unpackSections(bytes, "").weights, ""));
    for (const change of [
      () => tensors.delete("average.skip"),
      () => tensors.set("average.skip", { type: "F64", shape: [2], values: [1, 2] }),
      () => tensors.set("third.skip", { type: "F64", shape: [2], values: [1, 2] }),
    ]) {
      change();
      const changed = rewrite(bytes, (header) => header, writeSafetensors(tensors));
      expect(refusal(() => checkpointFromBytes(changed, "c")).code).toBe("model.weights");
    }
  });

  test("a checkpoint of an ensemble whose runs do not have the weights of their networks", () => {
    const bytes = checkpointToBytes({ ...saved, members: smallMembers });
    const whole = readSafetensors(unpackSections(bytes, "").weights, "");
    const skip = (values: number[]): Tensor => ({ type: "F64", shape: [values.length], values });
    const changes: [(tensors: Map<string, Tensor>) => unknown, string][] = [
      [(tensors) => tensors.delete("members.2.skip"), '"skip" of run 2'],
      [(tensors) => tensors.set("members.1.skip", skip([1, 2])), '"skip" of run 1'],
      [(tensors) => tensors.set("members.1.skip", skip([1, 2, Number.NaN])), "not finite"],
      [(tensors) => tensors.set("members.1.other", skip([1])), "1 of them"],
      [(tensors) => tensors.set("members.3.skip", skip([1, 2, 3])), "1 of them"],
    ];
    for (const [change, message] of changes) {
      const tensors = new Map(whole);
      change(tensors);
      const changed = rewrite(bytes, (header) => header, writeSafetensors(tensors));
      const { code, message: said } = refusal(() => checkpointFromBytes(changed, "c"));
      expect([code, said]).toEqual(["model.weights", expect.stringContaining(message)]);
    }
  });

  test.each([
    { at: [0, 1], scores: [0] },
    { at: [1, 1], scores: [0, 1] },
    { at: [0, 1], scores: [1, 0] },
    { at: [0], scores: [0] },
    { at: [0, "NaN"], scores: [0, 1] },
    { at: [0, "Infinity"], scores: [0, 1] },
    { at: [0, 1] },
  ])("a number whose scores do not rise with it: %j", (spline) => {
    const bytes = rewrite(modelToBytes(smallBent), (header) => {
      const encoder = header.encoder as { columns: object[] };
      encoder.columns[0] = { ...encoder.columns[0], spline };
      return header;
    });
    expect(refusal(() => modelFromBytes(bytes, "m"))).toMatchObject({ code: "model.header" });
  });

  const withHeader = (text: string) => {
    const bytes = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(0x20);
    bytes.set(new TextEncoder().encode(text));
    return packSections({ header: bytes, weights: unpackSections(tiny, "").weights });
  };
  test.each<[string, string]>([
    ["nested a million deep", `${"[".repeat(1e6)}${"]".repeat(1e6)}`],
    ["opened a million times", "[".repeat(1e6)],
    ["objects a hundred thousand deep", `${'{"a":'.repeat(1e5)}1${"}".repeat(1e5)}`],
    ["a million wrong entries", `{"kind":"model","groups":[${"0,".repeat(1e6)}0]}`],
    ["ten thousand wrong keys", `{${Array.from({ length: 1e4 }, (_, i) => `"k${i}":0`).join()}}`],
    ["a text of a million letters", `"${"a".repeat(1e6)}"`],
    ["a number of a million digits", "9".repeat(1e6)],
    ["a text without an end", `{"kind":"${"\\\\".repeat(1000)}\\"`],
    ["numbers beyond all numbers", '{"kind":"model","metrics":{"a":1e999}}'],
  ])("%s", (_, text) => {
    const started = performance.now();
    expect(refusal(() => modelFromBytes(withHeader(text), "my.file")).message.length).toBeLessThan(300);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  test("bytes that are no UTF-8", () => {
    const header = new Uint8Array(8).fill(0xff);
    const bytes = packSections({ header, weights: unpackSections(tiny, "").weights });
    expect(refusal(() => modelFromBytes(bytes, "m")).message).toContain("not UTF-8");
  });

  test("a header too long to be read is not written", () => {
    const header = new Uint8Array(MAX_HEADER_BYTES + 8);
    expect(refusal(() => packSections({ header, weights: new Uint8Array(8) })).code).toBe("model.size");
  });

  test("the checksum is that of everything before it", () => {
    expect(tiny.subarray(-32)).toEqual(sha256(tiny.subarray(0, -32)));
  });
});
