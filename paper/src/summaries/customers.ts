/** What the page on customers shows: means over seeds by size and system, and tests of graduate against the others. */
import { isAbsent } from "graduate-survival/core";
import { pairedT } from "graduate-survival/stats";
import {
  CUSTOMER_SYSTEMS,
  type CustomerGroup,
  type CustomerLine,
  type CustomerSystem,
  type CustomersPlan,
  expandCustomersPlan,
} from "../studies/customers.ts";
import { type Estimate, estimate, mean } from "./summary.ts";

export const CUSTOMER_SCORES = ["worst", "average", "ise", "months"] as const;
export type CustomerScore = (typeof CUSTOMER_SCORES)[number];

export interface CustomerRow {
  readonly system: CustomerSystem;
  readonly seeds: number;
  readonly scores: Readonly<Record<CustomerScore, Estimate>>;
  /** graduate less this system, and its p; null for graduate itself and where it cannot be tested. */
  readonly differences: Readonly<Record<CustomerScore, { readonly mean: number; readonly p: number } | null>>;
}

/** One group under every system. */
export interface CustomerGroupRow {
  readonly group: string;
  readonly trueMonths: number;
  readonly months: Readonly<Record<CustomerSystem, number | null>>;
}

export interface CustomersSize {
  readonly rows: number;
  readonly systems: readonly CustomerRow[];
  readonly groups: readonly CustomerGroupRow[];
}

export interface CustomersSummary {
  readonly plan: CustomersPlan;
  readonly planned: number;
  readonly made: number;
  readonly sizes: readonly CustomersSize[];
}

/** Over the named groups; months: the mean distance of a group's predicted lifetime from the true one. */
const READ: Readonly<Record<CustomerScore, (line: CustomerLine) => number>> = {
  worst: (line) => Math.max(...named(line).map(({ A }) => A)),
  average: (line) => mean(named(line).map(({ A }) => A)),
  ise: ({ ise }) => ise,
  months: (line) => mean(named(line).map(({ months, trueMonths }) => Math.abs(months - trueMonths))),
};

function named({ groups }: CustomerLine): CustomerGroup[] {
  return Object.entries(groups).flatMap(([name, group]) => (name === "all" ? [] : [group]));
}

export function summariseCustomers(plan: CustomersPlan, lines: readonly CustomerLine[]): CustomersSummary {
  const planned = expandCustomersPlan(plan);
  const isPlanned = (line: CustomerLine) =>
    planned.some((run) => run.seed === line.seed && run.rows === line.rows && run.system === line.system);
  const made = lines.filter(isPlanned);
  const sizes = plan.rows.flatMap((rows) => {
    const own = made.filter((line) => line.rows === rows);
    return own.length === 0 ? [] : [summariseSize(rows, own)];
  });
  return { plan, planned: planned.length, made: made.length, sizes };
}

function summariseSize(rows: number, lines: readonly CustomerLine[]): CustomersSize {
  const of = (system: CustomerSystem) => lines.filter((line) => line.system === system);
  const systems = CUSTOMER_SYSTEMS.filter((system) => of(system).length > 0).map((system): CustomerRow => {
    const over = <Value>(read: (score: CustomerScore) => Value) =>
      Object.fromEntries(CUSTOMER_SCORES.map((score) => [score, read(score)])) as Record<
        CustomerScore,
        Value
      >;
    return {
      system,
      seeds: of(system).length,
      scores: over((score) => estimate(of(system).map(READ[score]))),
      differences: over((score) =>
        system === "graduate" ? null : compare(of("graduate"), of(system), score),
      ),
    };
  });
  const names = Object.keys(lines[0].groups).filter((name) => name !== "all");
  const monthsOf = (system: CustomerSystem, group: string) =>
    of(system).length === 0 ? null : mean(of(system).map(({ groups }) => groups[group].months));
  return {
    rows,
    systems,
    groups: names.map((group) => ({
      group,
      trueMonths: mean(lines.map(({ groups }) => groups[group].trueMonths)),
      months: Object.fromEntries(
        CUSTOMER_SYSTEMS.map((system) => [system, monthsOf(system, group)]),
      ) as CustomerGroupRow["months"],
    })),
  };
}

/** Paired by seed: cohorts share nobody. */
function compare(own: readonly CustomerLine[], other: readonly CustomerLine[], score: CustomerScore) {
  const differences = own.flatMap((line) => {
    const beside = other.find(({ seed }) => seed === line.seed);
    return beside === undefined ? [] : [READ[score](line) - READ[score](beside)];
  });
  const test = pairedT(differences);
  return isAbsent(test) ? null : { mean: mean(differences), p: test.p };
}
