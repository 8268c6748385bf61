/**
 * What `import "graduate-survival"` offers in a page or a bare engine. A backend that is not given is the wasm one on
 * web workers where the page may share memory between threads and its kernels can be fetched, and elsewhere the plain
 * one, which runs anywhere and takes a hundred times as long.
 */
import type { Backend } from "../compute/backend.ts";
import { createReferenceBackend } from "../compute/reference.ts";
import { BackendError, InputError } from "../core/errors.ts";
import type { Table } from "../data/table.ts";
import type { PreparedStudy } from "../study/prepare.ts";
import type { Study } from "../study/study.ts";
import type { Model } from "../training/model.ts";
import type { AuditOptions } from "../verbs/audit.ts";
import type { AuditedRows } from "../verbs/audit-model.ts";
import type { CompareChoices, CompareEvent, CompareOptions, Comparison } from "../verbs/compare.ts";
import type { ModelDiscoverOptions, ModelDiscovery } from "../verbs/discover/discover-model.ts";
import type { FitOptions, FitRequest } from "../verbs/fit.ts";
import type { ModelStudy, OpenStudyOptions } from "../verbs/model-study.ts";
import type { ExplainOptions, Explanation } from "../verbs/people/explain.ts";
import type { PeoplePrediction, PeopleRequest } from "../verbs/people/predict-people.ts";
import type { Prediction } from "../verbs/predict.ts";
import type { KmDocument } from "../verbs/statistics/km.ts";
import type { ModelSummary } from "../verbs/summary/model-summary.ts";
import type { TrainingRequest } from "../verbs/train-request.ts";
import type { TuneChoices, TuneEvent, TuneOptions, TuneOutcome } from "../verbs/tune.ts";
import type { CurveReportOptions } from "./audit-curves.ts";
import { FittedModel } from "./fitted-model.ts";
import type { Home } from "./home.ts";
import * as at from "./with-home.ts";

const home: Home = {
  program: "graduate",
  async openBackend(model) {
    if (globalThis.crossOriginIsolated === true && typeof Worker === "function") {
      try {
        const { openWasmBackend } = await import("../browser/wasm-backend.ts");
        return await openWasmBackend({ deterministic: model?.provenance?.backend?.simd === "plain" });
      } catch (error) {
        // Kernels that are not served, or an engine without SIMD: slower, and the same model.
        if (!(error instanceof BackendError)) throw error;
      }
    }
    return createReferenceBackend();
  },
  async openDocument() {
    const { document } = globalThis as { readonly document?: unknown };
    if (document !== undefined) return document;
    throw new InputError("there is no document here to draw plots in", {
      code: "document.none",
      hint: 'give one: { document: parseHTML("<html></html>").document } of linkedom',
    });
  },
};

/** Gives a model, of a file, a worker or `train`, the methods of what `fit` returns. */
export function fitted(model: Model): FittedModel {
  return new FittedModel(model, home);
}

/** Trains on a table and returns the model; a backend is opened for the run unless one is given. */
export function fit(
  table: Table,
  request: FitRequest,
  backend?: Backend | null,
  options?: FitOptions,
): Promise<FittedModel> {
  return at.fitAt(home, table, request, backend, options);
}

/** Reads the bytes of a model file; `name` is the file's name in errors. */
export function modelFromBytes(bytes: Uint8Array, name: string): FittedModel {
  return at.readAt(home, bytes, name);
}

/** Survival curves and median times of a table, or of some of its rows. */
export function predict(
  model: Model,
  table: Table,
  backend?: Backend | null,
  rows?: ArrayLike<number>,
): Promise<Prediction> {
  return at.predictAt(home, model, table, backend, rows);
}

/** Predicts what people ask for: risks by some times, times of some shares, mean times, bands. */
export function predictPeople(
  model: Model,
  table: Table,
  backend: Backend | null | undefined,
  request: PeopleRequest,
  rows?: ArrayLike<number>,
): Promise<PeoplePrediction> {
  return at.predictPeopleAt(home, model, table, backend, request, rows);
}

/** Explains the prediction of one row (0-based). */
export function explainPerson(
  model: Model,
  table: Table,
  backend: Backend | null | undefined,
  row: number,
  options: ExplainOptions,
): Promise<Explanation> {
  return at.explainAt(home, model, table, backend, row, options);
}

/** What a model makes of each column. */
export function summariseModel(model: Model, backend?: Backend | null): Promise<ModelSummary> {
  return at.summariseAt(home, model, backend);
}

/** Reads a table for a model and finds out which of its rows are new to it. */
export function openStudy(
  model: Model,
  table: Table,
  backend?: Backend | null,
  options?: OpenStudyOptions,
): Promise<ModelStudy> {
  return at.openStudyAt(home, model, table, backend, options);
}

/** Predicts and scores some rows of a model's study. */
export function auditModel(
  study: Study & { readonly model: Model },
  rows: Int32Array,
  backend?: Backend | null,
  options?: AuditOptions,
): Promise<AuditedRows> {
  return at.auditModelAt(home, study, rows, backend, options);
}

/** Searches a model's study for groups that its curves are wrong for. */
export function discoverModel(
  study: ModelStudy,
  backend?: Backend | null,
  options?: ModelDiscoverOptions,
): Promise<ModelDiscovery> {
  return at.discoverModelAt(home, study, backend, options);
}

/** Trains every method on every split and tests the differences from the first method. All runs share `request`. */
export function compare(
  study: PreparedStudy,
  request: TrainingRequest,
  choices: CompareChoices,
  options?: CompareOptions,
): AsyncGenerator<CompareEvent, Comparison> {
  return at.compareAt(home, study, request, choices, options);
}

/** Trains with every setting, scores on the validation rows and chooses. All runs share `request`. */
export function tune(
  study: PreparedStudy,
  request: TrainingRequest,
  choices: TuneChoices,
  options?: TuneOptions,
): AsyncGenerator<TuneEvent, TuneOutcome> {
  return at.tuneAt(home, study, request, choices, options);
}

/** The audit of any program's curves (`auditCurves`) as one HTML page. */
export function reportCurves(table: Table, options?: CurveReportOptions): Promise<string> {
  return at.reportCurvesAt(home, table, options);
}

/** The Kaplan-Meier curves of `kmDocument` as SVG. */
export function plotKm(km: KmDocument, options?: at.KmPlotOptions): Promise<string> {
  return at.plotKmAt(home, km, options);
}
