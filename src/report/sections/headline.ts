/** The top of the report: what a reader must know after ten seconds, in words and then in four numbers. */

import { countOf } from "../../core/text.ts";
import { FAMILY_LEVEL, SINGLE_LEVEL } from "../../stats/calibration/agreement.ts";
import type { ReportData, ReportGroup } from "../data/report-data.ts";
import { type Cells, createCells } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import {
  chipOf,
  distanceSentence,
  everyGroup,
  floorSentence,
  iconOf,
  levelOf,
  pointsOf,
  type RejectionCount,
  sayOutside,
  showsWhen,
  tolerancePoints,
  unitOf,
  unitsOf,
  type VerdictLook,
  verdictSentence,
} from "../words/report-words.ts";
import { formatNumber, formatRange } from "../words/text-table.ts";
import { sayStays } from "./cohort.ts";

/** Worst first. */
export const SEVERITY: readonly VerdictLook[] = ["off", "open", "within", "few"];
/** If a sentence would have more names than this, they are left to the table below. */
const MOST_NAMES = 4;

function listNames(groups: readonly ReportGroup[]): Html {
  const shown = groups.slice(0, MOST_NAMES);
  const rest = groups.length - shown.length;
  const names = shown.map(
    (group, k) =>
      html`${k === 0 ? "" : k === shown.length - 1 && rest === 0 ? " and " : ", "}${nameOf(group.name)}`,
  );
  return html`${names}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function ofLook(groups: readonly ReportGroup[], look: VerdictLook): readonly ReportGroup[] {
  return groups.filter(({ verdict }) => verdict.look === look);
}

export function renderHeadline(data: ReportData): Html {
  const { overall, groups, tolerance } = data;
  const off = ofLook(groups, "off");
  const worst =
    SEVERITY.find((look) => everyGroup(data).some(({ verdict }) => verdict.look === look)) ?? "few";
  return html`<section aria-labelledby="short">
<div class="card headline ${worst}">
<h2 id="short" class="hidden">In short</h2>
<p class="say">${sayInShort(data)}</p>
${
  groups.length === 0
    ? null
    : html`<ul class="tally" aria-label="Groups by verdict">${SEVERITY.filter(
        (look) => ofLook(groups, look).length > 0,
      ).map(
        (look) =>
          html`<li class="chip ${look}">${iconOf(look)} ${ofLook(groups, look).length} \
${tallyWord(look, tolerance, ofLook(groups, look).length)}</li>`,
      )}</ul>`
}
<p>Everyone together: ${chipOf(overall.verdict)} ${sayDistance(overall, data)}</p>
${off.length === 0 ? null : html`<p>${describeOff(off, data)}</p>`}
${sayAnyOutside(data)}
${sayBounds(data)}
${countSentence(data)}
${sayStays(data)}
</div>
${renderTiles(data)}
</section>`;
}

function tallyWord(look: VerdictLook, tolerance: number, count: number): string {
  const limit = tolerancePoints(tolerance);
  switch (look) {
    case "off":
      return count === 1 ? "disagrees" : "disagree";
    case "open":
      return `no disagreement shown, not bounded below ${limit}`;
    case "within":
      return `no disagreement shown, bounded below ${limit}`;
    case "few":
      return "too few events to say";
  }
}

function sayInShort({ overall, groups, tolerance }: ReportData): Html {
  const off = ofLook(groups, "off");
  const open = ofLook(groups, "open");
  const judged = groups.length - ofLook(groups, "few").length;
  if (off.length > 0) {
    const share =
      off.length === judged && judged > 1
        ? `all ${judged} groups`
        : `${off.length} of ${countOf(judged, "group")}`;
    return html`The predicted curves disagree with what was observed in ${share}: ${listNames(off)}.`;
  }
  if (overall.verdict.look === "off") {
    const though = judged === 0 ? "" : ", though for no single group beyond chance";
    return html`The predicted curves disagree with what was observed for everyone together${though}.`;
  }
  if (groups.length === 0) return html`Everyone together: ${lowerFirst(verdictSentence(overall.verdict))}`;
  if (judged === 0) return html`${sayNoneJudged(groups.length)}`;
  const none =
    judged === 1
      ? "The one group that can be judged shows no disagreement"
      : `None of the ${judged} groups that can be judged shows a disagreement`;
  const limit = tolerancePoints(tolerance);
  if (open.length === 0)
    return html`${none}, and each could be off by less than ${limit} on average over time.`;
  if (open.some(({ verdict }) => verdict.bound === null))
    return html`${none}; how far off they could be cannot be said.`;
  const widest = open.reduce((worst, one) =>
    (one.verdict.bound ?? 0) > (worst.verdict.bound ?? 0) ? one : worst,
  );
  const most = pointsOf(widest.verdict.bound ?? 0);
  const which = open.length === judged ? (judged === 1 ? "it" : "each of them") : `${open.length} of them`;
  return html`${none}, but ${which} could be off by ${limit} or more on average over time, \
${open.length === 1 ? `up to ${most}` : html`the least known, ${nameOf(widest.name)}, by up to ${most}`}.`;
}

function sayNoneJudged(count: number): string {
  if (count === 1) return "The one group does not have enough events to judge.";
  return count === 2
    ? "Neither group has enough events to judge."
    : `None of the ${count} groups has enough events to judge.`;
}
function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

function describeOff(off: readonly ReportGroup[], data: ReportData): readonly Html[] {
  return off.slice(0, MOST_NAMES).map((group) => {
    const { when } = group.verdict;
    const isShown =
      when !== null && showsWhen(group.verdict, group.scores, createCells(data.hidesSmallCells));
    return html`<b>${nameOf(group.name)}</b>: ${sayDistance(group, data)} \
${isShown ? upperFirst(`${when.words}. `) : ""}`;
  });
}

/** Where the picture of a group shows its curve outside the pointwise limits, and chance explains it. */
export function outsideOf({ verdict, curve, scores }: ReportGroup, time: ReportData["time"]) {
  return sayOutside(verdict, curve, scores.departure, curve.last, time);
}

/** The page says above what the panels show below. */
function sayAnyOutside(data: ReportData): Html | null {
  const cells = createCells(data.hidesSmallCells);
  const outside = everyGroup(data).flatMap((group) => {
    const said = cells.shows(group.scores.n) ? outsideOf(group, data.time) : null;
    return said === null ? [] : [{ name: group.name, ...said }];
  });
  if (outside.length === 0) return null;
  const [{ name, words, share }] = outside.toSorted((one, other) => one.share - other.share);
  const who = name === "all" ? "everyone" : nameOf(name);
  const many = outside.length === 1 ? "" : `${countOf(outside.length, "group")}, most clearly for `;
  return html`<p>A mean curve may leave its pointwise 95 % limits for a while by chance. It does so for ${many}${who}, \
${words}; a perfect model departs as much in ${share} of 100 samples.</p>`;
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** How far a group is from the observed; counts that must not be printed do not follow from it. */
export function sayDistance(group: ReportGroup, { time, hidesSmallCells }: ReportData): string {
  const { events, n } = group.scores;
  return distanceSentence(group, time.label, createCells(hidesSmallCells).shows(events, n));
}

/** A disagreement may exist without being shown: says how far off everyone and the least known group could be. */
function sayBounds({ overall, groups, tolerance }: ReportData): Html | null {
  const everyone = overall.verdict.bound;
  if (everyone === null || overall.verdict.look === "few") return null;
  const bounds = groups.flatMap((group) =>
    group.verdict.bound === null || group.verdict.agreement !== "noDisagreementShown"
      ? []
      : [{ group, bound: group.verdict.bound }],
  );
  const widest = bounds.reduce<(typeof bounds)[number] | null>(
    (worst, one) => (worst === null || one.bound > worst.bound ? one : worst),
    null,
  );
  const least =
    widest === null
      ? null
      : html`; for ${nameOf(widest.group.name)}, the least known, up to ${pointsOf(widest.bound)}`;
  return html`<p>No disagreement shown is not agreement. With \
95 % confidence${widest === null ? "" : " for all groups together"}, the mean curve of everyone could be off by up to \
${pointsOf(everyone)} on average over time${least}. Green is a group that could be off by less than \
${tolerancePoints(tolerance)}.</p>`;
}

/** Compares the number of rejections with the number for a perfect model; it never says "all must pass". */
function countSentence({ rejections, groups }: ReportData): Html | null {
  if (groups.length < 2) return null;
  const say = (count: RejectionCount | null, name: string) =>
    count === null
      ? null
      : `${count.rejected} of ${count.tests} by the ${name} (chance alone: ${count.range.low} to ${count.range.high})`;
  const parts = [say(rejections.ece, "calibration error"), say(rejections.logrank, "logrank test")].filter(
    (part) => part !== null,
  );
  if (parts.length === 0) return null;
  return html`<p class="lead">Taken one by one, p is at most ${SINGLE_LEVEL} in ${parts.join(" and ")}. Even a model \
right for everybody fails some tests when there are many, so a group is said to disagree only when chance is an \
unlikely explanation with all groups considered: a perfect model would have any group disagree in at most \
${FAMILY_LEVEL * 100} of 100 such reports.</p>`;
}

function renderTiles(data: ReportData): Html {
  const { overall, groups } = data;
  const { scores } = overall;
  const cells = createCells(data.hidesSmallCells);
  const { intervals } = scores;
  const level = levelOf(scores);
  const { observed, expected } = scores.logrankIndividual;
  const C = scores.concordance;
  const between = intervals?.concordance;
  const events = scores.atRisk === undefined ? (observed ?? scores.events) : scores.events;
  const isShown = cells.shows(events, scores.n);
  const inGroups = groups.length === 0 ? "together" : `together and in ${countOf(groups.length, "group")}`;
  return html`<div class="tiles">
<div class="card tile"><h3>Ranking: C-index</h3>
<div class="value">${formatNumber(C, 3)} ${
    between?.lower == null
      ? null
      : html`<small>${formatRange(between.lower, between.upper, 3)} (${level})</small>`
  }</div>
<p>${
    C === null
      ? (scores.absent.concordance ?? "")
      : `Of two ${unitsOf(data)}, the one with the earlier event ` +
        `was given the lower chance to be event-free then in ${Math.round(100 * C)} of 100 pairs. 50 is guessing.`
  }</p></div>
<div class="card tile"><h3>Calibration error: ECE</h3>
<div class="value">${formatNumber(scores.ece)} ${
    intervals?.ece.upper == null
      ? null
      : html`<small>below ${formatNumber(intervals.ece.upper)} (${level})</small>`
  }</div>
<p>${
    scores.ece === null
      ? (scores.absent.ece ?? "")
      : "Distance of the mean predicted from the observed curve, by tenths of predicted survival. "
  }${floorSentence(scores)}</p></div>
<div class="card tile"><h3>Events</h3>
<div class="value">${cells.text(events, scores.n)} \
<small>observed${expected === null || !isShown ? "" : `, ${expected.toFixed(1)} predicted`}</small></div>
<p>${sayAudited(data, cells)} audited ${inGroups}; predicted events are the sum of \
${unitOf(data) === "row" ? "all rows’" : "everyone’s"} hazards while followed.</p></div>
${renderConstraintTile(data.training)}
</div>`;
}

/** "80 people", "80 rows of 40 people". */
function sayAudited(data: ReportData, cells: Cells): string {
  const { people } = data.cohort.audited;
  const said = cells.countOf(data.overall.scores.n, unitOf(data));
  return people === null ? said : `${said} of ${cells.countOf(people, "person")}`;
}

function renderConstraintTile(training: ReportData["training"]): Html {
  const held = training?.constraints.filter(({ status }) => status !== "unsupported") ?? [];
  if (training === null || held.length === 0) {
    const says =
      training === null
        ? "The curves came without a model: nothing is known of how they were fitted."
        : `Trained as ${training.method}, without constraints on groups.`;
    return html`<div class="card tile"><h3>Constraints</h3><div class="value">–</div>
<p>${says}</p></div>`;
  }
  const met = held.filter(({ status }) => status === "met").length;
  const withEveryone = held.some(({ group }) => group === "all") ? ", everyone included" : "";
  const reported = training.constraints.length - held.length;
  const unheld = reported > 0 ? ` ${countOf(reported, "group")} had too little data to be held.` : "";
  return html`<div class="card tile"><h3>Constraints met in training</h3>
<div class="value">${met} <small>of ${countOf(held.length, "group")}${withEveryone}</small></div>
<p>On the ${training.solve?.solvedOn ?? "training rows"}.${unheld} \
Whether the model is right for new people is what the lines below say.</p></div>`;
}
