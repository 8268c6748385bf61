/**
 * A proportional hazards fit with R's conventions, on the rows without missing values, with everything R reports about
 * one: hazard ratios with intervals, global tests, the test of proportional hazards, robust errors, strata. It turns a
 * table into the document that `graduate cox` prints; a page may call it as well.
 */

import { InputError, NumericalError } from "../../core/errors.ts";
import { isAbsent, type Measured, toPlainNumbers } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import type { PhaseProgress } from "../../core/progress.ts";
import { countOf } from "../../core/text.ts";
import { type PlainFinding, toPlainFinding } from "../../data/checks/findings.ts";
import { checkTable } from "../../data/checks/sanity.ts";
import {
  buildDesign,
  type Design,
  type Interaction,
  parseInteraction,
  parseReference,
} from "../../data/encode/design.ts";
import {
  chooseFeatures,
  completeRows,
  type FeatureChoice,
  type FeatureRequest,
} from "../../data/encode/features.ts";
import { type Outcomes, pickOutcomes, requireSingleCause } from "../../data/outcomes/outcomes.ts";
import { numberRows, type RowKeys, refuseMergedIds } from "../../data/outcomes/people.ts";
import type { HistoryColumns } from "../../data/outcomes/read-history.ts";
import { findColumn, type Table } from "../../data/table.ts";
import { type CoxCoefficient, describeCoefficients, robustCox } from "../../models/cox/coefficients.ts";
import {
  type ChiSquareTest,
  type CoxFit,
  type CoxTies,
  checkColumns,
  fitCoxInPlace,
  type PreparedCoxRows,
} from "../../models/cox/cox.ts";
import { type TimeTransform, testProportionalHazards } from "../../models/cox/proportional.ts";
import { fitSubdistribution, type SubdistributionInput } from "../../models/cox/subdistribution.ts";
import { concordanceHarrell } from "../../stats/concordance/concordance.ts";
import type { CoxDocument, CoxTestEntry } from "./cox-document.ts";
import { causeOf, eachAlone, observedOf, readCoxOutcomes } from "./cox-outcomes.ts";

/** What to fit to which columns, and how. */
export interface CoxRequest extends FeatureRequest, Pick<HistoryColumns, "entry" | "start" | "weights"> {
  /** How tied event times are treated; "efron" unless given. */
  readonly ties?: CoxTies;
  /** Whether times that differ only by rounding are tied, by R's rule; true unless given. */
  readonly timefix?: boolean;
  /** Ridge penalty on the coefficients; none unless given. */
  readonly ridge?: number;
  /** Maximum number of Newton steps; 100 unless given. */
  readonly iterations?: number;
  /** The column that identifies people: errors are then robust, as with R's cluster(). */
  readonly id?: string;
  /** The value of the event column that is the event; other causes are censored, or compete with `fineGray`. */
  readonly cause?: string;
  /** The value that means censored; needed where it is not 0, no, none, alive, censored or the like. */
  readonly censored?: string;
  /** Whether the subdistribution of the cause is modelled (Fine and Gray), not its cause-specific hazard. */
  readonly fineGray?: boolean;
  /** Columns whose values each have their own baseline hazard. */
  readonly strata?: readonly string[];
  /** Products of two columns, "a:b". */
  readonly interaction?: readonly string[];
  /** The reference level of a category, "column=level". */
  readonly reference?: readonly string[];
}

/** Told when each step begins: the design, the fit, two tests of proportional hazards, the concordance. */
export type CoxProgress = PhaseProgress<"fitting">;
const STEPS = 5;

/** Fits and tests; throws where the fit does not converge. */
export function coxDocument(table: Table, request: CoxRequest, onProgress?: CoxProgress): CoxDocument {
  const begin = (step: number) => onProgress?.("fitting", step, STEPS);
  begin(0);
  const { ties = "efron", timefix = true, ridge, iterations, id } = request;
  const { rows, outcomes, design, strata, people, findings, warnings } = prepareSample(table, request);
  begin(1);
  const { D, names, values: x, terms } = design;
  const limits = { ties, timefix, ...present({ ridge, maxIterations: iterations }) };
  const { fit, prepared } = isSubdistribution(request)
    ? fitIncidence({ ...outcomes, x, D, names }, limits)
    : fitCoxInPlace(
        { ...requireSingleCause(outcomes, "Cox's model"), x, D, names, strata: strata.codes },
        limits,
      );
  if (!fit.converged) {
    throw new NumericalError(`the Cox fit did not converge in ${countOf(fit.iterations, "iteration")}`, {
      code: "cox.notConverged",
      where: table.name,
      hint: "allow more --iterations, or leave out features that are nearly determined by others",
    });
  }
  const robust = people === undefined ? undefined : robustCox(prepared, fit, people.codes);
  const testHazards = (transform: TimeTransform, step: number) => {
    begin(step);
    const { terms: tested, global } = testProportionalHazards(prepared, fit, terms, transform);
    return {
      terms: tested.map(({ name, test }) => ({ term: name, ...toEntry(test) })),
      global: toEntry(global),
    };
  };
  const proportionalHazards = { km: testHazards("km", 2), identity: testHazards("identity", 3) };
  begin(4);
  const concordance = isSubdistribution(request) ? NO_CONCORDANCE : countConcordance(fit, prepared);
  begin(STEPS);
  return {
    coefficients: describeCoefficients(fit, robust).map((one) => toEntryOf(one, robust !== undefined)),
    loglik: fit.logLikelihood,
    loglikNull: fit.logLikelihoodNull,
    tests: {
      likelihoodRatio: toEntry(fit.tests.likelihoodRatio),
      wald: toEntry(robust?.wald ?? fit.tests.wald),
      score: toEntry(fit.tests.score),
      robustScore: robust === undefined ? null : toEntry(robust.score),
    },
    proportionalHazards,
    n: fit.n,
    events: fit.events,
    omitted: table.rows - rows.length,
    ties,
    timefix,
    iterations: fit.iterations,
    infinite: fit.infinite.map((j) => names[j]),
    references: design.references,
    strata: request.strata === undefined ? null : { columns: request.strata, count: strata.count },
    id: people === undefined || id === undefined ? null : { column: id, people: people.count },
    ...observedOf(request),
    ...causeOf(table, request),
    concordance,
    findings,
    warnings: [...warnings, ...fit.warnings],
  };
}

/** Which columns and rows take part. */
interface CoxSample {
  readonly findings: readonly PlainFinding[];
  readonly warnings: readonly string[];
  readonly rows: Int32Array;
  readonly outcomes: Outcomes;
  readonly design: Design;
  readonly strata: RowKeys;
  readonly people: RowKeys | undefined;
}

function prepareSample(table: Table, request: CoxRequest): CoxSample {
  const { id, strata: strataColumns = [], reference = [], interaction = [] } = request;
  const history = readCoxOutcomes(table, request);
  const all = history.outcomes;
  const { entry, start, weights } = request;
  const beside = [...strataColumns, ...[id, entry, start, weights].filter((name) => name !== undefined)];
  for (const name of beside) findColumn(table, name);
  refuseFeatures("--strata", strataColumns, table, request);
  refuseFeatures("--id", id === undefined ? [] : [id], table, request);
  const interactions = interaction.map((text) => parseInteraction(text, table));
  const { features, leftOut } = chooseColumns(table, request, beside, interactions);
  const complete = completeRows(table, [...features, ...beside]);
  const rows = all.weight === undefined ? complete : complete.filter((row) => (all.weight?.[row] ?? 1) > 0);
  if (rows.length === 0)
    throw new InputError("every row has a missing value", {
      code: "rows.none",
      where: table.name,
      hint: "choose the columns with --features, or use --drop to leave out those with many missing values",
    });
  const references = reference.map((text) => parseReference(text, table));
  const design = buildDesign(table, { features, rows, interactions, references });
  const strata = numberRows(table, strataColumns, rows);
  checkRank(design.D, rows.length - strata.count, request);
  return {
    findings: history.told.map(toPlainFinding),
    warnings: [
      ...history.told.map(({ message }) => message),
      ...leftOut.map(({ name, reason }) => `${name} is not used: it ${reason}`),
    ],
    rows,
    outcomes: pickOutcomes(all, rows),
    design,
    strata,
    people: id === undefined ? eachAlone(all, rows) : numberPeople(table, id, rows),
  };
}

function isSubdistribution({ fineGray }: CoxRequest): boolean {
  return fineGray === true;
}

/** A concordance of incidences needs censoring weights; it is a score of its own. */
const NO_CONCORDANCE: CoxDocument["concordance"] = {
  c: null,
  concordant: 0,
  discordant: 0,
  tiedRisk: 0,
  tiedTime: 0,
  tiedBoth: 0,
};

/** The subdistribution of the first cause. */
function fitIncidence(
  {
    cause = new Uint8Array(0),
    ...input
  }: Outcomes & { x: Float64Array; D: number; names: readonly string[] },
  options: { readonly ties: CoxTies; readonly timefix: boolean; readonly maxIterations?: number },
) {
  const { model, prepared } = fitSubdistribution({ ...input, cause } as SubdistributionInput, {
    ...options,
    of: 1,
  });
  return { fit: model, prepared };
}

/** A column of strata or ids cannot also be a feature. */
function refuseFeatures(
  option: string,
  columns: readonly string[],
  table: Table,
  { features }: Pick<CoxRequest, "features">,
): void {
  const twice = columns.find((name) => features?.includes(name));
  if (twice === undefined) return;
  throw new InputError(`a column of ${option} cannot be a feature as well: "${twice}"`, {
    code: "feature.twice",
    where: table.name,
  });
}

/** The features: those asked for and those of interactions, without the columns in `beside`. */
function chooseColumns(
  table: Table,
  request: CoxRequest,
  beside: readonly string[],
  interactions: readonly Interaction[],
): FeatureChoice {
  const asked = interactions.flatMap(({ first, second }) => [first, second]);
  const named = request.features === undefined ? undefined : [...new Set([...request.features, ...asked])];
  // Entry and weights may be features too, for those who name them.
  const drop = [...(request.drop ?? []), ...beside.filter((name) => named?.includes(name) !== true)];
  // Looking for leaks among more columns than can be fitted would waste minutes.
  const others = new Set([request.time, request.event, ...drop]);
  checkColumns((named ?? table.columns.map(({ name }) => name)).filter((name) => !others.has(name)).length);
  const wanted = { ...request, drop, ...present({ features: named }) };
  const judged = request.cause === undefined ? request : { ...request, eventIs: request.cause };
  const choice = chooseFeatures(table, checkTable(table, judged), wanted);
  const unused = asked.find((name) => !choice.features.includes(name));
  if (unused !== undefined)
    throw new InputError(`an interaction names a column that is not a feature: "${unused}"`, {
      code: "interaction.invalid",
      where: table.name,
      hint: "name the column in --features, or leave the interaction out",
    });
  return choice;
}

/** Robust errors come from the differences between people: with one person there are none. */
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

/** Rows are compared within a stratum, so each stratum gives one comparison fewer than it has rows. */
function checkRank(D: number, comparisons: number, { ridge }: Pick<CoxRequest, "ridge">): void {
  if (D <= comparisons || ridge !== undefined) return;
  throw new InputError(`more coefficients than these rows can determine: ${D} (at most ${comparisons})`, {
    code: "cox.columns",
    hint: "choose features (--features, --drop), or add a penalty (--ridge 1)",
  });
}

/** Pairs within each stratum, as R counts them, in the order of time in which the rows are. */
function countConcordance(
  { coefficients }: CoxFit,
  { rows, scales }: PreparedCoxRows,
): CoxDocument["concordance"] {
  const { N, D, x, event, times, start, firstGroup, weight, intervals } = rows;
  const beta = coefficients.map((one, j) => (Number.isNaN(one) ? 0 : one * scales[j]));
  const risk = new Float64Array(N);
  for (let i = 0, at = 0; i < N; i++, at += D) {
    for (let j = 0; j < D; j++) risk[i] += x[at + j] * beta[j];
  }
  const time = new Float64Array(N);
  for (let k = 0; k < times.length; k++) time.fill(times[k], start[k], start[k + 1]);
  const sum = { concordant: 0, discordant: 0, tiedRisk: 0, tiedTime: 0, tiedBoth: 0 };
  const isWeighted = weight.some((own) => own !== 1);
  for (let s = 0; s + 1 < firstGroup.length; s++) {
    const [from, to] = [start[firstGroup[s]], start[firstGroup[s + 1]]];
    const own = {
      time: time.subarray(from, to),
      event: event.subarray(from, to),
      // Rows from the start have no entry; 0 is none.
      ...(intervals && { entry: intervals.from.slice(from, to).map((entry) => Math.max(entry, 0)) }),
      ...(isWeighted && { weight: weight.subarray(from, to) }),
    };
    const { c: _, ...pairs } = concordanceHarrell(own, risk.subarray(from, to));
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += pairs[key];
  }
  const comparable = sum.concordant + sum.discordant + sum.tiedRisk;
  return { c: comparable === 0 ? null : (sum.concordant + sum.tiedRisk / 2) / comparable, ...sum };
}

function toEntry(test: Measured<ChiSquareTest>): CoxTestEntry {
  if (isAbsent(test)) return { chi2: null, df: null, p: null, absent: test.absent };
  return { chi2: test.chiSquare, df: test.df, p: test.p, absent: null };
}

/** Without an id there is no robust error and nothing to explain. */
function toEntryOf(
  { name, ...measured }: CoxCoefficient,
  hasId: boolean,
): CoxDocument["coefficients"][number] {
  const { absent, ...numbers } = toPlainNumbers(measured);
  const { robustStandardError: _, ...others } = absent;
  return { name, ...numbers, absent: hasId ? absent : others };
}
