import { findManifest } from "../../archive/manifest.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import type { Files } from "../../runtime/files.ts";
import { sequencesOf } from "../../service/upkeep/seal/seal.ts";
import { withoutCovered } from "../../wal/batch-parts.ts";
import { scanLog } from "../../wal/read-log.ts";
import { replayLog } from "../../wal/replay.ts";
import type { PlannedEntry } from "../log/plan-messages.ts";
import { InitError } from "./init-error.ts";

/** The log of a single process, as far as its archive does not cover it. */
export interface OwnLog {
  /** None that was ever given is greater. */
  readonly lastSequence: number;
  /** That the archive lacks. */
  readonly records: number;
  /** In order, from the first on each time. */
  entries(): AsyncIterable<PlannedEntry>;
}

export interface OwnLogPaths {
  readonly log: string;
  readonly archive: string;
}

/** Reads it whole once. Throws an `InitError` where log or archive are damaged. */
export async function openOwnLog(
  files: Files,
  dataDir: string,
  paths: OwnLogPaths,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): Promise<OwnLog> {
  const { manifest, state } = await findManifest(files, paths.archive);
  if (state === "missing" || state === "damaged") throw damaged(dataDir, "archive");
  const covered = sequencesOf(manifest);
  let records = 0;
  const { segments, nextSequence, misnamed } = await replayLog({
    files,
    directory: paths.log,
    onEntry: (entry) => {
      records += withoutCovered(entry, covered).count;
    },
    onProgress: ({ replayedBytes, totalBytes }) => onProgress(replayedBytes, totalBytes),
  });
  const newest = segments.at(-1);
  const isWhole = segments.every((segment) => {
    const { isReadable, goodHead, damage, bytes } = segment;
    if (!isReadable || !goodHead) return false;
    // What a crash cut short at the end was never acknowledged.
    return damage.every(
      (range) => segment === newest && range.offset + range.bytes === bytes && !range.isWritten,
    );
  });
  if (!isWhole || misnamed.length > 0) throw damaged(dataDir, "log");
  return {
    lastSequence: Math.max(manifest.lastSequence, nextSequence - 1),
    records,
    entries: () => uncovered(files, paths.log, covered),
  };
}

async function* uncovered(
  files: Files,
  directory: string,
  covered: ReadonlyMap<UtcDay, number>,
): AsyncGenerator<PlannedEntry, void> {
  for await (const entry of scanLog(files, directory)) {
    const batch = withoutCovered(entry, covered);
    if (batch.count > 0) yield { appId: entry.appId, batch };
  }
}

function damaged(dataDir: string, what: "log" | "archive"): InitError {
  return new InitError(
    `The ${what} of "${dataDir}" is damaged, and other nodes must not take that over: verify --data-dir ${dataDir} ` +
      "says what it is. A start of serve without --log repairs what can be repaired; then give the command again.",
  );
}
