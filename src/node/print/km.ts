/**
 * Kaplan-Meier curves for people: the picture, one line per group, survival at the times asked for, the logrank test.
 */
import { plotCurvesAsText } from "../../report/plots/terminal-plots.ts";
import { formatNumber, formatP, formatRange, formatTable, wrapText } from "../../report/words/text-table.ts";
import type { KmDocument } from "../../verbs/km.ts";
import { print, terminalWidth, warn } from "./output.ts";
import { nameColumn, numberColumns } from "./table-columns.ts";

/** A time for people, without meaningless digits. */
function formatTime(time: number | null): string {
  return formatNumber(time, 2);
}

export function printKm(document: KmDocument, options: { readonly svg?: string }): void {
  const width = terminalWidth();
  const { groups, interval, timeUnit } = document;
  const until = groups.length === 0 ? "" : String(Number(groups[0].rmst.until.toPrecision(6)));
  print(plotCurvesAsText(groups, { width: Math.min(width, 84) }));
  if (timeUnit !== null) print(`time in ${timeUnit}`);
  print("");
  print(
    formatTable(
      [
        nameColumn("group"),
        ...numberColumns(
          "n",
          "events",
          "median",
          "95 % interval",
          "S(end)",
          "95 % interval",
          `mean to ${until}`,
          "se",
        ),
      ],
      groups.map((group) => {
        const last = group.time.length - 1;
        return [
          group.name,
          String(group.atRisk[0] ?? 0),
          String(group.events.reduce((sum, e) => sum + e, 0)),
          formatTime(group.median.estimate),
          formatLimits(group.median.lower, group.median.upper),
          formatNumber(group.survival[last]),
          formatRange(group.lower[last], group.upper[last]),
          formatTime(group.rmst.estimate),
          formatTime(group.rmst.standardError),
        ];
      }),
      width,
    ),
  );
  if (groups.some(({ at }) => at.length > 0)) printAt(document, width);
  print(
    `\n${wrapText(
      `Intervals are symmetric on the ${interval} scale. The mean is the area under the curve up to ${until}; ` +
        "a curve that ends before is carried on at its last value.",
      width,
    )}`,
  );
  if (document.logrank !== null) {
    const { chi2, df, p } = document.logrank;
    print(`\nlogrank: chi2 ${formatNumber(chi2)} on ${df} df, p ${formatP(p)}`);
  }
  if (options.svg !== undefined) print(`\nplot written to ${options.svg}`);
  if (document.omitted > 0) {
    const rows = document.omitted === 1 ? "row" : "rows";
    warn(`${document.omitted} ${rows} left out: a column of --by is missing there`);
  }
}

/** A median without an upper limit is open above. */
function formatLimits(lower: number | null, upper: number | null): string {
  if (upper !== null) return `${formatTime(lower)} – ${formatTime(upper)}`;
  return lower === null ? "–" : `from ${formatTime(lower)}`;
}

function printAt({ groups, timeUnit }: KmDocument, width: number): void {
  print("");
  print(
    formatTable(
      [
        nameColumn("group"),
        ...numberColumns(timeUnit ?? "time", "at risk", "survival", "se", "95 % interval"),
      ],
      groups.flatMap(({ name, at }) =>
        at.map(({ time, atRisk, survival, standardError, lower, upper }) => [
          name,
          String(time),
          String(atRisk),
          formatNumber(survival),
          formatNumber(standardError),
          formatRange(lower, upper),
        ]),
      ),
      width,
    ),
  );
}
