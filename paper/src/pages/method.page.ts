/** The page on what the paper's method does, and why: one switch at a time, the truth, the multipliers, the pace. */
import type { PageTarget } from "../runs/targets.ts";
import { SYSTEM_LABELS } from "../summaries/labels.ts";
import type {
  MethodRow,
  MethodSummary,
  MultiplierRow,
  PaceRow,
  Setting,
  Switch,
  SwitchEffect,
  SwitchedCohort,
} from "../summaries/method.ts";
import { CELLS, SWITCHES } from "../summaries/method.ts";
import { type Estimate, LEVEL, mean } from "../summaries/summary.ts";
import { formatMarkdown, formatSigned, listOf } from "./markdown.ts";
import { formatChance } from "./tables.ts";

const COHORT_NAMES: Readonly<Record<PageTarget, string>> = {
  nwtco: "nwtco",
  flchain: "flchain",
  eye: "eye, simulated",
};

const SWITCH_NAMES: Readonly<Record<Switch, string>> = {
  withoutTail: "the tail term left out",
  keptByConstraints: "the iterate kept by constraints",
  constrained: "the constraint",
};

const OPENING = `# What the paper's method does, and why

Made by \`graduate reproduce method\` from the lines of the paper's recipe (\`paper/results/paper-*.jsonl\`); \
nothing is run. The tables of the recipe are on the pages of [nwtco](nwtco.md), [flchain](flchain.md) and \
[eye](eye.md), its statements one by one in [claims](claims.md).

GRADUATE (L²) is DRSA with two changes. While it trains, every group has a multiplier that pulls the group's mean \
curve towards its Kaplan-Meier curve. When it ends, it keeps the iterate that meets most of these constraints on the \
validation rows, where DRSA keeps the one of the highest C-index. Both have DRSA's loss, whose last term, the *tail \
term*, asks everyone who had the event for an event by the end of the time grid: −log(1 − S(T)). So there are three \
switches between DRSA and a likelihood with constraints, and eight ways to set them.`;

const TAIL = `**Why the tail term matters.** A likelihood of hazards counts every event once, against all the time \
that people were at risk. The tail term counts each event again with no time at risk against it: hazards rise, and \
everyone's mean curve is pulled down.`;

export function methodPage(summary: MethodSummary): string {
  const parts = [
    OPENING,
    "## One switch at a time",
    ...summary.cohorts.flatMap(switchSection),
    "![ECE under the eight settings of the three switches](method/switches.svg)",
    ...summary.cohorts.flatMap(saySwitches),
    TAIL,
    ...summary.cohorts.flatMap(truthSection),
    ...multiplierSection(summary.multipliers),
    ...paceSection(summary),
    "## What to take from it",
    takeAway(summary),
  ];
  return `${parts.join("\n\n")}\n`;
}

const hundredths = ({ mean, error }: Estimate) =>
  `${(100 * mean).toFixed(2)}${error === null ? "" : ` ± ${(100 * error).toFixed(2)}`}`;

function switchSection({ target, seeds, cells }: SwitchedCohort): string[] {
  if (cells.length === 0) return [];
  const mark = (is: boolean) => (is ? "✓" : "–");
  return [
    `**${COHORT_NAMES[target]}**, ${seeds} initialisations, test rows; ECE in hundredths, mean ± standard error.`,
    formatMarkdown(
      ["", "without tail", "kept by constraints", "constrained", "C", "ECE", "mean ECE of groups", "IBS"],
      cells.map((row, k) => [
        SYSTEM_LABELS[row.system],
        ...SWITCHES.map((one) => mark(CELLS[k].setting[one as keyof Setting])),
        row.concordance.mean.toFixed(3),
        hundredths(row.ece),
        hundredths(row.groupEce),
        row.brier.mean.toFixed(4),
      ]),
    ),
  ];
}

const factor = ({ factor, p }: SwitchEffect["alone"]) => `× ${factor.toFixed(2)} (p ${formatChance(p)})`;

function saySwitches({ target, effects }: SwitchedCohort): string[] {
  if (effects.length === 0) return [];
  const said = effects.map(
    ({ switched, alone, average }) =>
      `  - ${SWITCH_NAMES[switched]}: ${factor(alone)} alone, ${factor(average)} on average over the other two`,
  );
  return [[`- ECE on ${COHORT_NAMES[target]}, by switch:`, ...said].join("\n")];
}

function truthSection({ target, seeds, truth }: SwitchedCohort): string[] {
  if (truth === null) return [];
  return [
    "## Against the truth",
    `Of simulated people the true curve is known (${COHORT_NAMES[target]}; ${seeds} initialisations; A: distance of a group's ` +
      "mean curve from the true one, mean over the constrained groups, in points; ISE: mean square error of single " +
      "curves). ECE speaks of mean curves; ISE of the people.",
    formatMarkdown(
      ["", "A", "ISE × 1000"],
      truth.map(({ system, error, ise }) => [
        SYSTEM_LABELS[system],
        hundredths(error),
        (1000 * ise.mean).toFixed(1),
      ]),
    ),
    "![True error of groups and of single curves](method/truth.svg)",
  ];
}

function multiplierSection(rows: readonly MultiplierRow[]): string[] {
  const run = rows.filter(({ runs }) => runs.length > 0);
  if (run.length === 0) return [];
  const range = (moved: readonly number[]) =>
    [Math.min(...moved), Math.max(...moved)].map((move) => `${(100 * move).toFixed(0)} %`).join(" to ");
  return [
    "## What the multipliers did",
    "A multiplier starts at a random number between 0 and 1 and rises by .01 of the distance beyond the slack, " +
      "iteration by iteration. Its pull is there from the first one, whether or not the constraint is met.",
    formatMarkdown(
      [
        "",
        "runs",
        "mean at the start",
        "at the end",
        "moved by",
        "fixed penalties",
        "met on the training rows",
      ],
      run.map(({ target, system, runs, moved, fixed, met }) => [
        `${COHORT_NAMES[target]}, ${SYSTEM_LABELS[system]}`,
        String(runs.length),
        mean(runs.map(({ start }) => start)).toFixed(2),
        mean(runs.map(({ end }) => end)).toFixed(2),
        range(moved),
        `${fixed} of ${runs.length}`,
        `${met.yes} of ${met.of}`,
      ]),
    ),
    "![Multipliers at the start and at the end of each run](method/multipliers.svg)",
    "*Moved by*: the sum of |end − start| over the sum of the starts. *Fixed penalty*: a run in which that is below a " +
      "tenth.",
  ];
}

function paceSection({ pace, planned, made }: MethodSummary): string[] {
  const rows = pace.flatMap((one) => one.rows.map((row) => ({ ...one, ...row })));
  if (rows.length === 0) return [];
  return [
    "## Updates to a dual step, and looks at the validation rows",
    "Algorithm 1 minimises the Lagrangian between two steps of the multipliers and does not say for how long; the " +
      "recipe takes one update. It keeps the best of all iterates; `--preset paper` by itself looks at every fifth. On " +
      `nwtco, beside the same initialisations at the recipe's pace (${made} of ${planned} runs made):`,
    formatMarkdown(
      ["", "runs", "C", "at the recipe's pace", "ECE", "at the recipe's pace", "p of ECE"],
      rows.map(({ own, plain, p, ...one }) => [
        `${SYSTEM_LABELS[own.system]}, ${sayPace(one)}`,
        String(own.seeds),
        own.concordance.mean.toFixed(3),
        plain.concordance.mean.toFixed(3),
        hundredths(own.ece),
        hundredths(plain.ece),
        p === null ? "–" : formatChance(p),
      ]),
    ),
    "![ECE by updates to a dual step](method/pace.svg)",
  ];
}

export function sayPace({ updates, evaluateEvery }: Pick<PaceRow, "updates" | "evaluateEvery">): string {
  const looks = evaluateEvery === 1 ? "" : `every ${evaluateEvery}th iterate evaluated`;
  return updates === 1 ? looks : [`${updates} updates`, looks].filter((part) => part !== "").join(", ");
}

/** Each sentence is chosen by what the numbers say. */
function takeAway({ cohorts, multipliers }: MethodSummary): string {
  const said = cohorts.flatMap(({ target, cells, effects }) => {
    if (effects.length === 0) return [];
    const of = (system: MethodRow["system"]) => cells.find((row) => row.system === system) as MethodRow;
    const [drsa, own, plain] = [of("drsa"), of("graduate l2"), of("drsa without tail")];
    const held = of("graduate l2 without tail kept by concordance");
    const helps = effects.filter(({ alone }) => alone.factor < 1 && alone.p < LEVEL);
    const names = listOf(helps.map(({ switched }) => SWITCH_NAMES[switched]));
    const alone =
      helps.length === 0 ? "no switch alone lowers it beyond chance" : `lowered alone by ${names}`;
    const best = cells.reduce((least, row) => (row.ece.mean < least.ece.mean ? row : least));
    return [
      `- **${COHORT_NAMES[target]}**: ECE ${hundredths(drsa.ece)} under DRSA, ${hundredths(own.ece)} under GRADUATE (L²) ` +
        `at a C of ${formatSigned(own.concordance.mean - drsa.concordance.mean, 3)}; ${alone}. Without the tail ` +
        `term the constraint takes it from ${hundredths(plain.ece)} to ${hundredths(held.ece)}. The least of the eight: ${SYSTEM_LABELS[best.system]}, ${hundredths(best.ece)}.`,
    ];
  });
  const l2 = multipliers.filter(({ system }) => system === "graduate l2");
  const all = l2.flatMap(({ moved }) => moved);
  const fixed = l2.reduce((sum, one) => sum + one.fixed, 0);
  const learnt =
    all.length === 0
      ? []
      : [
          "- **The multipliers** of the L² constraint moved by less than half of their own size in " +
            `${all.filter((move) => move < 0.5).length} of ${all.length} runs, and ${fixed} are a fixed penalty by our ` +
            "rule: the weight of that penalty is for the most part a random draw.",
        ];
  return [
    ...said,
    ...learnt,
    "- **For a model of your own**: leave the tail term out, and hold groups by a solve that ends where they are met. " +
      "`graduate train` does both by default ([decision 8](../decisions/008-default-preset.md)); `--preset paper` is the " +
      "paper's recipe, for comparison.",
  ].join("\n");
}
