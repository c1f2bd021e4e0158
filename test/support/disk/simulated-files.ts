import { dirname } from "node:path";
import { type AppendFile, FileError, type Files, putDurably } from "../../../src/runtime/files.ts";
import { createSimulatedInode, type SimulatedInode } from "./simulated-inode.ts";
import { SimulatedNames } from "./simulated-names.ts";
import { type FileOperation, SimulatedOperations } from "./simulated-operations.ts";

export type { FileOperation };

/**
 * An in-memory disk that loses unsynced data: appended bytes are durable from the next `sync` of their file, names from
 * the next `syncDirectory`. `replace` consists of those steps, each of which can fail or be the last.
 */
export interface SimulatedFiles extends Files {
  /** The capacity in bytes. An append beyond it writes what fits, then fails with ENOSPC. */
  capacityBytes: number;
  /** Runs before each operation, which waits for it and fails with its error. */
  beforeOperation: ((operation: FileOperation, path: string) => void | Promise<void>) | null;
  /**
   * Makes the next such operation fail. A failed `sync`, or a `syncDirectory` with EIO, loses its data; a failed
   * `append` may have written a part.
   */
  failNext(operation: FileOperation, code: string, writtenBytes?: number): void;
  /**
   * Cuts the power: later operations fail, and the result is the disk after the restart. With `random`, some unsynced
   * data survives; without, none.
   */
  crash(random?: () => number): SimulatedFiles;
  /** All files as the program sees them. */
  contents(): Map<string, Uint8Array>;
}

/** A disk with these files. */
export function createSimulatedFiles(contents: ReadonlyMap<string, Uint8Array> = new Map()): SimulatedFiles {
  return simulatedFiles(
    new SimulatedNames([...contents].map(([path, bytes]) => [path, createSimulatedInode(bytes)])),
  );
}

function simulatedFiles(names: SimulatedNames): SimulatedFiles {
  const operations = new SimulatedOperations((operation, path) => disk.beforeOperation?.(operation, path));
  const freeBytes = () => Math.max(0, disk.capacityBytes - names.usedBytes());
  const disk: SimulatedFiles = {
    capacityBytes: Number.POSITIVE_INFINITY,
    beforeOperation: null,
    failNext: (operation, code, writtenBytes = 0) => operations.failNext({ operation, code, writtenBytes }),
    contents: () => new Map([...names.files].map(([path, inode]) => [path, inode.read()])),
    crash(random) {
      operations.cutPower();
      return simulatedFiles(names.afterPowerFailure(random));
    },
    ...readingOperations(names, operations),
    ...namingOperations(names, operations),
    openAppend: (path) =>
      operations.performOrFail("openAppend", path, () =>
        appendFile(path, names.findOrAdd(path), operations, freeBytes),
      ),
    async replace(path, bytes) {
      await operations.performOrFail("replace", path, () => {});
      await putDurably(
        () => writeAndRename(disk, names, operations, path, bytes),
        () => disk.syncDirectory(dirname(path)),
      );
    },
    async overwrite(path, ownBytes) {
      await operations.performOrFail("overwrite", path, () =>
        names.find("overwrite", path).overwrite(ownBytes),
      );
      await sync(path, names.find("overwrite", path), operations);
    },
  };
  return disk;
}

function readingOperations(
  names: SimulatedNames,
  operations: SimulatedOperations,
): Pick<Files, "read" | "readPieces" | "readRange" | "size" | "exists" | "isFile" | "list"> {
  return {
    async *readPieces(path) {
      yield await operations.performOrFail("read", path, () => names.find("read", path).read().slice());
    },
    read: (path) => operations.performOrFail("read", path, () => names.find("read", path).read()),
    readRange: (path, start, end) =>
      operations.performOrFail("read", path, () => names.find("read", path).read().slice(start, end)),
    size: (path) => operations.performOrFail("size", path, () => names.find("size", path).size),
    isFile: (path) => operations.performOrFail("exists", path, () => names.files.has(path)),
    exists: (path) =>
      operations.performOrFail("exists", path, () => names.files.has(path) || names.directories.has(path)),
    list: (directory) => operations.performOrFail("list", directory, () => names.list(directory)),
  };
}

function namingOperations(
  names: SimulatedNames,
  operations: SimulatedOperations,
): Pick<Files, "makeDirectory" | "rename" | "link" | "remove" | "removeAll" | "syncDirectory"> {
  return {
    makeDirectory: (path) =>
      operations.performOrFail("makeDirectory", path, () => names.addDirectories(path)),
    rename: (from, to) => operations.performOrFail("rename", from, () => names.rename(from, to)),
    link: (from, to) => operations.performOrFail("link", from, () => names.link(from, to)),
    remove: (path) => operations.performOrFail("remove", path, () => names.remove(path)),
    removeAll: (path) => operations.performOrFail("removeAll", path, () => names.removeAll(path)),
    syncDirectory: (path) =>
      operations.perform("syncDirectory", path, (fault) => {
        if (fault === null) return names.resolveChanges(path, "durable");
        if (fault.code === "EIO") names.resolveChanges(path, "doubtful"); // Any other error changes nothing.
        throw new FileError("syncDirectory", path, fault.code);
      }),
  };
}

function appendFile(
  path: string,
  inode: SimulatedInode,
  operations: SimulatedOperations,
  freeBytes: () => number,
): AppendFile {
  return {
    append: (parts) =>
      operations.perform("append", path, (fault) => {
        let room = fault?.writtenBytes ?? Number.POSITIVE_INFINITY;
        for (const part of parts) {
          const fitting = part.subarray(0, Math.min(room, freeBytes()));
          inode.append(fitting);
          room -= fitting.length;
          if (fitting.length < part.length) throw new FileError("append", path, fault?.code ?? "ENOSPC");
        }
        if (fault !== null) throw new FileError("append", path, fault.code);
      }),
    sync: () => sync(path, inode, operations),
    truncate: (sizeBytes) => operations.performOrFail("truncate", path, () => inode.truncate(sizeBytes)),
    close: () => operations.performOrFail("close", path, () => {}),
  };
}

function sync(path: string, inode: SimulatedInode, operations: SimulatedOperations): Promise<void> {
  return operations.perform("sync", path, (fault) => {
    if (fault === null) return inode.sync();
    inode.failSync();
    throw new FileError("sync", path, fault.code);
  });
}

/** Keeps counting across crashes, so that a leftover is never reused. */
let temporaryFiles = 0;

async function writeAndRename(
  disk: SimulatedFiles,
  names: SimulatedNames,
  operations: SimulatedOperations,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const temporary = `${path}.${String(++temporaryFiles).padStart(8, "0")}.tmp`;
  try {
    const file = await disk.openAppend(temporary);
    await file.append([bytes]);
    await file.sync();
    await file.close();
    await disk.rename(temporary, path);
  } catch (error) {
    if (operations.hasPower && names.files.has(temporary)) names.drop(temporary);
    throw error;
  }
}
