/**
 * Lifetimes of customers by plan and region: the method beyond medicine, on simulated customers whose true curves are
 * known (customers/law.ts). Each system is scored on fresh customers by the error A of group means, by ISE, and by what
 * a company counts: the months that a group's customers stay within a horizon. paper/plans/customers.json is the plan.
 */
import type { Backend } from "graduate-survival";
import {
  ALL_GROUP,
  addGroupColumns,
  type Curves,
  type Group,
  groupsFromFile,
  parseGroupsFile,
  readOutcomes,
  readTable,
  splitByOrder,
  type Table,
  tableSourceFromBytes,
} from "graduate-survival/data";
import { z } from "zod";
import { PLANS, REGIONS, simulateCustomers, staying } from "../customers/law.ts";
import { readCheckout, VERSION } from "../runs/checkout.ts";
import {
  type FitRequest,
  fitDefault,
  joinSplit,
  membersAmong,
  predictTables,
  START,
  timeGridOf,
  trainingSupports,
} from "../runs/fit.ts";
import { createPlanRunner, parseStudyPlan, round, secondsSince } from "./lines.ts";

export const CUSTOMER_SYSTEMS = [
  "cox",
  "cox with group terms",
  "cox with group terms of all rows",
  "start",
  "start of all rows",
  "graduate",
] as const;
export type CustomerSystem = (typeof CUSTOMER_SYSTEMS)[number];

const share = z.number().positive().max(1);
const planSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  seeds: z.strictObject({ from: z.int(), count: z.int().positive() }),
  /** Numbers of customers. */
  rows: z.array(z.int().positive()).min(1),
  split: z.tuple([share, share, share]),
  systems: z.array(z.enum(CUSTOMER_SYSTEMS)),
  /** Months up to which a lifetime is counted. */
  horizon: z.number().positive(),
  truthCustomers: z.int().positive(),
  truthSeedOffset: z.int().positive(),
});
export type CustomersPlan = z.infer<typeof planSchema>;

export interface CustomerRun {
  readonly seed: number;
  readonly rows: number;
  readonly system: CustomerSystem;
}

/** What is wrong about a group on fresh customers. */
export interface CustomerGroup {
  readonly A: number;
  /** Mean months within the horizon, predicted and true. */
  readonly months: number;
  readonly trueMonths: number;
}

/** A line of paper/customers.jsonl. */
export interface CustomerLine extends CustomerRun {
  readonly ise: number;
  readonly groups: Readonly<Record<string, CustomerGroup>>;
  /** Of the fit. */
  readonly seconds: number;
  readonly version: string;
}

export function readCustomersPlan(): CustomersPlan {
  const path = "paper/plans/customers.json";
  return parseStudyPlan(planSchema, readCheckout(path), path);
}

/** Seed after seed, each with every size and system, so that whatever is done is balanced. */
export function expandCustomersPlan({ seeds, rows, systems }: CustomersPlan): CustomerRun[] {
  return Array.from({ length: seeds.count }, (_, k) => seeds.from + k).flatMap((seed) =>
    rows.flatMap((size) => systems.map((system) => ({ seed, rows: size, system }))),
  );
}

export const runCustomersPlan = createPlanRunner<CustomerRun, CustomerLine>(
  (line, run) => line.seed === run.seed && line.rows === run.rows && line.system === run.system,
);

/** Plans, regions, and plans within regions, as a groups file. */
export function writeCustomerGroups(): string {
  const plans = PLANS.map((plan) => `plan = ${plan}`);
  const regions = REGIONS.map((region) => `region = ${region}`);
  const both = plans.flatMap((plan) => regions.map((region) => `${plan} and ${region}`));
  return `${JSON.stringify({ groups: [...plans, ...regions, ...both].map((where) => ({ where })) }, null, 2)}\n`;
}

function readCustomerGroups(table: Table, trainingRows: Int32Array): readonly Group[] {
  const file = parseGroupsFile(writeCustomerGroups(), "groups.json");
  return groupsFromFile({ ...file, all: true }, table, trainingRows);
}

export async function openCustomers(text: string): Promise<Table> {
  return readTable(tableSourceFromBytes("customers.csv", new TextEncoder().encode(text)));
}

export function createCustomersRunner(
  plan: CustomersPlan,
  backend: Backend,
  training: Pick<FitRequest, "network" | "bins" | "options" | "ensemble"> = {},
): (run: CustomerRun) => Promise<CustomerLine> {
  return async (run) => {
    const { seed, rows, system } = run;
    const table = await openCustomers(simulateCustomers(rows, seed).text);
    const split = splitByOrder(table.rows, { seed, fractions: plan.split });
    const groups = readCustomerGroups(table, split.train);
    const named = groups.filter(({ name }) => name !== ALL_GROUP.name);
    const widen = (one: Table) => (system.startsWith("cox with") ? addGroupColumns(one, named) : one);
    const started = performance.now();
    const rowsOf = system.endsWith("of all rows") ? joinSplit(split) : split;
    const asked = { time: "months", event: "cancelled", split: rowsOf, seed, ...training };
    const model = await fitDefault(widen(table), { ...asked, ...requestOf(system, named) }, backend);
    const seconds = secondsSince(started);
    const grid = timeGridOf(model);
    const outcomes = readOutcomes(table, { time: "months", event: "cancelled" });
    const supports = trainingSupports({ table, outcomes, split, groups }, grid);
    const predict = predictTables(model, backend);
    const scores = await scoreCustomers(plan, seed, { groups, supports, edges: grid.edges }, async (one) =>
      predict(widen(one)),
    );
    return { ...run, ...scores, seconds, version: VERSION };
  };
}

function requestOf(system: CustomerSystem, groups: readonly Group[]): Partial<FitRequest> {
  switch (system) {
    case "cox":
    case "cox with group terms":
    case "cox with group terms of all rows":
      return { method: "cox" };
    case "start":
    case "start of all rows":
      return { ...START, groups };
    case "graduate":
      return { groups };
  }
}

interface Measured {
  readonly groups: readonly Group[];
  readonly supports: readonly number[];
  readonly edges: Float64Array; // [T+1]
}

/** At the edges of the model's own bins, on customers that no run has seen. */
async function scoreCustomers(
  { truthCustomers, truthSeedOffset, horizon }: CustomersPlan,
  seed: number,
  { groups, supports, edges }: Measured,
  predict: (table: Table) => Promise<Curves>,
): Promise<Pick<CustomerLine, "ise" | "groups">> {
  const { people, text } = simulateCustomers(truthCustomers, seed + truthSeedOffset);
  const table = await openCustomers(text);
  const { survival, T } = await predict(table);
  const times = edges.subarray(1);
  const truth = people.map((customer) => staying(customer, times));
  const errors = membersAmong(groups, table).map(({ name, rows }, g) => {
    const [own, real] = [new Float64Array(T), new Float64Array(T)];
    for (const row of rows) {
      for (let t = 0; t < T; t++) {
        own[t] += survival[row * T + t] / rows.length;
        real[t] += truth[row][t] / rows.length;
      }
    }
    const squares = own.slice(0, supports[g]).map((value, t) => (value - real[t]) ** 2);
    const A = Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / supports[g]);
    const months = [own, real].map((curve) => round(monthsWithin(edges, curve, horizon), 4));
    return [name, { A: round(A, 6), months: months[0], trueMonths: months[1] }] as const;
  });
  let ise = 0;
  for (const [row, real] of truth.entries()) {
    for (let t = 0; t < T; t++) ise += (survival[row * T + t] - real[t]) ** 2;
  }
  return { ise: round(ise / (people.length * T), 8), groups: Object.fromEntries(errors) };
}

/** The area below a curve that is 1 at 0, by trapezoids, up to the horizon or the last bin. */
export function monthsWithin(edges: ArrayLike<number>, curve: ArrayLike<number>, horizon: number): number {
  let area = 0;
  for (let t = 0; t < curve.length; t++) {
    const [from, to] = [edges[t], edges[t + 1]];
    if (from >= horizon) break;
    const before = t === 0 ? 1 : curve[t - 1];
    const until = Math.min(to, horizon);
    const after = before + ((curve[t] - before) * (until - from)) / (to - from);
    area += ((before + after) / 2) * (until - from);
  }
  return area;
}
