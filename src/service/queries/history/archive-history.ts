import type { Result } from "../../../lib/result.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { DeviceId } from "../../../model/ids.ts";
import type { RecordPage } from "../../../model/record-page.ts";
import type { Client } from "../find-device.ts";
import type { HistoryAnswer } from "./history-answer.ts";
import type { HistoryScan } from "./history-scan.ts";
import type { LateWindowSize } from "./late-windows.ts";
import { PathMeter } from "./path-meter.ts";
import { type ArchiveDependencies, type ArchiveReading, createReadArchive } from "./read-archive.ts";
import { createStretchReader, type StretchReader } from "./stretch-reader.ts";

/*
 * Answers queries of ranges with sealed days, from the archive and from memory.
 */

export interface HistoryDependencies extends ArchiveDependencies {
  readonly lateWindow: LateWindowSize;
}

export function createArchiveHistory(dependencies: HistoryDependencies) {
  const readArchive = createReadArchive(dependencies);
  return (scan: HistoryScan, client: Client): Promise<Result<HistoryAnswer, ServiceError>> =>
    readArchive(scan.appId, scan.range, client, (reading) =>
      readStretches(dependencies, reading, scan, client),
    );
}

async function readStretches(
  { hot, scheduler, lateWindow }: HistoryDependencies,
  { session, stretches, partsOfDay, isIncomplete }: ArchiveReading,
  scan: HistoryScan,
  client: Client,
): Promise<HistoryAnswer> {
  const steps = <Value>(work: Steps<Value>) => scheduler.runAtOnce(scan.appId, client.signal, work);
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
    isIncomplete,
  };
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
