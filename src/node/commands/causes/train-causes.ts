/**
 * The end of `graduate train` for a model of several causes: the test rows are scored by cause, the model is kept with
 * these scores, and report, requirements and what is printed follow.
 */
import type { Backend } from "../../../compute/backend.ts";
import { timeLabelOf } from "../../../report/data/describe-model.ts";
import { present } from "../../../core/present.ts";
import type { PreparedStudy } from "../../../study/prepare.ts";
import { isStartStop, type Model } from "../../../training/model.ts";
import { type AuditedCauseRows, auditCauseModel } from "../../../verbs/causes/audit-cause-model.ts";
import { judgeCauseRequirements } from "../../../verbs/causes/cause-requirements.ts";
import { studyOf } from "../../../verbs/model-study.ts";
import type { Requirement } from "../../../verbs/requirements.ts";
import type { TableFile } from "../../io/provenance.ts";
import type { TrainOptions } from "../../options/train-options.ts";
import { printCauseAudit } from "../../print/audit-causes.ts";
import { clearLive, print, printJson } from "../../print/output.ts";
import { causeSettings, type ToldCauses, writeCausePage } from "../../print/tell-causes.ts";
import { printNextSteps, printTraining } from "../../print/training.ts";
import { toDocument } from "../../print/training-document.ts";
import { printRequirements, settleRequirements, toleranceOf } from "../../print/write-report.ts";

/** A model that was trained, and what is done with it. */
export interface FinishedCauses {
  readonly model: Model;
  readonly study: PreparedStudy;
  readonly file: TableFile;
  readonly seconds: number;
  readonly requirements: readonly Requirement[];
  /** Writes the model; says where. */
  readonly keep: (model: Model) => Promise<{ readonly out?: string }>;
}

export async function finishCauseTrain(
  { model, study, file, seconds, requirements, keep }: FinishedCauses,
  backend: Backend,
  asked: TrainOptions,
): Promise<void> {
  const { test: rows } = study.split;
  const own = studyOf(model, study, study.split);
  const test =
    rows.length === 0 ? null : await auditCauseModel(own, rows, backend, causeSettings(asked, study.grid));
  const options = { ...asked, ...(await keep({ ...model, ...present({ metrics: test?.audit }) })) };
  if (test !== null) await writeCausePage(toldOf(own, file, test), options);
  const results =
    test === null
      ? []
      : settleRequirements(judgeCauseRequirements(requirements, test.audit, options), options);
  if (options.json) {
    printJson(toDocument(model, seconds, test?.audit ?? null, results, study.told, options));
    return;
  }
  clearLive();
  printTraining(model, seconds);
  if (test !== null) {
    print("\non the test rows:");
    printCauseAudit(
      test.audit,
      study.grid,
      toleranceOf(options),
      timeLabelOf(options.timeUnit, study.columns.origin),
    );
  }
  printRequirements(results);
  printNextSteps(model, file.path, options);
}

function toldOf(
  { table, grid, columns, people, model, told }: ReturnType<typeof studyOf>,
  { path, sha256 }: TableFile,
  { curves, groups, audit }: AuditedCauseRows,
): ToldCauses {
  return {
    title: `${table.name}: ${model.method} model`,
    table,
    curves,
    grid,
    groups,
    people,
    audit,
    outcome: { event: columns.event, time: columns.time },
    which: "test rows",
    relation: "heldOut",
    staysAsItIs: isStartStop(model),
    findings: told,
    notes: [],
    files: [{ role: "table", path, name: table.name, ...present({ sha256: sha256 ?? undefined }) }],
  };
}
