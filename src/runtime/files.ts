import { dirname } from "node:path";

/**
 * The disk, in our words. Paths use `/`. Every failure throws a `FileError` whose `code` is the system's
 * (`ENOENT`, `ENOSPC`, ...). `test/support/disk/simulated-files.ts` implements it with crashes and faults.
 *
 * What is made belongs to whom the directory belongs that it is made in, whoever this process is.
 */
export interface Files {
  /** The whole file. */
  read(path: string): Promise<Uint8Array>;
  /** The same a piece at a time, for one that may be too large to hold. */
  readPieces(path: string): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Its bytes from one place to before another, as far as it reaches. */
  readRange(path: string, start: number, end: number): Promise<Uint8Array>;
  /** Bytes of a regular file. */
  size(path: string): Promise<number>;
  exists(path: string): Promise<boolean>;
  /** Whether there is one that may be replaced: no directory, device or pipe. */
  isFile(path: string): Promise<boolean>;
  /** Names (not paths) of a directory's entries, sorted; none where the directory is missing. */
  list(directory: string): Promise<string[]>;
  /**
   * Makes a directory with its parents (0700) and syncs the parent; fine where it exists. It belongs to whom the
   * directory belongs that it shall replace, where that is there.
   */
  makeDirectory(path: string, toReplace?: string): Promise<void>;
  /** Opens for appending, creating the file (0600) where it is missing. The caller syncs the directory. */
  openAppend(path: string): Promise<AppendFile>;
  /**
   * Puts a file in place whole or not at all: temporary file, fsync, rename, directory fsync. It has the mode of the
   * file it replaces, or 0600. Where it fails the former file is in place, or the new one is and a power failure may
   * bring the former back (see `putDurably`).
   */
  replace(path: string, bytes: Uint8Array): Promise<void>;
  /**
   * Writes a file's own bytes over themselves and syncs them, for which a full disk has room too, unless its file
   * system copies on write. They are on the disk then, whatever became of an earlier sync; a crash meanwhile loses
   * none that were there before.
   */
  overwrite(path: string, ownBytes: Uint8Array): Promise<void>;
  /**
   * Renames a file, over another too, or a directory, where there is none of the new name or an empty one. It lasts
   * once both directories are synced, which `moveDurably` does.
   */
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name. Throws `EXDEV` and the like where the file system can't; the caller then copies. */
  link(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes a file, or a directory with all that is in it; fine where it is missing. */
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

/** A failed disk operation, with the operation, the path and what the system's error code says in its message. */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly operation: string;
  readonly path: string;
  readonly code: string;
  /** What the code says, and the code. */
  readonly reason: string;

  /** `advice` says what can be done about it. */
  constructor(operation: string, path: string, code: string, cause?: unknown, advice: string | null = null) {
    const reason = describeCode(code);
    super(`Cannot ${operation} "${path}": ${reason}${advice === null ? "" : `. ${advice}`}`, { cause });
    this.operation = operation;
    this.path = path;
    this.code = code;
    this.reason = reason;
  }
}

/** The disk (or quota, or file size limit) is full: it may have room again later. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof FileError && ["ENOSPC", "EDQUOT", "EFBIG"].includes(error.code);
}

/** The process or the system has no file descriptor left: opening may work again in a moment. */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof FileError && ["EMFILE", "ENFILE"].includes(error.code);
}

/**
 * The machine could not do it now, for want of descriptors or memory or since it was interrupted: it says nothing of
 * the disk.
 */
export function isPassing(error: unknown): boolean {
  const codes = ["ENOMEM", "EAGAIN", "EINTR"];
  return isOutOfDescriptors(error) || (error instanceof FileError && codes.includes(error.code));
}

/** A file's bytes, or null where there is none. Throws a `FileError` where it can't be read. */
export async function readIfThere(files: Pick<Files, "read">, path: string): Promise<Uint8Array | null> {
  try {
    return await files.read(path);
  } catch (error) {
    if (error instanceof FileError && error.code === "ENOENT") return null;
    throw error;
  }
}

/** For what may be left undone where the disk refuses; any other error is thrown again. */
export function unlessFileError(error: unknown): void {
  if (!(error instanceof FileError)) throw error;
}

/*
 * A name that was changed lasts once its directory is synced. Where that fails the disk may have either name, and a
 * second sync alone may succeed without writing anything, so the change is made once more. Where that fails too it is
 * thrown, and the caller must not build on either: it puts what it goes by in place again before it removes what the
 * other may need.
 */

/** `put` gives a file its name, and may be repeated. */
export async function putDurably(
  put: () => Promise<void>,
  syncDirectory: () => Promise<void>,
): Promise<void> {
  await put();
  try {
    await syncDirectory();
  } catch (error) {
    unlessFileError(error);
    await put();
    await syncDirectory();
  }
}

/** Renames a file, or a directory to where none is, for good; the new place's directory is made where it is missing. */
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

/** What the system's error codes say, for messages that people read. */
const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EAGAIN: "not possible just now",
  EBUSY: "it is in use",
  EDQUOT: "the disk quota is used up",
  EEXIST: "it is there already",
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
  ENOTDIR: "it is no directory, or lies in none",
  ENOTEMPTY: "the directory is not empty",
  EPERM: "the system does not permit it",
  EROFS: "the disk is read-only",
  ETXTBSY: "it is a program that runs",
  EXDEV: "the two lie on different file systems",
};

/** `no such file or directory (ENOENT)`; a code without a meaning of ours stands alone. */
export function describeCode(code: string): string {
  const meaning = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined;
  return meaning === undefined ? code : `${meaning} (${code})`;
}
