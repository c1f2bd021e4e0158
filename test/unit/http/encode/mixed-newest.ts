import assert from "node:assert/strict";
import { createHotStore, type HotStore } from "../../../../src/hot/hot-store.ts";
import { Dictionary } from "../../../../src/hot/records/dictionary.ts";
import { EncodedRecordCache } from "../../../../src/http/encode/answer-buffer.ts";
import type { RecordForm } from "../../../../src/http/encode/chosen-records.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { JsonWriter } from "../../../../src/lib/text/json-writer.ts";
import { FieldChoice } from "../../../../src/model/field-choice.ts";
import { METERS_PER_MILE } from "../../../../src/model/geo/distance.ts";
import type { NewestRecords } from "../../../../src/model/newest-records.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";

/*
 * Reports, questions, seals and retention in any order over one store, whose dictionary soon gives numbers again. Each
 * answer is compared, byte for byte, with one that is written from the store alone.
 */

const DAY_MS = 86_400_000;
const BASE_MS = Date.UTC(2026, 0, 14);
const DAYS = 3;
const ANSWER_BYTES = 1024;
/** What texts are encoded in, and what is read behind the last. */
const BESIDE_RING_BYTES = 16_384 + 576 + 64;
const BESIDE_POSITIONS_BYTES = 2048 + 128 + 64;
/** For the longest text of these, and for all of them several times. */
const RING_WORDS = { min: 128, max: 1024 };
const POSITION_LINES = { min: 3, max: 20 };

const IDS = ["a", "bus-2", 'ü"', "🚌".repeat(9), "e", "f", "g", "h"];

const report = fc.record({
  device_id: fc.constantFrom(...IDS),
  timestamp: fc.nat(DAYS * 2 - 1).map((half) => BASE_MS + (half * DAY_MS) / 2),
  more: fc.record(
    {
      latitude: fc.constantFrom(1, -45.5, 89.123456),
      speed: fc.constantFrom(0, 7.25, 123_456.789),
      altitude: fc.constantFrom(-3, 100_000_000),
      user_id: fc.constantFrom("u", "ünïcode", "somebody else"),
      type: fc.constantFrom("MOVING", "STATIONARY", "x".repeat(100)),
      is_mock: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
});
/** Days are counted from the first. */
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ report }) },
    { weight: 6, arbitrary: fc.record({ asked: fc.subarray([...IDS.keys()], { minLength: 1 }) }) },
    { weight: 1, arbitrary: fc.record({ sealed: fc.integer({ min: 1, max: DAYS }) }) },
    { weight: 1, arbitrary: fc.record({ forgotten: fc.integer({ min: 1, max: DAYS }) }) },
  ),
  { maxLength: 80, size: "max" },
);

/** Throws where an answer is not what it should be. */
export function checkMixes(numRuns: number): void {
  const mix = {
    retiredMax: fc.integer({ min: 1, max: 6 }),
    ringWords: fc.integer(RING_WORDS),
    positionLines: fc.integer(POSITION_LINES),
    steps,
  };
  fc.assert(
    fc.property(fc.record(mix), ({ retiredMax, ringWords, positionLines, steps }) => {
      const hot = createHotStore(new Scheduler(), new Dictionary(retiredMax));
      const positionBytes = BESIDE_POSITIONS_BYTES + positionLines * 64;
      const memory = new Uint8Array(ANSWER_BYTES + BESIDE_RING_BYTES + ringWords * 8 + positionBytes);
      const cache = new EncodedRecordCache(memory, ANSWER_BYTES, positionBytes);
      let sequence = 0;
      for (const step of steps) {
        if ("report" in step) {
          const { more, ...required } = step.report;
          hot.apply(APP, batchOf([{ latitude: 2, longitude: 3, ...required, ...more }]), ++sequence);
        } else if ("asked" in step) {
          compareAnswers(hot, cache, memory, step.asked);
        } else if ("sealed" in step) {
          seal(hot, BASE_MS + step.sealed * DAY_MS);
        } else {
          for (const _ of hot.forgetDevices(BASE_MS + step.forgotten * DAY_MS));
        }
      }
    }),
    { numRuns },
  );
}

function seal(hot: HotStore, beforeMs: number): void {
  const days = hot.daysInMemory().flatMap(({ day }) => (day * DAY_MS < beforeMs ? [day] : []));
  const sealing = hot.seal(days);
  sealing.commit(new Set(days), new Map(days.map((day) => [day, sealing.sequence])));
  for (const _ of sealing.drop());
}

/** Asks for the devices of these numbers that there are: together and one by one, with all fields and with some. */
function compareAnswers(
  hot: HotStore,
  cache: EncodedRecordCache,
  memory: Uint8Array<ArrayBuffer>,
  numbers: readonly number[],
): void {
  const app = hot.findApp(APP);
  if (app === null) return;
  const records = app.newestRecords;
  const devices = Uint32Array.from(numbers.filter((number) => app.table.findByNumber(number) !== null));
  for (const form of FORMS) compareForm(records, cache, memory, devices, form);
}

function compareForm(
  records: NewestRecords,
  cache: EncodedRecordCache,
  memory: Uint8Array<ArrayBuffer>,
  devices: Uint32Array,
  form: RecordForm,
): void {
  const encoded = (device: number) => encodedAnew(records, device, form);
  const count = devices.length;
  const meters = Float64Array.from(devices, (device) => device * 1234.5678);
  const bearings = Float64Array.from(devices, (device) => device * 47.123);
  const items = new JsonWriter(ANSWER_BYTES, memory);
  cache.writeNearby(items, records, { count, devices, meters, bearings }, form);
  assert.equal(
    textOf(items),
    Array.from(devices, (device, row) => {
      const distance = (meters[row]! / METERS_PER_MILE).toFixed(4).padStart(7);
      const bearing = bearings[row]!.toFixed(2).padStart(6);
      const location = encoded(device);
      const id = JSON.stringify(records.deviceId(device));
      return `,{"device_id":${id},"distance_miles":${distance},"bearing_degrees":${bearing},"location":${location}}`;
    }).join(""),
  );
  const all = new JsonWriter(ANSWER_BYTES, memory);
  cache.writeRecords(all, records, devices, form);
  assert.equal(textOf(all), Array.from(devices, encoded).join(","));
  for (const device of devices) {
    const single = new JsonWriter(ANSWER_BYTES, memory);
    cache.writeRecords(single, records, Uint32Array.of(device), form);
    assert.equal(textOf(single), encoded(device));
  }
}

/** All fields, those of positions alone, and some others. */
const FORMS: readonly RecordForm[] = [null, ["longitude", "latitude"], [], ["speed", "user_id"]].map(
  (chosen) => ({
    fields: new FieldChoice("current", chosen),
    localTime: null,
    marks: null,
  }),
);

function encodedAnew(records: NewestRecords, device: number, { fields }: RecordForm): string {
  const [{ device_id, ...others }] = recordsOf(records.pageOf(device)) as [Record<string, unknown>];
  const members = Object.entries({ device_id, app_id: records.appId, ...others });
  return JSON.stringify(Object.fromEntries(members.filter(([name]) => fields.names.includes(name))));
}

function textOf(json: JsonWriter): string {
  return new TextDecoder().decode(json.written());
}
