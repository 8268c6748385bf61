/** Another program's curves, from a table to the same report: which columns are which, groups by columns, the audit. */
import { audit, readCurves, type Table } from "graduate-survival";
import { present } from "graduate-survival/core";
import { groupByColumns } from "graduate-survival/data";
import { BIN_LABEL, describeCommand, timeLabelOf } from "graduate-survival/report";
import { DEFAULT_DRAWS, REPORT_REPLICATES } from "graduate-survival/verbs";
import type { CurvesRequest, CurvesView } from "../protocol.ts";
import { viewColumns } from "./columns.ts";
import { guessOutcome } from "./guess.ts";
import { PROGRAM, renderPage } from "./pages.ts";
import { resample, type Say } from "./verdict.ts";

/** S1, S(90), S_90, or a bare time. */
const SURVIVAL = /^(S\d+|S\(.*\)|S_.*|\d+(\.\d*)?)$/;
/** What the outcome is called in such a file unless another column is named. */
const USUAL = ["time", "event", "bin"];
/** A column with more values is no list of groups. */
const MOST_GROUPS = 6;

export function viewCurves(table: Table): CurvesView {
  const others = { ...table, columns: table.columns.filter(({ name }) => !SURVIVAL.test(name)) };
  const columns = viewColumns(others);
  const { guess } = guessOutcome(columns, others);
  const isOutcome = (name: string) => name === guess.time || name === guess.event || USUAL.includes(name);
  const usual = (wanted: string) => columns.find(({ name }) => name === wanted)?.name ?? "";
  const by = columns.filter(
    ({ name, distinct }) => !isOutcome(name) && distinct > 1 && distinct <= MOST_GROUPS,
  );
  return {
    name: table.name,
    rows: table.rows,
    columns: columns.map(({ name }) => name),
    guess: {
      ...{ unit: guess.unit, horizon: "", by: by.map(({ name }) => name) },
      time: guess.time || usual("time"),
      event: guess.event || usual("event"),
    },
  };
}

export async function auditOutsideCurves(
  table: Table,
  { time, event, horizon, by, unit }: CurvesRequest,
  say: Say,
): Promise<string> {
  const label = unit === "" ? undefined : unit;
  const asked = present({
    event: event === "" ? undefined : event,
    time: time === "" ? undefined : time,
    horizon: horizon === "" ? undefined : Number(horizon),
  });
  const { curves, outcomes, others, grid, hasTimes, timeColumn } = readCurves(table, asked);
  const groups = by.flatMap((column) => groupByColumns(others, [column]).groups);
  const onProgress = (phase: string, done: number, total: number) => say(phase, done / total);
  const settings = { seed: 1, draws: DEFAULT_DRAWS, replicates: REPORT_REPLICATES };
  const judged = await audit(
    { curves, outcomes, groups },
    { ...settings, onProgress, bootstrap: resample(say) },
  );
  const option = (name: string, value: string) => (value === "" ? [] : [name, value]);
  return renderPage({
    title: table.name,
    curves,
    binned: outcomes,
    grid,
    ...present({ timeLabel: hasTimes ? timeLabelOf(label, undefined) : BIN_LABEL }),
    outcome: { event: event === "" ? "event" : event, time: timeColumn },
    groups,
    audit: judged,
    cohort: { table: table.name, which: "rows of the file" },
    provenance: {
      program: PROGRAM,
      command: describeCommand([
        ...["audit", "--curves", table.name],
        ...option("--time", time),
        ...option("--event", event),
        ...option("--horizon", horizon),
        ...option("--by", by.join(",")),
        ...option("--time-unit", unit),
        ...["--report", "report.html"],
      ]),
      files: [{ role: "curves", name: table.name }],
      settings,
    },
  });
}
