/**
 * `graduate reproduce examples [section]`: the worked examples of the paper's discussion, computed again and printed;
 * with --out the page and its figures are written as examples.md and examples/*.svg. This takes seconds; nothing is
 * trained on real people.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Argument, type Command } from "commander";
import { createUnwritableError, print, replaceFile } from "graduate-survival/node";
import { computeExamples, EXAMPLE_NAMES, type ExampleName, type Examples } from "../examples/examples.ts";
import { listFigures } from "../examples/figures.ts";
import { exampleSections, examplesPage } from "../pages/examples.page.ts";

export interface ExamplesOptions {
  /** One section only; all of them by default. */
  readonly section?: ExampleName;
  /** A folder for examples.md and examples/*.svg; without it the text is printed. */
  readonly out?: string;
}

export interface ExampleFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly text: string;
}

/** The page and its figures. */
export async function makeExampleFiles(examples: Examples): Promise<readonly ExampleFile[]> {
  const [{ parseHTML }, { plotExample }] = await Promise.all([
    import("linkedom"),
    import("../examples/plots.ts"),
  ]);
  const { document } = parseHTML("<html></html>");
  return [
    { path: "examples.md", text: examplesPage(examples) },
    ...listFigures(examples).map(({ name, panels, ...options }) => ({
      path: join("examples", `${name}.svg`),
      text: `${plotExample(panels, { document, ...options })}\n`,
    })),
  ];
}

export async function runExamples({ section, out }: ExamplesOptions): Promise<void> {
  const examples = await computeExamples();
  if (out === undefined) {
    const chosen = exampleSections(examples).find(({ name }) => name === section);
    print((chosen === undefined ? examplesPage(examples) : chosen.text).trimEnd());
    return;
  }
  try {
    await mkdir(join(out, "examples"), { recursive: true });
  } catch (error) {
    throw createUnwritableError(out, "the page", error);
  }
  for (const { path, text } of await makeExampleFiles(examples)) {
    await replaceFile(join(out, path), text, path.endsWith(".svg") ? "the figure" : "the page");
    print(`written: ${join(out, path)}`);
  }
}

export function addExamplesTarget(command: Command): void {
  command
    .command("examples")
    .description("the worked examples of the paper's discussion, and one against GRADUATE itself")
    .addArgument(new Argument("[section]", "one of them alone").choices(EXAMPLE_NAMES))
    .option("--out <folder>", "write examples.md and its figures there")
    .action(async (section: ExampleName | undefined, options: { readonly out?: string }) =>
      runExamples({ ...(section === undefined ? {} : { section }), ...options }),
    );
}
