import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { fail, ok, type Result } from "../../lib/result.ts";
import { FileError, type Files } from "../../runtime/files.ts";
import type { ImportInput } from "./input.ts";
import { encodeImportRecord, type ImportRecord, parseImportRecord } from "./progress.ts";

/**
 * Keeps the record of one import in a file of its own, so that two imports at a time through a server don't
 * disturb each other. The file exists while the import is unfinished: a finished one needs none, since sending
 * a report again changes nothing, and the shift of `--shift-to-now` is the only one that its promise allows.
 */
export interface ImportRecordStore {
  readonly path: string;
  /** Null where no such import was interrupted; fails with what is wrong with the record. */
  find(): Promise<Result<ImportRecord | null, string>>;
  replace(record: ImportRecord): Promise<void>;
  remove(): Promise<void>;
}

type RecordFiles = Pick<Files, "read" | "exists" | "replace" | "remove" | "makeDirectory">;

export function createImportRecordStore(files: RecordFiles, path: string): ImportRecordStore {
  return {
    path,
    async find() {
      let bytes: Uint8Array;
      try {
        bytes = await files.read(path);
      } catch (error) {
        if (error instanceof FileError && error.code === "ENOENT") return ok(null);
        throw error;
      }
      const parsed = parseImportRecord(bytes);
      return parsed.ok
        ? parsed
        : fail(`The record of an interrupted import, "${path}", is no use: ${parsed.error}`);
    },
    async replace(record) {
      await files.makeDirectory(dirname(path));
      await files.replace(path, encodeImportRecord(record));
    },
    async remove() {
      if (await files.exists(path)) await files.remove(path);
    },
  };
}

/**
 * Tells a file by every byte of it, wherever it lies and whenever it was written: one that was edited since is another, and
 * its import begins anew. Null for a pipe, and where the signal came or the file can't be read, which its import tells.
 */
export async function fingerprintOf(
  input: ImportInput,
  onRead: (bytesRead: number) => void,
  signal: AbortSignal,
): Promise<string | null> {
  if (input.sizeBytes === null) return null;
  const hash = createHash("sha256");
  let bytesRead = 0;
  try {
    for await (const piece of input.pieces()) {
      if (signal.aborted) return null;
      hash.update(piece);
      bytesRead += piece.length;
      onRead(bytesRead);
    }
  } catch {
    return null;
  }
  return hash.digest("hex");
}

/** What makes two imports the same one: one that was interrupted goes on where all of it is equal. */
export function importKey(parts: readonly (string | boolean | null)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}
