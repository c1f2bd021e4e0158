import type { ArchiveScan } from "../../../archive/read/archive-scan.ts";
import type { ArchiveSession } from "../../../archive/read/archive-session.ts";
import { canMergeRows } from "../../../archive/read/few-late-rows.ts";
import type { LateScan } from "../../../hot/late/late-rows.ts";
import { addDevices, addPositions, type MemoryScan } from "../../../hot/scan/memory-scan.ts";
import type { Timeline } from "../../../hot/scan/page-builder.ts";
import { countRecords, findTimeline } from "../../../hot/scan/timeline.ts";
import type { Result } from "../../../lib/result.ts";
import type { MaybePromise } from "../../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { FieldChoice } from "../../../model/field-choice.ts";
import type { DeviceId } from "../../../model/ids.ts";
import { lastingPage, type RecordPage } from "../../../model/record-page.ts";
import type { Order, TimeRange } from "../../../model/time/range.ts";
import type { Caller } from "../find-device.ts";
import type { HistoryAnswer, HistoryScan } from "./history-query.ts";
import { findLateOfUser } from "./late-of-user.ts";
import { PathMeter } from "./path-meter.ts";
import type { HistoryStretch } from "./plan.ts";
import { type ArchiveReading, createReadArchive } from "./read-archive.ts";
import { archiveScan, archiveScans, type HistoryDependencies } from "./read-stretches.ts";

/*
 * Answers queries of ranges with archived days, from the archive and from memory.
 */

export function createArchiveHistory(dependencies: HistoryDependencies) {
  const readArchive = createReadArchive(dependencies);
  return (scan: HistoryScan, caller: Caller): Promise<Result<HistoryAnswer, ServiceError>> =>
    readArchive(scan.appId, scan.range, caller, (reading) => answer(dependencies, reading, scan, caller));
}

async function answer(
  dependencies: HistoryDependencies,
  reading: ArchiveReading,
  scan: HistoryScan,
  caller: Caller,
): Promise<HistoryAnswer> {
  const { lateWindow, scheduler } = dependencies;
  const steps = <Value>(work: Steps<Value>) => scheduler.runAtOnce(scan.appId, caller.signal, work);
  const sources = { ...dependencies, ...reading, scan, steps };
  const readers = reading.stretches.map((stretch) =>
    stretch.kind === "memory" ? memoryReader(sources, stretch.range) : archiveReader(sources, stretch),
  );
  const { limit, offset, wants, withDistance } = scan;
  const pages = await readPages(readers, scan, lateWindow.firstRows);
  const count = pages.reduce((sum, page) => sum + page.count, 0);
  const hasMore = count > limit;
  const windows = () => allWindows(readers, lateWindow.rowsMax);
  const total = wants === "total" ? await countAll(windows, offset, count, hasMore) : null;
  const devicesMatching = wants === "devices" ? await countDevices(readers) : null;
  const paths = withDistance ? await steps((await measurePaths(windows)).lengths()) : null;
  return {
    pages: hasMore ? withoutLast(pages) : pages,
    count: Math.min(count, limit),
    hasMore,
    total,
    devicesMatching,
    devicesQueried: scan.countQueried(),
    paths,
    bytesRead: readers.reduce((sum, { bytesRead }) => sum + bytesRead(), 0) + reading.session.scannedBytes,
    source: await sourceOf(readers),
    isIncomplete: reading.isIncomplete,
  };
}

/** The page and one more record, if there is one, which shows that there is another page. */
async function readPages(
  readers: readonly StretchReader[],
  { order, offset, limit }: HistoryScan,
  lateRows: number,
): Promise<RecordPage[]> {
  const pages: RecordPage[] = [];
  let skip = offset;
  let room = limit + 1;
  for (const reader of order === "asc" ? readers : readers.toReversed()) {
    for await (const window of reader.windows(order, lateRows)) {
      const page = await window.page(order, skip, room);
      pages.push(page);
      room -= page.count;
      if (room === 0) return pages;
      // If there is no record, the offset may be beyond the window; only counting tells how far.
      skip = page.count > 0 || skip === 0 ? 0 : Math.max(0, skip - (await window.count()));
    }
  }
  return pages;
}

function withoutLast(pages: readonly RecordPage[]): RecordPage[] {
  const last = pages.findLastIndex(({ count }) => count > 0);
  return pages.map((page, index) => (index === last ? { ...page, count: page.count - 1 } : page));
}

/** If the page is the last one, its end is the total. */
async function countAll(
  windows: () => AsyncIterable<Window>,
  offset: number,
  count: number,
  hasMore: boolean,
): Promise<number> {
  if (!hasMore && (count > 0 || offset === 0)) return offset + count;
  let total = 0;
  for await (const window of windows()) total += await window.count();
  return total;
}

async function countDevices(readers: readonly StretchReader[]): Promise<number> {
  const devices = new Set<DeviceId>();
  for (const reader of readers) await reader.addDevices(devices);
  return devices.size;
}

async function measurePaths(windows: () => AsyncIterable<Window>): Promise<PathMeter> {
  const meter = new PathMeter();
  for await (const window of windows()) await window.addPath(meter);
  return meter;
}

async function* allWindows(readers: readonly StretchReader[], lateRows: number): AsyncIterable<Window> {
  for (const reader of readers) yield* reader.windows("asc", lateRows);
}

async function sourceOf(readers: readonly StretchReader[]): Promise<HistoryAnswer["source"]> {
  const archive = readers.some(({ readsArchive }) => readsArchive);
  let memory = false;
  for (const reader of readers) memory ||= await reader.readsMemory();
  return archive ? (memory ? "hot+archive" : "archive") : "hot";
}

/** A window of the range: the records of windows follow each other. */
interface Window {
  page(order: Order, offset: number, limit: number): Promise<RecordPage>;
  count(): Promise<number>;
  /** Adds the devices that have a matching record. */
  addDevices(devices: Set<DeviceId>): Promise<void>;
  addPath(meter: PathMeter): Promise<void>;
}

/** Reads one stretch of the range. */
interface StretchReader {
  /** The stretch as windows of time that can be read one by one; the first has about `lateRows` late rows at most. */
  windows(order: Order, lateRows: number): AsyncIterable<Window>;
  /** Adds the devices that have a matching record. */
  addDevices(devices: Set<DeviceId>): Promise<void>;
  /** Bytes read from memory; the session counts those read from files. */
  bytesRead(): number;
  /** Whether memory has a record of this app in the stretch that was read. Other apps' records must not show. */
  readsMemory(): Promise<boolean>;
  readonly readsArchive: boolean;
}

/** The stores that the stretches of one answer are read from. */
interface StretchSources
  extends Pick<HistoryDependencies, "hot" | "lateWindow">,
    Pick<ArchiveReading, "session" | "partsOfDay"> {
  readonly scan: HistoryScan;
  readonly steps: <Value>(work: Steps<Value>) => MaybePromise<Value>;
}

/** Looks into memory again for each call, since reports arrive in between. */
function memoryReader({ hot, scan, steps }: StretchSources, range: TimeRange): StretchReader {
  const inMemory = hot.scan({ ...scan, range });
  let bytesRead = 0;
  let hasAny = false;
  const window: Window = {
    async page(order, offset, limit) {
      const answer = await steps(lastingTimeline(inMemory, order, offset, limit));
      bytesRead += answer.bytesRead;
      hasAny ||= answer.total > 0;
      return answer.page;
    },
    async count() {
      const count = await steps(countRecords(inMemory));
      hasAny ||= count > 0;
      return count;
    },
    addDevices: async (devices) => steps(addDevices(inMemory, devices)),
    async addPath(meter) {
      bytesRead += await steps(addPositions(inMemory, meter));
    },
  };
  return {
    async *windows() {
      yield window;
    },
    addDevices: window.addDevices,
    bytesRead: () => bytesRead,
    readsMemory: async () => hasAny,
    readsArchive: false,
  };
}

/** A copy of the page, because it must wait for the rest of the answer. */
function* lastingTimeline(scan: MemoryScan, order: Order, offset: number, limit: number): Steps<Timeline> {
  const timeline = yield* findTimeline(scan, order, offset, limit);
  return { ...timeline, page: lastingPage(timeline.page) };
}

/** Archived days, with the app's late rows that lie over them. */
function archiveReader(
  { hot, session, scan, lateWindow, partsOfDay, steps }: StretchSources,
  stretch: HistoryStretch,
): StretchReader {
  const { range, days } = stretch;
  const { appId, device, userId, accuracyMetersMax } = scan;
  const kind = device !== null ? "deviceHistory" : userId !== null ? "userHistory" : "appHistory";
  const { fields = new FieldChoice(kind) } = scan;
  const deviceId = device?.id ?? null;
  const hidden = hot.hiddenRows(appId, deviceId);
  const aliases = hot.aliases(appId, deviceId);
  const query = { appId, deviceId, userId, accuracyMetersMax, fields, partsOfDay, hidden, aliases };
  const archived = archiveScan(query, days, range);
  const whole = archiveWindow(session, archived);
  /** Null if no app has late rows. */
  const app = stretch.kind === "both" ? hot.findApp(appId) : null;
  let bytesRead = () => 0;
  let lateScan: Promise<LateScan | null> | null = null;
  let ofApp: Promise<boolean> | null = null;

  /** Whether this app has late rows in the stretch; those of other apps must not show. */
  async function findAny(): Promise<boolean> {
    if (app === null || userId === null) return app !== null;
    return (await hot.lateRows(app, null).whole(range)) !== null;
  }

  /** Late rows over the records, or over those of the user; null if there are none. */
  async function findLate(): Promise<LateScan | null> {
    ofApp ??= findAny();
    if (app === null || !(await ofApp)) return null;
    const keysMax = 2 * lateWindow.rowsMax;
    const ofUser = hot.scan({ ...scan, range });
    const keys =
      userId === null || aliases.length > 0 // Late rows have the names that reported.
        ? null
        : await findLateOfUser(app, ofUser, session.keys(archived), keysMax, steps);
    const lateRows = scan.originals === true ? hot.originalLateRows : hot.lateRows;
    const late = keys === null ? lateRows(app, device) : hot.lateRowsAt(keys);
    bytesRead = () => late.bytesRead;
    return late;
  }

  async function* windows(order: Order, firstRows: number): AsyncIterable<Window> {
    lateScan ??= findLate();
    const late = await lateScan;
    if (late === null) {
      yield whole;
      return;
    }
    // Few late rows and the records before them are then read by one statement.
    const keepsGaps = canMergeRows({ ...query, hidden: null }) && (device !== null || scan.offset === 0);
    const size = { firstRows, rowsMax: lateWindow.rowsMax, keepsGaps };
    for await (const window of archiveScans(query, stretch, late, order, size))
      yield archiveWindow(session, window);
  }

  return {
    windows,
    async addDevices(devices) {
      if (app === null || (accuracyMetersMax === null && aliases.length === 0)) {
        await whole.addDevices(devices);
        // A late row is a record, whatever it replaces.
        if (app !== null) await hot.lateRows(app, device).addDevices(range, devices);
      } else {
        for await (const window of windows("asc", lateWindow.rowsMax)) await window.addDevices(devices);
      }
    },
    bytesRead: () => bytesRead(),
    readsMemory() {
      ofApp ??= findAny();
      return ofApp;
    },
    readsArchive: archived.parts.length > 0,
  };
}

function archiveWindow(session: ArchiveSession, scan: ArchiveScan): Window {
  return {
    page: (order, offset, limit) => session.page(scan, order, offset, limit),
    count: () => session.count(scan),
    async addDevices(devices) {
      for await (const some of session.devices(scan)) for (const deviceId of some) devices.add(deviceId);
    },
    async addPath(meter) {
      for await (const { count, deviceIds, latitude, longitude } of session.path(scan))
        for (let row = 0; row < count; row++) meter.add(deviceIds[row]!, latitude[row]!, longitude[row]!);
    },
  };
}
