import { findManifest } from "../../archive/manifest.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import type { Files } from "../../runtime/files.ts";
import { sequencesOf } from "../../service/upkeep/seal/seal.ts";
import { withoutCovered } from "../../wal/batch-parts.ts";
import type { NewEntry } from "../../wal/entry/entry.ts";
import { scanLog } from "../../wal/read-log.ts";
import { replayLog } from "../../wal/replay.ts";
import { InitError } from "./init-error.ts";

/** The part of a single process's log that its archive does not cover. */
export interface OwnLog {
  /** The greatest sequence that was ever assigned. */
  readonly lastSequence: number;
  /** Records that the archive does not cover. */
  readonly records: number;
  /** In order; each call starts at the first entry. */
  entries(): AsyncIterable<NewEntry>;
}

export interface OwnLogPaths {
  readonly log: string;
  readonly archive: string;
}

/** Reads the whole log once. Throws an `InitError` if log or archive is damaged, or has an erasure to finish. */
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
  let hasErasure = false;
  const { segments, nextSequence, misnamed } = await replayLog({
    files,
    directory: paths.log,
    onEntry: (entry) => {
      if (entry.kind === "reports") records += withoutCovered(entry, covered).count;
      if (entry.kind === "erasure") hasErasure ||= entry.sequence > manifest.erased;
    },
    onProgress: ({ replayedBytes, totalBytes }) => onProgress(replayedBytes, totalBytes),
  });
  const newest = segments.at(-1);
  const isWhole = segments.every((segment) => {
    const { isReadable, goodHead, damage, bytes } = segment;
    if (!isReadable || !goodHead) return false;
    // A torn entry at the end of the log was never acknowledged.
    return damage.every(
      (range) => segment === newest && range.offset + range.bytes === bytes && !range.isWritten,
    );
  });
  if (!isWhole || misnamed.length > 0) throw damaged(dataDir, "log");
  if (hasErasure) throw unfinishedErasure(dataDir);
  return {
    lastSequence: Math.max(manifest.lastSequence, nextSequence - 1),
    records,
    entries: () => uncovered(files, paths.log, covered, manifest.standing?.sequence ?? 0),
  };
}

async function* uncovered(
  files: Files,
  directory: string,
  covered: ReadonlyMap<UtcDay, number>,
  standingSequence: number,
): AsyncGenerator<NewEntry, void> {
  for await (const entry of scanLog(files, directory)) {
    if (entry.kind !== "reports") {
      if (entry.sequence > standingSequence) yield entry;
      continue;
    }
    const batch = withoutCovered(entry, covered);
    if (batch.count > 0) yield { ...entry, batch };
  }
}

/** In the stream it would come after all that it does not cover, and its subject would be on every node. */
function unfinishedErasure(dataDir: string): InitError {
  return new InitError(
    `An erasure in "${dataDir}" is not finished, and what it erases must not reach other nodes. Start serve without ` +
      "--log until GET /api/v1/erasures lists it as finished; then run this command again.",
  );
}

function damaged(dataDir: string, what: "log" | "archive"): InitError {
  return new InitError(
    `The ${what} of "${dataDir}" is damaged, and the damage must not reach other nodes: verify --data-dir ${dataDir} ` +
      "shows it. A start of serve without --log repairs what can be repaired; then run this command again.",
  );
}
