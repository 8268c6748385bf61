/** The four pictures of docs/results/method.md, from the page's own summary. */
import * as Plot from "@observablehq/plot";
import { sayPace } from "../pages/method.page.ts";
import { roundValue } from "../pages/svg.ts";
import type { SystemName } from "../runs/plan.ts";
import type { MethodSummary, MultiplierRow } from "../summaries/method.ts";
import type { Estimate } from "../summaries/summary.ts";
import { CLASS, countSeeds, drawPicture, LETTERS, OTHER, OWN, type PictureOptions, WIDTH } from "./frame.ts";
import { largestOf, plotRows } from "./rows-plot.ts";

/** Short enough for the names of rows. */
const NAMES: { readonly [System in SystemName]?: string } = {
  cox: "Cox",
  drsa: "DRSA",
  "drsa without tail": "no tail",
  "drsa kept by constraints": "choice",
  "graduate l2 kept by concordance": "constraint",
  "drsa without tail kept by constraints": "no tail, choice",
  "graduate l2 without tail kept by concordance": "no tail, constraint",
  "graduate l2": "GRADUATE",
  "graduate l2 without tail": "all three",
  "graduate variance": "variance",
};
const nameOf = (system: SystemName) => NAMES[system] ?? system;
const isOwn = (system: SystemName) => system.startsWith("graduate") && !system.endsWith("concordance");
const scale = ({ mean, error }: Estimate, by: number): Estimate => ({
  mean: by * mean,
  error: error === null ? null : by * error,
});

export function drawMethodPictures(summary: MethodSummary, options: PictureOptions): Map<string, string> {
  return new Map([
    ["switches.svg", switchesPicture(summary, options)],
    ["truth.svg", truthPicture(summary, options)],
    ["multipliers.svg", multipliersPicture(summary.multipliers, options)],
    ["pace.svg", pacePicture(summary, options)],
  ]);
}

/** Three panels are narrow: numbers beside the last dots need more of them. */
const ROOM = 1.4;

function switchesPicture({ cohorts }: MethodSummary, options: PictureOptions): string {
  const panels = cohorts.map(({ target, cells }) => {
    const rows = cells.map(({ system, ece }) => ({
      name: nameOf(system),
      isOwn: isOwn(system),
      value: scale(ece, 100),
    }));
    return { title: target, digits: 1, rows, largest: ROOM * largestOf(rows) };
  });
  return plotRows(
    panels,
    {
      title: "What calibrates under the paper's recipe?",
      below: "ECE of everyone's mean curve, hundredths: less is better",
      description:
        "ECE under the eight settings of tail term, choice of iterate and constraint, on nwtco, flchain and the " +
        "simulated eye cohort",
      captions: [
        "No tail: the last term of DRSA's loss left out. Choice: the iterate kept by",
        "constraints. Constraint: multipliers. GRADUATE has the last two.",
        `${countSeeds(cohorts.map(({ seeds }) => seeds))} initialisations ± standard errors; scales differ, and eye is simulated.`,
      ],
    },
    options,
  );
}

function truthPicture({ cohorts }: MethodSummary, options: PictureOptions): string {
  const known = cohorts.find(({ truth }) => truth !== null);
  const rows = known?.truth ?? [];
  const panel = (title: string, read: (row: (typeof rows)[number]) => Estimate, by: number) => ({
    title,
    digits: 1,
    rows: rows.map((row) => ({
      name: nameOf(row.system),
      isOwn: isOwn(row.system),
      value: scale(read(row), by),
    })),
  });
  return plotRows(
    [panel("groups: A", ({ error }) => error, 100), panel("people: ISE × 1000", ({ ise }) => ise, 1000)],
    {
      title: "How far from the truth?",
      below: "A: points of survival, mean of the groups; less is better",
      description:
        "True error of groups' mean curves and of single curves under Cox, DRSA and GRADUATE by the paper's recipe",
      captions: [
        `Simulated eye cohort, ${known?.seeds ?? 0} initialisations ± standard errors.`,
        "All three: GRADUATE without the tail term. Variance: its other constraint.",
      ],
    },
    options,
  );
}

/** Ends of 0 are drawn at the lower edge of the logarithmic scale. */
const LEAST = 0.01;
const HEIGHT = 300;

function multipliersPicture(rows: readonly MultiplierRow[], options: PictureOptions): string {
  const dots = rows.flatMap(({ system, runs }) =>
    runs.map(({ start, end }) => ({
      x: roundValue(start),
      y: roundValue(Math.max(LEAST, end)),
      colour: system === "graduate l2" ? OTHER : OWN,
    })),
  );
  const most = Math.max(1, ...dots.map(({ y }) => y));
  const chart = Plot.plot({
    document: options.document as NonNullable<Plot.PlotOptions["document"]>,
    className: CLASS,
    width: WIDTH,
    height: HEIGHT,
    marginLeft: 64,
    marginBottom: 44,
    style: LETTERS,
    x: { domain: [0.2, 0.9], label: "mean multiplier at the start", labelAnchor: "center", ticks: 5 },
    y: {
      type: "log",
      domain: [LEAST, 2 * most],
      label: "at the end",
      ticks: 5,
      tickFormat: String,
      grid: true,
    },
    marks: [
      Plot.line([0.2, 0.9], {
        x: (value: number) => value,
        y: (value: number) => value,
        stroke: "var(--muted)",
      }),
      Plot.dot(dots, { x: "x", y: "y", r: 4, stroke: "colour", fill: "var(--paper)", strokeWidth: 2 }),
    ],
  });
  return drawPicture(
    {
      title: "Are the multipliers learnt?",
      below: "each run's mean multiplier, before and after training",
      legend: [
        { text: "○ L²", x: 8, colour: OTHER },
        { text: "○ variance", x: 70, colour: OWN },
      ],
      charts: [{ chart, x: 0 }],
      height: HEIGHT,
      captions: ["On the line they end where they were drawn. The upward scale is logarithmic."],
      description:
        "Mean multiplier of each run at the start and at the end, under the L2 and the variance constraint",
    },
    options,
  );
}

function pacePicture({ pace }: MethodSummary, options: PictureOptions): string {
  const systems = ["graduate l2", "graduate variance"] as const;
  const panels = systems.map((system) => {
    const of = pace.flatMap((one) =>
      one.rows.filter(({ own }) => own.system === system).map((row) => ({ ...row, name: sayPace(one) })),
    );
    const seeds = Math.max(0, ...of.map(({ own }) => own.seeds));
    const whole = of.filter(({ own, name }) => own.seeds === seeds && name.endsWith("updates"));
    const plain = whole
      .slice(0, 1)
      .map((row) => ({ name: "1 update", isOwn: true, value: scale(row.plain.ece, 100) }));
    const rows = whole.map(({ name, own }) => ({ name, isOwn: false, value: scale(own.ece, 100) }));
    return {
      title: system === "graduate l2" ? "L²" : "variance",
      digits: 1,
      rows: [...plain, ...rows],
      seeds,
    };
  });
  return plotRows(
    panels,
    {
      title: "More updates to a dual step?",
      below: "ECE on nwtco, hundredths: less is better",
      description: "ECE on nwtco by the number of updates of the weights to one of the multipliers",
      captions: [`${countSeeds(panels.map(({ seeds }) => seeds))} initialisations ± standard errors.`],
    },
    options,
  );
}
