/**
 * The library's functions for a place to run: each opens by itself what it needs and was not given. A page (page.ts)
 * and Node (node/library.ts) call them with what they have.
 */
import type { Backend } from "../compute/backend.ts";
import type { Table } from "../data/table.ts";
import { modelFromBytes } from "../files/model/model-file.ts";
import type { PreparedStudy } from "../study/prepare.ts";
import type { Study } from "../study/study.ts";
import type { Model } from "../training/model.ts";
import type { AuditOptions } from "../verbs/audit.ts";
import { type AuditedRows, auditModel } from "../verbs/audit-model.ts";
import {
  type CompareChoices,
  type CompareEvent,
  type CompareOptions,
  type Comparison,
  compare,
} from "../verbs/compare.ts";
import {
  discoverModel,
  type ModelDiscoverOptions,
  type ModelDiscovery,
} from "../verbs/discover/discover-model.ts";
import { type FitOptions, type FitRequest, fit as fitOn } from "../verbs/fit.ts";
import { type ModelStudy, type OpenStudyOptions, openStudy } from "../verbs/model-study.ts";
import { type ExplainOptions, type Explanation, explainPerson } from "../verbs/people/explain.ts";
import { type PeoplePrediction, type PeopleRequest, predictPeople } from "../verbs/people/predict-people.ts";
import { type Prediction, predict } from "../verbs/predict.ts";
import type { KmDocument } from "../verbs/statistics/km.ts";
import type { ModelSummary } from "../verbs/summary/model-summary.ts";
import { summariseModel } from "../verbs/summary/summary.ts";
import type { TrainingRequest } from "../verbs/train-request.ts";
import { type TuneChoices, type TuneEvent, type TuneOptions, type TuneOutcome, tune } from "../verbs/tune.ts";
import { type CurveReportOptions, openCurves } from "./audit-curves.ts";
import { FittedModel } from "./fitted-model.ts";
import { type Home, withBackend } from "./home.ts";

/** A backend, or nothing: then one is opened. */
type Given = Backend | null | undefined;

export async function fitAt(
  home: Home,
  table: Table,
  request: FitRequest,
  given?: Given,
  options?: FitOptions,
): Promise<FittedModel> {
  // Cox needs no backend, and starting threads would take longer than the fit.
  const needs = { isNetwork: request.method !== "cox" };
  const model = await withBackend(home, needs, given, (backend) =>
    fitOn(table, request, backend ?? undefined, options),
  );
  return new FittedModel(model, home);
}

export function readAt(home: Home, bytes: Uint8Array, name: string): FittedModel {
  return new FittedModel(modelFromBytes(bytes, name), home);
}

export function predictAt(
  home: Home,
  model: Model,
  table: Table,
  given?: Given,
  rows?: ArrayLike<number>,
): Promise<Prediction> {
  return withBackend(home, model, given, (backend) => predict(model, table, backend, rows));
}

export function predictPeopleAt(
  home: Home,
  model: Model,
  table: Table,
  given: Given,
  request: PeopleRequest,
  rows?: ArrayLike<number>,
): Promise<PeoplePrediction> {
  return withBackend(home, model, given, (backend) => predictPeople(model, table, backend, request, rows));
}

export function explainAt(
  home: Home,
  model: Model,
  table: Table,
  given: Given,
  row: number,
  options: ExplainOptions,
): Promise<Explanation> {
  return withBackend(home, model, given, (backend) => explainPerson(model, table, backend, row, options));
}

export function summariseAt(home: Home, model: Model, given?: Given): Promise<ModelSummary> {
  return withBackend(home, model, given, (backend) => summariseModel(model, backend));
}

export function openStudyAt(
  home: Home,
  model: Model,
  table: Table,
  given?: Given,
  options?: OpenStudyOptions,
): Promise<ModelStudy> {
  // Only a file of an earlier version has curves computed to know its table by.
  const isNetwork = model.split?.content === undefined && model.predictor.kind === "network";
  return withBackend(home, { isNetwork }, given, (backend) => openStudy(model, table, backend, options));
}

export function auditModelAt(
  home: Home,
  study: Study & { readonly model: Model },
  rows: Int32Array,
  given?: Given,
  options?: AuditOptions,
): Promise<AuditedRows> {
  return withBackend(home, study.model, given, (backend) => auditModel(study, rows, backend, options));
}

export function discoverModelAt(
  home: Home,
  study: ModelStudy,
  given?: Given,
  options?: ModelDiscoverOptions,
): Promise<ModelDiscovery> {
  return withBackend(home, study.model, given, (backend) => discoverModel(study, backend, options));
}

export async function reportCurvesAt(
  home: Home,
  table: Table,
  options: CurveReportOptions = {},
): Promise<string> {
  const { reportAudited, settingsOf } = await import("./report.ts");
  return reportAudited(await openCurves(table, { ...options, ...settingsOf(options) }), options, home);
}

/** A plan of many runs, in this thread unless a runner has others. */
export async function* compareAt(
  home: Home,
  study: PreparedStudy,
  request: TrainingRequest,
  choices: CompareChoices,
  options: CompareOptions = {},
): AsyncGenerator<CompareEvent, Comparison> {
  if (options.runner !== undefined || options.backend !== undefined) {
    return yield* compare(study, request, choices, options);
  }
  const backend = await home.openBackend();
  try {
    return yield* compare(study, request, choices, { ...options, backend });
  } finally {
    await backend.close();
  }
}

export async function* tuneAt(
  home: Home,
  study: PreparedStudy,
  request: TrainingRequest,
  choices: TuneChoices,
  options: TuneOptions = {},
): AsyncGenerator<TuneEvent, TuneOutcome> {
  if (options.runner !== undefined || options.backend !== undefined) {
    return yield* tune(study, request, choices, options);
  }
  const backend = await home.openBackend();
  try {
    return yield* tune(study, request, choices, { ...options, backend });
  } finally {
    await backend.close();
  }
}

/** How a plot looks. */
export interface KmPlotOptions {
  /** What stands under the axis; "time" and the unit, where the document has one, unless given. */
  readonly timeLabel?: string;
  /** What makes SVG elements; the page's own document, or a small one in Node, unless given. */
  readonly document?: unknown;
}

export async function plotKmAt(home: Home, km: KmDocument, options: KmPlotOptions = {}): Promise<string> {
  const { plotKaplanMeier } = await import("../report/plots/plots.ts");
  const label = km.timeUnit === null ? "Time" : `Time in ${km.timeUnit}`;
  return plotKaplanMeier(km.groups, {
    document: options.document ?? (await home.openDocument()),
    timeLabel: options.timeLabel ?? label,
    ...(km.logrank === null ? {} : { logrankP: km.logrank.p }),
  });
}
