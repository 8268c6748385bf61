/**
 * What the paper's method does under its own recipe. GRADUATE (L²) differs from DRSA in its constraint and in which
 * iterate it keeps, and both have the tail term: every combination of these three switches has been run from the same
 * initialisations. Beside them: where the multipliers went, and what more updates to a dual step, or fewer looks at the
 * validation rows, change.
 */
import { isAbsent } from "graduate-survival/core";
import { type PairedTest, pairedT } from "graduate-survival/stats";
import { FIXED_PENALTY_BELOW } from "graduate-survival/training";
import { moveOf } from "../claims/multipliers.ts";
import type { PlanResults } from "../runs/committed.ts";
import type { SystemName } from "../runs/plan.ts";
import type { RunResult } from "../runs/results.ts";
import { PAGE_TARGETS, type PageTarget, PRINTED_COHORT } from "../runs/targets.ts";
import {
  collectRuns,
  type Estimate,
  estimate,
  mean,
  type RunsBySystem,
  readGroupEce,
  readMetric,
} from "./summary.ts";

/** What may be switched: the tail term off, the iterate kept by constraints, the constraint on. */
export const SWITCHES = ["withoutTail", "keptByConstraints", "constrained"] as const;
export type Switch = (typeof SWITCHES)[number];
export type Setting = Readonly<Record<Switch, boolean>>;

const setting = (withoutTail: boolean, keptByConstraints: boolean, constrained: boolean): Setting => ({
  withoutTail,
  keptByConstraints,
  constrained,
});

/** From DRSA, with nothing switched, to GRADUATE without the tail term. */
export const CELLS: readonly { readonly system: SystemName; readonly setting: Setting }[] = [
  { system: "drsa", setting: setting(false, false, false) },
  { system: "drsa without tail", setting: setting(true, false, false) },
  { system: "drsa kept by constraints", setting: setting(false, true, false) },
  { system: "graduate l2 kept by concordance", setting: setting(false, false, true) },
  { system: "drsa without tail kept by constraints", setting: setting(true, true, false) },
  { system: "graduate l2 without tail kept by concordance", setting: setting(true, false, true) },
  { system: "graduate l2", setting: setting(false, true, true) },
  { system: "graduate l2 without tail", setting: setting(true, true, true) },
];

/** The systems that are compared with the truth. */
export const TRUE_SYSTEMS: readonly SystemName[] = [
  "cox",
  "drsa",
  "drsa without tail",
  "graduate l2",
  "graduate l2 without tail",
  "graduate variance",
];
const VARIANTS = ["graduate l2", "graduate variance"] as const;

export interface MethodRow {
  readonly system: SystemName;
  readonly seeds: number;
  readonly concordance: Estimate;
  readonly ece: Estimate;
  readonly groupEce: Estimate;
  readonly brier: Estimate;
}

export interface TrueRow {
  readonly system: SystemName;
  /** Mean over the constrained groups. */
  readonly error: Estimate;
  readonly ise: Estimate;
}

/** By what factor a switch multiplies ECE, from DRSA alone and averaged over the other switches. */
export interface SwitchEffect {
  readonly switched: Switch;
  readonly alone: { readonly factor: number; readonly p: number };
  readonly average: { readonly factor: number; readonly p: number };
}

export interface MultiplierRow {
  readonly target: PageTarget;
  readonly system: (typeof VARIANTS)[number];
  /** Mean over the groups of each run. */
  readonly runs: readonly { readonly start: number; readonly end: number }[];
  readonly moved: readonly number[];
  readonly fixed: number;
  readonly met: { readonly yes: number; readonly of: number };
}

export interface SwitchedCohort {
  readonly target: PageTarget;
  readonly seeds: number;
  readonly cells: readonly MethodRow[];
  readonly effects: readonly SwitchEffect[];
  readonly truth: readonly TrueRow[] | null;
}

/** Runs of nwtco at another pace, beside the same seeds of the plan itself. */
export interface PaceRow {
  readonly plan: string;
  readonly updates: number;
  readonly evaluateEvery: number;
  readonly rows: readonly { readonly own: MethodRow; readonly plain: MethodRow; readonly p: number | null }[];
}

export interface MethodSummary {
  readonly cohorts: readonly SwitchedCohort[];
  readonly multipliers: readonly MultiplierRow[];
  readonly pace: readonly PaceRow[];
  readonly planned: number;
  readonly made: number;
}

export function summariseMethod(
  plans: ReadonlyMap<PageTarget, PlanResults>,
  pace: readonly PlanResults[],
): MethodSummary {
  const boards = PAGE_TARGETS.flatMap((target) => {
    const results = plans.get(target)?.results;
    if (results === undefined) return [];
    const cohort = PRINTED_COHORT[target];
    const groups = results.cohorts.get(cohort)?.groups.length ?? 1;
    return [{ target, runs: collectRuns(results, cohort), groups }];
  });
  const plain = boards.find(({ target }) => target === "nwtco");
  return {
    cohorts: boards.map(switchCohort),
    multipliers: boards.flatMap(({ target, runs }) =>
      VARIANTS.map((system) => followMultipliers(target, system, runs.get(system) ?? [])),
    ),
    pace: plain === undefined ? [] : pace.map((one) => comparePace(one, plain.runs, plain.groups)),
    ...countRuns(pace),
  };
}

function countRuns(pace: readonly PlanResults[]): Pick<MethodSummary, "planned" | "made"> {
  const planned = pace.map(({ plan }) =>
    plan.parts.reduce((sum, { systems, seeds }) => sum + systems.length * seeds.count, 0),
  );
  const made = pace.map(({ results }) => results?.runs.size ?? 0);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return { planned: sum(planned), made: sum(made) };
}

interface Board {
  readonly target: PageTarget;
  readonly runs: RunsBySystem;
  readonly groups: number;
}

/** On the seeds that all eight cells have. */
function switchCohort({ target, runs, groups }: Board): SwitchedCohort {
  const ofCells = CELLS.map(({ system }) => runs.get(system) ?? []);
  const seeds = ofCells
    .map((own) => own.map(({ run }) => run.seed))
    .reduce((shared, own) => shared.filter((seed) => own.includes(seed)));
  const pick = (system: SystemName) => (runs.get(system) ?? []).filter(({ run }) => seeds.includes(run.seed));
  const isTrue = pick("drsa").some(({ truth }) => truth !== null);
  return {
    target,
    seeds: seeds.length,
    cells: seeds.length === 0 ? [] : CELLS.map(({ system }) => describeRuns(system, pick(system), groups)),
    effects: seeds.length < 2 ? [] : SWITCHES.map((one) => measureSwitch(one, pick)),
    truth: isTrue ? TRUE_SYSTEMS.map((system) => describeTruth(system, pick(system), groups)) : null,
  };
}

function describeRuns(system: SystemName, runs: readonly RunResult[], groups: number): MethodRow {
  const over = (read: (run: RunResult) => number | null) => estimate(runs.map(read).filter(isNumber));
  return {
    system,
    seeds: runs.length,
    concordance: over(readMetric("concordance", 0)),
    ece: over(readMetric("ece", 0)),
    groupEce: over(readGroupEce(groups)),
    brier: over(({ scores }) => scores.ibs[0]),
  };
}

function describeTruth(system: SystemName, runs: readonly RunResult[], groups: number): TrueRow {
  return {
    system,
    error: estimate(runs.map(({ truth }) => mean((truth?.A ?? []).slice(0, groups).filter(isNumber)))),
    ise: estimate(runs.map(({ truth }) => truth?.ise[0] ?? Number.NaN)),
  };
}

const isNumber = (value: number | null): value is number => value !== null;

/** Logarithms of ECE are compared: it is a size, and switches multiply it. */
function measureSwitch(switched: Switch, pick: (system: SystemName) => readonly RunResult[]): SwitchEffect {
  const pairs = CELLS.filter(({ setting }) => !setting[switched]).map((off) => {
    const wanted = { ...off.setting, [switched]: true };
    const on = CELLS.find(({ setting }) => SWITCHES.every((one) => setting[one] === wanted[one]));
    const [before, after] = [pick(off.system), pick((on ?? off).system)].map((runs) =>
      runs.map((run) => Math.log(readMetric("ece", 0)(run) ?? Number.NaN)),
    );
    return after.map((value, k) => value - before[k]);
  });
  const averaged = pairs[0].map((_, k) => mean(pairs.map((differences) => differences[k])));
  return { switched, alone: toFactor(pairs[0]), average: toFactor(averaged) };
}

function toFactor(differences: readonly number[]): SwitchEffect["alone"] {
  return { factor: Math.exp(mean(differences)), p: testOf(differences)?.p ?? Number.NaN };
}

function testOf(differences: readonly number[]): PairedTest | null {
  const test = pairedT(differences);
  return isAbsent(test) ? null : test;
}

function followMultipliers(
  target: PageTarget,
  system: MultiplierRow["system"],
  runs: readonly RunResult[],
): MultiplierRow {
  const moved = runs.map(moveOf).filter(isNumber);
  const marks = runs.map(({ training }) => training?.met ?? "").join("");
  const [yes, no] = ["y", "n"].map((mark) => marks.split(mark).length - 1);
  return {
    target,
    system,
    runs: runs.flatMap(({ training }) => {
      const multipliers = training?.multipliers ?? null;
      if (multipliers === null) return [];
      const { start, end } = multipliers;
      return [{ start: typeof start === "number" ? start : mean(start), end: mean(end) }];
    }),
    moved,
    fixed: moved.filter((move) => move < FIXED_PENALTY_BELOW).length,
    met: { yes, of: yes + no },
  };
}

function comparePace({ plan, results }: PlanResults, plain: RunsBySystem, groups: number): PaceRow {
  const { name, primalSteps = 1, evaluateEvery = 1 } = plan;
  const own = results === undefined ? new Map() : collectRuns(results, PRINTED_COHORT.nwtco);
  const rows = [...own].map(([system, runs]: [SystemName, readonly RunResult[]]) => {
    const seeds = runs.map(({ run }) => run.seed);
    const beside = (plain.get(system) ?? []).filter(({ run }) => seeds.includes(run.seed));
    const ece = readMetric("ece", 0);
    const differences = runs.map((run, k) => (ece(run) ?? Number.NaN) - (ece(beside[k]) ?? Number.NaN));
    return {
      own: describeRuns(system, runs, groups),
      plain: describeRuns(system, beside, groups),
      p: testOf(differences)?.p ?? null,
    };
  });
  return { plan: name, updates: primalSteps, evaluateEvery, rows };
}
