/** `graduate reproduce binding` without --page: runs the study of holding (studies/binding.ts), line after line. */
import { openWasmBackend, say } from "graduate-survival/node";
import {
  createBindingRunner,
  expandBindingPlan,
  readBindingPlan,
  runBindingPlan,
} from "../studies/binding.ts";
import { runBindingParts } from "../studies/binding-parts.ts";

export interface BindingCommandOptions {
  readonly out: string;
  readonly seeds?: string;
  readonly rows?: string;
  readonly systems?: string;
  /** Run only the parts of a few lines; else only the systems. */
  readonly parts?: true;
  readonly threads: number;
}

export async function runBinding({
  out,
  seeds,
  rows,
  systems,
  parts,
  threads,
}: BindingCommandOptions): Promise<void> {
  const plan = readBindingPlan();
  // Names of systems have commas.
  const isAsked = (value: string | number, list: string | undefined, between = ",") =>
    list === undefined || list.split(between).some((one) => one.trim() === String(value));
  const wanted = expandBindingPlan(plan).filter(
    (run) => isAsked(run.seed, seeds) && isAsked(run.rows, rows) && isAsked(run.system, systems, ";"),
  );
  const backend = await openWasmBackend({ threads });
  try {
    if (parts === true) {
      await runBindingParts(plan, backend, out, { said: (line) => say(JSON.stringify(line)) });
      return;
    }
    await runBindingPlan(wanted, createBindingRunner(plan, backend), out, (line) => {
      const { system, seed } = line;
      if ("absent" in line) {
        say(
          `${system}, seed ${seed}, ${line.rows} rows: ${line.withoutEvents} of ${line.strata} strata have no event`,
        );
        return;
      }
      const { everyoneError, worstError, ise, met, held, residual, seconds } = line;
      say(
        `${system}, seed ${seed}, ${line.rows} rows: A ${everyoneError} of everyone, ${worstError} at worst; ` +
          `ISE ${ise}, ${met} of ${held} met, residual ${residual}, ${seconds} s`,
      );
    });
  } finally {
    await backend.close();
  }
}
