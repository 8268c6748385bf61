/**
 * The runs of an ensemble, several at a time: each has a backend of its own with a share of the threads. A step of a
 * small batch leaves threads waiting, for each other and for the loss, which one thread computes; another run uses that
 * time. The bytes do not depend on it: a run's do not depend on its threads, and no run depends on another.
 */
import type { Backend } from "../../compute/backend.ts";
import { type TrainingRequest, takesAllRows } from "../train-request.ts";

/** Beyond this a run's rows take memory that several runs at a time should not take together. */
const MOST_ROWS = 200_000;

/** A backend for each run that is made at a time. */
export interface MemberLanes {
  /** One backend for each. */
  readonly lanes: readonly Backend[];
  /** Closes what was opened for them. */
  close(): Promise<void>;
}

/** The runs that are to be made. */
export interface MemberRuns {
  /** How many there are. */
  readonly count: number;
  /** The table's rows. */
  readonly rows: number;
  readonly request: TrainingRequest;
}

/**
 * Backends like `backend`, opened by `open` with so many threads each. One lane, the backend itself, where several
 * would be no faster: a step over all rows keeps all threads busy by itself, and its activations fill the memory.
 */
export async function openMemberLanes(
  backend: Backend,
  { count, rows, request }: MemberRuns,
  open: (threads: number) => Promise<Backend>,
): Promise<MemberLanes> {
  const { threads = 1 } = backend;
  const lanes = Math.min(threads, count);
  if (backend.name !== "wasm" || takesAllRows(request) || rows > MOST_ROWS || lanes < 2) {
    return { lanes: [backend], close: async () => {} };
  }
  const opened = await Promise.all(
    Array.from({ length: lanes }, (_, lane) => open(Math.floor((threads + lane) / lanes))),
  );
  return {
    lanes: opened,
    close: async () => {
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}
