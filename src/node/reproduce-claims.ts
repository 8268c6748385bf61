/** `graduate reproduce claims|goals [--out FILE]`: pages of verdicts, from what is printed and the results that are there; nothing is run. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { readOutcomes } from "../data/outcomes/read-outcomes.ts";
import { readTable } from "../data/reading/read-table.ts";
import { findColumn, isMissing } from "../data/table.ts";
import { claimsPage, type TableFacts } from "../experiments/claims.ts";
import { type GoalInputs, goalsPage } from "../experiments/goals.ts";
import { PAGE_TARGETS, type PlanResults } from "../experiments/page.ts";
import { parsePlan } from "../experiments/plan.ts";
import { parsePublished } from "../experiments/published.ts";
import { parseResults, requireSamePlan } from "../experiments/results.ts";
import { replaceFile } from "./io/replace-file.ts";
import { tableSourceFromPath } from "./io/table-file.ts";
import { print } from "./print/output.ts";
import { pagePlans } from "./reproduce-tables.ts";

const packageFile = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const OUTCOMES = {
  nwtco: { time: "edrel", event: "rel" },
  flchain: { time: "futime", event: "death" },
} as const;

const RESULTS = packageFile("paper/results");

/** From the committed results, or from those in another folder. */
export async function makeClaimsPage(folder: string = RESULTS): Promise<string> {
  const tables = { nwtco: await countTable("nwtco"), flchain: await countTable("flchain") };
  return claimsPage({ ...readAll(folder), tables });
}

/** From the committed results, or from those in another folder. */
export function makeGoalsPage(folder: string = RESULTS): string {
  return goalsPage(readAll(folder));
}

function readAll(folder: string): GoalInputs {
  const published = packageFile("paper/published.json");
  const names = PAGE_TARGETS.flatMap(pagePlans);
  return {
    published: parsePublished(readFileSync(published, "utf8"), published),
    plans: new Map(names.map((name) => [name, readPlanResults(name, `${folder}/${name}.jsonl`)])),
  };
}

function readPlanResults(name: string, path: string): PlanResults {
  const planPath = packageFile(`paper/plans/${name}.json`);
  const plan = parsePlan(readFileSync(planPath, "utf8"), planPath);
  if (!existsSync(path)) return { plan, results: undefined };
  const results = parseResults(readFileSync(path, "utf8"), path).get(name);
  requireSamePlan(results, plan, path);
  return { plan, results };
}

async function countTable(name: keyof typeof OUTCOMES): Promise<TableFacts> {
  const table = await readTable(await tableSourceFromPath(packageFile(`datasets/${name}/${name}.csv`)));
  const { time, event } = OUTCOMES[name];
  const { event: events } = readOutcomes(table, { time, event });
  const features = table.columns.map((column) => column.name).filter((one) => one !== time && one !== event);
  const count = (read: (row: number) => boolean) =>
    Array.from({ length: table.rows }, (_, row) => read(row)).filter(Boolean).length;
  const died = (row: number) => events[row] === 1;
  const chapter = features.includes("chapter") ? findColumn(table, "chapter") : null;
  return {
    rows: table.rows,
    events: count(died),
    features,
    chapter:
      chapter === null
        ? null
        : {
            rows: count((row) => !isMissing(chapter, row)),
            events: count((row) => !isMissing(chapter, row) && died(row)),
            otherEvents: count((row) => isMissing(chapter, row) && died(row)),
          },
  };
}

export function addClaimsTarget(command: Command): void {
  addPage(
    command,
    "claims",
    "the paper's statements one by one, by what is printed and what has been run",
    () => makeClaimsPage(),
  );
  addPage(command, "goals", "what was to be shown beyond the paper, and what was measured", async () =>
    makeGoalsPage(),
  );
}

function addPage(command: Command, name: string, description: string, make: () => Promise<string>): void {
  command
    .command(name)
    .description(description)
    .option("--out <file>", "write the page there")
    .action(async ({ out }: { readonly out?: string }) => {
      const page = await make();
      if (out === undefined) print(page.trimEnd());
      else await replaceFile(out, page, "the page");
    });
}
