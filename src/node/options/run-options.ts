/** Options shared by commands that make many runs: seeds, and what the keys of saved runs depend on. */
import { InvalidArgumentError } from "commander";
import { InputError } from "../../core/errors.ts";
import { DISTANCES, PRESETS } from "../../training/choices.ts";
import { DEFAULT_PRESET_HIDDEN } from "../../training/options.ts";
import type { TrainRequest } from "../../verbs/train-request.ts";
import { programVersion, type TableFile } from "../io/provenance.ts";
import { hashKey } from "../io/run-results.ts";
import type { TableOptions } from "./table-options.ts";

/** "1,2,3", each once. */
export function parseSeeds(text: string): readonly number[] {
  const seeds = text.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
  if (seeds.some((seed) => !Number.isSafeInteger(seed)))
    throw new InvalidArgumentError("expected whole numbers, such as 1,2,3.");
  return [...new Set(seeds)];
}

export interface KeyOptions extends TableOptions {
  readonly deterministic?: boolean;
}

/** The part of a key that all runs of a plan share; `what` names what needs it, for error messages. */
export function hashShared(
  { sha256 }: TableFile,
  request: TrainRequest,
  options: KeyOptions,
  what: string,
): string {
  if (sha256 === null) {
    throw new InputError(`${what} needs a table in a file`, {
      code: "results.source",
      hint: "runs are kept by the file's hash, so that they can be taken up again; standard input leaves none",
    });
  }
  return hashKey({
    version: programVersion,
    table: sha256,
    read: [options.category ?? [], options.number ?? []],
    deterministic: options.deterministic === true,
    blind: request,
    defaults: [
      PRESETS,
      Object.values(DISTANCES).map(({ defaults, paper }) => ({ defaults, paper })),
      DEFAULT_PRESET_HIDDEN,
    ],
  });
}
