import { join } from "node:path";
import type { AppId } from "../../../src/model/ids.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import type { LogEntry } from "../../../src/wal/entry/entry.ts";
import { openWal } from "../../../src/wal/wal.ts";
import { batchesOf } from "../fleets/batches.ts";

/* Access to a directory's log without a server. */

export const BENCH_APP = "bench" as AppId;

const MIB = 1 << 20;
const BATCH = 1000;

/** Opens the log of a directory as the server does. */
export function openLog(directory: string, onEntry: (entry: LogEntry) => void) {
  return openWal({
    files: createNodeFiles(),
    directory,
    damagedDirectory: join(directory, "damaged"),
    segmentBytesMax: 64 * MIB,
    queueBytesMax: 64 * MIB,
    sequenceMin: 1,
    onEntry,
  });
}

/** Writes reports to the log of a directory, 1,000 per entry; returns its bytes. */
export async function writeLog(directory: string, reports: Iterable<object>): Promise<number> {
  const { wal } = await openLog(directory, () => {});
  for (const batch of batchesOf(reports, BATCH)) {
    const appended = await wal.append(BENCH_APP, batch);
    if (!appended.ok) throw new Error(`the log refused a batch: ${appended.error.kind}`);
  }
  const { bytes } = wal;
  await wal.close();
  return bytes;
}
