/** `graduate reproduce method`: the page on what the paper's method does, and its pictures; nothing is run. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { createUnwritableError, print, replaceFile } from "graduate-survival/node";
import { methodPage } from "../pages/method.page.ts";
import { findPlanResults } from "../runs/committed.ts";
import { PAGE_TARGETS } from "../runs/targets.ts";
import { type MethodSummary, summariseMethod } from "../summaries/method.ts";

/** Runs of nwtco at another pace. */
export const PACE_PLANS = ["paper-nwtco-primal-5", "paper-nwtco-primal-20", "paper-nwtco-every-5"] as const;

/** From the committed lines. */
export function readMethod(): MethodSummary {
  const plans = new Map(PAGE_TARGETS.map((target) => [target, findPlanResults(`paper-${target}`)]));
  return summariseMethod(
    plans,
    PACE_PLANS.map((name) => findPlanResults(name)),
  );
}

/** The page, and its pictures by name in the folder `method` beside it. */
export async function makeMethod(): Promise<ReadonlyMap<string, string>> {
  const [{ parseHTML }, { drawMethodPictures }] = await Promise.all([
    import("linkedom"),
    import("../pictures/method-pictures.ts"),
  ]);
  const { document } = parseHTML("<html></html>");
  const summary = readMethod();
  const pictures = drawMethodPictures(summary, { document });
  return new Map([
    ["method.md", methodPage(summary)],
    ...Array.from(pictures, ([name, text]) => [`method/${name}`, `${text}\n`] as const),
  ]);
}

export function addMethodTarget(reproduce: Command): void {
  reproduce
    .command("method")
    .description("what the paper's method does and why, from the lines of its recipe")
    .option("--out <folder>", "where page and pictures are written", "docs/results")
    .action(async ({ out }: { readonly out: string }) => {
      try {
        await mkdir(join(out, "method"), { recursive: true });
      } catch (error) {
        throw createUnwritableError(out, "the page", error);
      }
      for (const [name, text] of await makeMethod()) {
        await replaceFile(join(out, name), text, "the page");
        print(`written: ${join(out, name)}`);
      }
    });
}
