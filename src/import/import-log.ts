import { dirname } from "node:path";
import type { Files } from "../runtime/files.ts";
import type { ImportOutcome } from "./run.ts";

/**
 * Appends a line to the log of imports. It informs people; no import can be undone by it, as records have no origin.
 */
export async function logImport(
  files: Pick<Files, "makeDirectory" | "openAppend">,
  path: string,
  { id, startedMs, end, tallies }: ImportOutcome,
  about: { readonly app: string | null; readonly files: readonly string[]; readonly endedMs: number },
): Promise<void> {
  const extents = tallies.flatMap(({ extent }) => extent ?? []);
  const line = {
    id,
    app: about.app,
    files: about.files,
    started: new Date(startedMs).toISOString(),
    ended: new Date(about.endedMs).toISOString(),
    end: end.kind,
    new: sumOf(tallies.map(({ created }) => created)),
    same_time: sumOf(tallies.map(({ sameTime }) => sameTime)),
    already_there: sumOf(tallies.map(({ alreadyThere }) => alreadyThere)),
    skipped: sumOf(tallies.flatMap(({ skips }) => skips.map(({ count }) => count))),
    first: isoOf(Math.min(...extents.map(({ firstMs }) => firstMs))),
    last: isoOf(Math.max(...extents.map(({ lastMs }) => lastMs))),
  };
  await files.makeDirectory(dirname(path));
  const file = await files.openAppend(path);
  try {
    await file.append([new TextEncoder().encode(`${JSON.stringify(line)}\n`)]);
    await file.sync();
  } finally {
    await file.close();
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

function isoOf(timestampMs: number): string | null {
  return Number.isFinite(timestampMs) ? new Date(timestampMs).toISOString() : null;
}
