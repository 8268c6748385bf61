/** `--shard` of the commands that make many runs. */
import { Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { parseShard, type Shard, shardFile } from "../shards/shard.ts";

/** The option, which reads a cluster's variables for "auto". */
export function shardOption(): Option {
  return new Option(
    "--shard <i/n>",
    "make only the i-th of n parts of the runs; auto or auto/n: as a cluster's array counts (graduate merge follows)",
  ).argParser((text) => parseShard(text));
}

/** Every shard has a file of its own. */
export function placeShard(path: string, shard: Shard | undefined): string {
  return shard === undefined ? path : shardFile(path, shard);
}

/** What is made of all runs cannot be asked of a part of them. */
export function refuseOutcome(options: {
  readonly shard?: Shard;
  readonly out?: string;
  readonly plot?: string;
  readonly json?: boolean;
}): void {
  if (options.shard === undefined) return;
  const asked = (["out", "plot", "json"] as const).find(
    (name) => options[name] !== undefined && options[name] !== false,
  );
  if (asked === undefined) return;
  throw new InputError(`a shard makes runs and nothing of them: --${asked} needs them all`, {
    code: "option.conflict",
    hint: `merge the shards' files first, then give --${asked} without --shard`,
  });
}
