/**
 * What an entry of the claims page is, and the scoreboards that most of them are judged by: the scores of one of the paper's tables as
 * printed, as its recipe gives them here, and as the default preset does. A statement is judged by the same rule on all three.
 * A board whose systems have fewer than two runs is "not run yet"; nothing is filled in.
 */
import { countOf } from "../data/findings.ts";
import { DEFAULT_BINS } from "../data/time-grid.ts";
import { type PageTarget, type PlanResults, PRINTED_COHORT } from "./page.ts";
import type { SystemName } from "./plan.ts";
import type { Metric, Published } from "./published.ts";
import type { RunResult } from "./results.ts";
import { collectRuns, countGroupWins, readMetric, spreadOf } from "./summary.ts";
import { type CohortRuns, formatMarkdown, runsOf, SYSTEM_LABELS } from "./tables.ts";

export type Verdict = "holds" | "does not hold" | "cannot be checked" | "not run yet";
export type Source = "printed" | "paper" | "default";

export const SOURCE_LABELS: Readonly<Record<Source, string>> = {
  printed: "in print",
  paper: "paper's recipe",
  default: "default preset",
};
const SOURCES: readonly Source[] = ["printed", "paper", "default"];
export const TARGETS: readonly PageTarget[] = ["nwtco", "flchain", "eye"];

export const BASELINES = ["drsa", "xcal", "mcboost", "rps"] as const satisfies readonly SystemName[];
export const VARIANTS = ["graduate l2", "graduate variance"] as const satisfies readonly SystemName[];
export const SIX: readonly SystemName[] = [...BASELINES, ...VARIANTS];

/** What a page of claims is made of. */
export interface ClaimInputs {
  readonly published: Published;
  /** By the name of the plan: nwtco, paper-nwtco, …. */
  readonly plans: ReadonlyMap<string, PlanResults>;
  readonly tables: Readonly<Record<"nwtco" | "flchain", TableFacts>>;
}

/** Counts of a bundled table. */
export interface TableFacts {
  readonly rows: number;
  readonly events: number;
  /** Columns but time and event. */
  readonly features: readonly string[];
  /** Rows with a value in flchain's `chapter`, and how many of these, and of the others, had the event; null where there is none. */
  readonly chapter: { readonly rows: number; readonly events: number; readonly otherEvents: number } | null;
}

export interface Finding {
  /** Null where the statement is checked by computing something once. */
  readonly source: Source | null;
  readonly text: string;
}

export interface Claim {
  readonly title: string;
  /** Where the paper says so. */
  readonly place: string;
  /** In our words. */
  readonly statement: string;
  readonly check: string;
  readonly findings: readonly Finding[];
  readonly table: string;
  readonly note?: string;
  readonly command: string;
}

/** Wins, losses and draws of GRADUATE (L²) over the groups. */
export interface WinsOf {
  readonly wins: number;
  readonly losses: number;
  readonly draws: number;
}

/** One table's scores, from one source. */
export interface Board {
  readonly source: Source;
  readonly target: PageTarget;
  /** Of everyone; logrank as the share of repeats that pass. Null where there are fewer than two runs. */
  mean(metric: Metric, system: SystemName): number | null;
  wins(metric: Metric, baseline: SystemName): WinsOf | null;
  readonly groups: number;
  /** Null for the printed ones. */
  readonly cohort: CohortRuns | null;
  readonly label: string;
}

export function printedBoard({ published }: ClaimInputs, target: PageTarget): Board {
  const population = published.population.find(({ cohort }) => cohort === target);
  const wins = published.wins.find(({ cohort }) => cohort === target);
  return {
    source: "printed",
    target,
    mean(metric, system) {
      const cell = population?.rows[system]?.[metric];
      if (population === undefined || cell === undefined) return null;
      return metric === "logrank" ? Number(cell.value) / population.repeats : Number(cell.value);
    },
    wins(metric, baseline) {
      const text = wins?.rows[metric]?.[baseline];
      return text === undefined ? null : parseWins(text);
    },
    groups: wins?.groups ?? 0,
    cohort: null,
    label: `${target}, in print`,
  };
}

export function parseWins(text: string): WinsOf {
  const [wins, losses, draws] = text.split("-").map(Number);
  return { wins, losses, draws };
}

/** Null where the plan has no runs of the cohort. */
export function cohortOf(
  { plans }: Pick<ClaimInputs, "plans">,
  source: "paper" | "default",
  target: PageTarget,
  name: string = PRINTED_COHORT[target],
): CohortRuns | null {
  const one = plans.get(source === "paper" ? `paper-${target}` : target);
  if (one?.results === undefined) return null;
  const runs = collectRuns(one.results, name);
  if (runs.size === 0) return null;
  const groups = one.results.cohorts.get(name)?.groups.length ?? 1;
  return { runs, repeats: one.plan.repeats, groups, bins: one.plan.bins ?? DEFAULT_BINS };
}

function runBoard(inputs: ClaimInputs, source: "paper" | "default", target: PageTarget): Board {
  const cohort = cohortOf(inputs, source, target);
  const own = (system: SystemName): readonly RunResult[] =>
    cohort === null ? [] : runsOf(cohort.runs, system);
  const most = Math.max(0, ...SIX.map((system) => own(system).length));
  return {
    source,
    target,
    mean: (metric, system) =>
      own(system).length < 2 ? null : (spreadOf(own(system), readMetric(metric, 0))?.mean ?? null),
    wins(metric, baseline) {
      const [a, b] = [own("graduate l2"), own(baseline)];
      if (cohort === null || a.length < 2 || b.length < 2) return null;
      const count = countGroupWins(a, b, metric, cohort.groups, cohort.repeats);
      return { wins: count.wins, losses: count.losses, draws: count.draws + count.untested };
    },
    groups: cohort?.groups ?? 0,
    cohort,
    label: `${target}${target === "eye" ? " (simulated)" : ""}, ${SOURCE_LABELS[source]}, ${countOf(most, (cohort?.repeats ?? "runs").slice(0, -1))}`,
  };
}

export interface BoardClaim extends Omit<Claim, "findings" | "table"> {
  readonly targets?: readonly PageTarget[];
  readonly sources?: readonly Source[];
  readonly titles: readonly string[];
  /** Cells after the label. */
  row(board: Board): readonly string[];
  /** Null where a number is wanting. */
  judge(board: Board): boolean | Verdict | null;
}

/** A statement judged table by table. */
export function judgeBoards(inputs: ClaimInputs, claim: BoardClaim): Claim {
  const { targets = TARGETS, sources = SOURCES, titles, row, judge, ...text } = claim;
  const judged = sources.flatMap((source) =>
    targets.map((target) => {
      const board = source === "printed" ? printedBoard(inputs, target) : runBoard(inputs, source, target);
      return { board, verdict: toVerdict(judge(board)) };
    }),
  );
  const rows = judged
    .filter(({ board, verdict }) => board.source === "printed" || verdict !== "not run yet")
    .map(({ board, verdict }) => [board.label, ...row(board), verdict]);
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

export function toVerdict(judged: boolean | Verdict | null): Verdict {
  if (judged === null) return "not run yet";
  return typeof judged === "string" ? judged : judged ? "holds" : "does not hold";
}

/** One word where all agree. */
function joinVerdicts(all: readonly { readonly name: string; readonly verdict: Verdict }[]): string {
  const kinds = [...new Set(all.map(({ verdict }) => verdict))];
  if (kinds.length === 1) return kinds[0];
  return kinds
    .map((kind) => {
      const names = all.filter(({ verdict }) => verdict === kind).map(({ name }) => name);
      return `${kind} on ${names.join(" and ")}`;
    })
    .join(", ");
}

/** All of them, or null where one is wanting. */
export function meansOf(board: Board, metric: Metric, systems: readonly SystemName[]): number[] | null {
  const means = systems.map((system) => board.mean(metric, system));
  const present = means.filter((mean) => mean !== null);
  return present.length === means.length ? present : null;
}

/** Whether both variants' means are above (sign 1) or below (−1) all the others'. */
export function variantsBeat(
  board: Board,
  metric: Metric,
  others: readonly SystemName[],
  sign: 1 | -1,
): boolean | null {
  const [own, theirs] = [meansOf(board, metric, VARIANTS), meansOf(board, metric, others)];
  if (own === null || theirs === null) return null;
  return own.every((one) => theirs.every((other) => sign * (one - other) > 0));
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

/** How much larger, in percent of the smaller. */
export function percentAbove(larger: number, smaller: number): number {
  return 100 * (larger / smaller - 1);
}

export function formatPercent(percent: number): string {
  return `${percent.toFixed(0)} %`;
}
