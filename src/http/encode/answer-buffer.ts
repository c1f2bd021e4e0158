import { CLOSE_BRACE, COMMA, QUOTE } from "../../lib/text/ascii.ts";
import { JsonWriter } from "../../lib/text/json-writer.ts";
import { METERS_PER_MILE } from "../../model/geo/distance.ts";
import { numberIndex } from "../../model/location-fields.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import {
  RECORD_ID_DIGEST_CHARACTERS,
  RECORD_ID_TIME_CHARACTERS,
  writeRecordIdTime,
} from "../../model/record-id.ts";
import type { LocalTimeFormatter } from "../../model/time/local-time.ts";
import type { Shape } from "../shapes/shape.ts";
import { ChosenRecords, type RecordForm } from "./chosen-records.ts";
import { type NearbyColumns, writeBearing, writeDistance } from "./nearby-slots.ts";
import { copyBytes, LINE_BYTES } from "./newest-texts.ts";
import type { PlaceMarks } from "./place-marks.ts";
import { PositionRecords } from "./position-records.ts";
import { isInPositions } from "./position-texts.ts";
import { LOCAL_TIME_ROOM, writeLocalTime } from "./record-encoder.ts";
import { RecordTexts } from "./record-texts.ts";

/** Most answers fit; longer ones get their own memory. */
const ANSWER_BYTES_EXPECTED = 4 << 20;

/** Some 240,000 records with all fields. The system provides only the memory that is written to. */
const ENCODED_RECORD_BYTES = 128 << 20;
/** Some 260,000 positions, of two cache lines each. */
const ENCODED_POSITION_BYTES = 32 << 20;

/**
 * The buffer in which a server writes its answers, one at a time; the response copies it. After it, in the same memory,
 * are the encoded newest records of the hot store.
 */
export class AnswerBuffer {
  readonly records: EncodedRecordCache;
  readonly #memory: Uint8Array<ArrayBuffer>;
  #answer: JsonWriter;

  constructor(recordBytes = ENCODED_RECORD_BYTES, positionBytes = ENCODED_POSITION_BYTES) {
    this.#memory = new Uint8Array(ANSWER_BYTES_EXPECTED + recordBytes + positionBytes);
    this.#answer = new JsonWriter(ANSWER_BYTES_EXPECTED, this.#memory);
    this.records = new EncodedRecordCache(this.#memory, ANSWER_BYTES_EXPECTED, positionBytes);
  }

  /** The writer of one answer, valid until the next begins. */
  begin(): JsonWriter {
    if (this.#answer.bytes !== this.#memory) {
      this.#answer = new JsonWriter(ANSWER_BYTES_EXPECTED, this.#memory);
    }
    this.#answer.clear();
    return this.#answer;
  }

  /** Writes a whole answer, valid until the next begins. */
  write<Value>(shape: Shape<Value>, value: Value): Uint8Array<ArrayBuffer> {
    const json = this.begin();
    shape.write(json, value);
    return json.written();
  }
}

const ID = ',"id":"';
const ID_BYTES = ID.length + RECORD_ID_TIME_CHARACTERS + RECORD_ID_DIGEST_CHARACTERS + 1;
/** Space for what is added to the text. */
const EXTRA_BYTES = LOCAL_TIME_ROOM + ID_BYTES + 8;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/**
 * Newest records as JSON text, each encoded once per report and then copied. Answers and texts share one buffer,
 * because copying within a buffer costs half as much as copying between two.
 */
export class EncodedRecordCache {
  readonly #memory: Uint8Array<ArrayBuffer>;
  readonly #texts: RecordTexts;
  readonly #positions: PositionRecords;
  readonly #chosen = new ChosenRecords();

  /** Stores texts in `memory` from `start` on, a multiple of 8; the last `positionBytes` are for positions alone. */
  constructor(memory: Uint8Array<ArrayBuffer>, start: number, positionBytes: number) {
    this.#memory = memory;
    const positionsStart = Math.floor((memory.length - positionBytes) / LINE_BYTES) * LINE_BYTES;
    this.#texts = new RecordTexts(memory, start, positionsStart);
    this.#positions = new PositionRecords(memory, positionsStart, memory.length);
  }

  /** Writes the items of a nearby answer, with a comma before each. */
  writeNearby(json: JsonWriter, records: NewestRecords, columns: NearbyColumns, form: RecordForm): void {
    if (!form.fields.isWhole) {
      this.#partsOf(form).writeNearby(json, records, columns, form);
      return;
    }
    const { count, devices, meters, bearings } = columns;
    const { localTime, marks, names = null } = form;
    const memory = this.#memory;
    const texts = this.#texts;
    const addresses = texts.findAll(records, devices, count);
    for (let row = 0; row < count; row++) {
      const address = addresses === null ? texts.find(records, devices[row]!) : addresses[row]!;
      const textBytes = texts.bytes(address);
      const location = json.length + texts.locationAt(address);
      json.ensure(textBytes + EXTRA_BYTES);
      const { bytes, view } = json;
      copyBytes(memory, texts.start(address), textBytes, bytes, json.length);
      json.length += textBytes;
      writeDistance(view, location, meters[row]! / METERS_PER_MILE);
      writeBearing(view, location, bearings[row]!);
      if (localTime === null && marks === null && names === null) continue;
      json.length -= 2;
      if (localTime !== null) writeLocalTime(json, localTime, texts.timestampMs(address));
      names?.write(json, records.deviceId(devices[row]!));
      if (marks !== null) mark(marks, json, records, devices[row]!);
      json.byte(CLOSE_BRACE);
      json.byte(CLOSE_BRACE);
    }
  }

  /** Writes records in the form of current positions, with commas between. */
  writeRecords(json: JsonWriter, records: NewestRecords, devices: Uint32Array, form: RecordForm): void {
    if (!form.fields.isWhole) {
      this.#partsOf(form).writeRecords(json, records, devices, form);
      return;
    }
    const { localTime, marks, names = null } = form;
    const addresses = this.#texts.findAll(records, devices, devices.length);
    for (let row = 0; row < devices.length; row++) {
      if (row > 0) json.byte(COMMA);
      const address = addresses === null ? this.#texts.find(records, devices[row]!) : addresses[row]!;
      this.#writeLocation(json, address, localTime, null);
      names?.write(json, records.deviceId(devices[row]!));
      if (marks !== null) mark(marks, json, records, devices[row]!);
      json.byte(CLOSE_BRACE);
    }
  }

  /** Writes a record in the form of the answer about one device, with its id. */
  writeRecord(json: JsonWriter, records: NewestRecords, device: number, form: RecordForm): void {
    if (!form.fields.isWhole) {
      this.#partsOf(form).writeRecords(json, records, Uint32Array.of(device), form);
      return;
    }
    const { localTime, marks, names = null } = form;
    const address = this.#texts.find(records, device);
    this.#writeLocation(json, address, localTime, { records, device });
    names?.write(json, records.deviceId(device));
    if (marks !== null) mark(marks, json, records, device);
    json.byte(CLOSE_BRACE);
  }

  /** The writer of records with some of their fields. */
  #partsOf({ fields }: RecordForm): ChosenRecords | PositionRecords {
    return isInPositions(fields) ? this.#positions : this.#chosen;
  }

  /** Omits the closing brace. */
  #writeLocation(
    json: JsonWriter,
    address: number,
    localTime: LocalTimeFormatter | null,
    idOf: { readonly records: NewestRecords; readonly device: number } | null,
  ): void {
    const texts = this.#texts;
    const start = texts.start(address);
    const end = start + texts.bytes(address) - 2; // Without the braces of the record and of the item.
    const locationStart = start + texts.locationAt(address);
    const timestampMs = texts.timestampMs(address);
    json.ensure(end - locationStart + EXTRA_BYTES);
    if (idOf === null) this.#copy(json, locationStart, end - locationStart);
    else {
      const idStart = start + texts.numbersAt(address);
      this.#copy(json, locationStart, idStart - locationStart);
      this.#writeId(json, texts.digestAt(address, idOf.records, idOf.device), timestampMs);
      this.#copy(json, idStart, end - idStart);
    }
    if (localTime !== null) writeLocalTime(json, localTime, timestampMs);
  }

  #writeId(json: JsonWriter, digestAt: number, timestampMs: number): void {
    json.text(ID);
    writeRecordIdTime(json.view, json.length, timestampMs);
    json.length += RECORD_ID_TIME_CHARACTERS;
    this.#copy(json, digestAt, RECORD_ID_DIGEST_CHARACTERS);
    json.bytes[json.length++] = QUOTE;
  }

  #copy(json: JsonWriter, from: number, count: number): void {
    copyBytes(this.#memory, from, count, json.bytes, json.length);
    json.length += count;
  }
}

/** Marks where the name of the place near a device belongs. */
function mark(marks: PlaceMarks, json: JsonWriter, records: NewestRecords, device: number): void {
  const { numbers } = records.pageOf(device);
  marks.add(json.length, numbers[LATITUDE]!, numbers[LONGITUDE]!);
}
