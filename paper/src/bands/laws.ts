/**
 * The laws that simulate a table as text: its people, their true curves, which columns are outcomes, how long people
 * are followed at most, and the groups that a model is held to (studies/bands-cohorts.ts draws cohorts of them).
 */
import { CLINIC_MONTHS, CLINICS, type Patient, relapseFree, STAGES, simulateClinics } from "./clinic-law.ts";
import { GRAFT_MONTHS, graftWorks, type Recipient, simulateGrafts } from "./graft-law.ts";
import { type Borrower, HOMES, keptUp, LOAN_MONTHS, simulateLoans } from "./loan-law.ts";
import { BRANCHES, CLUB_MONTHS, type ClubMember, simulateMembers, stillMember } from "./member-law.ts";
import { SEEKER_MONTHS, type Seeker, simulateSeekers, stillSeeking, TRADES } from "./seeker-law.ts";
import { alive, HOSPITALS, simulateValves, VALVE_MONTHS, type ValvePatient } from "./valve-law.ts";
import { simulateWards, stillAway, WARD_DAYS, WARDS, type WardPatient } from "./ward-law.ts";

export interface Law<Person> {
  readonly simulate: (
    n: number,
    seed: number,
  ) => {
    readonly people: readonly Person[];
    /** When everyone's event comes, seen or not. */
    readonly eventTime: Float64Array; // [n]
    readonly text: string;
  };
  /** True S(t|x). */
  readonly survival: (person: Person, times: ArrayLike<number>) => Float64Array;
  readonly outcome: { readonly time: string; readonly event: string; readonly horizon: number };
  readonly groups: readonly string[];
}

const SEXES = ["sex = f", "sex = m"] as const;

const clinics: Law<Patient> = {
  simulate: simulateClinics,
  survival: relapseFree,
  outcome: { time: "months", event: "relapse", horizon: CLINIC_MONTHS },
  groups: [
    ...SEXES,
    ...STAGES.map((stage) => `stage = ${stage}`),
    ...CLINICS.map((clinic) => `clinic = ${clinic}`),
    "treated = 1",
    "smoker = 1",
    "age < 55",
    "age >= 75",
  ],
};

const wards: Law<WardPatient> = {
  simulate: simulateWards,
  survival: stillAway,
  outcome: { time: "time", event: "back", horizon: WARD_DAYS },
  groups: [
    ...SEXES,
    ...WARDS.map((ward) => `ward = ${ward}`),
    "alone = 1",
    "drug = 1",
    "age < 50",
    "age >= 80",
  ],
};

const grafts: Law<Recipient> = {
  simulate: simulateGrafts,
  survival: graftWorks,
  outcome: { time: "months", event: "lost", horizon: GRAFT_MONTHS },
  groups: [
    ...SEXES,
    "delayed = 1",
    "living = 1",
    "age < 30",
    "age >= 65",
    "donor_age >= 60",
    "mismatches >= 4",
  ],
};

const loans: Law<Borrower> = {
  simulate: simulateLoans,
  survival: keptUp,
  outcome: { time: "months", event: "behind", horizon: LOAN_MONTHS },
  groups: [
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
  ],
};

const seekers: Law<Seeker> = {
  simulate: simulateSeekers,
  survival: stillSeeking,
  outcome: { time: "months", event: "found", horizon: SEEKER_MONTHS },
  groups: [
    ...SEXES,
    ...TRADES.map((trade) => `trade = ${trade}`),
    "course = 1",
    "city = 1",
    "school >= 15",
    "age < 25",
    "age >= 55",
    "children >= 2",
    "benefit <= 6",
  ],
};

const valves: Law<ValvePatient> = {
  simulate: simulateValves,
  survival: alive,
  outcome: { time: "months", event: "died", horizon: VALVE_MONTHS },
  groups: [
    ...SEXES,
    "operated = 1",
    ...HOSPITALS.map((hospital) => `hospital = ${hospital}`),
    "diabetes = 1",
    "lung = 1",
    "age < 70",
    "age >= 85",
    "frailty >= 4",
  ],
};

const members: Law<ClubMember> = {
  simulate: simulateMembers,
  survival: stillMember,
  outcome: { time: "months", event: "left", horizon: CLUB_MONTHS },
  groups: [
    ...SEXES,
    ...BRANCHES.map((branch) => `branch = ${branch}`),
    "contract = 1",
    "discount = 1",
    "friend = 1",
    "age < 25",
    "age >= 50",
    "way >= 5",
    "joined = 1",
  ],
};

export const LAWS = { clinics, wards, grafts, loans, seekers, valves, members } as const;
