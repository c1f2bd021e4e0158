import type { Damage } from "../../directory/damaged-files.ts";
import { removeTemporaryFiles } from "../../directory/temporary-files.ts";
import { type CreateSalt, createRandomSalt } from "../../lib/frames/head.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { sortInSteps } from "../../lib/schedule/steps.ts";
import { type Files, ignoreFileError } from "../../runtime/files.ts";
import { EntryIndex } from "./entry-index.ts";
import { type ReadSegment, readSegments } from "./read-segments.ts";
import { rewriteSegment } from "./rewrite-segment.ts";
import {
  createSegment,
  type IndexedEntry,
  isInQuarantine,
  SEGMENT_BYTES_MAX,
  type Segment,
} from "./segment.ts";
import { Segments } from "./segments.ts";
import { chargedBytes, DEFAULT_SHARES, holderOf, type ShareBounds, Shares } from "./shares.ts";
import { QuarantineStore } from "./store.ts";

/*
 * Opens a directory's quarantine in any state: it moves damage aside and reports it, and whatever the disk refuses now
 * is retried before anything is written. A full disk must not prevent a start.
 */

export interface QuarantineOptions {
  readonly files: Files;
  readonly directory: string;
  readonly damagedDirectory: string;
  readonly scheduler: Scheduler;
  /** Defaults to the documented shares. */
  readonly shares?: ShareBounds;
  /** Defaults to a megabyte. */
  readonly segmentBytesMax?: number;
  /** Defaults to random salts. */
  readonly createSalt?: CreateSalt;
  /** Called with bytes that failed their checksum during a change after the start. */
  onDamage(damage: readonly Damage[]): void;
}

export interface OpenedQuarantine {
  readonly quarantine: QuarantineStore;
  readonly damage: readonly Damage[];
  /** The end of an interrupted write, which was never acknowledged. */
  readonly tornTail: Damage | null;
}

/** Throws a `FormatVersionError`, before anything is changed, if a program of another version wrote a segment. */
export async function openQuarantine(options: QuarantineOptions): Promise<OpenedQuarantine> {
  const { files, directory, damagedDirectory, scheduler, createSalt = createRandomSalt, onDamage } = options;
  const { segmentBytesMax = SEGMENT_BYTES_MAX } = options;
  const read = await readSegments(files, directory);
  const loaded = load(read, createSalt);
  const repaired = await repairAll(options, loaded.segments);
  await removeTemporaryFiles(files, directory, isInQuarantine);

  const index = new EntryIndex();
  const shares = new Shares(options.shares ?? DEFAULT_SHARES);
  const inOrder = sortInSteps(loaded.entries, (a, b) => a.sequence - b.sequence);
  for (const entry of await scheduler.run(directory, inOrder)) {
    index.add(entry);
    shares.take(holderOf(entry), entry.bytes);
  }
  const initial = {
    segments: loaded.segments.filter(({ read }) => read.isReadable).map(({ segment }) => segment),
    nextNumber: (read.at(-1)?.number ?? 0) + 1,
    nextSequence: Math.max(0, ...read.map(({ lastSequence }) => lastSequence)) + 1,
    unsure: repaired.unsure,
  };
  const segments = new Segments(
    { files, directory, damagedDirectory, createSalt, segmentBytesMax, onDamage },
    initial,
  );
  const quarantine = new QuarantineStore({ files, segments, index, shares, scheduler });
  return { quarantine, damage: repaired.damage, tornTail: repaired.tornTail };
}

/** A segment that may need repair. */
interface LoadedSegment {
  readonly segment: Segment;
  readonly read: ReadSegment;
  /** Whether it has a second copy of an entry, which must not reappear when the first is deleted. */
  readonly hasCopies: boolean;
}

function load(read: readonly ReadSegment[], createSalt: CreateSalt) {
  const entries: IndexedEntry[] = [];
  const known = new Set<string>();
  const segments = read.map((contents): LoadedSegment => {
    const segment = createSegment(contents.path, contents.salt ?? createSalt());
    segment.bytes = contents.bytes;
    segment.mayAppend = false;
    let hasCopies = false;
    for (const { summary, sequence, frameBytes } of contents.entries) {
      const name = `${summary.appId} ${summary.id}`;
      hasCopies ||= known.has(name);
      if (known.has(name)) continue;
      known.add(name);
      const entry = { ...summary, bytes: chargedBytes(frameBytes), sequence, segment };
      segment.live.set(sequence, entry);
      entries.push(entry);
    }
    return { segment, read: contents, hasCopies };
  });
  return { entries, segments };
}

function isWhole({ goodHead, damage, tornTail }: ReadSegment): boolean {
  return goodHead && damage.length === 0 && tornTail === null;
}

/** A process that crashed may not have synced its last segment, so that is rewritten. */
async function repairAll(options: QuarantineOptions, loaded: readonly LoadedSegment[]) {
  const damage: Damage[] = [];
  let tornTail: Damage | null = null;
  let unsure: Segment | null = null;
  for (const { segment, read, hasCopies } of loaded) {
    const { wasLast } = read;
    if (!read.isReadable) damage.push({ file: read.path, offset: 0, bytes: 0, savedAs: null });
    if (!read.isReadable || (isWhole(read) && !hasCopies && !wasLast)) continue;
    try {
      const rewritten = await rewriteSegment({ ...options, wasLast }, segment, (sequence) =>
        segment.live.get(sequence),
      );
      segment.bytes = rewritten.bytes;
      segment.mayAppend = rewritten.isReplaced;
      damage.push(...rewritten.damage);
      tornTail ??= rewritten.tornTail;
    } catch (error) {
      ignoreFileError(error);
      damage.push(...read.damage.map((range) => ({ ...range, file: read.path, savedAs: null })));
      if (wasLast) unsure = segment;
    }
  }
  return { damage, tornTail, unsure };
}
