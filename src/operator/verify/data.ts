import { basename, join } from "node:path";
import type { Database } from "../../archive/duckdb/database.ts";
import { findManifest, type Manifest, type ManifestFile, type SealedDay } from "../../archive/manifest.ts";
import { createMasks } from "../../archive/masks.ts";
import {
  type ArchiveReport,
  archiveBytes,
  readableParts,
  verifyArchive,
} from "../../archive/verify-archive.ts";
import type { directoryPaths } from "../../directory/paths.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Retention } from "../../model/time/retention.ts";
import { type UtcDay, utcDayName, utcDayOf } from "../../model/time/utc-day.ts";
import type { Files } from "../../runtime/files.ts";
import { applyAsReported } from "../../service/ingest/apply-entry.ts";
import { addBatchDays, type ReportsByDay } from "../../wal/batch-parts.ts";
import { applyEntry, type LogEntry } from "../../wal/entry/entry.ts";
import { type InspectedSegment, inspectLog } from "../../wal/read-log.ts";
import { misnamedSegments, parseSegmentName } from "../../wal/segment.ts";
import { segmentSize } from "../../wal/segment-reader.ts";
import {
  createMemory,
  type KnownDays,
  type RecordsReport,
  type VerifiedMemory,
  verifyRecords,
} from "./records.ts";

/*
 * Reads log and archive, also while a server writes them; `quick` skips hashing their records.
 */

export interface VerifyDataOptions {
  readonly files: Files;
  readonly clock: Clock;
  readonly retention: Retention;
  readonly paths: Pick<ReturnType<typeof directoryPaths>, "log" | "archive" | "damaged" | "cluster">;
  /** Opens a database through which DuckDB reads the archive's files. */
  openDatabase(): Promise<Database>;
  onProgress(bytesRead: number, totalBytes: number): void;
}

/** A running server swaps the manifest now and then; then log and archive are read again, at most this often. */
const ATTEMPTS_MAX = 5;

/** Log and archive as they were at one moment, and where they disagree. */
export interface VerifiedData {
  readonly segments: readonly InspectedSegment[];
  readonly archive: ArchiveReport;
  readonly pastDays: readonly PastDay[];
  readonly records: RecordsReport | null;
  readonly problems: readonly string[];
}

export async function verifyData(options: VerifyDataOptions, quick: boolean): Promise<VerifiedData> {
  const { files, paths } = options;
  let database: Promise<Database> | null = null;
  const openDatabase = () => {
    database ??= options.openDatabase();
    return database;
  };
  const cache: AttemptCache = { quick, openDatabase, goodParts: new Map(), knownDays: new Map() };
  try {
    for (let attempt = 1; ; attempt++) {
      const current = await findManifest(files, paths.archive);
      const data = await readBy(options, cache, current);
      const isSound = data.problems.length + data.archive.damaged.length === 0;
      if (isSound || attempt === ATTEMPTS_MAX || (await isCurrent(options, current))) return data;
    }
  } finally {
    await (database as Promise<Database> | null)?.then((opened) => opened.close()).catch(() => undefined);
  }
}

/** Whether no seal has replaced this manifest. */
async function isCurrent({ files, paths }: VerifyDataOptions, { manifest }: ManifestFile): Promise<boolean> {
  return (await findManifest(files, paths.archive)).manifest.seal === manifest.seal;
}

/** Results that remain valid from one attempt to the next. */
interface AttemptCache {
  readonly quick: boolean;
  openDatabase(): Promise<Database>;
  /** CRC-32 of the intact files. */
  readonly goodParts: Map<string, number>;
  readonly knownDays: KnownDays;
}

async function readBy(
  options: VerifyDataOptions,
  { quick, openDatabase, goodParts, knownDays }: AttemptCache,
  manifestFile: ManifestFile,
): Promise<VerifiedData> {
  const { files, paths, clock, retention } = options;
  const { manifest, state } = manifestFile;
  const progress = await createProgress(options, manifest, quick ? 1 : 2);
  const pathOf = (file: string) => join(paths.archive, file);
  const isReadable = state === "ok" || state === "none";
  let memory = quick || !isReadable ? null : await createMemory(manifest, files, { openDatabase, pathOf });
  const logged = new Map<UtcDay, number>();
  const unusable: string[] = [];
  const segments = await inspectLog(progress.counted, paths.log, (entry) => {
    if (entry.kind === "reports") addBatchDays(entry.batch, logged);
    try {
      if (memory !== null) applyToVerified(memory, entry);
    } catch (error) {
      unusable.push(
        `${messageOf(error)}. The next start sets it aside; records are not compared before that`,
      );
      memory = null; // It may have half of the entry.
    }
  });
  const firstDay = utcDayOf(retention.startMs(clock.nowMs()));
  const pastDays = findPastDays(manifest, logged, firstDay);
  // A seal first swaps the manifest, then removes from the log what only the new one covers.
  const isWholeLog = await isCurrent(options, manifestFile);
  const archive = await verifyArchive({
    files,
    directory: paths.archive,
    manifestFile,
    isKnownGood: ({ file, crc }) => goodParts.get(file) === crc,
    openDatabase,
    onRead: ({ bytes }) => progress.add(bytes),
  });
  const damaged = new Set(archive.damaged.map(({ file }) => file));
  for (const { part } of readableParts(manifest))
    if (!damaged.has(part.file)) goodParts.set(part.file, part.crc);
  const hasOwnLog = !(await files.exists(paths.cluster)); // A node's log is a stream.
  const setAside = await files.list(paths.damaged);
  const problems = isReadable && hasOwnLog ? findLogGaps(segments, manifest, setAside) : [];
  problems.push(...unusable);
  for (const name of misnamedSegments(await files.list(paths.log)))
    problems.push(
      `${join(paths.log, name)}: no segment of the log has such a name, so nothing of it was read`,
    );
  if (!isWholeLog) problems.push("The archive changed while the log was read: look again");
  if (memory === null) return { segments, archive, pastDays, records: null, problems };
  const isDamaged = (file: string) => damaged.has(file);
  const onRead = progress.add;
  const known = knownDays;
  const records = await verifyRecords(
    {
      manifest,
      memory,
      masks: createMasks(manifest, memory.hot.erasures.pending()),
      firstDay,
      openDatabase,
      pathOf,
      isDamaged,
      known,
      onRead,
    },
    problems,
  );
  progress.finish();
  return { segments, archive, pastDays, records, problems };
}

/** Applies an entry of the log to the records as they were reported, and to the corrections. */
function applyToVerified({ hot, corrections }: VerifiedMemory, entry: LogEntry): void {
  applyEntry(entry, () => {
    applyAsReported({ hot, messages: null }, entry);
    if (entry.kind === "correction") corrections.apply(entry, entry.sequence);
  });
}

/** Counts the bytes read of log and archive, and wraps the disk so that reads of the log are counted. */
async function createProgress(
  { files, paths, onProgress }: VerifyDataOptions,
  manifest: Manifest,
  archiveReads: number,
) {
  const names = await files.list(paths.log);
  const sizes = await Promise.all(names.map((name) => segmentSize(files, join(paths.log, name))));
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0) + archiveReads * archiveBytes(manifest);
  let bytesRead = 0;
  function add(bytes: number): void {
    bytesRead += bytes;
    onProgress(Math.min(bytesRead, totalBytes), totalBytes);
  }
  const counted: Files = {
    ...files,
    async read(path) {
      const bytes = await files.read(path);
      add(bytes.length);
      return bytes;
    },
  };
  return { counted, add, finish: () => onProgress(totalBytes, totalBytes) };
}

/**
 * Lists missing parts of the log, a line each. Sequences rise by one, and the log gives up nothing that the archive
 * does not cover. So a sequence in no segment is covered, or belongs to the end of an interrupted write that was
 * quarantined, or is lost. A lost segment whose entries the archive happens to cover looks like one that was removed in
 * good order.
 *
 * `setAside` has the names of files of damaged bytes.
 */
export function findLogGaps(
  segments: readonly InspectedSegment[],
  { lastSequence: coveredSequence }: Manifest,
  setAside: readonly string[],
): string[] {
  const gaps: string[] = [];
  const explained = setAside.flatMap((name) => parseSegmentName(name.slice(0, name.indexOf(".at-"))) ?? []);
  let sequence = 0;
  let segmentBefore = 0;
  let isWholeBefore = true;
  for (const { file, lastSequence, isReadable, damage } of segments) {
    const number = parseSegmentName(basename(file)) ?? 0;
    const isExplained = explained.some((each) => each >= segmentBefore && each < number);
    if (isWholeBefore && !isExplained && number - 1 > Math.max(sequence, coveredSequence))
      gaps.push(
        `Entries ${Math.max(sequence, coveredSequence) + 1} to ${number - 1} are neither in the log nor in the archive`,
      );
    sequence = Math.max(sequence, number - 1, lastSequence ?? 0);
    segmentBefore = number;
    isWholeBefore = isReadable && damage.length === 0;
  }
  if (isWholeBefore && sequence < coveredSequence)
    gaps.push(`The log ends at entry ${sequence}, and the archive covers entries up to ${coveredSequence}`);
  return gaps;
}

/** What the disk still has of a day past the retention. Answers don't show it, and the next seals delete it. */
export interface PastDay {
  readonly day: string;
  readonly archivedRecords: number;
  readonly loggedReports: number;
}

/** The days past the retention that log or archive still have, the oldest first. */
function findPastDays({ days, expired }: Manifest, logged: ReportsByDay, firstDay: UtcDay): PastDay[] {
  const archived = new Map<UtcDay, number>();
  for (const [day, { parts }] of [...expired, ...days] as [UtcDay, SealedDay][])
    archived.set(
      day,
      parts.reduce((sum, { rows }) => sum + rows, 0),
    );
  return [...new Set([...archived.keys(), ...logged.keys()])]
    .filter((day) => day < firstDay)
    .toSorted((a, b) => a - b)
    .map((day) => ({
      day: utcDayName(day),
      archivedRecords: archived.get(day) ?? 0,
      loggedReports: logged.get(day) ?? 0,
    }))
    .filter(({ archivedRecords, loggedReports }) => archivedRecords + loggedReports > 0);
}
