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
import { mean } from "./summary.ts";

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
  readonly wishes: readonly HeldWish[];
}

export function summariseHeld(plan: HeldPlan, all: readonly HeldLine[]): HeldSummary {
  const runs = expandHeldPlan(plan);
  const lines = all.filter((line) => runs.some((run) => sameHeldRun(run, line)));
  const sizes = [...plan.rows].sort((one, other) => other - one);
  const at = (rows: number) => (run: HeldRun) => run.rows === rows;
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
    wishes: sizes.flatMap((rows) =>
      plan.strengths.flatMap((strength) =>
        judge(
          rows,
          strength,
          lines.filter((line) => line.rows === rows && line.strength === strength),
        ),
      ),
    ),
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

/** "held" against "free" on the seeds that have both. */
function judge(rows: number, strength: number, lines: readonly HeldLine[]): HeldWish[] {
  const pairs = lines
    .filter(({ system }) => system === "held")
    .flatMap((held) => {
      const free = lines.find((line) => line.system === "free" && line.seed === held.seed);
      return free === undefined ? [] : [{ held, free }];
    });
  if (pairs.length === 0) return [];
  const where = `${rows} people, ${strength}`;
  const [held, free] = (["held", "free"] as const).map(
    (key) =>
      describe(
        key,
        pairs.map((pair) => pair[key]),
      )[0],
  );
  if (strength < TOLD_TOO_LITTLE) {
    const left = pairs.filter((pair) => pair.held.protectedError === pair.free.protectedError).length;
    const said = held.infeasible ?? 0;
    return [
      {
        what: `${where}: the group is left alone, and the run says infeasible`,
        measured: `left alone in ${left}, said in ${said} of ${pairs.length}`,
        isMet: left === pairs.length && said === pairs.length,
      },
    ];
  }
  const wanted = WANTED.get(strength);
  if (wanted === undefined || rows < WANTED_ROWS) return [];
  const [error, ise] = [held.protectedError / free.protectedError, held.ise / free.ise];
  const lost = free.concordance - held.concordance;
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
