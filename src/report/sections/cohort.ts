/**
 * Who was audited. Under the title: what was predicted, for whom, and up to when; everything below it is about these
 * people and this time only. Further down: the steps from the table to the rows that were scored, and what the checks
 * of the table found.
 */

import { plainText } from "../../core/sentence.ts";
import type { SetSizes } from "../../study/split.ts";
import { STAYS_AS_IT_IS } from "../../training/model.ts";
import type { AuditedRelation, ReportData, ReportFinding } from "../data/report-data.ts";
import { type Cells, createCells } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import { momentOf, roundedDurationOf } from "../words/report-time.ts";
import { type ChipLook, iconOf, percentOf, unitOf, unitsOf } from "../words/report-words.ts";

/** What a model has to do with the people it is judged on. */
export const RELATIONS: Readonly<Record<AuditedRelation, string>> = {
  heldOut: "held out: the model was neither fitted to them nor chosen by them",
  newTable:
    "from another file than the training table; whether the model has seen these people is not known here",
  seen: "rows that the model was trained on are among them, which flatters it",
  unknown: "whether the model has seen them is not known here",
};

/** What a prediction means where features change with time; null where they do not. */
export function sayStays({ staysAsItIs }: Pick<ReportData, "staysAsItIs">): Html | null {
  if (staysAsItIs !== true) return null;
  return html`<p>${STAYS_AS_IT_IS.slice(0, 1).toUpperCase()}${STAYS_AS_IT_IS.slice(1)}.</p>`;
}

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

const LOOKS: Readonly<Record<ReportFinding["level"], ChipLook>> = {
  error: "off",
  warning: "doubt",
  note: "few",
};
const ORDER: readonly ReportFinding["level"][] = ["error", "warning", "note"];

export function renderCohort(data: ReportData): Html {
  const { cohort, overall, time } = data;
  const cells = createCells(data.hidesSmallCells);
  const { audited, split, trainedOn } = cohort;
  const median =
    audited.medianFollowUp === null
      ? ""
      : `Half of the ${unitsOf(data)} were followed for ${roundedDurationOf(audited.medianFollowUp, time.label)} ` +
        "or longer (reverse Kaplan-Meier). ";
  return html`<section aria-labelledby="cohort">\
<h2 id="cohort">Who was audited, and what the table’s checks found</h2>
<div class="card"><ol class="flow">${listBoxes(data, cells).map((box) => html`<li>${box}</li>`)}</ol>
<p class="lead" style="margin-top:12px">${median}Censored: last seen without the event; counted as at risk until \
then.${sayBeyond(audited.events - overall.scores.events, time, cells)}${sayTrainedOn(split, trainedOn, cells)}</p>
<h3>Findings</h3>
${renderFindings(data, cells)}
</div></section>`;
}

function renderFindings(data: ReportData, cells: Cells): Html {
  const found = listFindings(data);
  if (found.length === 0) {
    const none =
      data.training === null
        ? "The predictions came alone: there was no table of features to check."
        : "None.";
    return html`<p class="lead">${none}</p>`;
  }
  const items = found.map(({ level, sentence }) => {
    const chip = html`<span class="chip ${LOOKS[level]}">${iconOf(LOOKS[level])} ${level}</span>`;
    return html`<li>${chip}${cells.sentence(sentence)}</li>`;
  });
  return html`<ul class="findings">${items}</ul>`;
}

/** Findings of the checks, and warnings from training that the checks did not give; the most serious first. */
function listFindings({ findings, training }: ReportData): readonly ReportFinding[] {
  const checked = findings.map(({ sentence }) => plainText(sentence));
  const isSaid = (message: string) => checked.some((finding) => finding.startsWith(message));
  const warnings = (training?.warnings ?? []).filter(({ sentence }) => !isSaid(plainText(sentence)));
  return [...findings, ...warnings].sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
}

function listBoxes({ cohort }: ReportData, cells: Cells): readonly Html[] {
  const { audited, split, rows, excluded } = cohort;
  const boxes: Html[] = [];
  if (rows !== null) {
    boxes.push(html`<div class="box"><b>${cells.text(rows)}</b>rows of ${nameOf(cohort.table)}</div>`);
  }
  if (excluded.length > 0) {
    const lost = excluded.reduce((sum, one) => sum + one.rows, 0);
    boxes.push(
      html`<div class="box"><b>−${cells.text(lost)}</b>left out<ul>${excluded.map(
        (one) => html`<li>${cells.text(one.rows)}: ${one.reason}</li>`,
      )}</ul></div>`,
    );
  }
  if (split !== null) {
    const isApart = split.validation > 0;
    const validating = isApart ? ` + ${cells.text(split.validation)}` : "";
    const uses = isApart ? "to train and to validate on" : "to learn from";
    boxes.push(
      html`<div class="box"><b>${cells.text(split.train)}${validating}</b>rows ${uses}, not audited</div>`,
    );
  }
  const whose = audited.people === null ? "" : ` of ${cells.countOf(audited.people, "person")}`;
  const share =
    audited.rows === 0 || !cells.shows(audited.events, audited.rows)
      ? ""
      : ` (${percentOf(audited.events / audited.rows)})`;
  boxes.push(
    html`<div class="box end"><b>${cells.text(audited.rows)}</b>${audited.which}${whose} audited: \
${cells.countOf(audited.events, "event", audited.rows)}${share}, \
${cells.text(audited.censored, audited.rows)} censored</div>`,
  );
  return boxes;
}

/** Why the events that are scored may be fewer than those that happened. */
function sayBeyond(events: number, { edges, label }: ReportData["time"], cells: Cells): string {
  if (events <= 0) return "";
  const end = roundedDurationOf(edges[edges.length - 1], label);
  const are = cells.shows(events) && events === 1 ? "is" : "are";
  const said = cells.countOf(events, "event");
  return (
    ` ${said.slice(0, 1).toUpperCase()}${said.slice(1)} after the model’s horizon (${end}) ${are} scored as ` +
    "censored there."
  );
}

/** Says which rows the model was made from: an audit of rows it has seen flatters it. */
function sayTrainedOn(split: SetSizes | null, trainedOn: SetSizes | null, cells: Cells): string {
  if (split !== null || trainedOn === null) return "";
  return (
    ` The model was made from ${cells.text(trainedOn.train)} training and ${cells.text(trainedOn.validation)} ` +
    "validation rows; should they be among these, the scores flatter it."
  );
}
