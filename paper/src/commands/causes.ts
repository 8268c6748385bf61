/**
 * `graduate reproduce causes`: models of competing causes beside their peers (causes/run.ts). Each line is saved as it
 * ends, and the same command resumes; --page makes the page of docs/results. The peers need R with survival and a
 * Python with hazardous and comprisk; the public tables are those that paper/peers/causes-tables.R writes.
 */
import type { Command } from "commander";
import { openWasmBackend, parseThreads, say } from "graduate-survival/node";
import { type CauseLine, expandCausesPlan, readCausesPlan, runCausesPlan } from "../causes/plan.ts";
import { createCausesRunner } from "../causes/run.ts";
import { addStudy, type Kept, type StudyOptions } from "./studies.ts";

interface CausesOptions extends StudyOptions {
  readonly parts?: string;
  readonly seeds?: string;
  readonly systems?: string;
  readonly rscript: string;
  readonly python: string;
  readonly data?: string;
  readonly threads: number;
}

export function addCausesTarget(reproduce: Command): void {
  addStudy<CausesOptions>(reproduce, "causes", "models of competing causes beside their peers", runStudy)
    .option("--parts <list>", "only these parts of the plan: A, B, names of tables")
    .option("--seeds <list>", "only these seeds of the plan")
    .option("--systems <list>", "only these systems of the plan")
    .option("--rscript <program>", "R with survival", "Rscript")
    .option("--python <program>", "Python with hazardous and comprisk", "python3")
    .option("--data <folder>", "holds the public tables")
    .option("--threads <n>", "threads that train", parseThreads, 1);
}

async function runStudy(options: Kept<CausesOptions>): Promise<void> {
  const { out, parts, seeds, systems, rscript, python, data, threads } = options;
  const plan = readCausesPlan();
  const isAsked = (value: string | number, list: string | undefined) =>
    list === undefined || list.split(",").some((one) => one.trim() === String(value));
  const wanted = expandCausesPlan(plan).filter(
    (run) => isAsked(run.part, parts) && isAsked(run.seed, seeds) && isAsked(run.system, systems),
  );
  const backend = await openWasmBackend({ threads, deterministic: true });
  const home = { backend, programs: { rscript, python }, ...(data === undefined ? {} : { data }) };
  try {
    await runCausesPlan(wanted, createCausesRunner(plan, home), out, (line) => say(sayLine(line)));
  } finally {
    await backend.close();
  }
}

function sayLine(line: CauseLine): string {
  const scores =
    line.kind === "law"
      ? `all ${line.errors.all.join(" ")}, ISE ${line.ise.join(" ")}`
      : `Brier ${line.brier.join(" ")}, gap ${line.gap.join(" ")}`;
  return `${line.part} seed ${line.seed} ${line.system}: ${scores}, ${line.seconds} s`;
}
