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
  requireSameFile,
  runSubmitted,
} from "graduate-survival/node";
import { checkoutFile } from "./checkout.ts";
import { lineKey, type Plan, parsePlan, planContent, type RunLine } from "./plan.ts";
import { passOn, type ReproducePoolOptions, workerFile } from "./pool.ts";
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
      lost: (_, failure) => ({ kind: "failed", failure }),
    },
    signal,
  );
  await passOn(runner(lines), { onDone, onProgress });
}

async function describeFiles(plan: Plan, lines: readonly RunLine[]): Promise<PlanHead["files"]> {
  const used = plan.cohorts.filter(({ name }) => lines.some(({ cohort }) => cohort === name));
  const paths = used.flatMap((cohort) => [
    cohort.groups,
    cohort.kind === "table" ? cohort.table : cohort.auditOnly,
  ]);
  return Promise.all(
    [...new Set(paths)].map(async (path) => ({ path, sha256: await hashFile(checkoutFile(path)) })),
  );
}

const openReproduce: OpenRuns = async (head, shared) => {
  const { plan, backend } = (shared ?? {}) as Partial<SharedPlan>;
  const checked = parsePlan(JSON.stringify(plan ?? null), head.name);
  const known: readonly (RunBackend | undefined)[] = ["wasm", "webgpu"];
  if (backend === undefined || !known.includes(backend))
    throw new InputError(`no such backend: ${String(backend)}`, { code: "plan.backend", where: head.name });
  for (const { path, sha256 } of head.files) await requireSameFile(checkoutFile(path), path, sha256);
  const failureOf = (result: unknown) => {
    const outcome = result as RunOutcome;
    return outcome.kind === "failed" ? outcome.failure : null;
  };
  return { module: workerFile(), shared: { plan: checked, backend }, place: "process", failureOf };
};

/** For `graduate worker` in a checkout. */
export const runKinds: Readonly<Record<string, OpenRuns>> = { reproduce: openReproduce };
