import type { Archive } from "../../archive/archive.ts";
import { findSealed, type Part } from "../../archive/files/manifest.ts";
import type { ArchiveSession } from "../../archive/read/archive-session.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { RecordPage } from "../../model/record-page.ts";
import { isOutOfDescriptors } from "../../runtime/files.ts";
import { type UtcDay, utcDayName } from "../../time/utc-day.ts";
import type { Client, QueryDependencies } from "../find-device.ts";
import type { HistoryAnswer } from "./history-answer.ts";
import type { HistoryScan } from "./history-scan.ts";
import { PathMeter } from "./path-meter.ts";
import { daysWithin, type HistoryStretch, planHistory } from "./plan.ts";
import { createStretchReader, type LateWindowSize, type StretchReader } from "./stretch-reader.ts";

/*
 * Answers queries of ranges with sealed days, from the archive and from memory.
 */

export interface HistoryDependencies extends QueryDependencies {
  /** Open by the time of the first query. */
  readonly archive: () => Archive;
  /** Files of parts whose loss an operator has acknowledged. */
  readonly acknowledgedParts: () => Promise<ReadonlySet<string>>;
  readonly lateWindow: LateWindowSize;
}

export function createArchiveHistory(dependencies: HistoryDependencies) {
  return async function answerFromArchive(
    scan: HistoryScan,
    client: Client,
  ): Promise<Result<HistoryAnswer, ServiceError>> {
    try {
      return await answer(dependencies, scan, client);
    } catch (error) {
      if (isOutOfDescriptors(error)) return fail(OUT_OF_DESCRIPTORS);
      throw error;
    }
  };
}

const OUT_OF_DESCRIPTORS: ServiceError = {
  kind: "unavailable",
  message: "too many files are open: archived days can't be read until some are closed",
  retryAfterSeconds: 5,
};

async function answer(
  dependencies: HistoryDependencies,
  scan: HistoryScan,
  client: Client,
): Promise<Result<HistoryAnswer, ServiceError>> {
  const { hot } = dependencies;
  const archive = dependencies.archive();
  for (;;) {
    // A seal moves records from one store to the other: an answer that began before it starts over.
    const { manifest } = archive;
    const stretches = planStretches(hot, archive, scan);
    const days = stretches.filter(({ kind }) => kind !== "memory").flatMap((stretch) => stretch.days);
    const parts = partsOf(archive, scan, days);
    const suspects = parts.filter(({ file }) => archive.damaged.has(file));
    if (suspects.length > 0) await archive.examine(suspects, true); // Somebody may have put them back.
    const gaps = await findGaps(dependencies, archive, scan, days);
    if (gaps.unacknowledged.length > 0) return fail({ kind: "archive_damaged", days: gaps.unacknowledged });
    if (archive.manifest !== manifest) continue;
    try {
      const answered = await archive.reader.withSession(scan.appId, client.signal, async (session) => {
        const [answer, isAsWritten] = await Promise.all([
          readStretches(dependencies, session, scan, client, stretches, gaps),
          archive.verifyChecksums(remaining(parts, gaps)),
        ]);
        return isAsWritten ? answer : null;
      });
      if (!answered.ok) return answered;
      if (answered.value !== null && archive.manifest === manifest) return ok(answered.value);
    } catch (error) {
      if (client.signal.aborted) throw error;
      if (archive.manifest !== manifest) continue; // Its files may be gone.
      // Damage that nobody knew of becomes known here, unless the verification beside it has just found it.
      await archive.examine(parts, true);
      if (!parts.some(({ file }) => archive.damaged.has(file) && !gaps.files.has(file))) throw error;
    }
  }
}

function planStretches(hot: HotStore, { manifest }: Archive, { range }: HistoryScan): HistoryStretch[] {
  const inMemory = hot.daysInMemory().map(({ day }) => day);
  const sealed = [...manifest.days.keys(), ...manifest.expired.keys()];
  return planHistory(range, daysWithin(range, [...sealed, ...inMemory]), {
    isSealed: (day) => findSealed(manifest, day) !== undefined,
    holdsLate: (day) => hot.holdsLate(day),
  });
}

/** What answers have to do without. */
interface Gaps {
  /** Files that can't be read. */
  readonly files: ReadonlySet<string>;
  /** Names of days that lack a part nobody has acknowledged as lost. */
  readonly unacknowledged: readonly string[];
  /** Whether records are missing that somebody has acknowledged as lost. */
  readonly isIncomplete: boolean;
}

async function findGaps(
  { acknowledgedParts }: HistoryDependencies,
  archive: Archive,
  { appId }: HistoryScan,
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

function partsOf({ manifest }: Archive, { appId }: HistoryScan, days: readonly UtcDay[]): Part[] {
  return days.flatMap((day) => findSealed(manifest, day)?.parts.filter(({ apps }) => apps.has(appId)) ?? []);
}

async function readStretches(
  { hot, scheduler, archive, lateWindow }: HistoryDependencies,
  session: ArchiveSession,
  scan: HistoryScan,
  client: Client,
  stretches: readonly HistoryStretch[],
  gaps: Gaps,
): Promise<HistoryAnswer> {
  const steps = <Value>(work: Steps<Value>) => scheduler.runAtOnce(scan.appId, client.signal, work);
  const partsOfDay = (day: UtcDay) => remaining(partsOf(archive(), scan, [day]), gaps);
  const sources = { hot, session, scan, lateWindow, partsOfDay, steps };
  const readers = stretches.map((stretch) => createStretchReader(sources, stretch));
  const { query, wants } = scan;
  const pages = await readPages(readers, scan);
  const count = pages.reduce((sum, page) => sum + page.count, 0);
  const hasMore = count > query.limit;
  const total = wants === "total" ? await countAll(readers, query.offset, count, hasMore) : null;
  const devicesMatching = wants === "devices" ? await countDevices(readers) : null;
  const paths = query.withDistance ? await steps((await measurePaths(readers)).lengths()) : null;
  return {
    pages: hasMore ? withoutLast(pages) : pages,
    count: Math.min(count, query.limit),
    hasMore,
    total,
    devicesMatching,
    devicesQueried: scan.countQueried(),
    paths,
    bytesRead: readers.reduce((bytes, reader) => bytes + reader.bytesRead(), 0) + session.scannedBytes,
    source: await sourceOf(readers),
    isIncomplete: gaps.isIncomplete,
  };
}

function remaining(parts: readonly Part[], { files }: Gaps): Part[] {
  return parts.filter(({ file }) => !files.has(file));
}

/** The page and one record more, where there is one: it tells that there is more. */
async function readPages(readers: readonly StretchReader[], { query }: HistoryScan): Promise<RecordPage[]> {
  const { order, offset, limit } = query;
  const pages: RecordPage[] = [];
  let skip = offset;
  let room = limit + 1;
  for (const reader of order === "asc" ? readers : readers.toReversed()) {
    for await (const window of reader.windows(order)) {
      const page = await window.page(order, skip, room);
      pages.push(page);
      room -= page.count;
      if (room === 0) return pages;
      // Where nothing came the offset may reach beyond the window; how far, only counting tells.
      skip = page.count > 0 || skip === 0 ? 0 : Math.max(0, skip - (await window.count()));
    }
  }
  return pages;
}

function withoutLast(pages: readonly RecordPage[]): RecordPage[] {
  const last = pages.findLastIndex(({ count }) => count > 0);
  return pages.map((page, index) => (index === last ? { ...page, count: page.count - 1 } : page));
}

/** Where the page is the last one its end tells the total. */
async function countAll(
  readers: readonly StretchReader[],
  offset: number,
  count: number,
  hasMore: boolean,
): Promise<number> {
  if (!hasMore && (count > 0 || offset === 0)) return offset + count;
  let total = 0;
  for (const reader of readers) total += await reader.count();
  return total;
}

async function countDevices(readers: readonly StretchReader[]): Promise<number> {
  const devices = new Set<DeviceId>();
  for (const reader of readers) await reader.addDevices(devices);
  return devices.size;
}

async function measurePaths(readers: readonly StretchReader[]): Promise<PathMeter> {
  const meter = new PathMeter();
  for (const reader of readers) await reader.addPath(meter);
  return meter;
}

async function sourceOf(readers: readonly StretchReader[]): Promise<HistoryAnswer["source"]> {
  const archive = readers.some(({ readsArchive }) => readsArchive);
  let memory = false;
  for (const reader of readers) memory ||= await reader.readsMemory();
  return archive ? (memory ? "hot+archive" : "archive") : "hot";
}
