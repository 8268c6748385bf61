/**
 * `graduate reproduce customers`: lifetimes of simulated customers by plan and region (studies/customers.ts). Each line
 * is saved as it ends, and the same command resumes; --page makes the page of docs/results, --write a table to try.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import {
  createUnwritableError,
  openWasmBackend,
  parseThreads,
  print,
  replaceFile,
  say,
} from "graduate-survival/node";
import { simulateCustomers } from "../customers/law.ts";
import {
  createCustomersRunner,
  expandCustomersPlan,
  readCustomersPlan,
  runCustomersPlan,
  writeCustomerGroups,
} from "../studies/customers.ts";
import { addStudy, type Kept, type StudyOptions } from "./studies.ts";

interface CustomersOptions extends StudyOptions {
  readonly seeds?: string;
  readonly rows?: string;
  readonly threads: number;
  readonly write?: string;
}

export function addCustomersTarget(reproduce: Command): void {
  addStudy<CustomersOptions>(reproduce, "customers", "lifetimes of customers by plan and region", runStudy)
    .option("--seeds <list>", "only these seeds of the plan")
    .option("--rows <list>", "only these numbers of customers of the plan")
    .option("--threads <n>", "threads that train", parseThreads, 1)
    .option("--write <folder>", "run nothing: write a table of such customers, and its groups");
}

async function runStudy({ out, seeds, rows, threads, write }: Kept<CustomersOptions>): Promise<void> {
  const plan = readCustomersPlan();
  if (write !== undefined) {
    await writeTable(write, plan.rows[0]);
    return;
  }
  const isAsked = (value: number, list: string | undefined) =>
    list === undefined || list.split(",").some((one) => Number(one) === value);
  const wanted = expandCustomersPlan(plan).filter(
    (run) => isAsked(run.seed, seeds) && isAsked(run.rows, rows),
  );
  const backend = await openWasmBackend({ threads, deterministic: true });
  try {
    await runCustomersPlan(wanted, createCustomersRunner(plan, backend), out, (line) => {
      const errors = Object.values(line.groups).map(({ A }) => A);
      const scores = `worst A ${Math.max(...errors).toFixed(4)}, ISE ${line.ise}`;
      say(`${line.system}, seed ${line.seed}, ${line.rows} customers: ${scores}, ${line.seconds} s`);
    });
  } finally {
    await backend.close();
  }
}

async function writeTable(folder: string, rows: number): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw createUnwritableError(folder, "the table", error);
  });
  const files = { "customers.csv": simulateCustomers(rows, 1).text, "groups.json": writeCustomerGroups() };
  for (const [name, text] of Object.entries(files)) {
    await replaceFile(join(folder, name), text, "the table");
    print(`written: ${join(folder, name)}`);
  }
}
