import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, link, open, readdir, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { type AppendFile, FileError, type Files, putDurably } from "./files.ts";
import { codeOf, fileErrorOf } from "./node-error.ts";
import { createDirectory, createFile } from "./owner.ts";

/** Linux takes at most this many parts in one `writev`. */
const PARTS_MAX = 1024;

export function createNodeFiles(): Files {
  return {
    read: (path) => attempt("read", path, () => readFile(path)),
    readPieces,
    readRange: (path, start, end) => attempt("read", path, () => readRange(path, start, end)),
    size: (path) => attempt("measure", path, async () => (await stat(path)).size),
    exists: async (path) => (await find(path)) !== null,
    isFile: async (path) => (await find(path))?.isFile() ?? false,
    async list(directory) {
      const names = await unlessCode(
        "ENOENT",
        attempt("list", directory, () => readdir(directory)),
      );
      return names?.sort() ?? [];
    },
    makeDirectory,
    openAppend: (path) => attempt("open", path, async () => appendFile(path, await openOrCreate(path))),
    replace,
    overwrite: (path, ownBytes) => attempt("overwrite", path, () => overwrite(path, ownBytes)),
    rename: (from, to) => attempt("rename", from, () => rename(from, to)),
    link: (from, to) => attempt("link", from, () => link(from, to)),
    remove: (path) => attempt("remove", path, () => unlink(path)),
    removeAll: (path) => attempt("remove", path, () => rm(path, { recursive: true, force: true })),
    syncDirectory,
  };
}

const PIECE_BYTES = 256 * 1024;

async function* readPieces(path: string): AsyncIterable<Uint8Array<ArrayBuffer>> {
  const handle = await attempt("open", path, () => open(path, "r"));
  try {
    for (;;) {
      const piece = new Uint8Array(PIECE_BYTES);
      const { bytesRead } = await attempt("read", path, () => handle.read(piece));
      if (bytesRead === 0) return;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function readRange(path: string, start: number, end: number): Promise<Uint8Array> {
  const handle = await open(path, "r");
  try {
    const bytes = new Uint8Array(end - start);
    for (let length = 0; length < bytes.length; ) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, start + length);
      if (bytesRead === 0) return bytes.subarray(0, length);
      length += bytesRead;
    }
    return bytes;
  } finally {
    await handle.close();
  }
}

async function openOrCreate(path: string): Promise<FileHandle> {
  try {
    return await createFile(path, "ax");
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return open(path, "a");
  }
}

function appendFile(path: string, handle: FileHandle): AppendFile {
  return {
    append: (parts) => attempt("append to", path, () => writeAll(handle, parts)),
    sync: () => attempt("sync", path, () => handle.datasync()),
    truncate: (sizeBytes) => attempt("truncate", path, () => handle.truncate(sizeBytes)),
    close: () => attempt("close", path, () => handle.close()),
  };
}

/** A write may be partial, because of a full disk or a signal: the rest is written until it is complete or fails. */
async function writeAll(handle: FileHandle, parts: readonly Uint8Array[]): Promise<void> {
  let rest = parts.filter((part) => part.length > 0);
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest.slice(0, PARTS_MAX));
    rest = withoutFirst(rest, bytesWritten);
  }
}

function withoutFirst(parts: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let index = 0;
  let left = bytes;
  while (index < parts.length && left >= parts[index]!.length) left -= parts[index++]!.length;
  const rest = parts.slice(index);
  if (left > 0) rest[0] = rest[0]!.subarray(left);
  return rest;
}

/** A crash may leave the temporary file, whose name ends in `.tmp`. */
function replace(path: string, bytes: Uint8Array): Promise<void> {
  return putDurably(
    () => attempt("replace", path, () => putInPlace(path, bytes)),
    () => syncDirectory(dirname(path)),
  );
}

async function putInPlace(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await writeWhole(temporary, bytes, await find(path));
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined); // The first failure matters.
    throw error;
  }
}

async function writeWhole(path: string, bytes: Uint8Array, former: Stats | null): Promise<void> {
  const handle = await createFile(path, "wx", former);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function overwrite(path: string, ownBytes: Uint8Array): Promise<void> {
  const handle = await open(path, "r+"); // A file opened for appending writes only at its end.
  try {
    await writeAll(handle, [ownBytes]); // Never shortens the file, even on failure.
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function makeDirectory(path: string, toReplace: string | null = null): Promise<void> {
  const parent = dirname(path);
  if (await isDirectory(path)) {
    // The process that created it may have crashed before this sync. A parent that can't be read is not ours to sync.
    await syncDirectory(parent).catch(() => undefined);
    return;
  }
  if (parent !== path) await makeDirectory(parent);
  const replaced = toReplace === null ? null : await find(toReplace);
  await unlessCode(
    "EEXIST",
    attempt("make directory", path, () => createDirectory(path, replaced)),
  );
  await syncDirectory(parent);
}

async function isDirectory(path: string): Promise<boolean> {
  const stats = await find(path);
  if (stats === null || stats.isDirectory()) return stats !== null;
  throw new FileError("make directory", path, "ENOTDIR");
}

function find(path: string): Promise<Stats | null> {
  return unlessCode(
    "ENOENT",
    attempt("look up", path, () => stat(path)),
  );
}

function syncDirectory(path: string): Promise<void> {
  return attempt("sync directory", path, async () => {
    const handle = await open(path, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
}

async function attempt<Value>(operation: string, path: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (cause) {
    throw await fileErrorOf(operation, path, cause);
  }
}

async function unlessCode<Value>(code: string, work: Promise<Value>): Promise<Value | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof FileError && error.code === code) return null;
    throw error;
  }
}
