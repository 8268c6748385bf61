/**
 * What drives a risk, as a table of the card: everyone's mean, what each column adds to it, and the person's own risk.
 * One table for the event, or one for each cause. Points are hundredths.
 */
import type { Explanation } from "../../verbs/people/explain.ts";
import type { ExplainedTime } from "../../verbs/people/explained-quantities.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import { type CardTime, type Driver, listDrivers, percentRisk } from "./card-data.ts";
import { drawBar } from "./card-figures.ts";

/** The last of the times that were explained; `title` is the section's, `id` that of its heading. */
export function renderDrivers(
  explanation: Explanation,
  times: readonly ExplainedTime[],
  time: CardTime,
  { id, title }: { readonly id: string; readonly title: Html },
): Html {
  const last = times[times.length - 1];
  const drivers = listDrivers(explanation, last.risk);
  const longest = Math.max(...drivers.map(({ contribution }) => Math.abs(contribution)), Number.MIN_VALUE);
  const isRough = drivers.some(({ standardError }) => (standardError ?? 0) >= LEAST_ERROR);
  const how =
    explanation.method === "enumeration"
      ? "Every subset of the columns was computed."
      : isRough
        ? "± is two standard errors of the orders of columns that were drawn."
        : "Orders of the columns were drawn; the error of that is below a tenth of a point.";
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
<p class="lead">How each column moves the risk by ${time.momentOf(last.time)} away from everyone’s mean, in points \
(hundredths). Right raises it, left lowers it. ${how}</p>
<table class="drivers"><colgroup><col class="name"><col><col class="points"></colgroup>
<thead><tr><th scope="col">column</th><th scope="col"><span class="hidden">direction</span></th>\
<th scope="col">points</th></tr></thead>
<tbody><tr><th scope="row">everyone’s mean</th><td></td><td>${percentRisk(last.risk.baseline)}</td></tr>
${drivers.map((one) => renderDriver(one, longest, isRough))}
<tr class="total"><th scope="row">this person</th><td></td><td>${percentRisk(last.risk.prediction)}</td></tr></tbody>\
</table></section>`;
}

/** Two standard errors of less than a tenth of a point are not shown. */
const LEAST_ERROR = 0.0005;

function renderDriver(driver: Driver, longest: number, isRough: boolean): Html {
  const { name, value, contribution, standardError } = driver;
  const error =
    isRough && standardError !== null ? html`<small>± ${(200 * standardError).toFixed(1)}</small>` : null;
  return html`<tr><th scope="row">${nameOf(name)}${value === "" ? null : html`<small>${nameOf(value)}</small>`}</th>\
<td>${drawBar(contribution / longest)}</td><td>${signedPoints(contribution)}${error}</td></tr>`;
}

/** "+4.2", "−0.3", "0.0". */
export function signedPoints(gap: number): string {
  const points = (100 * Math.abs(gap)).toFixed(1);
  return points === "0.0" ? points : `${gap < 0 ? "−" : "+"}${points}`;
}
