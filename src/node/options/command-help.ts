/**
 * What `--help` shows: the options people need and how to see the rest, or, for `--help all`, every option under its
 * heading (option-groups.ts). On a narrow terminal a description stands below its term instead of beside it.
 */
import { type Command, Help, type Option } from "commander";
import { wrapText } from "../../report/words/text-table.ts";
import { basicOptions, HEADINGS, headingOf, MAX_BASIC } from "./option-groups.ts";
import { isRequired } from "./usage-errors.ts";

/** With fewer columns than this, a description does not fit beside its term. */
const LEAST_BESIDE = 32;
const INDENT = "  ";
const USAGE = "Usage: ";
const DEEP_INDENT = "      ";
/** The width of a terminal that does not report one. */
const USUAL_WIDTH = 80;

export interface HelpRequest {
  /** The arguments to pass to the parser. */
  readonly args: readonly string[];
  /** Whether all options are wanted. */
  readonly all: boolean;
}

/** `--help all` and `help COMMAND` are one request each; the parser knows only `--help`. */
export function readHelpRequest(given: readonly string[]): HelpRequest {
  const [first, ...rest] = given;
  const args = first === "help" ? [...rest.slice(0, 1), "--help", ...rest.slice(1)] : given;
  const at = args.findIndex((arg) => arg === "--help" || arg === "-h" || arg.startsWith("--help="));
  const isJoined = at >= 0 && args[at] === "--help=all";
  const all = isJoined || (at >= 0 && args[at + 1] === "all");
  if (!all) return { args, all };
  return { args: [...args.slice(0, at), "--help", ...args.slice(at + (isJoined ? 1 : 2))], all };
}

/** The first word after the program's name: reproduce's own commands share its table. */
export function commandName(command: Command): string {
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
