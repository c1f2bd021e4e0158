import { afterEach, expect, test } from "bun:test";
import { View } from "../../../../src/auth/view.ts";
import { createHotStore, type HotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { nextTurn } from "../../../../src/lib/schedule/timers.ts";
import { BoundingBox } from "../../../../src/model/geo/bounding-box.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import { createManualClock, type ManualClock } from "../../../../src/model/time/clock.ts";
import { FixedRetention } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { createLive } from "../../../../src/service/live/create-live.ts";
import type { EventWriter, Live, Viewer, ViewerQuery } from "../../../../src/service/live/live.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";

/* What single viewers are told. That viewers know what the API answers, whatever happens, is in `agreement.test.ts`. */

const NOON_MS = Date.UTC(2026, 0, 15, 12);
const EVERYTHING: ViewerQuery = { sinceSequence: null, box: null, deviceIds: null, userId: null, view: null };
const AT_NOON = { timestamp: NOON_MS, latitude: 0, longitude: 0 };
const TURNS = 6;

/** An event as the writer of these tests makes it. */
type Told = { readonly ids: readonly string[]; readonly sequence: number } | { readonly reset: number };

const lives: Live[] = [];
afterEach(() => {
  for (const live of lives.splice(0)) live.close();
});

class Stage {
  readonly clock: ManualClock = createManualClock(NOON_MS);
  readonly hot: HotStore;
  readonly live: Live;
  written = 0;
  #sequence: number;

  constructor(lastSequence = 0) {
    const scheduler = new Scheduler();
    this.#sequence = lastSequence;
    this.hot = createHotStore(scheduler);
    if (lastSequence > 0) this.hot.apply(APP, batchOf([{ ...AT_NOON, device_id: "before" }]), lastSequence);
    this.hot.keepChanges(lastSequence);
    const retention = FixedRetention.ofDays(30);
    const queries = { hot: this.hot, clock: this.clock, retention, scheduler };
    this.live = createLive(queries, { restMs: 0, restTimes: 0 });
    lives.push(this.live);
  }

  readonly writer: EventWriter = {
    changes: ({ records, devices, isFirst, isLast, sequence }) => {
      this.written++;
      return bytesOf({
        ids: Array.from(devices, (device) => records.deviceId(device)),
        isFirst,
        isLast,
        sequence,
      });
    },
    reset: (sequence) => bytesOf({ reset: sequence }),
  };

  open(query: Partial<ViewerQuery> = {}, writer = this.writer, appId: AppId = APP): Viewer {
    return this.live.open(appId, { ...EVERYTHING, ...query }, writer);
  }

  /** An entry of the log: reports of these devices, at the place and by the user that are given. */
  report(ids: readonly string[], more: Readonly<Record<string, unknown>> = {}): void {
    const timestamp = NOON_MS + this.#sequence;
    const reports = ids.map((device_id) => ({ ...AT_NOON, device_id, timestamp, ...more }));
    this.hot.apply(APP, batchOf(reports), ++this.#sequence);
  }

  /** Forgets all devices, as a seal does of those that are gone. */
  forgetAll(): void {
    const days = this.hot.daysInMemory().map(({ day }) => day);
    const sealing = this.hot.seal(days);
    sealing.commit(new Set(days), new Map(days.map((day) => [day, sealing.sequence])));
    for (const _ of sealing.drop());
    for (const _ of this.hot.forgetDevices(Number.POSITIVE_INFINITY));
  }
}

function bytesOf(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** All that a viewer is told before there is nothing more; it takes no more after that. */
async function toldTo(viewer: Viewer): Promise<Told[]> {
  const told: Told[] = [];
  let ids: string[] = [];
  for (;;) {
    let bytes: Uint8Array | null | undefined;
    void viewer.next().then((value) => {
      bytes = value;
    });
    for (let turn = 0; turn < TURNS && bytes === undefined; turn++) await nextTurn();
    if (bytes === undefined) viewer.close();
    if (bytes === undefined || bytes === null) return told;
    const part = JSON.parse(new TextDecoder().decode(bytes));
    if ("reset" in part) {
      told.push(part);
      continue;
    }
    expect(part.isFirst).toBe(ids.length === 0);
    expect(viewer.isWithinEvent).toBe(!part.isLast);
    ids.push(...part.ids);
    if (!part.isLast) continue;
    expect(viewer.sentSequence).toBe(part.sequence);
    told.push({ ids, sequence: part.sequence });
    ids = [];
  }
}

test("an event names each device that changed once, and the entry up to which all was told", async () => {
  const stage = new Stage();
  const viewer = stage.open();
  stage.report(["a", "b"]);
  stage.report(["b", "c"]);
  stage.report(["a"], { timestamp: NOON_MS - 1 }); // Late: nothing is visible of it.
  expect(await toldTo(viewer)).toEqual([{ ids: ["a", "b", "c"], sequence: 3 }]);
});

test("a viewer is told of devices that match, and once more of those that do no longer", async () => {
  const stage = new Stage();
  stage.report(["a", "b", "c"], { user_id: "u" });
  const inBox = stage.open({ box: new BoundingBox(-1, -1, 1, 1) });
  const ofUser = stage.open({ userId: "u" as UserId });
  const ofDevice = stage.open({ deviceIds: new Set(["c", "new"]) });
  const ofBoth = stage.open({ box: new BoundingBox(-1, -1, 1, 1), userId: "v" as UserId });
  stage.report(["a"], { latitude: 5, user_id: "u" });
  stage.report(["b"], { user_id: "v" });
  stage.report(["c", "new"], { latitude: 5, user_id: "v" });
  expect(await toldTo(inBox)).toEqual([{ ids: ["a", "b", "c"], sequence: 4 }]);
  expect(await toldTo(ofUser)).toEqual([{ ids: ["a", "b", "c"], sequence: 4 }]);
  expect(await toldTo(ofDevice)).toEqual([{ ids: ["c", "new"], sequence: 4 }]);
  expect(await toldTo(ofBoth)).toEqual([{ ids: ["b"], sequence: 4 }]);

  const later = stage.open({ box: new BoundingBox(-1, -1, 1, 1) });
  const usersLater = stage.open({ userId: "u" as UserId });
  stage.report(["a", "c"], { latitude: 6, user_id: "v" });
  expect(await toldTo(later)).toEqual([]);
  expect(await toldTo(usersLater)).toEqual([{ ids: ["a"], sequence: 5 }]);
});

test("an entry of the log is told when all of it is, over as many events as that takes", async () => {
  const stage = new Stage();
  const viewer = stage.open({ sinceSequence: 0 });
  const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => `${from + i}`);
  stage.report(ids(0, 4000));
  stage.report(ids(4000, 2000));
  stage.report(ids(0, 4000));
  const told = await toldTo(viewer);
  expect(told).toEqual([
    { ids: ids(0, 5000), sequence: 1 },
    { ids: [...ids(5000, 1000), ...ids(0, 4000)], sequence: 3 },
  ]);
});

test("changes that are too many to be looked up at once are told in the midst of an entry, but not its number", async () => {
  const stage = new Stage();
  const viewer = stage.open({ sinceSequence: 0 });
  const ids = Array.from({ length: 3000 }, (_, i) => `${i}`);
  for (let entry = 0; entry < 3; entry++) stage.report(ids);
  expect(await toldTo(viewer)).toEqual([
    { ids, sequence: 2 },
    { ids: ids.slice(2192), sequence: 3 },
  ]);
});

test("sentSequence goes on where nothing matches", async () => {
  const stage = new Stage();
  const viewer = stage.open({ deviceIds: new Set(["nobody"]) });
  stage.report(["a"]);
  expect(await toldTo(viewer)).toEqual([]);
  expect(viewer.sentSequence).toBe(1);
});

test("ids are of the entries of the app, and a share link's of its devices", async () => {
  const stage = new Stage();
  stage.report(["a"]);
  stage.report(["b"]);
  const view = new View({ deviceIds: ["a"] as DeviceId[], notBeforeMs: 0, precisionMeters: null });
  const [all, link] = [stage.open({ sinceSequence: 0 }), stage.open({ sinceSequence: 0, view })];
  const [fresh, freshLink] = [stage.open(), stage.open({ view })];
  expect([fresh.sentSequence, freshLink.sentSequence]).toEqual([2, 1]);
  stage.hot.apply("b" as AppId, batchOf([{ ...AT_NOON, device_id: "a" }]), 9);
  expect(await toldTo(all)).toEqual([{ ids: ["a", "b"], sequence: 2 }]);
  expect(await toldTo(link)).toEqual([{ ids: ["a"], sequence: 1 }]);
  expect(await toldTo(stage.open({ sinceSequence: 9 }))).toEqual([{ reset: 2 }]);
  expect(await toldTo(stage.open({ sinceSequence: 9, view }))).toEqual([{ reset: 1 }]);
});

test("by no id can a share link find out whether others reported", async () => {
  const view = new View({ deviceIds: ["a", "later"] as DeviceId[], notBeforeMs: 0, precisionMeters: null });
  const answers = async (reports: readonly string[]) => {
    const stage = new Stage();
    for (const id of reports) stage.report([id]);
    const narrow = new Set(["later"]);
    return Promise.all(
      [0, 1, 2, 3, 4].flatMap((sinceSequence) => [
        toldTo(stage.open({ sinceSequence, view })),
        toldTo(stage.open({ sinceSequence, view, deviceIds: narrow })),
      ]),
    );
  };
  expect(await answers(["a", "b", "b"])).toEqual(await answers(["a"]));
  expect(await answers(["b", "b"])).toEqual(await answers([]));
  expect((await answers(["a", "b"])).slice(2, 6)).toEqual([[], [], [{ reset: 1 }], [{ reset: 0 }]]);
});

test("ids of a share link say nothing of what came before it begins", async () => {
  const view = new View({
    deviceIds: ["a"] as DeviceId[],
    notBeforeMs: NOON_MS + 60_000,
    precisionMeters: null,
  });
  const stage = new Stage();
  stage.report(["a"]);
  expect(stage.open({ view }).sentSequence).toBe(0);
  expect(await toldTo(stage.open({ view, sinceSequence: 1 }))).toEqual([{ reset: 0 }]);
  const viewer = stage.open({ view, sinceSequence: 0 });
  stage.report(["a"]);
  expect(await toldTo(viewer)).toEqual([]);
  expect(viewer.sentSequence).toBe(0);
  stage.report(["a"], { timestamp: NOON_MS + 60_000 });
  expect(await toldTo(stage.open({ view, sinceSequence: 0 }))).toEqual([{ ids: ["a"], sequence: 3 }]);
});

test("open() goes on after an entry that is known, also the last one before the start", async () => {
  const stage = new Stage(7);
  expect(await toldTo(stage.open({ sinceSequence: 6 }))).toEqual([{ reset: 7 }]);
  expect(await toldTo(stage.open({ sinceSequence: 7 }))).toEqual([]);
  expect(await toldTo(stage.open({ sinceSequence: 8 }))).toEqual([{ reset: 7 }]);
  stage.report(["a"]);
  stage.report(["b"]);
  const sinces = [6, 7, 8, 9, 10].map((sinceSequence) => toldTo(stage.open({ sinceSequence })));
  expect(await Promise.all(sinces)).toEqual([
    [{ reset: 9 }],
    [{ ids: ["a", "b"], sequence: 9 }],
    [{ ids: ["b"], sequence: 9 }],
    [],
    [{ reset: 9 }],
  ]);
});

test("who takes nothing is told to start anew once what it missed is forgotten, and then what comes", async () => {
  const stage = new Stage();
  const stalled = stage.open();
  const other = stage.open({ deviceIds: new Set(["last"]) });
  const ids = Array.from({ length: 1000 }, (_, i) => `${i}`);
  for (let entry = 0; entry < 66; entry++) stage.report(ids);
  expect(stalled.isWithinEvent).toBe(false);
  const next = stalled.next();
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  expect(new TextDecoder().decode((await next)!)).toBe('{"reset":66}');
  expect(stalled.sentSequence).toBe(66);
  stage.report(["last"]);
  expect(await toldTo(stalled)).toEqual([{ ids: ["last"], sequence: 67 }]);
  expect(await toldTo(other)).toEqual([{ reset: 67 }]);
});

test("what goes from sight with the retention is told by a reset, without any change", async () => {
  const stage = new Stage();
  stage.report(["a"], { timestamp: NOON_MS - 30 * MS_PER_DAY });
  stage.report(["b"]);
  const [viewer, idle] = [stage.open(), stage.open()];
  const told = toldTo(viewer);
  stage.clock.advance(MS_PER_DAY);
  stage.live.look();
  expect(await told).toEqual([{ reset: 2 }]);
  expect(await toldTo(stage.open({ sinceSequence: 2 }))).toEqual([{ reset: 2 }]);
  expect(await toldTo(idle)).toEqual([{ reset: 2 }]);
  stage.report(["a"], { timestamp: NOON_MS - 30 * MS_PER_DAY + 1 }); // Still before the edge.
  stage.report(["c"]);
  expect(await toldTo(stage.open({ sinceSequence: 3 }))).toEqual([{ ids: ["c"], sequence: 4 }]);
  stage.clock.advance(MS_PER_DAY); // Which hides nobody more.
  stage.live.look();
  expect(await toldTo(stage.open({ sinceSequence: 3 }))).toEqual([{ ids: ["c"], sequence: 4 }]);
});

test("what goes from sight while viewers are told is noticed then", async () => {
  const stage = new Stage();
  stage.report(["a"], { timestamp: NOON_MS - 30 * MS_PER_DAY });
  const waiting = toldTo(stage.open({ deviceIds: new Set(["nobody"]) }));
  const viewer = stage.open(
    {},
    {
      ...stage.writer,
      changes(changes) {
        stage.clock.advance(MS_PER_DAY);
        stage.live.look();
        return stage.writer.changes(changes);
      },
    },
  );
  stage.report(["b"]);
  await viewer.next();
  expect(await waiting).toEqual([{ reset: 2 }]);
});

test("an app that is forgotten and comes back is told by a reset, and never by numbers of others", async () => {
  const stage = new Stage();
  const ids = Array.from({ length: 300 }, (_, i) => `${i}`);
  const [early, begun] = [stage.open(), stage.open()];
  stage.report(ids);
  const part = begun.next();
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  expect(JSON.parse(new TextDecoder().decode((await part)!)).ids.length).toBe(256);
  stage.forgetAll();
  expect(await toldTo(stage.open({ sinceSequence: 1 }))).toEqual([{ reset: 0 }]);
  stage.report(["x", "y"]);
  const rest = JSON.parse(new TextDecoder().decode((await begun.next())!));
  expect(rest).toEqual({ ids: [], isFirst: false, isLast: true, sequence: 1 });
  expect(await toldTo(begun)).toEqual([{ reset: 2 }]);
  expect(await toldTo(early)).toEqual([{ reset: 2 }]);
  expect(await toldTo(stage.open({ sinceSequence: 1 }))).toEqual([{ reset: 2 }]);
});

test("viewers of everything share what is written", async () => {
  const stage = new Stage();
  const told = [stage.open(), stage.open(), stage.open()].map(toldTo);
  const own = toldTo(stage.open({ box: new BoundingBox(-180, -90, 180, 90) }));
  await nextTurn();
  stage.report(["a"]);
  expect(await Promise.all(told)).toEqual(told.map(() => [{ ids: ["a"], sequence: 1 }]));
  expect(await own).toEqual([{ ids: ["a"], sequence: 1 }]);
  expect(stage.written).toBe(2);
});

test("a share link is told of its devices by what it shows, and not when that stays as it was", async () => {
  const stage = new Stage();
  const spec = { deviceIds: ["a", "b"] as DeviceId[], notBeforeMs: NOON_MS, precisionMeters: 1000 };
  const view = new View(spec);
  const { latitude, longitude } = view.pointOf(10, 20);
  const around = (meters: number) => ({ latitude: latitude + meters / 111_000, longitude });
  const viewer = stage.open({ view });
  const cell = new BoundingBox(longitude - 0.001, latitude - 0.001, longitude + 0.001, latitude + 0.001);
  const inBox = stage.open({ view, box: cell });
  const ofUser = stage.open({ view, userId: "u" as UserId });
  const exact = stage.open({ view: new View({ ...spec, precisionMeters: null }) });
  const next = async (of: Viewer) => JSON.parse(new TextDecoder().decode((await of.next())!)).ids;
  stage.report(["c"], around(0));
  stage.report(["b"], { ...around(0), timestamp: NOON_MS - 1, user_id: "u" });
  stage.report(["a"], { ...around(300), timestamp: NOON_MS + 1000, user_id: "u" });
  expect([await next(viewer), await next(inBox), await next(exact)]).toEqual([["a"], ["a"], ["a"]]);
  stage.report(["a"], { ...around(400), timestamp: NOON_MS + 2000, user_id: "u" });
  expect(await next(exact)).toEqual(["a"]);
  expect(await toldTo(inBox)).toEqual([]);
  const later = viewer.next();
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  stage.report(["a"], { ...around(400), timestamp: NOON_MS + 60_000, user_id: "u" });
  expect(JSON.parse(new TextDecoder().decode((await later)!))).toMatchObject({ ids: ["a"], sequence: 5 });
  expect(await toldTo(ofUser)).toEqual([]);
});

test("a share link counts as told what was sent, also where a device moved before its part of the event", async () => {
  const stage = new Stage();
  const ids = Array.from({ length: 300 }, (_, i) => `${i}`.padStart(3, "0"));
  const view = new View({ deviceIds: ids as DeviceId[], notBeforeMs: 0, precisionMeters: 1000 });
  const viewer = stage.open({ view });
  const next = async () => JSON.parse(new TextDecoder().decode((await viewer.next())!));
  const last = ids.slice(-2);
  stage.report(ids);
  expect((await next()).ids).toEqual(ids.slice(0, 256));
  stage.report(last, { latitude: 10 });
  expect((await next()).ids).toEqual(ids.slice(256));
  stage.report([last[0]!]); // Where it was before, as the event would have told; the other stays.
  expect(await next()).toMatchObject({ ids: [last[0]], sequence: 3 });
  stage.report(ids, { latitude: 20 });
  await next();
  stage.report([last[0]!]); // As it is known.
  expect(await next()).toMatchObject({ ids: [...ids.slice(256, 298), last[1]], isLast: true });
  expect(await toldTo(viewer)).toEqual([]);
});

test("who looks at a share link and starts anew is told what it was told before", async () => {
  const stage = new Stage();
  const view = new View({ deviceIds: ["a"] as DeviceId[], notBeforeMs: 0, precisionMeters: 1000 });
  stage.report(["old"], { timestamp: NOON_MS - 30 * MS_PER_DAY });
  const viewer = stage.open({ view });
  const next = async () => JSON.parse(new TextDecoder().decode((await viewer.next())!));
  stage.report(["a"]);
  expect(await next()).toMatchObject({ ids: ["a"] });
  stage.clock.advance(MS_PER_DAY);
  stage.live.look();
  expect(await next()).toEqual({ reset: 2 });
  stage.report(["a"]);
  expect(await next()).toMatchObject({ ids: ["a"], sequence: 3 });
});

test("who can't be told is closed, and the others are told", async () => {
  const stage = new Stage();
  const failing = stage.open(
    { box: new BoundingBox(-180, -90, 180, 90) },
    {
      ...stage.writer,
      changes() {
        throw new Error("broken");
      },
    },
  );
  const told = toldTo(stage.open());
  const failed = failing.next().catch((error: unknown) => error);
  stage.report(["a"]);
  expect(await failed).toEqual(new Error("broken"));
  expect(await failing.next()).toBeNull();
  expect(await told).toEqual([{ ids: ["a"], sequence: 1 }]);
});

test("close() ends who waits, of one viewer and of all", async () => {
  const stage = new Stage();
  const [one, other] = [stage.open(), stage.open({}, stage.writer, "b" as AppId)];
  expect(stage.live.viewerCount).toBe(2);
  const waiting = [one.next(), other.next()];
  one.close();
  one.close();
  expect(await waiting[0]!).toBeNull();
  expect(stage.live.viewerCount).toBe(1);
  stage.live.close();
  expect(await waiting[1]!).toBeNull();
  expect(await stage.open().next()).toBeNull();
  expect(stage.live.viewerCount).toBe(0);
});
