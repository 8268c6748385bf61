/**
 * `graduate demo`: from the bundled Wilms tumour table to an audited model and its report, using the commands that
 * anyone would type, each shown before it runs. The model and the report go to a temporary folder unless another is
 * named; the last lines say where.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { wrapText } from "../../report/words/text-table.ts";
import { createUnwritableError } from "../io/write-errors.ts";
import { parseCount } from "../options/table-options.ts";
import { print, terminalWidth } from "../print/output.ts";
import { programName } from "../program-name.ts";
import { addDescribe } from "./describe.ts";
import { addTrain } from "./train.ts";

const DATASETS = fileURLToPath(new URL("../../../datasets/", import.meta.url));
const TABLE = join(DATASETS, "nwtco", "nwtco.csv");
const GROUPS = join(DATASETS, "nwtco", "groups.json");
const OUTCOME = ["--time", "edrel", "--event", "rel"];

interface DemoOptions {
  readonly out?: string;
  readonly steps?: number;
}

export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("train on the bundled nwtco table with its 12 groups, audit, and write the report")
    .option("--out <folder>", "where the model and the report go (default: a temporary folder)")
    .option("--steps <n>", "fewer parameter updates, for a quicker and worse model", parseCount)
    .action(async (options: DemoOptions) => {
      const folder = makeFolder(options.out);
      const report = join(folder, "graduate-demo-report.html");
      await show("The table", addDescribe, ["describe", TABLE, ...OUTCOME, "--groups", GROUPS]);
      const model = ["--out", join(folder, "nwtco.model"), "--report", report, "--time-unit", "days"];
      const steps = options.steps === undefined ? [] : ["--steps", String(options.steps)];
      const training = ["train", TABLE, ...OUTCOME, "--groups", GROUPS, ...steps, ...model];
      await show("A model held to twelve groups", addTrain, training);
      print(`\nopen the report in a browser:\n  ${report}`);
    });
}

function makeFolder(wanted: string | undefined): string {
  try {
    if (wanted === undefined) return mkdtempSync(join(tmpdir(), "graduate-demo-"));
    mkdirSync(wanted, { recursive: true });
    return wanted;
  } catch (error) {
    throw createUnwritableError(wanted ?? tmpdir(), "the demo's files", error);
  }
}

async function show(title: string, add: (program: Command) => void, args: readonly string[]): Promise<void> {
  print(`\n── ${title} ${"─".repeat(Math.max(0, terminalWidth() - title.length - 4))}`);
  // as typed in a checkout, so that it can be pasted there
  const words = args.map((word) =>
    word.startsWith(DATASETS) ? `datasets/${word.slice(DATASETS.length)}` : word,
  );
  print(
    `${wrapText(`$ ${programName()} ${words.join(" ")}`, terminalWidth() - 2, "    ").replaceAll("\n", " \\\n")}\n`,
  );
  const program = new Command("graduate").exitOverride();
  add(program);
  await program.parseAsync([...args], { from: "user" });
}
