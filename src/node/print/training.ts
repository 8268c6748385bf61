/**
 * The end of a training run in a terminal: what was done, whether each group's constraint was met, and how to continue.
 */
import { countOf } from "../../core/text.ts";
import { describeCommand } from "../../report/words/command-words.ts";
import { formatNumber, formatP } from "../../report/words/text-table.ts";
import { DISTANCES, distanceInWords } from "../../training/choices.ts";
import { countMembers, type Model } from "../../training/model.ts";
import { warnOfSolve } from "../../training/run-warnings.ts";
import type { BlindPoint, SolveReport } from "../../training/solve/hold.ts";
import { categoriesOf } from "../../verbs/predict.ts";
import { stemOfTable } from "../io/table-files.ts";
import type { TableOptions } from "../options/table-options.ts";
import { programName } from "../program-name.ts";
import { nameColumn, numberColumns, print, printNote, printTable, printWrapped, warn } from "./output.ts";

export function printTraining(model: Model, seconds: number): void {
  const { verdict, multipliers } = model.training;
  printWrapped(`${model.method}: ${describeFit(model, seconds.toFixed(1))}`, "  ");
  if (verdict.length > 0) printConstraints(model);
  if (model.training.solve) printHeld(model.training.solve);
  for (const warning of warnOfSolve(model.training.solve ?? null)) warn(warning);
  if (multipliers?.fixedPenalty) warn("the multipliers hardly moved: this run was a fixed penalty");
}

function describeFit(model: Model, seconds: string): string {
  const { rows, steps } = model.training;
  const training = `${rows.train} training`;
  if (model.options === null) return `fitted to ${training} rows in ${seconds} s`;
  const members = countMembers(model);
  if (members === 1) {
    const on = `${training} and ${rows.validation} validation rows`;
    return `${steps} steps on ${on} in ${seconds} s, weights of ${keptText(model)}`;
  }
  return (
    `the mean of ${members} runs, ${steps} steps in all on ${training} rows in ${seconds} s; ` +
    "each run had another part of them for validation"
  );
}

/** One line per group, how many constraints are met, and why a group has none. */
function printConstraints({ training: { verdict, solve, rows }, options, causes }: Model): void {
  const isFresh = verdict.some(({ fresh }) => fresh !== null);
  const isPriced = verdict.some(({ price }) => price !== null && price > 0);
  print("");
  printTable(
    [
      nameColumn("group"),
      ...numberColumns("n", "events", "slack", "distance"),
      ...(isFresh ? numberColumns("fresh", "p") : []),
      ...(isPriced ? numberColumns("price") : []),
      { title: "status" },
    ],
    verdict.map((one) => [
      one.told ? one.group : `${one.group} (not told)`,
      String(one.n),
      String(one.events),
      one.status === "unsupported" ? "–" : formatNumber(one.slack, 5),
      formatNumber(one.distance.solve, 5),
      ...(isFresh
        ? [formatNumber(one.distance.fresh, 2), one.fresh === null ? "–" : formatP(one.fresh.adjusted)]
        : []),
      ...(isPriced ? [formatNumber(one.price, 2)] : []),
      one.status,
    ]),
  );
  const held = verdict.filter(({ status }) => status !== "unsupported");
  const met = held.filter(({ status }) => status === "met").length;
  const name = options?.constraint?.distance;
  const distance = name === undefined ? "" : `; distance: ${distanceInWords(name, causes !== undefined)}`;
  const onTest = name === undefined || name === "atRisk" ? "the distance" : DISTANCES.atRisk.words;
  const fresh = isFresh
    ? `; fresh: ${onTest} on the ${rows.test} test rows, and p that it is chance, all groups considered`
    : "";
  const price = isPriced ? "; price: nats of log-likelihood for a unit of slack" : "";
  printNote(
    `${met} of ${held.length} groups met on the ${solve?.solvedOn ?? "training rows"}. ` +
      `slack: the distance allowed${fresh}${price}${distance}`,
  );
  for (const { group, reason, status, reachable } of verdict) {
    const reach = reachable === null ? "" : `, ${formatNumber(reachable, 5)} is within reach`;
    if (reason !== null) printWrapped(`${group}: ${status}${reach} (${reason})`, "  ");
  }
}

/** One line for each group that is held and not told, and for each target from outside. */
function printHeld({ blind, targets = [] }: SolveReport): void {
  for (const { group, auc, frontier } of blind) {
    const [first, last] = [frontier[0], frontier[frontier.length - 1]];
    const held =
      frontier.length === 0
        ? "left as it is"
        : `distance ${formatNumber(first.distance, 2)} → ${formatNumber(last.distance, 2)}, ${tellGap(first, last)}` +
          `${formatNumber(last.lost, 2)} nats of log-likelihood lost`;
    printWrapped(`${group}: not told, its features tell with AUC ${auc.toFixed(2)}; ${held}`, "  ");
  }
  for (const { group, time, target, standardError, local, model, clash } of targets) {
    const j = time.length - 1;
    printWrapped(
      `${group}: target ${formatNumber(target[j], 3)} ± ${formatNumber(1.96 * standardError[j], 3)} at ` +
        `${formatNumber(time[j], 1)}, local ${formatNumber(local[j], 3)}, model ${formatNumber(model[j], 3)}; ` +
        `${countOf(clash.observed, "event")}, ${formatNumber(clash.expected, 1)} expected, ` +
        `p ${formatP(clash.adjusted)}`,
      "  ",
    );
  }
}

function tellGap({ gap: before }: BlindPoint, { gap: after }: BlindPoint): string {
  if (before === undefined || after === undefined) return "";
  return `gap of its mean curve ${formatNumber(before, 4)} → ${formatNumber(after, 4)}, `;
}

function keptText(model: Model): string {
  const { keep } = model.options ?? { keep: "last" };
  const share = model.training.solve?.mixture?.share ?? null;
  if (model.training.steps === 0 || share === 0) return "the start";
  if (share !== null && share < 1)
    return `a mixture of start and ${keptStep(model, keep)}, share ${formatNumber(share, 2)}`;
  return keptStep(model, keep);
}

function keptStep(model: Model, keep: string): string {
  if (keep === "average") return "the average over the end of training";
  return `step ${model.training.bestStep}`;
}

export interface NextStepOptions extends TableOptions {
  readonly out?: string;
  readonly report?: string;
  readonly split?: string;
}

/** Where everything is, and the commands that audit the model and predict with it. */
export function printNextSteps(model: Model, path: string, options: NextStepOptions): void {
  const { out, report } = options;
  print("");
  if (out !== undefined) print(`model written to ${out}`);
  if (report !== undefined) print(`report written to ${report}`);
  const table = path === "-" ? "TABLE" : path;
  const stem = path === "-" ? "table" : stemOfTable(path).replace(/\..*$/, "");
  const kept = out ?? `${stem}.model`;
  if (out === undefined) {
    const note = `the model was not kept: the same command with --out ${kept} writes it; then`;
    printWrapped(note);
  }
  const reading = readingOptions(model, options);
  const isFile = options.split !== undefined && !/^[\d.,\s]+$/.test(options.split) && options.split !== "-";
  const split = isFile && options.split !== undefined ? ["--split", options.split] : [];
  print("audit it");
  print(`  ${describeCommand(["audit", kept, table, ...split, ...reading], programName())}`);
  print("predict with it");
  print(
    `  ${describeCommand(["predict", kept, table, "--out", `${stem}-curves.csv`, ...reading], programName())}`,
  );
}

/** Options for how columns were read in training, where the model does not record it. */
function readingOptions(model: Model, options: TableOptions): string[] {
  const { category = [], number = [], decimal, thousands, dateOrder, asWritten = [] } = options;
  const known = new Set(categoriesOf(model));
  const others = category.filter((name) => !known.has(name));
  return [
    ...others.flatMap((name) => ["--category", name]),
    ...number.flatMap((name) => ["--number", name]),
    ...(decimal === undefined ? [] : ["--decimal", decimal]),
    ...(thousands === undefined ? [] : ["--thousands", thousands]),
    ...(dateOrder === undefined ? [] : ["--date-order", dateOrder]),
    ...asWritten.flatMap((name) => ["--as-written", name]),
  ];
}
