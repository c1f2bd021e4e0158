import type { AppId, DeviceId } from "../model/ids.ts";
import { NUMBER_FIELDS, numberIndex } from "../model/location-fields.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import { AppDevices } from "./app-devices.ts";
import { maskOf, numberAt, profileAt, setNumber, setTuples, stateAt, writeRow } from "./chunk.ts";
import type { Device } from "./device.ts";
import { createDictionary, type Dictionary, type TranslatedTuples } from "./dictionary.ts";
import type { RowRef } from "./track.ts";

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/**
 * Every record that no archive holds: by app and device in time order, packed. Taking a batch in is the
 * only way to change it, so replay and live traffic leave the same store behind.
 */
export interface HotStore {
  readonly dictionary: Dictionary;
  /** Lays a batch of reports over the store, in order. */
  apply(appId: AppId, batch: ReportBatch): AppliedBatch;
  /** Whether the whole batch repeats what is stored, so that laying it over the store would change nothing. */
  repeats(appId: AppId, batch: ReportBatch): boolean;
  findApp(appId: AppId): AppDevices | null;
  readonly recordCount: number;
  readonly deviceCount: number;
}

/** What became of the batch's reports: new or changed records, and repeats that changed nothing. */
export interface AppliedBatch {
  readonly accepted: number;
  readonly duplicates: number;
}

export function createHotStore(): HotStore {
  const dictionary = createDictionary();
  const apps = new Map<AppId, AppDevices>();

  function findOrAddApp(appId: AppId): AppDevices {
    let app = apps.get(appId);
    if (app === undefined) {
      app = new AppDevices(appId);
      apps.set(appId, app);
    }
    return app;
  }

  function applyRow(
    app: AppDevices,
    device: Device,
    batch: ReportBatch,
    row: number,
    carried: Tuples,
  ): boolean {
    const stored = device.track.find(batch.timestampMs[row]!);
    if (stored === null) {
      insert(app, device, batch, row, carried);
      return true;
    }
    if (!differs(dictionary, stored, batch, row, carried)) return false;
    replace(app, device, stored, batch, row, carried);
    return true;
  }

  function insert(app: AppDevices, device: Device, batch: ReportBatch, row: number, carried: Tuples): void {
    const timestampMs = batch.timestampMs[row]!;
    const isNewest = timestampMs > device.track.newestMs;
    const profile = dictionary.asStored(carried.profile);
    const place = device.track.insert(timestampMs, maskOf(batch.numbers, row));
    writeRow(place.chunk, place.row, timestampMs, batch.numbers, row);
    setTuples(place.chunk, place.row, profile, carried.state);
    app.recordCount++;
    const user = dictionary.userOf(profile);
    app.countRecord(device, user);
    if (isNewest) showNewest(app, device, place, user);
  }

  /** Lays what the report carries over the stored record, which keeps the rest. */
  function replace(
    app: AppDevices,
    device: Device,
    stored: RowRef,
    batch: ReportBatch,
    row: number,
    carried: Tuples,
  ): void {
    const place = device.track.widen(stored, maskOf(batch.numbers, row));
    for (let field = 0; field < NUMBER_FIELDS.length; field++) {
      const value = batch.numbers[field]![row]!;
      if (!Number.isNaN(value)) setNumber(place.chunk, place.row, field, value);
    }
    const oldProfile = profileAt(place.chunk, place.row);
    const profile = dictionary.mergeProfiles(oldProfile, carried.profile);
    const state = dictionary.mergeStates(stateAt(place.chunk, place.row), carried.state);
    setTuples(place.chunk, place.row, profile, state);
    const oldUser = dictionary.userOf(oldProfile);
    const user = dictionary.userOf(profile);
    if (user !== oldUser) {
      app.countRecord(device, user);
      app.discountRecord(device, oldUser);
    }
    if (batch.timestampMs[row]! === device.track.newestMs) showNewest(app, device, place, user);
  }

  function showNewest(app: AppDevices, device: Device, { chunk, row }: RowRef, user: number): void {
    app.positions.set(device.number, numberAt(chunk, row, LATITUDE), numberAt(chunk, row, LONGITUDE));
    app.setCurrentUser(device, user);
  }

  return {
    dictionary,
    apply(appId, batch) {
      const app = findOrAddApp(appId);
      const tuples = dictionary.translate(batch);
      const devices: (Device | undefined)[] = new Array(batch.texts.length);
      const carried = { profile: 0, state: 0 };
      let accepted = 0;
      for (let row = 0; row < batch.count; row++) {
        const text = batch.device[row]!;
        let device = devices[text];
        if (device === undefined) {
          device = app.findOrAdd(batch.texts[text] as DeviceId);
          devices[text] = device;
        }
        readTuples(tuples, batch, row, carried);
        if (applyRow(app, device, batch, row, carried)) accepted++;
      }
      return { accepted, duplicates: batch.count - accepted };
    },
    repeats(appId, batch) {
      const app = apps.get(appId);
      if (app === undefined) return false;
      let tuples: TranslatedTuples | null = null; // Most batches are new from their first row on.
      const carried = { profile: 0, state: 0 };
      for (let row = 0; row < batch.count; row++) {
        const stored =
          app.find(batch.texts[batch.device[row]!]!)?.track.find(batch.timestampMs[row]!) ?? null;
        if (stored === null) return false;
        tuples ??= dictionary.translate(batch);
        readTuples(tuples, batch, row, carried);
        if (differs(dictionary, stored, batch, row, carried)) return false;
      }
      return true;
    },
    findApp: (appId) => apps.get(appId) ?? null,
    get recordCount() {
      let count = 0;
      for (const app of apps.values()) count += app.recordCount;
      return count;
    },
    get deviceCount() {
      let count = 0;
      for (const app of apps.values()) count += app.deviceCount;
      return count;
    },
  };
}

/** A report's profile and state as it carried them, in the dictionary's numbers. */
interface Tuples {
  profile: number;
  state: number;
}

function readTuples(tuples: TranslatedTuples, batch: ReportBatch, row: number, out: Tuples): void {
  out.profile = tuples.profiles[batch.profile[row]!]!;
  out.state = tuples.states[batch.state[row]!]!;
}

/** Whether the report carries anything that the stored record has not, or has otherwise. */
function differs(
  dictionary: Dictionary,
  { chunk, row: storedRow }: RowRef,
  batch: ReportBatch,
  row: number,
  carried: Tuples,
): boolean {
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const value = batch.numbers[field]![row]!;
    if (!Number.isNaN(value) && value !== numberAt(chunk, storedRow, field)) return true;
  }
  const profile = profileAt(chunk, storedRow);
  const state = stateAt(chunk, storedRow);
  return (
    dictionary.mergeProfiles(profile, carried.profile) !== profile ||
    dictionary.mergeStates(state, carried.state) !== state
  );
}
