/**
 * `graduate reproduce follow`: models of late entry, changing covariates and weights beside Cox models
 * (follow/run.ts). Each line is saved as it ends, and the same command resumes; --page makes the page of docs/results.
 * Cox models need R with survival; the public tables are those that paper/peers/follow-tables.R writes.
 */
import type { Command } from "commander";
import { openWasmBackend, parseThreads, say } from "graduate-survival/node";
import { expandFollowPlan, type FollowLine, readFollowPlan, runFollowPlan } from "../follow/plan.ts";
import { createFollowRunner } from "../follow/run.ts";
import { addStudy, type Kept, type StudyOptions } from "./studies.ts";

interface FollowOptions extends StudyOptions {
  readonly parts?: string;
  readonly seeds?: string;
  readonly systems?: string;
  readonly rscript: string;
  readonly data?: string;
  readonly threads: number;
}

export function addFollowTarget(reproduce: Command): void {
  addStudy<FollowOptions>(reproduce, "follow", "late entry, changing covariates and weights", runStudy)
    .option("--parts <list>", "only these parts of the plan: law, names of tables")
    .option("--seeds <list>", "only these seeds of the plan")
    .option("--systems <list>", "only these systems of the plan")
    .option("--rscript <program>", "R with survival", "Rscript")
    .option("--data <folder>", "holds the public tables")
    .option("--threads <n>", "threads that train", parseThreads, 1);
}

async function runStudy(options: Kept<FollowOptions>): Promise<void> {
  const { out, parts, seeds, systems, rscript, data, threads } = options;
  const plan = readFollowPlan();
  const isAsked = (value: string | number, list: string | undefined) =>
    list === undefined || list.split(",").some((one) => one.trim() === String(value));
  const wanted = expandFollowPlan(plan).filter(
    (run) => isAsked(run.part, parts) && isAsked(run.seed, seeds) && isAsked(run.system, systems),
  );
  const backend = await openWasmBackend({ threads, deterministic: true });
  const home = { backend, rscript, ...(data === undefined ? {} : { data }) };
  try {
    await runFollowPlan(wanted, createFollowRunner(plan, home), out, (line) => say(sayLine(line)));
  } finally {
    await backend.close();
  }
}

function sayLine(line: FollowLine): string {
  const { all } = line.kind === "law" ? { all: null } : line.groups;
  const scores =
    line.kind === "law"
      ? `all ${line.errors.all}, ISE ${line.ise}`
      : `C ${line.concordance}, log likelihood ${line.likelihood}, O ${all?.observed}, E ${all?.expected}`;
  return `${line.part} seed ${line.seed} ${line.system}: ${scores}, ${line.seconds} s`;
}
