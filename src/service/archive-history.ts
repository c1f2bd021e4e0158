import type { Archive } from "../archive/archive.ts";
import type { Part } from "../archive/manifest.ts";
import type { ArchiveScan, ArchiveSession } from "../archive/part-reader.ts";
import type { HotStore } from "../hot/hot-store.ts";
import { assert } from "../lib/assert.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { ServiceError } from "../model/errors.ts";
import type { DeviceId } from "../model/ids.ts";
import type { RecordPage } from "../model/record-page.ts";
import type { Order, TimeRange } from "../time/range.ts";
import { nextUtcDay, type UtcDay, utcDayName, utcDayStartMs } from "../time/utc-day.ts";
import type { Client, HistoryAnswer, HistoryDependencies, HistoryQuestion } from "./history.ts";
import { daysWithin, type HistoryStretch, planHistory } from "./history-plan.ts";
import { memoryFilter, readMemory } from "./memory-history.ts";
import { PathMeter } from "./path-meter.ts";

/** Answers questions about ranges with sealed days, from the archive and from memory. */
export function createArchiveHistory(dependencies: HistoryDependencies) {
  return async function answerFromArchive(
    question: HistoryQuestion,
    client: Client,
  ): Promise<Result<HistoryAnswer, ServiceError>> {
    const { hot } = dependencies;
    const archive = dependencies.archive();
    for (;;) {
      // A seal moves records from one store to the other: an answer that began before it starts over.
      const { manifest } = archive;
      const stretches = planStretches(hot, archive, question);
      const days = stretches.filter(({ kind }) => kind !== "memory").flatMap((stretch) => stretch.days);
      const parts = partsOf(archive, question, days);
      const suspects = parts.filter(({ file }) => archive.damaged.has(file));
      if (suspects.length > 0) await archive.examine(suspects, true); // Somebody may have put them back.
      const gaps = await findGaps(dependencies, archive, question, days);
      if (gaps.unacknowledged.length > 0) return fail({ kind: "archive_damaged", days: gaps.unacknowledged });
      if (archive.manifest !== manifest) continue;
      try {
        const answered = await archive.reader.withSession(question.appId, client.signal, async (session) => {
          const [answer, isVouchedFor] = await Promise.all([
            readStretches(hot, archive, session, question, stretches, gaps),
            archive.vouch(remaining(parts, gaps)),
          ]);
          return isVouchedFor ? answer : null;
        });
        if (!answered.ok) return answered;
        if (answered.value !== null && archive.manifest === manifest) return ok(answered.value);
      } catch (error) {
        if (client.signal.aborted) throw error;
        if (archive.manifest !== manifest) continue; // Its files may be gone.
        // Damage that nobody knew of becomes known here, unless the vouching beside it has just found it.
        await archive.examine(parts, true);
        if (!parts.some(({ file }) => archive.damaged.has(file) && !gaps.files.has(file))) throw error;
      }
    }
  };
}

function planStretches(hot: HotStore, { manifest }: Archive, { range }: HistoryQuestion): HistoryStretch[] {
  const inMemory = hot.daysInMemory().map(({ day }) => day);
  return planHistory(range, daysWithin(range, [...manifest.days.keys(), ...inMemory]), {
    isSealed: (day) => manifest.days.has(day),
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
  { appId }: HistoryQuestion,
  days: readonly UtcDay[],
): Promise<Gaps> {
  const files = new Set<string>();
  const damagedDays = new Map<string, string>();
  let isIncomplete = false;
  for (const day of days) {
    const sealed = archive.manifest.days.get(day)!;
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

function partsOf({ manifest }: Archive, { appId }: HistoryQuestion, days: readonly UtcDay[]): Part[] {
  return days.flatMap((day) => manifest.days.get(day)?.parts.filter(({ apps }) => apps.has(appId)) ?? []);
}

/** One stretch of the range as something to read from. */
interface StretchReader {
  page(order: Order, offset: number, limit: number): Promise<RecordPage>;
  count(): Promise<number>;
  /** Adds the devices that have a matching record. */
  addDevices(devices: Set<DeviceId>): Promise<void>;
  addPath(meter: PathMeter): Promise<void>;
  bytesRead(): number;
  readonly readsMemory: boolean;
  readonly readsArchive: boolean;
}

async function readStretches(
  hot: HotStore,
  archive: Archive,
  session: ArchiveSession,
  question: HistoryQuestion,
  stretches: readonly HistoryStretch[],
  gaps: Gaps,
): Promise<HistoryAnswer> {
  const readers = stretches.map((stretch) =>
    stretch.kind === "memory"
      ? memoryReader(hot, question, stretch.range)
      : archiveReader(
          hot,
          session,
          question,
          stretch,
          remaining(partsOf(archive, question, stretch.days), gaps),
        ),
  );
  const { query, wants, devicesQueried } = question;
  const pages = await readPages(readers, question);
  const count = pages.reduce((sum, page) => sum + page.count, 0);
  const hasMore = count > query.limit;
  const total = wants === "total" ? await countAll(readers, query.offset, count, hasMore) : null;
  const devicesMatching = wants === "devices" ? await countDevices(readers) : null;
  const pathMeters = query.withDistance ? await measurePaths(readers) : null;
  return {
    pages: hasMore ? withoutLast(pages) : pages,
    count: Math.min(count, query.limit),
    hasMore,
    total,
    devicesMatching,
    devicesQueried,
    pathMeters,
    bytesRead: readers.reduce((bytes, reader) => bytes + reader.bytesRead(), 0) + session.scannedBytes,
    source: sourceOf(readers),
    isIncomplete: gaps.isIncomplete,
  };
}

function remaining(parts: readonly Part[], { files }: Gaps): Part[] {
  return parts.filter(({ file }) => !files.has(file));
}

/** The page and one record more, where there is one: it tells that there is more. */
async function readPages(
  readers: readonly StretchReader[],
  { query }: HistoryQuestion,
): Promise<RecordPage[]> {
  const { order, offset, limit } = query;
  const pages: RecordPage[] = [];
  let skip = offset;
  let room = limit + 1;
  for (const reader of order === "asc" ? readers : readers.toReversed()) {
    if (room === 0) break;
    const page = await reader.page(order, skip, room);
    pages.push(page);
    room -= page.count;
    // Where nothing came the offset may reach beyond the stretch; how far, only counting tells.
    skip = page.count > 0 || skip === 0 ? 0 : Math.max(0, skip - (await reader.count()));
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

async function measurePaths(readers: readonly StretchReader[]): Promise<ReadonlyMap<DeviceId, number>> {
  const meter = new PathMeter();
  for (const reader of readers) await reader.addPath(meter);
  return meter.meters();
}

function sourceOf(readers: readonly StretchReader[]): HistoryAnswer["source"] {
  const archive = readers.some(({ readsArchive }) => readsArchive);
  const memory = readers.some(({ readsMemory }) => readsMemory);
  return archive ? (memory ? "hot+archive" : "archive") : "hot";
}

/** Looks into memory anew for each question, since reports come in between. */
function memoryReader(hot: HotStore, question: HistoryQuestion, range: TimeRange): StretchReader {
  const look = () => readMemory(hot, question.inMemory, range, memoryFilter(hot, question));
  let bytesRead = 0;
  return {
    async page(order, offset, limit) {
      const stretch = look();
      const page = stretch.page(order, offset, limit);
      bytesRead += stretch.bytesRead();
      return page;
    },
    count: async () => look().total,
    async addDevices(devices) {
      for (const { device } of look().slices) devices.add(device.id);
    },
    async addPath(meter) {
      const stretch = look();
      stretch.addPath(meter);
      bytesRead += stretch.bytesRead();
    },
    bytesRead: () => bytesRead,
    readsMemory: true,
    readsArchive: false,
  };
}

function archiveReader(
  hot: HotStore,
  session: ArchiveSession,
  question: HistoryQuestion,
  { kind, range, days }: HistoryStretch,
  parts: readonly Part[],
): StretchReader {
  const { appId, userId, query, device } = question;
  const late = kind === "both" ? hot.lateRows(question.ofApp, range) : null;
  const { accuracyMetersMax } = query;
  const scan: ArchiveScan = {
    appId,
    deviceId: device?.id ?? null,
    userId,
    range,
    accuracyMetersMax,
    parts,
    late,
    shownIn: device !== null ? "deviceHistory" : userId !== null ? "userHistory" : "appHistory",
  };
  const isEmpty = parts.length === 0 && late === null;
  const isWhole = device === null && userId === null && accuracyMetersMax === null && late === null;

  return {
    page: async (order, offset, limit) => (isEmpty ? emptyPage() : session.page(scan, order, offset, limit)),
    async count() {
      if (isEmpty) return 0;
      if (isWhole && coversDays(range, days)) return countRows(parts, question);
      return session.count(scan);
    },
    async addDevices(devices) {
      if (isEmpty) return;
      for (const deviceId of await session.devices(scan)) devices.add(deviceId);
    },
    async addPath(meter) {
      if (isEmpty) return;
      const { count, deviceIds, latitude, longitude } = await session.path(scan);
      for (let row = 0; row < count; row++) meter.add(deviceIds[row]!, latitude[row]!, longitude[row]!);
    },
    bytesRead: () => 0, // The session counts them.
    readsMemory: late !== null,
    readsArchive: parts.length > 0,
  };
}

function coversDays({ startMs, endMs }: TimeRange, days: readonly UtcDay[]): boolean {
  const [first, last] = [days[0], days.at(-1)];
  assert(first !== undefined && last !== undefined, "a stretch has days");
  return startMs === utcDayStartMs(first) && endMs === utcDayStartMs(nextUtcDay(last));
}

function countRows(parts: readonly Part[], { appId }: HistoryQuestion): number {
  return parts.reduce((rows, { apps }) => rows + (apps.get(appId) ?? 0), 0);
}

const NO_TEXTS = { profileText: () => null, stateText: () => null };

function emptyPage(): RecordPage {
  return {
    count: 0,
    deviceIds: [],
    timestampMs: new Float64Array(0),
    numbers: new Float64Array(0),
    profile: new Uint32Array(0),
    state: new Uint32Array(0),
    dictionary: NO_TEXTS,
  };
}
