/**
 * The cohorts on which bands are chosen and judged (studies/bands.ts): a table to learn from, its groups, fresh people of
 * the same law and their true curves. The laws: "eye" (paper/src/eye, level 2, people drop out by housing, age and
 * HbA1c) and those of paper/src/bands/laws.ts.
 */
import {
  ALL_GROUP,
  type Group,
  groupsFromFile,
  parseGroupsFile,
  readTable,
  type Split,
  splitByOrder,
  type Table,
  tableSourceFromBytes,
} from "graduate-survival/data";
import { LAWS, type Law } from "../bands/laws.ts";
import { simulateEye } from "../eye/simulate.ts";
import { readCheckout } from "../runs/checkout.ts";

export const BAND_LAWS = [
  "eye",
  "clinics",
  "wards",
  "grafts",
  "loans",
  "seekers",
  "valves",
  "members",
] as const;
export type BandLaw = (typeof BAND_LAWS)[number];

export interface BandCohort {
  readonly table: Table;
  readonly split: Split;
  readonly groups: readonly Group[];
  readonly outcome: { readonly time: string; readonly event: string; readonly horizon?: number };
  /** Fresh people: nobody of the table. */
  readonly fresh: Table;
  /** True S(t|x) of the fresh people. */
  readonly truth: (times: ArrayLike<number>) => Float64Array; // [N,times]
  /** When their events come, followed or not. */
  readonly eventTime: Float64Array; // [N]
}

const FRACTIONS = [0.6, 0.2, 0.2] as const;
/** Fresh people are drawn by the seed and this. */
const FRESH_SEEDS = 1_000_000;

interface CohortSize {
  readonly rows: number;
  readonly fresh: number;
  readonly seed: number;
}

export async function drawBandCohort(law: BandLaw, size: CohortSize): Promise<BandCohort> {
  switch (law) {
    case "eye":
      return drawEyes(size);
    case "clinics":
      return drawLaw(LAWS.clinics, size);
    case "wards":
      return drawLaw(LAWS.wards, size);
    case "grafts":
      return drawLaw(LAWS.grafts, size);
    case "loans":
      return drawLaw(LAWS.loans, size);
    case "seekers":
      return drawLaw(LAWS.seekers, size);
    case "valves":
      return drawLaw(LAWS.valves, size);
    case "members":
      return drawLaw(LAWS.members, size);
  }
}

function named(text: string, where: string, table: Table, split: Split, exclude: string[]): Group[] {
  const groups = groupsFromFile(parseGroupsFile(text, where), table, split.train, { exclude });
  return groups.filter(({ name }) => name !== ALL_GROUP.name);
}

function drawEyes({ rows, fresh, seed }: CohortSize): BandCohort {
  const settings = { level: 2, censoring: "dependent" } as const;
  const { table } = simulateEye({ ...settings, seed, n: rows });
  const people = simulateEye({ ...settings, seed: seed + FRESH_SEEDS, n: fresh });
  const split = splitByOrder(rows, { seed, fractions: FRACTIONS });
  const path = "paper/eye-groups.json";
  return {
    table,
    split,
    groups: named(readCheckout(path), path, table, split, ["time", "event"]),
    outcome: { time: "time", event: "event" },
    fresh: people.table,
    truth: (times) => people.trueSurvival(times),
    eventTime: people.eventTime,
  };
}

const open = (text: string) => readTable(tableSourceFromBytes("people.csv", new TextEncoder().encode(text)));

async function drawLaw<Person>(
  { simulate, survival, outcome, groups }: Law<Person>,
  { rows, fresh, seed }: CohortSize,
): Promise<BandCohort> {
  const table = await open(simulate(rows, seed).text);
  const drawn = simulate(fresh, seed + FRESH_SEEDS);
  const split = splitByOrder(rows, { seed, fractions: FRACTIONS });
  const text = JSON.stringify({ groups: groups.map((where) => ({ where })) });
  return {
    table,
    split,
    groups: named(text, "groups.json", table, split, [outcome.time, outcome.event]),
    outcome,
    fresh: await open(drawn.text),
    eventTime: drawn.eventTime,
    truth: (times) => truthOf(drawn.people, survival, times),
  };
}

/** True curves of people, one after the other. */
function truthOf<Person>(
  people: readonly Person[],
  survival: Law<Person>["survival"],
  times: ArrayLike<number>,
): Float64Array {
  const truth = new Float64Array(people.length * times.length);
  people.forEach((one, n) => {
    truth.set(survival(one, times), n * times.length);
  });
  return truth;
}
