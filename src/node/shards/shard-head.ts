/**
 * The head of a shard's results file: which runs it is to make, and the command it was started with, so that `graduate
 * merge` can say what is missing and how to make it.
 */

import { z } from "zod";
import { quoteArgument } from "../../report/words/command-words.ts";
import { programName } from "../program-name.ts";
import type { Shard } from "./shard.ts";

const headSchema = z.strictObject({
  shard: z.literal(1),
  index: z.int().min(1),
  count: z.int().min(1),
  /** The command without --shard. */
  command: z.string(),
  /** Key and name of every run of this shard. */
  runs: z.array(z.tuple([z.string(), z.string()])),
});
/** The first line of a shard's file. */
export type ShardHead = Readonly<z.infer<typeof headSchema>>;

/** What the line of a head begins with. */
export const HEAD_START = '{"shard":1,';

/** Null where the line is something else. */
export function parseHead(json: unknown): ShardHead | null {
  const parsed = headSchema.safeParse(json);
  return parsed.success ? parsed.data : null;
}

/** The head of a shard, with the command that this program was started with. */
export function createHead(
  { index, count }: Shard,
  runs: ShardHead["runs"],
  args: readonly string[] = process.argv.slice(2),
): ShardHead {
  const kept = args.filter(
    (arg, k) => arg !== "--shard" && args[k - 1] !== "--shard" && !arg.startsWith("--shard="),
  );
  const command = [programName(), ...kept.map(quoteArgument)].join(" ");
  return { shard: 1, index, count, command, runs };
}
