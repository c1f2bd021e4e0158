import { expect, test } from "bun:test";
import type { AppDevices } from "../../../src/hot/app-devices.ts";
import type { Device } from "../../../src/hot/devices/device.ts";
import { createHotStore, type HotStore } from "../../../src/hot/hot-store.ts";
import { type Chunk, profileAt } from "../../../src/hot/records/chunk.ts";
import { Dictionary } from "../../../src/hot/records/dictionary.ts";
import type { Sealing } from "../../../src/hot/sealing.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { PROFILE_FIELDS, profileIndex } from "../../../src/model/location-fields.ts";
import { lastingPage } from "../../../src/model/record-page.ts";
import { type UtcDay, utcDayOf } from "../../../src/model/time/utc-day.ts";
import { namedByRows } from "../../support/answers/named-by-rows.ts";
import * as fc from "../../support/fast-check.ts";
import { APP, batchOf, type Report } from "../../support/reports/batches.ts";

/**
 * Goal: memory keeps the texts that records name, and no others. Reports, replacements, repeats, seals that go through
 * or are abandoned, and retention come in any order; after each step the dictionary is compared with a walk over all
 * rows. Numbers are given again at once, so that a reader that holds one for too long reads another's texts.
 */

const DAY_MS = 86_400_000;
const BASE_MS = Date.UTC(2026, 0, 14);
const [OLD, NEW] = [utcDayOf(BASE_MS - 1), utcDayOf(BASE_MS)] as [UtcDay, UtcDay];
/** One text is kept whether or not a record names it. */
const NOTHING = { texts: 1, profiles: 0, states: 0 };

/** A store that gives numbers again after each step. */
function createForgetfulStore(): HotStore {
  return createHotStore(new Scheduler(), new Dictionary(1));
}

function report(device_id: string, timestamp: number, more: Report = {}): Report {
  return { device_id, timestamp, latitude: 1, longitude: 2, ...more };
}

function drain(steps: Iterable<void>): void {
  for (const _ of steps);
}

let sequence = 0;

function apply(hot: HotStore, ...reports: readonly Report[]) {
  return hot.apply(APP, batchOf(reports), ++sequence);
}

function sealAll(hot: HotStore): void {
  const days = hot.daysInMemory().map(({ day }) => day);
  const sealing = hot.seal(days);
  sealing.commit(new Set(days), new Map(days.map((day) => [day, sealing.sequence])));
  drain(sealing.drop());
}

test("a record that is sent again with other texts forgets those it had", () => {
  const hot = createForgetfulStore();
  for (let i = 0; i < 100; i++) {
    apply(hot, report("a", BASE_MS, { user_id: `user ${i}`, brand: `brand ${i}`, type: `type ${i}` }));
  }
  expect(hot.dictionary.sizes).toEqual({ texts: 4, profiles: 1, states: 1 });
  expect(hot.dictionary.findUser("user 98")).toBe(0);
});

test("a batch that lays many reports over one record keeps the last one's texts alone", () => {
  const hot = createForgetfulStore();
  apply(hot, ...Array.from({ length: 100 }, (_, i) => report("a", BASE_MS, { brand: `brand ${i}` })));
  expect(hot.dictionary.sizes).toEqual({ texts: 2, profiles: 1, states: 1 });
});

test("a tuple that a row of the batch gives up is there for a later row of the same batch", () => {
  const hot = createForgetfulStore();
  apply(hot, report("a", BASE_MS, { user_id: "u", brand: "x" }));
  apply(
    hot,
    report("a", BASE_MS, { user_id: "v", brand: "y" }), // Nothing names u and x now,
    report("b", BASE_MS, { user_id: "u", brand: "x" }), // and here they are again.
  );
  const app = hot.findApp(APP)!;
  expect(
    Array.from(
      app.users.currentDevices(() => hot.dictionary.findUser("u")),
      ({ id }) => String(id),
    ),
  ).toEqual(["b"]);
  expect(hot.dictionary.sizes).toEqual(namedByRows(hot));
});

test("repeats() takes no text in", () => {
  const hot = createForgetfulStore();
  apply(hot, report("a", BASE_MS, { brand: "x" }));
  const before = hot.dictionary.sizes;
  expect(hot.findRepeated(APP, batchOf([report("a", BASE_MS, { brand: "another" })]))).toBeNull();
  expect(hot.findRepeated(APP, batchOf([report("a", BASE_MS, { brand: "x" })]))).not.toBeNull();
  expect(hot.findRepeated(APP, batchOf([report("a", BASE_MS)]))).not.toBeNull();
  expect(hot.dictionary.sizes).toEqual(before);
});

test("a replayed entry that the archive covers leaves no text behind", () => {
  const hot = createForgetfulStore();
  hot.setSealed(new Map([[NEW, 1000]]), true);
  hot.apply(APP, batchOf([report("a", BASE_MS, { user_id: "u", brand: "x", type: "y" })]), 7);
  expect(hot.dictionary.sizes).toEqual(NOTHING);
});

test("texts of what was sealed go with the rows, and those of the newest record with the device", () => {
  const hot = createForgetfulStore();
  for (let i = 0; i < 50; i++) {
    apply(hot, report("a", BASE_MS + i, { user_id: `user ${i}`, brand: `brand ${i}`, type: `type ${i}` }));
  }
  sealAll(hot);
  expect(hot.dictionary.sizes).toEqual({ texts: 4, profiles: 1, states: 1 });
  apply(hot, report("a", BASE_MS + 7, { brand: "late" }));
  sealAll(hot);
  expect(hot.dictionary.sizes).toEqual({ texts: 4, profiles: 1, states: 1 });
  drain(hot.forgetDevices(BASE_MS + DAY_MS));
  expect(hot.dictionary.sizes).toEqual(NOTHING);
  expect([...hot.apps()]).toEqual([]);
});

test.each([
  ["listed", () => {}],
  ["unlisted", ({ app, number }: { app: AppDevices; number: number }) => app.unlist(number)],
])(
  "few %s devices are forgotten in a step, since each may be the one for which cells of positions become one",
  (_, change) => {
    const hot = createForgetfulStore();
    apply(hot, ...Array.from({ length: 2000 }, (_, device) => report(`d${device}`, BASE_MS)));
    sealAll(hot);
    const app = hot.findApp(APP)!;
    for (let i = 0; i < 2000; i++) change({ app, number: app.find(`d${i}`)!.number });
    let left = hot.deviceCount;
    for (const _ of hot.forgetDevices(BASE_MS + DAY_MS)) {
      expect(left - hot.deviceCount).toBeLessThanOrEqual(114);
      left = hot.deviceCount;
    }
    expect(left).toBeLessThanOrEqual(114);
    expect(hot.deviceCount).toBe(0);
  },
);

test("a checkpoint's record that a newer one takes the place of gives its texts up", () => {
  const hot = createForgetfulStore();
  hot.restoreNewest(APP, batchOf([report("a", BASE_MS, { brand: "x" })]));
  hot.restoreNewest(APP, batchOf([report("a", BASE_MS + 1, { brand: "y" })]));
  expect(hot.dictionary.sizes).toEqual({ texts: 2, profiles: 1, states: 1 });
  drain(hot.forgetDevices(BASE_MS + DAY_MS));
  expect(hot.dictionary.sizes).toEqual(NOTHING);
});

test("late rows have their own texts, though their numbers meant others when the first were collected", async () => {
  const hot = createForgetfulStore();
  hot.setSealed(new Map([[NEW, 0]]), true);
  const ids = Array.from({ length: 4200 }, (_, i) => `device ${String(i).padStart(4, "0")}`);
  apply(hot, ...ids.map((id) => report(id, BASE_MS)));
  apply(hot, report(ids[0]!, BASE_MS, { brand: "before" }));
  const brands = new Map<string, string>();
  const app = hot.findApp(APP)!;
  expect([...app.list]).toHaveLength(ids.length); // In order from here on, which takes no step below.
  const late = await hot.lateRows(app, null).whole({ startMs: BASE_MS, endMs: BASE_MS + DAY_MS });
  for (const batch of late!.batches()) {
    for (let row = 0; row < batch.count; row++) {
      const brand = batch.profiles[batch.profile[row]! * PROFILE_FIELDS.length + profileIndex("brand")]!;
      brands.set(batch.texts[batch.device[row]!]!, batch.texts[brand]!);
    }
    // What was collected goes, and the number of its profile is the next one's.
    apply(hot, report(ids[0]!, BASE_MS, { brand: "after" }));
    apply(hot, report(ids.at(-1)!, BASE_MS, { brand: "last" }));
  }
  expect([brands.get(ids[0]!), brands.get(ids.at(-1)!)]).toEqual(["before", "last"]);
});

test("a report is merged into a record by its own texts, though their number meant others a batch before", () => {
  const hot = createForgetfulStore();
  apply(hot, report("a", BASE_MS, { brand: "x" }), report("b", BASE_MS, { brand: "x" }));
  for (const [id, os_version] of [
    ["a", "1"],
    ["b", "2"],
  ] as const) {
    apply(hot, report(id, BASE_MS, { os_version }));
    const app = hot.findApp(APP)!;
    const { dictionary, profile } = app.newestRecords.pageOf(app.find(id)!.number);
    expect(dictionary.profileText(profile[0]!, profileIndex("os_version"))).toBe(os_version);
  }
});

test("a page can not be read once its numbers mean something else; a lasting copy can", () => {
  const hot = createForgetfulStore();
  apply(hot, report("a", BASE_MS, { brand: "x" }));
  const app = hot.findApp(APP)!;
  const page = app.newestRecords.pageOf(app.find("a")!.number);
  const lasting = lastingPage({ ...page, profile: page.profile.slice(), state: page.state.slice() });
  apply(hot, report("a", BASE_MS, { brand: "y" }));
  const brand = profileIndex("brand");
  expect(lasting.dictionary.profileText(lasting.profile[0]!, brand)).toBe("x");
  expect(() => page.dictionary.profileText(page.profile[0]!, brand)).toThrow("read only while it is current");
});

test("a device with twenty thousand users takes reports, answers and a seal", () => {
  const hot = createForgetfulStore();
  const [users, a_batch] = [20_000, 10_000];
  for (let from = 0; from < users; from += a_batch) {
    apply(
      hot,
      ...Array.from({ length: a_batch }, (_, i) =>
        report("a", BASE_MS + from + i, { user_id: `u${from + i}` }),
      ),
    );
  }
  const app = hot.findApp(APP)!;
  const device = app.find("a")!;
  expect(device.recordsOf(hot.dictionary.findUser("u5"))).toBe(1);
  apply(hot, report("a", BASE_MS + 5, { user_id: "u6" }));
  expect([device.recordsOf(hot.dictionary.findUser("u6")), hot.dictionary.findUser("u5")]).toEqual([2, 0]);
  for (const _ of hot.pack(Number.POSITIVE_INFINITY)); // What is packed leaves as well.
  sealAll(hot);
  expect([[...app.users.devicesWithRecords(() => hot.dictionary.findUser("u6"))], app.users.count]).toEqual([
    [],
    1,
  ]);
  expect(hot.dictionary.sizes).toEqual({ texts: 2, profiles: 1, states: 1 });
});

/** Whose each device is, and whose its records, as a walk over them says. */
function expectUsers(hot: HotStore): void {
  const { dictionary } = hot;
  const userAt = (chunk: Chunk, row: number) => dictionary.userOf(profileAt(chunk, row));
  for (const app of hot.apps()) {
    let users = 0;
    for (const user of ["u", "v", "w", "ANONYMOUS"].map((name) => dictionary.findUser(name))) {
      const current: Device[] = [];
      const held: Device[] = [];
      for (const device of app.list) {
        const newest = app.newest(device);
        if (userAt(newest.chunk, newest.row) === user) current.push(device);
        let records = 0;
        device.runs(0, device.recordCount, (chunk, rowFrom, rowTo) => {
          for (let row = rowFrom; row < rowTo; row++) if (userAt(chunk, row) === user) records++;
        });
        expect(device.recordsOf(user)).toBe(records);
        if (records > 0) held.push(device);
      }
      if (user === 0) continue; // Nobody's.
      expect([...app.users.currentDevices(() => user)]).toEqual(current);
      expect([...app.users.devicesWithRecords(() => user)]).toEqual(held);
      if (current.length + held.length > 0) users++;
    }
    expect(app.users.count).toBe(users);
  }
}

const reports = fc.array(
  fc.record(
    {
      device_id: fc.constantFrom("a", "b", "c"),
      timestamp: fc.constantFrom(-2, -1, 0, 1).map((step) => BASE_MS + step),
      latitude: fc.constantFrom(1, 2),
      longitude: fc.constant(3),
      user_id: fc.constantFrom("u", "v", "w", null),
      brand: fc.constantFrom("u", "x", "y", "z", null),
      model: fc.constantFrom("x", "1", null),
      type: fc.constantFrom("x", "2", "3", null),
      is_mock: fc.constantFrom(true, null),
    },
    { requiredKeys: ["device_id", "timestamp", "latitude", "longitude"] },
  ),
  { minLength: 1, maxLength: 6 },
);

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("report" as const), reports }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("ask" as const), reports }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("begin" as const), old: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("commit" as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("abandon" as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), old: fc.boolean() }) },
  ),
  { maxLength: 40 },
);

test("the dictionary holds what a walk over all rows finds, after any step; and nothing once all is gone", () => {
  fc.assert(
    fc.property(steps, (story) => {
      const hot = createForgetfulStore();
      const sealed = new Map<UtcDay, number>();
      let under: { sealing: Sealing; day: UtcDay } | null = null;
      for (const step of story) {
        if (step.kind === "report") apply(hot, ...step.reports);
        if (step.kind === "ask") hot.findRepeated(APP, batchOf(step.reports));
        if (step.kind === "begin" && under === null) {
          const day = step.old ? OLD : NEW;
          under = { sealing: hot.seal([day]), day };
        }
        if (step.kind === "commit" && under !== null) {
          sealed.set(under.day, under.sealing.sequence);
          under.sealing.commit(new Set([under.day]), sealed);
          drain(under.sealing.drop());
          under = null;
        }
        if (step.kind === "abandon" && under !== null) {
          under.sealing.abandon();
          under = null;
        }
        if (step.kind === "forget") drain(hot.forgetDevices(step.old ? BASE_MS : BASE_MS + DAY_MS));
        // While a day is sealed, what changes is also named as it was before.
        if (under === null) expect(hot.dictionary.sizes).toEqual(namedByRows(hot));
        expectUsers(hot);
      }
      under?.sealing.abandon();
      sealAll(hot);
      drain(hot.forgetDevices(BASE_MS + DAY_MS));
      expect(hot.dictionary.sizes).toEqual(NOTHING);
      expect([...hot.apps()]).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
