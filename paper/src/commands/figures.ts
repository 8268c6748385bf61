/**
 * `graduate reproduce figures nwtco|flchain|eye [--preset paper]`: the paper's figures of curves. Each system of the
 * plan is trained once; its curves are saved in figures-NAME.json as soon as it ends, and the SVGs are drawn from that
 * file. When started again, the command trains what is missing from the file and draws everything.
 */

import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Argument, type Command } from "commander";
import { InputError } from "graduate-survival/core";
import {
  createProgress,
  createUnwritableError,
  openWasmBackend,
  openWebGpuBackend,
  parseThreads,
  print,
  refuseUnwritable,
  replaceFile,
  say,
} from "graduate-survival/node";
import { VERSION } from "../runs/checkout.ts";
import { readSources } from "../runs/cohort-sources.ts";
import { type OpenCohort, openCohort } from "../runs/cohorts.ts";
import { readPlan } from "../runs/committed.ts";
import {
  addSystem,
  beginFigure,
  type CohortFigure,
  type FigureRuns,
  type FiguresFile,
  isOfPlan,
  listFigureRuns,
  parseFigures,
  traceSystem,
  writeFigures,
} from "../runs/figures.ts";
import type { Plan } from "../runs/plan.ts";
import type { RunBackend } from "../runs/pool.ts";
import { figureName, PAGE_TARGETS, type PagePlan, type PageTarget } from "../runs/targets.ts";
import { backendOption, presetOption } from "./plan.ts";

interface FigureOptions {
  readonly systems?: readonly string[];
  readonly out: string;
  readonly figures?: string;
  readonly threads: number;
  readonly preset: Plan["preset"];
  readonly backend: RunBackend;
}

export interface FigureFile {
  /** Without a folder. */
  readonly name: string;
  readonly text: string;
}

export function addFiguresTarget(command: Command): void {
  command
    .command("figures")
    .description("the paper's figures of predicted curves, each system trained once")
    .addArgument(new Argument("<table>", "whose plan").choices(PAGE_TARGETS))
    .option("--systems <list>", 'only these systems, e.g. "cox,graduate"', (text: string) =>
      text.split(",").map((name) => name.trim()),
    )
    .option("--out <folder>", "where curves are kept, and what was done before is found", ".")
    .option("--figures <folder>", "where figures are written (default: the folder of --out)")
    .option("--threads <n>", "threads that train", parseThreads, availableParallelism())
    .addOption(presetOption())
    .addOption(backendOption())
    .action(async (target: PageTarget, options: FigureOptions) => runFigures(target, options));
}

async function runFigures(target: PageTarget, options: FigureOptions): Promise<void> {
  const { out, figures: folder = out } = options;
  const name: PagePlan = options.preset === "paper" ? `paper-${target}` : target;
  const plan = readPlan(name);
  const runs = listFigureRuns(name, plan).map((run) => chooseSystems(run, options.systems));
  for (const one of [out, folder]) {
    await mkdir(one, { recursive: true }).catch((error: unknown) => {
      throw createUnwritableError(one, "the figures", error);
    });
  }
  const path = join(out, `figures-${name}.json`);
  await refuseUnwritable([path]);
  const before = existsSync(path) ? parseFigures(readFileSync(path, "utf8"), path).cohorts : [];
  let cohorts: readonly CohortFigure[] = before;
  for (const run of runs) {
    await traceCohort(plan, run, options, cohorts, async (figure) => {
      const others = cohorts.filter(({ cohort }) => cohort !== figure.cohort);
      cohorts = [...others, figure];
      await replaceFile(path, writeFigures({ figures: name, cohorts }), "the curves");
    });
  }
  for (const figure of await makeFigureFiles({ figures: name, cohorts })) {
    await replaceFile(join(folder, figure.name), figure.text, "the figure");
    print(`written: ${join(folder, figure.name)}`);
  }
}

function chooseSystems(run: FigureRuns, asked: readonly string[] | undefined): FigureRuns {
  const unknown = asked?.find((name) => !run.systems.some((system) => system === name));
  if (unknown !== undefined) {
    const have = run.systems.join(", ");
    throw new InputError(`the plan has no such system for "${run.cohort}": ${unknown} (have ${have})`, {
      code: "plan.subset",
    });
  }
  return { ...run, systems: run.systems.filter((system) => asked?.includes(system) ?? true) };
}

/** Calls `keep` after every system. */
async function traceCohort(
  plan: Plan,
  { cohort: name, seed, systems }: FigureRuns,
  { threads, backend: where }: FigureOptions,
  before: readonly CohortFigure[],
  keep: (figure: CohortFigure) => Promise<void>,
): Promise<void> {
  const open = await openFigureCohort(plan, { cohort: name, seed });
  const begun = beginFigure(open, plan, seed);
  const kept = before.find(({ cohort }) => cohort === name);
  // Curves from another form of the plan cannot stand beside new ones.
  let figure = kept !== undefined && isOfPlan(kept, begun) ? kept : begun;
  for (const system of systems) {
    if (figure.systems.some((one) => one.system === system)) continue;
    const progress = createProgress(`${name}, ${system}`);
    const started = process.cpuUsage();
    const backend =
      where === "webgpu"
        ? await openWebGpuBackend()
        : await openWasmBackend({ threads, deterministic: true });
    try {
      let steps = 0;
      const traced = await traceSystem(open, plan, { system, seed }, backend, (event) => {
        if (event.type === "start") steps = event.steps;
        if (event.type === "step") progress.update(event.step, steps);
      });
      figure = addSystem(figure, { ...traced, version: VERSION });
    } finally {
      progress.finish();
      await backend.close();
    }
    const { user, system: kernel } = process.cpuUsage(started);
    say(`${name}, ${system}, seed ${seed}: ${((user + kernel) / 1e6).toFixed(1)} s`);
    await keep(figure);
  }
}

/** Opens the cohort with the files that the plan names. */
export async function openFigureCohort(
  plan: Plan,
  { cohort: name, seed }: Pick<FigureRuns, "cohort" | "seed">,
): Promise<OpenCohort> {
  const cohort = plan.cohorts.find((one) => one.name === name);
  if (cohort === undefined) throw new Error(`no cohort ${name}`);
  return openCohort(cohort, await readSources(cohort), plan, seed);
}

/** The SVGs of everything in a figures file. */
export async function makeFigureFiles({
  figures: plan,
  cohorts,
}: FiguresFile): Promise<readonly FigureFile[]> {
  const [{ parseHTML }, { plotMarginal, plotPeople }] = await Promise.all([
    import("linkedom"),
    import("../pages/cohort-plots.ts"),
  ]);
  const { document } = parseHTML("<html></html>");
  return cohorts.flatMap((cohort) => {
    const name = figureName(plan, cohort.cohort);
    const hasPeople = cohort.systems.some(({ people }) => people !== undefined);
    return [
      { name: `${name}-marginal.svg`, text: `${plotMarginal(cohort, { document })}\n` },
      ...(hasPeople ? [{ name: `${name}-people.svg`, text: `${plotPeople(cohort, { document })}\n` }] : []),
    ];
  });
}
