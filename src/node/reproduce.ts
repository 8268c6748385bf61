/**
 * `graduate reproduce`: the evidence, run again. A target is a sub-command with options of its own, in a file of its own
 * (reproduce-NAME.ts) that adds it.
 */
import type { Command } from "commander";
import { addExamplesTarget } from "./reproduce-examples.ts";
import { addFoldsTarget } from "./reproduce-folds.ts";
import { addPlanTargets } from "./reproduce-plan.ts";

const TARGETS: readonly ((command: Command) => void)[] = [addPlanTargets, addFoldsTarget, addExamplesTarget];

export function addReproduce(program: Command): void {
  const command = program.command("reproduce").description("run the paper's experiments again, and ours");
  for (const add of TARGETS) add(command);
}
