import { expect, test } from "bun:test";
import { EncodedRecordCache } from "../../../../src/http/encode/answer-buffer.ts";
import type { RecordForm } from "../../../../src/http/encode/chosen-records.ts";
import { createRecordEncoder } from "../../../../src/http/encode/record-encoder.ts";
import { JsonWriter } from "../../../../src/lib/text/json-writer.ts";
import { FieldChoice } from "../../../../src/model/field-choice.ts";
import { METERS_PER_MILE } from "../../../../src/model/geo/distance.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { NUMBER_FIELDS } from "../../../../src/model/location-fields.ts";
import type { NewestRecords } from "../../../../src/model/newest-records.ts";
import type { RecordPage } from "../../../../src/model/record-page.ts";
import { createLocalTimeFormatter, type LocalTimeFormatter } from "../../../../src/model/time/local-time.ts";
import { parseZone } from "../../../../src/model/time/zone.ts";
import * as fc from "../../../support/fast-check.ts";

const ANSWER_BYTES = 1024;
const RING_BYTES = 16_384 + 2560;
/** For two of the longest texts. */
const POSITION_BYTES = 2048 + 128 + 512;
const TIMES = createLocalTimeFormatter(parseZone("Asia/Kathmandu")!);

const DICTIONARY = { profileText: () => "text", stateText: () => null };

/** An app whose devices have numbers for records, which the test changes. */
class FewDevices implements NewestRecords {
  readonly appId: AppId;
  readonly values: number[] = [];
  readonly ids: string[] = [];
  reads = 0;
  namings = 0;
  readonly #notes = new Float64Array(64);
  readonly #positionNotes = new Float64Array(64);

  constructor(appId: string) {
    this.appId = appId as AppId;
  }

  report(device: number, id: string, value: number): void {
    for (const notes of [this.#notes, this.#positionNotes])
      notes[device] = this.ids[device] === id ? -Math.abs(notes[device]!) : 0;
    this.ids[device] = id;
    this.values[device] = value;
  }

  deviceId(device: number): DeviceId {
    this.namings++;
    return this.ids[device] as DeviceId;
  }

  pageOf(device: number): RecordPage {
    this.reads++;
    return this.page(device);
  }

  prefetch(): void {}

  page(device: number): RecordPage {
    return {
      count: 1,
      deviceIds: [this.ids[device] as DeviceId],
      timestampMs: Float64Array.of(1_764_000_000_000 + this.values[device]!),
      numbers: new Float64Array(NUMBER_FIELDS.length).fill(this.values[device]!),
      profile: new Uint32Array(1),
      state: new Uint32Array(1),
      dictionary: DICTIONARY,
    };
  }

  notes(): Float64Array {
    return this.#notes;
  }

  positionNotes(): Float64Array {
    return this.#positionNotes;
  }
}

function createTexts() {
  const memory = new Uint8Array(ANSWER_BYTES + RING_BYTES + POSITION_BYTES);
  return {
    texts: new EncodedRecordCache(memory, ANSWER_BYTES, POSITION_BYTES),
    begin: () => new JsonWriter(ANSWER_BYTES, memory),
  };
}

/** All fields, without places. */
function whole(localTime: LocalTimeFormatter | null = null): RecordForm {
  return { fields: new FieldChoice("current"), localTime, marks: null };
}

const encoders = {
  current: createRecordEncoder(new FieldChoice("current")),
  device: createRecordEncoder(new FieldChoice("deviceCurrent")),
};

/** The record as the encoder of pages writes it. */
function plain(app: FewDevices, device: number, kind: keyof typeof encoders, hasTime: boolean): string {
  const json = new JsonWriter(16);
  encoders[kind].writePage(json, app.appId, app.page(device), hasTime ? TIMES : null);
  return new TextDecoder().decode(json.written());
}

function written(json: JsonWriter): string {
  return new TextDecoder().decode(json.written());
}

test("EncodedRecordCache writes each newest record as its encoder does, whatever was kept, changed or pushed out before", () => {
  const ids = fc.constantFrom("a", "b-2", 'ü\u0001"', "🚌".repeat(20));
  const step = fc.record({
    app: fc.nat(1),
    device: fc.nat(5),
    change: fc.option(fc.record({ id: ids, value: fc.integer({ min: -90, max: 90 }) })),
    hasTime: fc.boolean(),
    many: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { texts, begin } = createTexts();
      const apps = [new FewDevices("one"), new FewDevices("zwei-ü")];
      for (const app of apps)
        for (let device = 0; device < 6; device++) app.report(device, `d${device}`, device);
      for (const { app: number, device, change, hasTime, many } of steps) {
        const app = apps[number]!;
        if (change !== null) app.report(device, change.id, change.value);
        const localTime = hasTime ? TIMES : null;
        const count = many ? 6 : 1; // Six outgrow the answer's memory.

        const withId = begin();
        texts.writeRecord(withId, app, device, whole(localTime));
        expect(written(withId)).toBe(plain(app, device, "device", hasTime));

        const devices = Uint32Array.from({ length: count }, (_, row) => (device + row) % 6);
        const records = begin();
        texts.writeRecords(records, app, devices, whole(localTime));
        expect(written(records)).toBe(
          Array.from(devices, (each) => plain(app, each, "current", hasTime)).join(","),
        );

        const json = begin();
        const meters = Float64Array.from(devices, (d) => d * 1234.5678);
        const bearings = Float64Array.from(devices, (d) => d * 71.9999);
        texts.writeNearby(json, app, { count, devices, meters, bearings }, whole(localTime));
        const text = written(json);
        expect(text[0]).toBe(",");
        expect(JSON.parse(`[${text.slice(1)}]`)).toEqual(
          [...devices].map((d, row) => ({
            device_id: app.ids[d],
            distance_miles: Number((meters[row]! / METERS_PER_MILE).toFixed(4)),
            bearing_degrees: Number(bearings[row]!.toFixed(2)) % 360,
            location: JSON.parse(plain(app, d, "current", hasTime)),
          })),
        );
      }
    }),
    { numRuns: 200 },
  );
});

test("EncodedRecordCache reads a record once a report, as long as its text has room", () => {
  const { texts, begin } = createTexts();
  const app = new FewDevices("app");
  app.report(0, "a", 1);
  app.report(1, "b", 2);
  for (const device of [0, 1, 0, 1, 0]) texts.writeRecords(begin(), app, Uint32Array.of(device), whole());
  expect(app.reads).toBe(2);
  app.report(0, "a", 3);
  texts.writeRecords(begin(), app, Uint32Array.of(0), whole());
  texts.writeRecords(begin(), app, Uint32Array.of(1), whole());
  expect(app.reads).toBe(3);
});

test("EncodedRecordCache writes a newer record over the one before, ids apart, as long as it fits there", () => {
  const { texts, begin } = createTexts();
  const app = new FewDevices("app");
  const values = [11, 12.5, 7, 9.5, 11];
  for (const value of values) {
    app.report(0, "a", value);
    const json = begin();
    texts.writeRecords(json, app, Uint32Array.of(0), whole());
    expect(written(json)).toBe(plain(app, 0, "current", false));
  }
  expect([app.reads, app.namings]).toEqual([values.length, 1]);
  app.report(0, "a", 12.123456);
  texts.writeRecords(begin(), app, Uint32Array.of(0), whole());
  expect(app.namings).toBe(2);
});

test("EncodedRecordCache writes distances and bearings in every width", () => {
  const { texts, begin } = createTexts();
  const app = new FewDevices("app");
  app.report(0, "a", 1);
  const miles = [0, 0.00004, 0.00005, 0.1, 9.99994, 9.99995, 10, 49.99999, 50];
  const degrees = [0, 0.004, 0.005, 9.999, 99.99, 99.995, 100, 359.994, 359.999];
  miles.forEach((mile, index) => {
    const json = begin();
    const [meters, bearings] = [Float64Array.of(mile * METERS_PER_MILE), Float64Array.of(degrees[index]!)];
    texts.writeNearby(json, app, { count: 1, devices: Uint32Array.of(0), meters, bearings }, whole());
    const { distance_miles, bearing_degrees } = JSON.parse(written(json).slice(1));
    expect(distance_miles).toBe(Math.round((meters[0]! / METERS_PER_MILE) * 1e4) / 1e4);
    expect(bearing_degrees).toBe((Math.round(degrees[index]! * 100) / 100) % 360);
  });
});
