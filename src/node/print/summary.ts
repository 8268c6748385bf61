/**
 * A model's summary in a terminal: what it is, on whom it was trained, then a line for each contrast of each column,
 * with the course of bent effects as a row of blocks, and a line for each group.
 */
import { isAbsent, type Measured } from "../../core/measured.ts";
import { countOf, safeLine } from "../../core/text.ts";
import { formatNumber, formatRange } from "../../report/words/text-table.ts";
import type { ContrastBasis } from "../../verbs/summary/contrasts.ts";
import type { ColumnEffect, ModelSummary } from "../../verbs/summary/model-summary.ts";
import { nameColumn, numberColumns, print, printNote, printTable, printWrapped } from "./output.ts";

export function printSummary(summary: ModelSummary): void {
  const { method, grid, outcome } = summary;
  printWrapped(`${method.name}: ${method.words}`, "  ");
  for (const line of [...sayKind(summary), ...sayTraining(summary)]) printWrapped(line, "  ");
  const end = formatNumber(grid.horizon, 2);
  const of = summary.causes === null ? "" : ` (${summary.causes.map(({ name }) => name).join(", ")})`;
  printWrapped(
    `predicts ${outcome.event}${of} by ${outcome.time}, in ${grid.T} time bins up to ${end}`,
    "  ",
  );
  for (const part of summary.causes ?? [{ name: null, effects: summary.effects, groups: summary.groups }]) {
    if (part.name !== null) print(`\ncause ${safeLine(part.name)}`);
    printEffects(part, part.name !== null);
    if (part.groups.length > 0) printGroups(part);
  }
}

/** What is printed of the event, or of each cause. */
type Effects = Pick<ModelSummary, "effects" | "groups">;

function sayKind({ network, members, held, shapes, parameters, seed }: ModelSummary): string[] {
  const runs = members === 1 ? "" : `, the mean of ${members} runs`;
  const chances = held !== null && held.chances > 0 ? `, ${countOf(held.chances, "group")} by chance` : "";
  const on = held?.solvedOn === null || held === null ? "" : ` on the ${held.solvedOn}`;
  return [
    ...(network === null ? [] : [`network ${network.kind}: ${network.words}${runs}`]),
    ...(held === null
      ? []
      : [`output layer solved${on}, in ${countOf(held.blocks, "time block")}${chances}`]),
    ...shapes,
    `${countOf(parameters, "parameter")}, seed ${seed}`,
  ];
}

function sayTraining({ trainedOn, version, backend, steps }: ModelSummary): string[] {
  const { table, rows, people, events } = trainedOn;
  const { train, validation, test } = rows;
  const whose = isAbsent(people)
    ? ""
    : `, of ${people.train}, ${people.validation} and ${people.test} people`;
  const had = isAbsent(events) ? "" : `; ${countOf(events, "event")} in the rows it was held on`;
  const by = isAbsent(version) ? "" : ` by version ${version}`;
  const from = isAbsent(table)
    ? `table: not known (${table.absent})`
    : `table ${table.name}, ${countOf(table.rows, "row")}, SHA-256 ${table.sha256.slice(0, HASH_SHOWN)}…`;
  return [
    `trained${by} on ${train} training, ${validation} validation and ${test} test rows${whose}${had}`,
    from,
    ...(backend === "none" ? [] : [`${countOf(steps, "step")}, computed by ${backend}`]),
  ];
}

/** Enough of a hash to compare by eye. */
const HASH_SHOWN = 16;

const BETWEEN: Readonly<Record<ContrastBasis, string>> = {
  quartiles: "quartiles",
  meanAndSd: "mean ± sd",
  range: "range",
  bothValues: "both values",
  codes: "values",
  commonLevel: "levels",
  levels: "levels",
};

function printEffects({ effects }: Effects, isCause: boolean): void {
  const hasCurves = effects.some(({ curve }) => curve.length > 0);
  const intervals = effects.flatMap(({ contrasts }) => contrasts.map(({ interval }) => interval));
  const isKnown = intervals.some((one) => !isAbsent(one));
  print("");
  printTable(
    [
      nameColumn("column"),
      { title: "between" },
      { title: "from" },
      { title: "to" },
      ...numberColumns("hazard ratio"),
      ...(isKnown ? numberColumns("interval") : []),
      ...(hasCurves ? [{ title: "course" }] : []),
    ],
    effects.flatMap((effect) =>
      effect.contrasts.map(({ from, to, hazardRatio, interval }, k) => [
        k === 0 ? effect.name : "",
        k === 0 ? BETWEEN[effect.basis] : "",
        from,
        to,
        showMeasured(hazardRatio, 3),
        ...(isKnown ? [isAbsent(interval) ? "–" : formatRange(interval.lower, interval.upper, 3)] : []),
        ...(hasCurves ? [k === 0 ? drawCourse(effect) : ""] : []),
      ]),
    ),
  );
  printNote(sayEffects(effects, { hasCurves, isKnown, isCause }));
  const why = intervals.find(isAbsent);
  if (why !== undefined) printWrapped(`intervals: none, ${why.absent}`);
}

function sayEffects(
  effects: readonly ColumnEffect[],
  said: { readonly hasCurves: boolean; readonly isKnown: boolean; readonly isCause: boolean },
): string {
  const { hasCurves, isKnown, isCause } = said;
  const whose = isCause ? "cause-specific cumulative hazards" : "cumulative hazards";
  const has = (basis: ContrastBasis) => effects.some((one) => one.basis === basis);
  return [
    `hazard ratio: of the ${whose} up to the horizon, the other columns at their medians, majorities and ` +
      "most common levels.",
    ...(isKnown ? ["interval: 95 %, what the rows leave uncertain, not what the model's form misses."] : []),
    ...(has("meanAndSd") ? ["mean ± sd: where both quartiles are the same, or the file keeps none."] : []),
    ...(has("commonLevel") ? ["levels: against the most common."] : []),
    ...(has("levels") ? ["levels: against the first, as the file does not say which is most common."] : []),
    ...(has("codes") ? ["values: against the median."] : []),
    ...(hasCurves
      ? [
          "course: the log of the ratio from the 5th to the 95th percentile, each from its lowest to its highest.",
        ]
      : []),
  ].join(" ");
}

const BLOCKS = [..."▁▂▃▄▅▆▇█"];
/** Courses that rise or fall by less than this are drawn flat. */
const FLAT = 1e-9;

function drawCourse({ curve }: ColumnEffect): string {
  const values = curve.map(({ logRatio }) => (isAbsent(logRatio) ? Number.NaN : logRatio));
  if (values.length === 0 || values.some(Number.isNaN)) return "";
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = high - low;
  const levelOf = (value: number) =>
    span < FLAT ? 0 : Math.round(((value - low) / span) * (BLOCKS.length - 1));
  return values.map((value) => BLOCKS[levelOf(value)]).join("");
}

function printGroups({ groups }: Effects): void {
  print("");
  printTable(
    [nameColumn("group"), ...numberColumns("n", "events", "offset", "price"), { title: "status" }],
    groups.map(({ name, offset, verdict }) => [
      verdict === null || verdict.told ? name : `${name} (not told)`,
      verdict === null ? "–" : String(verdict.n),
      verdict === null ? "–" : String(verdict.events),
      showMeasured(offset, 3),
      formatNumber(verdict?.price, 2),
      verdict === null ? "not held" : verdict.status,
    ]),
  );
  printNote(
    "offset: the hazard ratio of membership alone, where it is an input; price: nats of log-likelihood for a unit of " +
      "slack.",
  );
}

function showMeasured(value: Measured, digits: number): string {
  return isAbsent(value) ? "–" : formatNumber(value, digits);
}
