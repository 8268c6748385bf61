/**
 * What one worker thread of replicate-pool.ts runs: it receives the prepared groups once (their arrays in shared
 * memory), then computes blocks of bootstrap replicates on request. A replicate depends only on its number, so it does
 * not matter which worker computes it. An exception ends the worker; computing the same replicates in one thread shows
 * where it comes from.
 */
import { GraduateError } from "../../core/errors.ts";
import type { People } from "../../data/outcomes/people.ts";
import { runReplicate } from "../../stats/scores/bootstrap.ts";
import { SCORE_FIELDS } from "../../stats/scores/evaluate-scores.ts";
import type { PreparedScores } from "../../stats/scores/prepared-scores.ts";
import { serveRuns } from "./run-worker.ts";

export interface SharedScores {
  readonly groups: readonly PreparedScores[];
  readonly seed: number;
  /** Null where every row is a person. */
  readonly people: People | null;
}

/** Replicates first … first + count − 1. */
export interface ReplicateBlock {
  readonly first: number;
  readonly count: number;
}

serveRuns<SharedScores, ReplicateBlock, Float64Array>(({ groups, seed, people }) => {
  const size = groups.length * SCORE_FIELDS.length;
  // biome-ignore lint/correctness/useYield: a block is too short to tell how far it is
  return async function* ({ first, count }) {
    const values = new Float64Array(count * size); // [count, G, SCORE_FIELDS.length]
    try {
      for (let k = 0; k < count; k++)
        runReplicate(groups, seed, first + k, values, k * size, people ?? undefined);
    } catch (error) {
      throw error instanceof GraduateError ? new Error(error.message) : error;
    }
    return values;
  };
});
