/**
 * `graduate reproduce TARGET --tables [FILE]`: the page of docs/results, made from existing results; nothing is run.
 */
import { print, replaceFile } from "graduate-survival/node";
import { cohortPage } from "../pages/cohort.page.ts";
import { findPlanResults, readPlanResults, readPublished } from "../runs/committed.ts";
import { type PageTarget, plansOf } from "../runs/targets.ts";
import { summariseTarget } from "../summaries/cohort.ts";

/** From `resultsPath`, or from the committed results of each plan. */
export function makePage(target: PageTarget, resultsPath?: string): string {
  const plans = plansOf(target).map((name) =>
    resultsPath === undefined ? findPlanResults(name) : readPlanResults(name, resultsPath),
  );
  return cohortPage(summariseTarget(target, plans, readPublished()));
}

/** Prints the page, or writes it where `to` names a file. */
export async function writePage(target: PageTarget, to: string | true, resultsPath?: string): Promise<void> {
  const page = makePage(target, resultsPath);
  if (to === true) print(page.trimEnd());
  else await replaceFile(to, page, "the page");
}
