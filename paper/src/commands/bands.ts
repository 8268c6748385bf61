/**
 * `graduate reproduce bands`: whether bands cover and lower bounds hold (studies/bands.ts). Each line is saved as it
 * ends, and the same command resumes; --page makes the page of docs/results.
 */
import type { Command } from "commander";
import { modelToBytes } from "graduate-survival";
import { openWasmBackend, parseThreads, say } from "graduate-survival/node";
import type { Model } from "graduate-survival/training";
import { createBandsRunner, expandBandsPlan, readBandsPlan, runBandsPlan } from "../studies/bands.ts";
import { addStudy, type Kept, type StudyOptions } from "./studies.ts";

interface BandsOptions extends StudyOptions {
  readonly laws?: string;
  readonly seeds?: string;
  readonly rows?: string;
  readonly threads: number;
}

export function addBandsTarget(reproduce: Command): void {
  addStudy<BandsOptions>(reproduce, "bands", "whether bands cover and lower bounds hold", runStudy)
    .option("--laws <list>", "only these laws of the plan")
    .option("--seeds <list>", "only these seeds of the plan")
    .option("--rows <list>", "only these numbers of people of the plan")
    .option("--threads <n>", "threads that train", parseThreads, 1);
}

function sizesOf(model: Model): { readonly model: number; readonly uncertainty: number } {
  const { uncertainty: _, ...plain } = model;
  const whole = modelToBytes(model).length;
  return { model: whole, uncertainty: whole - modelToBytes(plain).length };
}

async function runStudy({ out, laws, seeds, rows, threads }: Kept<BandsOptions>): Promise<void> {
  const plan = readBandsPlan();
  const isAsked = (value: number | string, list: string | undefined) =>
    list === undefined || list.split(",").includes(String(value));
  const wanted = expandBandsPlan(plan).filter(
    (run) => isAsked(run.law, laws) && isAsked(run.seed, seeds) && isAsked(run.rows, rows),
  );
  const backend = await openWasmBackend({ threads, deterministic: true });
  try {
    await runBandsPlan(wanted, createBandsRunner(plan, backend, sizesOf), out, (line) => {
      const shares = Object.entries(line.bands).map(([kind, { covered }]) => `${kind} ${covered}`);
      const who = `${line.system}, ${line.law}, seed ${line.seed}, ${line.rows} people`;
      say(`${who}: ${shares.join(", ")}; bound ${line.bound.held}; ${line.seconds} s`);
    });
  } finally {
    await backend.close();
  }
}
