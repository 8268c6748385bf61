/**
 * `graduate reproduce targets`: what survival known from outside adds (studies/targets.ts). Each line is saved as it
 * ends, and the same command resumes; --page makes the page of docs/results. Help does not list it.
 */
import type { Command } from "commander";
import { readTable } from "graduate-survival/data";
import { openWasmBackend, parseThreads, say, tableSourceFromPath } from "graduate-survival/node";
import { checkoutFile } from "../runs/checkout.ts";
import { createFlchainRunner } from "../studies/life-table.ts";
import {
  createEyeRunner,
  expandTargetsPlan,
  readTargetsPlan,
  runTargetsPlan,
  type TargetLine,
} from "../studies/targets.ts";
import { addStudy, type Kept, type StudyOptions } from "./studies.ts";

interface TargetsCommandOptions extends StudyOptions {
  readonly cohorts?: string;
  readonly seeds?: string;
  readonly threads: number;
}

export function addTargetsTarget(reproduce: Command): void {
  addStudy<TargetsCommandOptions>(
    reproduce,
    "targets",
    "survival known from outside, and few local people",
    runStudy,
  )
    .option("--cohorts <list>", "only these cohorts of the plan")
    .option("--seeds <list>", "only these seeds of the plan")
    .option("--threads <n>", "threads that train", parseThreads, 1);
}

async function runStudy({ out, cohorts, seeds, threads }: Kept<TargetsCommandOptions>): Promise<void> {
  const plan = readTargetsPlan();
  const isAsked = (value: string, list: string | undefined) =>
    list === undefined || list.split(",").some((one) => one.trim() === value);
  const wanted = expandTargetsPlan(plan).filter(
    ({ cohort, seed }) => isAsked(cohort, cohorts) && isAsked(String(seed), seeds),
  );
  const table = await readTable(await tableSourceFromPath(checkoutFile(plan.flchain.table)));
  const backend = await openWasmBackend({ threads });
  try {
    const [runEye, runFlchain] = [createEyeRunner(plan, backend), createFlchainRunner(plan, table, backend)];
    await runTargetsPlan(
      wanted,
      async (run): Promise<TargetLine> => (run.cohort === "eye" ? runEye(run) : runFlchain(run)),
      out,
      tellLine,
    );
  } finally {
    await backend.close();
  }
}

function tellLine(line: TargetLine): void {
  const scores =
    line.cohort === "eye"
      ? `worst A ${line.worstError} (${line.worstGroup}), ISE ${line.ise}`
      : `IBS ${line.ibs}, ECE of the bands ${line.groupEce}`;
  say(
    `${line.cohort}, ${line.system}, seed ${line.seed}: ${scores}, C ${line.concordance}, ${line.seconds} s`,
  );
}
