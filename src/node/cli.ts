/**
 * The command line: one file per command, each a thin layer that reads options and calls the library's functions.
 * Exit codes: 0 done, 1 the input cannot be used, 2 a requirement is not met, 70 a bug, 130 interrupted.
 */
import { Command, CommanderError } from "commander";
import { InputError } from "../core/errors.ts";
import { safeText } from "../core/text.ts";
import type { LoadRunKinds } from "./commands/worker.ts";
import { programVersion } from "./io/provenance.ts";
import { createHelpStyle, readHelpRequest } from "./options/command-help.ts";
import {
  createErrorStyle,
  everyCommand,
  requireOptionsLast,
  settleOptionalValues,
} from "./options/usage-errors.ts";
import { EXIT_INPUT, explainFailure, leaveQuietly, say, terminalWidth, writeOut } from "./print/output.ts";

interface Listed {
  readonly heading: string;
  /** Loaded by name, so that a command does not wait for what only another needs. `asked` is the command to run. */
  readonly load: (asked: string | undefined, checkout: Checkout) => Promise<(program: Command) => void>;
}

/** What a checkout of the sources has and an installed package does not. */
interface Checkout {
  /** The targets of `reproduce`, loaded when that command is run. */
  readonly loadTargets?: () => Promise<AddTargets>;
  /** How a worker makes the runs of `reproduce`. */
  readonly loadRunKinds?: LoadRunKinds;
}

const LOOK = "Look at a table:";
const FIT = "Fit a model:";
const SHARE = "Share the runs among machines:";
const USE = "Use and judge any model:";
const SHOW = "See what it does:";

const COMMANDS: Readonly<Record<string, Listed>> = {
  describe: { heading: LOOK, load: async () => (await import("./commands/describe.ts")).addDescribe },
  km: { heading: LOOK, load: async () => (await import("./commands/km.ts")).addKm },
  cif: { heading: LOOK, load: async () => (await import("./commands/cif.ts")).addCif },
  cox: { heading: LOOK, load: async () => (await import("./commands/cox.ts")).addCox },
  train: { heading: FIT, load: async () => (await import("./commands/train.ts")).addTrain },
  tune: { heading: FIT, load: async () => (await import("./commands/tune.ts")).addTune },
  compare: { heading: FIT, load: async () => (await import("./commands/compare.ts")).addCompare },
  merge: { heading: SHARE, load: async () => (await import("./commands/merge.ts")).addMerge },
  worker: {
    heading: SHARE,
    async load(_, { loadRunKinds }) {
      const { addWorker } = await import("./commands/worker.ts");
      return (program) => addWorker(program, loadRunKinds);
    },
  },
  jobs: { heading: SHARE, load: async () => (await import("./commands/jobs.ts")).addJobs },
  predict: { heading: USE, load: async () => (await import("./commands/predict.ts")).addPredict },
  summary: { heading: USE, load: async () => (await import("./commands/summary.ts")).addSummary },
  explain: { heading: USE, load: async () => (await import("./commands/explain.ts")).addExplain },
  audit: { heading: USE, load: async () => (await import("./commands/audit.ts")).addAudit },
  discover: { heading: USE, load: async () => (await import("./commands/discover.ts")).addDiscover },
  boost: { heading: USE, load: async () => (await import("./commands/boost.ts")).addBoost },
  export: { heading: USE, load: async () => (await import("./commands/export.ts")).addExport },
  studio: { heading: SHOW, load: async () => (await import("./commands/studio.ts")).addStudio },
  demo: { heading: SHOW, load: async () => (await import("./commands/demo.ts")).addDemo },
  reproduce: {
    heading: SHOW,
    async load(asked, { loadTargets }) {
      const isAsked = asked === "reproduce";
      const targets = loadTargets && (isAsked ? await loadTargets() : "unloaded");
      return (program) => addReproduce(program, targets);
    },
  },
};

/** The program with the named command, or with all commands where help may be wanted. */
export async function createProgram(
  name: string | undefined,
  { all = false, ...checkout }: { readonly all?: boolean } & Checkout = {},
): Promise<Command> {
  const program = new Command("graduate")
    .description("Multicalibrated survival analysis: curves that are right for every group you name.")
    .version(programVersion, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this")
    .helpCommand(false)
    .usage("COMMAND [options]")
    .configureHelp(createHelpStyle(all))
    .configureOutput({
      getOutHelpWidth: terminalWidth,
      getErrHelpWidth: terminalWidth,
      writeOut: (text) => writeOut(safeText(text)),
      writeErr: (text) => say(text.trimEnd()),
    })
    .showSuggestionAfterError(false)
    .exitOverride();
  const wanted =
    name !== undefined && Object.hasOwn(COMMANDS, name) ? [COMMANDS[name]] : Object.values(COMMANDS);
  for (const { heading, load } of wanted) {
    program.commandsGroup(heading);
    (await load(name, checkout))(program);
  }
  for (const command of everyCommand(program)) {
    command.exitOverride().allowExcessArguments(false).configureOutput(createErrorStyle(command));
  }
  requireOptionsLast(program);
  return program;
}

/**
 * Runs one command, from its arguments to `process.exitCode`. A process that runs several commands calls this for each.
 */
export async function runCommand(argv: readonly string[], checkout: Checkout = {}): Promise<void> {
  try {
    const { args, all } = readHelpRequest(argv.slice(2));
    const program = await createProgram(args[0], { all, ...checkout });
    const command = program.commands.find((one) => one.name() === args[0]);
    await program.parseAsync(settleOptionalValues(args, command), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_INPUT;
    else process.exitCode = explainFailure(error);
  }
}

export async function main(argv: readonly string[], checkout: Checkout = {}): Promise<void> {
  leaveQuietly();
  await runCommand(argv, checkout);
}

/** Adds the targets, each a command of its own, to `reproduce`. */
type AddTargets = (reproduce: Command) => void;

/**
 * The targets of `graduate reproduce` are the paper's, whose plans and runs exist only in a checkout of the sources:
 * the checkout's launcher passes them in. `targets` is "unloaded" if the command is only listed, and undefined in an
 * installed package, where the command says where to find them.
 */
function addReproduce(program: Command, targets?: AddTargets | "unloaded"): void {
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
