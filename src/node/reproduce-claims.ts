/** `graduate reproduce claims [--out FILE]`: the paper's statements one by one, from what is printed and the results that are there; nothing is run. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { readOutcomes } from "../data/read-outcomes.ts";
import { readTable } from "../data/read-table.ts";
import { findColumn, isMissing } from "../data/table.ts";
import { claimsPage, type TableFacts } from "../experiments/claims.ts";
import { PAGE_TARGETS, type PlanResults } from "../experiments/page.ts";
import { parsePlan } from "../experiments/plan.ts";
import { parsePublished } from "../experiments/published.ts";
import { parseResults, requireSamePlan } from "../experiments/results.ts";
import { print } from "./output.ts";
import { replaceFile } from "./replace-file.ts";
import { pagePlans } from "./reproduce-tables.ts";
import { tableSourceFromPath } from "./table-file.ts";

const packageFile = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const OUTCOMES = {
  nwtco: { time: "edrel", event: "rel" },
  flchain: { time: "futime", event: "death" },
} as const;

/** From the committed results, or from those in another folder. */
export async function makeClaimsPage(folder: string = packageFile("paper/results")): Promise<string> {
  const published = packageFile("paper/published.json");
  return claimsPage({
    published: parsePublished(readFileSync(published, "utf8"), published),
    plans: new Map(
      PAGE_TARGETS.flatMap(pagePlans).map((name) => [name, readPlanResults(name, `${folder}/${name}.jsonl`)]),
    ),
    tables: { nwtco: await countTable("nwtco"), flchain: await countTable("flchain") },
  });
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
  command
    .command("claims")
    .description("the paper's statements one by one, by what is printed and what has been run")
    .option("--out <file>", "write the page there")
    .action(async ({ out }: { readonly out?: string }) => {
      const page = await makeClaimsPage();
      if (out === undefined) print(page.trimEnd());
      else await replaceFile(out, page, "the page");
    });
}
