import type { Archive } from "../../../archive/archive.ts";
import { findSealed, type Part, partsOfApp } from "../../../archive/manifest.ts";
import type { ArchiveSession } from "../../../archive/read/archive-session.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import { type MaybePromise, mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { AppId } from "../../../model/ids.ts";
import type { TimeRange } from "../../../model/time/range.ts";
import { type UtcDay, utcDayName } from "../../../model/time/utc-day.ts";
import { isOutOfDescriptors } from "../../../runtime/files.ts";
import type { Caller, QueryDependencies } from "../find-device.ts";
import { type HistoryStretch, planStretches, sealedDaysOf, touchesSealed } from "./plan.ts";

/*
 * Decides which store answers a range, and handles seals that move records meanwhile, and parts that can't be read.
 */

/** How to answer a range from memory alone, and how if it has archived days. */
export interface EitherStore<Value> {
  fromMemory(): MaybePromise<Value>;
  fromArchive(): Promise<Result<Value, ServiceError>>;
}

/** Answers from memory if that has every record of the range; begins again if a seal moved some meanwhile. */
export function memoryOrArchive<Value>(
  archive: () => Pick<Archive, "manifest">,
  range: TimeRange,
  store: EitherStore<Value>,
): MaybePromise<Result<Value, ServiceError>> {
  const { manifest } = archive();
  if (touchesSealed(manifest, range)) return store.fromArchive();
  const isWhole = () => archive().manifest === manifest;
  return mapMaybe(store.fromMemory(), (value) =>
    isWhole() ? ok(value) : memoryOrArchive(archive, range, store),
  );
}

export interface ArchiveDependencies extends QueryDependencies, GapsDependencies {
  /** Open by the time of the first query. */
  readonly archive: () => Archive;
}

/** The plan for reading a range of an app's records. */
export interface ArchiveReading {
  readonly session: ArchiveSession;
  readonly stretches: readonly HistoryStretch[];
  /** Parts with records of the app that can be read. */
  readonly partsOfDay: (day: UtcDay) => readonly Part[];
  /** Whether records are missing that an operator has acknowledged as lost. */
  readonly isIncomplete: boolean;
}

/** Reads a range with archived days; begins again if its stores were not as planned. */
export type ReadArchive = <Value>(
  appId: AppId,
  range: TimeRange,
  caller: Caller,
  read: (reading: ArchiveReading) => Promise<Value>,
) => Promise<Result<Value, ServiceError>>;

export function createReadArchive(dependencies: ArchiveDependencies): ReadArchive {
  return async function readArchive(appId, range, caller, read) {
    try {
      return await readWhole(dependencies, appId, range, caller, read);
    } catch (error) {
      if (isOutOfDescriptors(error)) return fail(OUT_OF_DESCRIPTORS);
      throw error;
    }
  };
}

/** The error if archived days can't be read because no file descriptor is free. */
export const OUT_OF_DESCRIPTORS: ServiceError = {
  kind: "unavailable",
  message: "too many files are open: archived days can't be read until some are closed",
  retryAfterSeconds: 5,
};

async function readWhole<Value>(
  dependencies: ArchiveDependencies,
  appId: AppId,
  range: TimeRange,
  caller: Caller,
  read: (reading: ArchiveReading) => Promise<Value>,
): Promise<Result<Value, ServiceError>> {
  const { hot } = dependencies;
  const archive = dependencies.archive();
  for (;;) {
    // A seal moves records from one store to the other, and an erasure takes some from both, so an answer that began
    // before starts over.
    const { manifest, masks } = archive;
    const isStill = () => archive.manifest === manifest && archive.masks === masks;
    const stretches = planStretches(hot, archive.manifest, range);
    const days = sealedDaysOf(stretches);
    const parts = partsOfApp(archive.manifest, appId, days);
    let unreadable: ReadonlySet<string> = new Set();
    try {
      const answered = await archive.reader.withSession(appId, caller.signal, async (session) => {
        const suspects = parts.filter(({ file }) => archive.damaged.has(file));
        await archive.recheck(suspects, caller.signal); // An operator may have restored them.
        if (!isStill()) return null;
        unreadable = new Set(suspects.map(({ file }) => file).filter((file) => archive.damaged.has(file)));
        const gaps = await findGaps(dependencies, archive, appId, days);
        unreadable = gaps.files;
        if (gaps.unacknowledged.length > 0)
          return fail({ kind: "archive_damaged", days: gaps.unacknowledged } as const);
        if (!isStill()) return null;
        const partsOfDay = (day: UtcDay) => remaining(partsOfApp(manifest, appId, [day]), gaps);
        const { isIncomplete } = gaps;
        const reading = { session, stretches, partsOfDay, isIncomplete };
        return readVerified(archive, remaining(parts, gaps), caller.signal, () => read(reading));
      });
      if (!answered.ok) return answered;
      if (answered.value !== null && isStill()) return answered.value;
    } catch (error) {
      if (caller.signal.aborted) throw error;
      if (archive.manifest !== manifest) continue; // The seal may have deleted its files.
      // The archive has noted new damage by now.
      if (!parts.some(({ file }) => archive.damaged.has(file) && !unreadable.has(file))) throw error;
    }
  }
}

/**
 * Reads while the parts are verified; null if one is damaged. All its disk access is part of the query's turn and ends
 * with it, except for the part that is being read.
 */
async function readVerified<Value>(
  archive: Archive,
  parts: readonly Part[],
  signal: AbortSignal,
  read: () => Promise<Value>,
): Promise<Result<Value, never> | null> {
  const failing = new AbortController();
  try {
    const [value, isAsWritten] = await Promise.all([read(), archive.verifyChecksums(parts, failing.signal)]);
    return isAsWritten ? ok(value) : null;
  } catch (error) {
    failing.abort();
    if (!signal.aborted) await archive.recheck(parts, signal);
    throw error;
  }
}

/** Losses that answers have to do without. */
export interface Gaps {
  /** Files that can't be read. */
  readonly files: ReadonlySet<string>;
  /** Names of days that lack a part which no operator has acknowledged as lost. */
  readonly unacknowledged: readonly string[];
  /** Whether records are missing that an operator has acknowledged as lost. */
  readonly isIncomplete: boolean;
}

export interface GapsDependencies {
  /** Files of parts whose loss an operator has acknowledged. */
  readonly acknowledgedParts: () => Promise<ReadonlySet<string>>;
}

export async function findGaps(
  { acknowledgedParts }: GapsDependencies,
  archive: Archive,
  appId: AppId,
  days: readonly UtcDay[],
): Promise<Gaps> {
  const files = new Set<string>();
  const damagedDays = new Map<string, string>();
  let isIncomplete = false;
  for (const day of days) {
    const sealed = findSealed(archive.manifest, day)!;
    if (sealed.lost.some(({ apps }) => apps.has(appId))) isIncomplete = true;
    for (const { file, apps } of sealed.parts) {
      if (!archive.damaged.has(file) || !apps.has(appId)) continue;
      files.add(file);
      damagedDays.set(file, utcDayName(day));
    }
  }
  if (files.size === 0) return { files, unacknowledged: [], isIncomplete };
  const acknowledged = await acknowledgedParts();
  const unacknowledged = [...damagedDays].filter(([file]) => !acknowledged.has(file)).map(([, day]) => day);
  return { files, unacknowledged: [...new Set(unacknowledged)], isIncomplete: true };
}

export function remaining(parts: readonly Part[], { files }: Gaps): Part[] {
  return parts.filter(({ file }) => !files.has(file));
}
