/**
 * Where help shows each option: its heading in `--help all`, and the ten or fewer options of a command that `--help`
 * shows. An option missing from the tables is shown under "Other"; test/cli/help.test.ts reports it, so that none stays
 * there.
 */

/** In the order shown. */
export const HEADINGS = [
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

export type Heading = (typeof HEADINGS)[number];

/** Option without its dashes → heading, for every command without an entry below. */
const HEADING_OF: Readonly<Record<string, Heading>> = {
  ...under("Data", "time event event-is origin time-unit id rows-are-independent category number decimal"),
  ...under("Data", "features drop allow-leak curves bin horizon split all-rows"),
  ...under("Groups", "group groups auto-groups by"),
  ...under("Model", "method methods distance slack kappa risk-strata lambda no-group-inputs preset network"),
  ...under("Model", "splines no-splines hidden bins"),
  ...under("Training", "seed seeds steps primal-steps batch rate decay ensemble threads workers backend"),
  ...under("Training", "deterministic checkpoint resume sweep one-at-a-time select"),
  ...under("Estimates", "interval at rmst ties ridge iterations strata reference interaction no-timefix"),
  ...under("Search", "columns top cross min-rows min-events level"),
  ...under("Repair", "fit time-ranges doubt rounds step censoring"),
  ...under("Scores", "replicates draws certify tolerance require strict"),
  ...under("Runs", "systems cohorts data"),
  ...under("Output", "out json report show-rows small-cells svg plot results save apply onnx raw"),
  ...under("Output", "tables summary figures"),
};

/** For options that mean something else in one command than in the others. */
const HEADING_IN: Readonly<Record<string, Readonly<Record<string, Heading>>>> = {
  predict: under("Output", "at rmst risk threads"),
  audit: under("Scores", "seed threads"),
  discover: under("Search", "drop seed threads"),
  boost: under("Repair", "method seed threads apply"),
  compare: under("Training", "replicates"),
  reproduce: {
    ...under("Runs", "seeds preset workers threads systems splits eye truth part keep"),
    ...under("Runs", "sizes distances audits alpha seed"),
    ...under("Output", "page"),
  },
};

/** What `--help` shows of each command, in this order. */
const BASIC: Readonly<Record<string, string>> = {
  describe: "time event event-is origin id group groups category number json",
  km: "time event event-is origin by at rmst time-unit svg json",
  cox: "time event event-is features drop id strata reference interaction json",
  train: "time event event-is id group groups auto-groups drop report out",
  predict: "at rmst risk out category number threads",
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
