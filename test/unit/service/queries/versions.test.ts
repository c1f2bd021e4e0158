import { expect, test } from "bun:test";
import { createHotStore, type HotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { FixedRetention } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { createVersions } from "../../../../src/service/queries/versions.ts";
import * as fc from "../../../support/fast-check.ts";
import { batchOf } from "../../../support/reports/batches.ts";

/** Goal: who has an answer is never told that it holds when it doesn't, whatever happened in between. */

const NOON_MS = Date.UTC(2026, 2, 20, 12);
const APPS = ["one", "two"] as AppId[];
const DEVICES = ["bus", "tram", "ferry"];
const RETENTIONS = ["7d", "9d", "forever"];

/** Newest records that the archive has, of devices that may be forgotten until they report. */
const SEALED = DEVICES.slice(1).map((device_id) => {
  return { device_id, timestamp: NOON_MS - 10 * MS_PER_DAY, latitude: 1, longitude: 2 };
});

/** What a plain reader of the store would answer from. */
function answersOf(hot: HotStore, appId: AppId, edgeMs: number) {
  const app = hot.findApp(appId);
  const retained = [...(app?.list ?? [])].filter(({ newestMs }) => newestMs >= edgeMs);
  const records = new Map(
    retained.map((device) => {
      const all: unknown[] = [];
      for (let row = 0; row < device.recordCount; row++) {
        const { chunk, row: at } = device.recordAt(row);
        all.push([...chunk.f64.subarray(at * chunk.width, (at + 1) * chunk.width)]);
      }
      return [device.id as string, all.filter((cells) => (cells as number[])[0]! >= edgeMs)];
    }),
  );
  return {
    newest: JSON.stringify([...records].map(([id, rows]) => [id, rows.at(-1)])),
    records: JSON.stringify([...records]),
    ofDevice: (id: string) => JSON.stringify(records.get(id) ?? null),
  };
}

const devices = fc.constantFrom(...DEVICES);
const changes = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ app: fc.nat(1), device: devices, daysAgo: fc.nat(12), speed: fc.nat(2) }),
  },
  { weight: 2, arbitrary: fc.record({ retention: fc.constantFrom(...RETENTIONS) }) },
  { weight: 1, arbitrary: fc.record({ days: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ forgets: fc.constant(true) }) },
);

test("an answer that is another has another version, whatever happens between two requests", () => {
  fc.assert(
    fc.property(fc.array(changes, { maxLength: 60 }), (story) => {
      const hot = createHotStore(new Scheduler());
      for (const appId of APPS) hot.restoreNewest(appId, batchOf(SEALED));
      const clock = createManualClock(NOON_MS);
      let inForce = FixedRetention.FOREVER;
      const retention = { text: "any", startMs: (nowMs: number) => inForce.startMs(nowMs) };
      const versions = createVersions({ hot, clock, retention, archive: () => ({ version: "" }) });
      const known = new Map<string, string>();
      const look = (question: string, version: string, answer: string) => {
        const key = `${question} ${version}`;
        expect(known.get(key) ?? answer).toBe(answer);
        known.set(key, answer);
      };
      let sequence = 0;
      for (const change of story) {
        if ("app" in change) {
          const timestamp = clock.nowMs() - change.daysAgo * MS_PER_DAY;
          const report = {
            device_id: change.device,
            timestamp,
            latitude: 1,
            longitude: 2,
            speed: change.speed,
          };
          hot.apply(APPS[change.app]!, batchOf([report]), ++sequence);
        } else if ("retention" in change) {
          const parsed = FixedRetention.parse(change.retention);
          if (parsed.ok) inForce = parsed.value;
        } else if ("days" in change) clock.advance(change.days * MS_PER_DAY);
        else for (const _ of hot.forgetDevices(Number.POSITIVE_INFINITY));
        for (const appId of APPS) {
          const answers = answersOf(hot, appId, inForce.startMs(clock.nowMs()));
          look(`newest of ${appId}`, versions.ofNewest(appId), answers.newest);
          look(`records of ${appId}`, versions.ofRecords(appId), answers.records);
          for (const id of DEVICES)
            look(`${id} of ${appId}`, versions.ofDevice(appId, id), answers.ofDevice(id));
        }
      }
    }),
    { numRuns: 300 },
  );
});
