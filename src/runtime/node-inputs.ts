import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, readFile, stat, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { isInside } from "./helper/executable.ts";
import type { InputStat, Inputs, RandomInput, Spool } from "./inputs.ts";
import { fileErrorOf } from "./node-error.ts";
import { createFile } from "./owner.ts";

export function createNodeInputs(): Inputs {
  return {
    resolve: (path) => resolve(path),
    stat: (path) => attempt("look up", path, async () => inputStat(await stat(path))),
    lstat: (path) => attempt("look up", path, async () => inputStat(await lstat(path))),
    list: (directory) => attempt("list", directory, async () => (await readdir(directory)).sort()),
    open: (path) =>
      attempt("open", path, async () =>
        isInside(path) ? randomOf(path, await readFile(path)) : openRandom(path, await open(path, "r")),
      ),
    stream: (path) => (path === "-" ? process.stdin : streamOf(path)),
    openSpool: (directory) => attempt("make a file in", directory, () => openSpool(directory)),
  };
}

/** Rounds the time down to whole milliseconds, which is all that Deno gives. */
function inputStat(stats: Stats): InputStat {
  const sizeAndTime = { sizeBytes: stats.size, modifiedMs: Math.floor(stats.mtimeMs) };
  if (stats.isFile()) return { kind: "file", ...sizeAndTime };
  if (stats.isDirectory()) return { kind: "directory", ...sizeAndTime };
  return { kind: stats.isSymbolicLink() ? "link" : "stream", ...sizeAndTime };
}

async function openRandom(path: string, handle: FileHandle): Promise<RandomInput> {
  const { size } = await handle.stat();
  return {
    sizeBytes: size,
    path: descriptorPath(handle),
    read: (into, position) => attempt("read", path, () => readFully(handle, into, position)),
    close: () => handle.close(),
  };
}

/** A file in memory. */
function randomOf(path: string, bytes: Uint8Array): RandomInput {
  return {
    sizeBytes: bytes.length,
    path,
    async read(into, position) {
      const piece = bytes.subarray(position, position + into.length);
      into.set(piece);
      return piece.length;
    },
    close: async () => undefined,
  };
}

/** A path that names the open file even if it was unlinked. */
function descriptorPath({ fd }: FileHandle): string {
  return `/dev/fd/${fd}`;
}

/** A read may be partial, for example on a network disk. */
async function readFully(handle: FileHandle, into: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < into.length) {
    const { bytesRead } = await handle.read(into, filled, into.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

const PIECE_BYTES = 64 * 1024; // The size of a pipe's buffer.

async function* streamOf(path: string): AsyncGenerator<Uint8Array> {
  const handle = await attempt("open", path, () => open(path, "r"));
  try {
    for (;;) {
      const piece = new Uint8Array(PIECE_BYTES);
      const { bytesRead } = await attempt("read", path, () => handle.read(piece, 0, PIECE_BYTES, null));
      if (bytesRead === 0) return;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** The file is unlinked immediately, so the system frees its space when the process ends. */
async function openSpool(directory: string): Promise<Spool> {
  const path = join(directory, `.spool-${randomUUID()}`);
  const handle = await createFile(path, "wx+");
  try {
    await unlink(path);
  } catch (error) {
    await handle.close();
    throw error;
  }
  let sizeBytes = 0;
  return {
    get sizeBytes() {
      return sizeBytes;
    },
    path: descriptorPath(handle),
    append: (piece) =>
      attempt("write a temporary copy of the import in", directory, async () => {
        for (let at = 0; at < piece.length; ) {
          const { bytesWritten } = await handle.write(piece, at, piece.length - at, sizeBytes);
          at += bytesWritten;
          sizeBytes += bytesWritten;
        }
      }),
    read: (into, position) => attempt("read", path, () => readFully(handle, into, position)),
    close: () => handle.close(),
  };
}

async function attempt<Value>(operation: string, path: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (cause) {
    throw await fileErrorOf(operation, path, cause);
  }
}
