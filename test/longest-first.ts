// The order of the files: those that take long are begun first, so that no core waits at the end for one that began
// late.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest first. The others follow as Vitest has them. */
const LONG = [
  "docs",
  "cli/held",
  "cli/queue",
  "golden",
  "compute/backends",
  "browser/wasm-backend",
  "cli/bad-training",
  "training/trainer",
  "cli/train",
  "cli/ensemble",
  "verbs/train",
  "runs/run",
  "commands/reproduce",
  "schemas",
  "cli/compare",
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
