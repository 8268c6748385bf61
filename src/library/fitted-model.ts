/**
 * A model that does what a fitted thing does: predict, audit, report, explain. Its own fields are those of `Model` and
 * nothing else, so that it is written, cloned and passed on as any model is. An audit judges the rows that the model
 * has not learnt from, whatever file or order the table came in (verbs/acquaintance/known-rows.ts), with the numbers
 * of `graduate audit`.
 */

import type { PlainFinding } from "../data/checks/findings.ts";
import type { Group } from "../data/groups/groups.ts";
import type { Split } from "../data/outcomes/split.ts";
import type { Table } from "../data/table.ts";
import { modelToBytes } from "../files/model/model-file.ts";
import type { Model } from "../training/model.ts";
import type { StudyAudit } from "../verbs/acquaintance/audit-study.ts";
import type { AuditOptions, AuditTable } from "../verbs/audit.ts";
import type { CauseAuditOptions, CauseAuditTable } from "../verbs/causes/audit-causes.ts";
import type { ModelDiscoverOptions, ModelDiscovery } from "../verbs/discover/discover-model.ts";
import type { ExplainOptions, Explanation } from "../verbs/people/explain.ts";
import type { PeoplePrediction, PeopleRequest } from "../verbs/people/predict-people.ts";
import { type Prediction, predict } from "../verbs/predict.ts";
import type { ModelSummary } from "../verbs/summary/model-summary.ts";
import { type BackendOption, type Home, withBackend } from "./home.ts";

/** Which rows, and what computes. */
export interface PredictOptions extends BackendOption {
  /** The rows, 0-based; all of them unless given. */
  readonly rows?: ArrayLike<number>;
}

/** Whose rows are judged, and for which groups besides the model's own. */
export interface JudgeOptions extends BackendOption {
  /** One group for each value of each of these columns. */
  readonly by?: readonly string[];
  /** Other groups. */
  readonly groups?: readonly Group[];
  /** The id column; the model's own unless given. */
  readonly id?: string;
  /** The split the model was trained with, where its file does not say. */
  readonly split?: Split;
  /** SHA-256 of the table's file, by which files of earlier versions know their table. */
  readonly sha256?: string;
  /** Judges also the rows that the model has learnt from, with a warning. */
  readonly allRows?: boolean;
}

/** How a model is audited. */
export type ModelAuditOptions = JudgeOptions & Omit<AuditOptions, "unbounded">;
/** How a model of several causes is audited. */
export type ModelCauseAuditOptions = JudgeOptions & Omit<CauseAuditOptions, "unbounded">;

/** Which rows were judged, and what has to be said of them. */
export interface Judged {
  /** "test rows", "rows of the table", and how many. */
  readonly rows: { readonly which: string; readonly judged: number };
  /** Test rows; rows of another table; or rows that the model has seen. */
  readonly relation: StudyAudit<unknown>["relation"];
  /** Edges of the time bins, by which a departure's bins are times. */
  readonly edges: readonly number[];
  /** What should be known of the outcome. */
  readonly findings: readonly PlainFinding[];
  readonly warnings: readonly string[];
}

/** Every score, and of which rows. */
export interface ModelAudit extends AuditTable, Judged {}
/** Every score by cause, and of which rows. */
export interface ModelCauseAudit extends CauseAuditTable, Judged {}

/** How a report is written. */
export interface ReportOptions extends ModelAuditOptions {
  /** What times count: "days". */
  readonly timeUnit?: string;
  /** How far off a group may be on average over time to be acceptable, in survival; 0.05 unless given. */
  readonly tolerance?: number;
  /** Shows three people's own curves, with row number, time and outcome. */
  readonly showRows?: boolean;
  /** Prints counts of people under five as they are. */
  readonly showSmallCells?: boolean;
  /** The page's title. */
  readonly title?: string;
  /** What makes SVG elements; the page's own document, or a small one in Node, unless given. */
  readonly document?: unknown;
}

/** How a person is explained; times are chosen by the model's horizon unless given. */
export type ExplainRequest = BackendOption & Omit<ExplainOptions, "at"> & Partial<Pick<ExplainOptions, "at">>;

/** How groups are searched. */
export type DiscoverRequest = BackendOption &
  Pick<JudgeOptions, "id" | "split" | "sha256"> &
  ModelDiscoverOptions;

/** The fields of a model as an object's own. */
class ModelFields {
  constructor(model: Model) {
    Object.assign(this, model);
  }
}

/** A trained model with what it can do. */
export class FittedModel extends (ModelFields as unknown as new (model: Model) => Model) {
  readonly #home: Home;

  /** Called by `fit`, `modelFromBytes` and `fitted`. */
  constructor(model: Model, home: Home) {
    super(model);
    this.#home = home;
  }

  /** Survival curves and median times. */
  predict(table: Table, { rows, backend }: PredictOptions = {}): Promise<Prediction> {
    return withBackend(this.#home, this, backend, (opened) => predict(this, table, opened, rows));
  }

  /** What people ask for: the risk by some times, the time of some shares, the mean time, bands. */
  async predictPeople(
    table: Table,
    request: PeopleRequest,
    { rows, backend }: PredictOptions = {},
  ): Promise<PeoplePrediction> {
    const { predictPeople } = await loadActions();
    return withBackend(this.#home, this, backend, (opened) =>
      predictPeople(this, table, opened, request, rows),
    );
  }

  /** Every score on the rows that the model has not learnt from, for everyone and by group. */
  async audit(table: Table, options: ModelAuditOptions = {}): Promise<ModelAudit> {
    const { auditTable } = await loadActions();
    return withBackend(this.#home, this, options.backend, (opened) =>
      auditTable(this, table, opened, options),
    );
  }

  /** The same by cause, of a model of several. */
  async auditCauses(table: Table, options: ModelCauseAuditOptions = {}): Promise<ModelCauseAudit> {
    const { auditTableCauses } = await loadActions();
    return withBackend(this.#home, this, options.backend, (opened) =>
      auditTableCauses(this, table, opened, options),
    );
  }

  /** The whole audit as one HTML page. */
  async report(table: Table, options: ReportOptions = {}): Promise<string> {
    const [{ openTable }, { reportModel }] = await Promise.all([loadActions(), import("./report.ts")]);
    return withBackend(this.#home, this, options.backend, async (opened) =>
      reportModel(await openTable(this, table, opened, options), opened, options, this.#home),
    );
  }

  /** What each column adds to the prediction of a row (0-based). */
  async explain(table: Table, row: number, options: ExplainRequest = {}): Promise<Explanation> {
    const { explainRow } = await loadActions();
    return withBackend(this.#home, this, options.backend, (opened) =>
      explainRow(this, table, opened, row, options),
    );
  }

  /** For which groups that nobody named are the curves wrong? */
  async discover(table: Table, options: DiscoverRequest = {}): Promise<ModelDiscovery> {
    const { discoverTable } = await loadActions();
    return withBackend(this.#home, this, options.backend, (opened) =>
      discoverTable(this, table, opened, options),
    );
  }

  /** What the model makes of each column. */
  async summary({ backend }: BackendOption = {}): Promise<ModelSummary> {
    const { summariseModel } = await loadActions();
    return withBackend(this.#home, this, backend, (opened) => summariseModel(this, opened));
  }

  /** The bytes of a model file, which `modelFromBytes` reads. */
  toBytes(): Uint8Array {
    return modelToBytes(this);
  }
}

/** Loaded with the first call: a page that only predicts needs none of it. */
function loadActions() {
  return import("./model-actions.ts");
}
