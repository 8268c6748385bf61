/**
 * A shard: one of n parts of a plan's runs, made by a program of its own, on one machine or on many. Which runs belong
 * to it depends on the plan and on n alone, so shards need not know of each other. Shards count from 1.
 */
import { basename, dirname, extname, join } from "node:path";
import { InvalidArgumentError } from "commander";
import { InputError } from "../../core/errors.ts";
import { createRandom } from "../../core/random.ts";

/** One part of a plan's runs. */
export interface Shard {
  /** From 1 to the number of shards. */
  readonly index: number;
  /** The number of shards. */
  readonly count: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const EXPECTED = "expected i/n such as 2/8, counted from 1, or auto or auto/n where a cluster counts.";

/** "2/8"; "auto" takes both numbers from Slurm's array; "auto/8" its place from Slurm's array or a Kubernetes job. */
export function parseShard(text: string, environment: Environment = process.env): Shard {
  const [, place, of] = /^(auto|\d+)(?:\/(\d+))?$/.exec(text.trim()) ?? [];
  if (place === undefined || (place !== "auto" && of === undefined)) throw new InvalidArgumentError(EXPECTED);
  const slurm = readSlurm(environment);
  const index = place === "auto" ? (slurm?.index ?? readKubernetes(environment)) : Number(place);
  const count = of === undefined ? (slurm?.count ?? null) : Number(of);
  if (index === null) throw refuseAuto("SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set");
  if (count === null) throw refuseAuto("SLURM_ARRAY_TASK_COUNT is set, and --shard auto/n was not given");
  if (index >= 1 && index <= count) return { index, count };
  if (place !== "auto") throw new InvalidArgumentError(EXPECTED);
  throw new InputError(`the cluster's task is number ${index}, and there are ${count} shards`, {
    code: "shard.place",
    hint: "let the array have as many tasks as there are shards",
  });
}

/** An array may begin anywhere and go in steps: --array=0-6:2 has the tasks 0, 2, 4 and 6. */
function readSlurm(environment: Environment): Shard | null {
  const {
    SLURM_ARRAY_TASK_ID: id,
    SLURM_ARRAY_TASK_MIN: first = "1",
    SLURM_ARRAY_TASK_STEP: step = "1",
    SLURM_ARRAY_TASK_COUNT: count,
  } = environment;
  if (id === undefined || count === undefined) return null;
  return { index: (Number(id) - Number(first)) / Number(step) + 1, count: Number(count) };
}

/** Kubernetes counts from 0 and does not say how many there are. */
function readKubernetes({ JOB_COMPLETION_INDEX: index }: Environment): number | null {
  return index === undefined ? null : Number(index) + 1;
}

function refuseAuto(why: string): InputError {
  return new InputError(`--shard auto: neither ${why}`, {
    code: "shard.auto",
    hint: "such a task belongs to a job array; elsewhere name the shard: --shard 1/4",
  });
}

/** "runs.jsonl" → "runs.2-of-8.jsonl" */
export function shardFile(path: string, { index, count }: Shard): string {
  const suffix = extname(path);
  return join(dirname(path), `${basename(path, suffix)}.${index}-of-${count}${suffix}`);
}

/**
 * Indices of a shard's tasks, in the order of the plan. Tasks of one kind go to one shard, since they share work. Kinds
 * are dealt out after a shuffle that is always the same: in a plan, long runs come at regular places.
 */
export function pickShard<Task>(
  tasks: readonly Task[],
  { index, count }: Shard,
  affinity: (task: Task) => string | null = () => null,
): number[] {
  const named = tasks.map((task, k) => affinity(task) ?? `task ${k}`);
  const kinds = [...new Set(named)];
  const random = createRandom(kinds.length);
  for (let k = kinds.length - 1; k > 0; k--) {
    const other = Math.floor(random.uniform() * (k + 1));
    [kinds[k], kinds[other]] = [kinds[other], kinds[k]];
  }
  const own = new Set(kinds.filter((_, k) => k % count === index - 1));
  return named.flatMap((kind, k) => (own.has(kind) ? [k] : []));
}
