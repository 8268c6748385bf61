/**
 * What one worker thread of replicate-pool.ts runs: it is given the prepared groups once (their arrays in shared
 * memory), then computes blocks of bootstrap replicates as they are asked for. A replicate depends on its number
 * alone, so which worker computes it does not matter. An exception ends the worker and reaches the pool as the
 * worker's error event.
 */
import { type MessagePort, parentPort } from "node:worker_threads";
import type { People } from "../../data/outcomes/people.ts";
import { runReplicate } from "../../stats/scores/bootstrap.ts";
import { SCORE_FIELDS } from "../../stats/scores/evaluate-scores.ts";
import type { PreparedScores } from "../../stats/scores/prepared-scores.ts";

export type ToReplicateWorker =
  | {
      readonly kind: "start";
      readonly groups: readonly PreparedScores[];
      readonly seed: number;
      /** Null where every row is a person. */
      readonly people: People | null;
    }
  /** Replicates first … first + count − 1. */
  | { readonly kind: "block"; readonly first: number; readonly count: number };

export interface FromReplicateWorker {
  readonly kind: "block";
  readonly first: number;
  readonly count: number;
  readonly values: Float64Array<ArrayBuffer>; // [count, G, SCORE_FIELDS.length]
}

function serve(port: MessagePort): void {
  let groups: readonly PreparedScores[] = [];
  let seed = 0;
  let people: People | undefined;
  port.on("message", (message: ToReplicateWorker) => {
    switch (message.kind) {
      case "start":
        groups = message.groups;
        seed = message.seed;
        people = message.people ?? undefined;
        return;
      case "block": {
        const { first, count } = message;
        const size = groups.length * SCORE_FIELDS.length;
        const values = new Float64Array(count * size);
        for (let k = 0; k < count; k++) runReplicate(groups, seed, first + k, values, k * size, people);
        const answer: FromReplicateWorker = { kind: "block", first, count, values };
        port.postMessage(answer, [values.buffer]);
      }
    }
  });
}

if (parentPort !== null) serve(parentPort);
