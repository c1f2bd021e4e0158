import { CLOSE_BRACE, COMMA } from "../../lib/text/ascii.ts";
import { createFragment, type JsonWriter } from "../../lib/text/json-writer.ts";
import type { FieldChoice } from "../../model/field-choice.ts";
import { METERS_PER_MILE } from "../../model/geo/distance.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { numberIndex, type ResponseKind } from "../../model/location-fields.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import { deviceDigest, RECORD_ID_TIME_CHARACTERS, writeRecordIdTime } from "../../model/record-id.ts";
import type { LocalTimeFormatter } from "../../model/time/local-time.ts";
import { type NearbyColumns, SLOTS_FRAGMENT, writeBearing, writeDistance } from "./nearby-slots.ts";
import type { PlaceMarks } from "./place-marks.ts";
import { RecordEncoders, writeLocalTime } from "./record-encoder.ts";
import type { RecordNames } from "./record-names.ts";

const ITEM = createFragment(',{"device_id":');
const DEVICE = createFragment('{"device_id":');
const ID = createFragment(',"id":"');

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/** How an answer writes the records of newest positions. */
export interface RecordForm {
  readonly fields: FieldChoice;
  /** Adds `local_time` unless it is null. */
  readonly localTime: LocalTimeFormatter | null;
  /** Collects where names of places belong, unless it is null. */
  readonly marks: PlaceMarks | null;
  /** Adds names of devices unless it is null. */
  readonly names?: RecordNames | null;
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
    const write = this.#writerOf(records, form);
    records.prefetch(devices, count);
    for (let row = 0; row < count; row++) {
      const device = devices[row]!;
      const deviceId = records.deviceId(device);
      json.fragment(ITEM);
      json.string(deviceId);
      json.fragment(SLOTS_FRAGMENT);
      const location = json.length;
      write(json, device, deviceId);
      json.byte(CLOSE_BRACE);
      writeDistance(json.view, location, meters[row]! / METERS_PER_MILE);
      writeBearing(json.view, location, bearings[row]!);
    }
  }

  /** Writes records with commas between. */
  writeRecords(json: JsonWriter, records: NewestRecords, devices: Uint32Array, form: RecordForm): void {
    const write = this.#writerOf(records, form);
    records.prefetch(devices, devices.length);
    for (let row = 0; row < devices.length; row++) {
      if (row > 0) json.byte(COMMA);
      const device = devices[row]!;
      write(json, device, records.deviceId(device));
    }
  }

  /** Returns the function that writes a record of an answer. */
  #writerOf(records: NewestRecords, { fields, localTime, marks, names = null }: RecordForm) {
    const encoder = this.#encodersOf(fields.kind).of(fields);
    const { appId } = records;
    const app = fields.names.includes("app_id") ? createFragment(`,"app_id":${JSON.stringify(appId)}`) : null;
    const showsId = fields.names.includes("id");

    return (json: JsonWriter, device: number, deviceId: DeviceId): void => {
      const page = records.pageOf(device);
      const timestampMs = page.timestampMs[0]!;
      json.fragment(DEVICE);
      json.string(deviceId);
      if (app !== null) json.fragment(app);
      if (showsId) writeId(json, appId, deviceId, timestampMs);
      encoder.writeNumbers(json, page, 0);
      encoder.writeTexts(json, page, 0);
      if (localTime !== null) writeLocalTime(json, localTime, timestampMs);
      names?.write(json, deviceId);
      marks?.add(json.length, page.numbers[LATITUDE]!, page.numbers[LONGITUDE]!);
      json.byte(CLOSE_BRACE);
    };
  }

  #encodersOf(kind: ResponseKind): RecordEncoders {
    let encoders = this.#encoders.get(kind);
    if (encoders === undefined) {
      encoders = new RecordEncoders(kind);
      this.#encoders.set(kind, encoders);
    }
    return encoders;
  }
}

/** Answers about a single device alone have ids, so the digest is not cached. */
function writeId(json: JsonWriter, appId: AppId, deviceId: DeviceId, timestampMs: number): void {
  json.fragment(ID);
  json.ensure(RECORD_ID_TIME_CHARACTERS);
  writeRecordIdTime(json.view, json.length, timestampMs);
  json.length += RECORD_ID_TIME_CHARACTERS;
  json.text(`${deviceDigest(appId, deviceId)}"`);
}
