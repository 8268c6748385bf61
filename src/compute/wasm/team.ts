/**
 * The threads of a wasm backend and the one job they share: starting them, giving them a job through shared memory,
 * learning that the last of them has finished, ending them. Nothing here blocks, so it can run where a browser forbids
 * blocking: threads sleep on the job block, and the end of a job comes back as a message.
 */
import { BackendError } from "../../core/errors.ts";
import {
  JOB_GENERATION,
  JOB_KERNEL,
  JOB_NEXT_SLOT,
  JOB_QUIT,
  JOB_RUNNING,
  JOB_WORDS,
} from "./kernels/job.ts";
import type { KernelMemory, KernelModule } from "./worker.ts";
import { type FromKernelThread, KERNELS, type KernelName, type StartKernels } from "./worker.ts";

export interface KernelThread {
  start(message: StartKernels): void;
  /** Between hold and release the thread keeps the process alive. */
  hold(): void;
  release(): void;
  end(): Promise<void>;
}

export type StartThread = (listen: (message: FromKernelThread) => void) => KernelThread;

/** A job's words by their number in job.ts; words not named are zero. */
export type JobWords = Record<number, number>;

export interface KernelTeam {
  isBusy(): boolean;
  /** Throws unless the team is free to run this kernel. */
  check(kernel: KernelName): void;
  run(kernel: KernelName, job: JobWords): Promise<void>;
  close(): Promise<void>;
}

const WHY_NOT = {
  busy: "another operation is still running",
  closed: "it was closed",
  failed: "it failed before",
} as const;

function refuseThread(what: string): BackendError {
  return new BackendError(`a thread of the wasm backend ${what}`, { code: "worker.failed" });
}

function writeJob(words: Int32Array, kernel: KernelName, jobWords: JobWords, threads: number): void {
  words.fill(0, JOB_NEXT_SLOT);
  for (const [place, value] of Object.entries(jobWords)) words[Number(place)] = value;
  words[JOB_KERNEL] = KERNELS.findIndex((entry) => entry.run === kernel);
  words[JOB_RUNNING] = threads;
}

/** Resolves when every thread is ready; `job` is the address of JOB_WORDS words. */
export async function startTeam(
  module: KernelModule,
  memory: KernelMemory,
  job: number,
  threads: number,
  startThread: StartThread,
): Promise<KernelTeam> {
  const words = new Int32Array(memory.buffer, job, JOB_WORDS);
  const team: KernelThread[] = [];
  let state: "idle" | "busy" | "closed" | "failed" = "idle";
  let settle: (failure: BackendError | null) => void = () => {};

  function fail(what: string): void {
    const failure = refuseThread(`failed: ${what}`);
    if (state === "busy") settle(failure);
    else if (state === "idle") state = "failed";
  }

  function wake(): void {
    Atomics.add(words, JOB_GENERATION, 1);
    Atomics.notify(words, JOB_GENERATION);
  }

  async function close(): Promise<void> {
    if (state === "closed") return;
    state = "closed";
    words[JOB_KERNEL] = JOB_QUIT;
    wake();
    await Promise.all(team.map((thread) => thread.end()));
  }

  try {
    await new Promise<void>((resolve, reject) => {
      let ready = 0;
      /** Rejecting has no effect once all threads are ready. */
      const listen = (message: FromKernelThread) => {
        if (message.kind === "ready" && ++ready === threads) resolve();
        if (message.kind === "done") settle(null);
        if (message.kind !== "failed") return;
        reject(refuseThread(`did not start: ${message.what}`));
        fail(message.what);
      };
      for (let thread = 0; thread < threads; thread++) {
        const handle = startThread(listen);
        team.push(handle);
        handle.start({ kind: "start", module, memory, job, thread });
      }
    });
  } catch (error) {
    await close();
    throw error;
  }
  for (const thread of team) thread.release();

  return {
    isBusy: () => state === "busy",
    check(kernel) {
      if (state === "idle") return;
      throw new BackendError(`the wasm backend cannot run ${kernel}: ${WHY_NOT[state]}`, {
        code: `backend.${state}`,
      });
    },
    run(kernel, jobWords) {
      writeJob(words, kernel, jobWords, threads);
      state = "busy";
      for (const thread of team) thread.hold();
      return new Promise((resolve, reject) => {
        settle = (failure) => {
          if (state !== "busy") return;
          for (const thread of team) thread.release();
          state = failure === null ? "idle" : "failed";
          if (failure === null) resolve();
          else reject(failure);
        };
        wake();
      });
    },
    close,
  };
}
