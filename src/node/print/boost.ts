/**
 * What `graduate boost` prints: how much of a repair was kept, the factors on the groups' hazards, and the verdict on
 * unseen rows.
 */
import { exp } from "../../core/elementary.ts";
import { countOf } from "../../core/text.ts";
import type { HazardBoost } from "../../repair/hazard-boost.ts";
import { LARGEST_RISE } from "../../repair/share-choice.ts";
import { quoteArgument } from "../../report/words/command-words.ts";
import { formatNumber } from "../../report/words/text-table.ts";
import type { BoostResult, BoostVerdict } from "../../verbs/boost.ts";
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

export function printBoost(result: BoostResult, rows: { readonly fit: number; readonly held: number }): void {
  const { choice, boost: fitted, verdict } = result;
  const left = `on rows left out of the fit (the ${countOf(rows.fit, "fitting row")}, cut`;
  if (choice === null) {
    const updates = countOf(fitted.updates.length, "update");
    printWrapped(`MCBoostSurv as the R package has it, faults included: ${updates}, unchecked.`);
  } else if (fitted.kind === "hazards") {
    const how = `${left} into ${choice.folds} folds)`;
    const limit = `${100 * LARGEST_RISE} %`;
    printWrapped(
      fitted.updates.length === 0
        ? `No repair: any share of it might raise the Brier score by ${limit} or more ${how}. ${UNCHANGED}`
        : `${sayShare(fitted.share)} of the repair: as much as does not raise the Brier score by ${limit}, ` +
            `three standard errors included, ${how}.`,
    );
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
        String(groups[group].events),
        groups[group].expected.toFixed(1),
        logRatios.map((a) => exp(a).toFixed(2)).join("  "),
      ]),
    );
  }
  const rest = updates.length - moved.length;
  if (rest > 0) print(`${countOf(rest, moved.length > 0 ? "other group" : "group")}: by 0.95 to 1.05`);
}

export function printVerdict(verdict: BoostVerdict): void {
  const { worst, ibs, ibsChange, concordance } = verdict;
  const rows = `${countOf(verdict.rows, "row")} (${countOf(verdict.events, "event")})`;
  print(`\non ${rows} that neither the model nor the repair has seen:\n`);
  printTable(
    [
      nameColumn("group"),
      ...numberColumns("n", "events", "L2 before", "after", "ECE before", "after", "bins"),
    ],
    verdict.groups.map(({ name, n, events, distance, ece, bins, judged }) => [
      judged ? name : `${name} (too few to say)`,
      String(n),
      String(events),
      sayDistance(distance.before),
      sayDistance(distance.after),
      formatNumber(ece.before),
      formatNumber(ece.after),
      String(bins),
    ]),
  );
  const say = (one: { readonly group: string; readonly distance: number } | null) =>
    one === null ? "–" : `${sayDistance(one.distance)} (${one.group})`;
  printNote(`worst group: L2 ${say(worst.before)} before, ${say(worst.after)} after`, "  ");
  const percent =
    ibsChange === null ? "" : ` (${ibsChange >= 0 ? "+" : "−"}${Math.abs(100 * ibsChange).toFixed(2)} %)`;
  print(
    `IBS ${formatNumber(ibs.before)} → ${formatNumber(ibs.after)}${percent}, ` +
      `C ${formatNumber(concordance.before, 3)} → ${formatNumber(concordance.after, 3)}`,
  );
  const note =
    "L2 and ECE: how far a group's mean curve is from its Kaplan-Meier curve over the bins with at least ten people " +
    "at risk; part of it is the noise of these rows, which no repair can lower.";
  printNote(note);
  if (worst.before !== null && worst.after !== null && worst.after.distance > worst.before.distance)
    warn("the worst group's distance rose on these rows: prefer the curves as they were");
  if (ibsChange !== null && ibsChange > WORTH_A_WARNING)
    warn(`the Brier score rose by more than ${100 * WORTH_A_WARNING} % on these rows`);
}
