/** `graduate demo`: the main steps on the bundled Wilms tumour table, with the commands that repeat them. */
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { describeTable } from "../data/describe.ts";
import { wrapText } from "../report/text-table.ts";
import { computeCox, printCox } from "./cox.ts";
import { printDescription } from "./describe.ts";
import { computeKm, printKm } from "./km.ts";
import { print, terminalWidth } from "./output.ts";
import { readGroups, readTableFile } from "./table-options.ts";

const TABLE = fileURLToPath(new URL("../../datasets/nwtco/nwtco.csv", import.meta.url));
const GROUPS = fileURLToPath(new URL("../../datasets/nwtco/groups.json", import.meta.url));
const OUTCOME = { time: "edrel", event: "rel" };
const FEATURES = ["histol", "stage", "study", "age"];

export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("describe, plot and fit the bundled nwtco table")
    .action(async () => {
      const table = await readTableFile(TABLE, { category: ["stage"] });
      const groups = await readGroups(table, { group: [], groups: GROUPS });
      title("The table", "describe", "--groups datasets/nwtco/groups.json");
      printDescription(describeTable(table, OUTCOME, groups));
      title("Kaplan-Meier by histology", "km", "--by histol");
      printKm(computeKm(table, { ...OUTCOME, by: ["histol"], interval: "log" }), { interval: "log" });
      title("Cox proportional hazards", "cox", `--category stage --features ${FEATURES.join(",")}`);
      printCox(computeCox(table, { ...OUTCOME, features: FEATURES, ties: "efron" }));
    });
}

function title(text: string, command: string, options: string): void {
  print(`\n── ${text} ${"─".repeat(Math.max(0, terminalWidth() - text.length - 4))}`);
  const line = `$ npx graduate ${command} datasets/nwtco/nwtco.csv --time edrel --event rel ${options}`;
  print(`${wrapText(line, terminalWidth() - 2, "    ").replaceAll("\n", " \\\n")}\n`);
}
