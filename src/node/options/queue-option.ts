/** `--queue` and `--ship-table` of the commands that make many runs, and `--queue` of those that attend to a queue. */
import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import type { Shard } from "../shards/shard.ts";

/** Where the runs of a plan are made by workers. */
export interface QueueOptions {
  /** The address as it was given, password and all: never to be printed. */
  readonly queue?: string;
  readonly shipTable?: boolean;
}

export function addQueueOptions(command: Command): Command {
  return addQueueAddress(
    command,
    "let workers elsewhere make the runs, by a queue in Redis: redis://host:6379, rediss:// for TLS " +
      "(graduate worker); GRADUATE_QUEUE_KEY seals them",
  ).option("--ship-table", "put the table itself into Redis, for workers that have no copy of it");
}

/** Not parsed by the option: a complaint about an option repeats its value, which may hold a password. */
export function addQueueAddress(command: Command, what: string): Command {
  return command.option("--queue <url>", what);
}

/** Refuses options that cannot go with a queue, or only with one. */
export function refuseQueueConflicts({
  queue,
  shipTable,
  shard,
}: QueueOptions & { readonly shard?: Shard }): void {
  if (queue !== undefined && shard !== undefined) {
    throw new InputError("--queue and --shard are two ways to divide the same runs", {
      code: "option.conflict",
      hint: "leave one of them out: workers of a queue share the runs among themselves",
    });
  }
  if (shipTable === true && queue === undefined) {
    throw new InputError("--ship-table is for a queue, and none is named", {
      code: "option.conflict",
      hint: "name it with --queue redis://host:6379, or leave --ship-table out",
    });
  }
}

/** The address; a command that attends to a queue needs one. */
export function requireQueue({ queue }: QueueOptions): string {
  if (queue !== undefined) return queue;
  throw new InputError("no queue is named", {
    code: "queue.address",
    hint: "--queue redis://host:6379 names the Redis that holds it",
  });
}
