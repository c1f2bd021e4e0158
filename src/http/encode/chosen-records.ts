import { CLOSE_BRACE, COMMA } from "../../lib/text/ascii.ts";
import { createFragment, type JsonWriter } from "../../lib/text/json-writer.ts";
import type { FieldChoice } from "../../model/field-choice.ts";
import { METERS_PER_MILE } from "../../model/geo/distance.ts";
import { numberIndex, type ResponseKind } from "../../model/location-fields.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { LocalTimeFormatter } from "../../model/time/local-time.ts";
import { type NearbyColumns, SLOTS_FRAGMENT, writeBearing, writeDistance } from "./nearby-slots.ts";
import type { PlaceMarks } from "./place-marks.ts";
import { type RecordEncoder, RecordEncoders } from "./record-encoder.ts";
import { DeviceFragments } from "./record-fragments.ts";

const ITEM = createFragment(',{"device_id":');

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/** Some 2,500 devices: a device's text is seldom worth more memory, since encoding it needs no digest. */
const DEVICE_BYTES_MAX = 1_000_000;

/** How an answer writes the records of newest positions. */
export interface RecordForm {
  readonly fields: FieldChoice;
  /** Adds `local_time` unless it is null. */
  readonly localTime: LocalTimeFormatter | null;
  /** Collects where names of places belong, unless it is null. */
  readonly marks: PlaceMarks | null;
}

/** Writes some fields of newest records, which are encoded anew for each answer. */
export class ChosenRecords {
  readonly #encoders = new Map<ResponseKind, RecordEncoders>();

  /** Writes the items of a nearby answer, with a comma before each. */
  writeNearby(
    json: JsonWriter,
    records: NewestRecords,
    { count, devices, meters, bearings }: NearbyColumns,
    form: RecordForm,
  ): void {
    const encoder = this.#encoderOf(form.fields);
    records.prefetch(devices, count);
    for (let row = 0; row < count; row++) {
      const device = devices[row]!;
      json.fragment(ITEM);
      json.string(records.deviceId(device));
      json.fragment(SLOTS_FRAGMENT);
      const location = json.length;
      writeRecord(json, records, device, encoder, form);
      json.byte(CLOSE_BRACE);
      writeDistance(json.view, location, meters[row]! / METERS_PER_MILE);
      writeBearing(json.view, location, bearings[row]!);
    }
  }

  /** Writes records with commas between. */
  writeRecords(json: JsonWriter, records: NewestRecords, devices: Uint32Array, form: RecordForm): void {
    const encoder = this.#encoderOf(form.fields);
    records.prefetch(devices, devices.length);
    for (let row = 0; row < devices.length; row++) {
      if (row > 0) json.byte(COMMA);
      writeRecord(json, records, devices[row]!, encoder, form);
    }
  }

  #encoderOf(fields: FieldChoice): RecordEncoder {
    const { kind } = fields;
    let encoders = this.#encoders.get(kind);
    if (encoders === undefined) {
      encoders = new RecordEncoders(kind, new DeviceFragments(kind, DEVICE_BYTES_MAX));
      this.#encoders.set(kind, encoders);
    }
    return encoders.of(fields);
  }
}

function writeRecord(
  json: JsonWriter,
  records: NewestRecords,
  device: number,
  encoder: RecordEncoder,
  { localTime, marks }: RecordForm,
): void {
  const page = records.pageOf(device);
  encoder.write(json, records.appId, page, 0, localTime);
  marks?.add(json.length - 1, page.numbers[LATITUDE]!, page.numbers[LONGITUDE]!);
}
