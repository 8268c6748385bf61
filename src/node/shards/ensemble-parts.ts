/**
 * An ensemble whose runs are made by several programs: `train --shard i/n` leaves its runs in a part beside the model's
 * path (m.model.2-of-3), and the same command without --shard finds the parts and makes the model of them. A part is
 * known by what it was asked, its table, and the program's version. A shard that is stopped goes on from its own
 * checkpoint when the same command is given again.
 */
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Backend } from "../../compute/backend.ts";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/text.ts";
import type { SavedCheckpoint } from "../../files/model/checkpoint-file.ts";
import type { SavedPart } from "../../files/model/part-file.ts";
import type { PreparedStudy } from "../../study/prepare.ts";
import { type EnsembleRequest, trainMembers } from "../../verbs/ensemble/ensemble.ts";
import { openMemberLanes } from "../../verbs/ensemble/member-lanes.ts";
import { readCheckpoint, readPart, writePart } from "../io/model-file.ts";
import { programVersion } from "../io/provenance.ts";
import type { TrainOptions } from "../options/train-options.ts";
import { type Followed, followTraining, leaveCheckpoint } from "../print/follow-training.ts";
import { print, say, warn } from "../print/output.ts";
import { openLane } from "../workers/wasm-backend.ts";
import { pickShard, type Shard } from "./shard.ts";
import { createHead } from "./shard-head.ts";

/** An ensemble that is to be trained or joined. */
export interface EnsembleRun {
  readonly study: PreparedStudy;
  readonly request: EnsembleRequest;
  readonly backend: Backend;
  /** The fingerprint of request and table. */
  readonly run: string;
  readonly options: TrainOptions;
}

/** What a shard has made. */
export interface MadePart {
  readonly part: SavedPart;
}

/** "m.model" → "m.model.2-of-3" */
export function partFile(out: string, { index, count }: Shard): string {
  return `${out}.${index}-of-${count}`;
}

const checkpointOf = (part: string) => `${part}.checkpoint`;

/** The files that a shard writes; none for a run without --shard. */
export function shardFiles({ out, shard }: TrainOptions): string[] {
  if (out === undefined || shard === undefined) return [];
  const part = partFile(out, shard);
  return [part, checkpointOf(part)];
}

/** What is made of all runs cannot be asked of a part of them. */
export function refuseShardOptions(options: TrainOptions): void {
  if (options.shard === undefined) return;
  if (options.out === undefined) {
    throw new InputError("--shard needs --out: the part is written beside the model's path", {
      code: "option.missing",
      hint: "give --out m.model: the part is m.model.1-of-3, and the model follows when all parts are there",
    });
  }
  const own = (["resume", "checkpoint"] as const).find((name) => options[name] !== undefined);
  if (own !== undefined) {
    throw new InputError(`a shard keeps a checkpoint of its own: leave --${own} out`, {
      code: "option.conflict",
      hint: "given again, the same command goes on where it was stopped",
    });
  }
  const isAsked = { report: options.report, json: options.json, require: options.require };
  const asked = Object.entries(isAsked).find(
    ([, value]) => value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0),
  );
  if (asked === undefined) return;
  throw new InputError(`a shard trains some of the runs and makes no model: --${asked[0]} needs them all`, {
    code: "option.conflict",
    hint: `give --${asked[0]} without --shard, once all parts are there`,
  });
}

/** Trains the members of one shard and writes them; null where Ctrl-C stopped it, which leaves a checkpoint. */
export async function trainShard(
  { study, request, backend, run, options }: EnsembleRun,
  shard: Shard,
  lost: SavedCheckpoint | null,
): Promise<MadePart | Required<Pick<Followed, "lost" | "checkpoint">> | null> {
  if (request.ensemble === 1) {
    throw new InputError("--shard divides the runs of an ensemble, and this is one run", {
      code: "option.conflict",
      hint: "ask for several: --ensemble 5",
    });
  }
  if (study.sha256 === null) {
    throw new InputError("a shard needs a table in a file: its parts are known by the file's hash", {
      code: "option.conflict",
      hint: "write the table to a file first",
    });
  }
  const path = partFile(options.out ?? "", shard);
  const made = await findMade(path, { run, options });
  if (made !== null) return { part: made };
  const tasks = Array.from({ length: request.ensemble }, (_, place) => place);
  const places = pickShard(tasks, shard);
  const checkpoint = checkpointOf(path);
  const own = `${run} ${shard.index}/${shard.count}`;
  const resume = lost ?? (await findCheckpoint(checkpoint, own));
  const runs = { count: places.length, rows: study.table.rows, request };
  const { lanes, close } = await openMemberLanes(backend, runs, (threads) => openLane(options, threads));
  const events = trainMembers(study, request, backend, {
    places,
    lanes,
    ...(resume && { resume: { checkpoint: resume.checkpoint, members: resume.members ?? [] } }),
  });
  const begun = { run: own, history: resume?.history ?? [] };
  const followed = await followTraining(events, { ...options, checkpoint }, begun, []).finally(close);
  if (followed.lost !== undefined) return { lost: followed.lost, checkpoint: followed.checkpoint };
  if (followed.model === null) {
    await leaveCheckpoint(followed.checkpoint, { ...options, checkpoint });
    return null;
  }
  const deterministic = options.deterministic === true;
  const part = { ...followed.model, ...shard, run, version: programVersion, deterministic };
  await writePart(path, part);
  await rm(checkpoint, { force: true });
  return { part };
}

/** The part as it was made before by the same command, if it was. */
async function findMade(
  path: string,
  asked: Pick<EnsembleRun, "run" | "options">,
): Promise<SavedPart | null> {
  if (!existsSync(path)) return null;
  const part = await readPart(path).catch(() => null);
  if (part === null || findDifference(part, asked) !== null) {
    warn(`${path} is of another run or damaged: it is made anew`);
    return null;
  }
  say(`graduate: ${path} is there already, and nothing is trained`);
  return part;
}

async function findCheckpoint(path: string, run: string): Promise<SavedCheckpoint | null> {
  if (!existsSync(path)) return null;
  const saved = await readCheckpoint(path).catch(() => null);
  if (saved?.run === run) return saved;
  warn(`${path} is of another run or damaged: the shard begins anew`);
  return null;
}

/** What keeps a part from belonging to this run, in words; null where nothing does. */
function findDifference(
  part: SavedPart,
  { run, options }: Pick<EnsembleRun, "run" | "options">,
): string | null {
  if (part.version !== programVersion)
    return `was made by version ${part.version} of the program, and this is ${programVersion}`;
  if (part.run !== run) return "belongs to another run: other options, or another table";
  if (part.deterministic === (options.deterministic === true)) return null;
  return `was made ${part.deterministic ? "with" : "without"} --deterministic`;
}

export function sayPart({ members, index, count }: SavedPart, { out = "" }: TrainOptions): void {
  const { command } = createHead({ index, count }, []);
  const places = members.map(({ place }) => place + 1).join(", ");
  const what = members.length === 0 ? "no runs" : `${members.length === 1 ? "run" : "runs"} ${places}`;
  print(`part ${index} of ${count} is in ${partFile(out, { index, count })}: ${what}`);
  print(`when all ${countOf(count, "part")} are there, the same command without --shard makes the model`);
  print(`  ${command}`);
}

/** The parts beside the model's path; null where there are none. Refuses parts of other runs, or without the rest. */
export async function findParts({
  run,
  options,
  request,
}: EnsembleRun): Promise<readonly SavedPart[] | null> {
  const { out } = options;
  if (out === undefined || options.resume !== undefined) return null;
  const found = await listParts(out);
  if (found.length === 0) return null;
  const [{ count }] = found;
  const other = found.find((one) => one.count !== count);
  if (other !== undefined) {
    throw refuseParts(`parts of two divisions: ${found[0].path} and ${other.path}`);
  }
  const parts: SavedPart[] = [];
  for (const { path } of found) {
    const part = await readPart(path);
    const difference = findDifference(part, { run, options });
    if (difference !== null) throw refuseParts(`${path} ${difference}`);
    parts.push(part);
  }
  refuseMissing(out, count, parts);
  say(`graduate: ${countOf(request.ensemble, "run")} from ${countOf(count, "part")} beside ${out}`);
  return parts;
}

interface ListedPart extends Shard {
  readonly path: string;
}

async function listParts(out: string): Promise<ListedPart[]> {
  const names = await readdir(dirname(out)).catch(() => []);
  const start = `${basename(out)}.`;
  return names
    .flatMap((name): ListedPart[] => {
      const [, index, count] = /^(\d+)-of-(\d+)$/.exec(name.slice(start.length)) ?? [];
      if (!name.startsWith(start) || index === undefined) return [];
      return [{ path: join(dirname(out), name), index: Number(index), count: Number(count) }];
    })
    .sort((a, b) => a.count - b.count || a.index - b.index);
}

function refuseParts(message: string): InputError {
  return new InputError(message, {
    code: "ensemble.parts",
    hint:
      "give the table and options that the parts were made with, or remove the parts, " +
      "and all runs are trained here",
  });
}

function refuseMissing(out: string, count: number, parts: readonly SavedPart[]): void {
  const indices = Array.from({ length: count }, (_, k) => k + 1);
  const missing = indices.filter((index) => !parts.some((part) => part.index === index));
  if (missing.length === 0) return;
  const { command } = createHead({ index: missing[0], count }, []);
  const names = missing.map((index) => partFile(out, { index, count })).join(", ");
  throw new InputError(`${missing.length === 1 ? "a part is" : "parts are"} missing: ${names}`, {
    code: "ensemble.parts",
    hint: `it is made by: ${command} --shard ${missing[0]}/${count}; without any part, all runs are trained here`,
  });
}
