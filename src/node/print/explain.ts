/** An explanation in a terminal: for each time the risk, and a table of what every column adds to it. */
import { isAbsent } from "../../core/measured.ts";
import { countOf } from "../../core/text.ts";
import { percentRisk } from "../../report/card/card-data.ts";
import { sayCause } from "../../report/card/render-causes.ts";
import { momentOf } from "../../report/words/report-time.ts";
import type { Explanation } from "../../verbs/people/explain.ts";
import type { ExplainedTime } from "../../verbs/people/explained-quantities.ts";
import { nameColumn, numberColumns, print, printNote, printTable, printWrapped } from "./output.ts";

/** `who` is the person, `timeLabel` the unit of the times. */
export function printExplanation(explanation: Explanation, who: string, timeLabel: string): void {
  print(who);
  const { byCause } = explanation;
  if (byCause !== null) {
    const others = byCause.all.map(({ name }) => name).filter((name) => name !== byCause.cause);
    print(`cause ${byCause.cause}; explain ${others.join(", ")} with --cause`);
  }
  for (const time of explanation.times) printTime(explanation, time, timeLabel);
  const { background, method, pairs, columns, times } = explanation;
  const how =
    method === "enumeration"
      ? `over all subsets of ${countOf(columns.length, "column")}`
      : `by ${pairs} pairs of orders of the columns for each of them; se: the error of drawing them`;
  printNote(
    `Contributions are Shapley values against ${background.rows} ${background.which}, ${how}. Risks are in points ` +
      `(hundredths); log H is ${byCause === null ? "the log of the cumulative hazard -log S" : LOG_OF_CAUSE}. ` +
      "With the mean they add up to this person's. " +
      "They say what the model does with a cell, not what changing it would do.",
  );
  if (times.some(({ isAdditive }) => isAdditive))
    printWrapped("Cox at the edge of a time bin: log H is a sum over columns, and these are its terms.");
}

const LOG_OF_CAUSE = "the log of -log(1 - F), F the cause's cumulative incidence";

function printTime(explanation: Explanation, one: ExplainedTime, timeLabel: string): void {
  const { columns, method, byCause } = explanation;
  const { risk, logHazard } = one;
  const what = byCause === null ? "risk" : `risk of ${sayCause(byCause.cause)}`;
  const isSampled = method === "sampling";
  const order = columns
    .map((_, c) => c)
    .sort((a, b) => Math.abs(risk.contributions[b]) - Math.abs(risk.contributions[a]));
  print(`\nby ${momentOf(one.time, timeLabel)}: ${what} ${percentRisk(risk.prediction)}`);
  const errors = (values: string[]) => (isSampled ? values : []);
  const row = (c: number) => [
    columns[c].name,
    columns[c].value ?? "missing",
    signed(100 * risk.contributions[c], 2),
    ...errors([(100 * risk.standardErrors[c]).toFixed(2)]),
    isAbsent(logHazard) ? "–" : signed(logHazard.contributions[c], 3),
    ...errors([isAbsent(logHazard) ? "–" : logHazard.standardErrors[c].toFixed(3)]),
  ];
  const total = (name: string, of: "baseline" | "prediction") => [
    name,
    "",
    (100 * risk[of]).toFixed(2),
    ...errors([""]),
    isAbsent(logHazard) ? "–" : logHazard[of].toFixed(3),
    ...errors([""]),
  ];
  printTable(
    [
      nameColumn("column"),
      { title: "value" },
      ...numberColumns("risk", ...errors(["se"]), "log H", ...errors(["se"])),
    ],
    [total("everyone's mean", "baseline"), ...order.map(row), total("this person", "prediction")],
  );
  if (isAbsent(logHazard)) printWrapped(`log H: none, ${logHazard.absent}`, "  ");
}

/** "+0.12", "-0.30", "0.00". */
function signed(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "-" : "+"}${text}`;
}
