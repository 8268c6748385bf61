/** `graduate cox`: a proportional hazards fit with R's conventions, on the rows without missing values. */
import { type Command, Option } from "commander";
import { chiSquareUpperTail } from "../core/distributions.ts";
import { isAbsent } from "../core/measured.ts";
import { encode, fitEncoder } from "../data/encode.ts";
import { chooseFeatures, completeRows } from "../data/features.ts";
import { pickOutcomes } from "../data/outcomes.ts";
import { readOutcomes } from "../data/read-outcomes.ts";
import { checkTable } from "../data/sanity.ts";
import type { Table } from "../data/table.ts";
import { fitCox, linearPredictor } from "../models/cox.ts";
import { formatNumber, formatP, formatTable } from "../report/text-table.ts";
import { concordanceHarrell } from "../stats/concordance.ts";
import { print, printJson, terminalWidth, warn } from "./output.ts";
import {
  addOutcomeOptions,
  addTableOptions,
  namesOption,
  type OutcomeOptions,
  parsePositive,
  readTableFile,
  type TableOptions,
} from "./table-options.ts";

export interface CoxDocument {
  readonly coefficients: readonly { readonly name: string; readonly estimate: number; readonly se: number }[];
  readonly loglik: number;
  readonly loglikNull: number;
  readonly n: number;
  readonly events: number;
  readonly omitted: number;
  readonly ties: "efron" | "breslow";
  readonly concordance: {
    readonly c: number | null;
    readonly concordant: number;
    readonly discordant: number;
    readonly tiedRisk: number;
    readonly tiedTime: number;
    readonly tiedBoth: number;
  };
  readonly warnings: readonly string[];
}

interface CoxOptions extends OutcomeOptions, TableOptions {
  readonly features?: readonly string[];
  readonly drop?: readonly string[];
  readonly allowLeak?: readonly string[];
  readonly ties: "efron" | "breslow";
  readonly ridge?: number;
  readonly json?: boolean;
}

export function addCox(program: Command): void {
  const command = program
    .command("cox")
    .description("Cox proportional hazards, as R's coxph fits it, with its concordance")
    .argument("<table>", "CSV, gzip or Parquet file");
  addTableOptions(addOutcomeOptions(command))
    .option("--features <columns>", "the columns to use (default: all but ids and constants)", namesOption)
    .option("--drop <columns>", "columns not to use", namesOption)
    .option("--allow-leak <columns>", "use these columns although they give the outcome away", namesOption)
    .addOption(new Option("--ties <rule>", "tied event times").choices(["efron", "breslow"]).default("efron"))
    .option("--ridge <penalty>", "ridge penalty on the coefficients", parsePositive)
    .option("--json", "print one JSON document")
    .action(async (path: string, options: CoxOptions) => {
      const table = await readTableFile(path, options);
      const document = computeCox(table, options);
      if (options.json) printJson(document);
      else printCox(document);
    });
}

export function computeCox(table: Table, options: Omit<CoxOptions, "json">): CoxDocument {
  const all = readOutcomes(table, options);
  const { features, leftOut } = chooseFeatures(table, checkTable(table, options), options);
  const rows = completeRows(table, features);
  const outcomes = pickOutcomes(all, rows);
  const encoder = fitEncoder(table, { features, rows, reference: "drop", standardise: false });
  const x = encode(encoder, table, rows);
  const model = fitCox(
    { ...outcomes, x: x.values, D: x.D, names: x.names },
    { ties: options.ties, ...(options.ridge === undefined ? {} : { ridge: options.ridge }) },
  );
  const { c, ...pairs } = concordanceHarrell(outcomes, linearPredictor(model, x.values));
  return {
    coefficients: x.names.map((name, d) => ({
      name,
      estimate: model.coefficients[d],
      se: model.standardErrors[d],
    })),
    loglik: model.logLikelihood,
    loglikNull: model.logLikelihoodNull,
    n: model.n,
    events: model.events,
    omitted: table.rows - rows.length,
    ties: options.ties,
    concordance: { c: isAbsent(c) ? null : c, ...pairs },
    warnings: [...leftOut.map(({ name, reason }) => `${name} is not used: it ${reason}`), ...model.warnings],
  };
}

export function printCox(document: CoxDocument): void {
  const omitted = document.omitted > 0 ? `, ${document.omitted} rows with missing values left out` : "";
  print(`Cox, ${document.ties} ties: ${document.n} rows, ${document.events} events${omitted}\n`);
  print(
    formatTable(
      [
        { title: "", flexible: true },
        { title: "coefficient", align: "right" },
        { title: "hazard ratio", align: "right" },
        { title: "se", align: "right" },
        { title: "z", align: "right" },
        { title: "p", align: "right" },
      ],
      document.coefficients.map(({ name, estimate, se }) => {
        const z = estimate / se;
        return [
          name,
          formatNumber(estimate),
          formatNumber(Math.exp(estimate)),
          formatNumber(se),
          formatNumber(z, 2),
          formatP(chiSquareUpperTail(z * z, 1)),
        ];
      }),
      terminalWidth(),
    ),
  );
  const { c, concordant, discordant, tiedRisk } = document.concordance;
  print(
    `\nlog-likelihood ${formatNumber(document.loglik)} (${formatNumber(document.loglikNull)} without features)`,
  );
  print(`C-index ${formatNumber(c)} (${concordant} concordant, ${discordant} discordant, ${tiedRisk} tied)`);
  for (const warning of document.warnings) warn(warning);
}
