/** Under the title: what was predicted, of whom, and up to when. Everything below is about these people and this time only. */
import { type Html, html, nameOf } from "./html.ts";
import type { AuditedRelation, ReportData } from "./report-data.ts";
import { momentOf, roundedDurationOf } from "./report-time.ts";
import { type Cells, createCells } from "./small-cells.ts";

const RELATIONS: Readonly<Record<AuditedRelation, string>> = {
  heldOut: "held out: the model was neither fitted to them nor chosen by them",
  newTable:
    "of another file than the training table; whether the model has seen these people is not known here",
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
    ["People", sayPeople(data, cells)],
    [
      "Time",
      html`${sayTime(data)}${timeColumn === null ? null : html` Column: ${nameOf(timeColumn)}${sayUnit(time)}.`}`,
    ],
  ];
  return html`<dl class="subject" aria-label="What was audited in ${cohort.table}">${entries.map(([word, says]) => html`<div><dt>${word}</dt><dd>${says}</dd></div>`)}</dl>`;
}

function sayPeople({ cohort, subject, overall }: ReportData, cells: Cells): Html {
  const { audited, table } = cohort;
  const events = cells.countOf(overall.scores.events, "event", audited.rows);
  const which = audited.which === "test rows" ? "test rows of" : "rows of";
  return html`${cells.text(audited.rows)} ${which} ${nameOf(table)}, ${events} among them; ${RELATIONS[subject.relation]}.`;
}

function sayTime({ time }: ReportData): string {
  const { edges, label, audited } = time;
  if (audited === 0) return "Nothing is audited: there are never ten people at risk.";
  const end = edges.length - 1;
  const horizon = roundedDurationOf(edges[end], label);
  const until =
    audited < end ? momentOf(edges[audited], label) : label === "time" ? `time ${horizon}` : horizon;
  return audited < end
    ? `From the start to ${until}; later, up to the horizon of ${horizon}, fewer than ten people are at risk.`
    : `From the start to ${until}, the horizon.`;
}

function sayUnit({ given, label }: ReportData["time"]): string {
  if (given === null) return label === "time" || label === "time bins" ? "" : `, in ${label}`;
  return `, in ${given.label}; ${Number(given.divisor.toPrecision(6))} ${given.label} are shown as a year`;
}
