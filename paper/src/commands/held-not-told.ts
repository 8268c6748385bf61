/**
 * `graduate reproduce held-not-told`: the study of a group that no model is told of (studies/held-not-told.ts). It
 * takes many hours; each line is saved as it ends, and the same command resumes. Help does not list it.
 */
import type { Command } from "commander";
import { openWasmBackend, parseThreads, say } from "graduate/node";
import { checkoutFile, readCheckout } from "../runs/checkout.ts";
import { createHeldRunner, expandHeldPlan, parseHeldPlan, runHeldPlan } from "../studies/held-not-told.ts";

const PLAN = "paper/plans/held-not-told.json";
const LINES = "paper/held-not-told.jsonl";

interface HeldCommandOptions {
  readonly out?: string;
  readonly strengths?: string;
  readonly seeds?: string;
  readonly rows?: string;
  readonly systems?: string;
  readonly threads: number;
}

export function addHeldTarget(reproduce: Command): void {
  reproduce
    .command("held-not-told", { hidden: true })
    .description("a protected group that no model is told of")
    .option("--out <file>", `where lines are kept, and what was done before is found (default: ${LINES})`)
    .option("--strengths <list>", "only these strengths of the plan")
    .option("--seeds <list>", "only these seeds of the plan")
    .option("--rows <list>", "only these sizes of the plan")
    .option("--systems <list>", "only these systems of the plan")
    .option("--threads <n>", "threads that train", parseThreads, 1)
    .action(async (options: HeldCommandOptions) => runStudy(options));
}

async function runStudy({
  out,
  strengths,
  seeds,
  rows,
  systems,
  threads,
}: HeldCommandOptions): Promise<void> {
  const plan = parseHeldPlan(readCheckout(PLAN), PLAN);
  const isAsked = (value: string | number, list: string | undefined) =>
    list === undefined ||
    list.split(",").some((one) => one.trim() === String(value) || Number(one) === value);
  const wanted = expandHeldPlan(plan).filter(
    (run) =>
      isAsked(run.strength, strengths) &&
      isAsked(run.seed, seeds) &&
      isAsked(run.rows, rows) &&
      isAsked(run.system, systems),
  );
  const backend = await openWasmBackend({ threads });
  try {
    await runHeldPlan(wanted, createHeldRunner(plan, backend), out ?? checkoutFile(LINES), (line) => {
      const what = `${line.system}, strength ${line.strength}, seed ${line.seed}, ${line.rows} rows`;
      if (!("seconds" in line))
        return say(`${what}: this system cannot be fitted yet; its lines are left out`);
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
