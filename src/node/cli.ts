/**
 * The command line: one file a command, each a thin reading of options around the library's functions.
 * Exit codes: 0 done, 1 the input cannot be used, 2 a requirement is not met, 70 a bug, 130 interrupted.
 */
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { safeText } from "../core/text.ts";
import { EXIT_INPUT, explainFailure, leaveQuietly, say, writeOut } from "./output.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** Loaded by name, so that a command does not wait for what only another needs. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  describe: async () => (await import("./describe.ts")).addDescribe,
  km: async () => (await import("./km.ts")).addKm,
  cox: async () => (await import("./cox.ts")).addCox,
  train: async () => (await import("./train.ts")).addTrain,
  predict: async () => (await import("./predict.ts")).addPredict,
  audit: async () => (await import("./audit.ts")).addAudit,
  discover: async () => (await import("./discover.ts")).addDiscover,
  boost: async () => (await import("./boost.ts")).addBoost,
  compare: async () => (await import("./compare.ts")).addCompare,
  tune: async () => (await import("./tune.ts")).addTune,
  reproduce: async () => (await import("./reproduce.ts")).addReproduce,
  export: async () => (await import("./export.ts")).addExport,
  demo: async () => (await import("./demo.ts")).addDemo,
};

/** With the named command, or with all of them where help may be wanted. */
async function createProgram(name: string | undefined): Promise<Command> {
  const program = new Command("graduate")
    .description("Multicalibrated survival analysis: curves that are right for every group you name.")
    .version(version)
    .configureOutput({
      writeOut: (text) => writeOut(safeText(text)),
      writeErr: (text) => say(text.trimEnd()),
    })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError("(see `graduate --help`, or `graduate COMMAND --help`)")
    .exitOverride();
  const wanted =
    name !== undefined && Object.hasOwn(COMMANDS, name) ? [COMMANDS[name]] : Object.values(COMMANDS);
  for (const load of wanted) (await load())(program);
  for (const command of program.commands) command.exitOverride().allowExcessArguments(false);
  return program;
}

/** One command, from its arguments to `process.exitCode`. Whoever runs several in one process calls this. */
export async function runCommand(argv: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(argv[2]);
    await program.parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_INPUT;
    else process.exitCode = explainFailure(error);
  }
}

export async function main(argv: readonly string[]): Promise<void> {
  leaveQuietly();
  await runCommand(argv);
}
