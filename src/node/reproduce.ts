/**
 * `graduate reproduce`: the evidence, run again. A target is a sub-command with options of its own, in a file of its own
 * (reproduce-NAME.ts) that adds it.
 */
import type { Command } from "commander";
import { addClaimsTarget } from "./reproduce-claims.ts";
import { addExamplesTarget } from "./reproduce-examples.ts";
import { addFiguresTarget } from "./reproduce-figures.ts";
import { addFoldsTarget } from "./reproduce-folds.ts";
import { addPlanTargets } from "./reproduce-plan.ts";

const TARGETS: readonly ((command: Command) => void)[] = [
  addPlanTargets,
  addFoldsTarget,
  addExamplesTarget,
  addFiguresTarget,
  addClaimsTarget,
];

export function addReproduce(program: Command): void {
  const command = program.command("reproduce").description("run the paper's experiments again, and ours");
  for (const add of TARGETS) add(command);
}
