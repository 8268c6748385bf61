/**
 * The contents of the part on real tables of the page on groups that are held and not told: means over the splits that
 * have every system, and differences to "free" paired by split. Splits share people, so their standard errors are
 * corrected (graduate-survival/stats, correctedResampledT).
 */
import { isAbsent } from "graduate-survival/core";
import { binomialRange, correctedResampledT, type PairedTest } from "graduate-survival/stats";
import {
  expandHeldRealPlan,
  type HeldRealLine,
  type HeldRealPlan,
  type HeldRealTable,
  sameHeldRealRun,
} from "../studies/held-real.ts";
import type { TrainedSystem } from "../studies/held-systems.ts";
import { LEVEL, mean } from "./summary.ts";

/** A system on a table, of everyone. */
export interface HeldRealMeans {
  readonly system: TrainedSystem;
  readonly worstGap: number;
  readonly concordance: number;
  readonly ibs: number;
}

/** A system on a held group; gaps and noise are root mean squares over the splits. */
export interface HeldGroupMeans {
  readonly system: TrainedSystem;
  readonly gap: number;
  readonly noise: number;
  /** √(gap² − noise²), 0 where noise explains the gap: what is left of it. */
  readonly beyond: number;
  /** Splits whose gap a perfect model would show in fewer than one of twenty. */
  readonly off: number;
  readonly atRisk: number;
  /** Splits in which the run said that the group is met, and in which the fresh rows disagree; null if not held. */
  readonly met: number | null;
  readonly refuted: number | null;
}

export interface HeldRealGroup {
  readonly group: string;
  /** Of a split's test rows, on average. */
  readonly n: number;
  readonly events: number;
  readonly auc: number;
  /** The feature that gives most away, most often. */
  readonly tell: string;
  readonly means: readonly HeldGroupMeans[];
  /** The most splits that chance alone puts beyond the 95 % point. */
  readonly chance: number;
  /** Splits in which holding was tried, and those of them in which the training rows were within the slack before. */
  readonly tried: number;
  readonly within: number;
}

/** "held" or "held, strict" less "free"; null with fewer than two splits. */
export interface HeldRealChange {
  readonly system: TrainedSystem;
  readonly gaps: readonly (PairedTest | null)[];
  readonly worstGap: PairedTest | null;
  readonly concordance: PairedTest | null;
  readonly ibs: PairedTest | null;
}

export interface HeldRealResult {
  readonly table: HeldRealTable;
  /** Those that have every system. */
  readonly splits: number;
  readonly means: readonly HeldRealMeans[];
  readonly groups: readonly HeldRealGroup[];
  readonly changes: readonly HeldRealChange[];
}

export interface HeldRealSummary {
  readonly plan: HeldRealPlan;
  readonly lines: number;
  readonly planned: number;
  /** Tables that have a split with every system. */
  readonly results: readonly HeldRealResult[];
}

/** At-risk distance that a perfect model has on average, and the default slack. */
const SLACK = 1;

export function summariseHeldReal(plan: HeldRealPlan, all: readonly HeldRealLine[]): HeldRealSummary {
  const runs = expandHeldRealPlan(plan);
  const lines = all.filter((line) => runs.some((run) => sameHeldRealRun(run, line)));
  return {
    plan,
    lines: lines.length,
    planned: runs.length,
    results: plan.tables.flatMap((table) => {
      const own = lines.filter((line) => line.table === table.name && line.by === table.by);
      const complete = own.filter(({ seed }) =>
        plan.systems.every((system) => own.some((line) => line.seed === seed && line.system === system)),
      );
      return complete.length === 0 ? [] : [describeTable(plan, table, complete)];
    }),
  };
}

function describeTable(
  { systems }: HeldRealPlan,
  table: HeldRealTable,
  lines: readonly HeldRealLine[],
): HeldRealResult {
  const of = (system: TrainedSystem) =>
    lines.filter((line) => line.system === system).sort((a, b) => a.seed - b.seed);
  const holding = systems.filter((system) => system.startsWith("held"));
  return {
    table,
    splits: of(systems[0]).length,
    means: systems.map((system) => ({
      system,
      worstGap: mean(of(system).map(({ worstGap }) => worstGap)),
      concordance: mean(of(system).map(({ concordance }) => concordance)),
      ibs: mean(of(system).map(({ ibs }) => ibs)),
    })),
    groups: table.held.map((_, g) => describeGroup(systems, of, g)),
    changes: holding.map((system) => {
      const compare = (read: (line: HeldRealLine) => number) => compareSplits(of(system), of("free"), read);
      return {
        system,
        gaps: table.held.map((_, g) => compare(({ groups }) => groups[g].gap)),
        worstGap: compare(({ worstGap }) => worstGap),
        concordance: compare(({ concordance }) => concordance),
        ibs: compare(({ ibs }) => ibs),
      };
    }),
  };
}

function describeGroup(
  systems: readonly TrainedSystem[],
  of: (system: TrainedSystem) => readonly HeldRealLine[],
  g: number,
): HeldRealGroup {
  const scoresOf = (system: TrainedSystem) => of(system).map(({ groups }) => groups[g]);
  const held = scoresOf("held");
  const tried = held.filter(({ before }) => typeof before === "number");
  return {
    group: held[0].group,
    n: mean(held.map(({ n }) => n)),
    events: mean(held.map(({ events }) => events)),
    auc: mean(held.flatMap(({ auc }) => (typeof auc === "number" ? [auc] : []))),
    tell: mostOften(held.flatMap(({ tells = [] }) => tells.slice(0, 1))),
    chance: binomialRange(held.length, LEVEL).high,
    tried: tried.length,
    within: tried.filter(({ before }) => (before ?? SLACK) <= SLACK).length,
    means: systems.map((system) => {
      const scores = scoresOf(system);
      const square = (read: (one: (typeof scores)[number]) => number) =>
        mean(scores.map((one) => read(one) ** 2));
      const [gap, noise] = [square((one) => one.gap), square((one) => one.noise)];
      const isHeld = scores.every(({ status }) => status !== undefined);
      return {
        system,
        gap: Math.sqrt(gap),
        noise: Math.sqrt(noise),
        beyond: Math.sqrt(Math.max(0, gap - noise)),
        off: scores.filter(({ p }) => p < LEVEL).length,
        atRisk: mean(scores.map(({ atRisk }) => atRisk)),
        met: isHeld ? scores.filter(({ status }) => status === "met").length : null,
        refuted: isHeld ? scores.filter(({ freshP }) => (freshP ?? 1) < LEVEL).length : null,
      };
    }),
  };
}

function compareSplits(
  a: readonly HeldRealLine[],
  b: readonly HeldRealLine[],
  read: (line: HeldRealLine) => number,
): PairedTest | null {
  const { train: trainSize, test: testSize } = a[0].rows;
  const tested = correctedResampledT(
    a.map((line, k) => read(line) - read(b[k])),
    { trainSize, testSize },
  );
  return isAbsent(tested) ? null : tested;
}

function mostOften(names: readonly string[]): string {
  const count = (name: string) => names.filter((one) => one === name).length;
  return names.reduce((most, name) => (count(name) > count(most) ? name : most), names[0] ?? "");
}
