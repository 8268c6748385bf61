/**
 * What `graduate boost` prints: how much of a repair was kept, the factors on the groups' hazards, and the verdict on
 * unseen rows.
 */
import { exp } from "../../core/elementary.ts";
import { countOf } from "../../core/text.ts";
import type { HazardBoost } from "../../repair/hazard-boost.ts";
import { LARGEST_LOSS, LARGEST_RISE } from "../../repair/share-choice.ts";
import { quoteArgument } from "../../report/words/command-words.ts";
import { formatNumber } from "../../report/words/text-table.ts";
import type { BoostResult, BoostVerdict } from "../../verbs/boost.ts";
import type { CauseBoostResult, CauseBoostVerdict } from "../../verbs/causes/boost-causes.ts";
import { programName } from "../program-name.ts";
import { nameColumn, numberColumns, print, printNote, printTable, printWrapped, warn } from "./output.ts";

/** A log hazard ratio smaller than this counts as no change. */
const WORTH_SAYING = 0.05;
/** A rise in the held-out Brier score beyond this is reported. */
const WORTH_A_WARNING = 0.01;

const UNCHANGED = "The curves stay as they were.";

/** An L2 distance in exponential form, because it is a mean of squares. */
const sayDistance = (value: number | null | undefined) =>
  value === null || value === undefined ? "–" : value.toExponential(2);

/** `auditing`: further options for an audit of the written curves; null if an audit would flatter them. */
export function printFiles(
  { out, save }: { readonly out: string | null; readonly save: string | null },
  auditing: string | null,
): void {
  if (out !== null) print(`\nrepaired curves written to ${out}`);
  if (out !== null && auditing !== null)
    print(`  ${programName()} audit --curves ${quoteArgument(out)}${auditing}`);
  if (save !== null) print(`\nthe repair is in ${save}; --apply ${save} carries it out on other rows`);
}

/** Under late entry, where the Brier score is not defined. */
const LOSS_LIMIT = "−log likelihood";

/** How much of a repair on the hazard scale is applied, and what held it in check. */
function sayHowFar(share: number, fitRows: number, folds: number, score: string): void {
  const how = `on rows left out of the fit (the ${countOf(fitRows, "fitting row")}, cut into ${folds} folds)`;
  const limit = score === LOSS_LIMIT ? `${LARGEST_LOSS} an event` : `${100 * LARGEST_RISE} %`;
  printWrapped(
    share === 0
      ? `No repair: any share of it might raise ${score} by ${limit} or more ${how}. ${UNCHANGED}`
      : `${sayShare(share)} of the repair: as much as does not raise ${score} by ${limit}, ` +
          `three standard errors included, ${how}.`,
  );
}

/** A repair of several causes: how far it goes, its factors, and the verdict, cause by cause. */
export function printCauseBoost(
  { choice, boost: fitted, verdict }: CauseBoostResult,
  rows: { readonly fit: number; readonly held: number },
): void {
  const isLate = choice.tried[0].causes[0].ibsChange === null;
  const score = isLate ? LOSS_LIMIT : "the Brier score of any cause";
  sayHowFar(choice.share, rows.fit, choice.folds, score);
  fitted.hazards.forEach((one, k) => {
    if (one.updates.length === 0) return;
    print(`\n${fitted.causes[k]}`);
    printRatios(one);
  });
  printCauseVerdict(verdict);
}

/** The verdict on each cause. */
export function printCauseVerdict({ causes }: CauseBoostVerdict): void {
  for (const { name, ...verdict } of causes) {
    print(`\n${name}`);
    printVerdict(verdict, "Aalen-Johansen");
  }
}

export function printBoost(result: BoostResult, rows: { readonly fit: number; readonly held: number }): void {
  const { choice, boost: fitted, verdict } = result;
  const left = `on rows left out of the fit (the ${countOf(rows.fit, "fitting row")}, cut`;
  if (choice === null) {
    const updates = countOf(fitted.updates.length, "update");
    printWrapped(`MCBoostSurv as the R package has it, faults included: ${updates}, unchecked.`);
  } else if (fitted.kind === "hazards" && "tried" in choice) {
    const isLate = choice.tried[0].ibsChange === null;
    sayHowFar(fitted.share, rows.fit, choice.folds, isLate ? LOSS_LIMIT : "the Brier score");
    printRatios(fitted);
  } else if ("rounds" in choice) {
    const how = `${left} ${choice.repeats} times into ${choice.folds} folds)`;
    printWrapped(
      choice.rounds === 0
        ? `No repair: every number of rounds raised the groups' distances or the Brier score ${how}. ${UNCHANGED}`
        : `${countOf(fitted.updates.length, "update")}, as many as did no harm ${how}.`,
    );
  }
  printVerdict(verdict);
}

function sayShare(share: number): string {
  return share === 1 ? "All" : `${Math.round(100 * share)} %`;
}

/** Weighted events are no whole number. */
const formatEvents = (events: number) => (Number.isInteger(events) ? String(events) : events.toFixed(1));

/** The factors on each group's hazards, early to late. */
function printRatios({ groups, updates }: HazardBoost): void {
  const moved = updates.filter(({ logRatios }) => logRatios.some((a) => Math.abs(a) >= WORTH_SAYING));
  if (updates.length === 0) return;
  print("\nhazards multiplied by, early to late:\n");
  if (moved.length > 0) {
    printTable(
      [nameColumn("group"), ...numberColumns("events", "expected"), { title: "times" }],
      moved.map(({ group, logRatios }) => [
        groups[group].name,
        formatEvents(groups[group].events),
        groups[group].expected.toFixed(1),
        logRatios.map((a) => exp(a).toFixed(2)).join("  "),
      ]),
    );
  }
  const rest = updates.length - moved.length;
  if (rest > 0) print(`${countOf(rest, moved.length > 0 ? "other group" : "group")}: by 0.95 to 1.05`);
}

/** `observed`: what mean curves are compared with. */
export function printVerdict(verdict: BoostVerdict, observed = "its Kaplan-Meier curve"): void {
  const { worst, ibs, ibsChange, concordance, distanceOf } = verdict;
  const isLate = distanceOf !== undefined;
  const rows = `${countOf(verdict.rows, "row")} (${countOf(verdict.events, "event")})`;
  print(`\non ${rows} that neither the model nor the repair has seen:\n`);
  const sayOne = isLate ? (value: number | null) => formatNumber(value, 2) : sayDistance;
  printTable(
    [
      nameColumn("group"),
      ...numberColumns("n", "events", isLate ? "χ² before" : "L2 before", "after"),
      ...numberColumns(isLate ? "O/E before" : "ECE before", "after", "bins"),
    ],
    verdict.groups.map(({ name, n, events, distance, ece, ratio, bins, judged }) => [
      judged ? name : `${name} (too few to say)`,
      String(n),
      String(events),
      sayOne(distance.before),
      sayOne(distance.after),
      formatNumber((isLate ? ratio : ece)?.before),
      formatNumber((isLate ? ratio : ece)?.after),
      String(bins),
    ]),
  );
  const say = (one: { readonly group: string; readonly distance: number } | null) =>
    one === null ? "–" : `${sayOne(one.distance)} (${one.group})`;
  const measure = isLate ? "χ² of events at risk" : "L2";
  printNote(`worst group: ${measure} ${say(worst.before)} before, ${say(worst.after)} after`, "  ");
  const percent =
    ibsChange === null ? "" : ` (${ibsChange >= 0 ? "+" : "−"}${Math.abs(100 * ibsChange).toFixed(2)} %)`;
  const ranks = `C ${formatNumber(concordance.before, 3)} → ${formatNumber(concordance.after, 3)}`;
  print(isLate ? ranks : `IBS ${formatNumber(ibs.before)} → ${formatNumber(ibs.after)}${percent}, ${ranks}`);
  printNote(isLate ? LATE_NOTE : explainDistances(observed));
  if (worst.before !== null && worst.after !== null && worst.after.distance > worst.before.distance)
    warn("the worst group's distance rose on these rows: prefer the curves as they were");
  if (ibsChange !== null && ibsChange > WORTH_A_WARNING)
    warn(`the Brier score rose by more than ${100 * WORTH_A_WARNING} % on these rows`);
}

function explainDistances(observed: string): string {
  return (
    `L2 and ECE: how far a group's mean curve is from ${observed} over the bins with at least ten people ` +
    "at risk; part of it is the noise of these rows, which no repair can lower."
  );
}

const LATE_NOTE =
  "χ²: how far a group's events are from those its people's hazards at risk predict, a mean over blocks of time, " +
  "about 1 for right curves; O/E: observed over predicted events. Means of curves are not comparable with what is " +
  "observed of people who entered late.";
