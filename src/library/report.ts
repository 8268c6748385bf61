/**
 * The page of an audit: of a model's rows, of several causes, or of any program's curves. Loaded only when a page is
 * asked for: what draws plots is larger than everything else.
 */
import type { Backend } from "../compute/backend.ts";
import { present } from "../core/present.ts";
import { haveSeveralRows } from "../data/outcomes/people.ts";
import { gatherCauseReport } from "../report/data/cause-report.ts";
import { describeOutcome, findingsFor, timeLabelOf } from "../report/data/describe-model.ts";
import { type GatherInput, gatherReport } from "../report/data/gather-report.ts";
import { renderCauseReport } from "../report/page/render-cause-report.ts";
import { renderReport } from "../report/page/render-report.ts";
import { BIN_LABEL } from "../report/words/report-time.ts";
import { auditCauseStudy, auditStudy } from "../verbs/acquaintance/audit-study.ts";
import { type AuditOptions, DEFAULT_DRAWS, REPORT_REPLICATES } from "../verbs/audit.ts";
import type { ModelStudy } from "../verbs/model-study.ts";
import type { AuditedCurves, CurveReportOptions } from "./audit-curves.ts";
import type { ReportOptions } from "./fitted-model.ts";
import type { Home } from "./home.ts";

type Provenance = GatherInput["provenance"];

/** How a program says that it made the page. */
const OF_MODEL = "model.report(table)";
const OF_CURVES = "reportCurves(table)";

/** The page of a model on rows that it has not learnt from. */
export async function reportModel(
  study: ModelStudy,
  backend: Backend | null,
  options: ReportOptions,
  home: Home,
): Promise<string> {
  const { model, table, columns } = study;
  if (model.causes !== undefined) return reportCauses(study, backend, options, home);
  const settings = settingsOf(options);
  const { audited, judged, relation } = await auditStudy(study, backend, { ...options, ...settings });
  const { rows, ...shown } = audited;
  const data = gatherReport({
    title: titleOf(study, options),
    ...shown,
    ...present({ timeLabel: timeLabelOf(options.timeUnit, columns.origin) }),
    ...looksOf(options),
    outcome: describeOutcome(columns, study.eventRule),
    findings: findingsFor(study.findings(), model, columns.id ?? null),
    model,
    rowNumbers: rows.map((row) => row + 1),
    cohort: {
      table: table.name,
      rows: table.rows,
      which: judged.which,
      relation,
      ...(judged.isTest ? { split: model.training.rows } : {}),
    },
    provenance: provenanceOf(home, OF_MODEL, study, settings),
  });
  return renderReport(data, { document: options.document ?? (await home.openDocument()) });
}

async function reportCauses(
  study: ModelStudy,
  backend: Backend | null,
  options: ReportOptions,
  home: Home,
): Promise<string> {
  const { table, columns, people, grid } = study;
  const { replicates: _, ...settings } = settingsOf(options);
  const { audited, relation, warnings } = await auditCauseStudy(study, backend, {
    ...settings,
    ...present({ allRows: options.allRows, onProgress: options.onProgress }),
  });
  const data = gatherCauseReport({
    title: titleOf(study, options),
    audit: audited.audit,
    grid,
    groups: audited.groups,
    timeLabel: timeLabelOf(options.timeUnit, columns.origin),
    ...looksOf(options),
    outcome: { event: columns.event, time: columns.time },
    relation,
    staysAsItIs: columns.start !== undefined,
    table: table.name,
    people: people !== null && haveSeveralRows(people) ? people.count : null,
    notes: warnings,
    provenance: provenanceOf(home, OF_MODEL, study, settings),
  });
  return renderCauseReport(data, { document: options.document ?? (await home.openDocument()) });
}

/** The page of any program's curves. */
export async function reportAudited(
  { read, groups, people, audit, name }: AuditedCurves,
  options: CurveReportOptions,
  home: Home,
): Promise<string> {
  const data = gatherReport({
    title: options.title ?? name,
    curves: read.curves,
    binned: read.outcomes,
    grid: read.grid,
    timeLabel: (read.hasTimes ? timeLabelOf(options.timeUnit, options.origin) : BIN_LABEL) ?? "time",
    ...looksOf(options),
    outcome: {
      event: options.event ?? "event",
      time: read.timeColumn,
      ...present({ origin: options.origin }),
    },
    ...(people === null ? {} : { people }),
    groups,
    audit,
    cohort: { table: name, which: "rows of the file" },
    provenance: provenanceOf(home, OF_CURVES, { table: { name } }, settingsOf(options)),
  });
  return renderReport(data, { document: options.document ?? (await home.openDocument()) });
}

/** A report has intervals unless told otherwise. */
export function settingsOf({
  seed = 1,
  draws = DEFAULT_DRAWS,
  replicates = REPORT_REPLICATES,
}: AuditOptions) {
  return { seed, draws, replicates };
}

function looksOf({ tolerance, showRows, showSmallCells }: ReportOptions) {
  return present({ tolerance, showRows, showSmallCells });
}

function titleOf({ model, table }: ModelStudy, { title }: ReportOptions): string {
  return title ?? `${model.method} model on ${table.name}`;
}

function provenanceOf(
  { program }: Home,
  command: string,
  { table, sha256 = null }: { readonly table: { readonly name: string }; readonly sha256?: string | null },
  settings: Provenance["settings"],
): Provenance {
  const file = { role: "table", name: table.name, ...present({ sha256: sha256 ?? undefined }) };
  return { program, command, files: [file], settings };
}
