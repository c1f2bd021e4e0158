import type { AppDevices } from "../../hot/app-devices.ts";
import type { Device } from "../../hot/devices/device.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { LateScan } from "../../hot/late/late-rows.ts";
import { type DeviceBlocks, NO_DEVICES } from "../../hot/scan/memory-scan.ts";
import { type Steps, sortInSteps } from "../../lib/schedule/steps.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import { deviceOf } from "../../model/device-alias.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { ExportQuery } from "./export-formats.ts";

/** Where memory has the records of an export. */
export interface ExportedDevices {
  readonly hot: HotStore;
  readonly query: Pick<ExportQuery, "appId" | "userId" | "originals">;
  /** The devices of the query, sorted; null for all. */
  readonly listed: readonly DeviceId[] | null;
}

/** The records of the app in memory that are exported: those that answers show, or all that were reported. */
export function placesOf({ hot, query: { appId, originals } }: ExportedDevices): readonly AppDevices[] {
  if (originals) return hot.reportedPlaces(appId);
  const app = hot.findApp(appId);
  return app === null ? [] : [app];
}

/** Devices with records of the export in memory. A device may come twice: with records that are shown, and hidden. */
export function devicesInMemory(run: ExportedDevices): DeviceBlocks {
  const places = placesOf(run).map((place) => devicesOf(place, run));
  return places.reduce(joined, NO_DEVICES);
}

function devicesOf(place: AppDevices, { hot, query: { userId }, listed }: ExportedDevices): DeviceBlocks {
  if (listed !== null) {
    const devices = listed.map((id) => place.find(id)).filter((device) => device !== null);
    return { size: devices.length, blocks: () => [devices] };
  }
  return userId === null ? place : place.users.devicesWithRecords(() => hot.dictionary.findUser(userId));
}

function joined(a: DeviceBlocks, b: DeviceBlocks): DeviceBlocks {
  if (a === NO_DEVICES) return b;
  return { size: a.size + b.size, blocks: () => mergedBlocks(a.blocks(), b.blocks()) };
}

/** The late rows of the export, of one device or of all; null if memory has nothing of that. */
export function lateRowsOf(
  { hot, query: { appId, originals } }: ExportedDevices,
  deviceId: DeviceId | null,
): LateScan | null {
  if (originals) return hot.reportedLateRows(appId, deviceId);
  const app = hot.findApp(appId);
  if (app === null || deviceId === null) return app === null ? null : hot.lateRows(app, null);
  const device = app.find(deviceId);
  return device === null ? null : hot.lateRows(app, device);
}

/** Two sorted lists in one. Empty blocks stay, because they end a step. */
function* mergedBlocks(
  a: Iterable<readonly Device[]>,
  b: Iterable<readonly Device[]>,
): Iterable<readonly Device[]> {
  const blocks = b[Symbol.iterator]();
  let waiting: readonly Device[] = [];
  let hasMore = true;
  for (const block of a) {
    const last = block.at(-1);
    const between: Device[] = [];
    while (last !== undefined) {
      const count = waiting.findIndex(({ id }) => compareUtf8(id, last.id) > 0);
      between.push(...waiting.slice(0, count < 0 ? waiting.length : count));
      waiting = count < 0 ? [] : waiting.slice(count);
      if (count >= 0 || !hasMore) break;
      const { done, value } = blocks.next();
      hasMore = done !== true;
      waiting = value ?? [];
      if (hasMore && waiting.length === 0) yield [];
    }
    yield between.length === 0 ? block : [...block, ...between].sort((x, y) => compareUtf8(x.id, y.id));
  }
  yield waiting;
  while (hasMore) {
    const { done, value } = blocks.next();
    hasMore = done !== true;
    if (hasMore) yield value;
  }
}

/** Consecutive devices. */
export interface DeviceGroup {
  readonly ids: readonly DeviceId[];
  /** Null if they are the last ones. */
  readonly lastId: DeviceId | null;
}

/** The next devices of an export, in steps. */
export function* devicesBehind(
  run: ExportedDevices,
  afterId: DeviceId | null,
  max: number,
): Steps<DeviceGroup> {
  const { hot, query, listed } = run;
  if (listed !== null)
    return firstOf(
      listed.filter((id) => isBehind(id, afterId)),
      max,
    );
  const visible = yield* shownBehind(hot.findApp(query.appId), afterId, max);
  const corrected = query.originals ? correctedDevices(hot, query.appId) : [];
  if (corrected.length === 0) return firstOf(visible, max);
  const others = yield* sortInSteps(
    corrected.filter((id) => isBehind(id, afterId)),
    compareUtf8,
  );
  const all = [...new Set([...visible, ...others.slice(0, max + 1)])];
  return firstOf(all.sort(compareUtf8), max);
}

function isBehind(id: DeviceId, afterId: DeviceId | null): boolean {
  return afterId === null || compareUtf8(id, afterId) > 0;
}

function firstOf(ids: readonly DeviceId[], max: number): DeviceGroup {
  return { ids: ids.slice(0, max), lastId: ids.length > max ? ids[max - 1]! : null };
}

/** One more than `max`, if there are as many. */
function* shownBehind(app: AppDevices | null, afterId: DeviceId | null, max: number): Steps<DeviceId[]> {
  if (app === null) return [];
  const { list, table } = app;
  while (!list.sortPending()) yield;
  const next = list.reader(afterId);
  const ids: DeviceId[] = [];
  for (let block = next(); block !== null && ids.length <= max; block = next())
    for (const number of block.numbers) ids.push(table.idOf(number));
  return ids.slice(0, max + 1);
}

/** The devices of which corrections hide records, or which show as others, wherever their records are. */
export function correctedDevices({ corrections }: Pick<HotStore, "corrections">, appId: AppId): DeviceId[] {
  const ofApp = corrections.find(appId);
  if (ofApp === null) return [];
  return [...[...ofApp.hidden.keys()].map(deviceOf), ...ofApp.aliases.all().map(({ deviceId }) => deviceId)];
}
