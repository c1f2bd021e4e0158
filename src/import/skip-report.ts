import { FileError, type Files } from "../runtime/files.ts";
import type { Skip } from "./reading/import-batch.ts";

/** A file with one line of JSON for each skip. */
export interface SkipReport {
  add(skips: readonly Skip[]): Promise<void>;
  /** Syncs the file; returns its size in bytes. */
  sync(): Promise<number>;
  close(): Promise<void>;
}

/** The report of an import without `--report`. */
export const NO_REPORT: SkipReport = {
  add: async () => {},
  sync: async () => 0,
  close: async () => {},
};

/** How a report's first line begins. */
const REPORT_BEGINNING = '{"file":';

/** Why no report may be written to a path: it has another file, such as one that is to be imported. */
export async function reportFault(
  files: Pick<Files, "readPieces" | "size">,
  path: string,
): Promise<string | null> {
  if ((await sizeOf(files, path)) === 0) return null;
  for await (const piece of files.readPieces(path)) {
    const beginning = new TextDecoder().decode(piece.subarray(0, REPORT_BEGINNING.length));
    if (beginning === REPORT_BEGINNING) return null;
    break;
  }
  return `"${path}" is there, and is no report of an import: give --report another name.`;
}

/** Continues after the bytes of an earlier run's finished skips; the rest of the file is written again. */
export async function openSkipReport(
  files: Pick<Files, "openAppend" | "size">,
  path: string,
  bytesBefore: number,
): Promise<SkipReport> {
  const sizeBytes = await sizeOf(files, path);
  const file = await files.openAppend(path);
  let bytes = Math.min(sizeBytes, bytesBefore);
  await file.truncate(bytes);
  return {
    async add(skips) {
      const lines = new TextEncoder().encode(skips.map(lineOf).join(""));
      bytes += lines.length;
      await file.append([lines]);
    },
    async sync() {
      await file.sync();
      return bytes;
    },
    close: () => file.close(),
  };
}

async function sizeOf(files: Pick<Files, "size">, path: string): Promise<number> {
  try {
    return await files.size(path);
  } catch (error) {
    if (error instanceof FileError && error.code === "ENOENT") return 0;
    throw error;
  }
}

function lineOf({ origin, place, reason, message }: Skip): string {
  const { label, placeUnit } = origin;
  return `${JSON.stringify({ file: label, place, unit: placeUnit, reason, ...(message === null ? {} : { message }) })}\n`;
}
