/**
 * The scoreboards that most entries of the claims page are judged by: the scores of one of the paper's tables as
 * printed, as the paper's recipe gives them here, and as the default of 0.1.0 gives them, which had no solve. Printed scores are judged by
 * their means; runs are judged by tests, and only where these could have decided otherwise (claims-evidence.ts).
 * Nothing is filled in.
 */
import { DEFAULT_BINS } from "graduate-survival/data";
import type { PlanResults } from "../runs/committed.ts";
import { expandPlan, type SystemName } from "../runs/plan.ts";
import type { RunResult } from "../runs/results.ts";
import { type PageTarget, PRINTED_COHORT } from "../runs/targets.ts";
import type { Metric, Published } from "../summaries/published.ts";
import {
  type CohortRuns,
  collectRuns,
  countGroupWins,
  readMetric,
  runsOf,
  spreadOf,
} from "../summaries/summary.ts";
import { type Decision, decide, type Evidence, weighEvidence } from "./evidence.ts";

export type Verdict =
  | Decision
  | "cannot be checked"
  | "not planned"
  | `too few runs: ${number} of ${number} planned`;
export type Source = "printed" | "paper" | "default";

/** What the committed runs of the default preset are of (runs/fit.ts, asIn010). */
export const DEFAULT_OF_010 = "default of 0.1.0, without the solve";
export const SOURCE_LABELS: Readonly<Record<Source, string>> = {
  printed: "in print",
  paper: "paper's recipe",
  default: DEFAULT_OF_010,
};
export const SOURCES: readonly Source[] = ["printed", "paper", "default"];
export const TARGETS: readonly PageTarget[] = ["nwtco", "flchain", "eye"];

export const BASELINES = ["drsa", "xcal", "mcboost", "rps"] as const satisfies readonly SystemName[];
export const VARIANTS = ["graduate l2", "graduate variance"] as const satisfies readonly SystemName[];
export const SIX: readonly SystemName[] = [...BASELINES, ...VARIANTS];

/** The inputs of a claims page. */
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
  /** All columns except time and event. */
  readonly features: readonly string[];
  /**
   * Rows with a value in flchain's `chapter`, and how many of these rows and of the others had the event; null where
   * there is no such column.
   */
  readonly chapter: { readonly rows: number; readonly events: number; readonly otherEvents: number } | null;
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
  /** For everyone; logrank as the share of repeats that pass. Null where there are fewer than two runs. */
  mean(metric: Metric, system: SystemName): number | null;
  wins(metric: Metric, baseline: SystemName): WinsOf | null;
  readonly groups: number;
  /** Null for a printed board. */
  readonly cohort: CohortRuns | null;
  runs(system: SystemName): readonly RunResult[];
  /** Runs of these systems, made and planned; null for a printed board. */
  evidence(systems: readonly SystemName[]): Evidence | null;
  /** With how many runs there are. */
  label(evidence: Evidence | null): string;
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
    runs: () => [],
    evidence: () => null,
    label: () => `${target}, in print`,
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

/** How many runs of each of the systems the plan has. */
export function plannedOf(
  { plans }: Pick<ClaimInputs, "plans">,
  source: "paper" | "default",
  target: PageTarget,
): (system: SystemName) => number {
  const plan = plans.get(source === "paper" ? `paper-${target}` : target)?.plan;
  const lines = plan === undefined ? [] : expandPlan(plan);
  return (system) =>
    lines.filter((line) => line.cohort === PRINTED_COHORT[target] && line.system === system).length;
}

export function runBoard(inputs: ClaimInputs, source: "paper" | "default", target: PageTarget): Board {
  const cohort = cohortOf(inputs, source, target);
  const own = (system: SystemName): readonly RunResult[] =>
    cohort === null ? [] : runsOf(cohort.runs, system);
  const planned = plannedOf(inputs, source, target);
  const repeats = cohort?.repeats ?? "splits";
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
    runs: own,
    evidence: (systems) => weighEvidence(systems, own, planned, repeats),
    label: (evidence) =>
      `${target}${target === "eye" ? " (simulated)" : ""}, ${SOURCE_LABELS[source]}, ` +
      `${evidence?.made ?? 0} of ${evidence?.planned ?? 0} ${repeats}`,
  };
}

/** All of the means, or null where one is missing. */
export function meansOf(board: Board, metric: Metric, systems: readonly SystemName[]): number[] | null {
  const means = systems.map((system) => board.mean(metric, system));
  const present = means.filter((mean) => mean !== null);
  return present.length === means.length ? present : null;
}

/** A contrast between several scores of one repeat that is claimed to be positive. */
export interface Comparison {
  readonly systems: readonly SystemName[];
  readonly metric: Metric;
  /** Takes the systems' scores in their order. */
  contrast(scores: readonly number[]): number;
}

/**
 * For printed means, the sign of every contrast; for runs, a test of each over the repeats that all its systems have.
 */
export function judgeContrasts(board: Board, comparisons: readonly Comparison[]): boolean | Verdict | null {
  const { cohort } = board;
  if (cohort === null) {
    const contrasts = comparisons.map(({ systems, metric, contrast }) => {
      const means = meansOf(board, metric, systems);
      return means === null ? null : contrast(means);
    });
    return contrasts.includes(null) ? null : contrasts.every((value) => (value ?? 0) > 0);
  }
  const contrasts = comparisons.map((comparison) => contrastRuns(board, comparison));
  if (contrasts.some(({ length }) => length < 2)) return null;
  const { rows } = board.runs(comparisons[0].systems[0])[0];
  return decide(contrasts, { kind: cohort.repeats, rows });
}

function contrastRuns(board: Board, { systems, metric, contrast }: Comparison): number[] {
  const read = readMetric(metric, 0);
  const [first, ...others] = systems.map(
    (system) => new Map(board.runs(system).map((run) => [run.run.seed, read(run)])),
  );
  return [...first].flatMap(([seed, score]) => {
    const scores = [score, ...others.map((own) => own.get(seed) ?? null)];
    const present = scores.filter((value) => value !== null);
    return present.length === scores.length ? [contrast(present)] : [];
  });
}

/** Whether both variants are above (sign 1) or below (−1) all the others. */
export function variantsBeat(
  board: Board,
  metric: Metric,
  others: readonly SystemName[],
  sign: 1 | -1,
): boolean | Verdict | null {
  return judgeContrasts(
    board,
    VARIANTS.flatMap((own) =>
      others.map((other) => ({
        systems: [own, other],
        metric,
        contrast: ([one, theirs]: readonly number[]) => sign * (one - theirs),
      })),
    ),
  );
}
