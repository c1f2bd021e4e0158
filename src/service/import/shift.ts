import { fail, ok, type Result } from "../../lib/result.ts";
import { MS_PER_DAY } from "../../time/retention.ts";
import { readBatches } from "./batches.ts";
import type { ImportFile } from "./import.ts";
import { InputError } from "./input.ts";

/**
 * How far to move reports so that the newest lies within the last 24 hours: by whole days, which keeps the time
 * of day. Exactly one shift does.
 */
export function planShiftMs(newestMs: number, nowMs: number): number {
  return Math.floor((nowMs - newestMs) / MS_PER_DAY) * MS_PER_DAY;
}

/** Any time that is one; what looks like seconds is refused all the same. */
const ANY_TIME = { oldestMs: Number.MIN_SAFE_INTEGER, newestMs: Number.MAX_SAFE_INTEGER };

/**
 * By file, the newest timestamp among its usable reports; null where there are none, or where the signal came.
 * A file must be readable to its end, or the newest report might be one that was not seen.
 */
export async function findNewestMs(
  files: readonly ImportFile[],
  onRead: (fileIndex: number, bytesRead: number) => void,
  signal: AbortSignal,
): Promise<Result<readonly (number | null)[], string>> {
  const newest: (number | null)[] = files.map(() => null);
  for (const [fileIndex, { input, format }] of files.entries()) {
    const batches = readBatches({
      input,
      format,
      userId: null,
      shiftMs: 0,
      from: null,
      acceptedTimes: () => ANY_TIME,
      onRead: (bytesRead) => onRead(fileIndex, bytesRead),
      onIgnoredColumns: () => undefined,
    });
    let newestMs = Number.NEGATIVE_INFINITY;
    try {
      for await (const { batch } of batches) {
        if (signal.aborted) return ok(newest);
        for (let row = 0; row < batch.count; row++) newestMs = Math.max(newestMs, batch.timestampMs[row]!);
      }
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return fail(`Nothing was imported: "${input.name}" can't be read: ${error.message}`);
    }
    if (newestMs !== Number.NEGATIVE_INFINITY) newest[fileIndex] = newestMs;
  }
  return ok(newest);
}
