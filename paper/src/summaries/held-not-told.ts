/**
 * The contents of the page on a group that is held and not told: means over the seeds that have a line, and what was
 * wanted of them before any seed of the plan was run.
 */
import {
  expandHeldPlan,
  type HeldLine,
  type HeldPlan,
  type HeldRun,
  sameHeldRun,
} from "../studies/held-not-told.ts";
import type { HeldSystem } from "../studies/held-systems.ts";
import { type Estimate, estimate, mean } from "./summary.ts";

/** At most these shares of the group's error and of everyone's ISE without holding, and this loss of C, by strength. */
const WANTED: ReadonlyMap<
  number,
  { readonly error: number; readonly ise: number; readonly concordance: number }
> = new Map([
  [0.88, { error: 0.5, ise: 1.6, concordance: 0.005 }],
  [0.96, { error: 0.5, ise: 1.2, concordance: 0.002 }],
]);
/** The size that this was wanted at. */
const WANTED_ROWS = 20000;
/** Below it the group is left alone. */
const TOLD_TOO_LITTLE = 0.6;

/** A system at one strength and size. */
export interface HeldMeans {
  readonly system: HeldSystem;
  readonly seeds: number;
  readonly protectedError: number;
  readonly worstError: number;
  readonly everyoneError: number;
  readonly ise: number;
  readonly concordance: number;
  /** In how many of the seeds the run said so; null for systems that hold nothing. */
  readonly infeasible: number | null;
}

export interface HeldCell {
  readonly strength: number;
  readonly rows: number;
  readonly means: readonly HeldMeans[];
}

/** What holding buys and costs at one strength and size, over the seeds that have "free" and "held". */
export interface HeldPrice {
  readonly strength: number;
  readonly rows: number;
  readonly seeds: number;
  /** The group's A under every system that has all of these seeds. */
  readonly errors: readonly { readonly system: HeldSystem; readonly error: Estimate }[];
  /** Of "held" over that of "free", ratios of means. */
  readonly errorRatio: number;
  readonly iseRatio: number;
  /** C of "held" less that of "free". */
  readonly concordance: number;
  /** Seeds in which "held" is "free" for the group, and in which it said infeasible. */
  readonly leftAlone: number;
  readonly infeasible: number;
}

/** Something that was wanted, and what came of it. */
export interface HeldWish {
  readonly what: string;
  readonly measured: string;
  readonly isMet: boolean;
}

export interface HeldSummary {
  readonly plan: HeldPlan;
  readonly lines: number;
  readonly planned: number;
  /** For each size: the lines there are and the seeds that have all of their lines. */
  readonly progress: readonly { readonly rows: number; readonly lines: number; readonly planned: number }[];
  /** Largest size first, then by strength; only those with lines. */
  readonly cells: readonly HeldCell[];
  /** In the same order. */
  readonly prices: readonly HeldPrice[];
  readonly wishes: readonly HeldWish[];
}

export function summariseHeld(plan: HeldPlan, all: readonly HeldLine[]): HeldSummary {
  const runs = expandHeldPlan(plan);
  const lines = all.filter((line) => runs.some((run) => sameHeldRun(run, line)));
  const sizes = [...plan.rows].sort((one, other) => other - one);
  const at = (rows: number) => (run: HeldRun) => run.rows === rows;
  const prices = sizes.flatMap((rows) =>
    plan.strengths.flatMap((strength) => priceOf({ rows, strength }, plan.systems, lines)),
  );
  return {
    plan,
    lines: lines.length,
    planned: runs.length,
    progress: sizes.map((rows) => ({
      rows,
      lines: lines.filter(at(rows)).length,
      planned: runs.filter(at(rows)).length,
    })),
    cells: sizes.flatMap((rows) =>
      plan.strengths.flatMap((strength) => {
        const own = lines.filter((line) => line.rows === rows && line.strength === strength);
        const means = plan.systems.flatMap((system) =>
          describe(
            system,
            own.filter((line) => line.system === system),
          ),
        );
        return means.length === 0 ? [] : [{ strength, rows, means }];
      }),
    ),
    prices,
    wishes: prices.flatMap(judge),
  };
}

function describe(system: HeldSystem, lines: readonly HeldLine[]): HeldMeans[] {
  if (lines.length === 0) return [];
  const over = (read: (line: HeldLine) => number) => mean(lines.map(read));
  const said = lines.flatMap(({ status }) => (status === undefined ? [] : [status]));
  return [
    {
      system,
      seeds: lines.length,
      protectedError: over((line) => line.protectedError),
      worstError: over((line) => line.worstError),
      everyoneError: over((line) => line.everyoneError),
      ise: over((line) => line.ise),
      concordance: over((line) => line.concordance),
      infeasible: said.length === 0 ? null : said.filter((status) => status === "infeasible").length,
    },
  ];
}

function priceOf(
  { rows, strength }: Pick<HeldPrice, "rows" | "strength">,
  systems: readonly HeldSystem[],
  all: readonly HeldLine[],
): HeldPrice[] {
  const lines = all.filter((line) => line.rows === rows && line.strength === strength);
  const find = (system: HeldSystem, seed: number) =>
    lines.find((line) => line.system === system && line.seed === seed);
  const pairs = lines
    .filter(({ system }) => system === "held")
    .flatMap((held) => {
      const free = find("free", held.seed);
      return free === undefined ? [] : [{ held, free }];
    });
  if (pairs.length === 0) return [];
  const over = (system: "held" | "free", key: "protectedError" | "ise" | "concordance") =>
    mean(pairs.map((pair) => pair[system][key]));
  return [
    {
      strength,
      rows,
      seeds: pairs.length,
      errors: systems.flatMap((system) => {
        const own = pairs.flatMap(({ held }) => find(system, held.seed) ?? []);
        return own.length < pairs.length
          ? []
          : [{ system, error: estimate(own.map((line) => line.protectedError)) }];
      }),
      errorRatio: over("held", "protectedError") / over("free", "protectedError"),
      iseRatio: over("held", "ise") / over("free", "ise"),
      concordance: over("held", "concordance") - over("free", "concordance"),
      leftAlone: pairs.filter(({ held, free }) => held.protectedError === free.protectedError).length,
      infeasible: pairs.filter(({ held }) => held.status === "infeasible").length,
    },
  ];
}

/** Whether "held" does against "free" what was wanted of it. */
function judge(price: HeldPrice): HeldWish[] {
  const { rows, strength, seeds, errorRatio: error, iseRatio: ise, leftAlone, infeasible } = price;
  const where = `${rows} people, ${strength}`;
  if (rows < WANTED_ROWS) return [];
  if (strength < TOLD_TOO_LITTLE) {
    return [
      {
        what: `${where}: the group is left alone, and the run says infeasible`,
        measured: `left alone in ${leftAlone}, said in ${infeasible} of ${seeds}`,
        isMet: leftAlone === seeds && infeasible === seeds,
      },
    ];
  }
  const wanted = WANTED.get(strength);
  if (wanted === undefined) return [];
  const lost = -price.concordance;
  const share = (value: number) => value.toFixed(2);
  return [
    {
      what: `${where}: the group's A at most ${share(wanted.error)} of that of *free*`,
      measured: share(error),
      isMet: error <= wanted.error,
    },
    {
      what: `${where}: everyone's ISE at most ${share(wanted.ise)} of that of *free*`,
      measured: share(ise),
      isMet: ise <= wanted.ise,
    },
    {
      what: `${where}: C at most ${wanted.concordance} below that of *free*`,
      measured: `${lost < 0 ? "+" : "−"}${Math.abs(lost).toFixed(4)}`,
      isMet: lost <= wanted.concordance,
    },
  ];
}
