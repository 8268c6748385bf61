/**
 * What a report shows, as plain data: nothing is computed while the page is drawn. `gatherReport` makes it from curves,
 * outcomes and an audit; `renderReport` turns it into one HTML file. It holds no row of the table unless rows were
 * asked for; then it holds the row number, time, outcome and predicted curve of three people. Times are in the unit
 * that is shown.
 */
import type { Notice } from "../../data/checks/findings.ts";
import type { GroupCertificate } from "../../stats/certificates/certificates.ts";
import type { SetSizes } from "../../study/split.ts";
import type { ModelHistoryEntry } from "../../training/model.ts";
import type { SolveReport } from "../../training/solve/hold.ts";
import type { GroupVerdict } from "../../training/solve/verdict.ts";
import type { JudgedScores, RejectionCount, ReportVerdict } from "../words/report-words.ts";

/** What the checks found in the table or training reported: its sentence in parts, and how much it matters. */
export type ReportFinding = Notice;

export interface ReportCohort {
  /** The table's name. */
  readonly table: string;
  /** Rows of the table; null when only predictions were given. */
  readonly rows: number | null;
  readonly excluded: readonly { readonly reason: string; readonly rows: number }[];
  /** The sizes of the parts, where the audited rows are one part of a table that was split. */
  readonly split: SetSizes | null;
  /** The rows the model was made from, in this table or another. */
  readonly trainedOn: SetSizes | null;
  readonly audited: {
    /** Which rows these are: "test rows", "rows of the table". */
    readonly which: string;
    readonly rows: number;
    /**
     * How many people the rows belong to, where people have several and were audited by person; null where a row is a
     * person.
     */
    readonly people: number | null;
    readonly events: number;
    readonly censored: number;
    /** By the reverse Kaplan-Meier curve; null when over half of the people were followed to the event. */
    readonly medianFollowUp: number | null;
  };
}

/** Mean predicted survival against Kaplan-Meier, t = 0…T. */
export interface GroupCurve {
  /** τ: the last bin with at least ten people at risk; past it Kaplan-Meier is carried, not estimated. */
  readonly last: number;
  readonly predicted: readonly number[] | null; // [T+1]; null without rows
  readonly observed: readonly number[]; // [T+1]
  /** Pointwise 95 % limits on the log scale; null where undefined. */
  readonly lower: readonly (number | null)[]; // [T+1]
  readonly upper: readonly (number | null)[]; // [T+1]
  readonly atRisk: readonly number[]; // [T+1]
  /** The gap predicted − observed over 1…τ; null if there is no such bin. */
  readonly gap: {
    readonly mean: number;
    readonly meanAbsolute: number;
    readonly largest: number;
    readonly largestAt: number;
  } | null;
}

export interface ReportGroup {
  readonly name: string;
  /** Who is in the group, when the name does not say it. */
  readonly expression: string | null;
  readonly scores: JudgedScores;
  readonly verdict: ReportVerdict;
  readonly curve: GroupCurve;
  /** Present where certificates were asked for. */
  readonly certificate?: GroupCertificate;
}

export interface RiskBin {
  readonly n: number;
  /** Events up to the horizon. */
  readonly events: number;
  readonly predicted: number;
  /** 1 − Kaplan-Meier of the bin's people, with 95 % limits. */
  readonly observed: number;
  readonly lower: number;
  readonly upper: number;
  /** Whether at least ten of them are still at risk at the horizon. */
  readonly supported: boolean;
}

export interface RiskCalibration {
  readonly time: number;
  /** Lowest predicted risk first; empty, with a reason, when there are too few events to divide. */
  readonly bins: readonly RiskBin[];
  readonly absent: string | null;
}

/** People with similar predicted risk. */
export interface RiskBand {
  readonly n: number;
  readonly events: number;
  /** The last bin with ten of them at risk. */
  readonly last: number;
  /** Mean survival over the audited bins. */
  readonly predicted: readonly number[];
  /** Kaplan-Meier, t = 0…last. */
  readonly observed: readonly number[];
}

/** One person, shown only where rows were asked for. */
export interface ExampleCurve {
  readonly risk: "low" | "middle" | "high";
  /** 1-based, in the table. */
  readonly row: number;
  /** How many of 100 people have a lower predicted risk. */
  readonly percentile: number;
  readonly time: number;
  readonly event: boolean;
  /** Over the audited bins. */
  readonly survival: readonly number[];
}

/** An evaluation while training, with its groups by name. */
export interface HistoryEntry extends Pick<ModelHistoryEntry, "step" | "loss" | "concordance"> {
  readonly groups?: readonly (Pick<GroupVerdict, "slack"> & {
    readonly name: string;
    readonly distance: number;
    readonly multiplier: number | null;
  })[];
}

export interface ReportTraining {
  readonly method: string;
  /** The number of runs whose mean the curves are. */
  readonly members: number;
  /** The steps of all runs together. */
  readonly steps: number;
  readonly bestStep: number;
  readonly history: readonly HistoryEntry[];
  readonly constraints: readonly GroupVerdict[];
  /** How the output layer was solved; null where it was not. */
  readonly solve: SolveReport | null;
  /** What the distances are; null if unknown. */
  readonly distance: string | null;
  /** True when the multipliers hardly moved. */
  readonly fixedPenalty: boolean;
  readonly warnings: readonly ReportFinding[];
}

export interface ReportProvenance {
  /** Name and version. */
  readonly program: string;
  /** The command that makes this report again. */
  readonly command: string;
  /** The time of creation, as the caller writes it. */
  readonly created?: string;
  readonly files: readonly { readonly role: string; readonly name: string; readonly sha256?: string }[];
  readonly settings: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * How the audited rows relate to the model: its test rows, rows of a table it has not seen, rows that include some it
 * has seen, or unknown.
 */
export type AuditedRelation = "heldOut" | "newTable" | "seen" | "unknown";

/** What was predicted, and for whom. */
export interface ReportSubject {
  /** The event's column and how it was read ("1 = event, 0 = censored"); null if unknown. */
  readonly event: { readonly column: string; readonly rule: string | null } | null;
  readonly timeColumn: string | null;
  /** The date that times are counted from; null where there is none. */
  readonly originColumn: string | null;
  readonly relation: AuditedRelation;
}

/** A grid of times in the unit that is shown. */
export interface ReportTime {
  readonly label: string;
  readonly edges: readonly number[]; // [T+1]
  /** The table's own unit, where another is shown, and how many of it make one of the shown unit. */
  readonly given: { readonly label: string; readonly divisor: number } | null;
  /** The bin up to which everyone's curve is audited: the last with ten people at risk; 0 if there is none. */
  readonly audited: number;
}

/** Everything that the report shows. */
export interface ReportData {
  readonly title: string;
  readonly subject: ReportSubject;
  readonly time: ReportTime;
  /** What the reader calls acceptable, in survival. */
  readonly tolerance: number;
  /** Whether counts under five are hidden. */
  readonly hidesSmallCells: boolean;
  /** Groups that are left out, since a few people would follow from them and from what is beside them. */
  readonly withheld: readonly string[];
  readonly cohort: ReportCohort;
  readonly findings: readonly ReportFinding[];
  readonly overall: ReportGroup;
  readonly groups: readonly ReportGroup[];
  /** The probability that any certificate fails, and what the certificates assume. */
  readonly certificates?: { readonly alpha: number; readonly assumes: readonly string[] };
  readonly rejections: { readonly ece: RejectionCount | null; readonly logrank: RejectionCount | null };
  readonly calibration: readonly RiskCalibration[];
  readonly bands: readonly RiskBand[];
  /** The model learnt from start-stop rows: a curve is what follows if the row's features stay as they are. */
  readonly staysAsItIs?: boolean;
  /** Empty unless rows were asked for. */
  readonly examples: readonly ExampleCurve[];
  readonly training: ReportTraining | null;
  /** The settings the model was trained with, as path and value. */
  readonly modelSettings: readonly { readonly name: string; readonly value: string }[];
  readonly provenance: ReportProvenance;
}
