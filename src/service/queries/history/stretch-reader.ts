import type { Part } from "../../../archive/manifest.ts";
import type { ArchiveSession } from "../../../archive/read/archive-session.ts";
import type { AppDevices } from "../../../hot/app-devices.ts";
import type { HotStore } from "../../../hot/hot-store.ts";
import type { LateScan } from "../../../hot/late/late-rows.ts";
import { addDevices, addPositions, type MemoryScan } from "../../../hot/scan/memory-scan.ts";
import { countRecords, findTimeline } from "../../../hot/scan/timeline.ts";
import type { Timeline } from "../../../hot/scan/timeline-page.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import type { DeviceId } from "../../../model/ids.ts";
import { lastingPage } from "../../../model/lasting-page.ts";
import type { RecordPage } from "../../../model/record-page.ts";
import type { Order, TimeRange } from "../../../model/time/range.ts";
import type { UtcDay } from "../../../model/time/utc-day.ts";
import { type ArchiveWindow, createArchiveWindow } from "./archive-window.ts";
import { type HistoryScan, scanMemory } from "./history-scan.ts";
import { type DoSteps, findLateOfUser } from "./late-of-user.ts";
import { type LateWindowSize, lateWindows } from "./late-windows.ts";
import type { PathMeter } from "./path-meter.ts";
import type { HistoryStretch } from "./plan.ts";

/** A window of the range: its records come one after the other. */
export interface Window {
  page(order: Order, offset: number, limit: number): Promise<RecordPage>;
  count(): Promise<number>;
}

/** One stretch of the range as something to read from. */
export interface StretchReader {
  /** The stretch in windows of time that can each be read, in order. */
  windows(order: Order): AsyncIterable<Window>;
  count(): Promise<number>;
  /** Adds the devices that have a matching record. */
  addDevices(devices: Set<DeviceId>): Promise<void>;
  addPath(meter: PathMeter): Promise<void>;
  /** What was read of memory; the session counts what was read of files. */
  bytesRead(): number;
  /**
   * Whether memory has anything in the stretch that the answer was read or counted from. What other apps have there
   * is nobody's business, so a stretch that is there for their records alone says no.
   */
  readsMemory(): Promise<boolean>;
  readonly readsArchive: boolean;
}

export interface StretchSources {
  readonly hot: HotStore;
  readonly session: ArchiveSession;
  readonly scan: HistoryScan;
  readonly lateWindow: LateWindowSize;
  /** Parts with records of the app that can be read. */
  readonly partsOfDay: (day: UtcDay) => readonly Part[];
  readonly steps: DoSteps;
}

export function createStretchReader(sources: StretchSources, stretch: HistoryStretch): StretchReader {
  const { hot, scan } = sources;
  if (stretch.kind === "memory") return memoryReader(sources, stretch.range);
  return archiveReader(sources, stretch, stretch.kind === "both" ? hot.findApp(scan.appId) : null);
}

/** Looks into memory anew for each call, since reports come in between. */
function memoryReader({ hot, scan, steps }: StretchSources, range: TimeRange): StretchReader {
  const inMemory = scanMemory(hot, scan, range);
  let bytesRead = 0;
  let hasAny = false;
  const window: Window = {
    async page(order, offset, limit) {
      const found = await steps(lastingTimeline(inMemory, order, offset, limit));
      bytesRead += found.bytesRead;
      hasAny ||= found.total > 0;
      return found.page;
    },
    async count() {
      const count = await steps(countRecords(inMemory));
      hasAny ||= count > 0;
      return count;
    },
  };
  return {
    async *windows() {
      yield window;
    },
    count: window.count,
    addDevices: async (devices) => steps(addDevices(inMemory, devices)),
    async addPath(meter) {
      bytesRead += await steps(addPositions(inMemory, meter));
    },
    bytesRead: () => bytesRead,
    readsMemory: async () => hasAny,
    readsArchive: false,
  };
}

/** The page has to wait for the rest of the answer. */
function* lastingTimeline(scan: MemoryScan, order: Order, offset: number, limit: number): Steps<Timeline> {
  const timeline = yield* findTimeline(scan, order, offset, limit);
  return { ...timeline, page: lastingPage(timeline.page) };
}

/** Sealed days, with the late rows of an app that lie over them; null where no app has any. */
function archiveReader(
  { hot, session, scan, lateWindow, partsOfDay, steps }: StretchSources,
  { range, days }: HistoryStretch,
  app: AppDevices | null,
): StretchReader {
  const archived = createArchiveWindow(session, scan, { range, late: null }, days, partsOfDay);
  let bytesRead = () => 0;
  let lateScan: Promise<LateScan | null> | null = null;
  let ofApp: Promise<boolean> | null = null;

  /** Whether the app has late rows, where it is told: another app may, and nobody is told of those. */
  async function findAny(): Promise<boolean> {
    if (app === null || scan.userId === null) return app !== null;
    return (await hot.lateRows(app, null).whole(range)) !== null;
  }

  /** What lies over the records, or over those of the user; null where there is nothing. */
  async function findLate(app: AppDevices): Promise<LateScan | null> {
    const { device, userId } = scan;
    ofApp ??= findAny();
    if (!(await ofApp)) return null;
    const ofUser = scanMemory(hot, scan, range);
    const keys =
      userId === null ? null : await findLateOfUser(app, ofUser, archived, 2 * lateWindow.rowsMax, steps);
    const late = keys === null ? hot.lateRows(app, device) : hot.lateRowsAt(keys);
    bytesRead = () => late.bytesRead;
    return late;
  }

  async function* windows(order: Order, firstRows = lateWindow.rowsMax): AsyncIterable<ArchiveWindow> {
    if (app === null) {
      yield archived;
      return;
    }
    lateScan ??= findLate(app);
    const late = await lateScan;
    if (late === null) {
      yield archived;
      return;
    }
    const size = { firstRows, rowsMax: lateWindow.rowsMax };
    for await (const window of lateWindows(late, range, order, size))
      yield createArchiveWindow(session, scan, window, days, partsOfDay);
  }

  return {
    windows: (order) => windows(order, lateWindow.firstRows),
    async count() {
      let count = 0;
      for await (const window of windows("asc")) count += await window.count();
      return count;
    },
    async addDevices(devices) {
      if (app === null || scan.query.accuracyMetersMax === null) {
        await archived.addDevices(devices);
        // A late row makes a record, whatever lies below it.
        if (app !== null) await hot.lateRows(app, scan.device).addDevices(range, devices);
      } else {
        for await (const window of windows("asc")) await window.addDevices(devices);
      }
    },
    async addPath(meter) {
      for await (const window of windows("asc")) await window.addPath(meter);
    },
    bytesRead: () => bytesRead(),
    readsMemory() {
      ofApp ??= findAny();
      return ofApp;
    },
    readsArchive: days.some((day) => partsOfDay(day).length > 0),
  };
}
