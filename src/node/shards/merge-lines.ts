/**
 * Files of results as one: lines of the same run become one line, whichever file they are in. Nothing is known of what
 * a run is but its key (of tune and compare) or its place in a plan (of reproduce). The result does not depend on the
 * order of files, nor on how often they are merged.
 */
import { FormatError } from "../../core/errors.ts";
import { HEAD_START, parseHead, type ShardHead } from "./shard-head.ts";

export interface ResultsText {
  readonly path: string;
  readonly text: string;
}

export interface MergedLines {
  /** Heads of plans first, then runs in the order of their keys. */
  readonly lines: readonly string[];
  readonly runs: number;
  /** A shard of which nothing, or not everything, is there. */
  readonly missing: readonly MissingRuns[];
  /** Files whose last line was cut off in the middle. */
  readonly cut: readonly string[];
}

export interface MissingRuns {
  readonly index: number;
  readonly count: number;
  /** What makes them. */
  readonly command: string;
  /** Their names; null where the shard has left no file. */
  readonly names: readonly string[] | null;
}

interface Kept {
  readonly line: string;
  readonly content: string;
  readonly isFailure: boolean;
  readonly where: string;
}

export function mergeLines(files: readonly ResultsText[]): MergedLines {
  const heads: ShardHead[] = [];
  const others = new Set<string>();
  const runs = new Map<string, Kept>();
  const cut: string[] = [];
  for (const { path, text } of files) {
    const lines = text.split("\n");
    if (lines.pop() !== "") cut.push(path);
    for (const [k, line] of lines.entries()) {
      const where = `${path}, line ${k + 1}`;
      const json = parseObject(line, where);
      const head = line.startsWith(HEAD_START) ? parseHead(json) : null;
      if (head !== null) heads.push(head);
      else take(runs, others, line, json, where);
    }
  }
  const sorted = [...runs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { line }]) => line);
  return {
    lines: [...[...others].sort(plansFirst), ...sorted],
    runs: runs.size,
    missing: findMissing(heads, runs),
    cut,
  };
}

/** The line of a plan of reproduce stands before what belongs to it. */
function plansFirst(a: string, b: string): number {
  const [first, second] = [a, b].map((line) => Number(!line.startsWith('{"reproduce":')));
  return first - second || (a < b ? -1 : 1);
}

function parseObject(line: string, where: string): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    json = null;
  }
  if (json !== null && typeof json === "object" && !Array.isArray(json))
    return json as Record<string, unknown>;
  throw new FormatError("not a results file: a line is no JSON object", {
    code: "merge.line",
    where,
    hint: "name files that tune, compare or reproduce have written",
  });
}

/** The key of a line that is a run's; null for others. */
export function keyOfLine(json: Readonly<Record<string, unknown>>): string | null {
  if (typeof json.key === "string") return json.key;
  return typeof json.run === "object" && json.run !== null ? JSON.stringify(json.run) : null;
}

function take(
  runs: Map<string, Kept>,
  others: Set<string>,
  line: string,
  json: Readonly<Record<string, unknown>>,
  where: string,
): void {
  const key = keyOfLine(json);
  if (key === null) {
    others.add(line);
    return;
  }
  // How long a run took is the one thing that differs when it is repeated.
  const { seconds: _, ...content } = json;
  // A run of reproduce that failed leaves a line without scores, and may be tried again.
  const isFailure = typeof json.failure === "string" && !("scores" in json);
  const own: Kept = { line, content: JSON.stringify(content), isFailure, where };
  const known = runs.get(key);
  if (known === undefined || (known.isFailure && !isFailure)) runs.set(key, own);
  else if (isFailure || known.content === own.content) keepEarlier(runs, key, known, own);
  else throw refuseConflict(nameOfLine(json), known, own);
}

/** Of two lines of the same content one is kept, whichever file comes first. */
function keepEarlier(runs: Map<string, Kept>, key: string, known: Kept, own: Kept): void {
  if (known.isFailure === own.isFailure && own.line < known.line) runs.set(key, own);
}

/** The setting of tune, the method and split of compare, or the place in a plan of reproduce. */
function nameOfLine({
  key: _,
  run,
  setting,
  seed,
  method,
  split,
}: Readonly<Record<string, unknown>>): string {
  const named = run ?? (setting === undefined ? { method, split } : { ...(setting as object), seed });
  const labelOf = (value: unknown) =>
    typeof value === "object" && value !== null && "label" in value ? value.label : value;
  return Object.entries(named as object)
    .map(([name, value]) => `${name} ${labelOf(value)}`)
    .join(", ");
}

function refuseConflict(name: string, known: Kept, own: Kept): FormatError {
  return new FormatError(`two different results of the same run: ${name}`, {
    code: "merge.conflict",
    where: `${known.where}; ${own.where}`,
    hint: "they are of different machines or versions: keep one of the files, or make both again with --deterministic",
  });
}

/** Of a plan that was begun in several numbers of parts, the one counts that is nearest to its end. */
function findMissing(heads: readonly ShardHead[], runs: ReadonlyMap<string, Kept>): MissingRuns[] {
  return [...new Set(heads.map(({ command }) => command))].flatMap((command) => {
    const own = heads.filter((head) => head.command === command);
    const counts = [...new Set(own.map(({ count }) => count))];
    const missing = counts.map((count) =>
      missingOf(
        command,
        count,
        own.filter((head) => head.count === count),
        runs,
      ),
    );
    return missing.reduce((least, one) => (one.length < least.length ? one : least));
  });
}

function missingOf(
  command: string,
  count: number,
  heads: readonly ShardHead[],
  runs: ReadonlyMap<string, Kept>,
): MissingRuns[] {
  return Array.from({ length: count }, (_, k) => k + 1).flatMap((index): MissingRuns[] => {
    const ofShard = heads.filter((head) => head.index === index);
    const asked = { index, count, command: `${command} --shard ${index}/${count}` };
    if (ofShard.length === 0) return [{ ...asked, names: null }];
    const listed = new Map(ofShard.flatMap((head) => head.runs));
    const names = [...listed].flatMap(([key, name]) => (runs.get(key)?.isFailure === false ? [] : [name]));
    return names.length === 0 ? [] : [{ ...asked, names }];
  });
}
