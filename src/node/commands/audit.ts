/**
 * `graduate audit`: every score of predicted curves, overall and by group; also a report and requirements when asked
 * for.
 */

import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { type Finding, toPlainFinding } from "../../data/checks/findings.ts";
import { readCurves } from "../../data/curves/read-curves.ts";
import { outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { describeOutcome, findingsFor, timeLabelOf } from "../../report/data/describe-model.ts";
import { BIN_LABEL, tellTime } from "../../report/words/report-time.ts";
import { isStartStop } from "../../training/model.ts";
import { type AuditOptions, type AuditTable, audit } from "../../verbs/audit.ts";
import { auditCauseStudy, auditStudy, listMoreGroups } from "../../verbs/acquaintance/audit-study.ts";
import { checkCauseRequirements } from "../../verbs/causes/cause-requirements.ts";
import { addGroups, type ModelStudy } from "../../verbs/model-study.ts";
import { checkRequiredGroups, type Requirement } from "../../verbs/requirements.ts";
import { describePeople, findPeople } from "../../verbs/whose-rows.ts";
import { refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import type { CauseOptions } from "../io/read-cause-predictions.ts";
import { refuseOutcomeOfModel } from "../io/read-cause-predictions.ts";
import { hasWholeOutcome, readCurvesOfHistory } from "../io/read-outcome-curves.ts";
import {
  addCurvesOptions,
  type ModelTable,
  onlyFile,
  openModelStudy,
  type PredictionOptions,
  readModelTable,
} from "../io/read-predictions.ts";
import {
  addGroupOptions,
  addIdOption,
  addTableOptions,
  type GroupOptions,
  groupsBy,
  namesOption,
  numberOption,
  parseCount,
  parseThreads,
  readGroups,
  readTableFile,
} from "../options/table-options.ts";
import { printAudit } from "../print/audit.ts";
import { print, printJson, warn } from "../print/output.ts";
import { causeSettings, tellCauseAudit } from "../print/tell-causes.ts";
import {
  addReportOptions,
  addRequireOptions,
  auditSettings,
  checkRequirements,
  printRequirements,
  type ReportedAudit,
  type ReportOptions,
  type RequireOptions,
  readRequirements,
  toleranceOf,
  writeReport,
} from "../print/write-report.ts";
import { addCauseOptions, refuseByCause, refuseWithoutCauses, runCauseAudit } from "./causes/audit-causes.ts";

interface AuditCommandOptions extends PredictionOptions, GroupOptions, ReportOptions, RequireOptions {
  readonly by?: readonly string[];
  readonly allRows?: boolean;
  readonly certify?: number;
  readonly json?: boolean;
}

/** As they are given: of several causes there are several files of curves. */
type GivenOptions = Omit<AuditCommandOptions, "curves"> & CauseOptions;

/** The value of `--certify` when none is given: 95 % confidence, as in the intervals. */
const USUAL_ALPHA = 0.05;

export function addAudit(program: Command): void {
  const command = addCurvesOptions(
    program
      .command("audit")
      .description("score predicted survival curves, overall and by group")
      .argument("[model]", "a model that train wrote; with --causes and --curves, the table")
      .argument("[table]", "rows it has not seen: a file, or a folder or 'pattern' of several"),
    { several: true },
  )
    .option("--split <file>", "the row,set table the model was trained with: its test rows alone are judged")
    .option("--all-rows", "judge every row of the table the model was trained on, not its test rows alone")
    .option("--by <columns>", "one group for each value of each of these columns", namesOption);
  addCauseOptions(command);
  addRequireOptions(addReportOptions(addGroupOptions(addTableOptions(addIdOption(command)))))
    .addOption(
      new Option(
        "--certify [alpha]",
        `bounds on every group's true distance that all hold with probability 1 - ALPHA (default: ${USUAL_ALPHA})`,
      )
        .argParser(parseAlpha)
        .preset(String(USUAL_ALPHA)),
    )
    .option("--seed <n>", "seed of draws and replicates", parseCount, 1)
    .option("--threads <n>", "worker threads for the intervals", parseThreads, availableParallelism())
    .option("--json", "print one JSON document")
    .action(runAudit);
}

async function runAudit(
  model: string | undefined,
  table: string | undefined,
  given: GivenOptions,
): Promise<void> {
  if (given.causes !== undefined) return runCauseAudit(model, table, { ...given, causes: given.causes });
  const { report, split, groups } = given;
  await refuseUnwritable([report], [model, table, ...(given.curves ?? []), split, groups]);
  refuseWrongSuffix({ report });
  const read = model !== undefined && table !== undefined ? await openRead(model, table, given) : null;
  if (read !== null) refuseOutcomeOfModel(given);
  if (read?.model.causes !== undefined) return auditCauseFile(read, given);
  refuseWithoutCauses(given);
  const { curves, ...rest } = given;
  const options: AuditCommandOptions = { ...rest, ...present({ curves: onlyFile(curves) }) };
  const requirements = readRequirements(options);
  const { certify: alpha } = options;
  const settings = { ...auditSettings(options), ...(alpha === undefined ? {} : { certify: { alpha } }) };
  const audited =
    read !== null
      ? await auditFile(read, options, settings, requirements)
      : await auditCurves(model, options, settings, requirements);
  for (const warning of audited.warnings) warn(warning);
  if (options.report !== undefined) await writeReport(options.report, audited, options);
  const results = checkRequirements(requirements, audited.audit, options);
  if (options.json) {
    printJson({
      ...audited.audit,
      edges: Array.from(audited.grid.edges),
      tolerance: toleranceOf(options),
      rows: { which: audited.cohort.which, judged: audited.curves.N },
      findings: audited.told.map(toPlainFinding),
      warnings: audited.warnings,
      certificates: audited.audit.certificates ?? null,
      ...(requirements.length === 0 ? {} : { requirements: results }),
      ...(options.report === undefined ? {} : { report: options.report }),
    });
    return;
  }
  printAudit(audited.audit, tellTime(audited.grid.edges, audited.timeLabel), toleranceOf(options));
  printRequirements(results);
  if (options.report !== undefined) print(`\nreport written to ${options.report}`);
}

/** What was audited, in the form a report takes. */
type Audited = ReportedAudit & {
  readonly audit: AuditTable;
  /** What should be said of the outcome; the warnings have the same as sentences. */
  readonly told: readonly Finding[];
  readonly warnings: readonly string[];
};

async function auditCurves(
  model: string | undefined,
  options: AuditCommandOptions,
  settings: AuditOptions,
  requirements: readonly Requirement[],
): Promise<Audited> {
  if (options.curves === undefined) {
    throw new InputError("nothing to audit", {
      code: "option.missing",
      hint: "give a model and a table, or predictions with --curves FILE",
    });
  }
  if (model !== undefined) throw refuseBoth();
  const read = hasWholeOutcome(options)
    ? await readHistoryFile(options.curves, options)
    : await readPlainFile(options.curves, options);
  const { name: title, curves, outcomes, others, notes, grid, hasTimes, timeColumn, id, people, told } = read;
  const groups = [
    ...groupsBy(others, options.by ?? []),
    ...(await readGroups(others, options, id === null ? [] : [id])),
  ].filter(({ name }) => isNamed(name));
  checkRequiredGroups(
    requirements,
    groups.map(({ name }) => name),
  );
  return {
    title,
    curves,
    binned: outcomes,
    grid,
    timeLabel: hasTimes ? timeLabelOf(options.timeUnit, options.origin) : BIN_LABEL,
    outcome: {
      event: options.event ?? "event",
      time: timeColumn,
      ...(options.origin === undefined ? {} : { origin: options.origin }),
    },
    ...(people === null ? {} : { people }),
    groups,
    audit: await audit({ curves, outcomes, groups, ...(people === null ? {} : { people }) }, settings),
    cohort: { table: title, which: "rows of the file" },
    told,
    warnings: [...notes, ...describePeople(people)],
    files: [{ role: "curves", path: options.curves }],
  };
}

/** Curves with bins or times and events, in one file. */
async function readPlainFile(path: string, options: AuditCommandOptions) {
  const table = await readTableFile(path, options);
  return { name: table.name, ...readCurves(table, options), ...findPeople(table, options, null) };
}

/** The same with late entry, start–stop rows or weights. */
async function readHistoryFile(path: string, options: AuditCommandOptions) {
  const { table, columns, warnings, findings: told, ...read } = await readCurvesOfHistory(path, [], options);
  const names = outcomeNames(columns);
  const others = { ...table, columns: table.columns.filter(({ name }) => !names.includes(name)) };
  const timeColumn = columns.time;
  return { ...read, name: table.name, others, told, notes: warnings, hasTimes: true, timeColumn };
}

/** A model and a table, which may have several causes. */
async function openRead(modelPath: string, path: string, given: GivenOptions): Promise<ModelTable> {
  if (given.curves !== undefined) throw refuseBoth();
  const { curves: _, ...options } = given;
  return readModelTable([modelPath, path], options);
}

/** A model of several causes is judged by cause. */
async function auditCauseFile(read: ModelTable, given: GivenOptions): Promise<void> {
  const { curves: _, ...options } = given;
  refuseByCause(given);
  const { study: opened, backend } = await openModelStudy(read, options);
  try {
    const { modelPath, path, table, sha256 } = read;
    const study = await addAskedGroups(opened, options);
    checkCauseRequirements(readRequirements(options), study.groups.map(({ name }) => name).filter(isNamed));
    const { audited, judged, relation, warnings } = await auditCauseStudy(study, backend, {
      ...causeSettings(given, study.grid),
      allRows: options.allRows === true,
    });
    const { id, time, event } = study.columns;
    await tellCauseAudit(
      {
        title: `${basename(modelPath)} on ${table.name}`,
        table,
        curves: audited.curves,
        grid: study.grid,
        groups: audited.groups,
        people: id === undefined ? null : study.people,
        audit: audited.audit,
        outcome: { event, time },
        which: judged.which,
        relation,
        staysAsItIs: isStartStop(study.model),
        findings: study.told,
        notes: warnings,
        files: [
          { role: "model", path: modelPath },
          { role: "table", path, name: table.name, ...(sha256 === null ? {} : { sha256 }) },
        ],
      },
      { ...options, ...present({ origin: study.columns.origin }) },
    );
  } finally {
    await backend?.close();
  }
}

async function auditFile(
  read: ModelTable,
  options: AuditCommandOptions,
  settings: AuditOptions,
  requirements: readonly Requirement[],
): Promise<Audited> {
  const { modelPath, path } = read;
  const { study: opened, backend } = await openModelStudy(read, options);
  try {
    const { model, table, sha256 } = read;
    const study = await addAskedGroups(opened, options);
    checkRequiredGroups(requirements, study.groups.map(({ name }) => name).filter(isNamed));
    const allRows = options.allRows === true;
    const { audited, judged, relation, warnings } = await auditStudy(study, backend, {
      ...settings,
      allRows,
    });
    const { id } = study.columns;
    return {
      title: `${basename(modelPath)} on ${table.name}`,
      ...audited,
      timeLabel: timeLabelOf(options.timeUnit, model.columns.origin),
      outcome: describeOutcome(study.columns, study.eventRule),
      ...(options.report === undefined ? {} : { findings: findingsFor(study.findings(), model, id ?? null) }),
      model,
      told: study.told,
      warnings,
      rowNumbers: judged.rows.map((row) => row + 1),
      cohort: {
        table: table.name,
        rows: table.rows,
        which: judged.which,
        relation,
        ...(judged.isTest ? { split: model.training.rows } : {}),
      },
      files: [
        { role: "model", path: modelPath },
        { role: "table", path, name: table.name, sha256 },
        ...(options.groups === undefined ? [] : [{ role: "groups", path: options.groups }]),
        ...(options.split === undefined ? [] : [{ role: "split", path: options.split }]),
      ],
    };
  } finally {
    await backend?.close();
  }
}

/** The study with the groups asked for beyond the model's own. */
async function addAskedGroups(study: ModelStudy, options: AuditCommandOptions): Promise<ModelStudy> {
  const { time, event, id } = study.columns;
  const groups = await readGroups(study.table, options, [time, event, ...(id === undefined ? [] : [id])]);
  return addGroups(study, listMoreGroups(study, { ...present({ by: options.by }), groups }));
}

function refuseBoth(): InputError {
  return new InputError("both a model and --curves were given", {
    code: "option.conflict",
    hint: "give a model and a table, or predictions with --curves FILE",
  });
}

const parseAlpha = numberOption((value) => value > 0 && value < 1, "a share between 0 and 1, such as 0.05");

/** The audit's first line already is everyone. */
const isNamed = (name: string) => name !== "all";
