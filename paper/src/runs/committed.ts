/** What is committed beside the sources: plans, their existing results, and the paper's printed tables. */
import { existsSync, readFileSync } from "node:fs";
import { type Published, parsePublished } from "../summaries/published.ts";
import { checkoutFile } from "./checkout.ts";
import { type Plan, parsePlan } from "./plan.ts";
import { parseResults, type Results, requireSamePlan } from "./results.ts";
import { PAGE_TARGETS, plansOf } from "./targets.ts";

/** A plan and its results so far. */
export interface PlanResults {
  readonly plan: Plan;
  /** Undefined where nothing has been run. */
  readonly results: Results | undefined;
  /** Whether its curves have been drawn. */
  readonly isDrawn?: boolean;
}

function isDrawn(name: string): boolean {
  return existsSync(`${RESULTS}/figures-${name}.json`);
}

/** The folder of the committed results. */
export const RESULTS = checkoutFile("paper/results");

export function planFile(name: string): string {
  return checkoutFile(`paper/plans/${name}.json`);
}

export function readPlan(name: string): Plan {
  return parsePlan(readFileSync(planFile(name), "utf8"), planFile(name));
}

/** Reads a file whose results, if any, must be of this form of the plan. */
export function readPlanResults(name: string, path: string): PlanResults {
  const plan = readPlan(name);
  const results = parseResults(readFileSync(path, "utf8"), path).get(name);
  requireSamePlan(results, plan, path);
  return { plan, results, isDrawn: isDrawn(name) };
}

/** The results of a plan in a folder; a plan that has no file there has not been run. */
export function findPlanResults(name: string, folder: string = RESULTS): PlanResults {
  const path = `${folder}/${name}.jsonl`;
  return existsSync(path) ? readPlanResults(name, path) : { plan: readPlan(name), results: undefined };
}

/** The results of all targets, by the name of the plan. */
export function findAllResults(folder: string = RESULTS): ReadonlyMap<string, PlanResults> {
  return new Map(PAGE_TARGETS.flatMap(plansOf).map((name) => [name, findPlanResults(name, folder)]));
}

export function readPublished(): Published {
  const path = checkoutFile("paper/published.json");
  return parsePublished(readFileSync(path, "utf8"), path);
}
