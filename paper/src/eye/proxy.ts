/**
 * Simulated people whose protected group a model may not see, with one more column that hints at it:
 *   proxy = strength · 1[in the group] + standard normal noise.
 * The group is Malay people in 1-2 room housing, whose hazards the law changes; race and housing are protected and
 * never features. Neither are visits and bmi, which follow the two most closely and do not enter the hazard: with them
 * the law alone tells the group with an area under the ROC curve of .72, without visits .60, without both .57. The
 * four levels therefore differ in the strength alone. Areas are of a logistic regression on all features
 * (membership.ts), fitted on 100,000 people and judged on 100,000 others, the mean of two such pairs (seeds 11 to 14);
 * fitted on 12,000 they are up to .03 lower at the lowest level and .01 at the others. The noise has its own stream of
 * the cohort's seed: a person and his noise are the same at every level.
 */
import { createRandom, InputError } from "graduate-survival/core";
import { type Group, type NumberColumn, resolveGroups, type Table } from "graduate-survival/data";
import { membershipArea } from "./membership.ts";
import type { EyeCohort } from "./simulate.ts";

export const PROTECTED_COLUMNS = ["race", "housing"] as const;
export const PROTECTED_GROUP: Group = {
  name: "Malay in 1-2 room housing",
  expression: "race = 'Malay' and housing = '1-2 room'",
};
export const PROXY_COLUMN = "proxy";
/** Beside the cohort's own stream, and none that a training run uses. */
const PROXY_STREAM = 0x9e0c;
const OUTCOME = ["time", "event"];

/** Columns that are no features at any level, beside the protected ones. */
export const LEFT_OUT = ["visits", "bmi"] as const;

export interface ProxyLevel {
  /** The area it stands for, by which it is named. */
  readonly area: number;
  readonly strength: number;
  /** The area that was measured. */
  readonly measured: number;
}

/** At the lowest level the column is noise: the law's other features, HbA1c above all, already tell that much. */
export const PROXY_LEVELS: readonly ProxyLevel[] = [
  { area: 0.55, strength: 0, measured: 0.567 },
  { area: 0.7, strength: 0.7, measured: 0.699 },
  { area: 0.88, strength: 1.64, measured: 0.88 },
  { area: 0.96, strength: 2.46, measured: 0.96 },
];

/** The level of that name. */
export function proxyLevel(area: number): ProxyLevel {
  const found = PROXY_LEVELS.find((level) => level.area === area);
  if (found !== undefined) return found;
  const known = PROXY_LEVELS.map((level) => level.area).join(", ");
  throw new InputError(`no such level of the proxy: ${area} (have ${known})`, { code: "proxy.level" });
}

/** 1 for members of the protected group. */
export function protectedMembers(table: Table): Uint8Array {
  const member = new Uint8Array(table.rows);
  const [{ rows }] = resolveGroups([PROTECTED_GROUP], table, { unknownLevels: "allow" });
  for (const row of rows) member[row] = 1;
  return member;
}

/** The column of all people of a cohort, whose seed it is. */
export function drawProxy(table: Table, seed: number, strength: number): NumberColumn {
  const random = createRandom(seed, PROXY_STREAM);
  const values = Float64Array.from(protectedMembers(table), (member) => strength * member + random.normal());
  return { name: PROXY_COLUMN, type: "number", values };
}

/** The table with a proxy as its last column. */
export function addProxy(table: Table, proxy: NumberColumn): Table {
  return { ...table, columns: [...table.columns, proxy] };
}

/** What a model may learn from: never race or housing. */
export function proxyFeatures(table: Table): string[] {
  const hidden: readonly string[] = [...PROTECTED_COLUMNS, ...LEFT_OUT, ...OUTCOME];
  return table.columns.map(({ name }) => name).filter((name) => !hidden.includes(name));
}

/** How well the features of a level tell the group: fitted on one cohort, judged on another. */
export function measureProxy(strength: number, fitted: EyeCohort, judged: EyeCohort): number {
  const [from, on] = [fitted, judged].map(({ table, settings }) => ({
    table: addProxy(table, drawProxy(table, settings.seed, strength)),
    member: protectedMembers(table),
  }));
  return membershipArea(from, on, proxyFeatures(from.table));
}
