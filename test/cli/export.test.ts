// The export command: what it writes and says, and what it refuses.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { modelToBytes } from "../../src/files/model-file.ts";
import { modelToOnnx } from "../../src/files/onnx.ts";
import { smallCox, smallMlp } from "../files/sample-models.ts";
import { runCli, runJson, writeScratch } from "./run-cli.ts";

const cox = writeScratch("cox.model", modelToBytes(smallCox));

describe("graduate export", () => {
  test("writes the library's bytes and names inputs and output", () => {
    const file = writeScratch("cox.onnx", "");
    const { code, stdout, stderr } = runCli(["export", cox, "--onnx", file]);
    expect([code, stderr]).toEqual([0, ""]);
    const { bytes } = modelToOnnx(smallCox);
    expect(new Uint8Array(readFileSync(file))).toEqual(bytes);
    expect(stdout).toContain(`cox model written to ${file}, ${bytes.length} bytes\n`);
    expect(stdout).toContain("input   x  float [N,3]  encoded features: age, sexNaN, sex-0\n");
    expect(stdout).toContain("output  survival  float [N,4]");
  });

  test("--raw --json", () => {
    const file = writeScratch("cox.raw.onnx", "");
    const document = runJson<{
      readonly bytes: number;
      readonly inputs: readonly { readonly name: string }[];
    }>(["export", cox, "--onnx", file, "--raw"]);
    expect(document.bytes).toBe(readFileSync(file).length);
    expect(document.inputs.map(({ name }) => name)).toEqual(["age", "sex, “quoted”"]);
  });

  test.each([
    ["no file to write", ["export", cox], /required option '--onnx <file>' not specified/],
    [
      "no such model",
      ["export", "none.model", "--onnx", "x.onnx"],
      /cannot read the model: "none\.model" \(no such file\)/,
    ],
    [
      "no such folder",
      ["export", cox, "--onnx", "no/such/x.onnx"],
      /cannot write the ONNX file: .*no such folder/,
    ],
    ["no model", ["export", "datasets/nwtco/nwtco.csv", "--onnx", "x.onnx"], /nwtco\.csv/],
    [
      "a weight beyond single precision",
      ["export", writeScratch("mlp.model", modelToBytes(smallMlp)), "--onnx", "x.onnx"],
      /number too large for an ONNX file in single precision: 1e\+300\s+\(dense1\.bias\)/,
    ],
  ])("%s", (_, args, message) => {
    const { code, stdout, stderr } = runCli(args);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(message);
  });
});
