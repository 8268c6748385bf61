/**
 * What the page and its worker say to each other. The page asks by name and gets one answer; while a long answer is
 * being made, the worker tells how far it is. Everything is plain data. `Choices` is all that a person decides, and
 * what is kept if they want it kept; tables, studies and models stay in the worker.
 */
import type { FindingLevel } from "graduate-survival/data";
import type { Choices, NamedGroup, Reading } from "./choices.ts";
import type { DriversView, PersonRequest, PersonView } from "./people.ts";

export type { Choices, NamedGroup, Reading, Role, TrainChoices } from "./choices.ts";

/** An error as a page shows it. */
export interface Trouble {
  readonly message: string;
  readonly code?: string;
  readonly where?: string;
  readonly hint?: string;
  /** The column that it names. */
  readonly column?: string;
}

export interface ColumnView {
  readonly name: string;
  readonly type: "number" | "category" | "boolean" | "date";
  readonly missing: number;
  readonly distinct: number;
  /** What it holds, in a few words. */
  readonly words: string;
  /** Heights of a small histogram. */
  readonly bars: readonly number[];
  /** Values to choose from, where they are few. */
  readonly values: readonly string[];
}

export interface TableView {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly ColumnView[];
  /** The choices that are likely meant, and why. */
  readonly guess: Pick<Choices, "time" | "event" | "eventIs" | "origin" | "start" | "unit">;
  readonly why: { readonly time: string; readonly event: string };
}

export interface FindingView {
  readonly code: string;
  readonly level: FindingLevel;
  readonly column: string | null;
  readonly message: string;
  /** Of numbers with a mark that may be read in two ways, the mark. */
  readonly mark?: "point" | "comma";
}

/** A step curve, or points of a smooth one. */
export interface Curve {
  readonly time: readonly number[];
  readonly survival: readonly number[];
}

/** The incidence of one of several causes; all have the same times. */
export interface CauseCurve {
  readonly name: string;
  readonly events: number;
  readonly time: readonly number[];
  readonly incidence: readonly number[];
}

/** What keeps a run from starting, and by which name it can be overruled; "person": a column says whose row it is. */
export interface Blocker extends Trouble {
  readonly overrule: "allowLeak" | "rowsAreIndependent" | "person" | null;
}

/** What is known of the table before anything is fitted. */
export interface GateView {
  readonly findings: readonly FindingView[];
  readonly blockers: readonly Blocker[];
  readonly eventRule: string;
  readonly events: number | null;
  readonly censored: number | null;
  /** Columns that a model does not learn from by itself, and why. */
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
  readonly everyone: Curve | null;
  /** Aalen-Johansen of every cause; empty where there is one kind of event. */
  readonly causes: readonly CauseCurve[];
}

export interface GroupView extends NamedGroup {
  readonly rows: number;
  readonly events: number;
  /** Kaplan-Meier, of any event; null where the outcome cannot be used. */
  readonly curve: Curve | null;
  /** Aalen-Johansen of every cause; empty where there is one kind of event. */
  readonly causes: readonly CauseCurve[];
  /** Whether there are too few events to say anything of the group, in words; null where there are enough. */
  readonly few: string | null;
  readonly trouble: Trouble | null;
}

export interface GroupProgress {
  readonly name: string;
  readonly distance: number;
  readonly slack: number;
  readonly constrained: boolean;
  /** What the verdict says, where there is one. */
  readonly isMet?: boolean;
}

/** Observed and predicted survival of a group on the validation rows. */
export interface MovingCurve {
  readonly name: string;
  readonly time: readonly number[];
  readonly observed: readonly number[];
  readonly predicted: readonly number[];
}

/** What training said of a group and cause. */
export interface CauseVerdict {
  readonly group: string;
  readonly n: number;
  readonly events: number;
  readonly slack: number;
  readonly distance: number;
  readonly fresh: number | null;
  readonly status: string;
}

/** The loss of a step. */
export interface Loss {
  /** Which run of an ensemble it belongs to, from 0. */
  readonly run: number;
  readonly step: number;
  readonly loss: number;
}

export interface RunView {
  readonly phase: "preparing" | "training" | "paused" | "solving" | "judging" | "done" | "stopped";
  /** What is being done, in a few words. */
  readonly words: string;
  readonly step: number;
  readonly steps: number;
  readonly secondsLeft: number | null;
  /** Since the last message, at most some hundred of all steps. */
  readonly losses: readonly Loss[];
  readonly groups: readonly GroupProgress[];
  readonly curves: readonly MovingCurve[];
  readonly backend: string;
  readonly warnings: readonly string[];
}

/** A model and what can be said and downloaded of it. */
export interface ModelView {
  readonly name: string;
  readonly words: string;
  /** Controls for a person, in the model's order. */
  readonly inputs: readonly PersonInput[];
  readonly rows: number;
  readonly horizon: number;
  readonly unit: string;
  /** The report as a page; null where there is no table to judge the model on. */
  readonly report: string | null;
  /** Whether curves of the judged rows can be written in a form that an audit reads. */
  readonly hasCurves: boolean;
  readonly warnings: readonly string[];
  /** The command that repeats this in a terminal. */
  readonly command: string;
  readonly met: string | null;
  /** How far each group is from what was observed on the rows that the model was held on; null where none was held. */
  readonly held: readonly GroupProgress[] | null;
  /** The verdict of training, of a model of several causes; null of others. */
  readonly byCause: readonly CauseVerdict[] | null;
}

export type PersonInput =
  | {
      readonly kind: "number";
      readonly name: string;
      readonly minimum: number;
      readonly maximum: number;
      readonly step: number;
      readonly usual: number;
    }
  | { readonly kind: "choice"; readonly name: string; readonly values: readonly string[] };

export type {
  DriversView,
  PersonCause,
  PersonRequest,
  PersonRisk,
  PersonValues,
  PersonView,
} from "./people.ts";

/** Another model's incidences of the rows of the table that is open, a file for each cause. */
export interface IncidenceRequest {
  readonly files: readonly { readonly cause: string; readonly file: File }[];
  /** The end of the last bin, for columns F1, F2, …; "" otherwise. */
  readonly horizon: string;
}

export interface CurvesRequest {
  readonly time: string;
  readonly event: string;
  readonly horizon: string;
  readonly by: readonly string[];
  readonly unit: string;
}

export interface CurvesView {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly string[];
  readonly guess: CurvesRequest;
}

export interface FileView {
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type FileKind = "report" | "model" | "onnx" | "curves";

/** What was kept in this browser. */
export interface Kept {
  readonly table: TableView;
  readonly choices: Choices;
  readonly model: ModelView | null;
  /** The step that a run can go on from. */
  readonly checkpoint: number | null;
}

/** A table of this computer, or one of the page's own. */
export type TableFile = File | { readonly name: string; readonly address: string; readonly unit: string };

/** What the page may ask of its worker. */
export interface Desk {
  /** A file, or null for the one that is open, to be read in another way. */
  openTable(file: TableFile | null, reading: Reading): Promise<TableView>;
  checkTable(choices: Choices): Promise<GateView>;
  suggestGroups(choices: Choices): Promise<readonly NamedGroup[]>;
  viewGroups(choices: Choices, groups: readonly NamedGroup[]): Promise<readonly GroupView[]>;
  /** The distances that a run can be held by, with what they are. */
  listDistances(): Promise<readonly { readonly name: string; readonly words: string }[]>;
  /** To the end, or until it is stopped: then null. `goOn` starts from the checkpoint that is left. */
  train(choices: Choices, goOn: boolean): Promise<ModelView | null>;
  pause(isPaused: boolean): Promise<void>;
  stop(): Promise<number | null>;
  openModel(file: File, choices: Choices): Promise<ModelView>;
  download(kind: FileKind): Promise<FileView>;
  viewPerson(request: PersonRequest): Promise<PersonView>;
  /** What drives the person's risk: one view, or one for each cause. */
  explainPerson(request: PersonRequest): Promise<readonly DriversView[]>;
  /** The person's card, as a page. */
  writeCard(request: PersonRequest): Promise<string>;
  openCurves(file: File): Promise<CurvesView>;
  auditCurves(request: CurvesRequest): Promise<string>;
  auditIncidences(choices: Choices, request: IncidenceRequest): Promise<string>;
  keep(choices: Choices | null): Promise<void>;
  restore(): Promise<Kept | null>;
  forget(): Promise<void>;
}

export interface DeskCall {
  readonly id: number;
  readonly name: keyof Desk;
  readonly args: readonly unknown[];
}

export type FromDesk =
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | { readonly type: "trouble"; readonly id: number; readonly trouble: Trouble }
  | { readonly type: "run"; readonly run: RunView }
  | { readonly type: "progress"; readonly words: string; readonly share: number };
