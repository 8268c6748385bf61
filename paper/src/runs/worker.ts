/**
 * What one process of pool.ts runs: one line of a plan after the other, each with its own backend, one thread, and
 * arithmetic that is the same on every machine; or all of them on a graphics device, where a run's bytes are that
 * device's. It is a process and not a thread, so that it has its own CPU time: the
 * seconds of a run do not depend on what else the machine does. Tables and groups files are read here, once; a network
 * that the next run shares is kept. A run that is refused or diverges is answered with the error's message; the other
 * runs go on.
 */

import type { Backend } from "graduate-survival";
import { GraduateError } from "graduate-survival/core";
import { openWasmBackend, openWebGpuBackend, serveRuns } from "graduate-survival/node";
import type { Model } from "graduate-survival/training";
import { runWithShares } from "graduate-survival/verbs";
import { keepLastTruth } from "../eye/truth.ts";
import { readSources } from "./cohort-sources.ts";
import type { CohortSources } from "./cohorts.ts";
import type { CohortPlan, Plan, RunLine } from "./plan.ts";
import type { CohortNames, RunResult } from "./results.ts";
import { runLine } from "./run.ts";
import { type NetworkShelf, networkKey } from "./shared-network.ts";

/** The result of a line. */
export type RunOutcome =
  | { readonly kind: "done"; readonly result: Omit<RunResult, "version">; readonly names: CohortNames }
  | { readonly kind: "failed"; readonly failure: string };

/** Where networks are trained. */
export type RunBackend = "wasm" | "webgpu";

/** What all runs of a process share. */
export interface SharedPlan {
  readonly plan: Plan;
  readonly backend: RunBackend;
}

/** The share of training in a run's progress; the rest is scoring. */
const FITTING_SHARE = 0.9;

const prepareTruth = keepLastTruth();
/** The last network that several systems share, and the seconds its training took. */
let shared: { readonly key: string; readonly model: Model; readonly seconds: number } | null = null;
const opened = new Map<string, Promise<CohortSources>>();

function openSources(cohort: CohortPlan): Promise<CohortSources> {
  const key = JSON.stringify(cohort);
  const known = opened.get(key) ?? readSources(cohort);
  opened.set(key, known);
  return known;
}

/** A graphics device is opened once for all runs of the process. */
let device: Promise<Backend> | null = null;

async function withBackend<Result>(
  name: RunBackend,
  use: (backend: Backend) => Promise<Result>,
): Promise<Result> {
  if (name === "webgpu") {
    device ??= openWebGpuBackend();
    return use(await device);
  }
  const backend = await openWasmBackend({ threads: 1, deterministic: true });
  try {
    return await use(backend);
  } finally {
    await backend.close();
  }
}

async function run(shared: SharedPlan, line: RunLine, tell: (share: number) => void): Promise<RunOutcome> {
  try {
    return await withBackend(shared.backend, async (backend) => runOn(backend, shared, line, tell));
  } catch (error) {
    // A bug fails its run like any other error: hours of other runs are worth more than its stack.
    const what =
      error instanceof GraduateError ? error.message : error instanceof Error ? error.stack : error;
    return { kind: "failed", failure: String(what) };
  }
}

async function runOn(
  backend: Backend,
  { plan, backend: name }: SharedPlan,
  line: RunLine,
  tell: (share: number) => void,
): Promise<RunOutcome> {
  const cohort = plan.cohorts.find(({ name }) => name === line.cohort);
  if (cohort === undefined) throw new Error(`no cohort ${line.cohort}`);
  const sources = await openSources(cohort);
  const started = cpuSeconds();
  let [steps, fittedAt] = [0, started];
  // The reported time of a run is the time it takes by itself.
  let before = 0;
  const key = networkKey(plan, line);
  const shelf: NetworkShelf = {
    find() {
      if (shared === null || shared.key !== key) return undefined;
      before = shared.seconds;
      return shared.model;
    },
    keep(model) {
      shared = { key: key ?? "", model, seconds: cpuSeconds() - started };
    },
  };
  const { result, names } = await runLine(plan, line, sources, backend, {
    prepareTruth,
    ...(key === null ? {} : { shelf }),
    onEvent(event) {
      if (event.type === "start") steps = event.steps;
      if (event.type === "step") tell(FITTING_SHARE * Math.min(1, event.step / Math.max(1, steps)));
    },
    onFitted() {
      fittedAt = cpuSeconds();
      tell(FITTING_SHARE);
    },
  });
  const tenths = (seconds: number) => Number(seconds.toFixed(1));
  const seconds = { fit: tenths(before + fittedAt - started), score: tenths(cpuSeconds() - fittedAt) };
  const where = name === "webgpu" ? ({ backend: name } as const) : {};
  return { kind: "done", result: { ...result, ...where, seconds }, names };
}

/** CPU seconds of this process since it began. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

serveRuns<SharedPlan, RunLine, RunOutcome>(
  (shared) => (line) => runWithShares((tell) => run(shared, line, tell)),
);
