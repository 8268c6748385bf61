/**
 * `graduate reproduce`: runs the evidence again. Each target is a sub-command with its own options, added by its own
 * file beside this one.
 */
import type { Command } from "commander";
import { addBandsTarget } from "./bands.ts";
import { addCausesTarget } from "./causes.ts";
import { addClaimsTarget } from "./claims.ts";
import { addCustomersTarget } from "./customers.ts";
import { addExamplesTarget } from "./examples.ts";
import { addFiguresTarget } from "./figures.ts";
import { addFoldsTarget } from "./folds.ts";
import { addFollowTarget } from "./follow.ts";
import { addHeldTarget } from "./held-not-told.ts";
import { addMethodTarget } from "./method.ts";
import { addPicturesTarget } from "./pictures.ts";
import { addPlanTargets } from "./plan.ts";
import { addStudyTargets } from "./studies.ts";
import { addTargetsTarget } from "./targets.ts";

const TARGETS: readonly ((command: Command) => void)[] = [
  addPlanTargets,
  addFoldsTarget,
  addExamplesTarget,
  addFiguresTarget,
  addClaimsTarget,
  addMethodTarget,
  addStudyTargets,
  addHeldTarget,
  addTargetsTarget,
  addCustomersTarget,
  addBandsTarget,
  addCausesTarget,
  addFollowTarget,
  addPicturesTarget,
];

/** Called by the launcher of a checkout to add the targets to `graduate reproduce`. */
export function addTargets(reproduce: Command): void {
  for (const add of TARGETS) add(reproduce);
}
