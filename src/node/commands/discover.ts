/**
 * `graduate discover`: finds the groups for which predicted curves are most wrong on some rows, and tests them on
 * others.
 */

import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { present } from "../../core/present.ts";
import { countOf } from "../../core/text.ts";
import { toPlainFinding } from "../../data/checks/findings.ts";
import { formatNumber, formatP, formatRange, formatTable } from "../../report/words/text-table.ts";
import { isolateCause, placeCause } from "../../verbs/causes/cause-alone.ts";
import { chooseSearchColumns, type LeftOutColumn } from "../../verbs/discover/columns.ts";
import { type DiscoveredGroup, type Discovery, discover } from "../../verbs/discover/discover.ts";
import {
  discoverModel,
  type ModelDiscoverOptions,
  type ModelDiscovery,
} from "../../verbs/discover/discover-model.ts";
import { refuseOutcomeOfModel } from "../io/read-cause-predictions.ts";
import { hasWholeOutcome, readCurvesOfCauses, readCurvesOfHistory } from "../io/read-outcome-curves.ts";
import {
  addPredictionOptions,
  type GivenPredictions,
  onlyFile,
  openModelStudy,
  type PredictionOptions,
  readModelTable,
  readWithCurves,
} from "../io/read-predictions.ts";
import {
  addTableOptions,
  namesOption,
  numberOption,
  parseAtLeastOne,
  parseCount,
  parseShare,
  parseThreads,
} from "../options/table-options.ts";
import {
  nameColumn,
  numberColumns,
  print,
  printJson,
  printNote,
  printWrapped,
  terminalWidth,
  warn,
} from "../print/output.ts";

interface DiscoverCommandOptions extends GivenPredictions<PredictionOptions> {
  readonly columns?: readonly string[];
  readonly drop?: readonly string[];
  readonly cause?: string;
  readonly top: number;
  readonly cross: number;
  readonly minRows: number;
  readonly minEvents: number;
  readonly level: number;
  readonly seed: number;
  readonly json?: boolean;
}

export function addDiscover(program: Command): void {
  const command = program
    .command("discover")
    .description("find the groups that predicted curves are most wrong for, and test them on other rows")
    .argument("[model]", "a model that train wrote (with --curves: the table)")
    .argument("[table]", "rows it has not seen: a file, or a folder or 'pattern' of several");
  addTableOptions(addPredictionOptions(command))
    .option(
      "--columns <columns>",
      "make groups of these, or all (default: the model's own; of --curves all but ids, leaks and constants)",
      namesOption,
    )
    .option("--drop <columns>", "make no groups of these", namesOption)
    .option("--cause <name>", "of several causes, the one whose events are searched")
    .option("--top <n>", "most groups to find and test", parseAtLeastOne, 8)
    .option("--cross <n>", "most columns in one group: 1, 2 or 3", parseCross, 2)
    .option("--min-rows <n>", "fewest rows of a group", parseAtLeastOne, 100)
    .option("--min-events <n>", "fewest events of a group, observed or expected", parseAtLeastOne, 10)
    .option("--level <p>", "adjusted p-values up to this confirm", parseShare, 0.05)
    .option("--seed <n>", "seed of the two halves", parseCount, 1)
    .option("--threads <n>", "threads that predict", parseThreads, availableParallelism())
    .option("--json", "print one JSON document")
    .action(
      async (first: string | undefined, second: string | undefined, options: DiscoverCommandOptions) => {
        const paths = [first, second].filter((path) => path !== undefined);
        await runDiscover(paths, options);
      },
    );
}

const parseCross = numberOption((value) => [1, 2, 3].includes(value), "1, 2 or 3");

async function runDiscover(paths: readonly string[], options: DiscoverCommandOptions): Promise<void> {
  const { found, which, leftOut, findings, warnings } =
    options.curves === undefined ? await searchModel(paths, options) : await searchCurves(paths, options);
  if (options.json) {
    const reasons = leftOut.map(({ name, reason }) => ({ name, reason }));
    printJson({ ...found, which, leftOut: reasons, findings: findings.map(toPlainFinding), warnings });
    return;
  }
  for (const warning of warnings) warn(warning);
  for (const { name, reason } of leftOut.filter(({ isForeign }) => !isForeign).slice(0, MAX_NAMED))
    warn(`${name} makes no groups: it ${reason}`);
  printDiscovery(found, which, leftOut);
}

function settingsOf(options: DiscoverCommandOptions): ModelDiscoverOptions {
  const { columns: asked, drop, cause, top, cross: maxCross, minRows, minEvents, level, seed } = options;
  const columns = asked?.length === 1 && asked[0] === "all" ? ("all" as const) : asked;
  return { top, maxCross, minRows, minEvents, level, seed, ...present({ columns, drop, cause }) };
}

async function searchModel(paths: readonly string[], given: DiscoverCommandOptions): Promise<ModelDiscovery> {
  refuseOutcomeOfModel(given);
  const { curves: _, ...options } = given;
  const { study, backend } = await openModelStudy(await readModelTable(paths, options), options);
  try {
    return await discoverModel(study, backend, settingsOf(given));
  } finally {
    await backend?.close();
  }
}

async function searchCurves(
  paths: readonly string[],
  options: DiscoverCommandOptions,
): Promise<ModelDiscovery> {
  const { columns: asked, drop, cause, ...settings } = settingsOf(options);
  const read = await readSearched(paths, options, cause);
  const { table, columns: outcome, curves, outcomes, id, people, findings, warnings } = read;
  const { columns, leftOut } = chooseSearchColumns(table, outcome, {
    ...present({ columns: asked, drop }),
    id,
  });
  const input = { curves, outcomes, table, ...present({ people: people ?? undefined }) };
  const found = discover(input, { ...settings, columns });
  return { found, which: { search: "rows", confirm: "rows" }, leftOut, findings, warnings };
}

/** Curves of one kind of event, or of one of several causes as if it were the only one, as of a model. */
async function readSearched(
  paths: readonly string[],
  given: DiscoverCommandOptions,
  cause: string | undefined,
) {
  const { curves: files, causes, ...options } = given;
  if (causes !== undefined) {
    const { curves, outcomes, ...rest } = await readCurvesOfCauses(paths, { ...given, causes });
    const place = placeCause(curves.causes, cause) ?? 0;
    const { curves: alone, binned } = isolateCause(curves, outcomes, place);
    return { ...rest, curves: alone, outcomes: binned };
  }
  placeCause(undefined, cause);
  const path = onlyFile(files) ?? "";
  return hasWholeOutcome(given)
    ? readCurvesOfHistory(path, paths, options)
    : readWithCurves(path, paths, options);
}

/** How many columns are listed by name; the rest are only counted. */
const MAX_NAMED = 12;

/** Which columns of the table were searched, and which were not. */
function printColumns(searched: readonly string[], leftOut: readonly LeftOutColumn[]): void {
  printWrapped(`searched: ${nameColumns(searched)}`);
  const foreign = leftOut.filter(({ isForeign }) => isForeign).map(({ name }) => name);
  const others = leftOut.filter(({ isForeign }) => !isForeign).map(({ name }) => name);
  if (foreign.length > 0) {
    const why = "(not the model's; --columns all searches them too)";
    printWrapped(`not searched: ${nameColumns(foreign)} ${why}`);
  }
  if (others.length > MAX_NAMED) printWrapped(`make no groups: ${nameColumns(others)}`);
}

function nameColumns(names: readonly string[]): string {
  if (names.length === 0) return "no column";
  const shown = names.slice(0, MAX_NAMED).join(", ");
  return names.length > MAX_NAMED ? `${shown} and ${names.length - MAX_NAMED} more` : shown;
}

const INDENT = "    ";

function printDiscovery(
  found: Discovery,
  which: ModelDiscovery["which"],
  leftOut: readonly LeftOutColumn[],
): void {
  const { rows, people, events, columns, candidates, groups, level } = found;
  const of = (set: "search" | "confirm") => (people === undefined ? "" : ` of ${people[set]} people`);
  const confirmed = groups.filter((group) => group.confirmed);
  const others = groups.filter((group) => !group.confirmed);
  printWrapped(
    `${countOf(candidates, "group")} of ${countOf(columns.length, "column")} searched on ` +
      `${rows.search} ${which.search}${of("search")} (${countOf(events.search, "event")}); ` +
      `the ${groups.length} worst tested on ` +
      `${which.search === which.confirm ? "the other " : ""}${rows.confirm} ${which.confirm}${of("confirm")} ` +
      `(${countOf(events.confirm, "event")}): ${confirmed.length} confirmed.`,
  );
  printColumns(columns, leftOut);
  if (groups.length === 0) {
    print("No group of sufficient size stands out enough to be tested.");
    return;
  }
  if (confirmed.length > 0) printGroups("confirmed", confirmed);
  if (others.length > 0) printGroups("not confirmed", others);
  printNote(explainColumns(level));
  const toName = confirmed.filter(({ explained }) => !explained).map(({ expression }) => expression);
  if (toName.length === 0) return;
  print("\nTo hold a model to them (train) or to watch them (audit):");
  for (const expression of toName) print(`  --group ${quoteForShell(expression)}`);
}

function printGroups(title: string, groups: readonly DiscoveredGroup[]): void {
  const table = formatTable(
    [
      nameColumn(title),
      ...numberColumns("n", "events", "predicted", "ratio", "95 %", "p search", "p again", "p adjusted"),
    ],
    groups.map(({ expression, search, confirm, adjustedP }) => [
      expression,
      String(confirm.n),
      String(confirm.observed),
      confirm.expected.toFixed(1),
      formatNumber(confirm.ratio, 2),
      formatRange(confirm.lower, confirm.upper, 2),
      formatP(search.p),
      formatP(confirm.replicationP),
      formatP(adjustedP),
    ]),
    terminalWidth(),
  );
  const [heading, ...lines] = table.split("\n");
  print(`\n${heading}`);
  lines.forEach((line, k) => {
    print(line);
    const { direction, confirmed, explained } = groups[k];
    if (confirmed) print(`${INDENT}${direction}${explained ? " (the groups above account for it)" : ""}`);
  });
}

function explainColumns(level: number): string {
  return (
    "n to 95 %: on the rows that were not searched. predicted: the events that the curves expect of these people " +
    "while under observation; ratio: events over predicted. p search: on the searched rows, the smallest of very " +
    "many and so no test. p again: how often right curves would depart in the same way, in level and over time, " +
    "on rows that were not searched. " +
    "p adjusted: the same for any of the groups listed, those first found with the larger shares (Holm); " +
    `at most ${level} confirms. A group that is not confirmed may still be off.`
  );
}

/** In double quotes if a shell leaves the text unchanged in them, otherwise in single quotes. */
function quoteForShell(text: string): string {
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
