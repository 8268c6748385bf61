/**
 * The part under the title: what was predicted, for whom, and up to when. Everything below it is about these people and
 * this time only.
 */

import type { AuditedRelation, ReportData } from "../data/report-data.ts";
import { type Cells, createCells } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import { momentOf, roundedDurationOf } from "../words/report-time.ts";
import { unitOf, unitsOf } from "../words/report-words.ts";

const RELATIONS: Readonly<Record<AuditedRelation, string>> = {
  heldOut: "held out: the model was neither fitted to them nor chosen by them",
  newTable:
    "from another file than the training table; whether the model has seen these people is not known here",
  seen: "rows that the model was trained on are among them, which flatters it",
  unknown: "whether the model has seen them is not known here",
};

export function renderSubject(data: ReportData): Html {
  const { subject, time, cohort } = data;
  const cells = createCells(data.hidesSmallCells);
  const { event, timeColumn } = subject;
  const entries: readonly (readonly [string, Html])[] = [
    ...(event === null
      ? []
      : [
          [
            "Event",
            html`${nameOf(event.column)}${event.rule === null ? null : html` (${event.rule})`}`,
          ] as const,
        ]),
    [unitOf(data) === "row" ? "Rows" : "People", sayPeople(data, cells)],
    [
      "Time",
      html`${sayTime(data)}${timeColumn === null ? null : html` ${sayColumn(timeColumn, subject.originColumn, time)}`}`,
    ],
  ];
  return html`<dl class="subject" aria-label="What was audited in \
${cohort.table}">${entries.map(([word, says]) => html`<div><dt>${word}</dt><dd>${says}</dd></div>`)}</dl>`;
}

function sayPeople({ cohort, subject, overall }: ReportData, cells: Cells): Html {
  const { audited, table } = cohort;
  const events = cells.countOf(overall.scores.events, "event", audited.rows);
  const rows = audited.which === "test rows" ? "test rows" : "rows";
  const { people } = audited;
  const whose = people === null ? "" : ` of ${cells.countOf(people, "person")}`;
  const byPerson =
    people === null
      ? ""
      : " Noise floor, intervals, bounds and the logrank go by person; max z, D-calibration and numbers at risk " +
        "count rows.";
  return html`${cells.text(audited.rows)} ${rows}${whose} ${people === null ? "of" : "in"} ${nameOf(table)}, ${events} \
among them; ${RELATIONS[subject.relation]}.${byPerson}`;
}

function sayTime(data: ReportData): string {
  const { time } = data;
  const { edges, label, audited } = time;
  if (audited === 0) return `Nothing is audited: there are never ten ${unitsOf(data)} at risk.`;
  const end = edges.length - 1;
  const horizon = roundedDurationOf(edges[end], label);
  const until =
    audited < end ? momentOf(edges[audited], label) : label === "time" ? `time ${horizon}` : horizon;
  return audited < end
    ? `From the start to ${until}; later, up to the horizon of ${horizon}, fewer than ten ${unitsOf(data)} are at risk.`
    : `From the start to ${until}, the horizon.`;
}

/** "Column: futime, in days." or "Days from entry to death." */
function sayColumn(column: string, origin: string | null, time: ReportData["time"]): Html {
  if (origin === null) return html`Column: ${nameOf(column)}${sayUnit(time)}.`;
  const shown =
    time.given === null ? "" : `; ${Number(time.given.divisor.toPrecision(6))} days are shown as a year`;
  return html`Counted in days from ${nameOf(origin)} to ${nameOf(column)}${shown}.`;
}

function sayUnit({ given, label }: ReportData["time"]): string {
  if (given === null) return label === "time" || label === "time bins" ? "" : `, in ${label}`;
  return `, in ${given.label}; ${Number(given.divisor.toPrecision(6))} ${given.label} are shown as a year`;
}
