/**
 * `graduate reproduce pictures`: the pictures of the front page, drawn from the committed lines of three studies;
 * nothing is run. Help does not list it.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { createUnwritableError, print, replaceFile } from "graduate-survival/node";
import { committedLines, STUDY_SUMMARIES } from "./studies.ts";

export interface PictureFile {
  /** Without a folder. */
  readonly name: string;
  readonly text: string;
}

export async function makePictures(): Promise<readonly PictureFile[]> {
  const [{ parseHTML }, { drawPictures }] = await Promise.all([
    import("linkedom"),
    import("../pictures/pictures.ts"),
  ]);
  const { document } = parseHTML("<html></html>");
  const summaries = {
    binding: STUDY_SUMMARIES.binding(committedLines("binding")),
    heldNotTold: STUDY_SUMMARIES["held-not-told"](committedLines("held-not-told")),
    targets: STUDY_SUMMARIES.targets(committedLines("targets")),
  };
  return Array.from(drawPictures(summaries, { document }), ([name, text]) => ({ name, text: `${text}\n` }));
}

async function runPictures({ out }: { readonly out: string }): Promise<void> {
  try {
    await mkdir(out, { recursive: true });
  } catch (error) {
    throw createUnwritableError(out, "the pictures", error);
  }
  for (const { name, text } of await makePictures()) {
    await replaceFile(join(out, name), text, "the picture");
    print(`written: ${join(out, name)}`);
  }
}

export function addPicturesTarget(reproduce: Command): void {
  reproduce
    .command("pictures", { hidden: true })
    .description("the pictures of the front page, from the committed lines")
    .option("--out <folder>", "where they are written", "docs/results/pictures")
    .action(runPictures);
}
