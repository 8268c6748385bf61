/** What a model's methods do, beside predicting: loaded with the first of them that is called. */
import type { Backend } from "../compute/backend.ts";
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { toPlainFinding } from "../data/checks/findings.ts";
import { resolveGroups } from "../data/groups/groups.ts";
import type { Table } from "../data/table.ts";
import type { Model } from "../training/model.ts";
import {
  auditCauseStudy,
  auditStudy,
  listMoreGroups,
  type StudyAudit,
} from "../verbs/acquaintance/audit-study.ts";
import { discoverModel, type ModelDiscovery } from "../verbs/discover/discover-model.ts";
import { addGroups, type ModelStudy, openStudy } from "../verbs/model-study.ts";
import { chooseRiskTimes } from "../verbs/people/card.ts";
import { type Explanation, explainPerson } from "../verbs/people/explain.ts";
import { gridOf } from "../verbs/predict.ts";
import type {
  DiscoverRequest,
  ExplainRequest,
  Judged,
  JudgeOptions,
  ModelAudit,
  ModelAuditOptions,
  ModelCauseAudit,
  ModelCauseAuditOptions,
} from "./fitted-model.ts";

export { predictPeople } from "../verbs/people/predict-people.ts";
export { summariseModel } from "../verbs/summary/summary.ts";

/** A table as the model sees it, with the groups asked for beside the model's own. */
export async function openTable(
  model: Model,
  table: Table,
  backend: Backend | null,
  { by, groups = [], id, split, sha256 }: Omit<JudgeOptions, "backend">,
): Promise<ModelStudy> {
  refuseOptions(table);
  const study = await openStudy(model, table, backend, present({ id, split, sha256 }));
  const more = listMoreGroups(study, { ...present({ by }), groups: resolveGroups(groups, table) });
  return addGroups(study, more);
}

/** The audit of one kind of event. */
export async function auditTable(
  model: Model,
  table: Table,
  backend: Backend | null,
  { backend: _, ...options }: ModelAuditOptions,
): Promise<ModelAudit> {
  if (model.causes !== undefined) throw refuseCauses(model.causes);
  const study = await openTable(model, table, backend, options);
  const { audited, ...told } = await auditStudy(study, backend, options);
  return { ...audited.audit, ...sayJudged(study, told) };
}

/** The audit by cause. */
export async function auditTableCauses(
  model: Model,
  table: Table,
  backend: Backend | null,
  { backend: _, ...options }: ModelCauseAuditOptions,
): Promise<ModelCauseAudit> {
  const study = await openTable(model, table, backend, options);
  const { audited, ...told } = await auditCauseStudy(study, backend, options);
  return { ...audited.audit, ...sayJudged(study, told) };
}

/** Explains a row at the times asked for, or at some that suit the horizon. */
export function explainRow(
  model: Model,
  table: Table,
  backend: Backend | null,
  row: number,
  { backend: _, ...options }: ExplainRequest,
): Promise<Explanation> {
  const at = options.at ?? chooseRiskTimes(gridOf(model));
  return explainPerson(model, table, backend, row, { ...options, at });
}

/** Searches the rows that the model has not learnt from. */
export async function discoverTable(
  model: Model,
  table: Table,
  backend: Backend | null,
  { backend: _, id, split, sha256, ...options }: DiscoverRequest,
): Promise<ModelDiscovery> {
  const study = await openTable(model, table, backend, present({ id, split, sha256 }));
  return discoverModel(study, backend, options);
}

function sayJudged(
  study: ModelStudy,
  { judged, relation, warnings }: Omit<StudyAudit<unknown>, "audited">,
): Judged {
  return {
    rows: { which: judged.which, judged: judged.rows.length },
    relation,
    edges: Array.from(study.grid.edges),
    findings: study.told.map(toPlainFinding),
    warnings,
  };
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
