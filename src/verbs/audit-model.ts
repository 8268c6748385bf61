/**
 * The audit of a model on rows of its study: predict the curves, then compute every score for everyone, for the model's
 * groups and for any other groups of the study. Everyone is the audit's first line, so the group of all is not scored
 * again.
 */
import {
  type BinnedSingleCause,
  requireRightCensored,
  requireSingleCause,
} from "../data/outcomes/outcomes.ts";
import type { Backend } from "../compute/backend.ts";
import type { Curves } from "../data/curves/curves.ts";
import { ALL_GROUP } from "../data/groups/groups.ts";
import type { TimeGrid } from "../data/outcomes/time-grid.ts";
import { type FollowUp, tallyFollowUp } from "../stats/certificates/exact.ts";
import { placesAmong } from "../study/members.ts";
import { pickStudyRows, type Study, type StudyGroup, type StudyRows } from "../study/study.ts";
import type { Model } from "../training/model.ts";
import { type AuditInput, type AuditOptions, type AuditTable, audit } from "./audit.ts";
import { predictStudy } from "./predict.ts";

/** Curves and outcomes of some rows of a study, with the groups as positions among them. */
export interface PredictedRows extends StudyRows {
  readonly curves: Curves; // [N,T]
  readonly grid: TimeGrid;
  /** Without everyone, in the order of the audit. */
  readonly groups: readonly StudyGroup[];
}

/** Predicted rows with every score. */
export interface AuditedRows extends PredictedRows {
  readonly binned: BinnedSingleCause;
  readonly audit: AuditTable;
}

/** `study` is the model's own study (studyOf, openStudy). */
export async function predictRows(
  study: Study & { readonly model: Model },
  rows: Int32Array,
  backend: Backend | null,
  { onProgress }: Pick<AuditOptions, "onProgress"> = {},
): Promise<PredictedRows> {
  const tell = (done: number, total: number) => onProgress?.("predicting", done, total);
  const { curves } = await predictStudy(study, rows, backend, { onProgress: tell });
  return {
    ...pickStudyRows(study, rows),
    curves,
    grid: study.grid,
    groups: placesAmong(listNamed(study), rows),
  };
}

/** Scores rows that are already predicted. */
export async function auditRows(predicted: PredictedRows, options: AuditOptions = {}): Promise<AuditedRows> {
  const binned = requireSingleCause(predicted.binned, "an audit");
  return { ...predicted, binned, audit: await audit(toAuditInput(predicted), options) };
}

/** Predicts and scores some rows of a model's study. */
export async function auditModel(
  study: Study & { readonly model: Model },
  rows: Int32Array,
  backend: Backend | null,
  options: AuditOptions = {},
): Promise<AuditedRows> {
  return auditRows(await predictRows(study, rows, backend, options), options);
}

function listNamed({ groups }: Study): readonly StudyGroup[] {
  return groups.filter(({ expression }) => expression !== ALL_GROUP.expression);
}

function toAuditInput({ curves, binned, groups, people }: PredictedRows): AuditInput {
  return {
    curves,
    outcomes: requireSingleCause(binned, "an audit"),
    groups,
    ...(people === undefined ? {} : { people }),
  };
}

/** Adds intervals to the scores of the same rows; nothing else is recomputed. */
export async function addIntervals(audited: AuditedRows, options: AuditOptions): Promise<AuditedRows> {
  const drawn = await audit(toAuditInput(audited), { ...options, draws: 0 });
  const merge = (one: AuditTable["overall"], other: AuditTable["overall"]) => ({
    ...one,
    ...(other.intervals === undefined ? {} : { intervals: other.intervals }),
    absent: { ...other.absent, ...one.absent },
  });
  return {
    ...audited,
    audit: {
      ...audited.audit,
      overall: merge(audited.audit.overall, drawn.overall),
      groups: audited.audit.groups.map((one, g) => merge(one, drawn.groups[g])),
    },
  };
}

/**
 * The follow-up of a study's training rows, everyone first and then its groups. Certificates fix their bins and rates
 * by it before any audited row is seen. Null for a group without training rows.
 */
export function tallyTrainingRows(study: Study): (FollowUp | null)[] {
  const { train } = study.split;
  const binned = requireRightCensored(pickStudyRows(study, train).binned, "a certificate");
  const members = placesAmong(listNamed(study), train).map(({ rows }) => rows);
  const everyone = Int32Array.from(train.keys());
  return [everyone, ...members].map((rows) => (rows.length === 0 ? null : tallyFollowUp(binned, rows)));
}
