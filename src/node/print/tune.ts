/** What `graduate tune` shows: its progress, the table of settings, the frontier as text and as SVG, and the rule of the choice. */
import { countOf } from "../../core/text.ts";
import { markOf, plotFrontierAsText } from "../../report/plots/frontier-text.ts";
import { formatNumber, formatP, formatTable, shorten, wrapText } from "../../report/words/text-table.ts";
import type { RunScores, Selection, SettingSummary } from "../../verbs/tune.ts";
import { describeSetting, sharedSetting } from "../../verbs/tune-settings.ts";
import { replaceFile } from "../io/replace-file.ts";
import { clearLive, isLive, print, say, showLive, terminalWidth } from "./output.ts";

export interface TuneProgress {
  underWay(share: number): void;
  done(label: string, seed: number, scores: RunScores | null, failure: string | null): void;
  finish(): void;
}

/** The frontier gains nothing by being wider. */
const PICTURE_WIDTH = 80;

/** Runs done, or parts of them, before a time left is more than a guess. */
const LEAST_DONE = 0.2;

/** A live line on a terminal, one plain line a run elsewhere. */
export function createTuneProgress(total: number, quiet: boolean): TuneProgress {
  const live = isLive();
  const started = performance.now();
  let [ended, share] = [0, 0];
  let last = "";
  const timeLeft = () => {
    const seconds = (performance.now() - started) / 1000;
    const done = ended + share;
    return done >= LEAST_DONE ? `, ${Math.ceil((seconds / done) * (total - done))} s left` : "";
  };
  const show = () => {
    if (!live || quiet) return;
    showLive(`${ended} of ${countOf(total, "run")}${timeLeft()}${last}`);
  };
  return {
    underWay(now) {
      share = now;
      show();
    },
    done(label, seed, scores, failure) {
      ended++;
      const said =
        scores === null
          ? `failed (${failure})`
          : `C ${formatNumber(scores.concordance, 4)}, worst group × ${formatNumber(scores.worst?.ratio, 2)}`;
      last = `; last: ${label}, ${said}`;
      if (live) show();
      else if (!quiet) {
        say(`${ended}/${total} ${label} seed ${seed}: ${said}${ended < total ? timeLeft() : ""}`);
      }
    },
    finish() {
      if (!quiet) clearLive();
    },
  };
}

export type PlottedSetting = SettingSummary & { readonly isChosen: boolean };

export async function writeFrontier(path: string, settings: readonly PlottedSetting[]): Promise<void> {
  // Loaded only when a plot is asked for: they take longer to load than a small sweep to run.
  const [{ parseHTML }, { plotFrontier }] = await Promise.all([
    import("linkedom"),
    import("../../report/plots/frontier-plot.ts"),
  ]);
  const svg = plotFrontier(settings, { document: parseHTML("<html></html>").document });
  await replaceFile(path, `${svg}\n`, "the plot");
}

export interface ShownSweep {
  readonly rows: { readonly train: number; readonly valid: number; readonly test: number };
  readonly seeds: readonly number[];
  readonly resultsPath: string;
  readonly plot: string | undefined;
  readonly out: string | undefined;
}

export function printSweep(
  summaries: readonly SettingSummary[],
  { rule, words, chosen }: Selection,
  { rows, seeds, resultsPath, plot, out }: ShownSweep,
): void {
  const width = terminalWidth();
  print(
    wrapText(
      `${countOf(summaries.length, "setting")}, ${seeds.length === 1 ? `seed ${seeds[0]}` : `means over seeds ${seeds.join(", ")}`}: ` +
        `trained on ${countOf(rows.train, "row")}, scored on ${countOf(rows.valid, "validation row")}. ` +
        `The ${countOf(rows.test, "test row")} had no part in it.`,
      width,
    ),
  );
  const shared = sharedSetting(summaries.map(({ setting }) => setting));
  if (summaries.length > 1 && Object.keys(shared).length > 0) print(`all with ${describeSetting(shared)}`);
  print("");
  print(
    formatTable(
      [
        { title: "   setting", flexible: true },
        { title: "C", align: "right" },
        { title: "total", align: "right" },
        { title: "error", align: "right" },
        { title: "p", align: "right" },
        { title: "met", align: "right" },
        { title: "worst group" },
        { title: "" },
      ],
      summaries.map((one, k) => [
        `${markOf(k)}  ${one.label}`,
        formatNumber(one.concordance, 4),
        formatNumber(one.total, 4),
        formatNumber(one.worst, 2),
        formatP(one.p),
        one.constrained === 0 ? "–" : `${formatNumber(one.met, 1)}/${formatNumber(one.constrained, 1)}`,
        one.failure === null ? shorten(one.worstGroup?.group ?? "–", 24) : "failed",
        [one.onFrontier ? "frontier" : "", k === chosen ? "chosen" : ""].filter(Boolean).join(", "),
      ]),
      width,
    ),
  );
  print("");
  print(
    wrapText(
      "error: the ECE of the worst group over its follow-up, in units of what a perfect model stays under in 95 of 100 samples of " +
        "these rows. p: how often chance gives a perfect model as large an error in any of the groups. met: constraints met on the " +
        "training rows. frontier: no setting is better in both C and error.",
      width,
    ),
  );
  const failures = summaries.flatMap(({ failure }, k) =>
    failure === null ? [] : [wrapText(`${markOf(k)} failed: ${failure}`, width, "  ")],
  );
  if (failures.length > 0) print(`\n${failures.join("\n")}`);
  const picture = plotFrontierAsText(
    summaries.map((one, k) => ({ ...one, mark: markOf(k) })),
    { width: Math.min(width, PICTURE_WIDTH) },
  );
  if (picture !== "") print(`\n${picture}`);
  print("");
  print(wrapText(`rule (${rule}): ${words}.`, width));
  print(
    chosen === null
      ? "chosen: none; no run gave scores"
      : `chosen: ${markOf(chosen)}, ${describeSetting(summaries[chosen].setting)}`,
  );
  print(`runs kept in ${resultsPath}${plot === undefined ? "" : `, plot written to ${plot}`}`);
  if (chosen !== null && out === undefined) {
    print("the same command with --out FILE trains the chosen setting and scores it on the test rows");
  }
}
