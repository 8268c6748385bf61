/** The paper's statements about everyone in the test rows: its Tables 2 to 4 and the text beside them (§6.4, §1). */

import type { SystemName } from "../runs/plan.ts";
import type { PageTarget } from "../runs/targets.ts";
import type { Metric } from "../summaries/published.ts";
import { averageClaims, totalsClaim } from "./arithmetic.ts";
import {
  BASELINES,
  type Board,
  type ClaimInputs,
  judgeContrasts,
  meansOf,
  printedBoard,
  SIX,
  VARIANTS,
  type Verdict,
  variantsBeat,
} from "./board.ts";
import { claimsOnCalibration } from "./calibration.ts";
import {
  type Claim,
  formatMeans,
  formatPercent,
  formatScore,
  judgeBoards,
  labelsOf,
  percentAbove,
} from "./entry.ts";

const PLACE = "§6.4";
const COMMAND = "`graduate reproduce nwtco|flchain|eye [--preset paper]`";
/** The paper does not define "comparable" and "similar"; these thresholds are ours. */
const COMPARABLE_PERCENT = 2;
const SIMILAR_TOTAL = 0.01;

/** The percentages in the text. */
const TOTAL_PERCENT: Readonly<Record<PageTarget, number>> = { nwtco: 7, flchain: 0, eye: 15 };
const EYE_LOSS_PERCENT = { least: 8, most: 15 };

export function claimsOnEveryone(inputs: ClaimInputs): Claim[] {
  return [
    ...discriminationClaims(inputs),
    ...claimsOnCalibration(inputs),
    ...totalClaims(inputs),
    totalsClaim(inputs),
    ...averageClaims(inputs),
    coxClaim(inputs),
  ];
}

function discriminationClaims(inputs: ClaimInputs): Claim[] {
  return [
    judgeBoards(inputs, {
      title: "DRSA ranks best or second best",
      place: PLACE,
      statement: "In C-index DRSA is the best system or a close second on every dataset.",
      check:
        "The place of DRSA's mean C-index among the six systems. Of runs it holds where that is the first or " +
        "second, does not where at least two systems are above DRSA at 5 %, and is not separated otherwise.",
      titles: [...labelsOf(SIX), "DRSA's place"],
      row: (board) => [...formatMeans(board, "concordance", SIX), placeOf(board, "concordance", "drsa")],
      judge: judgeDrsasPlace,
      command: COMMAND,
    }),
    judgeBoards(inputs, {
      title: "Comparable C-index on nwtco and flchain",
      place: PLACE,
      statement: "Both GRADUATE variants have C-indices comparable to DRSA's on nwtco and flchain.",
      check:
        `No definition is given; here: at most ${COMPARABLE_PERCENT} % below DRSA's mean. Of runs each ` +
        `variant's C-index, ${COMPARABLE_PERCENT} % added, is tested against DRSA's.`,
      targets: ["nwtco", "flchain"],
      systems: ["drsa", ...VARIANTS],
      titles: [...labelsOf(["drsa", ...VARIANTS]), "places"],
      row: (board) => [
        ...formatMeans(board, "concordance", ["drsa", ...VARIANTS]),
        VARIANTS.map((system) => placeOf(board, "concordance", system)).join(", "),
      ],
      judge: (board) =>
        judgeContrasts(
          board,
          VARIANTS.map((own) => ({
            systems: [own, "drsa"],
            metric: "concordance",
            contrast: ([c, drsa]) => c * (1 + COMPARABLE_PERCENT / 100) - drsa,
          })),
        ),
      note: describeFlchainBest(inputs),
      command: "`graduate reproduce nwtco|flchain [--preset paper]`",
    }),
    judgeBoards(inputs, {
      title: "C-index lost on eye complication",
      place: PLACE,
      statement:
        "On eye complication the variants lose " +
        `${EYE_LOSS_PERCENT.least} to ${EYE_LOSS_PERCENT.most} % of C-index to DRSA.`,
      check:
        "DRSA's mean over each variant's, less 1, rounded to whole percents, as printed. A percentage of the " +
        "hospital's patients cannot be checked on simulated people, whose numbers are shown and not judged.",
      targets: ["eye"],
      systems: ["drsa", ...VARIANTS],
      ofHospital: true,
      titles: [...labelsOf(["drsa", ...VARIANTS]), "lost"],
      row: (board) => [
        ...formatMeans(board, "concordance", ["drsa", ...VARIANTS]),
        lossesToDrsa(board)
          ?.map((percent) => formatPercent(percent))
          .join(", ") ?? "–",
      ],
      judge: (board) =>
        lossesToDrsa(board)?.every(
          (loss) => Math.round(loss) >= EYE_LOSS_PERCENT.least && Math.round(loss) <= EYE_LOSS_PERCENT.most,
        ) ?? null,
      command: "`graduate reproduce eye [--preset paper]`",
    }),
  ];
}

function totalClaims(inputs: ClaimInputs): Claim[] {
  return [
    judgeBoards(inputs, {
      title: "Best and second best total score",
      place: PLACE,
      statement: "On nwtco and eye complication the two variants have the best and second best total score.",
      check: "Both variants' mean total above every baseline's; of runs by tests.",
      targets: ["nwtco", "eye"],
      titles: labelsOf(SIX),
      row: (board) => formatMeans(board, "total", SIX),
      judge: (board) => variantsBeat(board, "total", BASELINES, 1),
      command: COMMAND,
    }),
    judgeBoards(inputs, {
      title: "Total score ahead by 7 % and 15 %",
      place: PLACE,
      statement:
        `The better variant's total score is about ${TOTAL_PERCENT.nwtco} % above the best baseline's ` +
        `on nwtco and about ${TOTAL_PERCENT.eye} % on eye complication.`,
      check:
        "Best variant's total over best baseline's, less 1; as printed to the nearest percent, of runs on nwtco " +
        "by a test whether it is more than that. A percentage of the hospital's patients cannot be checked on " +
        "simulated " +
        "people.",
      targets: ["nwtco", "eye"],
      ofHospital: true,
      titles: ["best baseline's", "better variant's", "ahead by", "said"],
      row(board) {
        const ahead = totalAhead(board);
        return [
          formatScore("total", ahead?.theirs ?? null),
          formatScore("total", ahead?.own ?? null),
          ahead === null ? "–" : formatPercent(ahead.percent, 1),
          `${TOTAL_PERCENT[board.target]} %`,
        ];
      },
      judge(board) {
        const ahead = totalAhead(board);
        if (ahead === null) return null;
        const said = TOTAL_PERCENT[board.target];
        if (board.source === "printed") return Math.round(ahead.percent) === said;
        const contrast = ([own, theirs]: readonly number[]) => own - theirs * (1 + said / 100);
        return judgeContrasts(board, [
          { systems: [ahead.variant, ahead.baseline], metric: "total", contrast },
        ]);
      },
      command: "`graduate reproduce claims`",
    }),
    judgeBoards(inputs, {
      title: "Totals on flchain are alike",
      place: PLACE,
      statement: "On flchain all systems have similar total scores.",
      check: `No definition is given; here: largest less smallest mean total at most ${SIMILAR_TOTAL}.`,
      targets: ["flchain"],
      titles: labelsOf(SIX),
      row: (board) => formatMeans(board, "total", SIX),
      judge(board) {
        const means = meansOf(board, "total", SIX);
        return means === null ? null : Math.max(...means) - Math.min(...means) <= SIMILAR_TOTAL;
      },
      command: "`graduate reproduce flchain [--preset paper]`",
    }),
  ];
}

function coxClaim(inputs: ClaimInputs): Claim {
  const rows: readonly SystemName[] = ["cox", ...VARIANTS, "graduate"];
  return judgeBoards(inputs, {
    title: "The best trade-off, with Cox among the systems",
    place: "§1, third contribution; §2 on Cox and other statistical models",
    statement:
      "GRADUATE has the best trade-off between discrimination and calibration; Cox's model is said not to " +
      "generalise well, and is not among the baselines.",
    check:
      "Both variants' mean total against that of plain Cox on the same rows, by tests. *GRADUATE (default of 0.1.0)*, our " +
      "recipe, is shown and not judged.",
    systems: ["cox", ...VARIANTS],
    titles: [...labelsOf(rows).map((label) => `total ${label}`), "printed best total"],
    row: (board) => [
      ...formatMeans(board, "total", rows),
      formatScore("total", Math.max(...(meansOf(printedBoard(inputs, board.target), "total", SIX) ?? [0]))),
    ],
    judge: (board) =>
      board.source === "printed" ? "cannot be checked" : variantsBeat(board, "total", ["cox"], 1),
    command: COMMAND,
  });
}

/** 1 is the best of the six; null where one is missing. */
function rankOf(board: Board, metric: Metric, system: SystemName): number | null {
  const means = meansOf(board, metric, SIX);
  const own = board.mean(metric, system);
  return means === null || own === null ? null : 1 + means.filter((mean) => mean > own).length;
}

function placeOf(board: Board, metric: Metric, system: SystemName): string {
  const rank = rankOf(board, metric, system);
  return rank === null ? "–" : `${rank} of ${SIX.length}`;
}

function judgeDrsasPlace(board: Board): boolean | Verdict | null {
  const rank = rankOf(board, "concordance", "drsa");
  if (rank === null) return null;
  if (rank <= 2 || board.cohort === null) return rank <= 2;
  const above = SIX.filter((other) => {
    const contrast = ([theirs, drsa]: readonly number[]) => theirs - drsa;
    return (
      other !== "drsa" &&
      judgeContrasts(board, [{ systems: [other, "drsa"], metric: "concordance", contrast }]) === "holds"
    );
  });
  return above.length >= 2 ? false : "not separated";
}

function lossesToDrsa(board: Board): number[] | null {
  const means = meansOf(board, "concordance", ["drsa", ...VARIANTS]);
  return means === null ? null : means.slice(1).map((own) => percentAbove(means[0], own));
}

function totalAhead(board: Board) {
  const [baselines, own] = [meansOf(board, "total", BASELINES), meansOf(board, "total", VARIANTS)];
  if (baselines === null || own === null) return null;
  const [theirs, best] = [Math.max(...baselines), Math.max(...own)];
  return {
    theirs,
    baseline: BASELINES[baselines.indexOf(theirs)],
    own: best,
    variant: VARIANTS[own.indexOf(best)],
    percent: percentAbove(best, theirs),
  };
}

function describeFlchainBest(inputs: ClaimInputs): string {
  const board = printedBoard(inputs, "flchain");
  const best = [...SIX].sort(
    (a, b) => (board.mean("concordance", b) ?? 0) - (board.mean("concordance", a) ?? 0),
  )[0];
  return (
    `The printed ${formatScore("concordance", board.mean("concordance", best))} on flchain, the table's ` +
    `highest, belongs to ${labelsOf([best])[0]}, and is starred as better than the second; it is not GRADUATE's.`
  );
}
