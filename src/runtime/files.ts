import { dirname } from "node:path";

/**
 * Access to the disk. Paths use `/`. Every failure throws a `FileError` whose `code` is the system's (`ENOENT`,
 * `ENOSPC`, ...). `test/support/disk/simulated-files.ts` implements it with crashes and faults.
 *
 * New files and directories get the owner of the directory they are created in, whichever user this process runs as.
 */
export interface Files {
  read(path: string): Promise<Uint8Array>;
  /** Reads a file in chunks, for files that may be too large for memory. */
  readPieces(path: string): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Reads bytes from `start` (included) to `end` (excluded). The result is shorter if the file ends before. */
  readRange(path: string, start: number, end: number): Promise<Uint8Array>;
  /** The size of a regular file in bytes. */
  size(path: string): Promise<number>;
  exists(path: string): Promise<boolean>;
  /** Whether the path is a regular file: not a directory, device or pipe. */
  isFile(path: string): Promise<boolean>;
  /** Names (not paths) of a directory's entries, sorted; empty if the directory is missing. */
  list(directory: string): Promise<string[]>;
  /** Creates a directory (0700) with its parents and syncs the parent. It gets the owner of `toReplace`, if given. */
  makeDirectory(path: string, toReplace?: string): Promise<void>;
  /** Opens for appending, creating the file (0600) if it is missing. The caller syncs the directory. */
  openAppend(path: string): Promise<AppendFile>;
  /**
   * Replaces a file atomically: temporary file, fsync, rename, directory fsync. It has the mode of the file it
   * replaces, or 0600. If this fails, the old file may still be in place, or the new one is and a power failure may
   * bring the old one back (see `putDurably`).
   */
  replace(path: string, bytes: Uint8Array): Promise<void>;
  /**
   * Writes a file's own bytes over themselves and syncs them. This works on a full disk too, unless its file system
   * copies on write. Afterwards the bytes are on the disk even if an earlier sync failed; a crash in between loses none
   * of them.
   */
  overwrite(path: string, ownBytes: Uint8Array): Promise<void>;
  /**
   * Renames a file, replacing the target, or a directory, whose target must be missing or empty. It is durable once
   * both parent directories are synced, which `moveDurably` does.
   */
  rename(from: string, to: string): Promise<void>;
  /** Creates a hard link. Throws `EXDEV` and the like if the file system can't; the caller then copies. */
  link(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes a file or a directory tree; no error if it is missing. */
  removeAll(path: string): Promise<void>;
  /** Makes created, renamed and removed names durable. */
  syncDirectory(path: string): Promise<void>;
}

export interface AppendFile {
  /** Writes all parts at the end, in order. On failure an unknown part of them may have been written. */
  append(parts: readonly Uint8Array[]): Promise<void>;
  /** `fdatasync`: all appended bytes are on disk when it resolves. */
  sync(): Promise<void>;
  /** Cuts the file back to `sizeBytes`; not durable before the next `sync`. */
  truncate(sizeBytes: number): Promise<void>;
  close(): Promise<void>;
}

/** A failed disk operation. The message names the operation, the path and the meaning of the error code. */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly operation: string;
  readonly path: string;
  readonly code: string;
  /** The meaning of the code, and the code. */
  readonly reason: string;

  /** `advice` tells the operator what to do. */
  constructor(operation: string, path: string, code: string, cause?: unknown, advice: string | null = null) {
    const reason = describeCode(code);
    super(`Cannot ${operation} "${path}": ${reason}${advice === null ? "" : `. ${advice}`}`, { cause });
    this.operation = operation;
    this.path = path;
    this.code = code;
    this.reason = reason;
  }
}

/** The disk (or quota, or file size limit) is full: there may be room again later. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof FileError && ["ENOSPC", "EDQUOT", "EFBIG"].includes(error.code);
}

/** The process or the system has no free file descriptor: opening may work again in a moment. */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof FileError && ["EMFILE", "ENFILE"].includes(error.code);
}

/** A temporary lack of descriptors or memory, or an interruption: it says nothing about the disk. */
export function isPassing(error: unknown): boolean {
  const codes = ["ENOMEM", "EAGAIN", "EINTR"];
  return isOutOfDescriptors(error) || (error instanceof FileError && codes.includes(error.code));
}

/** A file's bytes, or null if it does not exist. Throws a `FileError` if it can't be read. */
export async function readIfThere(files: Pick<Files, "read">, path: string): Promise<Uint8Array | null> {
  try {
    return await files.read(path);
  } catch (error) {
    if (error instanceof FileError && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Ignores a `FileError`, for work that may fail; throws any other error again. */
export function ignoreFileError(error: unknown): void {
  if (!(error instanceof FileError)) throw error;
}

/*
 * A changed name is durable once its directory is synced. If that sync fails, the disk may have either name, and a
 * second sync alone may succeed without writing anything, so the change is repeated. If that fails too, the error is
 * thrown and the caller must not rely on either name: it restores what it needs before it removes what the other name
 * may need.
 */

/** `put` gives a file its name. It must be repeatable. */
export async function putDurably(
  put: () => Promise<void>,
  syncDirectory: () => Promise<void>,
): Promise<void> {
  await put();
  try {
    await syncDirectory();
  } catch (error) {
    ignoreFileError(error);
    await put();
    await syncDirectory();
  }
}

/** Renames a file, or a directory to a free name, durably. The target's parent is created if it is missing. */
export async function moveDurably(files: Files, from: string, to: string): Promise<void> {
  const [source, target] = [dirname(from), dirname(to)];
  await files.makeDirectory(target);
  let isMoved = false;
  await putDurably(
    async () => {
      if (isMoved) await files.rename(to, from);
      await files.rename(from, to);
      isMoved = true;
    },
    async () => {
      await files.syncDirectory(target);
      if (source !== target) await files.syncDirectory(source);
    },
  );
}

/** Meanings of the system's error codes, for messages. */
const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EAGAIN: "temporarily unavailable",
  EBUSY: "it is in use",
  EDQUOT: "the disk quota is used up",
  EEXIST: "it exists already",
  EFBIG: "the file would be larger than the system allows",
  EINTR: "a signal interrupted it",
  EIO: "the disk failed",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links lead in a circle",
  EMFILE: "this process has too many files open",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "the system has too many files open",
  ENOENT: "no such file or directory",
  ENOMEM: "the system is out of memory",
  ENOSPC: "the disk is full",
  ENOTDIR: "it or its parent is not a directory",
  ENOTEMPTY: "the directory is not empty",
  EPERM: "the system does not permit it",
  EROFS: "the disk is read-only",
  ETXTBSY: "it is a running program",
  EXDEV: "the two paths are on different file systems",
};

/** `no such file or directory (ENOENT)`; an unknown code stands alone. */
export function describeCode(code: string): string {
  const meaning = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined;
  return meaning === undefined ? code : `${meaning} (${code})`;
}
