/**
 * A model that does what a fitted thing does: predict, audit, report, explain. Its own fields are those of `Model` and
 * nothing else, so that it is written, cloned and passed on as any model is. An audit judges the rows that the model
 * has not learnt from, whatever file or order the table came in (verbs/acquaintance/known-rows.ts), with the numbers
 * of `graduate audit`.
 */
import type { Backend } from "../compute/backend.ts";
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { type Group, resolveGroups } from "../data/groups/groups.ts";
import type { Split } from "../data/outcomes/split.ts";
import type { Table } from "../data/table.ts";
import { modelToBytes } from "../files/model/model-file.ts";
import type { Model } from "../training/model.ts";
import type { AuditOptions, AuditTable } from "../verbs/audit.ts";
import {
  auditCauseStudy,
  auditStudy,
  listMoreGroups,
  type StudyAudit,
} from "../verbs/acquaintance/audit-study.ts";
import type { CauseAuditOptions, CauseAuditTable } from "../verbs/causes/audit-causes.ts";
import {
  discoverModel,
  type ModelDiscoverOptions,
  type ModelDiscovery,
} from "../verbs/discover/discover-model.ts";
import { addGroups, type ModelStudy, openStudy } from "../verbs/model-study.ts";
import { chooseRiskTimes } from "../verbs/people/card.ts";
import { type ExplainOptions, type Explanation, explainPerson } from "../verbs/people/explain.ts";
import { type PeoplePrediction, type PeopleRequest, predictPeople } from "../verbs/people/predict-people.ts";
import { gridOf, type Prediction, predict } from "../verbs/predict.ts";
import type { ModelSummary } from "../verbs/summary/model-summary.ts";
import { summariseModel } from "../verbs/summary/summary.ts";
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
    return this.#with(backend, (opened) => predict(this, table, opened, rows));
  }

  /** What people ask for: the risk by some times, the time of some shares, the mean time, bands. */
  predictPeople(
    table: Table,
    request: PeopleRequest,
    { rows, backend }: PredictOptions = {},
  ): Promise<PeoplePrediction> {
    return this.#with(backend, (opened) => predictPeople(this, table, opened, request, rows));
  }

  /** Every score on the rows that the model has not learnt from, for everyone and by group. */
  async audit(table: Table, { backend, ...options }: ModelAuditOptions = {}): Promise<ModelAudit> {
    if (this.causes !== undefined) throw refuseCauses(this.causes);
    return this.#with(backend, async (opened) => {
      const { audited, ...told } = await auditStudy(
        await this.#open(table, opened, options),
        opened,
        options,
      );
      return { ...audited.audit, ...sayJudged(told) };
    });
  }

  /** The same by cause, of a model of several. */
  auditCauses(table: Table, { backend, ...options }: ModelCauseAuditOptions = {}): Promise<ModelCauseAudit> {
    return this.#with(backend, async (opened) => {
      const study = await this.#open(table, opened, options);
      const { audited, ...told } = await auditCauseStudy(study, opened, options);
      return { ...audited.audit, ...sayJudged(told) };
    });
  }

  /** The whole audit as one HTML page. */
  async report(table: Table, options: ReportOptions = {}): Promise<string> {
    const { reportModel } = await import("./report.ts");
    return this.#with(options.backend, async (opened) =>
      reportModel(await this.#open(table, opened, options), opened, options, this.#home),
    );
  }

  /** What each column adds to the prediction of a row (0-based). */
  explain(table: Table, row: number, { backend, ...options }: ExplainRequest = {}): Promise<Explanation> {
    const at = options.at ?? chooseRiskTimes(gridOf(this));
    return this.#with(backend, (opened) => explainPerson(this, table, opened, row, { ...options, at }));
  }

  /** For which groups that nobody named are the curves wrong? */
  discover(
    table: Table,
    { backend, id, split, sha256, ...options }: BackendOption & OpenedBy & ModelDiscoverOptions = {},
  ): Promise<ModelDiscovery> {
    return this.#with(backend, async (opened) =>
      discoverModel(await this.#open(table, opened, present({ id, split, sha256 })), opened, options),
    );
  }

  /** What the model makes of each column. */
  summary({ backend }: BackendOption = {}): Promise<ModelSummary> {
    return this.#with(backend, (opened) => summariseModel(this, opened));
  }

  /** The bytes of a model file, which `modelFromBytes` reads. */
  toBytes(): Uint8Array {
    return modelToBytes(this);
  }

  #with<Result>(
    given: Backend | null | undefined,
    use: (backend: Backend | null) => Promise<Result>,
  ): Promise<Result> {
    return withBackend(this.#home, this, given, use);
  }

  async #open(
    table: Table,
    backend: Backend | null,
    { by, groups, id, split, sha256 }: Omit<JudgeOptions, "backend">,
  ): Promise<ModelStudy> {
    refuseOptions(table);
    const study = await openStudy(this, table, backend, present({ id, split, sha256 }));
    const more = listMoreGroups(study, {
      ...present({ by }),
      groups: resolveGroups(groups ?? [], table),
    });
    return addGroups(study, more);
  }
}

type OpenedBy = Pick<JudgeOptions, "id" | "split" | "sha256">;

function sayJudged({ judged, relation, warnings }: Omit<StudyAudit<unknown>, "audited">): Judged {
  return { rows: { which: judged.which, judged: judged.rows.length }, relation, warnings };
}

function refuseCauses(causes: readonly string[]): InputError {
  return new InputError(`the model has several causes, each judged by itself: ${causes.join(", ")}`, {
    code: "model.causes",
    hint: "auditCauses(table) judges them; report(table) writes the page of either audit",
  });
}

/** Without a type checker a path, or bytes, is an easy mistake. */
function refuseOptions(table: unknown): void {
  if (typeof table === "object" && table !== null && "columns" in table) return;
  throw new InputError("not a table", { code: "table.missing", hint: "read one with readTable" });
}
