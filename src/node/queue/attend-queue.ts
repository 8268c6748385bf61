/**
 * A worker: looks which plans have runs to make, serves one of them at a time, the oldest first, and keeps its table
 * while there are runs of it. A plan that this machine cannot serve (another table, no table, another version) is left
 * to other workers, and its submitter is told why. For every plan with runs under way it also looks whether their
 * worker is lost. Nothing is written to this machine's disk.
 */
import { GraduateError, InputError } from "../../core/errors.ts";
import { countOf } from "../../core/text.ts";
import { programVersion } from "../io/provenance.ts";
import type { OpenQueue } from "./open-queue.ts";
import {
  ALIVE_FOR,
  countRuns,
  forgetCollected,
  listHeads,
  type PlanCounts,
  type PlanHead,
  readShared,
  readShippedTable,
  refusePlan,
  requireSealed,
  signWorker,
} from "./plan-heads.ts";
import type { Queue, QueueWorker } from "./queue-packages.ts";
import type { OpenRuns } from "./run-kinds.ts";
import { openWorker, type ServedPlan, type ServeOptions, sayError, servePlan } from "./serve-plan.ts";
import { orAbort, pause } from "./stoppable.ts";

export interface AttendOptions extends ServeOptions {
  /** By command. */
  readonly kinds: Readonly<Record<string, OpenRuns>>;
  /** The folder below which tables are read. */
  readonly tables: string;
  /** Ends when nothing is left to make. */
  readonly untilEmpty: boolean;
  /** Takes no more runs, and waits for those under way. */
  readonly stop: AbortSignal;
  /** Gives back what is under way. */
  readonly abandon: AbortSignal;
}

/** Milliseconds between two looks at the plans, and between two looks at old ones. */
const LOOK_EVERY = 250;
const TIDY_EVERY = 60_000;
/** Milliseconds after which a plan that was refused is tried again: its table may be there now. */
const TRY_AGAIN_AFTER = 60_000;

interface SeenPlan {
  readonly head: PlanHead;
  readonly counts: PlanCounts;
}

/** Returns how many runs were made here. */
export async function attendQueue(queue: OpenQueue, options: AttendOptions): Promise<number> {
  const { name, stop, abandon, untilEmpty } = options;
  const desk = openDesk(queue, options);
  let tidiedAt = Number.NEGATIVE_INFINITY;
  const sign = () => signWorker(queue, name).catch(() => undefined);
  const signing = setInterval(sign, (ALIVE_FOR * 1000) / 3);
  try {
    await orAbort(sign(), stop);
    while (!stop.aborted) {
      if (performance.now() - tidiedAt > TIDY_EVERY) {
        tidiedAt = performance.now();
        await orAbort(forgetCollected(queue), stop);
      }
      const isLeft = await desk.turn(await orAbort(desk.look(), stop));
      if (untilEmpty && !isLeft) break;
      await pause(LOOK_EVERY, stop);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    clearInterval(signing);
    const abandoned = new Promise<void>((resolve) => {
      if (abandon.aborted) resolve();
      abandon.addEventListener("abort", () => resolve(), { once: true });
    });
    await desk.close(abandoned);
    await Promise.race([signWorker(queue, name, true).catch(() => undefined), abandoned]);
  }
  return desk.made();
}

/** The plan that is served, those that were refused, and those that are watched. */
function openDesk(queue: OpenQueue, options: AttendOptions) {
  const { name, tell } = options;
  const handles = new Map<string, Queue>();
  const watches = new Map<string, QueueWorker>();
  const refusedUntil = new Map<string, number>();
  let serving: { readonly id: string; readonly plan: ServedPlan } | null = null;
  let made = 0;

  const leave = async () => {
    const plan = serving?.plan;
    serving = null;
    await plan?.close();
    made += plan?.made() ?? 0;
  };

  /** Serves the next plan that has runs and can be served; false where there is none. */
  const takeNext = async (seen: readonly SeenPlan[]): Promise<boolean> => {
    for (const { head, counts } of seen) {
      const isRefused = (refusedUntil.get(head.id) ?? 0) > performance.now();
      if (counts.waiting === 0 || isRefused || head.id === serving?.id) continue;
      try {
        const source = await openPlan(queue, head, options);
        await refusePlan(queue, head.id, name, null);
        await leave();
        tell(`${head.name}: ${countOf(counts.waiting, "run")} waiting`);
        serving = { id: head.id, plan: servePlan(queue, head, source, options) };
        return true;
      } catch (thrown) {
        const error = thrown instanceof GraduateError ? thrown : refuseBroken(thrown);
        refusedUntil.set(head.id, performance.now() + TRY_AGAIN_AFTER);
        tell(`${head.name} is left to other workers: ${sayError(error)}`);
        await refusePlan(queue, head.id, name, sayError(error));
      }
    }
    return false;
  };

  return {
    made: () => made,
    async look(): Promise<readonly SeenPlan[]> {
      const heads = await listHeads(queue);
      return Promise.all(
        heads.map(async (head) => {
          const runs = handles.get(head.id) ?? queue.openRuns(head.id);
          handles.set(head.id, runs);
          return { head, counts: await countRuns(queue, runs) };
        }),
      );
    },
    /** Goes on to another plan where this one has no more; returns whether anything is left to make. */
    async turn(seen: readonly SeenPlan[]): Promise<boolean> {
      const current = seen.find(({ head }) => head.id === serving?.id)?.counts;
      const isIdle = (serving?.plan.running() ?? 0) === 0 && (current?.waiting ?? 0) === 0;
      if (isIdle && !(await takeNext(seen)) && (current?.active ?? 0) === 0) await leave();
      watchOthers(queue, seen, serving?.id ?? null, watches, options);
      const isOpen = ({ head, counts }: SeenPlan) =>
        counts.active > 0 || (counts.waiting > 0 && !refusedUntil.has(head.id));
      return serving !== null || seen.some(isOpen);
    },
    /** Waits for the runs under way, or gives them back once `abandoned` resolves. */
    async close(abandoned: Promise<void>): Promise<void> {
      const plan = serving?.plan;
      const left = await Promise.race([leave().then(() => true), abandoned.then(() => false)]);
      if (!left) await plan?.abandon();
      for (const one of [...watches.values(), ...handles.values()]) one.close().catch(() => undefined);
    },
  };
}

/** What no check foresaw: one plan must not end a worker. */
function refuseBroken(error: unknown): InputError {
  return new InputError(
    `the plan cannot be opened (${error instanceof Error ? error.message : String(error)})`,
    {
      code: "queue.plan",
      hint: "if this program wrote it, that is a bug: please report it with the command",
    },
  );
}

async function openPlan(queue: OpenQueue, head: PlanHead, { kinds, concurrency, tables }: AttendOptions) {
  requireSealed(queue, head);
  if (head.version !== programVersion) {
    throw new InputError(`it is of graduate ${head.version}, and this is ${programVersion}`, {
      code: "queue.programs",
      hint: "results of two versions may differ: install the same one everywhere",
    });
  }
  const open = Object.hasOwn(kinds, head.command) ? kinds[head.command] : undefined;
  if (open === undefined) {
    throw new InputError(`this worker cannot make runs of ${head.command}`, {
      code: "queue.command",
      hint: "runs of reproduce are made by workers in a checkout of the sources",
    });
  }
  const bytes = head.isShipped ? await readShippedTable(queue, head) : null;
  return open(head, await readShared(queue, head), { bytes, tables, lanes: concurrency });
}

/** Looks for lost workers in plans that are not served here, as long as runs of them are under way. */
function watchOthers(
  queue: OpenQueue,
  seen: readonly SeenPlan[],
  served: string | null,
  watches: Map<string, QueueWorker>,
  options: ServeOptions,
): void {
  const wanted = new Set(
    seen.flatMap(({ head, counts }) => (counts.active > 0 && head.id !== served ? [head.id] : [])),
  );
  for (const [id, watch] of watches) {
    if (wanted.has(id)) continue;
    watches.delete(id);
    watch.close().catch(() => undefined);
  }
  for (const id of wanted) {
    if (watches.has(id)) continue;
    const watch = openWorker(queue, id, null, options);
    watches.set(id, watch);
    watch.startStalledCheckTimer().catch(() => undefined);
  }
}
