/**
 * What is kept in this browser, if the person wants it: the table's bytes, the choices, the model and a checkpoint, as
 * files of the page's own folder (OPFS), which no other page sees. A folder that is there is the consent; forgetting
 * removes it whole.
 */
const FOLDER = "graduate-studio";

export type KeptFile = "table" | "choices" | "model" | "checkpoint";

interface SyncFile {
  getSize(): number;
  read(into: Uint8Array): number;
  write(bytes: Uint8Array): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

/** The worker's own access to a file, which every engine has. */
type WorkerFile = FileSystemFileHandle & { createSyncAccessHandle(): Promise<SyncFile> };

async function openFolder(create: boolean): Promise<FileSystemDirectoryHandle | null> {
  try {
    const root = await navigator.storage.getDirectory();
    return await root.getDirectoryHandle(FOLDER, { create });
  } catch {
    return null;
  }
}

export async function isKeeping(): Promise<boolean> {
  return (await openFolder(false)) !== null;
}

/** From here on, what is written is kept. */
export async function startKeeping(): Promise<void> {
  await openFolder(true);
}

/** Writes a file, or removes it where there is nothing to write; nothing happens without consent. */
export async function keepFile(name: KeptFile, bytes: Uint8Array | null): Promise<void> {
  const folder = await openFolder(false);
  if (folder === null) return;
  if (bytes === null) {
    await folder.removeEntry(name).catch(() => undefined);
    return;
  }
  const handle = (await folder.getFileHandle(name, { create: true })) as WorkerFile;
  const file = await handle.createSyncAccessHandle();
  try {
    file.truncate(0);
    file.write(bytes);
    file.flush();
  } finally {
    file.close();
  }
}

export async function readKept(name: KeptFile): Promise<Uint8Array<ArrayBuffer> | null> {
  const folder = await openFolder(false);
  try {
    const handle = await folder?.getFileHandle(name);
    return handle === undefined ? null : new Uint8Array(await (await handle.getFile()).arrayBuffer());
  } catch {
    return null;
  }
}

export async function forgetAll(): Promise<void> {
  const root = await navigator.storage.getDirectory().catch(() => null);
  await root?.removeEntry(FOLDER, { recursive: true }).catch(() => undefined);
}
