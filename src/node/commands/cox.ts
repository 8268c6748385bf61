/**
 * `graduate cox`: fits (verbs/statistics/cox.ts) and prints coefficients that diverge to infinity first, then hazard
 * ratios, global tests and the test of proportional hazards.
 */
import { type Command, Option } from "commander";
import { describeInfinite } from "../../models/cox/cox.ts";
import { formatNumber, formatP, formatRange, formatWeighted } from "../../report/words/text-table.ts";
import { type CoxRequest, coxDocument } from "../../verbs/statistics/cox.ts";
import type { CoxDocument, CoxTestEntry } from "../../verbs/statistics/cox-document.ts";
import {
  addHistoryOptions,
  addTableOptions,
  checkHistoryOptions,
  idOption,
  namesOption,
  parseCount,
  parsePositive,
  readTableFile,
  repeatedOption,
  TABLE_ARGUMENT,
  type TableOptions,
} from "../options/table-options.ts";
import {
  followPhases,
  nameColumn,
  numberColumns,
  print,
  printJson,
  printTable,
  printWrapped,
  warn,
} from "../print/output.ts";

interface CoxOptions extends CoxRequest, TableOptions {
  readonly stop?: string;
  readonly json?: boolean;
}

export function addCox(program: Command): void {
  const command = program
    .command("cox")
    .description("Cox proportional hazards, as R's coxph fits it, with hazard ratios and tests")
    .argument("<table>", TABLE_ARGUMENT);
  addTableOptions(addHistoryOptions(command))
    .option("--cause <value>", "the cause that is the event, as --event-is; other causes are censored")
    .option("--fine-gray", "model the incidence of --cause: other causes compete (Fine and Gray)")
    .option("--censored <value>", "with --fine-gray, the value that means censored")
    .option("--features <columns>", "the columns to use (default: all but ids and constants)", namesOption)
    .option("--drop <columns>", "columns not to use", namesOption)
    .option(
      "--interaction <a:b>",
      "the product of two columns, beside both of them (repeatable)",
      repeatedOption,
    )
    .option(
      "--reference <column=level>",
      "the level a category is compared with (repeatable)",
      repeatedOption,
    )
    .option("--strata <columns>", "a baseline hazard of its own for each value of these columns", namesOption)
    .option("--id <column>", "rows of one value are one person: robust errors, as R's cluster()", idOption)
    .option("--allow-leak <columns>", "use these columns although they give the outcome away", namesOption)
    .addOption(new Option("--ties <rule>", "tied event times").choices(["efron", "breslow"]).default("efron"))
    .option("--no-timefix", "keep times apart that differ only by rounding (1.5e-8); R ties them, too")
    .option("--ridge <penalty>", "ridge penalty on the coefficients", parsePositive)
    .option("--iterations <n>", "most steps of Newton's method (default: 100)", parseCount)
    .option("--json", "print one JSON document")
    .action(async (path: string, options: CoxOptions) => {
      checkHistoryOptions(options);
      const document = coxDocument(await readTableFile(path, options), options, followPhases());
      if (options.json) printJson(document);
      else printCox(document);
    });
}

export function printCox(document: CoxDocument): void {
  const { strata, id, references, observed } = document;
  const infinite = document.infinite.length === 0 ? undefined : describeInfinite(document.infinite);
  if (infinite !== undefined) {
    printWrapped(capitalise(infinite));
    print("");
  }
  const rows = document.omitted === 1 ? "row" : "rows";
  const omitted = document.omitted > 0 ? `, ${document.omitted} ${rows} with missing values left out` : "";
  print(
    `${titleOf(document)}, ${document.ties} ties: ${document.n} rows, ${document.events} events${omitted}`,
  );
  if (strata !== null) print(`stratified by ${strata.columns.join(", ")}: ${strata.count} baseline hazards`);
  if (document.cause?.model === "subdistribution")
    printWrapped(
      `competing: ${(document.cause.competing ?? []).join(", ")}; hazard ratios are those of the subdistribution: ` +
        "they order incidences; robust errors",
    );
  if (observed?.entry) print(`rows at risk after ${observed.entry}`);
  if (observed?.weights) print(`weighted by ${observed.weights}: robust errors`);
  if (id !== null) print(`robust errors: ${id.people} values of ${id.column}, each one person`);
  if (references.length > 0)
    print(`compared with ${references.map(({ column, level }) => `${column}=${level}`).join(", ")}`);
  print("");
  printCoefficients(document);
  print(
    `\nlog-likelihood ${formatNumber(document.loglik)} (${formatNumber(document.loglikNull)} without features)`,
  );
  const { likelihoodRatio, wald, score, robustScore } = document.tests;
  print(`likelihood ratio test: ${formatTest(likelihoodRatio)}`);
  print(`Wald test${robustScore === null ? "" : ", robust"}: ${formatTest(wald)}`);
  print(`score (logrank) test: ${formatTest(score)}`);
  if (robustScore !== null) print(`score test, robust: ${formatTest(robustScore)}`);
  const { c, concordant, discordant, tiedRisk } = document.concordance;
  const pairs = [concordant, discordant, tiedRisk].map(formatWeighted);
  if (document.cause?.model !== "subdistribution")
    print(`C-index ${formatNumber(c)} (${pairs[0]} concordant, ${pairs[1]} discordant, ${pairs[2]} tied)`);
  printProportionalHazards(document);
  for (const warning of document.warnings) if (warning !== infinite) warn(warning);
}

function titleOf({ cause }: CoxDocument): string {
  if (cause === undefined) return "Cox";
  return cause.model === "subdistribution"
    ? `Fine and Gray, subdistribution of ${cause.value}`
    : `Cox, cause-specific hazard of ${cause.value}`;
}

function capitalise(sentence: string): string {
  return `${sentence[0].toUpperCase()}${sentence.slice(1)}`;
}

function formatTest({ chi2, df, p, absent }: CoxTestEntry): string {
  return absent === null ? `chi2 ${formatNumber(chi2)} on ${df} df, p ${formatP(p)}` : `none: ${absent}`;
}

function printCoefficients(document: CoxDocument): void {
  const robust = document.tests.robustScore !== null;
  const infinite = new Set(document.infinite);
  printTable(
    [
      nameColumn(""),
      ...numberColumns("coefficient", "se"),
      ...(robust ? numberColumns("robust se") : []),
      ...numberColumns("hazard ratio", "95 % interval", "z", "p"),
    ],
    document.coefficients.map((one) => [
      one.name,
      infinite.has(one.name) ? `to ${(one.estimate ?? 0) < 0 ? "−" : "+"}∞` : formatNumber(one.estimate),
      formatNumber(one.standardError),
      ...(robust ? [formatNumber(one.robustStandardError)] : []),
      formatNumber(one.hazardRatio),
      formatRange(one.lower, one.upper),
      formatNumber(one.z, 2),
      formatP(one.p),
    ]),
  );
}

function printProportionalHazards({ proportionalHazards: { km, identity } }: CoxDocument): void {
  if (km.global.absent !== null) {
    print(`\nproportional hazards not tested: ${km.global.absent}`);
    return;
  }
  print("\nproportional hazards (Schoenfeld residuals, as R's cox.zph): does a ratio change over time?");
  const row = (name: string, first: CoxTestEntry, second: CoxTestEntry) => [
    name,
    String(first.df ?? "–"),
    formatNumber(first.chi2),
    formatP(first.p),
    formatNumber(second.chi2),
    formatP(second.p),
  ];
  printTable(
    [nameColumn(""), ...numberColumns("df", "chi2 (km)", "p (km)", "chi2 (identity)", "p (identity)")],
    [
      ...km.terms.map((term, t) => row(term.term, term, identity.terms[t])),
      ...(km.terms.length > 1 ? [row("all", km.global, identity.global)] : []),
    ],
  );
}
