// The order of the files: those that take long are begun first, so that no core waits at the end for one that began
// late.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest first. The others follow as Vitest has them. */
const LONG = [
  "docs",
  "compute/backends",
  "cli/held",
  "cli/queue",
  "golden",
  "cli/bad-training",
  "commands/reproduce",
  "cli/ensemble",
  "training/trainer",
  "runs/run",
  "cli/shards",
  "verbs/train",
  "schemas",
  "cli/compare",
  "browser/wasm-backend",
  "training/device-run",
  "cli/full-output",
  "cli/train",
  "cli/tune",
  "cli/predict",
  "study/once",
  "package",
  "training/mcboost",
  "cli/demo",
  "cli/commands",
  "eye/proxy",
  "verbs/runs",
  "compute/webgpu",
  "verbs/ensemble",
  "files/onnx",
  "report/browser",
];

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return place < 0 ? LONG.length : place;
}

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => placeOf(a) - placeOf(b));
  }
}
