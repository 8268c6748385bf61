/**
 * The parts of a card that a model of several causes has: incidences stacked by cause, a hundred people in as many
 * shades as there are causes and one more for those without any, what drives each cause, and the groups with the gap
 * between mean prediction and Aalen-Johansen. Shades differ in darkness as well as in hue, always stand in the model's
 * order, and every figure has a sentence with its numbers.
 */
import { isAbsent } from "../../core/measured.ts";
import type { JudgedCauses } from "../../verbs/people/cause-groups.ts";
import type { ExplainedCause } from "../../verbs/people/explained-quantities.ts";
import { type Cells, createCells, SMALLEST_CELL } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { type CardData, type CardTime, percentRisk } from "./card-data.ts";
import { causeKey, drawCauseHundred, drawStacked } from "./cause-figures.ts";
import { renderDrivers, signedPoints } from "./render-drivers.ts";

const PEOPLE = 100;

/**
 * Whole numbers of a hundred people, the causes' and last those without any, that sum to 100: each share rounded down,
 * and the people left over go to the largest remainders.
 */
export function countHundred(risks: readonly number[]): readonly number[] {
  const shares = [...risks, Math.max(0, 1 - risks.reduce((sum, risk) => sum + risk, 0))];
  const total = shares.reduce((sum, share) => sum + share, 0);
  const exact = shares.map((share) => (PEOPLE * share) / total);
  const counts = exact.map(Math.floor);
  const left = PEOPLE - counts.reduce((sum, count) => sum + count, 0);
  const order = exact.map((_, k) => k).sort((a, b) => exact[b] - counts[b] - (exact[a] - counts[a]) || a - b);
  for (const k of order.slice(0, left)) counts[k]++;
  return counts;
}

/** "neither" of two causes, "none of these" of more. */
function nameNone(causes: number): string {
  return causes === 2 ? "neither" : "none of these";
}

/** A cause that has no name but a number is no word in a sentence. */
export function sayCause(name: string): string {
  return /^\d+$/.test(name) ? `cause ${name}` : name;
}

/** "Of 100 such people, by 10 years: 12 pcm, 21 death, 67 neither." */
export function causeSentence(names: readonly string[], risks: readonly number[], moment: string): string {
  const all = [...names.map(sayCause), nameNone(names.length)];
  const parts = countHundred(risks).map((count, k) => `${count} ${all[k]}`);
  return `Of ${PEOPLE} such people, by ${moment}: ${parts.join(", ")}.`;
}

/** The curve of each cause on top of those before it. */
export function renderStacked(
  { explanation }: CardData,
  all: readonly ExplainedCause[],
  time: CardTime,
  document: PlotDocument,
): Html {
  const ends = all.map(({ incidence }) => incidence[incidence.length - 1]);
  const names = all.map(({ name }) => name);
  const says = `Cumulative incidence of each cause, stacked. ${causeSentence(names, ends, time.horizon)}`;
  return html`<section class="card" aria-labelledby="card-curve"><h2 id="card-curve">What happens, by cause</h2>
${renderLegend(names)}
<div class="figure" role="img" aria-label="${says}">${drawStacked(document, all, time)}</div>
<p class="lead">Each cause lies on top of those before it; what is left above them is the chance of ${nameNone(
    all.length,
  )}. Dotted: the same for the mean of ${explanation.background.rows} ${explanation.background.which}.</p></section>`;
}

function renderLegend(names: readonly string[]): Html {
  return html`<ul class="legend">${names.map((name, k) => html`<li>${causeKey(k)} ${nameOf(sayCause(name))}</li>`)}
<li>${causeKey(null)} ${nameNone(names.length)}</li></ul>`;
}

/** A tile for each time: a hundred people, the sentence, and each cause's risk beside everyone's. */
export function renderCauseRisks(all: readonly ExplainedCause[], time: CardTime): Html {
  const names = all.map(({ name }) => name);
  const tiles = all[0].times.map(({ time: at }, t) => {
    const moment = time.momentOf(at);
    const risks = all.map(({ times }) => times[t].risk);
    const own = risks.map(({ prediction }) => prediction);
    const sentence = causeSentence(names, own, moment);
    return html`<div><h3>By ${moment}</h3>
${drawCauseHundred(countHundred(own), sentence)}
<p>${sentence}</p><ul class="causes">${risks.map(
      (
        { prediction, baseline },
        k,
      ) => html`<li>${causeKey(k)} ${nameOf(sayCause(names[k]))} <b>${percentRisk(prediction)}</b> \
<span class="beside">everyone’s mean ${percentRisk(baseline)}</span></li>`,
    )}</ul></div>`;
  });
  return html`<section class="card" aria-labelledby="card-risks"><h2 id="card-risks">Risk of each cause</h2>
${renderLegend(names)}<div class="risks">${tiles}</div></section>`;
}

/** A table of drivers for every cause, that of the explanation first. */
export function renderCauseDrivers(card: CardData, time: CardTime): readonly Html[] {
  const { explanation } = card;
  const { byCause } = explanation;
  if (byCause === null) return [];
  const first = byCause.all.filter(({ name }) => name === byCause.cause);
  const others = byCause.all.filter(({ name }) => name !== byCause.cause);
  return [...first, ...others].map(({ name, times }, k) =>
    renderDrivers(explanation, times, time, {
      id: `card-drivers-${k + 1}`,
      title: html`What drives ${nameOf(sayCause(name))}`,
    }),
  );
}

/** The groups of the person: predicted and observed incidence of each cause. */
export function renderCauseGroups(card: CardData, groups: readonly JudgedCauses[], time: CardTime): Html {
  if (isAbsent(card.groups)) return html``;
  const cells = createCells(card.hidesSmallCells);
  const { rows, which, alpha } = card.groups;
  const level = Math.round(100 * (1 - alpha));
  const isHidden = groups.some(({ n, causes }) => causes.some(({ events }) => !shows(cells, n, events)));
  return html`<p class="lead">The groups this person belongs to, among ${cells.text(rows)} ${which} that the model has \
not seen: the mean predicted incidence of each cause, in points above (+) or below (−) what was observed \
(Aalen-Johansen), at the last time by which ten are at risk; ± is two standard errors of the observed. Up to: how far \
the mean curve can be from the truth on average over time, with ${level} % confidence for all groups and causes \
together.</p>
<table class="like causes"><colgroup><col class="name"><col class="count"><col class="count"><col></colgroup>
<thead><tr><th scope="col">group</th><th scope="col">people</th><th scope="col">events</th>\
<th scope="col">off by</th></tr></thead>
<tbody>${groups.flatMap((group) => group.causes.map((one) => renderCauseGroup(group, one, cells, time)))}</tbody>\
</table>${isHidden ? html`<p class="lead">Counts under ${SMALLEST_CELL} are hidden.</p>` : null}`;
}

function shows(cells: Cells, n: number, events: number): boolean {
  return cells.shows(n) && cells.shows(events, n);
}

function renderCauseGroup(
  { name, expression, n }: JudgedCauses,
  { name: cause, events, gap, bound }: JudgedCauses["causes"][number],
  cells: Cells,
  time: CardTime,
): Html {
  const who = expression === "all" ? "everyone" : nameOf(name);
  const why = !shows(cells, n, events) ? "too few people to say" : isAbsent(gap) ? gap.absent : null;
  const shown =
    why !== null || isAbsent(gap)
      ? html`–<small>${why}</small>`
      : html`${signedPoints(gap.predicted - gap.observed)} ± ${(200 * gap.error).toFixed(1)}\
<small>by ${time.roundedOf(gap.time)}</small>`;
  const limit =
    why !== null || isAbsent(bound)
      ? null
      : html`<small>on average up to ${(100 * bound).toFixed(1)}</small>`;
  return html`<tr><th scope="row">${who}<small>${nameOf(sayCause(cause))}</small></th>\
<td>${cells.text(n)}</td><td>${cells.text(events, n)}</td><td>${shown}${limit}</td></tr>`;
}
