import { CLOSE_BRACE, COMMA } from "../../lib/text/ascii.ts";
import { createFragment, fragmentRoom, type JsonWriter, writeFragment } from "../../lib/text/json-writer.ts";
import { METERS_PER_MILE } from "../../model/geo/distance.ts";
import { numberIndex } from "../../model/location-fields.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { RecordForm } from "./chosen-records.ts";
import { type NearbyColumns, SLOTS_FRAGMENT, writeBearing, writeDistance } from "./nearby-slots.ts";
import { copyShort } from "./newest-texts.ts";
import { isTimeAlone, PositionTexts } from "./position-texts.ts";
import { LOCAL_TIME_ROOM, writeLocalTime } from "./record-encoder.ts";

const ITEM = createFragment(',{"device_id":');
const ITEM_ROOM = fragmentRoom(ITEM) + fragmentRoom(SLOTS_FRAGMENT) + LOCAL_TIME_ROOM + 2;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/** Writes records with the fields of `isInPositions()`, from texts that are encoded once per report. */
export class PositionRecords {
  readonly #view: DataView;
  readonly #texts: PositionTexts;

  /** Stores texts in `memory` between two positions; `start` is a multiple of a cache line. */
  constructor(memory: Uint8Array<ArrayBuffer>, start: number, end: number) {
    this.#view = new DataView(memory.buffer, memory.byteOffset, memory.length);
    this.#texts = new PositionTexts(memory, start, end);
  }

  /** Writes the items of a nearby answer, with a comma before each. */
  writeNearby(
    json: JsonWriter,
    records: NewestRecords,
    { count, devices, meters, bearings }: NearbyColumns,
    form: RecordForm,
  ): void {
    const source = this.#view;
    const texts = this.#texts;
    const isShort = isTimeAlone(form.fields);
    const hasExtras = form.localTime !== null || form.marks !== null || (form.names ?? null) !== null;
    const addresses = texts.findAll(records, devices, count);
    for (let row = 0; row < count; row++) {
      const address = addresses === null ? texts.find(records, devices[row]!) : addresses[row]!;
      const textBytes = isShort ? texts.timeEnd(address) : texts.bytes(address);
      const idBytes = texts.idBytes(address);
      json.ensure(ITEM_ROOM + idBytes + textBytes);
      const { view } = json;
      const at = writeFragment(view, json.length, ITEM);
      copyShort(source, texts.idStart(address), idBytes, view, at);
      const location = writeFragment(view, at + idBytes, SLOTS_FRAGMENT);
      copyShort(source, texts.start(address), textBytes, view, location);
      json.length = location + textBytes;
      writeDistance(view, location, meters[row]! / METERS_PER_MILE);
      writeBearing(view, location, bearings[row]!);
      if (hasExtras) writeExtras(json, records, devices[row]!, form);
      json.byte(CLOSE_BRACE);
      json.byte(CLOSE_BRACE);
    }
  }

  /** Writes records with commas between. */
  writeRecords(json: JsonWriter, records: NewestRecords, devices: Uint32Array, form: RecordForm): void {
    const texts = this.#texts;
    const isShort = isTimeAlone(form.fields);
    const hasExtras = form.localTime !== null || form.marks !== null || (form.names ?? null) !== null;
    const addresses = texts.findAll(records, devices, devices.length);
    for (let row = 0; row < devices.length; row++) {
      if (row > 0) json.byte(COMMA);
      const address = addresses === null ? texts.find(records, devices[row]!) : addresses[row]!;
      const textBytes = isShort ? texts.timeEnd(address) : texts.bytes(address);
      json.ensure(textBytes + LOCAL_TIME_ROOM + 1);
      copyShort(this.#view, texts.start(address), textBytes, json.view, json.length);
      json.length += textBytes;
      if (hasExtras) writeExtras(json, records, devices[row]!, form);
      json.byte(CLOSE_BRACE);
    }
  }
}

/** Writes what is no field, and marks where the place belongs. */
function writeExtras(
  json: JsonWriter,
  records: NewestRecords,
  device: number,
  { localTime, marks, names = null }: RecordForm,
): void {
  const { numbers, timestampMs } = records.pageOf(device);
  if (localTime !== null) writeLocalTime(json, localTime, timestampMs[0]!);
  names?.write(json, records.deviceId(device));
  marks?.add(json.length, numbers[LATITUDE]!, numbers[LONGITUDE]!);
}
