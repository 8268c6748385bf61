/**
 * `graduate reproduce claims|goals [--out FILE]`: pages of verdicts, made from the printed tables and the existing
 * results; nothing is run.
 */

import type { Command } from "commander";
import { findColumn, isMissing, readOutcomes, readTable } from "graduate-survival/data";
import { print, replaceFile, tableSourceFromPath } from "graduate-survival/node";
import type { TableFacts } from "../claims/board.ts";
import { summariseClaims } from "../claims/claims.ts";
import { claimsPage } from "../pages/claims.page.ts";
import { goalsPage } from "../pages/goals.page.ts";
import { checkoutFile } from "../runs/checkout.ts";
import { findAllResults, readPublished } from "../runs/committed.ts";
import { type GoalInputs, summariseGoals } from "../summaries/goals.ts";

const OUTCOMES = {
  nwtco: { time: "edrel", event: "rel" },
  flchain: { time: "futime", event: "death" },
} as const;

/** From the committed results, or from those in another folder. */
export async function makeClaimsPage(folder?: string): Promise<string> {
  const tables = { nwtco: await countTable("nwtco"), flchain: await countTable("flchain") };
  return claimsPage(summariseClaims({ ...readInputs(folder), tables }));
}

/** From the committed results, or from those in another folder. */
export function makeGoalsPage(folder?: string): string {
  return goalsPage(summariseGoals(readInputs(folder)));
}

function readInputs(folder?: string): GoalInputs {
  return { published: readPublished(), plans: findAllResults(folder) };
}

async function countTable(name: keyof typeof OUTCOMES): Promise<TableFacts> {
  const table = await readTable(await tableSourceFromPath(checkoutFile(`datasets/${name}/${name}.csv`)));
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
