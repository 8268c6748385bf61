/**
 * The audit of a model's study as the command makes it: the rows that are new to the model, their scores, what these
 * rows may bound and certify, and what has to be said of them. A terminal, a page and a program get the same numbers.
 */
import type { Backend } from "../../compute/backend.ts";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { groupByColumns } from "../../data/groups/group-by.ts";
import { areHistories } from "../../stats/scores/history-scores.ts";
import type { StudyGroup } from "../../study/study.ts";
import type { AuditOptions } from "../audit.ts";
import { refuseCertificate } from "../audit-histories.ts";
import { type AuditedRows, auditModel, tallyTrainingRows } from "../audit-model.ts";
import { type AuditedCauseRows, auditCauseModel } from "../causes/audit-cause-model.ts";
import type { CauseAuditOptions } from "../causes/audit-causes.ts";
import { type JudgedRows, requireJudgedRows } from "../judged-rows.ts";
import { isSameRows, type ModelStudy } from "../model-study.ts";
import { describePeople, warnOfKnownPeople } from "../whose-rows.ts";

/** An audit, of which rows, and what has to be said of them. */
export interface StudyAudit<Audited> {
  readonly audited: Audited;
  readonly judged: JudgedRows;
  /** Test rows or a given split's; rows of another table; or rows that the model has seen. */
  readonly relation: "heldOut" | "newTable" | "seen";
  readonly warnings: readonly string[];
}

/** Whether rows that the model has seen are judged too. */
interface Asked {
  readonly allRows?: boolean;
}

/** Judges the rows of a study that are new to its model; `study` may have more groups than the model. */
export async function auditStudy(
  study: ModelStudy,
  backend: Backend | null,
  { allRows = false, certify, ...options }: AuditOptions & Asked,
): Promise<StudyAudit<AuditedRows>> {
  if (certify !== undefined && areHistories({ ...study.outcomes, firstBin: study.outcomes.entry }))
    throw refuseCertificate({ firstBin: study.outcomes.entry });
  const judged = requireJudgedRows(study, { allRows });
  const audited = await auditModel(study, judged.rows, backend, {
    ...options,
    ...(judged.isSeen ? { unbounded: SEEN } : {}),
    ...present({ certify: certify && certifyStudy(certify, study, judged) }),
  });
  const { rows, warning, isTest } = judged;
  const { id } = study.columns;
  return {
    audited,
    judged,
    relation: relate(study, judged),
    warnings: [
      ...study.told.map(({ message }) => message),
      ...(warning === null ? [] : [warning]),
      ...study.warnings,
      ...(isTest && id !== study.model.columns.id ? warnOfKnownPeople(study.people, rows) : []),
      ...describePeople(audited.people ?? null),
    ],
  };
}

/** The same of a model of several causes. */
export async function auditCauseStudy(
  study: ModelStudy,
  backend: Backend | null,
  { allRows = false, ...options }: CauseAuditOptions & Asked,
): Promise<StudyAudit<AuditedCauseRows>> {
  const judged = requireJudgedRows(study, { allRows });
  const audited = await auditCauseModel(study, judged.rows, backend, {
    ...options,
    ...(judged.isSeen ? { unbounded: SEEN } : {}),
  });
  const warnings = [...(judged.warning === null ? [] : [judged.warning]), ...study.warnings];
  return { audited, judged, relation: relate(study, judged), warnings };
}

/** Groups asked for beyond the model's own: one for each value of each column of `by`, and named ones. */
export function listMoreGroups(
  { table, model, groups: own }: ModelStudy,
  { by = [], groups = [] }: { readonly by?: readonly string[]; readonly groups?: readonly StudyGroup[] },
): StudyGroup[] {
  const named = new Set(model.groups.map(({ name }) => name));
  const values = by.flatMap((column) => groupByColumns(table, [column]).groups);
  return [
    // `--by grp` must not count "grp=a" beside the model's own "grp = a".
    ...values.filter(({ rows }) => !own.some((one) => isSameRows(one.rows, rows))),
    ...groups,
  ].filter(({ name }) => !named.has(name));
}

function relate(
  { acquaintance }: ModelStudy,
  { isSeen, isTest }: JudgedRows,
): StudyAudit<unknown>["relation"] {
  return isSeen ? "seen" : isTest || acquaintance === "given" ? "heldOut" : "newTable";
}

/** What certificates use of the training rows, if the table holds them; rows the model has seen certify nothing. */
function certifyStudy(
  certify: NonNullable<AuditOptions["certify"]>,
  study: ModelStudy,
  { isSeen, isTest }: JudgedRows,
): NonNullable<AuditOptions["certify"]> {
  if (isSeen) {
    throw new InputError("the model has seen rows that are to certify it", {
      code: "certify.seen",
      where: study.table.name,
      hint: `give rows it has not seen${study.stored === null ? ", or its split with --split FILE" : ""}`,
    });
  }
  return { ...certify, ...(isTest ? { followUp: tallyTrainingRows(study) } : {}) };
}

/** Rows that a model learnt from do not tell how far off it is for others. */
const SEEN = "the model has seen rows among these: they bound nothing";
