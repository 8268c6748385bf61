/**
 * Outcomes that a command does not take, refused by name: causes, late entry, start–stop rows, weights, whose rows are
 * whose. The parser knows no such option of the command; here is what to do instead.
 */

/** The options that say what an outcome is, beyond time and event. */
export const OUTCOME_FLAGS = [
  "--causes",
  "--censored",
  "--entry",
  "--start",
  "--stop",
  "--weights",
  "--id",
] as const;
type OutcomeFlag = (typeof OUTCOME_FLAGS)[number];

const OF_MODEL =
  "the model has its own outcome: its causes, entries and weights are those it was trained with";
const OF_FILE = "a model's file has everything: no table is read";
const ROWS = ["--entry", "--start", "--stop", "--weights"] as const;
const CAUSES = ["--causes", "--censored"] as const;

const allOf = (flags: readonly OutcomeFlag[], hint: string): Partial<Record<OutcomeFlag, string>> =>
  Object.fromEntries(flags.map((flag) => [flag, hint]));

/** `--cause` picks one of several where one is looked at; elsewhere all of them are read or given. */
const ONE_CAUSE: Readonly<Record<string, string>> = {
  km: "--event-is VALUE names the one event; `graduate cif --causes` gives the incidence of every cause",
  cif: "--causes names every value that is an event",
  train: "--causes names every value that is an event",
  compare: "--causes names every value that is an event",
  tune: "--causes names every value that is an event",
  describe: "--causes names every value that is an event",
  audit: "every cause is judged; of curves from files, --causes and --curves NAME=FILE say which",
  predict: "risks and curves of every cause are given, in columns with its name",
  summary: "every cause is summarised",
  export: "the file gives every cause",
  boost: "every cause is repaired; of curves from files, --causes and --curves NAME=FILE say which there are",
};

/** What to do instead, by command. */
const INSTEAD: Readonly<Record<string, Partial<Record<OutcomeFlag, string>>>> = {
  km: allOf(
    CAUSES,
    "`graduate cif` takes it and gives the incidence of each cause; with --event-is, km is of one alone",
  ),
  cox: allOf(["--causes"], "--cause VALUE models one cause; `graduate train --causes` models all of them"),
  predict: allOf([...CAUSES, ...ROWS], OF_MODEL),
  explain: allOf([...CAUSES, ...ROWS], OF_MODEL),
  summary: allOf(OUTCOME_FLAGS, OF_FILE),
  export: allOf(OUTCOME_FLAGS, OF_FILE),
};

/** Why a command has no such option, and what to do instead; undefined where it is no outcome's. */
export function refuseOutcomeFlag(command: string, given: string): string | undefined {
  const flag = given.replace(/=.*$/s, "");
  const hint = flag === "--cause" ? ONE_CAUSE[command] : INSTEAD[command]?.[flag as OutcomeFlag];
  return hint === undefined ? undefined : `${command} does not take ${flag}: ${hint}`;
}
