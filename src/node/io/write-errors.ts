/** Why a file could not be read or written, in words: what the system's codes mean to a person. */
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";

const WRITING: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EIO: "the disk reports an error",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOENT: "no such folder",
  ENOTDIR: "no such folder",
  EISDIR: "a folder has that name",
  EFBIG: "the file would be too large",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "its links lead in a circle",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  EBADF: "it is closed",
  ETXTBSY: "a running program is in it",
};

const READING: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
};

export function explainErrno(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? "unknown reason" : (WRITING[code] ?? code);
}

/** `what` names the contents: "the model". */
export function createUnwritableError(path: string, what: string, error: unknown, hint?: string): InputError {
  return new InputError(`cannot write ${what}: "${path}" (${explainErrno(error)})`, {
    code: "file.unwritable",
    ...present({ hint }),
  });
}

export function explainUnreadable(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? "unknown reason" : (READING[code] ?? code);
}

/** `what` names the contents: "the groups file". */
export function createUnreadableError(path: string, what: string, error: unknown): InputError {
  return new InputError(`cannot read ${what}: "${path}" (${explainUnreadable(error)})`, {
    code: "file.unreadable",
  });
}
