/**
 * `graduate reproduce quality|tables|certificates|binding`: studies of our own. Each needs files that are in no checkout,
 * saves a line as a run ends, and does not repeat runs it already has; with --page it runs nothing and makes the page of
 * docs/results from the lines. They take hours and are for the maintainers of the pages: `reproduce --help all` alone
 * lists them.
 */

import type { Command } from "commander";
import { InputError } from "graduate-survival/core";
import { parseThreads, print, replaceFile, say } from "graduate-survival/node";
import { causesPage } from "../causes/page.ts";
import { summariseCauses } from "../causes/summary.ts";
import { type CauseLine, readCausesPlan } from "../causes/plan.ts";
import { followPage } from "../follow/page.ts";
import { summariseFollow } from "../follow/summary.ts";
import { type FollowLine, readFollowPlan } from "../follow/plan.ts";
import { bandsPage } from "../pages/bands.page.ts";
import { bindingPage } from "../pages/binding.page.ts";
import { certificatesPage } from "../pages/certificates.page.ts";
import { customersPage } from "../pages/customers.page.ts";
import { heldPage } from "../pages/held-not-told.page.ts";
import { qualityPage } from "../pages/quality.page.ts";
import { tablesPage } from "../pages/tables.page.ts";
import { targetsPage } from "../pages/targets.page.ts";
import { checkoutFile } from "../runs/checkout.ts";
import { type BandLine, readBandsPlan } from "../studies/bands.ts";
import { readBindingPlan } from "../studies/binding.ts";
import { type CertificateLine, runCell } from "../studies/certificates.ts";
import { type CustomerLine, readCustomersPlan } from "../studies/customers.ts";
import { type HeldLine, readHeldPlan } from "../studies/held-not-told.ts";
import { type HeldRealLine, readHeldRealPlan } from "../studies/held-real.ts";
import { appendLine, readLines } from "../studies/lines.ts";
import {
  countQualityStrata,
  QUALITY_SYSTEMS,
  QUALITY_TABLES,
  type QualityFiles,
  type QualityLine,
  type QualityStrata,
  runQuality,
  toQualitySystem,
} from "../studies/quality.ts";
import { readTargetsPlan, type TargetLine } from "../studies/targets.ts";
import { runUnseenCommands, UNSEEN_COMMANDS } from "../studies/unseen-commands.ts";
import {
  describeUnseen,
  readUnseenPlan,
  runStrata,
  runUnseen,
  type UnseenPlan,
  type UnseenTable,
} from "../studies/unseen-tables.ts";
import { summariseBands } from "../summaries/bands.ts";
import { type AnyBindingLine, summariseBinding } from "../summaries/binding.ts";
import { summariseCertificates } from "../summaries/certificates.ts";
import { summariseCustomers } from "../summaries/customers.ts";
import { summariseHeld } from "../summaries/held-not-told.ts";
import { summariseHeldReal } from "../summaries/held-real.ts";
import { summariseQuality } from "../summaries/quality.ts";
import { summariseTargets } from "../summaries/targets.ts";
import { summariseUnseen, type UnseenLine } from "../summaries/unseen-tables.ts";
import { type BindingCommandOptions, runBinding } from "./binding.ts";

export interface StudyOptions {
  /** The file of lines; the committed one unless another is named. */
  readonly out?: string;
  /** Make the page: print it, or write it to a file. */
  readonly page?: string | true;
}

/** With the file in which lines are saved. */
export type Kept<Options extends StudyOptions> = Options & { readonly out: string };

/** What a page and a picture are made from, each from a file of lines. */
export const STUDY_SUMMARIES = {
  binding: (path: string) => summariseBinding(readBindingPlan(), readLines<AnyBindingLine>(path)),
  "held-not-told": (path: string) => summariseHeld(readHeldPlan(), readLines<HeldLine>(path)),
  targets: (path: string) => summariseTargets(readTargetsPlan(), readLines<TargetLine>(path)),
  causes: (path: string) => summariseCauses(readCausesPlan(), readLines<CauseLine>(path)),
  follow: (path: string) => summariseFollow(readFollowPlan(), readLines<FollowLine>(path)),
} as const;

/** The page of each study, from a file of its lines. */
export const STUDY_PAGES = {
  quality: (path: string) => qualityPage(summariseQuality(readLines<QualityLine | QualityStrata>(path))),
  tables: (path: string) => tablesPage(summariseUnseen(readUnseenPlan(), readLines<UnseenLine>(path))),
  certificates: (path: string) => certificatesPage(summariseCertificates(readLines<CertificateLine>(path))),
  binding: (path: string) => bindingPage(STUDY_SUMMARIES.binding(path)),
  "held-not-told": (path: string) => writeHeldPage(path, committedLines("held-real")),
  "held-real": (path: string) => writeHeldPage(committedLines("held-not-told"), path),
  targets: (path: string) => targetsPage(STUDY_SUMMARIES.targets(path)),
  bands: (path: string) => bandsPage(summariseBands(readBandsPlan(), readLines<BandLine>(path))),
  customers: (path: string) =>
    customersPage(summariseCustomers(readCustomersPlan(), readLines<CustomerLine>(path))),
  causes: (path: string) => causesPage(readCausesPlan(), readLines<CauseLine>(path)),
  follow: (path: string) => followPage(readFollowPlan(), readLines<FollowLine>(path)),
} as const;
export type StudyName = keyof typeof STUDY_PAGES;

/** Simulated people and real tables have one page. */
function writeHeldPage(simulated: string, real: string): string {
  return heldPage(
    STUDY_SUMMARIES["held-not-told"](simulated),
    summariseHeldReal(readHeldRealPlan(), readLines<HeldRealLine>(real)),
  );
}

/** The committed lines. */
export function committedLines(name: StudyName): string {
  return checkoutFile(`paper/${name}.jsonl`);
}

export function addStudyTargets(reproduce: Command): void {
  addStudy<QualityOptions>(
    reproduce,
    "quality",
    "what the default of 0.1.0 does, without the solve, against its controls",
    runQualities,
  )
    .option("--splits <folder>", "holds nwtco_seed1.csv and others, of row and set", "splits")
    .option("--eye <file>", "the simulated cohort", "eye_sim.csv")
    .option("--truth <file>", "its true curves", "eye_sim_truth.csv.gz")
    .option("--tables <list>", "only these tables", QUALITY_TABLES.join(","))
    .option("--systems <list>", "only these systems", QUALITY_SYSTEMS.join(","))
    .option("--seeds <list>", "only these seeds", "1,2,3,4,5")
    .option("--part <k/n>", "the k-th of n parts of the runs", "1/1")
    .option("--strata", "only count the strata of all groups of the public tables");
  addStudy<UnseenOptions>(reproduce, "tables", "tables that nothing was tuned on", runTables)
    .option("--data <folder>", "holds the tables")
    .option("--tables <list>", "only these tables of the plan")
    .option("--systems <list>", "only these systems of the plan")
    .option("--seeds <list>", "only these seeds of the plan")
    .option("--threads <n>", "threads that train", parseThreads, 1)
    .option("--keep <folder>", "where models, reports and predictions of the commands stay");
  addStudy<CellOptions>(reproduce, "certificates", "how often certificates hold, by simulation", runCells)
    .option("--sizes <list>", "people of a group", "50,200,800,5000")
    .option("--distances <list>", "true distances", "0,0.02,0.04")
    .option("--audits <n>", "audits a cell", "1000")
    .option("--alpha <share>", "audits in which a bound may fail", "0.05")
    .option("--seed <n>", "the first", "2000000");
  addStudy<StudyOptions & Omit<BindingCommandOptions, "out">>(
    reproduce,
    "binding",
    "what holding a run to its groups does, against the truth",
    runBinding,
  )
    .option("--seeds <list>", "only these seeds of the plan")
    .option("--rows <list>", "only these sizes of the plan")
    .option("--systems <list>", "only these systems of the plan, between semicolons")
    .option("--parts", "only the parts of a few lines: large tables and many groups")
    .option("--threads <n>", "threads that train", parseThreads, 1);
}

/** A study's sub-command, with where its lines are and how its page is made. */
export function addStudy<Options extends StudyOptions>(
  reproduce: Command,
  name: StudyName,
  description: string,
  run: (options: Kept<Options>) => Promise<void>,
): Command {
  return reproduce
    .command(name, { hidden: true })
    .description(description)
    .option(
      "--out <file>",
      `where lines are kept, and what was done before is found (default: paper/${name}.jsonl)`,
    )
    .option("--page [file]", "run nothing: print the page, or write it to a file")
    .action(async (options: Options) => {
      const out = options.out ?? committedLines(name);
      if (options.page === undefined) return run({ ...options, out });
      const page = STUDY_PAGES[name](out);
      if (options.page === true) print(page.trimEnd());
      else await replaceFile(options.page, page, "the page");
    });
}

const listed = (text: string) => text.split(",").map((one) => one.trim());
const isAsked = (name: string, list: string | undefined) => list === undefined || listed(list).includes(name);
const numbersOf = (text: string) => listed(text).map(Number);

interface QualityOptions extends StudyOptions, QualityFiles {
  readonly tables: string;
  readonly systems: string;
  readonly seeds: string;
  readonly part: string;
  readonly strata?: true;
}

async function countStrata(options: Kept<QualityOptions>): Promise<void> {
  for (const table of ["nwtco", "flchain"] as const) {
    for (const seed of numbersOf(options.seeds)) {
      const line = await countQualityStrata(table, seed, options);
      const isSame = (one: QualityLine | QualityStrata) =>
        one.table === table && one.system === line.system && one.seed === seed;
      if (readLines<QualityLine | QualityStrata>(options.out).some(isSame)) continue;
      appendLine(options.out, line);
      say(`${table} seed ${seed}: ${line.withoutEvents} of ${line.strata} strata have no event`);
    }
  }
}

async function runQualities(options: Kept<QualityOptions>): Promise<void> {
  if (options.strata === true) return countStrata(options);
  const done = readLines<QualityLine | QualityStrata>(options.out);
  const [mine, parts] = options.part.split("/").map(Number);
  const systems = listed(options.systems).map(toQualitySystem);
  const tables = QUALITY_TABLES.filter((table) => listed(options.tables).includes(table));
  const wanted = tables
    .flatMap((table) =>
      numbersOf(options.seeds).flatMap((seed) => systems.map((system) => ({ table, system, seed }))),
    )
    .filter(({ table, system, seed }) => !(table === "eye" && system.startsWith("cox") && seed > 1))
    .filter((_, k) => k % parts === mine - 1);
  for (const run of wanted) {
    const { table, system, seed } = run;
    if (done.some((line) => line.table === table && line.system === system && line.seed === seed)) continue;
    const line = await runQuality(run, options);
    appendLine(options.out, line);
    const { concordance, ece, subgroupEce, ibs, seconds, trueError } = line;
    const scores = `C ${concordance.toFixed(4)}, ECE ${ece.toFixed(4)}, subgroup ECE ${subgroupEce.toFixed(4)}`;
    const old = trueError ? `, true error of age 75 and over ${trueError["age 75 and over"]}` : "";
    say(`${table} ${system} seed ${seed}: ${scores}, IBS ${ibs.toFixed(4)}${old}, ${seconds} s`);
  }
}

interface UnseenOptions extends StudyOptions {
  readonly data?: string;
  readonly tables?: string;
  readonly systems?: string;
  readonly seeds?: string;
  readonly threads: number;
  readonly keep?: string;
}

async function runTables(options: Kept<UnseenOptions>): Promise<void> {
  const { data } = options;
  if (data === undefined)
    throw new InputError("where are the tables?", { code: "tables.data", hint: "--data names their folder" });
  const plan = readUnseenPlan();
  const done = readLines<UnseenLine>(options.out);
  for (const entry of plan.tables.filter(({ name }) => isAsked(name, options.tables))) {
    const own = done.filter(({ table }) => table === entry.name);
    await runTable(entry, own, { ...options, data, plan });
  }
}

async function runTable(
  entry: UnseenTable,
  done: readonly UnseenLine[],
  options: Kept<UnseenOptions> & { readonly data: string; readonly plan: UnseenPlan },
): Promise<void> {
  const { data, out, keep, threads, plan } = options;
  if (!done.some(({ kind }) => kind === "table")) appendLine(out, await describeUnseen(entry, data));
  const commands = done.filter((line) => line.kind === "command");
  if (!UNSEEN_COMMANDS.every((name) => commands.some(({ command }) => command === name))) {
    const kept = keep === undefined ? {} : { keep };
    for (const line of await runUnseenCommands(entry, data, { ...kept, seed: plan.seeds[0] })) {
      appendLine(out, line);
      say(`${line.table} ${line.command}: exit ${line.exit}, ${line.seconds} s`);
    }
  }
  const runs = done.filter((line) => line.kind === "run");
  for (const seed of options.seeds === undefined ? plan.seeds : numbersOf(options.seeds)) {
    for (const system of plan.systems.filter((name) => isAsked(name, options.systems))) {
      if (runs.some((line) => line.system === system && line.seed === seed)) continue;
      const line = await runUnseen(entry, data, { system, seed, threads });
      appendLine(out, line);
      const said =
        "failure" in line
          ? line.failure
          : `C ${line.concordance}, ECE ${line.ece}, worst ${line.worstEce}, IBS ${line.ibs}, ${line.seconds} s`;
      say(`${line.table} ${system} seed ${seed}: ${said}`);
    }
    if (done.some((line) => line.kind === "strata" && line.seed === seed)) continue;
    const line = await runStrata(entry, data, seed);
    appendLine(out, line);
    say(
      `${line.table} stratified seed ${seed}: ${line.withoutEvents} of ${line.strata} strata have no event`,
    );
  }
}

interface CellOptions extends StudyOptions {
  readonly sizes: string;
  readonly distances: string;
  readonly audits: string;
  readonly alpha: string;
  readonly seed: string;
}

async function runCells(options: Kept<CellOptions>): Promise<void> {
  const done = readLines<CertificateLine>(options.out);
  const [audits, alpha] = [Number(options.audits), Number(options.alpha)];
  for (const n of numbersOf(options.sizes)) {
    for (const distance of numbersOf(options.distances)) {
      if (done.some((line) => line.n === n && line.distance === distance)) continue;
      // Each cell has its own people.
      const seed = Number(options.seed) + n * 1000 + Math.round(1000 * distance);
      for (const line of runCell({ n, distance, audits, alpha, seed })) {
        appendLine(options.out, line);
        const { basis, exact, exactPopulation, tight } = line;
        say(
          `n ${n}, d ${distance}, ${basis}: exact ${exact.covered} (U ${exact.bound}), ` +
            `population ${exactPopulation.covered} (U ${exactPopulation.bound}), ` +
            `tight ${tight.covered} (U ${tight.bound}, stated ${tight.stated})`,
        );
      }
    }
  }
}
