/**
 * What `graduate tune` shows: runs as they end, the table of settings, the frontier as text and as SVG, and the rule
 * for the choice.
 */
import { countOf } from "../../core/text.ts";
import { markOf, plotFrontierAsText } from "../../report/plots/terminal-plots.ts";
import { formatNumber, formatP, shorten } from "../../report/words/text-table.ts";
import type { TuneOutcome, TuneResult, TuneTask } from "../../verbs/tune.ts";
import type { SettingSummary } from "../../verbs/tuning/selection.ts";
import { describeSetting, sharedSetting } from "../../verbs/tuning/settings.ts";
import { replaceFile } from "../io/growing-file.ts";
import type { EndedRun } from "./follow-runs.ts";
import {
  isLive,
  nameColumn,
  numberColumns,
  print,
  printNote,
  printTable,
  printWrapped,
  say,
  terminalWidth,
} from "./output.ts";

/** A wider frontier shows nothing more. */
const PICTURE_WIDTH = 80;

/** A live line on a terminal, one plain line per run elsewhere. */
export function tellSetting(
  label: string,
  { task, index, result, progress }: EndedRun<TuneTask, TuneResult>,
): void {
  const { scores, failure } = result;
  const said =
    scores === null
      ? `failed (${failure})`
      : `C ${formatNumber(scores.concordance, 4)}, worst group × ${formatNumber(scores.worst?.ratio, 2)}`;
  progress.ended(index, `${label}, ${said}`);
  if (!isLive()) say(`${progress.count()} ${label} seed ${task.seed}: ${said}${progress.timeLeft()}`);
}

export type PlottedSetting = SettingSummary & { readonly isChosen: boolean };

export async function writeFrontier(path: string, settings: readonly PlottedSetting[]): Promise<void> {
  // Loaded only when a plot is asked for: loading takes longer than a small sweep.
  const [{ parseHTML }, { plotFrontier }] = await Promise.all([
    import("linkedom"),
    import("../../report/plots/frontier-plot.ts"),
  ]);
  const svg = plotFrontier(settings, { document: parseHTML("<html></html>").document });
  await replaceFile(path, `${svg}\n`, "the plot");
}

/** Where things were written. */
export interface SweepFiles {
  readonly results: string;
  readonly plot: string | undefined;
  readonly out: string | undefined;
}

export function printSweep(outcome: TuneOutcome, files: SweepFiles): void {
  const { settings } = outcome;
  printWrapped(describeSweep(outcome));
  const shared = sharedSetting(settings.map(({ setting }) => setting));
  if (settings.length > 1 && Object.keys(shared).length > 0) print(`all with ${describeSetting(shared)}`);
  print("");
  printSettings(outcome);
  printNote(outcome.causes === undefined ? LEGEND : CAUSE_LEGEND);
  if (settings.some(({ failure }) => failure !== null)) print("");
  for (const [k, { failure }] of settings.entries())
    if (failure !== null) printWrapped(`${markOf(k)} failed: ${failure}`, "  ");
  const picture = plotFrontierAsText(
    settings.map((one, k) => ({ ...one, mark: markOf(k) })),
    { width: Math.min(terminalWidth(), PICTURE_WIDTH) },
  );
  if (picture !== "") print(`\n${picture}`);
  print("");
  printChoice(outcome, files);
}

function describeSweep({ settings, seeds, rows }: TuneOutcome): string {
  const by = seeds.length === 1 ? `seed ${seeds[0]}` : `means over seeds ${seeds.join(", ")}`;
  return (
    `${countOf(settings.length, "setting")}, ${by}: ` +
    `trained on ${countOf(rows.train, "row")}, scored on ${countOf(rows.validation, "validation row")}. ` +
    `The ${countOf(rows.test, "test row")} had no part in it.`
  );
}

function printSettings({ settings, selection }: TuneOutcome): void {
  printTable(
    [
      nameColumn("   setting"),
      ...numberColumns("C", "total", "error", "p", "met"),
      { title: "worst group" },
      { title: "" },
    ],
    settings.map((one, k) => [
      `${markOf(k)}  ${one.label}`,
      formatNumber(one.concordance, 4),
      formatNumber(one.total, 4),
      formatNumber(one.worst, 2),
      formatP(one.p),
      one.constrained === 0 ? "–" : `${formatNumber(one.met, 1)}/${formatNumber(one.constrained, 1)}`,
      one.failure === null ? shorten(one.worstGroup?.group ?? "–", 24) : "failed",
      [one.onFrontier ? "frontier" : "", k === selection.chosen ? "chosen" : ""].filter(Boolean).join(", "),
    ]),
  );
}

const LEGEND =
  "error: the ECE of the worst group over its follow-up, in units of what a perfect model stays under in 95 of " +
  "100 samples of these rows. p: how often chance gives a perfect model as large an error in any of the groups. " +
  "met: constraints met on the training rows. frontier: no setting is better in both C and error.";

const CAUSE_LEGEND =
  "C: mean over the causes of Wolbers' concordance. error: the gap to Aalen-Johansen of the worst group and cause " +
  "over its follow-up, or under late entry that of their events, in units of what a perfect model stays under in 95 " +
  "of 100 samples of these rows. p: how often chance gives a perfect model as large an error in any group and " +
  "cause. met: constraints met on the training rows. frontier: no setting is better in both C and error.";

function printChoice(
  { settings, selection: { rule, words, chosen } }: TuneOutcome,
  { results, plot, out }: SweepFiles,
): void {
  printWrapped(`rule (${rule}): ${words}.`);
  print(
    chosen === null
      ? "chosen: none; no run gave scores"
      : `chosen: ${markOf(chosen)}, ${describeSetting(settings[chosen].setting)}`,
  );
  print(`runs kept in ${results}${plot === undefined ? "" : `, plot written to ${plot}`}`);
  if (chosen !== null && out === undefined) {
    print("the same command with --out FILE trains the chosen setting and scores it on the test rows");
  }
}
