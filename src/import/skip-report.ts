import { FileError, type Files } from "../runtime/files.ts";
import type { Skip } from "./reading/import-batch.ts";

/** A file with a line of JSON for each thing that was skipped. */
export interface SkipReport {
  add(skips: readonly Skip[]): Promise<void>;
  /** What was added is on the disk; how many bytes that is in all. */
  sync(): Promise<number>;
  close(): Promise<void>;
}

/** For imports that nobody asked a report of. */
export const NO_REPORT: SkipReport = {
  add: async () => {},
  sync: async () => 0,
  close: async () => {},
};

/** What the first line of a report begins with. */
const REPORT_BEGINNING = '{"file":';

/** Why a report must not be written there: what is there is none, such as a file that is to be imported. */
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

/** Goes on after the bytes that an earlier run settled; what lies behind them is of skips that come again. */
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
