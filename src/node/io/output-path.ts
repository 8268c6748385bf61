/**
 * The paths that a command writes to, checked before minutes of work rather than after: whether they can be written,
 * whether their suffix promises what will be in them, and whether another program has written there meanwhile.
 */
import { constants } from "node:fs";
import { access, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join, parse, resolve } from "node:path";
import { InputError } from "../../core/errors.ts";
import { isTableName, listTableFiles } from "./table-files.ts";

/** Refuses a path that cannot be written to, that two files would share, or that would replace one of the `inputs`. */
export async function refuseUnwritable(
  outputs: readonly (string | undefined)[],
  inputs: readonly (string | undefined)[] = [],
): Promise<void> {
  const taken = new Map<string, "read" | "written">();
  for (const path of inputs) {
    if (path === undefined) continue;
    taken.set(await nameFile(path), "read");
    const listed = await listTableFiles(path).catch(() => null); // reading it says why
    for (const file of listed?.files ?? []) taken.set(await nameFile(file.path), "read");
  }
  for (const path of outputs) {
    if (path === undefined) continue;
    await refuseOne(path);
    const name = await nameFile(path);
    if (taken.get(dirname(name)) === "read" && isTableName(basename(name)) && taken.get(name) === undefined) {
      throw new InputError(`the command would write a table into the folder that it reads: "${path}"`, {
        code: "file.twice",
        hint: "name a file outside it: inside, it would count as a part of the table",
      });
    }
    const use = taken.get(name);
    // A pipe or a device accepts anything.
    if (use !== undefined && (await stat(path).catch(() => null))?.isFile() !== false) {
      throw new InputError(
        use === "read"
          ? `the command would write over a file that it reads: "${path}"`
          : `two outputs have the same path: "${path}"`,
        { code: "file.twice", hint: "name another file" },
      );
    }
    taken.set(name, "written");
  }
}

/** A name that is the same for every path to one file, through any links. */
async function nameFile(path: string): Promise<string> {
  return followLinks(path).catch(() => resolve(path));
}

/** A file is replaced by a new one in its folder, so both must be writable. A pipe or a device is not replaced. */
async function refuseOne(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  const isFolder = found?.isDirectory() === true;
  const target = await nameFile(path);
  const isReplaced = found === null || found.isFile();
  const places = [...(found === null ? [] : [path]), ...(isReplaced ? [dirname(target)] : [])];
  const writable = await Promise.all(places.map((place) => access(place, constants.W_OK))).then(
    () => true,
    () => false,
  );
  if (writable && !isFolder) return;
  throw new InputError(`cannot write to "${path}"`, {
    code: "file.unwritable",
    hint: isFolder ? "it is a folder; name a file in it" : "is there such a folder, and may you write to it?",
  });
}

/** The number of links that Linux follows. */
const MAX_LINKS = 40;

/**
 * The file that is meant, by a name that is not a link, whether or not anything exists at the end of the links. Its
 * folders must exist.
 */
export async function followLinks(path: string): Promise<string> {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    const folder = await realpath(dirname(target));
    const here = join(folder, basename(target));
    const next = await readlink(here).catch((error: NodeJS.ErrnoException) => {
      // Not a link, or nothing there yet.
      if (error.code === "EINVAL" || error.code === "ENOENT" || error.code === "UNKNOWN") return null;
      throw error;
    });
    if (next === null) return here;
    target = resolve(folder, next);
  }
  throw Object.assign(new Error("too many links"), { code: "ELOOP" });
}

/**
 * A mark of the file at a path, for later comparison; null if there is nothing or it is not a file. A file that has
 * changed since a run began is another program's result, worth minutes of training, and is not overwritten. A file from
 * before the run is overwritten: whoever names it again asks for that.
 */
export async function markFile(path: string | undefined): Promise<string | null> {
  const found = path === undefined ? null : await stat(path).catch(() => null);
  return found?.isFile() ? `${found.ino} ${found.size} ${found.mtimeMs}` : null;
}

/** The k-th name for what others write to a path at the same time: run.model, run-2.model, run-3.model. */
export function nameBeside(path: string, k: number): string {
  if (k === 1) return path;
  const { dir, name, ext } = parse(path);
  return `${dir === "" ? "" : `${dir.replace(/\/$/, "")}/`}${name}-${k}${ext}`;
}

/** Names that Windows keeps for devices, whatever follows the dot. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
const MOST_NAME_BYTES = 255;

/**
 * Whether a name that came from elsewhere is that of a file in the folder it is written to: no path, no hidden file, no
 * option, no device, and nothing that a terminal or a shell would take for more than a name.
 */
export function isPlainName(name: string): boolean {
  return (
    /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N} _.,+=@%()-]*[\p{L}\p{M}\p{N}_)])?$/u.test(name) &&
    !name.includes("..") &&
    !RESERVED.test(name) &&
    Buffer.byteLength(name) <= MOST_NAME_BYTES
  );
}

/** What is written, by kind: its description in a sentence, and the suffixes that fit. */
const WRITTEN = {
  curves: { what: "curves are written as CSV or Parquet", fit: [".csv", ".parquet"] },
  model: { what: "a model is written", fit: [".model"] },
  checkpoint: { what: "a checkpoint is written", fit: [".ckpt", ".checkpoint"] },
  report: { what: "the report is written as HTML", fit: [".html", ".htm"] },
  plot: { what: "the plot is written as SVG", fit: [".svg"] },
  onnx: { what: "an ONNX file is written", fit: [".onnx"] },
  repair: { what: "the repair is written as JSON", fit: [".json"] },
  runs: { what: "the runs are written as lines of JSON", fit: [".jsonl"] },
} as const;

type Written = keyof typeof WRITTEN;

/** Suffixes that promise a kind of content. */
const PROMISES: Readonly<Record<string, string>> = {
  ".csv": "a CSV file",
  ".tsv": "a file of tabs",
  ".parquet": "a Parquet file",
  ".xlsx": "a spreadsheet",
  ".gz": "a compressed file",
  ".zip": "a compressed file",
  ".model": "a model",
  ".ckpt": "a checkpoint",
  ".checkpoint": "a checkpoint",
  ".onnx": "an ONNX file",
  ".html": "a page",
  ".htm": "a page",
  ".md": "a page of Markdown",
  ".pdf": "a PDF file",
  ".svg": "an SVG file",
  ".png": "a PNG file",
  ".jpg": "a JPEG file",
  ".json": "a JSON file",
  ".jsonl": "a file of JSON lines",
};

/**
 * Refuses a name that promises another kind of file than the one written, and so misleads whoever opens it: `boost
 * --out x.model` would be a CSV file that `predict` refuses, or would overwrite a model of that name. Suffixes not
 * listed are accepted for any content.
 */
export function refuseWrongSuffix(outputs: Readonly<Partial<Record<Written, string | undefined>>>): void {
  for (const [written, path] of Object.entries(outputs)) {
    if (path === undefined) continue;
    const suffix = extname(path).toLowerCase();
    const { what, fit } = WRITTEN[written as Written];
    const promised = PROMISES[suffix];
    if (promised === undefined || (fit as readonly string[]).includes(suffix)) continue;
    throw new InputError(`${what}, but the name is that of ${promised}: "${path}"`, {
      code: "file.suffix",
      hint: `name a file that ends in ${fit.join(" or ")}`,
    });
  }
}
