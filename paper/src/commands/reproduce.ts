/**
 * `graduate reproduce`: the evidence, run again. A target is a sub-command with options of its own, in a file of its
 * own beside this one that adds it.
 */
import type { Command } from "commander";
import { addClaimsTarget } from "./claims.ts";
import { addExamplesTarget } from "./examples.ts";
import { addFiguresTarget } from "./figures.ts";
import { addFoldsTarget } from "./folds.ts";
import { addPlanTargets } from "./plan.ts";
import { addStudyTargets } from "./studies.ts";

const TARGETS: readonly ((command: Command) => void)[] = [
  addPlanTargets,
  addFoldsTarget,
  addExamplesTarget,
  addFiguresTarget,
  addClaimsTarget,
  addStudyTargets,
];

/** What the launcher of a checkout hands to `graduate reproduce`. */
export function addTargets(reproduce: Command): void {
  for (const add of TARGETS) add(reproduce);
}
