import type { Files } from "../../runtime/files.ts";
import { readSegments } from "../../service/quarantine/read-segments.ts";

/** The state of a quarantine on disk. */
export interface QuarantineReport {
  readonly entries: number;
  readonly bytes: number;
  /** What is wrong with its files, a line each. */
  readonly problems: readonly string[];
}

/** Reads every entry. A write in progress may look like damage, so damage is read a second time. */
export async function verifyQuarantine(files: Files, directory: string): Promise<QuarantineReport> {
  const report = await read(files, directory);
  return report.problems.length === 0 ? report : read(files, directory);
}

async function read(files: Files, directory: string): Promise<QuarantineReport> {
  const segments = await readSegments(files, directory);
  const problems: string[] = [];
  for (const { path, isReadable, damage } of segments) {
    if (!isReadable) problems.push(`${path} can't be read`);
    for (const { offset, bytes } of damage) problems.push(`${path}: ${bytes} damaged bytes at ${offset}`);
  }
  return {
    entries: segments.reduce((sum, { entries }) => sum + entries.length, 0),
    bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    problems,
  };
}
