// Training, prediction and the audit of a model as commands, interruption included. A linear network keeps it quick.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sha256, toHex } from "../../src/files/container/checksum.ts";
import { checkpointFromBytes } from "../../src/files/model/checkpoint-file.ts";
import { modelFromBytes } from "../../src/files/model/model-file.ts";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const table = "datasets/nwtco/nwtco.csv";
const request = [
  table,
  "--time",
  "edrel",
  "--event",
  "rel",
  "--groups",
  "datasets/nwtco/groups.json",
  "--network",
  "linear",
  "--bins",
  "40",
];
const scratch = (name: string) => writeScratch(name, "");

interface TrainDocument {
  readonly method: string;
  readonly seed: number;
  readonly steps: number;
  readonly bestStep: number;
  readonly seconds: number;
  readonly parameters: number;
  readonly verdict: readonly {
    readonly group: string;
    readonly told: boolean;
    readonly status: string;
    readonly slack: number;
    readonly distance: { readonly solve: number; readonly fresh: number | null };
  }[];
  readonly test: {
    readonly overall: { readonly n: number; readonly concordance: number };
    readonly groups: readonly unknown[];
  };
}

/** Of 400 steps; trained once. */
const model = scratch("nwtco.model");
const long = ["train", ...request, "--steps", "400"];

describe("graduate train", () => {
  test("--json ends with the verdict and the scores on the test rows", () => {
    const document = runJson<TrainDocument>([...long, "--out", model]);
    expect([document.method, document.seed, document.steps]).toEqual(["graduate", 1, 400]);
    expect(document.verdict).toHaveLength(12);
    for (const { told, status, distance, slack } of document.verdict) {
      expect([told, status]).toEqual([true, "met"]);
      expect(distance.solve).toBeLessThanOrEqual(slack * (1 + 1e-6));
    }
    expect(document.test.overall.n).toBe(806);
    expect(document.test.overall.concordance).toBeGreaterThan(0.68);
    expect(document.test.groups).toHaveLength(11);
  });

  test("predict and audit take the model it wrote", () => {
    const { code, stdout } = runCli(["predict", model, table]);
    expect(code).toBe(0);
    const [header, first, ...rest] = stdout.trimEnd().split("\n");
    expect(header.split(",")).toEqual([
      "row",
      ...Array.from({ length: 40 }, (_, t) => `S${t + 1}`),
      "median",
    ]);
    expect(first.split(",")).toHaveLength(42);
    expect(rest).toHaveLength(4027);
    const audited = runJson<{ overall: { n: number }; groups: { name: string }[] }>([
      "audit",
      model,
      table,
      "--by",
      "study",
      "--draws",
      "20",
    ]);
    expect(audited.overall.n).toBe(806); // its own table: the test rows
    expect(audited.groups.filter(({ name }) => name.replaceAll(" ", "") === "study=3").length).toBe(1);
  });
});

/** Runs until the checkpoint has been written, then sends the signal. */
async function interrupt(
  args: readonly string[],
  checkpoint: string,
  signal: NodeJS.Signals,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [join(root, "bin", "graduate.js"), ...args], { cwd: root });
  let stderr = "";
  child.stderr.on("data", (part) => {
    stderr += part;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on("exit", (code) => resolve(code));
  });
  const started = statSync(checkpoint, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  while (
    child.exitCode === null &&
    (statSync(checkpoint, { throwIfNoEntry: false })?.mtimeMs ?? 0) <= started
  ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  child.kill(signal);
  return { code: await ended, stderr };
}

describe("an interrupted run", () => {
  test("killed outright and resumed, it ends with the same model as one left alone", async () => {
    const [resumed, checkpoint] = [scratch("resumed.model"), scratch("killed.checkpoint")];
    await interrupt([...long, "--checkpoint", checkpoint], checkpoint, "SIGKILL");
    const saved = checkpointFromBytes(readFileSync(checkpoint), "checkpoint");
    expect(saved.checkpoint.step).toBeLessThan(400);
    expect(runCli([...long, "--resume", checkpoint, "--out", resumed]).code).toBe(0);
    expect(readFileSync(resumed).equals(readFileSync(model))).toBe(true);
    const { training, provenance } = modelFromBytes(readFileSync(model), "whole");
    expect(training.solve?.solvedOn).toBe("training and validation rows");
    expect(training.history.map(({ step }) => step)).toEqual(
      Array.from({ length: 16 }, (_, k) => 25 * (k + 1)),
    );
    expect(provenance?.table).toEqual({
      name: "nwtco.csv",
      rows: 4028,
      sha256: toHex(sha256(readFileSync(join(root, table)))),
    });
    const other = runCli([...long, "--seed", "2", "--resume", checkpoint, "--out", resumed]);
    expect([other.code, other.stdout]).toEqual([1, ""]);
    expect(other.stderr).toContain("belongs to another run");
    expect(readFileSync(resumed).equals(readFileSync(model))).toBe(true);
  });

  test("Ctrl-C leaves a checkpoint and says how to go on", async () => {
    const checkpoint = scratch("stopped.checkpoint");
    const { code, stderr } = await interrupt(
      [...long, "--steps", "100000", "--checkpoint", checkpoint],
      checkpoint,
      "SIGINT",
    );
    expect(code).toBe(130);
    expect(stderr).toContain(`--resume ${checkpoint}`);
    expect(existsSync(checkpoint)).toBe(true);
  });
});
