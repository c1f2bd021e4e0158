import { createHash } from "node:crypto";
import type { Database } from "../../archive/duckdb/database.ts";
import type { Manifest, SealedDay } from "../../archive/manifest.ts";
import type { Masks } from "../../archive/masks.ts";
import { countUnlisted } from "../../archive/newest-records.ts";
import { restoreNewest, restoreStanding } from "../../archive/open-archive.ts";
import { faultOf } from "../../archive/part-checks.ts";
import { readDay } from "../../archive/read/all-records.ts";
import { createHotStore, type HotStore } from "../../hot/hot-store.ts";
import type { LateRows } from "../../hot/late/late-rows.ts";
import { messageOf } from "../../lib/message-of.ts";
import { Scheduler } from "../../lib/schedule/scheduler.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import { profileMembers } from "../../model/device-profile.ts";
import type { AppId } from "../../model/ids.ts";
import { recordColumns } from "../../model/record-columns.ts";
import { encodeStandingEntry, type StandingEntry } from "../../model/standing-entry.ts";
import { nextUtcDay, type UtcDay, utcDayName, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { Files } from "../../runtime/files.ts";
import { clearedOf, sequencesOf } from "../../service/upkeep/seal/seal.ts";
import { type AppCorrections, VerifiedCorrections } from "./corrections.ts";
import { createRecordHash, type RecordHash } from "./record-hash.ts";

/** One app's records of a UTC day, as answers show them, whether memory or the archive has them. */
export interface AppDay {
  readonly app: string;
  readonly day: string;
  readonly records: number;
  /** Hash of the records in canonical form (record-hash.ts). */
  readonly sha256: string;
}

/** A summary of all records of a directory. */
export interface RecordsReport {
  readonly records: number;
  /**
   * SHA-256 over a line `app day records sha256` for each of the days below, in their order, then a line `app profiles
   * count sha256` for each app with profiles, and so for corrections, for geofences and alerts, and for webhooks.
   */
  readonly sha256: string;
  /** By app (UTF-8 bytes), then day; days with a damaged part are skipped. */
  readonly appDays: readonly AppDay[];
  /** By app. */
  readonly profiles: readonly AppProfiles[];
  readonly corrections: readonly AppCorrections[];
}

/** One app's profiles of devices. */
export interface AppProfiles {
  readonly app: string;
  readonly profiles: number;
  /** SHA-256 over a line of JSON for each: `device_id`, then its members. By device (UTF-8 bytes). */
  readonly sha256: string;
}

export interface VerifyRecordsOptions {
  readonly manifest: Manifest;
  /** Everything that memory would have with this manifest. */
  readonly memory: VerifiedMemory;
  /** What erasures mask of the archive. */
  readonly masks: Masks;
  /** The first day that answers show. */
  readonly firstDay: UtcDay;
  openDatabase(): Promise<Database>;
  /** The path by which DuckDB opens a file of the archive. */
  pathOf(file: string): string;
  isDamaged(file: string): boolean;
  /** Days that an earlier attempt read; valid as long as their parts are the same. */
  readonly known: KnownDays;
  /** Called with the bytes of archive files that were read. */
  onRead(bytes: number): void;
}

/** Archived days by their parts. */
export type KnownDays = Map<string, readonly AppDay[]>;

/** Memory as it was reported, and the corrections beside it. */
export interface VerifiedMemory {
  readonly hot: HotStore;
  readonly corrections: VerifiedCorrections;
}

/** Memory as it is before the log is read: what the archive covers, and the newest record of each device. */
export async function createMemory(
  manifest: Manifest,
  files: Files,
  { openDatabase, pathOf }: Pick<VerifyRecordsOptions, "openDatabase" | "pathOf">,
): Promise<VerifiedMemory> {
  const hot = createHotStore(new Scheduler());
  const hasAllNewest =
    manifest.days.size + manifest.expired.size === 0 ||
    (await restoreNewest({
      manifest,
      database: await openDatabase(),
      faultOf: (part) => faultOf(files, pathOf(part.file), part, true),
      pathOf,
      onNewest: (appId, batch) => hot.restoreNewest(appId, batch),
      hidden: () => [],
      notes: [], // `verifyArchive` reports parts that can't be read.
    }));
  hot.setSealed(sequencesOf(manifest), hasAllNewest, clearedOf(manifest));
  const corrections = new VerifiedCorrections();
  const onEntry = (entry: StandingEntry) => {
    if (entry.kind === "device_profile") hot.profiles.restore(entry);
    if (entry.kind === "watch") hot.watches.restore(entry);
    if (entry.kind === "webhook") hot.webhooks.restore(entry);
    if (entry.kind === "correction") corrections.restore(entry);
  };
  const sequence = await restoreStanding(files, pathOf, manifest, onEntry);
  hot.profiles.endRestore(sequence);
  hot.watches.endRestore(sequence);
  hot.webhooks.endRestore(sequence);
  corrections.endRestore(sequence);
  return { hot, corrections };
}

/** Reads every record that answers may show; appends disagreements to `problems`, a line each. */
export async function verifyRecords(
  options: VerifyRecordsOptions,
  problems: string[],
): Promise<RecordsReport> {
  const { manifest, memory, firstDay } = options;
  const { hot } = memory;
  const appDays: AppDay[] = [];
  for (const [day, sealed] of [...manifest.days, ...manifest.expired]) {
    if (day >= firstDay) appDays.push(...(await hashSealedDay(options, day, sealed, problems)));
  }
  const inMemory = hot.daysInMemory().filter(({ day, isSealed }) => !isSealed && day >= firstDay);
  for (const { day } of inMemory) appDays.push(...hashDayInMemory(hot, day));
  await checkNewest(options, problems);

  appDays.sort((a, b) => compareUtf8(a.app, b.app) || compareUtf8(a.day, b.day));
  const profiles = hashProfiles(hot);
  const corrections = memory.corrections.report(utcDayStartMs(firstDay), problems);
  const lines = [
    ...appDays.map(({ app, day, records, sha256 }) => `${app} ${day} ${records} ${sha256}\n`),
    ...profiles.map(({ app, profiles: count, sha256 }) => `${app} profiles ${count} ${sha256}\n`),
    ...corrections.map(({ app, active, sha256 }) => `${app} corrections ${active} ${sha256}\n`),
    ...hashEntries("watches", hot.watches.entries()),
    ...hashEntries("webhooks", hot.webhooks.entries()),
  ];
  return {
    records: appDays.reduce((sum, { records }) => sum + records, 0),
    sha256: createHash("sha256").update(lines.join("")).digest("hex"),
    appDays,
    profiles,
    corrections,
  };
}

/** A line for each app with such entries, whose hash covers all that is kept of them. */
function hashEntries(noun: string, entries: Iterable<StandingEntry>): string[] {
  const hashes = new Map<string, { readonly hash: ReturnType<typeof createHash>; count: number }>();
  for (const entry of entries) {
    const ofApp = hashes.get(entry.appId) ?? { hash: createHash("sha256"), count: 0 };
    hashes.set(entry.appId, ofApp);
    ofApp.hash.update(encodeStandingEntry(entry, 0));
    ofApp.count++;
  }
  const apps = [...hashes].sort(([a], [b]) => compareUtf8(a, b));
  return apps.map(([app, { hash, count }]) => `${app} ${noun} ${count} ${hash.digest("hex")}\n`);
}

function hashProfiles({ profiles }: HotStore): AppProfiles[] {
  const linesOf = new Map<string, [deviceId: string, line: string][]>();
  for (const { appId, deviceId, profile } of profiles.entries()) {
    const members = { device_id: deviceId, ...(profile === null ? {} : profileMembers(profile)) };
    const lines = linesOf.get(appId) ?? [];
    lines.push([deviceId, `${JSON.stringify(members)}\n`]);
    linesOf.set(appId, lines);
  }
  const inOrder = [...linesOf].sort(([a], [b]) => compareUtf8(a, b));
  return inOrder.map(([app, lines]) => {
    const hash = createHash("sha256");
    for (const [, line] of lines.sort(([a], [b]) => compareUtf8(a, b))) hash.update(line);
    return { app, profiles: lines.length, sha256: hash.digest("hex") };
  });
}

function describeDay(app: string, day: UtcDay, hash: RecordHash): AppDay {
  return { app, day: utcDayName(day), records: hash.records, sha256: hash.digest() };
}

function hashDayInMemory(hot: HotStore, day: UtcDay): AppDay[] {
  const hashes = new Map<string, RecordHash>();
  const sealing = hot.seal([day]);
  for (const { appId, batch } of sealing.rows(day)) {
    if (batch.count === 0) continue;
    let hash = hashes.get(appId);
    if (hash === undefined) {
      hash = createRecordHash();
      hashes.set(appId, hash);
    }
    hash.add(recordColumns(batch));
  }
  sealing.abandon();
  return [...hashes].map(([app, hash]) => describeDay(app, day, hash));
}

async function hashSealedDay(
  { memory: { hot }, masks, openDatabase, pathOf, isDamaged, known, onRead }: VerifyRecordsOptions,
  day: UtcDay,
  { parts }: SealedDay,
  problems: string[],
): Promise<readonly AppDay[]> {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const apps = new Set<AppId>(parts.flatMap((part) => [...part.apps.keys()]));
  const masked = [...apps].map((appId) => masks.of(appId, [day]));
  const key = JSON.stringify([day, parts.map(({ file, crc }) => [file, crc]), masked]);
  const before = hot.holdsLate(day) ? undefined : known.get(key);
  if (before !== undefined || parts.some(({ file }) => isDamaged(file))) {
    onRead(bytes);
    return before ?? [];
  }
  const late = await lateRowsOf(hot, day);
  for (const appId of late.keys()) apps.add(appId);
  const appDays: AppDay[] = [];
  const connection = await (await openDatabase()).connect();
  try {
    for (const appId of [...apps].sort(compareUtf8)) {
      const hash = createRecordHash();
      const ofApp = parts.filter((part) => part.apps.has(appId));
      const mask = masks.of(appId, [day]);
      const dayOfApp = { day, appId, parts: ofApp, pathOf, mask, late: late.get(appId) ?? null };
      await readDay(connection, dayOfApp, (records) => {
        hash.add(records);
        onRead(rows === 0 ? 0 : (records.count / rows) * bytes);
      });
      if (hash.disorder !== null)
        problems.push(
          `The archive of ${utcDayName(day)} has records out of order or twice: ${appId}, ${hash.disorder}`,
        );
      appDays.push(describeDay(appId, day, hash));
    }
    if (late.size === 0) known.set(key, appDays);
    return appDays;
  } catch (error) {
    problems.push(`The archive of ${utcDayName(day)} can't be read: ${messageOf(error)}`);
    return [];
  } finally {
    connection.close();
  }
}

async function lateRowsOf(hot: HotStore, day: UtcDay): Promise<Map<AppId, LateRows>> {
  const late = new Map<AppId, LateRows>();
  if (!hot.holdsLate(day)) return late;
  const range = { startMs: utcDayStartMs(day), endMs: utcDayStartMs(nextUtcDay(day)) };
  for (const app of hot.apps()) {
    const rows = await hot.lateRows(app, null).whole(range);
    if (rows !== null) late.set(app.appId, rows);
  }
  return late;
}

/** The checkpoint must have every device's newest archived record, because current positions come from it. */
async function checkNewest(
  { manifest, masks, openDatabase, pathOf, isDamaged }: VerifyRecordsOptions,
  problems: string[],
): Promise<void> {
  const parts = [...manifest.days.values()].flatMap((day) => day.parts);
  const files = parts.map(({ file }) => file);
  const checkpoint = manifest.latest?.map(({ file }) => file) ?? null;
  if (checkpoint === null || parts.length === 0 || [...files, ...checkpoint].some(isDamaged)) return;
  const connection = await (await openDatabase()).connect();
  try {
    let count = 0;
    for (const appId of new Set(parts.flatMap(({ apps }) => [...apps.keys()]))) {
      const mask = masks.of(appId, manifest.days.keys())?.values ?? null;
      count += await countUnlisted(connection, appId, files.map(pathOf), checkpoint.map(pathOf), mask);
    }
    if (count > 0)
      problems.push(`archive/latest does not have the newest archived record of ${count} devices`);
  } catch (error) {
    problems.push(`The newest archived records can't be read: ${messageOf(error)}`);
  } finally {
    connection.close();
  }
}
