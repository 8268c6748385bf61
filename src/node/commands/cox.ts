/**
 * `graduate cox`: a proportional hazards fit with R's conventions, on the rows without missing values, and all that R says
 * about one: hazard ratios with intervals, global tests, the test of proportional hazards, robust errors, strata.
 */
import { type Command, Option } from "commander";
import { InputError, NumericalError } from "../../core/errors.ts";
import { isAbsent, type Measured } from "../../core/measured.ts";
import { joinTimes } from "../../core/near-times.ts";
import { countOf } from "../../core/text.ts";
import { checkTable } from "../../data/checks/sanity.ts";
import { buildDesign, type Design, parseInteraction, parseReference } from "../../data/encode/design.ts";
import { chooseFeatures, completeRows } from "../../data/encode/features.ts";
import { pickOutcomes, type RightCensored } from "../../data/outcomes/outcomes.ts";
import { refuseMergedIds } from "../../data/outcomes/people.ts";
import { noteOutcome, readOutcomes } from "../../data/outcomes/read-outcomes.ts";
import { numberRows, type RowKeys } from "../../data/outcomes/row-keys.ts";
import { findColumn, type Table } from "../../data/table.ts";
import { type CoxCoefficient, describeCoefficients } from "../../models/cox/coefficients.ts";
import {
  type ChiSquareTest,
  type CoxFit,
  checkColumns,
  fitCox,
  linearPredictor,
} from "../../models/cox/cox.ts";
import { type TimeTransform, testProportionalHazards } from "../../models/cox/proportional.ts";
import { robustCox } from "../../models/cox/robust.ts";
import { concordanceHarrell } from "../../stats/concordance/concordance.ts";
import {
  addOutcomeOptions,
  addTableOptions,
  idOption,
  namesOption,
  type OutcomeOptions,
  parseCount,
  parsePositive,
  readTableFile,
  type TableOptions,
} from "../options/table-options.ts";
import { printCox } from "../print/cox.ts";
import type { CoxDocument, CoxTestEntry } from "../print/cox-document.ts";
import { printJson } from "../print/output.ts";

export interface CoxOptions extends OutcomeOptions, TableOptions {
  readonly features?: readonly string[];
  readonly drop?: readonly string[];
  readonly allowLeak?: readonly string[];
  readonly ties: "efron" | "breslow";
  readonly ridge?: number;
  readonly id?: string;
  readonly strata?: readonly string[];
  readonly interaction?: readonly string[];
  readonly reference?: readonly string[];
  readonly timefix?: boolean;
  readonly iterations?: number;
  readonly json?: boolean;
}

const collect = (text: string, before: readonly string[] = []) => [...before, text];

export function addCox(program: Command): void {
  const command = program
    .command("cox")
    .description("Cox proportional hazards, as R's coxph fits it, with hazard ratios and tests")
    .argument("<table>", "CSV, gzip or Parquet file");
  addTableOptions(addOutcomeOptions(command))
    .option("--features <columns>", "the columns to use (default: all but ids and constants)", namesOption)
    .option("--drop <columns>", "columns not to use", namesOption)
    .option("--interaction <a:b>", "the product of two columns, beside both of them (repeatable)", collect)
    .option("--reference <column=level>", "the level a category is compared with (repeatable)", collect)
    .option("--strata <columns>", "a baseline hazard of its own for each value of these columns", namesOption)
    .option("--id <column>", "rows of one value are one person: robust errors, as R's cluster()", idOption)
    .option("--allow-leak <columns>", "use these columns although they give the outcome away", namesOption)
    .addOption(new Option("--ties <rule>", "tied event times").choices(["efron", "breslow"]).default("efron"))
    .option("--no-timefix", "keep times apart that differ only by rounding (1.5e-8); R ties them, too")
    .option("--ridge <penalty>", "ridge penalty on the coefficients", parsePositive)
    .option("--iterations <n>", "most steps of Newton's method (default: 100)", parseCount)
    .option("--json", "print one JSON document")
    .action(async (path: string, options: CoxOptions) => {
      const table = await readTableFile(path, options);
      const document = computeCox(table, options);
      if (options.json) printJson(document);
      else printCox(document);
    });
}

/** Which columns and rows take part. */
interface CoxSample {
  readonly features: readonly string[];
  readonly warnings: readonly string[];
  readonly rows: Int32Array;
  readonly outcomes: RightCensored;
  readonly design: Design;
  readonly strata: RowKeys;
  readonly people: RowKeys | undefined;
}

export function computeCox(table: Table, options: Omit<CoxOptions, "json">): CoxDocument {
  const timefix = options.timefix ?? true;
  const { rows, outcomes, design, strata, people, warnings } = prepareSample(table, options);
  const { D, names, values: x, terms } = design;
  const input = { ...outcomes, x, D, names, strata: strata.codes };
  const fit = fitCox(input, {
    ties: options.ties,
    timefix,
    ...(options.ridge === undefined ? {} : { ridge: options.ridge }),
    ...(options.iterations === undefined ? {} : { maxIterations: options.iterations }),
  });
  if (!fit.converged) {
    throw new NumericalError(`the Cox fit did not converge in ${countOf(fit.iterations, "iteration")}`, {
      code: "cox.notConverged",
      where: table.name,
      hint: "allow more --iterations, or leave out features that are nearly determined by others",
    });
  }
  const robust = people === undefined ? undefined : robustCox(input, fit, people.codes);
  const tests = {
    likelihoodRatio: fit.tests.likelihoodRatio,
    wald: robust?.wald ?? fit.tests.wald,
    score: fit.tests.score,
    robustScore: robust?.score ?? null,
  };
  const testHazards = (transform: TimeTransform) => {
    const { terms: tested, global } = testProportionalHazards(input, fit, terms, transform);
    return {
      terms: tested.map(({ name, test }) => ({ term: name, ...toEntry(test) })),
      global: toEntry(global),
    };
  };
  return {
    coefficients: describeCoefficients(fit, robust).map((one) =>
      toPlainCoefficient(one, robust !== undefined),
    ),
    loglik: fit.logLikelihood,
    loglikNull: fit.logLikelihoodNull,
    tests: {
      likelihoodRatio: toEntry(tests.likelihoodRatio),
      wald: toEntry(tests.wald),
      score: toEntry(tests.score),
      robustScore: tests.robustScore === null ? null : toEntry(tests.robustScore),
    },
    proportionalHazards: { km: testHazards("km"), identity: testHazards("identity") },
    n: fit.n,
    events: fit.events,
    omitted: table.rows - rows.length,
    ties: options.ties,
    timefix,
    iterations: fit.iterations,
    infinite: fit.infinite.map((j) => names[j]),
    references: design.references,
    strata: options.strata === undefined ? null : { columns: options.strata, count: strata.count },
    id: people === undefined ? null : { column: options.id ?? "", people: people.count },
    concordance: countConcordance(outcomes, fit, x, strata, timefix),
    warnings: [...warnings, ...fit.warnings],
  };
}

function prepareSample(table: Table, options: Omit<CoxOptions, "json">): CoxSample {
  const all = readOutcomes(table, options);
  const beside = [...(options.strata ?? []), ...(options.id === undefined ? [] : [options.id])];
  for (const name of beside) findColumn(table, name);
  for (const [option, columns] of [
    ["--strata", options.strata ?? []],
    ["--id", options.id === undefined ? [] : [options.id]],
  ] as const) {
    const twice = columns.find((name) => options.features?.includes(name));
    if (twice !== undefined)
      throw new InputError(`a column of ${option} cannot be a feature as well: "${twice}"`, {
        code: "feature.twice",
        where: table.name,
      });
  }
  const interactions = (options.interaction ?? []).map((text) => parseInteraction(text, table));
  const asked = interactions.flatMap(({ first, second }) => [first, second]);
  const named = options.features === undefined ? undefined : [...new Set([...options.features, ...asked])];
  const request = {
    ...options,
    drop: [...(options.drop ?? []), ...beside],
    ...(named === undefined ? {} : { features: named }),
  };
  // Looking for leaks among more columns than can be fitted would take minutes, for nothing.
  const outcome = new Set([options.time, options.event, ...request.drop]);
  checkColumns((named ?? table.columns.map(({ name }) => name)).filter((name) => !outcome.has(name)).length);
  const { features, leftOut } = chooseFeatures(table, checkTable(table, options), request);
  const unused = asked.find((name) => !features.includes(name));
  if (unused !== undefined)
    throw new InputError(`an interaction of a column that is not a feature: "${unused}"`, {
      code: "interaction.invalid",
      where: table.name,
      hint: "name the column in --features, or leave the interaction out",
    });
  const rows = completeRows(table, [...features, ...beside]);
  if (rows.length === 0)
    throw new InputError("no row without missing values", {
      code: "rows.none",
      where: table.name,
      hint: "choose the columns with --features, or leave out those with many missing values with --drop",
    });
  const design = buildDesign(table, {
    features,
    rows,
    interactions,
    references: (options.reference ?? []).map((text) => parseReference(text, table)),
  });
  const strata = numberRows(table, options.strata ?? [], rows);
  checkRank(design.D, rows.length - strata.count, options);
  return {
    features,
    warnings: [
      ...noteOutcome(table, options),
      ...leftOut.map(({ name, reason }) => `${name} is not used: it ${reason}`),
    ],
    rows,
    outcomes: pickOutcomes(all, rows),
    design,
    strata,
    people: options.id === undefined ? undefined : numberPeople(table, options.id, rows),
  };
}

/** Robust errors are computed from the differences between people: of one person there are none. */
function numberPeople(table: Table, id: string, rows: Int32Array): RowKeys {
  refuseMergedIds(table, findColumn(table, id));
  const people = numberRows(table, [id], rows);
  if (people.count >= 2) return people;
  throw new InputError("robust errors need two people or more", {
    code: "id.one",
    where: `${table.name}, column "${id}"`,
    hint: "leave --id out, or name the column that tells people apart",
  });
}

/** Rows are compared with each other within a stratum, which leaves one fewer than rows in each. */
function checkRank(D: number, comparisons: number, options: Pick<CoxOptions, "ridge">): void {
  if (D <= comparisons || options.ridge !== undefined) return;
  throw new InputError(`more coefficients than these rows can determine: ${D} (at most ${comparisons})`, {
    code: "cox.columns",
    hint: "choose features (--features, --drop), or add a penalty (--ridge 1)",
  });
}

/** Pairs within each stratum, as R counts them. */
function countConcordance(
  { time, event }: RightCensored,
  fit: CoxFit,
  x: Float64Array,
  strata: RowKeys,
  timefix: boolean,
): CoxDocument["concordance"] {
  const risk = linearPredictor(fit, x);
  const joined = timefix ? joinTimes(time) : time;
  const rowsOf: number[][] = Array.from({ length: strata.count }, () => []);
  strata.codes.forEach((s, row) => {
    rowsOf[s].push(row);
  });
  const sum = { concordant: 0, discordant: 0, tiedRisk: 0, tiedTime: 0, tiedBoth: 0 };
  for (const rows of rowsOf) {
    const { c: _, ...pairs } = concordanceHarrell(
      pickOutcomes({ time: joined, event }, rows),
      rows.map((row) => risk[row]),
    );
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += pairs[key];
  }
  const comparable = sum.concordant + sum.discordant + sum.tiedRisk;
  return { c: comparable === 0 ? null : (sum.concordant + sum.tiedRisk / 2) / comparable, ...sum };
}

function toEntry(test: Measured<ChiSquareTest>): CoxTestEntry {
  if (isAbsent(test)) return { chi2: null, df: null, p: null, absent: test.absent };
  return { chi2: test.chiSquare, df: test.df, p: test.p, absent: null };
}

function toPlainCoefficient(
  { name, ...measured }: CoxCoefficient,
  hasId: boolean,
): CoxDocument["coefficients"][number] {
  const reasons: Record<string, string> = {};
  const plain = (key: keyof typeof measured): number | null => {
    const value = measured[key];
    if (!isAbsent(value)) return value;
    reasons[key] = value.absent;
    return null;
  };
  return {
    name,
    estimate: plain("estimate"),
    standardError: plain("standardError"),
    robustStandardError: hasId ? plain("robustStandardError") : null,
    hazardRatio: plain("hazardRatio"),
    lower: plain("lower"),
    upper: plain("upper"),
    z: plain("z"),
    p: plain("p"),
    absent: reasons,
  };
}
