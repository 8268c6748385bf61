/**
 * `graduate reproduce`. Its targets are the paper's, whose plans and runs exist only in a checkout of the sources: the
 * checkout's launcher passes them in. In an installed package the command says where to find them.
 */
import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";

/** Adds the targets, each a command of its own, to `reproduce`. */
export type AddTargets = (reproduce: Command) => void;

/**
 * `targets`: what a checkout passes in; "unloaded" if the command is only listed; undefined in an installed package.
 */
export function addReproduce(program: Command, targets?: AddTargets | "unloaded"): void {
  const command = program.command("reproduce");
  const description = "run the paper's experiments again, and ours";
  if (targets !== undefined) {
    command.description(description);
    if (targets !== "unloaded") targets(command);
    return;
  }
  command
    .description(`${description} (in a checkout of the sources)`)
    .argument("[target...]")
    .allowUnknownOption()
    .action(() => {
      throw new InputError("the paper's plans and runs are not in the installed package", {
        code: "paper.missing",
        hint: "`npx graduate reproduce` runs them in a checkout of the sources, after `npm ci`",
      });
    });
}
