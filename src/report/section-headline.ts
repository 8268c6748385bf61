/** The top of the report: what a reader must know after ten seconds, in words, then in four numbers, then group by group at a glance. */
import { type Html, html, nameOf } from "./html.ts";
import type { PlotDocument } from "./plot-canvas.ts";
import { drawNoiseStrip, drawRatioStrip, drawStripAxis, type StripMark } from "./plot-groups.ts";
import type { ReportData, ReportGroup } from "./report-data.ts";
import {
  chipOf,
  countOf,
  everyGroup,
  floorSentence,
  formatCount,
  gapSentence,
  groupId,
  iconOf,
  levelOf,
  pointsOf,
  ratioOf,
  rootGapOf,
  verdictWord,
} from "./report-words.ts";
import { formatNumber } from "./text-table.ts";
import { chooseTicks } from "./ticks.ts";
import { FAMILY_LEVEL, type RejectionCount, SINGLE_LEVEL, type VerdictKind } from "./verdict.ts";

/** Worst first. */
const SEVERITY: readonly VerdictKind[] = ["off", "uncertain", "agrees", "few", "untested"];
/** More names than this in a sentence are left to the table below. */
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

function ofKind(groups: readonly ReportGroup[], kind: VerdictKind): readonly ReportGroup[] {
  return groups.filter(({ verdict }) => verdict.kind === kind);
}

export function renderHeadline(data: ReportData): Html {
  const { overall, groups } = data;
  const off = ofKind(groups, "off");
  const judged = groups.filter(({ verdict }) => verdict.kind !== "few" && verdict.kind !== "untested");
  const worst =
    SEVERITY.find((kind) => everyGroup(data).some(({ verdict }) => verdict.kind === kind)) ?? "untested";
  return html`<section aria-labelledby="short">
<div class="card headline ${worst}">
<h2 id="short" class="hidden">In short</h2>
<p class="say">${sayInShort(data, off, judged.length)}</p>
${
  groups.length === 0
    ? null
    : html`<ul class="tally" aria-label="Groups by verdict">${SEVERITY.filter(
        (kind) => ofKind(groups, kind).length > 0,
      ).map(
        (kind) =>
          html`<li class="chip ${kind}">${iconOf(kind)} ${ofKind(groups, kind).length} ${TALLY_WORDS[kind]}</li>`,
      )}</ul>`
}
<p>Everyone together: ${chipOf(overall.verdict)} ${gapSentence(overall.curve.gap, data.time.label)}</p>
${off.length === 0 ? null : html`<p>${describeOff(off, data.time.label)}</p>`}
${boundSentence(data)}
${countSentence(data)}
</div>
${renderTiles(data)}
</section>`;
}

const TALLY_WORDS: Readonly<Record<VerdictKind, string>> = {
  off: "off",
  uncertain: "uncertain",
  agrees: "agree with what was observed",
  few: "with too little data to say",
  untested: "not tested",
};

function sayInShort({ overall, groups }: ReportData, off: readonly ReportGroup[], judged: number): Html {
  if (groups.length === 0) {
    return overall.verdict.kind === "agrees"
      ? html`The predicted curves agree with what was observed.`
      : html`The predicted curves, everyone together: ${verdictWord(overall.verdict)}.`;
  }
  if (judged === 0) return html`None of the ${countOf(groups.length, "group")} can be judged on these rows.`;
  if (off.length > 0) {
    const share = `${off.length} of ${countOf(judged, "group")}`;
    return html`The predicted curves are wrong for ${share}: ${listNames(off)}.`;
  }
  if (overall.verdict.kind === "off") {
    return html`The predicted curves are wrong for everyone together, though in no single group beyond chance.`;
  }
  const uncertain = ofKind(groups, "uncertain");
  if (uncertain.length > 0) {
    return html`No group is further from the observed than chance explains; ${uncertain.length === 1 ? "one is" : `${uncertain.length} are`} worth a second look: ${listNames(uncertain)}.`;
  }
  return html`The predicted curves agree with what was observed in ${judged === 1 ? "the one group" : `all ${judged} groups`} that can be judged.`;
}

function describeOff(off: readonly ReportGroup[], timeLabel: string): readonly Html[] {
  return off
    .slice(0, MOST_NAMES)
    .map(({ name, curve }) => html`<b>${nameOf(name)}</b>: ${gapSentence(curve.gap, timeLabel)} `);
}

/** Agreement is only as strong as the data: how far off the groups could still be. */
function boundSentence({ overall, groups }: ReportData): Html | null {
  const bounds = groups.flatMap((group) => {
    const { upper } = rootGapOf(group.scores);
    const { kind } = group.verdict;
    return upper === null || kind === "off" || kind === "few" ? [] : [{ group, upper }];
  });
  const everyone = rootGapOf(overall.scores).upper;
  if (everyone === null || bounds.length === 0 || overall.verdict.kind === "off") return null;
  const widest = bounds.reduce((worst, one) => (one.upper > worst.upper ? one : worst));
  return html`<p>How much could still be wrong where the curves agree? With ${levelOf(overall.scores)} confidence the typical (r.m.s.) gap is below ${pointsOf(everyone)} for everyone, but for ${nameOf(widest.group.name)}, with ${countOf(widest.group.scores.events, "event")}, it can only be said to be below ${pointsOf(widest.upper)}.</p>`;
}

/** How many rejections there are against how many a perfect model would have: never "all must pass". */
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
  return html`<p class="lead">Taken one by one, p is at most ${SINGLE_LEVEL} in ${parts.join(" and ")}. Even a model right for everybody fails some tests when there are many, so a group counts as off only when chance is an unlikely explanation with all groups considered: a perfect model would have any group marked in at most ${FAMILY_LEVEL * 100} of 100 such reports.</p>`;
}

function renderTiles({ overall, training, groups }: ReportData): Html {
  const { scores } = overall;
  const { intervals } = scores;
  const level = levelOf(scores);
  const { observed, expected } = scores.logrankIndividual;
  const C = scores.concordance;
  const between = intervals?.concordance;
  return html`<div class="tiles">
<div class="card tile"><h3>Ranking: C-index</h3>
<div class="value">${formatNumber(C, 3)} ${between?.lower == null ? null : html`<small>${formatNumber(between.lower, 3)} – ${formatNumber(between.upper, 3)}</small>`}</div>
<p>${C === null ? (scores.absent.concordance ?? "") : `Of two people, the one with the earlier event is given the higher risk in ${Math.round(100 * C)} of 100 pairs. 50 is guessing.`}${between?.lower == null ? "" : ` Small figures: ${level} interval.`}</p></div>
<div class="card tile"><h3>Calibration error: ECE</h3>
<div class="value">${formatNumber(scores.ece)} ${intervals?.ece.upper == null ? null : html`<small>below ${formatNumber(intervals.ece.upper)} (${level})</small>`}</div>
<p>${scores.ece === null ? (scores.absent.ece ?? "") : "Mean distance of the predicted from the observed curve. "}${floorSentence(scores)}</p></div>
<div class="card tile"><h3>Events</h3>
<div class="value">${observed === null ? formatCount(scores.events) : formatCount(observed)} <small>observed, ${expected === null ? "–" : expected.toFixed(1)} predicted</small></div>
<p>${countOf(scores.n, "person").replace("persons", "people")} audited in ${countOf(groups.length, "group")}; predicted events are the sum of everyone’s hazards while followed.</p></div>
${renderConstraintTile(training)}
</div>`;
}

function renderConstraintTile(training: ReportData["training"]): Html {
  const held = training?.constraints.filter(({ met }) => met !== null) ?? [];
  if (training === null || held.length === 0) {
    return html`<div class="card tile"><h3>Constraints</h3><div class="value">–</div>
<p>${training === null ? "The curves came without a model: nothing is known of how they were fitted." : `Trained as ${training.method}, without constraints on groups.`}</p></div>`;
  }
  const met = held.filter((one) => one.met === true).length;
  const reported = training.constraints.length - held.length;
  const isTight = held.filter(({ slack, noise }) => slack < noise).length * 2 > held.length;
  return html`<div class="card tile"><h3>Constraints met in training</h3>
<div class="value">${met} <small>of ${countOf(held.length, "group")}</small></div>
<p>On the training rows, at the weights that were kept.${reported > 0 ? ` ${countOf(reported, "group")} had too little data to be constrained.` : ""} ${isTight ? "The slack is tighter than the noise of a fresh sample: missing it is no verdict on the model, the lines below are." : "Whether the model is right for new people is what the lines below say."}</p></div>`;
}

/** Every group as one line: the verdict, its error against chance, its events against the predicted. */
export function renderGlance(data: ReportData, document: PlotDocument): Html {
  const all = everyGroup(data);
  const order = data.groups
    .map((_, k) => k + 1)
    .sort((a, b) => SEVERITY.indexOf(all[a].verdict.kind) - SEVERITY.indexOf(all[b].verdict.kind) || a - b);
  const largest = Math.max(
    ...all.map(({ scores }) => Math.max(scores.ece ?? 0, scores.noiseFloor?.eceCritical ?? 0)),
    1e-3,
  );
  const eceEnd = largest * 1.06;
  const eceTicks = chooseTicks(eceEnd, 4);
  const ratios = all.map(({ scores }) => ratioOf(scores));
  const spread = Math.max(
    ...ratios.flatMap(({ ratio, low, high }) =>
      [ratio, low, high].map((value) => (value === null || value <= 0 ? 1 : Math.max(value, 1 / value))),
    ),
  );
  const reach = Math.min(Math.max(spread * 1.05, 1.5), WIDEST_RATIO);
  const domain = [1 / reach, reach] as const;
  const ratioTicks = [0.25, 0.5, 0.67, 1, 1.5, 2, 4].filter((tick) => tick >= domain[0] && tick <= domain[1]);
  const renderRow = (k: number) => {
    const { name, scores, verdict } = all[k];
    const { ratio, low, high } = ratios[k];
    const mark = markOf(verdict.kind);
    const { observed, expected } = scores.logrankIndividual;
    const eceSays =
      scores.ece === null
        ? "no calibration error"
        : `ECE ${formatNumber(scores.ece)}. ${floorSentence(scores)}`;
    const ratioSays =
      ratio === null || expected === null
        ? "no expected events"
        : `${observed} events observed, ${expected.toFixed(1)} predicted, ratio ${ratio.toFixed(2)}`;
    return html`<tr><th scope="row"><a href="#${groupId(k)}">${k === 0 ? "Everyone" : nameOf(name)}</a><small>${countOf(scores.n, "person").replace("persons", "people")}, ${countOf(scores.events, "event")}</small></th>
<td>${chipOf(verdict)}</td>
<td><span class="read when">calibration error against chance</span><div role="img" aria-label="${eceSays}">${drawNoiseStrip(document, { ece: scores.ece, floor: scores.noiseFloor?.ece ?? null, critical: scores.noiseFloor?.eceCritical ?? null, mark }, eceEnd)}</div></td>
<td><span class="read when">observed over predicted events</span><div role="img" aria-label="${ratioSays}">${drawRatioStrip(document, { ratio, low, high, mark }, domain)}</div></td></tr>`;
  };
  return html`<section aria-labelledby="glance"><h2 id="glance">Every group at a glance</h2>
<p class="lead">Grey: where a perfect model stays 95 times of 100 on rows like these; the mark should lie on it. A small group has a wide grey bar: there, much could be wrong without showing.</p>
<div class="card"><table class="glance">
<colgroup><col class="who"><col class="what"><col><col></colgroup>
<thead><tr><th scope="col">Group</th><th scope="col">Verdict</th><th scope="col">Calibration error (ECE)<small>thin line: a perfect model’s mean</small></th><th scope="col">Observed ÷ predicted events<small>right of 1: more events than predicted</small></th></tr></thead>
<tbody>${[0, ...order].map(renderRow)}
<tr class="axis" aria-hidden="true"><td></td><td></td><td>${drawStripAxis(document, { domain: [0, eceEnd] }, eceTicks, (value) => String(Number(value.toPrecision(3))))}</td><td>${drawStripAxis(document, { domain: [...domain], type: "log" }, ratioTicks, String)}</td></tr>
</tbody></table></div></section>`;
}

function markOf(kind: VerdictKind): StripMark {
  return kind === "few" || kind === "untested" ? "unjudged" : kind;
}

/** Beyond it a ratio is drawn at the edge: its number is in the table. */
const WIDEST_RATIO = 4;
