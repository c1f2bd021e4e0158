import { join } from "node:path";
import { FileError, type Files, isPassing, readIfThere } from "../../runtime/files.ts";
import { decodeMessageFile, readMessageHeads } from "../../service/quarantine/message-file.ts";

/** The state of a quarantine on disk. */
export interface QuarantineReport {
  readonly entries: number;
  readonly bytes: number;
  /** What is wrong with its files, a line each. */
  readonly problems: readonly string[];
}

/**
 * Reads every message. One that the archive does not cover (`coveredSequence`) may be a write in progress, or one that
 * was interrupted: the log has it.
 */
export async function verifyQuarantine(
  files: Files,
  directory: string,
  coveredSequence: number,
): Promise<QuarantineReport> {
  const report = { entries: 0, bytes: 0, problems: [] as string[] };
  for (const { name, sequence, isRemoved } of await readMessageHeads(files, directory)) {
    if (isRemoved) continue;
    const path = join(directory, name);
    const bytes = await readOrFault(files, path);
    if (bytes === null) continue; // It was deleted in the meantime.
    const isWhole = typeof bytes !== "string" && decodeMessageFile(bytes) !== null;
    if (isWhole) {
      report.entries++;
      report.bytes += bytes.length;
    } else if (sequence <= coveredSequence) {
      report.problems.push(typeof bytes === "string" ? bytes : `${path}: ${bytes.length} damaged bytes at 0`);
    }
  }
  return report;
}

async function readOrFault(files: Files, path: string): Promise<Uint8Array | string | null> {
  try {
    return await readIfThere(files, path);
  } catch (error) {
    if (!(error instanceof FileError) || isPassing(error)) throw error;
    return `${path} can't be read`;
  }
}
