/** The form of an entry of the claims page, and how a statement is judged board by board (claims-board.ts). */

import { formatMarkdown, formatSigned } from "../pages/markdown.ts";
import type { SystemName } from "../runs/plan.ts";

import type { PageTarget } from "../runs/targets.ts";
import { SYSTEM_LABELS } from "../summaries/labels.ts";
import type { Metric } from "../summaries/published.ts";
import {
  type Board,
  type ClaimInputs,
  printedBoard,
  runBoard,
  SIX,
  SOURCES,
  type Source,
  TARGETS,
  type Verdict,
} from "./board.ts";
import type { Evidence } from "./evidence.ts";

export interface Finding {
  /** Null where the statement is checked by computing something once. */
  readonly source: Source | null;
  readonly text: string;
}

export interface Claim {
  readonly title: string;
  /** Where the paper makes the statement. */
  readonly place: string;
  /** In our words. */
  readonly statement: string;
  readonly check: string;
  readonly findings: readonly Finding[];
  readonly table: string;
  readonly note?: string;
  readonly command: string;
}

export interface BoardClaim extends Omit<Claim, "findings" | "table"> {
  readonly targets?: readonly PageTarget[];
  readonly sources?: readonly Source[];
  /** The systems whose runs are needed to judge; the six of the paper's tables unless given. */
  readonly systems?: readonly SystemName[];
  /** A number about the hospital's patients: simulated people can neither confirm nor refute it. */
  readonly ofHospital?: boolean;
  readonly titles: readonly string[];
  /** Cells after the label. */
  row(board: Board): readonly string[];
  /** Whether a run is a counterexample, which no number of other runs can outweigh. */
  refute?(board: Board): boolean;
  /** Called where there are enough runs. Null where a number is missing. */
  judge(board: Board): boolean | Verdict | null;
}

/** A statement judged table by table. */
export function judgeBoards(inputs: ClaimInputs, claim: BoardClaim): Claim {
  const {
    targets = TARGETS,
    sources = SOURCES,
    systems = SIX,
    ofHospital = false,
    titles,
    row,
    refute,
    judge,
    ...text
  } = claim;
  const judged = sources.flatMap((source) =>
    targets.map((target) => {
      const board = source === "printed" ? printedBoard(inputs, target) : runBoard(inputs, source, target);
      const evidence = board.evidence(systems);
      const isShown = evidence === null || evidence.made >= 2;
      const label = board.label(evidence);
      if (ofHospital && target === "eye" && evidence !== null)
        return { board, label, isShown, verdict: "cannot be checked" as const };
      if (refute?.(board) === true) return { board, label, isShown, verdict: "does not hold" as const };
      if (evidence !== null && !evidence.decides) return { board, label, isShown, verdict: tooFew(evidence) };
      return { board, label, isShown, verdict: toVerdict(judge(board)) };
    }),
  );
  const rows = judged
    .filter(({ isShown }) => isShown)
    .map(({ board, label, verdict }) => [label, ...row(board), verdict]);
  return {
    ...text,
    findings: sources.map((source) => ({
      source,
      text: joinVerdicts(
        judged
          .filter(({ board }) => board.source === source)
          .map(({ board, verdict }) => ({ name: board.target, verdict })),
      ),
    })),
    table: rows.length === 0 ? "" : formatMarkdown(["", ...titles, "verdict"], rows),
  };
}

const TOO_FEW = "too few runs: ";

function tooFew({ made, planned }: Evidence): Verdict {
  return planned === 0 ? "not planned" : `${TOO_FEW}${made} of ${planned} planned`;
}

function toVerdict(judged: boolean | Verdict | null): Verdict {
  if (judged === null) return "cannot be checked";
  return typeof judged === "string" ? judged : judged ? "holds" : "does not hold";
}

/** One word where all verdicts agree. */
function joinVerdicts(all: readonly { readonly name: string; readonly verdict: Verdict }[]): string {
  const kinds = [...new Set(all.map(({ verdict }) => verdict))];
  if (kinds.length === 1) return kinds[0];
  const judged = kinds
    .filter((kind) => !kind.startsWith(TOO_FEW))
    .map((kind) => {
      const names = all.filter(({ verdict }) => verdict === kind).map(({ name }) => name);
      return `${kind} on ${names.join(" and ")}`;
    });
  const few = all
    .filter(({ verdict }) => verdict.startsWith(TOO_FEW))
    .map(({ name, verdict }) => `${verdict.slice(TOO_FEW.length)} on ${name}`);
  return [...judged, ...(few.length === 0 ? [] : [`${TOO_FEW}${few.join(", ")}`])].join(", ");
}

export function formatMeans(board: Board, metric: Metric, systems: readonly SystemName[]): string[] {
  return systems.map((system) => formatScore(metric, board.mean(metric, system)));
}

export function formatScore(metric: Metric, value: number | null): string {
  if (value === null) return "–";
  if (metric === "logrank") return `${(100 * value).toFixed(0)} %`;
  return value.toFixed(metric === "ece" ? 4 : 3);
}

export function labelsOf(systems: readonly SystemName[]): string[] {
  return systems.map((system) => SYSTEM_LABELS[system]);
}

/** How much larger, as a percentage of the smaller. */
export function percentAbove(larger: number, smaller: number): number {
  return 100 * (larger / smaller - 1);
}

export function formatPercent(percent: number, digits = 0): string {
  return `${formatSigned(percent, digits).replace("+", "")} %`;
}
