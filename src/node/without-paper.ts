/** `graduate reproduce` in an installed package, which holds neither the paper's plans nor the runs: says where they are. */
import type { Command } from "commander";
import { InputError } from "../core/errors.ts";

export function addWithoutPaper(program: Command): void {
  program
    .command("reproduce")
    .description("run the paper's experiments again, and ours (in a checkout of the sources)")
    .argument("[target...]")
    .allowUnknownOption()
    .action(() => {
      throw new InputError("the paper's plans and runs are not in the installed package", {
        code: "paper.missing",
        hint: "`npx graduate reproduce` runs them in a checkout of the sources, after `npm ci`",
      });
    });
}
