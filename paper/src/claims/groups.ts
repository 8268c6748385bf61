/** The paper's statements about subpopulations: its Tables 5 to 7 and the text beside them (§6.5, §6.6, §7). */

import { METRIC_NAMES } from "../summaries/labels.ts";
import type { Metric } from "../summaries/published.ts";
import { winSumsClaim } from "./arithmetic.ts";
import {
  BASELINES,
  type Board,
  type ClaimInputs,
  meansOf,
  runBoard,
  VARIANTS,
  type Verdict,
  type WinsOf,
} from "./board.ts";
import { controlsClaim, sacrificeClaim } from "./controls.ts";
import { type Claim, formatMeans, judgeBoards, labelsOf } from "./entry.ts";

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
      titles: [...labelsOf(BASELINES), "all four"],
      row: (board) => [...formatCells(board, "total"), formatSum(cellsOf(board, "total"))],
      judge(board) {
        const cells = cellsOf(board, "total");
        if (cells === null) return null;
        if (board.target !== "flchain") return wonByAll(cells);
        if (cells.some(isLost)) return true;
        return cells.every(isWon) ? false : "not separated";
      },
      note: sayTotals(runBoard(inputs, "paper", "flchain")),
      command: COMMAND,
    }),
  ];
}

function sumCells(cells: readonly WinsOf[]): WinsOf {
  const sum = (read: (cell: WinsOf) => number) => cells.reduce((total, cell) => total + read(cell), 0);
  return {
    wins: sum(({ wins }) => wins),
    losses: sum(({ losses }) => losses),
    draws: sum(({ draws }) => draws),
  };
}

function formatSum(cells: readonly WinsOf[] | null): string {
  if (cells === null) return "–";
  const { wins, losses, draws } = sumCells(cells);
  return `${wins}-${losses}-${draws}`;
}

/** On how many comparisons the verdict on flchain rests. */
function sayTotals(board: Board): string {
  const cells = cellsOf(board, "total");
  if (cells === null) return "Under the paper's recipe flchain has not been run.";
  const { wins, losses, draws } = sumCells(cells);
  const lost = cells.filter(isLost);
  const said = lost.map((cell) => `${cell.wins}-${cell.losses}-${cell.draws}`).join(" and ");
  const what =
    lost.length === 0
      ? "No cell is lost there"
      : `The verdict there rests on ${lost.length === 1 ? "one cell" : `${lost.length} cells`}, ${said}`;
  const more = wins > losses ? " Over all four it wins more than it loses." : "";
  return (
    `Under the paper's recipe flchain has ${wins} wins, ${losses} ${losses === 1 ? "loss" : "losses"} and ${draws} ` +
    `draws over the four baselines. ${what}.${more}`
  );
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
