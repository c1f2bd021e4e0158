import { afterAll, expect, test } from "bun:test";
import { decideEvents } from "../../../../src/geofences/decision.ts";
import type { WatchEvent } from "../../../../src/geofences/watch.ts";
import { fail } from "../../../../src/lib/result.ts";
import { systemTimers } from "../../../../src/lib/schedule/timers.ts";
import { unavailable } from "../../../../src/model/errors.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createManualClock, type ManualClock } from "../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from "../../../../src/model/time/units.ts";
import { watchClockEntry } from "../../../../src/model/watches/watch-clock-entry.ts";
import { FileError } from "../../../../src/runtime/files.ts";
import { DecidedEvents } from "../../../../src/service/watching/decided-events.ts";
import { DeviceStates } from "../../../../src/service/watching/device-states.ts";
import { Watcher } from "../../../../src/service/watching/watcher.ts";
import { PreparedWatches } from "../../../../src/service/watching/watches-of-app.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { readerOf } from "../../../support/geofences/watching.ts";
import { randomRuns } from "../../../support/random-runs.ts";
import type { Report } from "../../../support/reports/batches.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { APP_ID } from "../../../support/test-app.ts";
import { until } from "../../../support/until.ts";

/*
 * The events of a directory: whatever came in between, they are those that the records make which answers show.
 */

afterAll(removeArchiveApps);

const START_MS = Date.UTC(2026, 2, 20);
const DEVICES = ["bus", "tram", "van"];
const CENTER = [13.4, 52.5] as const;
const METERS_PER_DEGREE = 111_195;

const FENCES: readonly object[] = [
  { radius_meters: 100, initial: "event" },
  { radius_meters: 100, confirmations: 2, dwell_seconds: 1800 },
  { radius_meters: 150, confirm_seconds: 600, users: ["anna"], silence_minutes: 90 },
  {
    radius_meters: 100,
    schedule: {
      timezone: "Europe/Berlin",
      weekly: [{ days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], from: "06:00", to: "22:00" }],
    },
  },
].map((properties) => ({ type: "Feature", geometry: { type: "Point", coordinates: CENTER }, properties }));

const APP = APP_ID as AppId;

type Members = Readonly<Record<string, unknown>>;

async function ask(app: ArchiveApp, method: string, path: string, body?: unknown): Promise<Members> {
  const headers = { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" };
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await app.fetch(`/api/v1/${path}`, { method, headers, ...init });
  if (response.status >= 300) throw new Error(`${method} ${path}: ${await response.text()}`);
  return response.status === 204 ? {} : ((await response.json()) as Members);
}

function inOrder(events: readonly WatchEvent[]): WatchEvent[] {
  return events.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** What the records make that answers show. */
async function expectedEvents(app: ArchiveApp): Promise<WatchEvent[]> {
  const { hot } = app.directory;
  const watches = hot.watches.find(APP);
  const prepared = new PreparedWatches().of(watches);
  const reader = readerOf(app);
  const events: WatchEvent[] = [];
  for (const device of DEVICES) {
    const range = { startMs: START_MS - MS_PER_DAY, endMs: START_MS + 60 * MS_PER_DAY };
    const read = await reader.read(APP, device as DeviceId, range, new AbortController().signal);
    if (!read.ok) throw new Error("records can't be read");
    for (const id of watches?.byId.keys() ?? [])
      events.push(
        ...decideEvents(prepared.find(id)!, device as DeviceId, read.value.value, hot.watches.clockMs),
      );
  }
  return inOrder(events);
}

async function storedEvents(app: ArchiveApp): Promise<WatchEvent[]> {
  const { watcher, eventStore } = app.directory;
  await until(() => watcher.isIdle);
  const range = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER };
  const all = eventStore.list(APP, { range, subject: null }, "asc", null, 100_000);
  return all.filter(({ isWithdrawn }) => !isWithdrawn).map(({ event }) => event);
}

/** Everything that may happen to records and fences, in random order. */
class Life {
  app: ArchiveApp;
  readonly #random: () => number;
  readonly #clock: ManualClock;
  readonly #corrections: string[] = [];
  readonly #fences: string[] = [];
  readonly #inside = new Set<string>();

  private constructor(app: ArchiveApp, clock: ManualClock, seed: number) {
    this.app = app;
    this.#clock = clock;
    this.#random = seededRandom(seed);
  }

  static async begin(seed: number): Promise<Life> {
    const clock = createManualClock(START_MS);
    const app = await createArchiveApp({ clock, segmentBytesMax: 20_000 });
    app.directory.watcher.start();
    return new Life(app, clock, seed);
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count);
  }

  async step(): Promise<void> {
    this.#clock.advance(this.#pick(4 * MS_PER_HOUR));
    switch (this.#pick(24)) {
      case 0:
        return void (await this.app.seal());
      case 1:
        return this.#restart();
      case 2:
        return this.#correct();
      case 3:
        return this.#changeFence();
      case 4:
        return void (await storedEvents(this.app));
      case 5:
      case 6:
        return this.moveClock();
      default:
        return this.#report();
    }
  }

  /** Devices go in and out; some reports are up to twelve days late, and some come again. */
  async #report(): Promise<void> {
    const device = DEVICES[this.#pick(DEVICES.length)]!;
    const reports: Report[] = [];
    const nowMs = this.#clock.nowMs();
    for (let count = 1 + this.#pick(12); count > 0; count--) {
      if (this.#random() < 0.2) {
        if (!this.#inside.delete(device)) this.#inside.add(device);
      }
      const lateMs = this.#random() < 0.2 ? this.#random() * 12 * MS_PER_DAY : this.#pick(MS_PER_HOUR);
      const meters = this.#inside.has(device) ? this.#pick(120) : 100 + this.#pick(900);
      const minute = Math.floor(Math.max(START_MS + MS_PER_HOUR, nowMs - lateMs) / MS_PER_MINUTE);
      reports.push({
        device_id: device,
        timestamp: minute * MS_PER_MINUTE,
        latitude: CENTER[1] + meters / METERS_PER_DEGREE,
        longitude: CENTER[0],
        horizontal_accuracy: this.#pick(40),
        speed: this.#pick(40),
        battery_level: this.#pick(100),
        user_id: this.#random() < 0.8 ? "anna" : "bert",
      });
    }
    await this.app.store(reports.filter(({ timestamp }) => (timestamp as number) <= nowMs));
  }

  async moveClock(): Promise<void> {
    await this.app.directory.log.appendStanding(watchClockEntry(this.#clock.nowMs()));
  }

  async #correct(): Promise<void> {
    const known = this.#corrections.pop();
    if (known !== undefined && this.#random() < 0.5) {
      await ask(this.app, "DELETE", `corrections/${known}`).catch(() => undefined); // Later ones stand in its way.
      return;
    }
    const device_id = DEVICES[this.#pick(DEVICES.length)]!;
    const to = this.#random() < 0.7 ? { to_user_id: "carla" } : { to_device_id: "van" };
    const wanted = this.#random() < 0.6 ? this.#hiding() : { action: "assign", ...to };
    const made = await ask(this.app, "POST", "corrections", { device_id, ...wanted }).catch(() => ({}));
    const { correction } = made as { readonly correction?: { readonly id: string } };
    if (correction !== undefined) this.#corrections.push(correction.id);
  }

  #hiding(): object {
    const start = START_MS + this.#random() * (this.#clock.nowMs() - START_MS);
    return {
      ...{ action: "hide", start: Math.floor(start) },
      end: Math.floor(start + MS_PER_DAY * this.#random()),
    };
  }

  async #changeFence(): Promise<void> {
    const fence = FENCES[this.#pick(FENCES.length)]!;
    const known = this.#fences[this.#pick(this.#fences.length)];
    if (known === undefined || this.#random() < 0.3) {
      const { geofence } = await ask(this.app, "POST", "geofences", fence);
      this.#fences.push((geofence as { readonly id: string }).id);
    } else if (this.#random() < 0.7) await ask(this.app, "PUT", `geofences/${known}`, fence);
    else {
      this.#fences.splice(this.#fences.indexOf(known), 1);
      await ask(this.app, "DELETE", `geofences/${known}`);
    }
  }

  async #restart(): Promise<void> {
    this.app = await this.app.restart();
    this.app.directory.watcher.start();
  }
}

test("Watcher waits while the database fails: reports are accepted, and their events are made later", async () => {
  const clock = createManualClock(START_MS);
  const app = await createArchiveApp({ clock });
  app.directory.watcher.start();
  await ask(app, "POST", "geofences", FENCES[0]);
  await storedEvents(app);
  const { eventStore, watcher } = app.directory;
  eventStore.transact = () => {
    throw new FileError("write", "events.sqlite", "ENOSPC");
  };
  clock.advance(MS_PER_HOUR);
  const report = { device_id: "bus", latitude: CENTER[1], longitude: CENTER[0] };
  for (const minute of [1, 2]) await app.store([{ ...report, timestamp: START_MS + minute * MS_PER_MINUTE }]);
  await until(() => watcher.isFailing);
  expect(watcher.backlog.devices).toBe(1);
  const failing = "Events of geofences and alerts wait, and are made once this works again";
  expect(app.notes.filter((note) => note.startsWith(failing))).toHaveLength(1);
  const sealed = await app.seal();
  expect(sealed.unfinished).toBeNull();
  const later = await app.restart();
  later.directory.watcher.start();
  expect((await storedEvents(later)).map(({ timestampMs }) => timestampMs)).toEqual([
    START_MS + MS_PER_MINUTE,
  ]);
  await later.close();
});

test("Watcher decides the other devices while the records of one can't be read, and that one once they can", async () => {
  const clock = createManualClock(START_MS);
  const app = await createArchiveApp({ clock });
  await ask(app, "POST", "geofences", FENCES[0]);
  const reader = readerOf(app);
  let isBroken = true;
  const notes: string[] = [];
  const { hot, scheduler, eventStore } = app.directory;
  const watcher = new Watcher({
    ...{ hot, scheduler, clock, events: eventStore, retention: DEFAULT_RETENTION },
    ...{ decided: new DecidedEvents(eventStore, false), shared: null },
    states: new DeviceStates(eventStore.database),
    reader: {
      newestMs: (...whose) => reader.newestMs(...whose),
      *fromMemory(appId, deviceId, range) {
        return deviceId === "tram" ? null : yield* reader.fromMemory(appId, deviceId, range);
      },
      read: async (...asked) => (isBroken ? fail(unavailable("broken", 1)) : reader.read(...asked)),
    },
    timers: { ...systemTimers, after: (ms, call) => systemTimers.after(ms / 100, call) },
    onNote: (note) => notes.push(note),
  });
  watcher.start();
  clock.advance(MS_PER_HOUR);
  const report = { timestamp: START_MS + MS_PER_MINUTE, latitude: CENTER[1], longitude: CENTER[0] };
  await app.store(["tram", "bus", "van"].map((device_id) => ({ ...report, device_id })));
  const devices = () => eventStore.after(APP, 0, 10).map(({ event }) => event.deviceId as string);
  await until(() => devices().length === 2);
  expect(devices().sort()).toEqual(["bus", "van"]);
  expect(watcher.isFailing).toBe(true);
  expect(notes).toHaveLength(1);
  await watcher.checkpoint();
  isBroken = false;
  await until(() => devices().length === 3);
  await until(() => watcher.isIdle);
  expect(watcher.isFailing).toBe(false);
  await watcher.stop();
  await app.close();
});

test("Watcher makes the events of few devices without a rest, whatever came before", async () => {
  const clock = createManualClock(START_MS);
  const app = await createArchiveApp({ clock });
  await ask(app, "POST", "geofences", FENCES[0]);
  const { hot, scheduler, eventStore } = app.directory;
  const watcher = new Watcher({
    ...{ hot, scheduler, clock, events: eventStore, retention: DEFAULT_RETENTION },
    ...{ decided: new DecidedEvents(eventStore, false), shared: null },
    states: new DeviceStates(eventStore.database),
    reader: readerOf(app),
    timers: { nowMs: systemTimers.nowMs, after: () => () => undefined }, // A rest would never end.
    onNote: () => undefined,
  });
  watcher.start();
  clock.advance(MS_PER_HOUR);
  const count = () => eventStore.after(APP, 0, 100).length;
  for (let minute = 1; minute <= 20; minute++) {
    const timestamp = START_MS + minute * MS_PER_MINUTE;
    const latitude = CENTER[1] + ((minute + 1) % 2);
    await app.store([{ device_id: "bus", timestamp, latitude, longitude: CENTER[0] }]);
    await until(() => count() === minute);
  }
  await watcher.stop();
  await app.close();
});

test("Watcher writes few events in a transaction, however many records and fences a device has", async () => {
  const clock = createManualClock(START_MS);
  const app = await createArchiveApp({ clock });
  const { eventStore, watcher } = app.directory;
  let [written, most] = [0, 0];
  const { put, transact } = eventStore;
  eventStore.put = (revision) => {
    most = Math.max(most, ++written);
    put.call(eventStore, revision);
  };
  eventStore.transact = (write) => {
    written = 0;
    transact.call(eventStore, write);
  };
  watcher.start();
  for (let fence = 0; fence < 100; fence++) await ask(app, "POST", "geofences", FENCES[0]);
  clock.advance(MS_PER_HOUR);
  const reportAt = (second: number): Report => ({
    ...{ device_id: "bus", timestamp: START_MS + second * 1000 },
    ...{ latitude: CENTER[1] + (second % 2), longitude: CENTER[0] },
  });
  await app.store(Array.from({ length: 20 }, (_, at) => reportAt(2 * at + 2 + (at % 2))));
  const decided = await storedEvents(app);
  expect(decided).toHaveLength(20 * 100);
  await app.store([reportAt(1), reportAt(7)]); // Late: from all fences the bus goes earlier.
  expect(await storedEvents(app)).toEqual(await expectedEvents(app));
  expect(most).toBeLessThanOrEqual(64);
  await app.close();
});

test("GET /geofences/{id}/devices answers the devices inside, each with the time at which it entered", async () => {
  const clock = createManualClock(START_MS);
  const app = await createArchiveApp({ clock });
  app.directory.watcher.start();
  const { geofence } = await ask(app, "POST", "geofences", FENCES[0]);
  const path = `geofences/${(geofence as { readonly id: string }).id}/devices`;
  const report = (device_id: string, minute: number, meters: number): Report => ({
    ...{ device_id, timestamp: START_MS + minute * MS_PER_MINUTE },
    ...{ latitude: CENTER[1] + meters / METERS_PER_DEGREE, longitude: CENTER[0] },
  });
  clock.advance(MS_PER_HOUR);
  await app.store([report("bus", 1, 0), report("tram", 2, 900), report("van", 3, 0), report("bus", 4, 10)]);
  await storedEvents(app);
  const inside = (device_id: string, minute: number) => ({
    ...{ device_id, entered_at: START_MS + minute * MS_PER_MINUTE },
  });
  expect(await ask(app, "GET", path)).toMatchObject({ devices: [inside("bus", 1), inside("van", 3)] });
  expect(await ask(app, "GET", `${path}?limit=1`)).toEqual({
    success: true,
    devices: [inside("bus", 1)],
    pagination: { count: 1, has_more: true, offset: 0, limit: 1 },
  });
  await app.store([report("bus", 5, 900)]);
  await storedEvents(app);
  expect(await ask(app, "GET", path)).toMatchObject({ devices: [inside("van", 3)] });
  await app.close();
});

test("Watcher makes the events of the records that answers show, whatever came before them", async () => {
  for (let seed = 1; seed <= randomRuns(5); seed++) {
    const life = await Life.begin(seed);
    for (const fence of FENCES) await ask(life.app, "POST", "geofences", fence);
    for (const alert of [{ speed_above: 35 }, { battery_below: 20 }, { silent_for: 120 }])
      await ask(life.app, "POST", "alerts", alert);
    for (let step = 0; step < 80; step++) await life.step();
    await life.moveClock();
    const events = await storedEvents(life.app);
    expect(events.length).toBeGreaterThan(20);
    expect(inOrder(events)).toEqual(await expectedEvents(life.app));
    expect(life.app.notes).toEqual([]);
    await life.app.close();
  }
});
