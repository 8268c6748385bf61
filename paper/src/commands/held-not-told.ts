/**
 * `graduate reproduce held-not-told`: the study of a group that no model is told of (studies/held-not-told.ts). It
 * takes many hours; each line is saved as it ends, and the same command resumes. With --page it runs nothing and makes
 * the page of docs/results from the lines. Help does not list it.
 */
import type { Command } from "commander";
import { openWasmBackend, parseThreads, say } from "graduate/node";
import { createHeldRunner, expandHeldPlan, readHeldPlan, runHeldPlan } from "../studies/held-not-told.ts";
import { addStudy, type Kept, type StudyOptions } from "./studies.ts";

interface HeldCommandOptions extends StudyOptions {
  readonly strengths?: string;
  readonly seeds?: string;
  readonly rows?: string;
  readonly systems?: string;
  readonly threads: number;
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
  const isAsked = (value: string | number, list: string | undefined, between = ",") =>
    list === undefined ||
    list.split(between).some((one) => one.trim() === String(value) || Number(one) === value);
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
