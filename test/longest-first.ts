// The order of the files: those that take long are begun first, so that no core waits at the end for one that began
// late.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest first. The others follow as Vitest has them. */
const LONG = [
  "docs",
  "golden",
  "commands/reproduce",
  "cli/held",
  "cli/bad-training",
  "cli/full-output",
  "schemas",
  "cli/predict",
  "cli/tune",
  "cli/shards",
  "compute/backends",
  "verbs/train",
  "cli/compare",
  "cli/ensemble",
  "cli/ensemble-shards",
  "runs/run",
  "training/trainer",
  "training/mcboost",
  "study/once",
  "cli/train",
  "package",
  "cli/demo",
  "cli/commands",
  "verbs/ensemble",
  "eye/proxy",
  "verbs/runs",
  "verbs/discover",
  "cli/predict-people",
  // With a service:
  "compute/webgpu-cases",
  "compute/webgpu",
  "cli/queue",
  "studio/table",
  "studio/model",
  "browser/wasm-backend",
  "node/queue",
  "studio/causes",
  "training/device-run",
  "report/browser",
  "training/device-trajectories",
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
