/**
 * What `--help` shows: the ten or fewer options people need and how to see the rest, or, for `--help all`, every option
 * under its heading. On a narrow terminal a description stands below its term instead of beside it. An option missing
 * from the tables is shown under "Other"; test/cli/help.test.ts reports it, so that none stays there.
 */
import { type Command, Help, type Option } from "commander";
import { wrapText } from "../../report/words/text-table.ts";
import { isRequired } from "./usage-errors.ts";

/** With fewer columns than this, a description does not fit beside its term. */
const LEAST_BESIDE = 32;
const INDENT = "  ";
const USAGE = "Usage: ";
const DEEP_INDENT = "      ";
/** The width of a terminal that does not report one. */
const USUAL_WIDTH = 80;

/** `--help all` and `help COMMAND` are one request each; the parser knows only `--help`. Returns what it gets. */
export function readHelpRequest(given: readonly string[]): {
  readonly args: readonly string[];
  readonly all: boolean;
} {
  const [first, ...rest] = given;
  const args = first === "help" ? [...rest.slice(0, 1), "--help", ...rest.slice(1)] : given;
  const at = args.findIndex((arg) => arg === "--help" || arg === "-h" || arg.startsWith("--help="));
  const isJoined = at >= 0 && args[at] === "--help=all";
  const all = isJoined || (at >= 0 && args[at + 1] === "all");
  if (!all) return { args, all };
  return { args: [...args.slice(0, at), "--help", ...args.slice(at + (isJoined ? 1 : 2))], all };
}

/** The first word after the program's name: reproduce's own commands share its table. */
function commandName(command: Command): string {
  return command.parent?.parent ? commandName(command.parent) : command.name();
}

export function optionName({ long, short }: Option): string {
  return (long ?? short ?? "").replace(/^-+/, "");
}

/** A command's options other than the help option. */
function ownOptions(command: Command): readonly Option[] {
  return command.options.filter(({ hidden }) => !hidden);
}

/** The few options shown first, in the table's order; all of them if there are few. */
function chooseBasic(command: Command): readonly Option[] {
  const own = ownOptions(command);
  const names = basicOptions(commandName(command));
  if (names === null || own.length <= MAX_BASIC) return own;
  return names.flatMap((name) => own.filter((option) => optionName(option) === name));
}

/** For `configureHelp`. */
export function createHelpStyle(all: boolean): Partial<Help> {
  return {
    subcommandTerm: (command) =>
      [
        command.name(),
        ...command.registeredArguments.map((argument) =>
          argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
        ),
      ].join(" "),
    optionDescription: describeOption,
    /** Studies that take hours are named by `reproduce --help all` alone. */
    visibleCommands(this: Help, command) {
      const visible = Help.prototype.visibleCommands.call(this, command);
      return all
        ? [...command.commands, ...visible.filter((one) => !command.commands.includes(one))]
        : visible;
    },
    styleUsage(this: Help, usage) {
      return wrapText(usage, widthOf(this) - USAGE.length, " ".repeat(USAGE.length));
    },
    formatItem,
    formatHelp: (command, helper) => (command.parent === null ? listCommands : listOptions)(command, helper),
  };

  function listOptions(command: Command, helper: Help): string {
    const shown = all ? ownOptions(command) : chooseBasic(command);
    if (all)
      for (const option of shown) option.helpGroup(`${headingOf(commandName(command), optionName(option))}:`);
    const more = ownOptions(command).length - shown.length;
    const page = formatWith(helper, command, {
      visibleOptions: () => [...shown],
      groupItems: (_, items, getGroup) => groupInOrder(items, getGroup),
    });
    return more === 0 ? page : `${page}\n--help all shows ${more} more.\n`;
  }
}

/** Headings in their own order, not in that of the options. */
function groupInOrder<T>(items: readonly T[], getGroup: (item: T) => string): Map<string, T[]> {
  const order = (item: T) => HEADINGS.findIndex((heading) => `${heading}:` === getGroup(item));
  const grouped = new Map<string, T[]>();
  for (const item of [...items].sort((a, b) => order(a) - order(b))) {
    const group = getGroup(item);
    grouped.set(group, [...(grouped.get(group) ?? []), item]);
  }
  return grouped;
}

function listCommands(command: Command, helper: Help): string {
  const hint = wrapText(
    "`graduate COMMAND --help` shows the options people need, `graduate COMMAND --help all` every one.",
    widthOf(helper),
  );
  return `${formatWith(helper, command, {})}\n${hint}\n`;
}

/** "what is fitted (graduate, drsa or cox; default: graduate)" */
function describeOption(option: Option): string {
  const { argChoices: choices, defaultValue, defaultValueDescription } = option;
  const isList = Array.isArray(defaultValue) && defaultValueDescription === undefined;
  const usual =
    isList || typeof defaultValue === "boolean" ? undefined : (defaultValueDescription ?? defaultValue);
  const notes = [
    ...(isRequired(option) ? ["required"] : []),
    ...(choices === undefined ? [] : [`${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`]),
    ...(usual === undefined ? [] : [`default: ${usual}`]),
  ];
  return notes.length === 0 ? option.description : `${option.description} (${notes.join("; ")})`;
}

/** The usual page, made by a helper with a few overrides. */
function formatWith(helper: Help, command: Command, own: Partial<Help>): string {
  const changed = Object.assign(Object.create(helper) as Help, own);
  return Help.prototype.formatHelp.call(changed, command, changed);
}

function widthOf({ helpWidth }: Help): number {
  return helpWidth ?? USUAL_WIDTH;
}

function formatItem(this: Help, term: string, termWidth: number, description: string, helper: Help): string {
  if (!description) return `${INDENT}${term}`;
  const width = widthOf(helper);
  const beside = width - termWidth - 2 * INDENT.length;
  if (beside < LEAST_BESIDE) {
    const below = wrapText(description, width - DEEP_INDENT.length, "").replaceAll("\n", `\n${DEEP_INDENT}`);
    return `${INDENT}${term}\n${DEEP_INDENT}${below}`;
  }
  const indent = " ".repeat(termWidth + 2 * INDENT.length);
  const wrapped = wrapText(description, beside, "").replaceAll("\n", `\n${indent}`);
  return `${INDENT}${term.padEnd(termWidth)}${INDENT}${wrapped}`;
}

/** In the order shown. */
const HEADINGS = [
  "Data",
  "Groups",
  "Model",
  "Training",
  "Estimates",
  "Search",
  "Repair",
  "Scores",
  "Runs",
  "Output",
  "Other",
] as const;

type Heading = (typeof HEADINGS)[number];

/** Option without its dashes → heading, for every command without an entry below. */
const HEADING_OF: Readonly<Record<string, Heading>> = {
  ...under("Data", "time event event-is causes censored cause fine-gray origin entry start stop weights"),
  ...under(
    "Data",
    "time-unit id rows-are-independent category number decimal thousands date-order as-written",
  ),
  ...under("Data", "features drop protected allow-leak curves bin horizon split all-rows"),
  ...under("Groups", "group groups auto-groups by"),
  ...under("Model", "method methods distance slack kappa risk-strata lambda no-group-inputs preset network"),
  ...under("Model", "splines no-splines hidden bins hold targets target-slack allow-clash"),
  ...under(
    "Training",
    "fast ensemble seed seeds steps primal-steps batch rate decay threads workers backend",
  ),
  ...under("Training", "deterministic checkpoint resume sweep one-at-a-time select shard queue ship-table"),
  ...under("Estimates", "interval at rmst ties ridge iterations strata reference interaction no-timefix"),
  ...under("Search", "columns top cross min-rows min-events level"),
  ...under("Repair", "fit time-ranges doubt rounds step censoring"),
  ...under("Scores", "replicates draws certify tolerance require allow-unknown strict"),
  ...under("Runs", "systems cohorts data"),
  ...under("Output", "out json report show-rows small-cells svg plot results save apply onnx raw card"),
  ...under("Output", "tables summary figures"),
};

/** For options that mean something else in one command than in the others. */
const HEADING_IN: Readonly<Record<string, Readonly<Record<string, Heading>>>> = {
  predict: under("Output", "at quantiles rmst id long no-curves risk bands lower-bound calibrate threads"),
  explain: { ...under("Data", "row"), ...under("Estimates", "at seed threads") },
  audit: under("Scores", "seed threads at"),
  discover: under("Search", "drop seed threads"),
  boost: under("Repair", "method seed threads apply"),
  compare: under("Training", "replicates"),
  worker: under("Runs", "queue concurrency lost-after until-empty"),
  jobs: under("Runs", "queue"),
  studio: under("Output", "port no-open"),
  reproduce: {
    ...under("Runs", "seeds preset workers threads systems splits eye truth part parts keep rscript python"),
    ...under("Runs", "sizes distances audits alpha seed strengths rows laws shard queue"),
    ...under("Output", "page write"),
  },
};

/** What `--help` shows of each command, in this order. */
const BASIC: Readonly<Record<string, string>> = {
  describe: "time event event-is origin id group groups category number json",
  km: "time event event-is origin by at rmst time-unit svg json",
  cif: "time event causes censored by interval entry time-unit svg json",
  cox: "time event event-is features drop id strata reference interaction json",
  train: "time event event-is id group groups auto-groups drop report out",
  predict: "at quantiles rmst id long risk bands lower-bound calibrate out",
  explain: "row at cause id card time-unit seed category number json",
  audit: "curves time event by group groups tolerance certify report require",
  discover: "curves time event split columns drop top min-rows level json",
  boost: "curves time event split group groups out save apply json",
  compare: "time event event-is id group groups drop methods seeds json",
  tune: "time event event-is id group groups drop sweep plot out",
};

/** A command with at most this many options shows them all. */
export const MAX_BASIC = 10;

/** "a b" → { a: heading, b: heading } */
function under(heading: Heading, names: string): Record<string, Heading> {
  return Object.fromEntries(names.split(" ").map((name) => [name, heading]));
}

/** `command` is the first word after "graduate"; `name` is the option's, without its dashes. */
export function headingOf(command: string, name: string): Heading {
  return HEADING_IN[command]?.[name] ?? HEADING_OF[name] ?? "Other";
}

/** The options that `--help` shows, in order, or null for all of them. */
export function basicOptions(command: string): readonly string[] | null {
  return BASIC[command]?.split(" ") ?? null;
}
