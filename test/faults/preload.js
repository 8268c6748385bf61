// Loaded before the program (--import): counts what the program does to files of one folder, and to its standard output, and makes one
// of those operations fail. What it replaces are the functions of Node's own modules; the program is as it is.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const REAL = {
  openSync: fs.openSync,
  closeSync: fs.closeSync,
  writeSync: fs.writeSync,
  fsyncSync: fs.fsyncSync,
  renameSync: fs.renameSync,
  writeFileSync: fs.writeFileSync,
  appendFileSync: fs.appendFileSync,
  open: fs.promises.open,
  rename: fs.promises.rename,
  writeFile: fs.promises.writeFile,
  appendFile: fs.promises.appendFile,
};

/** What is watched, what has been seen, and which operation fails with what; null when nobody asks. */
let watch = null;
const paths = new Map();

globalThis.faults = {
  /** `fault`: { at: which operation, from 0, code } or null. */
  begin(folder, fault) {
    watch = { folder, fault, seen: [], failed: false };
  },
  end() {
    const { seen, failed } = watch;
    watch = null;
    return { seen, failed };
  },
};

const isWriting = (flags) => typeof flags === "number" || /[wa+]/.test(flags ?? "r");
/** In the folder, or the folder itself; its name ends in a slash. */
const isWatched = (path) => watch !== null && `${path}/`.startsWith(watch.folder);

function fail(code, kind) {
  const error = new Error(`${code}: made to fail, ${kind}`);
  return Object.assign(error, { code, syscall: kind, errno: -1 });
}

/** Counts an operation; the code that it shall fail with, or null. */
function meet(kind, path) {
  const at = watch.seen.length;
  watch.seen.push({ kind, path: String(path).slice(watch.folder.length) });
  if (watch.fault?.at !== at) return null;
  watch.failed = true;
  return watch.fault.code;
}

/** `SHORT`: half of the bytes are written, as a disk that fills up does; the next write finds it full. */
function meetWrite(path, bytes) {
  const code = watch.full === path ? "ENOSPC" : meet("write", path);
  if (code !== "SHORT") return { code, length: null };
  watch.full = path;
  return { code: null, length: Math.floor(bytes / 2) };
}

function wrapHandle(handle, path) {
  const { write, writeFile, sync, datasync } = handle;
  const watched = () => isWatched(path);
  handle.write = async (bytes, offset = 0, length = bytes.length - offset, ...rest) => {
    if (!watched()) return write.call(handle, bytes, offset, length, ...rest);
    const { code, length: part } = meetWrite(path, length);
    if (code !== null) throw fail(code, "write");
    return write.call(handle, bytes, offset, part ?? length, ...rest);
  };
  handle.writeFile = async (...given) => {
    const code = watched() ? meet("write", path) : null;
    if (code !== null) throw fail(code, "write");
    return writeFile.apply(handle, given);
  };
  for (const [name, real] of Object.entries({ sync, datasync })) {
    handle[name] = async () => {
      const code = watched() ? meet("fsync", path) : null;
      if (code !== null) throw fail(code, "fsync");
      return real.call(handle);
    };
  }
  return handle;
}

fs.promises.open = async (path, flags, mode) => {
  const code = isWatched(path) && isWriting(flags) ? meet("open", path) : null;
  if (code !== null) throw fail(code, "open");
  return wrapHandle(await REAL.open(path, flags, mode), path);
};
for (const name of ["rename", "writeFile", "appendFile"]) {
  const kind = name === "rename" ? "rename" : "write";
  fs.promises[name] = async (...given) => {
    const code = isWatched(given[0]) ? meet(kind, given[0]) : null;
    if (code !== null) throw fail(code, kind);
    return REAL[name](...given);
  };
  fs[`${name}Sync`] = (...given) => {
    const code = isWatched(given[0]) ? meet(kind, given[0]) : null;
    if (code !== null) throw fail(code, kind);
    return REAL[`${name}Sync`](...given);
  };
}
fs.openSync = (path, flags, mode) => {
  const code = isWatched(path) && isWriting(flags) ? meet("open", path) : null;
  if (code !== null) throw fail(code, "open");
  const file = REAL.openSync(path, flags, mode);
  paths.set(file, path);
  return file;
};
fs.closeSync = (file) => {
  paths.delete(file);
  REAL.closeSync(file);
};
fs.writeSync = (file, bytes, offset = 0, length = bytes.length - offset, ...rest) => {
  const path = watch !== null && file === 1 ? `${watch.folder}(standard output)` : paths.get(file);
  if (!isWatched(path)) return REAL.writeSync(file, bytes, offset, length, ...rest);
  const { code, length: part } = meetWrite(path, length);
  if (code !== null) throw fail(code, "write");
  return REAL.writeSync(file, bytes, offset, part ?? length, ...rest);
};
fs.fsyncSync = (file) => {
  const path = paths.get(file);
  const code = isWatched(path) ? meet("fsync", path) : null;
  if (code !== null) throw fail(code, "fsync");
  REAL.fsyncSync(file);
};
syncBuiltinESMExports();
