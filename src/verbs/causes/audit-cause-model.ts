/**
 * The audit of a model of several causes on rows of its study: predict the incidences, then every score by cause for
 * everyone, for the model's groups and for any other groups of the study.
 */
import type { Backend } from "../../compute/backend.ts";
import type { CauseCurves } from "../../data/curves/cause-curves.ts";
import { ALL_GROUP } from "../../data/groups/groups.ts";
import { placesAmong } from "../../study/members.ts";
import { pickStudyRows, type Study, type StudyGroup, type StudyRows } from "../../study/study.ts";
import type { Model } from "../../training/model.ts";
import { predictStudyCauses } from "../predict.ts";
import { auditCauses, type CauseAuditOptions, type CauseAuditTable } from "./audit-causes.ts";

/** Incidences and outcomes of some rows of a study, with the groups as positions among them. */
export interface PredictedCauseRows extends StudyRows {
  readonly curves: CauseCurves;
  /** Without everyone, in the order of the audit. */
  readonly groups: readonly StudyGroup[];
}

/** Predicted rows with every score by cause. */
export interface AuditedCauseRows extends PredictedCauseRows {
  readonly audit: CauseAuditTable;
}

/** Predicts the incidence of every cause for some rows of a model's study. */
export async function predictCauseRows(
  study: Study & { readonly model: Model },
  rows: Int32Array,
  backend: Backend | null,
  { onProgress }: Pick<CauseAuditOptions, "onProgress"> = {},
): Promise<PredictedCauseRows> {
  const { model } = study;
  const causes = model.causes ?? [];
  const tell = (done: number, total: number) => onProgress?.("predicting", done, total);
  const incidence = await predictStudyCauses(study, rows, backend, { onProgress: tell });
  const named = study.groups.filter(({ expression }) => expression !== ALL_GROUP.expression);
  return {
    ...pickStudyRows(study, rows),
    curves: { N: rows.length, K: causes.length, T: model.grid.T, causes, incidence },
    groups: placesAmong(named, rows),
  };
}

/** Predicts and scores some rows of the study of a model of several causes. */
export async function auditCauseModel(
  study: Study & { readonly model: Model },
  rows: Int32Array,
  backend: Backend | null,
  options: CauseAuditOptions = {},
): Promise<AuditedCauseRows> {
  const predicted = await predictCauseRows(study, rows, backend, options);
  const { curves, binned, groups, people } = predicted;
  const input = { curves, outcomes: binned, groups, ...(people === undefined ? {} : { people }) };
  return { ...predicted, audit: await auditCauses(input, options) };
}
