/** `graduate reproduce TARGET --tables [FILE]`: the page of docs/results made from results that are there; nothing is run. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type PageTarget, type PlanResults, resultsPage } from "../experiments/page.ts";
import { parsePlan } from "../experiments/plan.ts";
import { parsePublished } from "../experiments/published.ts";
import { parseResults, requireSamePlan } from "../experiments/results.ts";
import { replaceFile } from "./io/replace-file.ts";
import { print } from "./print/output.ts";

const packageFile = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The plans that a target's page is made of. */
export function pagePlans(target: PageTarget): readonly string[] {
  return [target, `paper-${target}`];
}

/** From `resultsPath`, or from the committed results of each plan. */
export function makePage(target: PageTarget, resultsPath?: string): string {
  const plans = pagePlans(target).map((name): PlanResults => {
    const planPath = packageFile(`paper/plans/${name}.json`);
    const plan = parsePlan(readFileSync(planPath, "utf8"), planPath);
    const path = resultsPath ?? packageFile(`paper/results/${name}.jsonl`);
    if (resultsPath === undefined && !existsSync(path)) return { plan, results: undefined };
    const results = parseResults(readFileSync(path, "utf8"), path).get(name);
    requireSamePlan(results, plan, path);
    return { plan, results };
  });
  const published = packageFile("paper/published.json");
  return resultsPage(target, plans, parsePublished(readFileSync(published, "utf8"), published));
}

/** Prints the page, or writes it where `to` names a file. */
export async function writePage(target: PageTarget, to: string | true, resultsPath?: string): Promise<void> {
  const page = makePage(target, resultsPath);
  if (to === true) print(page.trimEnd());
  else await replaceFile(to, page, "the page");
}
