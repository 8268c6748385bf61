/**
 * The three pictures of the front page, each from the summary that a page of docs/results is made from: groups that are
 * held, a group that is held and not told, and a registry's curves. Errors A are shown in points of survival.
 */

import { listOf } from "../pages/markdown.ts";
import type { BindingSystem } from "../studies/binding-systems.ts";
import type { BindingDifference, BindingSummary } from "../summaries/binding.ts";
import type { HeldSummary } from "../summaries/held-not-told.ts";
import type { Estimate } from "../summaries/summary.ts";
import { type TargetsSummary, type TargetTable, WANTED_SHARE } from "../summaries/targets.ts";
import { countPeople, countSeeds, type PictureOptions } from "./frame.ts";
import { plotPrice } from "./price-plot.ts";
import { type DotRow, largestOf, plotRows } from "./rows-plot.ts";

const POINTS = 100;
const ISE_UNIT = 1000;

export interface PictureSummaries {
  readonly binding: BindingSummary;
  readonly heldNotTold: HeldSummary;
  readonly targets: TargetsSummary;
}

const scale = ({ mean, error }: Estimate, by: number): Estimate => ({
  mean: by * mean,
  error: error === null ? null : by * error,
});
const cohorts = (count: string) => `${count} simulated cohort${count === "1" ? "" : "s"}`;

const HELD_NAMES = [
  ["cox", "Cox"],
  ["0.1.0", "graduate 0.1.0"],
  ["start", "additive start"],
  ["start of all rows", "start of all rows"],
  ["trained", "trained, not held"],
  ["held", "held"],
] as const satisfies readonly (readonly [BindingSystem, string])[];

/** Whether held is truer of its worst group than a start, by size. */
function sayFound(differences: readonly BindingDifference[]): string[] {
  const against = (start: BindingSystem) =>
    differences
      .filter(({ score, other }) => score === "worst" && other === start)
      .map((one) => `${one.found} (${countPeople(one.rows)})`)
      .join(", ");
  const sentences = [
    ["its additive start", against("start")],
    ["the start of all rows", against("start of all rows")],
  ];
  return sentences.flatMap(([what, found]) =>
    found === "" ? [] : [`Held against ${what}, by a t-test: ${found}.`],
  );
}

function heldPicture({ sizes, told, differences }: BindingSummary, options: PictureOptions): string {
  const panels = sizes.map(({ rows: size, means }) => {
    const shown = HELD_NAMES.flatMap(([system, name]) => {
      const own = means.find((one) => one.system === system);
      return own === undefined ? [] : [{ name, isOwn: system === "held", own }];
    });
    const seeds = countSeeds(shown.map(({ own }) => own.seeds));
    const rows = shown.map(({ own, ...row }): DotRow => ({ ...row, value: scale(own.worst, POINTS) }));
    return { title: `${countPeople(size)} people`, rows, digits: 1, size, seeds };
  });
  const largest = Math.max(...panels.map(({ rows }) => largestOf(rows)));
  return plotRows(
    panels.map((panel) => ({ ...panel, largest })),
    {
      title: `How far off is the worst of ${told} groups?`,
      below: "its mean curve from the true one, points of survival: less is better",
      description:
        `True error of the worst of ${told} named groups, in points of survival, under Cox, graduate 0.1.0, the ` +
        `additive start, a start of as many rows as held has, the trained network and the held model, with ${panels.map(({ title }) => title).join(" and ")}`,
      captions: [
        `Means of ${listOf(panels.map(({ seeds, size }) => `${seeds} (${countPeople(size)})`))} simulated cohorts ± standard errors.`,
        ...sayFound(differences),
      ],
    },
    options,
  );
}

/** With the most people. */
function pricePicture({ prices: all }: HeldSummary, options: PictureOptions): string {
  const rows = Math.max(...all.map((price) => price.rows));
  const prices = all.filter((price) => price.rows === rows);
  const seeds = prices.map((price) => price.seeds);
  const chance = Math.max(...seeds) > 1 ? "Upright lines: standard errors." : "No standard errors yet.";
  return plotPrice(
    prices,
    {
      title: "A group that the model may not see",
      below: "points of survival off, by how well other columns tell who is in it (AUC)",
      description:
        `Error of a protected group, in points of survival, under Cox, not held and held, with ${countPeople(rows)} people, ` +
        "by the area under the ROC curve with which the other columns tell who is in it, and what everyone pays",
      captions: [
        `${countPeople(rows)} people, ${cohorts(countSeeds(seeds))}. ${chance}`,
        "Price: what holding adds to ISE, the mean squared error of everyone’s curves.",
      ],
    },
    options,
  );
}

const TARGET_NAMES = {
  "without targets": "no targets",
  "with targets": "targets, auto",
  "with targets, slack 1": "targets, slack 1",
} as const;

/** A column's means; the standard errors are of the paired difference from the first system. */
function targetRows({ columns, means, differences }: TargetTable, column: string, by: number): DotRow[] {
  const place = columns.findIndex(({ name }) => name === column);
  return means.map(({ system, values }) => {
    const difference = differences.find((one) => one.system === system && one.column === column);
    return {
      name: TARGET_NAMES[system],
      isOwn: system !== "without targets",
      value: scale({ mean: values[place], error: difference?.error ?? null }, by),
    };
  });
}

function registryPicture({ tables: [eye], plan }: TargetsSummary, options: PictureOptions): string {
  const { rows, registryPeople, groups } = plan.eye;
  const worst = targetRows(eye, "worst A", POINTS);
  const wanted = WANTED_SHARE * worst[0].value.mean;
  return plotRows(
    [
      { title: "worst group, points", rows: worst, digits: 1, wanted },
      { title: "ISE × 1000", rows: targetRows(eye, "ISE", ISE_UNIT), digits: 1 },
    ],
    {
      title: `A hospital of ${countPeople(rows)}, and a registry’s curves`,
      below: "the worst group’s mean curve, and single curves (ISE): less is better",
      description:
        `True error of the worst of ${groups.length + 1} groups and of single curves of a model of ${countPeople(rows)} ` +
        "people, without targets, with a registry’s curves as targets, and with a target slack of 1",
      captions: [
        `${eye.seeds} simulated hospitals, with people like the registry’s ${countPeople(registryPeople)}. Lines: standard`,
        "error of the paired difference from “no targets”. Dashed: what was wanted.",
      ],
    },
    options,
  );
}

/** By file name. */
export function drawPictures(
  { binding, heldNotTold, targets }: PictureSummaries,
  options: PictureOptions,
): ReadonlyMap<string, string> {
  return new Map([
    ["held.svg", heldPicture(binding, options)],
    ["price.svg", pricePicture(heldNotTold, options)],
    ["registry.svg", registryPicture(targets, options)],
  ]);
}
