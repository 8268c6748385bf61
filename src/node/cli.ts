/**
 * The command line: one file a command, each a thin reading of options around the library's functions.
 * Exit codes: 0 done, 1 the input cannot be used, 70 a bug, 130 interrupted.
 */
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { addAudit } from "./audit.ts";
import { addCox } from "./cox.ts";
import { addDemo } from "./demo.ts";
import { addDescribe } from "./describe.ts";
import { addKm } from "./km.ts";
import { EXIT_INPUT, explainFailure, leaveQuietly } from "./output.ts";
import { addPredict } from "./predict.ts";
import { addTrain } from "./train.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

function createProgram(): Command {
  const program = new Command("graduate")
    .description("Multicalibrated survival analysis: curves that are right for every group you name.")
    .version(version)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError("(see `graduate --help`, or `graduate COMMAND --help`)")
    .exitOverride();
  for (const add of [addDescribe, addKm, addCox, addTrain, addPredict, addAudit, addDemo]) add(program);
  for (const command of program.commands) command.exitOverride().allowExcessArguments(false);
  return program;
}

export async function main(argv: readonly string[]): Promise<void> {
  leaveQuietly();
  try {
    await createProgram().parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_INPUT;
    else process.exitCode = explainFailure(error);
  }
}
