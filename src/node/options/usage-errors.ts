/**
 * What is wrong with the way a command was called, in the program's own words: an option that is not there is named
 * before one that is missing, with the nearest that is; required options that are missing are named together. Exit code
 * 1.
 */
import type { Command, Option, OutputConfiguration } from "commander";
import { nearestName } from "../../core/nearest-name.ts";
import { MAX_VALUE, safeLine, shortenValues } from "../../core/text.ts";
import { shorten, wrapText } from "../../report/words/text-table.ts";
import { say, terminalWidth } from "../print/output.ts";

/** Commands below this one, and itself. */
export function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** Options a command cannot do without. */
const required = new WeakSet<Option>();

export function isRequired(option: Option): boolean {
  return option.mandatory || required.has(option);
}

/**
 * The parser looks for missing options before unknown ones, and so blames the wrong one: `--evnt` is why `--event` is
 * missing.
 */
export function requireOptionsLast(program: Command): void {
  for (const option of everyCommand(program).flatMap(({ options }) => options)) {
    if (option.mandatory) required.add(option);
    option.mandatory = false;
  }
  program.hook("preAction", (_, command) => {
    const missing = command.options.filter(
      (option) => required.has(option) && command.getOptionValue(option.attributeName()) === undefined,
    );
    if (missing.length === 0) return;
    const names = missing.map(({ flags }) => flags).join(" and ");
    command.error(`error: missing ${missing.length === 1 ? "option" : "options"}: ${names}`, {
      code: "commander.missingMandatoryOptionValue",
    });
  });
}

/**
 * An optional value is taken only where it can be one: in `audit --certify a.model table.csv` the model is an argument.
 * A number that is out of range is meant as the value, and left to be refused.
 */
export function settleOptionalValues(args: readonly string[], command: Command | undefined): string[] {
  return args.map((arg, k) => {
    const option = command?.options.find(({ long, optional }) => optional && long === arg);
    const next = args[k + 1];
    if (option?.parseArg === undefined || next === undefined || !Number.isNaN(Number(next))) return arg;
    return canRead(option, next) ? arg : `${arg}=${option.presetArg}`;
  });
}

function canRead(option: Option, text: string): boolean {
  try {
    option.parseArg?.(text, undefined);
    return true;
  } catch {
    return false;
  }
}

/** To be given to `configureOutput` of one command: its errors end with how to get its help. */
export function createErrorStyle(command: Command): OutputConfiguration {
  return {
    outputError: (text) => {
      const message = shortenValues(safeLine(`graduate: ${explainUsage(text.trim(), command)}`));
      say(`${wrapText(message, terminalWidth(), "  ")}\n  see \`${pathOf(command)} --help\``);
    },
  };
}

/** "graduate reproduce nwtco" */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** From the parser's words to ours. */
function explainUsage(text: string, command: Command): string {
  const message = text.replace(/^error: /, "");
  const [, option] = /^unknown option '(.+)'$/s.exec(message) ?? [];
  if (option !== undefined)
    return `unknown option '${shorten(option, MAX_VALUE)}'${suggest(nearestOption(option, command))}`;
  const [, name] = /^unknown command '(.+)'$/s.exec(message) ?? [];
  if (name !== undefined) {
    const names = command.commands.map((one) => one.name());
    return `unknown command '${shorten(name, MAX_VALUE)}'${suggest(nearestName(name, names) ?? onlyWith(name, names))}`;
  }
  const [, flags, value, reason] = /^option '(.+?)' argument '(.*)' is invalid\. (.*)$/s.exec(message) ?? [];
  if (flags !== undefined) {
    const why = reason.replace(/^Allowed choices are /, "expected one of ").replace(/\.$/, "");
    const known = `invalid value for ${flags.split(" ")[0]}: `;
    return why.startsWith("expected") ? `${known}"${value}" (${why})` : known + why;
  }
  const [, without] = /^option '(.+)' argument missing$/.exec(message) ?? [];
  if (without !== undefined) return `missing value: ${without}`;
  const [, argument] = /^missing required argument '(.+)'$/.exec(message) ?? [];
  if (argument !== undefined) return `missing argument: <${argument}>`;
  if (message.startsWith("too many arguments")) {
    const known = command.registeredArguments;
    const takes = known.length === 0 ? "no arguments" : known.map((one) => `<${one.name()}>`).join(" ");
    return `unexpected argument: "${command.args[known.length]}" (${command.name()} takes ${takes})`;
  }
  return message;
}

function suggest(name: string | undefined): string {
  return name === undefined ? "" : `, did you mean '${name}'?`;
}

/** `--evnt=rel` and `-event` are meant as `--event`. */
function nearestOption(given: string, command: Command): string | undefined {
  const flag = `--${given.replace(/^-+/, "").replace(/=.*$/s, "")}`;
  if (flag.length < 4) return undefined;
  const flags = ["--help"];
  for (let one: Command | null = command; one !== null; one = one.parent)
    flags.push(...one.options.flatMap(({ long, hidden }) => (long === undefined || hidden ? [] : [long])));
  return nearestName(flag, flags) ?? onlyWith(flag, flags);
}

/** The only name that begins with the text. */
function onlyWith(text: string, names: readonly string[]): string | undefined {
  const matching = names.filter((name) => name.startsWith(text));
  return matching.length === 1 ? matching[0] : undefined;
}
