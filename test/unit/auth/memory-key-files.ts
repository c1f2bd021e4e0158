import type { SharedFileDependencies } from "../../../src/directory/shared-file.ts";
import { FileError } from "../../../src/runtime/files.ts";
import type { AcquireLock } from "../../../src/runtime/lock.ts";

/** One file that tests can set and look at. */
type KeyFiles = SharedFileDependencies["files"];

export interface MemoryKeyFiles extends KeyFiles {
  bytes: Uint8Array | null;
  /** The code that the next reads fail with. */
  readError: string | null;
}

export function createMemoryKeyFiles(): MemoryKeyFiles {
  const file: MemoryKeyFiles = {
    bytes: null,
    readError: null,
    async read(path) {
      if (file.readError !== null) throw new FileError("read", path, file.readError);
      if (file.bytes === null) throw new FileError("read", path, "ENOENT");
      return file.bytes;
    },
    async replace(_path, bytes) {
      file.bytes = bytes;
    },
    async makeDirectory() {},
  };
  return file;
}

/** A lock for one process: held or free, by path. */
export function createMemoryLock(): AcquireLock {
  const holders = new Map<string, Parameters<AcquireLock>[1]>();
  return async (path, owner) => {
    const holder = holders.get(path);
    if (holder !== undefined) return { ok: false, owner: holder };
    holders.set(path, owner);
    return { ok: true, release: () => void holders.delete(path) };
  };
}
