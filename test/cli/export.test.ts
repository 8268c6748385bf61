// The export command: what it writes and says, and what it refuses.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { modelToBytes } from "../../src/files/model/model-file.ts";
import { modelToOnnx } from "../../src/files/onnx/onnx.ts";
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

  test("a weight beyond single precision is refused", () => {
    const mlp = writeScratch("mlp.model", modelToBytes(smallMlp));
    const { code, stdout, stderr } = runCli(["export", mlp, "--onnx", "x.onnx"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /number too large for an ONNX file in single precision: 1e\+300\s+\(dense1\.bias\)/,
    );
  });
});
