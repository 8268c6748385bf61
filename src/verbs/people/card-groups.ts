/**
 * How right a model is for the groups that a person may belong to: rows, events and certificates on rows of the table
 * that the model has not seen. Computed once for a table, and shown on every card.
 */
import { requireRightCensored } from "../../data/outcomes/outcomes.ts";
import type { Backend } from "../../compute/backend.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import { ALL_GROUP } from "../../data/groups/groups.ts";
import { certify, type GroupCertificate } from "../../stats/certificates/certificates.ts";
import { ENTERED_LATE, WEIGHED } from "../../stats/scores/history-scores.ts";
import { BOUND_ALPHA } from "../audit.ts";
import { predictRows, tallyTrainingRows } from "../audit-model.ts";
import { chooseJudgedRows } from "../judged-rows.ts";
import type { ModelStudy } from "../model-study.ts";
import { type JudgedCauses, judgeCauseGroups } from "./cause-groups.ts";

/** Everyone and the model's groups, as rows that the model has not seen show them. */
export interface JudgedGroups {
  /** Which rows these are, "test rows". */
  readonly which: string;
  readonly rows: number;
  /** The probability that any of the bounds fails. */
  readonly alpha: number;
  /** Everyone first; empty of a model of several causes. */
  readonly groups: readonly (GroupCertificate & { readonly expression: string })[];
  /** Everyone first, cause by cause; null of a model of one kind of event. */
  readonly byCause: readonly JudgedCauses[] | null;
}

/** Absent, with the reason, where the model has seen the rows: they would say too much good of it. */
export async function judgeCardGroups(
  study: ModelStudy,
  backend: Backend | null,
): Promise<Measured<JudgedGroups>> {
  const { rows, which, isSeen, isTest } = chooseJudgedRows(study);
  if (isSeen) return absent("the model has seen the rows of this table, or some of them: they bound nothing");
  if (study.model.causes !== undefined) {
    const byCause = await judgeCauseGroups(study, rows, backend);
    return { which, rows: rows.length, alpha: BOUND_ALPHA, groups: [], byCause };
  }
  if (study.outcomes.entry !== undefined) return absent(ENTERED_LATE);
  if (study.outcomes.weight !== undefined) return absent(`no bound with weights: ${WEIGHED}`);
  const predicted = await predictRows(study, rows, backend);
  const everyone = { ...ALL_GROUP, rows: Int32Array.from(rows.keys()) };
  const named = predicted.groups.flatMap(({ expression, ...group }) =>
    expression === undefined ? [] : [{ ...group, expression }],
  );
  const judged = [everyone, ...named];
  const { groups } = certify(
    predicted.curves,
    requireRightCensored(predicted.binned, "a certificate"),
    judged,
    {
      alpha: BOUND_ALPHA,
      ...present({
        people: predicted.people,
        followUp: isTest && named.length === predicted.groups.length ? tallyTrainingRows(study) : undefined,
      }),
    },
  );
  return {
    which,
    rows: rows.length,
    alpha: BOUND_ALPHA,
    groups: groups.map((one, g) => ({ ...one, expression: judged[g].expression })),
    byCause: null,
  };
}
