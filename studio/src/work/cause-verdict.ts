/**
 * The verdict on a model of several causes: the audit by cause of rows it has not learnt from, and the report of it;
 * and the same of another model's incidences, row by row beside the table that is open.
 */
import {
  auditCauses,
  type CauseCurves,
  type Model,
  openStudy,
  readTable,
  type Table,
  tableSourceFromBytes,
} from "graduate-survival";
import { InputError, present } from "graduate-survival/core";
import { binOutcomes, readCauseCurves, readHistory, resolveGroups } from "graduate-survival/data";
import { type CauseReportInput, describeCommand, timeLabelOf } from "graduate-survival/report";
import type { Study } from "graduate-survival/study";
import {
  type AuditedCauseRows,
  auditCauseModel,
  chooseJudgedRows,
  DEFAULT_DRAWS,
  studyOf,
} from "graduate-survival/verbs";
import type { Choices, IncidenceRequest } from "../protocol.ts";
import { PROGRAM, renderCausePage } from "./pages.ts";
import { groupOptions, outcomeOf, personOf, toGroup } from "./request.ts";
import type { TrainedRun } from "./run.ts";
import type { Judged, Judging, Say } from "./verdict.ts";

/** Why nothing is bounded by rows that a model has seen. */
export const SEEN = "the model has seen rows among these: they bound nothing";

const tellBy = (say: Say) => (phase: string, done: number, total: number) => say(phase, done / total);

/** Of a model that was just trained. */
export async function judgeTrainedCauses({ model, study }: TrainedRun, judging: Judging): Promise<Judged> {
  const { backend, seed, say } = judging;
  const own = studyOf(model, study, study.split);
  const options = { seed, draws: DEFAULT_DRAWS, onProgress: tellBy(say) };
  const audited = await auditCauseModel(own, study.split.test, backend, options);
  const report = await render(own, audited, judging, {
    title: `${study.table.name}: ${model.method} model`,
    relation: "heldOut",
    notes: [],
  });
  const kept = { ...model, metrics: audited.audit };
  return { model: kept, audited: null, mean: meanOf(audited.curves), report, warnings: [] };
}

/** Of a model from a file, on rows of the table that it has not seen. */
export async function judgeOpenedCauses(
  model: Model,
  name: string,
  table: Table,
  judging: Judging,
): Promise<Judged> {
  const { backend, seed, say, sha256 } = judging;
  const study = await openStudy(model, table, backend, { sha256 });
  const { rows, isTest, isSeen, warning } = chooseJudgedRows(study);
  const audited = await auditCauseModel(study, rows, backend, {
    ...{ seed, draws: DEFAULT_DRAWS, onProgress: tellBy(say) },
    ...(isSeen ? { unbounded: SEEN } : {}),
  });
  const warnings = [...(warning === null ? [] : [warning]), ...study.warnings];
  const report = await render(study, audited, judging, {
    title: `${name} on ${table.name}`,
    relation: isSeen ? "seen" : isTest ? "heldOut" : "newTable",
    notes: warnings,
  });
  return { model, audited: null, mean: meanOf(audited.curves), report, warnings };
}

function render(
  { table, grid, columns, people }: Study & { readonly model: Model },
  { groups, audit }: AuditedCauseRows,
  { unit, sha256, seed, command }: Judging,
  told: Pick<CauseReportInput, "title" | "relation" | "notes">,
): Promise<string> {
  return renderCausePage({
    ...told,
    audit,
    grid,
    groups,
    timeLabel: timeLabelOf(unit === "" ? undefined : unit, columns.origin),
    outcome: { event: columns.event, time: columns.time },
    staysAsItIs: columns.start !== undefined,
    table: table.name,
    people: people !== null && people.count < people.of.length ? people.count : null,
    provenance: {
      program: PROGRAM,
      command,
      files: [{ role: "table", name: table.name, ...present({ sha256: sha256 ?? undefined }) }],
      settings: { seed, draws: DEFAULT_DRAWS },
    },
  });
}

/** The mean chance of no event of any cause. */
function meanOf({ N, K, T, incidence }: CauseCurves): number[] {
  const mean = new Array<number>(T).fill(1);
  for (let i = 0; i < N * K; i++) for (let t = 0; t < T; t++) mean[t] -= incidence[i * T + t] / N;
  return mean;
}

/** Another model's incidences of every row of the table, as `graduate audit --causes` judges them. */
export async function auditIncidences(
  table: Table,
  choices: Choices,
  { files, horizon }: IncidenceRequest,
  say: Say,
): Promise<string> {
  const id = personOf(table, choices);
  const columns = outcomeOf(choices);
  const history = readHistory(table, { ...columns, ...present({ id }) });
  const names = history.causes ?? [];
  const missing = names.find((cause) => !files.some((one) => one.cause === cause));
  if (names.length === 0 || missing !== undefined) {
    throw new InputError(`no curves of a cause: "${missing}"`, { code: "curves.cause" });
  }
  const tables = [];
  for (const cause of names) {
    const [{ file }] = files.filter((one) => one.cause === cause);
    const bytes = new Uint8Array(await file.arrayBuffer());
    tables.push({ cause, file: file.name, table: await readTable(tableSourceFromBytes(file.name, bytes)) });
  }
  const { curves, grid } = readCauseCurves(
    tables,
    table.rows,
    horizon.trim() === "" ? {} : { horizon: Number(horizon) },
  );
  const groups = resolveGroups(choices.groups.map(toGroup), table);
  const settings = { seed: 1, draws: DEFAULT_DRAWS };
  const audit = await auditCauses(
    {
      curves,
      outcomes: binOutcomes(history.outcomes, grid),
      groups,
      ...present({ people: history.people ?? undefined }),
    },
    { ...settings, onProgress: tellBy(say) },
  );
  const option = (name: string, value: string | undefined) =>
    value === undefined || value === "" ? [] : [name, value];
  return renderCausePage({
    title: `${names.join(", ")} on ${table.name}`,
    audit,
    grid,
    groups,
    timeLabel: timeLabelOf(choices.unit === "" ? undefined : choices.unit, columns.origin),
    outcome: { event: columns.event, time: columns.time },
    table: table.name,
    notes: history.told.map(({ message }) => message),
    provenance: {
      program: PROGRAM,
      command: describeCommand([
        ...["audit", table.name, "--time", columns.time, "--event", columns.event],
        ...["--causes", (columns.causes ?? []).join(",")],
        ...option("--censored", columns.censored),
        ...option("--entry", columns.entry),
        ...option("--weights", columns.weights),
        ...option("--id", id),
        ...["--curves", tables.map(({ cause, file }) => `${cause}=${file}`).join(",")],
        ...option("--horizon", horizon.trim()),
        ...groupOptions(choices),
        ...option("--time-unit", choices.unit),
        ...["--report", "report.html"],
      ]),
      files: [
        { role: "table", name: table.name },
        ...tables.map(({ cause, file }) => ({ role: `curves of ${cause}`, name: file })),
      ],
      settings,
    },
  });
}
