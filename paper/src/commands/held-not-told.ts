/**
 * `graduate reproduce held-not-told|held-real`: the study of groups that no model is told of, on simulated people
 * (studies/held-not-told.ts) and on real tables (studies/held-real.ts). They take hours; each line is saved as it ends,
 * and the same command resumes. With --page it runs nothing and makes the page of docs/results from the lines, which is
 * the same for both. Help does not list them.
 */
import type { Command } from "commander";
import { openWasmBackend, parseThreads, say } from "graduate-survival/node";
import { createHeldRunner, expandHeldPlan, readHeldPlan, runHeldPlan } from "../studies/held-not-told.ts";
import {
  createHeldRealRunner,
  expandHeldRealPlan,
  readHeldRealPlan,
  runHeldRealPlan,
} from "../studies/held-real.ts";
import { addStudy, type Kept, type StudyOptions } from "./studies.ts";

interface ChosenRuns extends StudyOptions {
  readonly seeds?: string;
  readonly systems?: string;
  readonly threads: number;
}

interface HeldCommandOptions extends ChosenRuns {
  readonly strengths?: string;
  readonly rows?: string;
}

interface HeldRealOptions extends ChosenRuns {
  readonly data?: string;
  readonly tables?: string;
}

export function addHeldTarget(reproduce: Command): void {
  addStudy<HeldCommandOptions>(
    reproduce,
    "held-not-told",
    "a protected group that no model is told of",
    runStudy,
  )
    .option("--strengths <list>", "only these strengths of the plan")
    .option("--seeds <list>", "only these seeds of the plan")
    .option("--rows <list>", "only these sizes of the plan")
    .option("--systems <list>", "only these systems of the plan, with ; between them")
    .option("--threads <n>", "threads that train", parseThreads, 1);
  addStudy<HeldRealOptions>(reproduce, "held-real", "the same on real tables", runRealTables)
    .option("--data <folder>", "holds the tables that are in no checkout")
    .option("--tables <list>", "only these tables of the plan")
    .option("--seeds <list>", "only these seeds of the plan")
    .option("--systems <list>", "only these systems of the plan, with ; between them")
    .option("--threads <n>", "threads that train", parseThreads, 1);
}

/** Names of systems have commas. */
function isAsked(value: string | number, list: string | undefined, between = ","): boolean {
  return (
    list === undefined ||
    list.split(between).some((one) => one.trim() === String(value) || Number(one) === value)
  );
}

async function runStudy({
  out,
  strengths,
  seeds,
  rows,
  systems,
  threads,
}: Kept<HeldCommandOptions>): Promise<void> {
  const plan = readHeldPlan();
  const wanted = expandHeldPlan(plan).filter(
    (run) =>
      isAsked(run.strength, strengths) &&
      isAsked(run.seed, seeds) &&
      isAsked(run.rows, rows) &&
      isAsked(run.system, systems, ";"),
  );
  const backend = await openWasmBackend({ threads });
  try {
    await runHeldPlan(wanted, createHeldRunner(plan, backend), out, (line) => {
      const what = `${line.system}, strength ${line.strength}, seed ${line.seed}, ${line.rows} rows`;
      const { protectedError, everyoneError, worstError, ise, concordance, seconds } = line;
      say(
        `${what}: A ${protectedError} of the group, ${everyoneError} of everyone, ${worstError} at worst; ` +
          `ISE ${ise}, C ${concordance}, ${seconds} s`,
      );
    });
  } finally {
    await backend.close();
  }
}

async function runRealTables({
  out,
  data,
  tables,
  seeds,
  systems,
  threads,
}: Kept<HeldRealOptions>): Promise<void> {
  const plan = readHeldRealPlan();
  const wanted = expandHeldRealPlan(plan).filter(
    (run) => isAsked(run.table, tables) && isAsked(run.seed, seeds) && isAsked(run.system, systems, ";"),
  );
  const backend = await openWasmBackend({ threads });
  try {
    const run = createHeldRealRunner(plan, backend, data === undefined ? {} : { data });
    await runHeldRealPlan(wanted, run, out, (line) => {
      const { table, by, system, seed, groups, concordance, ibs, seconds } = line;
      const gaps = groups.map(({ group, gap, noise }) => `gap ${gap} of ${group} (noise ${noise})`);
      say(
        `${table} by ${by}, ${system}, seed ${seed}: ${gaps.join(", ")}; C ${concordance}, IBS ${ibs}, ${seconds} s`,
      );
    });
  } finally {
    await backend.close();
  }
}
