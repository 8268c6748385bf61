/**
 * A lane that stays open while a worker has runs of a plan: what all runs share is sent once, then one task after
 * another, as in the pool of one machine (run-pool.ts), and to the same modules. The thread that holds the connection
 * to Redis computes nothing, so it can always say that a run is still being made.
 */
import { BackendError } from "../../core/errors.ts";
import { type LanePlace, openLane } from "../workers/lane.ts";
import { type FromRunWorker, restoreRefusal, type ToRunWorker } from "../workers/run-worker.ts";

/** What makes the runs of a plan on this machine. */
export interface RunSource {
  /** The compiled module that calls `serveRuns`. */
  readonly module: URL;
  readonly shared: unknown;
  readonly place: LanePlace;
  /** A task as it came from Redis; null where it is none. */
  readonly readTask: (value: unknown) => unknown;
  /** Why a result is none, where runs say so themselves: such a run counts as failed, and may be tried again. */
  readonly failureOf?: (result: unknown) => string | null;
}

export interface RunLane {
  /** Makes one run; another must not be under way. Rejects with one of our errors. */
  run(task: unknown, tell: (share: number) => void): Promise<unknown>;
  /** Whether it can make no more runs. */
  isLost(): boolean;
  /** Ends at once; a run under way is rejected. */
  end(): Promise<void>;
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly tell: (share: number) => void;
}

export function openRunLane({ module, shared, place }: Omit<RunSource, "readTask">): RunLane {
  let pending: Pending | null = null;
  let lost = false;
  const settle = (how: (one: Pending) => void) => {
    const one = pending;
    pending = null;
    if (one !== null) how(one);
  };
  const lose = (error: unknown) => {
    lost = true;
    const why = error instanceof Error ? error.message : String(error);
    settle(({ reject }) => reject(new BackendError(`the run failed: ${why}`, { code: "worker.failed" })));
  };
  const lane = openLane(place, module, {
    hear(message) {
      const answer = message as FromRunWorker<unknown>;
      if (answer.kind === "progress") pending?.tell(answer.share);
      else if (answer.kind === "result") settle(({ resolve }) => resolve(answer.result));
      else settle(({ reject }) => reject(restoreRefusal(answer.refusal)));
    },
    lose,
  });
  const post = (message: ToRunWorker<unknown, unknown>) => {
    try {
      lane.post(message);
    } catch (error) {
      lose(error);
    }
  };
  post({ kind: "start", shared });
  return {
    run: (task, tell) =>
      new Promise((resolve, reject) => {
        pending = { resolve, reject, tell };
        if (lost) lose(new Error("its worker has ended"));
        else post({ kind: "run", index: 0, task });
      }),
    isLost: () => lost,
    async end() {
      lose(new Error("it was stopped"));
      await lane.end();
    },
  };
}
