import { expect, test } from "bun:test";
import { createHotStore, type HotStore } from "../../../../src/hot/hot-store.ts";
import { Dictionary } from "../../../../src/hot/records/dictionary.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { SharedPool } from "../../../../src/lib/schedule/shared-pool.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { FixedRetention } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { createLive } from "../../../../src/service/live/create-live.ts";
import { createCurrentQueries } from "../../../../src/service/queries/current.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";
import * as fc from "../../../support/fast-check.ts";
import { batchOf } from "../../../support/reports/batches.ts";
import { type ShownRecord, WatchingClient, type Wish } from "./watching-client.ts";

/*
 * Goal: whoever follows the stream knows what the API answers. Reports of several apps, late, repeated and old, come
 * in any order with stalls, reconnections, seals, midnights, other retentions and devices that are forgotten, over a
 * ring so short that viewers often fall behind. At the end everybody hears what there is to hear, and is compared with
 * the current positions of the app.
 */

const BASE_MS = Date.UTC(2026, 0, 15);
const APPS = ["app", "b"] as AppId[];
const RING_CHANGES = 16;
const CLIENTS = 4;

const report = fc.record(
  {
    device_id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"),
    timestamp: fc
      .tuple(fc.constantFrom(-9, -8, -7, -1, 0), fc.integer({ min: 0, max: 5 }))
      .map(([day, step]) => BASE_MS + day * MS_PER_DAY + step * 1000),
    latitude: fc.constantFrom(-10, 0, 0.0001, 10),
    longitude: fc.constantFrom(-180, -179, 0, 0.0001, 179, 180),
    user_id: fc.constantFrom("u", "v"),
    speed: fc.constantFrom(0, 1, 2),
  },
  { requiredKeys: ["device_id", "timestamp", "latitude", "longitude"] },
);

const wish: fc.Arbitrary<Wish> = fc.record({
  box: fc.constantFrom<Wish["box"]>(null, [-1, -20, 1, 20], [178, -5, -178, 15]),
  deviceIds: fc.constantFrom<Wish["deviceIds"]>(null, null, ["a", "b", "c", "nobody"]),
  userId: fc.constantFrom(null, null, "u"),
  view: fc.constant(null),
});

const link: fc.Arbitrary<Wish> = fc.record({
  box: fc.constantFrom<Wish["box"]>(null, [-1, -20, 1, 20]),
  deviceIds: fc.constantFrom<Wish["deviceIds"]>(null, ["a", "d"]),
  userId: fc.constant(null),
  view: fc.record({
    deviceIds: fc.constant(["a", "b", "c"] as DeviceId[]),
    notBeforeMs: fc.constantFrom(0, BASE_MS, BASE_MS + 3000),
    precisionMeters: fc.constantFrom(null, 100_000),
  }),
});
const anyWish = fc.oneof({ weight: 3, arbitrary: wish }, { weight: 1, arbitrary: link });

const client = fc.nat(CLIENTS - 1);
const app = fc.constantFrom(...APPS);
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ app, reports: fc.array(report, { minLength: 1, maxLength: 6 }) }) },
    { weight: 8, arbitrary: fc.record({ taking: client }) },
    { weight: 2, arbitrary: fc.record({ reconnecting: client }) },
    { weight: 2, arbitrary: fc.record({ opening: client, app, wish: anyWish }) },
    { weight: 1, arbitrary: fc.record({ sealedDays: fc.constantFrom(-8, -7, 0) }) },
    { weight: 1, arbitrary: fc.constant({ isForgetting: true }) },
    { weight: 1, arbitrary: fc.constant({ isMidnight: true }) },
    { weight: 1, arbitrary: fc.record({ retentionDays: fc.constantFrom(7, 8, 9, 365) }) },
  ),
  { maxLength: 60, size: "max" },
);

function seal(hot: HotStore, beforeMs: number): void {
  const days = hot.daysInMemory().flatMap(({ day }) => (day * MS_PER_DAY < beforeMs ? [day] : []));
  const sealing = hot.seal(days);
  const sequences = new Map(days.map((day) => [day, sealing.sequence]));
  sealing.commit(new Set(days), sequences);
  for (const _ of sealing.drop());
}

/** The store, the stream and the API over it, with a retention that can be set. */
function createWorld() {
  const scheduler = new Scheduler();
  const room = { pool: new SharedPool(1024), changesMax: RING_CHANGES, nowMs: () => 0 };
  const hot = createHotStore(scheduler, new Dictionary(), room);
  const clock = createManualClock(BASE_MS + MS_PER_DAY / 2);
  let kept = FixedRetention.ofDays(9);
  const retention = { text: "", startMs: (nowMs: number) => kept.startMs(nowMs) };
  const queries = { hot, clock, retention, scheduler };
  hot.keepChanges(0);
  const current = createCurrentQueries(queries);
  function recordsOfApp(appId: AppId): readonly ShownRecord[] {
    const { signal } = new AbortController();
    const query = { afterMs: null, beforeMs: null, offset: 0, limit: 100, view: null };
    const shown = current.ofApp(appId, query, { signal }, ({ page: found }) =>
      found === null
        ? []
        : found.devices.flatMap((device) => recordsOf(found.records.pageOf(device)) as never[]),
    );
    return shown as readonly ShownRecord[]; // So few are found at once.
  }
  return {
    hot,
    clock,
    live: createLive(queries, { restMs: 0, restTimes: 0 }),
    recordsOfApp,
    snapshot: (appId: AppId) => () => ({
      sequence: hot.findApp(appId)?.touches.sequence ?? 0,
      records: recordsOfApp(appId),
    }),
    edgeMs: () => kept.startMs(clock.nowMs()),
    setRetention: (days: number) => {
      kept = FixedRetention.ofDays(days);
    },
  };
}

test("what a viewer knows is what the API answers, whatever happened meanwhile", async () => {
  let resets = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(app, anyWish), { minLength: CLIENTS, maxLength: CLIENTS }),
      steps,
      async (opened, story) => {
        const world = createWorld();
        const { hot, live } = world;
        const open = (appId: AppId, wanted: Wish) => ({
          appId,
          client: new WatchingClient(appId, live, wanted, world.snapshot(appId)),
        });
        const clients = opened.map(([appId, wanted]) => open(appId, wanted));
        let sequence = 0;
        for (const step of story) {
          if ("reports" in step) hot.apply(step.app, batchOf(step.reports), ++sequence);
          else if ("taking" in step) await clients[step.taking]!.client.take();
          else if ("reconnecting" in step) clients[step.reconnecting]!.client.reconnect();
          else if ("opening" in step) {
            clients[step.opening]!.client.close();
            clients[step.opening] = open(step.app, step.wish);
          } else if ("sealedDays" in step) seal(hot, BASE_MS + step.sealedDays * MS_PER_DAY);
          else if ("isForgetting" in step) for (const _ of hot.forgetDevices(world.edgeMs()));
          else {
            live.look(); // At the edge as it was: it moves less often than it is looked at.
            if ("isMidnight" in step) world.clock.advance(MS_PER_DAY);
            else world.setRetention(step.retentionDays);
          }
        }
        live.look();
        for (const { appId, client } of clients) {
          while (await client.take());
          const records = client.shownOf(world.recordsOfApp(appId));
          expect([...client.known.values()].toSorted(byDevice)).toEqual([...records].toSorted(byDevice));
          resets += client.resets;
          if (client.isBlurred) expect(client.repeats).toBe(0);
        }
        live.close();
      },
    ),
    { numRuns: 300 },
  );
  expect(resets).toBeGreaterThan(0);
});

function byDevice(a: ShownRecord, b: ShownRecord): number {
  return a.device_id < b.device_id ? -1 : 1;
}
