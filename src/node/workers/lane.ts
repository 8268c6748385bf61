/**
 * A lane: the thread or process in which runs are made, one at a time. It passes messages on and says how it ended;
 * what the messages mean is between run-worker.ts and whoever opened the lane.
 */
import { fork } from "node:child_process";
import { Worker } from "node:worker_threads";

/** A process has its own memory and CPU time, and takes longer to start. */
export type LanePlace = "thread" | "process";

/** A thread or a process. */
export interface Lane {
  post(message: unknown): void;
  end(): Promise<unknown>;
}

export interface LaneEvents {
  readonly hear: (message: unknown) => void;
  /** Called with what the worker threw, or how it ended. */
  readonly lose: (error: unknown) => void;
}

function openThread(module: URL, { hear, lose }: LaneEvents): Lane {
  // Passes on none of this process's own options: some of them cannot be given to a thread.
  const worker = new Worker(module, { execArgv: [] });
  worker.on("message", hear);
  worker.on("error", lose);
  worker.on("exit", (code) => lose(new Error(`its worker ended with exit code ${code}`)));
  return { post: (message) => worker.postMessage(message), end: () => worker.terminate() };
}

function openProcess(module: URL, { hear, lose }: LaneEvents): Lane {
  const child = fork(module, { execArgv: [], serialization: "advanced" });
  child.on("message", hear);
  child.on("error", lose);
  child.on("exit", (code, signal) => lose(new Error(`its process ended (${signal ?? `exit code ${code}`})`)));
  return {
    // A process that is gone is reported by its exit, so a failure to send to it is ignored.
    post: (message) => child.send(message as object, () => undefined),
    end: async () => child.kill("SIGKILL"),
  };
}

export function openLane(place: LanePlace, module: URL, events: LaneEvents): Lane {
  return place === "thread" ? openThread(module, events) : openProcess(module, events);
}
