/** The paper's statements about subpopulations: its Tables 5 to 7 and the text beside them (§6.5, §6.6, §7). */

import { formatSigned } from "../pages/markdown.ts";
import type { SystemName } from "../runs/plan.ts";
import { METRIC_NAMES } from "../summaries/labels.ts";
import type { Metric } from "../summaries/published.ts";
import { compareRuns, LEVEL, readGroupEce, runsOf, spreadOf } from "../summaries/summary.ts";
import { winSumsClaim } from "./arithmetic.ts";
import {
  BASELINES,
  type Board,
  type ClaimInputs,
  judgeContrasts,
  meansOf,
  VARIANTS,
  type Verdict,
  type WinsOf,
} from "./board.ts";
import { type Claim, formatMeans, formatScore, judgeBoards, labelsOf } from "./entry.ts";

const PLACE = "§6.5";
const COMMAND = "`graduate reproduce nwtco|flchain|eye [--preset paper]`";
const CALIBRATION: readonly Metric[] = ["logrank", "ece"];
/** The paper does not define "very close"; these thresholds are ours. */
const CLOSE_SCORE = 0.02;
const CLOSE_RATIO = 1.5;

export function claimsOnGroups(inputs: ClaimInputs): Claim[] {
  return [
    outperformsClaim(inputs),
    ...otherScores(inputs),
    winSumsClaim(inputs),
    variantsAlike(inputs),
    controlsClaim(inputs),
    sacrificeClaim(inputs),
  ];
}

/** All of a metric's cells, or null where one is missing. */
function cellsOf(board: Board, metric: Metric): WinsOf[] | null {
  const cells = BASELINES.map((baseline) => board.wins(metric, baseline)).filter((cell) => cell !== null);
  return cells.length === BASELINES.length ? cells : null;
}

function formatCells(board: Board, metric: Metric): string[] {
  return BASELINES.map((baseline) => {
    const cell = board.wins(metric, baseline);
    return cell === null ? "–" : `${cell.wins}-${cell.losses}-${cell.draws}`;
  });
}

const isWon = ({ wins, losses }: WinsOf) => wins > losses;
const isLost = ({ wins, losses }: WinsOf) => losses > wins;

function wonByAll(cells: readonly WinsOf[] | null): Verdict | null {
  if (cells === null) return null;
  if (cells.some(isLost)) return "does not hold";
  return cells.every(isWon) ? "holds" : "not separated";
}

function outperformsClaim(inputs: ClaimInputs): Claim {
  const all = (board: Board) => {
    const cells = CALIBRATION.map((metric) => cellsOf(board, metric));
    return cells.some((one) => one === null) ? null : cells.flatMap((one) => one ?? []);
  };
  return judgeBoards(inputs, {
    title: "Better calibrated than every baseline over subpopulations",
    place: `${PLACE}; §1, third contribution`,
    statement:
      "By logrank and ECE, GRADUATE (L²) unequivocally outperforms all baselines over the subpopulations, often " +
      "on a large majority of them.",
    check:
      "The paper's own rule, more wins than losses, in all eight cells of a table (two scores, four baselines); " +
      "*majority*: cells with wins on more than half of the groups. Wins, losses and draws are of paired t-tests " +
      "at 5 " +
      "%, over splits the corrected one. It does not hold where a cell has more losses than wins, and is not " +
      "separated " +
      "where cells have as many of both.",
    titles: [
      ...CALIBRATION.flatMap((metric) =>
        labelsOf(BASELINES).map((label) => `${METRIC_NAMES[metric]} ${label}`),
      ),
      "majority",
    ],
    row: (board) => [
      ...CALIBRATION.flatMap((metric) => formatCells(board, metric)),
      `${all(board)?.filter(({ wins }) => wins > board.groups / 2).length ?? "–"} of 8`,
    ],
    systems: [...BASELINES, "graduate l2"],
    judge: (board) => wonByAll(all(board)),
    note:
      "The paper's repeats are initialisations on one split, so its tests speak of one test set: groups of " +
      "it that one network happens to fit count as wins in all repeats.",
    command: COMMAND,
  });
}

function otherScores(inputs: ClaimInputs): Claim[] {
  return [
    judgeBoards(inputs, {
      title: "C-index over subpopulations is often lost",
      place: PLACE,
      statement: "In C-index GRADUATE (L²) frequently loses to the baselines over subpopulations.",
      check:
        "More losses than wins against at least two of the four baselines; it does not hold where three have " +
        "more wins than losses, and is not separated otherwise.",
      systems: [...BASELINES, "graduate l2"],
      titles: labelsOf(BASELINES),
      row: (board) => formatCells(board, "concordance"),
      judge(board) {
        const cells = cellsOf(board, "concordance");
        if (cells === null) return null;
        const [won, lost] = [cells.filter(isWon).length, cells.filter(isLost).length];
        if (lost >= BASELINES.length / 2) return true;
        return won > BASELINES.length / 2 ? false : "not separated";
      },
      command: COMMAND,
    }),
    judgeBoards(inputs, {
      title: "Total score over subpopulations",
      place: PLACE,
      statement:
        "In total score GRADUATE (L²) beats the baselines by a large margin on nwtco and eye complication, and " +
        "does less well on flchain, where C-index dominates.",
      check:
        "nwtco and eye: more wins than losses against all four baselines, and not where one has more losses; " +
        "flchain: more losses than wins against at least one, and not where all four have more wins. Otherwise " +
        "not separated.",
      systems: [...BASELINES, "graduate l2"],
      titles: labelsOf(BASELINES),
      row: (board) => formatCells(board, "total"),
      judge(board) {
        const cells = cellsOf(board, "total");
        if (cells === null) return null;
        if (board.target !== "flchain") return wonByAll(cells);
        if (cells.some(isLost)) return true;
        return cells.every(isWon) ? false : "not separated";
      },
      command: COMMAND,
    }),
  ];
}

function variantsAlike(inputs: ClaimInputs): Claim {
  const ratio = (board: Board) => {
    const eces = meansOf(board, "ece", VARIANTS);
    return eces === null ? null : Math.max(...eces) / Math.min(...eces);
  };
  return judgeBoards(inputs, {
    title: "The two variants are alike",
    place: PLACE,
    statement:
      "Results of the two variants are very close, so that one of them, L², stands for both over subpopulations.",
    check:
      `No definition is given; here: C-index and total within ${CLOSE_SCORE}, and one ECE at most ` +
      `${CLOSE_RATIO} times the other.`,
    systems: VARIANTS,
    titles: [
      "C (L²)",
      "C (variance)",
      "ECE (L²)",
      "ECE (variance)",
      "ratio",
      "total (L²)",
      "total (variance)",
    ],
    row: (board) => [
      ...formatMeans(board, "concordance", VARIANTS),
      ...formatMeans(board, "ece", VARIANTS),
      ratio(board)?.toFixed(1) ?? "–",
      ...formatMeans(board, "total", VARIANTS),
    ],
    judge(board) {
      const [c, total, eces] = [
        meansOf(board, "concordance", VARIANTS),
        meansOf(board, "total", VARIANTS),
        ratio(board),
      ];
      if (c === null || total === null || eces === null) return null;
      return [c, total].every(([a, b]) => Math.abs(a - b) <= CLOSE_SCORE) && eces <= CLOSE_RATIO;
    },
    command: COMMAND,
  });
}

/** Real groups against random ones of the same sizes. */
function controlsClaim(inputs: ClaimInputs): Claim {
  const controls: readonly SystemName[] = ["placebo groups", "all only", "no multipliers"];
  const own = (board: Board, system: SystemName) =>
    board.cohort === null ? [] : runsOf(board.cohort.runs, system);
  const compare = (board: Board, other: SystemName) =>
    board.cohort === null
      ? null
      : compareRuns(
          own(board, "graduate"),
          own(board, other),
          readGroupEce(board.cohort.groups),
          board.cohort.repeats,
        );
  return judgeBoards(inputs, {
    title: "The constraints are what calibrates the groups",
    place: "§6.6, before the examples; abstract",
    statement:
      "Because each named subpopulation has a constraint of its own, GRADUATE attains good multicalibration.",
    check:
      "The paper has no control. Here: the mean ECE over groups of GRADUATE (default of 0.1.0) with the real groups, less " +
      "that with random groups of the same sizes and overlaps, with everyone only, and with the groups known and " +
      "nobody held to them, paired by repeat. It holds where the first and the last difference are below 0 at 5 %, " +
      "does not where one of them is above, and is not separated otherwise: random groups say whether it matters " +
      "which " +
      "groups are named, groups that are known and not held whether the constraints do it.",
    sources: ["default"],
    systems: ["graduate", ...controls],
    titles: ["subgroup ECE, real groups", ...labelsOf(controls).map((label) => `less ${label} (p)`)],
    row: (board) => [
      formatScore("ece", spreadOf(own(board, "graduate"), readGroupEce(board.groups))?.mean ?? null),
      ...controls.map((other) => {
        const test = compare(board, other);
        return test === null ? "–" : `${formatSigned(test.mean, 4)} (${test.p.toFixed(3)})`;
      }),
    ],
    judge(board) {
      const tests = [compare(board, "placebo groups"), compare(board, "no multipliers")];
      const present = tests.filter((test) => test !== null);
      if (present.length < tests.length) return null;
      if (present.some(({ mean, p }) => mean > 0 && p < LEVEL)) return false;
      return present.every(({ p }) => p < LEVEL) ? true : "not separated";
    },
    note:
      "Where the first difference is below 0 and the last is not, naming the groups is what calibrates them: " +
      "the network knows them, and starts at an additive model of them.",
    command: "`graduate reproduce nwtco|flchain|eye`",
  });
}

function sacrificeClaim(inputs: ClaimInputs): Claim {
  const pair = ["drsa", "mcboost"] as const;
  return judgeBoards(inputs, {
    title: "MCBoostSurv gives up discrimination",
    place: "§7; §1",
    statement: "Because it corrects afterwards, MCBoostSurv sacrifices discrimination for multicalibration.",
    check:
      "MCBoostSurv's mean C-index below that of DRSA, the network it corrects; of runs by a test. The runs are " +
      "of our mended form, not of the R package the paper names, which the cohort pages have as *reference*; in the " +
      "default preset it corrects *DRSA without tail*.",
    systems: pair,
    titles: [
      ...labelsOf(pair).map((label) => `C ${label}`),
      ...labelsOf(pair).map((label) => `ECE ${label}`),
    ],
    row: (board) => [...formatMeans(board, "concordance", pair), ...formatMeans(board, "ece", pair)],
    judge(board) {
      const contrast = ([drsa, boosted]: readonly number[]) => drsa - boosted;
      return judgeContrasts(board, [{ systems: pair, metric: "concordance", contrast }]);
    },
    command: COMMAND,
  });
}
