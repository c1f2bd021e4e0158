import { open } from "node:fs/promises";
import process from "node:process";
import { FileError } from "./files.ts";
import { fileErrorOf } from "./node-error.ts";

/** A file, or standard input, read from its start as often as wanted. */
export interface InputFile {
  readonly name: string;
  /** Null for a pipe, which can be read once and has no size. */
  readonly sizeBytes: number | null;
  pieces(): AsyncIterable<Uint8Array>;
}

const PIECE_BYTES = 256 * 1024;

/** A file to import from, or standard input for `-`. Throws a `FileError` where it can't be opened. */
export async function openNodeInput(path: string): Promise<InputFile> {
  if (path === "-") return { name: "-", sizeBytes: null, pieces: () => process.stdin };
  const handle = await openFile();
  try {
    const found = await handle.stat();
    if (found.isDirectory()) throw new FileError("read", path, "EISDIR");
    return { name: path, sizeBytes: found.isFile() ? found.size : null, pieces };
  } finally {
    await handle.close();
  }

  async function openFile() {
    try {
      return await open(path, "r");
    } catch (cause) {
      throw await fileErrorOf("open", path, cause);
    }
  }

  async function* pieces(): AsyncGenerator<Uint8Array> {
    const handle = await openFile();
    try {
      for (;;) {
        const piece = new Uint8Array(PIECE_BYTES);
        const { bytesRead } = await handle.read(piece, 0, PIECE_BYTES, null);
        if (bytesRead === 0) return;
        yield piece.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  }
}
