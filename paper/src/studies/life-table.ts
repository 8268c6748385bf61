/**
 * Targets from a life table for real people: 500 of flchain train, Minnesota's life table says by age band and sex how
 * many of the whole population would live (paper/life-table), and the remaining people judge. The study's people are
 * of one county, so targets may clash with them: clashes are counted, and held all the same.
 */
import type { Backend } from "graduate-survival";
import { InputError } from "graduate-survival/core";
import {
  type Group,
  joinRows,
  parseTargets,
  pickOutcomes,
  readOutcomes,
  splitByOrder,
  type Table,
} from "graduate-survival/data";
import { MINIMUM_EVENTS, testClash } from "graduate-survival/stats";
import { readCheckout, VERSION } from "../runs/checkout.ts";
import { auditRows, fitModel, membersAmong } from "../runs/fit.ts";
import { mean } from "../summaries/summary.ts";
import { round, secondsSince } from "./lines.ts";
import {
  describeClashes,
  type FlchainTargetLine,
  type TargetRun,
  type TargetsPlan,
  targetRequest,
} from "./targets.ts";

const COLUMNS = { time: "futime", event: "death" } as const;

const BANDS = [
  { name: "under 60", where: "age < 60" },
  { name: "60 to 69", where: "60 <= age < 70" },
  { name: "70 to 79", where: "70 <= age < 80" },
  { name: "80 and over", where: "age >= 80" },
];
const SEXES = [
  { name: "women", where: "sex = 'F'" },
  { name: "men", where: "sex = 'M'" },
];

/** Age bands by sex, by the names that the targets use. */
export const LIFE_TABLE_GROUPS: readonly Group[] = SEXES.flatMap((sex) =>
  BANDS.map((band) => ({
    name: `${sex.name} aged ${band.name}`,
    expression: `${sex.where} and ${band.where}`,
  })),
);

export type RunFlchain = (run: TargetRun) => Promise<FlchainTargetLine>;

export function createFlchainRunner(
  { flchain: plan }: TargetsPlan,
  table: Table,
  backend: Backend,
): RunFlchain {
  const targets = parseTargets(readCheckout(plan.targets), { name: plan.targets });
  const outcomes = readOutcomes(table, COLUMNS);
  const { drop } = plan;
  const share = plan.rows / table.rows;
  return async ({ seed, system }) => {
    const fractions = [share * (1 - plan.validation), share * plan.validation, 1 - share] as const;
    const split = splitByOrder(table.rows, { seed, fractions });
    const started = performance.now();
    const request = { ...COLUMNS, drop, groups: LIFE_TABLE_GROUPS, split, seed };
    const model = await fitModel(table, { ...request, ...targetRequest(system, targets) }, backend);
    const seconds = secondsSince(started);
    const { overall, groups } = await auditRows(model, table, split.test, LIFE_TABLE_GROUPS, backend);
    const eces = groups.map(({ name, events, paper: { ece } }) => {
      return [name, events < MINIMUM_EVENTS || ece === null ? null : round(ece, 6)] as const;
    });
    const local = joinRows(split.train, split.validation);
    const members = membersAmong(LIFE_TABLE_GROUPS, table, local);
    return {
      cohort: "flchain",
      seed,
      system,
      concordance: round(present(overall.concordance), 6),
      ibs: round(present(overall.ibs), 6),
      ece: round(present(overall.paper.ece), 6),
      groupEce: round(mean(eces.flatMap(([, ece]) => (ece === null ? [] : [ece]))), 6),
      groupEces: Object.fromEntries(eces),
      clashes: describeClashes(testClash(pickOutcomes(outcomes, local), members, targets)),
      seconds,
      version: VERSION,
    };
  };
}

function present(value: number | null): number {
  if (value !== null) return value;
  throw new InputError("the remaining people are too few to judge", { code: "plan.size" });
}
