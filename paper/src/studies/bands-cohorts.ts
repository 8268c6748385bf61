/**
 * The cohorts on which bands are chosen and judged (studies/bands.ts): a table to learn from, its groups, fresh people of
 * the same law and their true curves. The laws: "eye" (paper/src/eye, level 2, people drop out by housing, age and
 * HbA1c), "clinics", "wards", "grafts" and "loans" (paper/src/bands).
 */
import {
  ALL_GROUP,
  type Group,
  groupsFromFile,
  parseGroupsFile,
  readTable,
  type Split,
  splitRows,
  type Table,
  tableSourceFromBytes,
} from "graduate/data";
import { CLINIC_MONTHS, CLINICS, relapseFree, STAGES, simulateClinics } from "../bands/clinic-law.ts";
import { GRAFT_MONTHS, graftWorks, simulateGrafts } from "../bands/graft-law.ts";
import { HOMES, keptUp, LOAN_MONTHS, simulateLoans } from "../bands/loan-law.ts";
import { simulateWards, stillAway, WARD_DAYS, WARDS } from "../bands/ward-law.ts";
import { simulateEye } from "../eye/simulate.ts";
import { readCheckout } from "../runs/checkout.ts";

export const BAND_LAWS = ["eye", "clinics", "wards", "grafts", "loans"] as const;
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

export async function drawBandCohort(
  law: BandLaw,
  { rows, fresh, seed }: { readonly rows: number; readonly fresh: number; readonly seed: number },
): Promise<BandCohort> {
  const draw = {
    eye: drawEyes,
    clinics: drawClinics,
    wards: drawWards,
    grafts: drawGrafts,
    loans: drawLoans,
  }[law];
  return draw(rows, fresh, seed);
}

function named(text: string, where: string, table: Table, split: Split, exclude: string[]): Group[] {
  const groups = groupsFromFile(parseGroupsFile(text, where), table, split.train, { exclude });
  return groups.filter(({ name }) => name !== ALL_GROUP.name);
}

function drawEyes(rows: number, fresh: number, seed: number): BandCohort {
  const settings = { level: 2, censoring: "dependent" } as const;
  const { table } = simulateEye({ ...settings, seed, n: rows });
  const people = simulateEye({ ...settings, seed: seed + FRESH_SEEDS, n: fresh });
  const split = splitRows(rows, { seed, fractions: FRACTIONS });
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

/** Sex, stages, clinics, treatment, smoking and three ages. */
export function writeClinicGroups(): string {
  const where = [
    "sex = f",
    "sex = m",
    ...STAGES.map((stage) => `stage = ${stage}`),
    ...CLINICS.map((clinic) => `clinic = ${clinic}`),
    "treated = 1",
    "smoker = 1",
    "age < 55",
    "age >= 75",
  ];
  return JSON.stringify({ groups: where.map((one) => ({ where: one })) });
}

/** Sex, wards, living alone, the drug and three ages. */
function writeWardGroups(): string {
  const where = [
    "sex = f",
    "sex = m",
    ...WARDS.map((ward) => `ward = ${ward}`),
    "alone = 1",
    "drug = 1",
    "age < 50",
    "age >= 80",
  ];
  return JSON.stringify({ groups: where.map((one) => ({ where: one })) });
}

/** Sex, a delayed start, a living donor, two ages of the recipient, one of the donor, and many mismatches. */
function writeGraftGroups(): string {
  const where = [
    "sex = f",
    "sex = m",
    "delayed = 1",
    "living = 1",
    "age < 30",
    "age >= 65",
    "donor_age >= 60",
    "mismatches >= 4",
  ];
  return JSON.stringify({ groups: where.map((one) => ({ where: one })) });
}

/** Low first instalments, homes, loans for two, two purposes, two ages, high debts, low income and late payments. */
function writeLoanGroups(): string {
  const where = [
    "low_start = 1",
    ...HOMES.map((home) => `home = ${home}`),
    "joint = 1",
    "purpose = debts",
    "purpose = shop",
    "age < 30",
    "age >= 60",
    "debts >= 0.4",
    "income < 25",
    "late >= 2",
  ];
  return JSON.stringify({ groups: where.map((one) => ({ where: one })) });
}

const open = (text: string) => readTable(tableSourceFromBytes("people.csv", new TextEncoder().encode(text)));

/** True curves of people, one after the other. */
function truthOf<Person>(
  people: readonly Person[],
  curveOf: (person: Person, times: ArrayLike<number>) => Float64Array,
): BandCohort["truth"] {
  return (times) => {
    const truth = new Float64Array(people.length * times.length);
    people.forEach((one, n) => {
      truth.set(curveOf(one, times), n * times.length);
    });
    return truth;
  };
}

async function drawWards(rows: number, fresh: number, seed: number): Promise<BandCohort> {
  const table = await open(simulateWards(rows, seed).text);
  const people = simulateWards(fresh, seed + FRESH_SEEDS);
  const split = splitRows(rows, { seed, fractions: FRACTIONS });
  return {
    table,
    split,
    groups: named(writeWardGroups(), "groups.json", table, split, ["time", "back"]),
    outcome: { time: "time", event: "back", horizon: WARD_DAYS },
    fresh: await open(people.text),
    eventTime: people.eventTime,
    truth: truthOf(people.people, stillAway),
  };
}

async function drawClinics(rows: number, fresh: number, seed: number): Promise<BandCohort> {
  const table = await open(simulateClinics(rows, seed).text);
  const people = simulateClinics(fresh, seed + FRESH_SEEDS);
  const split = splitRows(rows, { seed, fractions: FRACTIONS });
  return {
    table,
    split,
    groups: named(writeClinicGroups(), "groups.json", table, split, ["months", "relapse"]),
    outcome: { time: "months", event: "relapse", horizon: CLINIC_MONTHS },
    fresh: await open(people.text),
    eventTime: people.eventTime,
    truth: truthOf(people.people, relapseFree),
  };
}

async function drawGrafts(rows: number, fresh: number, seed: number): Promise<BandCohort> {
  const table = await open(simulateGrafts(rows, seed).text);
  const people = simulateGrafts(fresh, seed + FRESH_SEEDS);
  const split = splitRows(rows, { seed, fractions: FRACTIONS });
  return {
    table,
    split,
    groups: named(writeGraftGroups(), "groups.json", table, split, ["months", "lost"]),
    outcome: { time: "months", event: "lost", horizon: GRAFT_MONTHS },
    fresh: await open(people.text),
    eventTime: people.eventTime,
    truth: truthOf(people.people, graftWorks),
  };
}

async function drawLoans(rows: number, fresh: number, seed: number): Promise<BandCohort> {
  const table = await open(simulateLoans(rows, seed).text);
  const people = simulateLoans(fresh, seed + FRESH_SEEDS);
  const split = splitRows(rows, { seed, fractions: FRACTIONS });
  return {
    table,
    split,
    groups: named(writeLoanGroups(), "groups.json", table, split, ["months", "behind"]),
    outcome: { time: "months", event: "behind", horizon: LOAN_MONTHS },
    fresh: await open(people.text),
    eventTime: people.eventTime,
    truth: truthOf(people.people, keptUp),
  };
}
