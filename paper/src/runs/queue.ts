/**
 * Runs of a plan by a queue: how they are submitted, and how a worker in another checkout makes them. The files that a
 * plan's cohorts name travel as paths within the checkout and SHA-256; a checkout that has others takes none of its runs.
 */
import { InputError } from "graduate-survival/core";
import {
  hashFile,
  hashKey,
  type OpenRuns,
  type PlanHead,
  requirePlanFile,
  runSubmitted,
} from "graduate-survival/node";
import { z } from "zod";
import { checkoutFile, VERSION } from "./checkout.ts";
import {
  type CohortPlan,
  expandPlan,
  lineKey,
  type Plan,
  parsePlan,
  planContent,
  type RunLine,
  SYSTEM_NAMES,
} from "./plan.ts";
import { passOn, type ReproducePoolOptions, workerFile } from "./pool.ts";
import { RESULT_LINES } from "./results.ts";
import type { RunBackend, RunOutcome, SharedPlan } from "./worker.ts";

export interface QueuedLinesOptions extends Omit<ReproducePoolOptions, "workers"> {
  /** The queue's address. */
  readonly url: string;
  /** Where results are kept. */
  readonly out: string;
  /** All lines that were asked for, those that are done included. */
  readonly asked: readonly RunLine[];
}

/** Rejects with the signal's reason, or with what `onDone` threw. */
export async function runLinesInQueue(
  plan: Plan,
  lines: readonly RunLine[],
  { url, out, asked, backend, signal, onDone, onProgress }: QueuedLinesOptions,
): Promise<void> {
  const content = hashKey([planContent(plan), backend]);
  const runner = runSubmitted<RunLine, RunOutcome>(
    {
      url,
      command: "reproduce",
      about: plan.name,
      files: await describeFiles(plan, asked),
      ship: false,
      tasks: asked,
      shared: { plan, backend } satisfies SharedPlan,
      results: out,
      quiet: false,
      keyOf: (line) => hashKey([content, lineKey(line)]),
      nameOf: ({ cohort, system, seed }) => `${cohort}, ${system}, seed ${seed}`,
      readResult: (line, outcome) => readOutcome(line, outcome),
      lost: (_, failure) => ({ kind: "failed", failure }),
    },
    signal,
  );
  await passOn(runner(lines), { onDone, onProgress });
}

function pathsOf(cohort: CohortPlan): readonly string[] {
  return [cohort.groups, cohort.kind === "table" ? cohort.table : cohort.auditOnly];
}

async function describeFiles(plan: Plan, lines: readonly RunLine[]) {
  const used = plan.cohorts.filter(({ name }) => lines.some(({ cohort }) => cohort === name));
  const paths = [...new Set(used.flatMap(pathsOf))];
  const files = await Promise.all(
    paths.map(async (path) => ({ path, sha256: (await hashFile(checkoutFile(path))) ?? "" })),
  );
  for (const file of files) await requireCheckoutFile(file);
  return files;
}

/** Workers read what lies in their checkout, and nothing else. */
async function requireCheckoutFile(file: PlanHead["files"][number]): Promise<void> {
  const found = await requirePlanFile(file, checkoutFile("")).catch(() => null);
  if (checkoutFile(file.path) === found) return;
  throw new InputError(`no file "${file.path}" with the plan's SHA-256 is below this checkout`, {
    code: "plan.file",
    hint: "plans of a queue name files below the checkout, and every worker's checkout has the same",
  });
}

const openReproduce: OpenRuns = async (head, shared) => {
  const { plan, backend } = (shared ?? {}) as Partial<SharedPlan>;
  const checked = parsePlan(JSON.stringify(plan ?? null), head.name);
  const known: readonly (RunBackend | undefined)[] = ["wasm", "webgpu"];
  if (backend === undefined || !known.includes(backend))
    throw new InputError(`no such backend: ${String(backend)}`, { code: "plan.backend", where: head.name });
  for (const file of head.files) await requireCheckoutFile(file);
  const failureOf = (result: unknown) => {
    const outcome = result as RunOutcome;
    return outcome.kind === "failed" ? outcome.failure : null;
  };
  const readTask = createTaskReader(checked, head);
  return { module: workerFile(), shared: { plan: checked, backend }, place: "process", readTask, failureOf };
};

const lineSchema = z.strictObject({
  plan: z.string(),
  cohort: z.string(),
  system: z.enum(SYSTEM_NAMES),
  seed: z.int(),
});

/** Runs of the plan whose cohort's files were all found to be the plan's. */
function createTaskReader(plan: Plan, { files }: PlanHead): (value: unknown) => RunLine | null {
  const found = new Set(files.map(({ path }) => path));
  const cohorts = plan.cohorts.filter((cohort) => pathsOf(cohort).every((path) => found.has(path)));
  const known = new Set(cohorts.map(({ name }) => name));
  const planned = new Set(expandPlan(plan).map(lineKey));
  return (value) => {
    const line = lineSchema.safeParse(value).data;
    const isOurs = line !== undefined && line.plan === plan.name && planned.has(lineKey(line));
    return isOurs && known.has(line.cohort) ? line : null;
  };
}

const doneSchema = z.strictObject({
  kind: z.literal("done"),
  result: z.record(z.string(), z.unknown()),
  names: z.unknown(),
});

/** What a worker left, if its lines would be read as those of this run. */
function readOutcome(line: RunLine, value: unknown): RunOutcome | null {
  const done = doneSchema.safeParse(value).data;
  if (done === undefined) return null;
  const asLine = (json: unknown) => RESULT_LINES.parse(JSON.parse(JSON.stringify(json ?? null)));
  const [run, names] = [asLine({ ...done.result, version: VERSION }), asLine(done.names)];
  if (run?.kind !== "run" || names?.kind !== "cohort") return null;
  const isOurs =
    run.line.run.plan === line.plan &&
    lineKey(run.line.run) === lineKey(line) &&
    names.line.plan === line.plan &&
    names.line.cohort === line.cohort;
  return isOurs ? (value as RunOutcome) : null;
}

/** For `graduate worker` in a checkout. */
export const runKinds: Readonly<Record<string, OpenRuns>> = { reproduce: openReproduce };
