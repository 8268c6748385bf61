/**
 * Says in the program's own words what is wrong with the way a command was called. An unknown option is named before a
 * missing one, with the nearest known option; missing required options are named together. Exit code 1.
 */
import { basename } from "node:path";
import type { Command, Option, OutputConfiguration } from "commander";
import { nearestName } from "../../core/names.ts";
import { MAX_VALUE, safeLine, shortenValues } from "../../core/text.ts";
import { shorten, wrapText } from "../../report/words/text-table.ts";
import { isTableName } from "../io/table-files.ts";
import { say, terminalWidth } from "../print/output.ts";
import { refuseOutcomeFlag } from "./outcome-refusals.ts";

/** This command and all commands below it. */
export function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** Options a command cannot do without. */
const required = new WeakSet<Option>();

export function isRequired(option: Option): boolean {
  return option.mandatory || required.has(option);
}

/**
 * The parser looks for missing options before unknown ones, and so blames the wrong one: `--event` is missing because
 * of `--evnt`.
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
    const hasStart = command.getOptionValue("start") !== undefined;
    const names = missing
      .map(({ long, flags }) => (hasStart && long === "--time" ? "--stop <column>" : flags))
      .join(" and ");
    command.error(`error: missing ${missing.length === 1 ? "option" : "options"}: ${names}`, {
      code: "commander.missingMandatoryOptionValue",
    });
  });
}

/**
 * An optional value is taken only if it can be one: in `audit --certify a.model table.csv` the model is an argument. A
 * number out of range is still taken as the value, and refused later.
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

/** For `configureOutput` of one command: its errors end with how to get its help. */
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

/** Translates the parser's messages into ours. */
function explainUsage(text: string, command: Command): string {
  const message = text.replace(/^error: /, "");
  const [, option] = /^unknown option '(.+)'$/s.exec(message) ?? [];
  if (option !== undefined) {
    const unknown = `unknown option '${shorten(option, MAX_VALUE)}'`;
    return (
      refuseOutcomeFlag(command.name(), option) ?? `${unknown}${suggest(nearestOption(option, command))}`
    );
  }
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
    const extra = command.args[known.length];
    const isTable = known.some((one) => one.name() === "table") && isTableName(basename(extra));
    const several = isTable ? "; several files: a folder or 'pattern'" : "";
    return `unexpected argument: "${extra}" (${command.name()} takes ${takes}${several})`;
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

/** The only name that begins with the text, if there is exactly one. */
function onlyWith(text: string, names: readonly string[]): string | undefined {
  const matching = names.filter((name) => name.startsWith(text));
  return matching.length === 1 ? matching[0] : undefined;
}
