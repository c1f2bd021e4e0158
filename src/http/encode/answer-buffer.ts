import { CLOSE_BRACE, COMMA, QUOTE } from "../../lib/text/ascii.ts";
import { JsonWriter } from "../../lib/text/json-writer.ts";
import { METERS_PER_MILE } from "../../model/geo/distance.ts";
import { numberIndex } from "../../model/location-fields.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import { deviceDigest, RECORD_ID_TIME_CHARACTERS, writeRecordIdTime } from "../../model/record-id.ts";
import type { LocalTimeFormatter } from "../../model/time/local-time.ts";
import type { Shape } from "../shapes/shape.ts";
import { writeBearing, writeDistance } from "./nearby-slots.ts";
import type { PlaceMarks } from "./place-marks.ts";
import { LOCAL_TIME_ROOM, writeLocalTime } from "./record-encoder.ts";
import { RecordTexts } from "./record-texts.ts";

/** What most answers fit in; longer ones get memory of their own. */
const ANSWER_BYTES_EXPECTED = 4 << 20;

/** Some 240,000 records with all their fields. Only what is written to is taken from the machine. */
const ENCODED_RECORD_BYTES = 128 << 20;

/**
 * The one buffer that all answers of a server are written into: each in one go, and the response copies it. Behind it,
 * in the same memory, lie the newest records of the hot store as answers show them.
 */
export class AnswerBuffer {
  readonly records: EncodedRecordCache;
  readonly #memory: Uint8Array<ArrayBuffer>;
  #answer: JsonWriter;

  constructor(encodedRecordBytes = ENCODED_RECORD_BYTES) {
    this.#memory = new Uint8Array(ANSWER_BYTES_EXPECTED + encodedRecordBytes);
    this.#answer = new JsonWriter(ANSWER_BYTES_EXPECTED, this.#memory);
    this.records = new EncodedRecordCache(this.#memory, ANSWER_BYTES_EXPECTED);
  }

  /** The writer of one answer, which ends when the next begins. */
  begin(): JsonWriter {
    if (this.#answer.bytes !== this.#memory) {
      this.#answer = new JsonWriter(ANSWER_BYTES_EXPECTED, this.#memory);
    }
    this.#answer.clear();
    return this.#answer;
  }

  /** A whole answer, good until the next one is begun. */
  write<Value>(shape: Shape<Value>, value: Value): Uint8Array<ArrayBuffer> {
    const json = this.begin();
    shape.write(json, value);
    return json.written();
  }
}

const ID = ',"id":"';
const DIGEST_CHARACTERS = 16;
const ID_BYTES = ID.length + RECORD_ID_TIME_CHARACTERS + DIGEST_CHARACTERS + 1;
/** What is put in beside the text itself. */
const EXTRA_BYTES = LOCAL_TIME_ROOM + ID_BYTES + 8;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/** One page of who is near, in columns; may be longer than `count`. */
export interface NearbyColumns {
  readonly count: number;
  readonly devices: Uint32Array;
  readonly meters: Float64Array;
  readonly bearings: Float64Array;
}

/**
 * Newest records as JSON text, each encoded once a report and copied from then on. Answers are written into the memory
 * before the texts: copying within one buffer costs half of copying from one into another.
 */
export class EncodedRecordCache {
  readonly #memory: Uint8Array<ArrayBuffer>;
  readonly #texts: RecordTexts;

  /** Keeps texts in `memory` from `start` on, a multiple of 8. */
  constructor(memory: Uint8Array<ArrayBuffer>, start: number) {
    this.#memory = memory;
    this.#texts = new RecordTexts(memory, start);
  }

  /** Writes items of nearby's results, with a comma before each. */
  writeNearby(
    json: JsonWriter,
    records: NewestRecords,
    { count, devices, meters, bearings }: NearbyColumns,
    localTime: LocalTimeFormatter | null,
    marks: PlaceMarks | null = null,
  ): void {
    const memory = this.#memory;
    const texts = this.#texts;
    const places = texts.findAll(records, devices, count);
    for (let row = 0; row < count; row++) {
      const place = places === null ? texts.find(records, devices[row]!) : places[row]!;
      const textBytes = texts.bytes(place);
      const location = json.length + texts.locationAt(place);
      json.ensure(textBytes + EXTRA_BYTES);
      const { bytes, view } = json;
      copyBytes(memory, texts.start(place), textBytes, bytes, json.length);
      json.length += textBytes;
      writeDistance(view, location, meters[row]! / METERS_PER_MILE);
      writeBearing(view, location, bearings[row]!);
      if (localTime === null && marks === null) continue;
      json.length -= 2;
      if (localTime !== null) writeLocalTime(json, localTime, texts.timestampMs(place));
      if (marks !== null) mark(marks, json, records, devices[row]!);
      json.byte(CLOSE_BRACE);
      json.byte(CLOSE_BRACE);
    }
  }

  /** Writes records as current positions show them, with commas between. */
  writeRecords(
    json: JsonWriter,
    records: NewestRecords,
    devices: Uint32Array,
    localTime: LocalTimeFormatter | null,
    marks: PlaceMarks | null = null,
  ): void {
    const places = this.#texts.findAll(records, devices, devices.length);
    for (let row = 0; row < devices.length; row++) {
      if (row > 0) json.byte(COMMA);
      const place = places === null ? this.#texts.find(records, devices[row]!) : places[row]!;
      this.#writeLocation(json, place, localTime, null);
      if (marks !== null) mark(marks, json, records, devices[row]!);
      json.byte(CLOSE_BRACE);
    }
  }

  /** Writes a record as the answer about one device shows it, with its id. */
  writeRecord(
    json: JsonWriter,
    records: NewestRecords,
    device: number,
    localTime: LocalTimeFormatter | null,
    marks: PlaceMarks | null = null,
  ): void {
    const place = this.#texts.find(records, device);
    this.#writeLocation(json, place, localTime, { records, device });
    if (marks !== null) mark(marks, json, records, device);
    json.byte(CLOSE_BRACE);
  }

  /** Without the brace that closes it. */
  #writeLocation(
    json: JsonWriter,
    place: number,
    localTime: LocalTimeFormatter | null,
    idOf: { readonly records: NewestRecords; readonly device: number } | null,
  ): void {
    const texts = this.#texts;
    const start = texts.start(place);
    const end = start + texts.bytes(place) - 2; // Without the braces of the record and of the item.
    const locationStart = start + texts.locationAt(place);
    const timestampMs = texts.timestampMs(place);
    json.ensure(end - locationStart + EXTRA_BYTES);
    if (idOf === null) this.#copy(json, locationStart, end - locationStart);
    else {
      const idStart = start + texts.numbersAt(place);
      this.#copy(json, locationStart, idStart - locationStart);
      writeId(json, idOf.records, idOf.device, timestampMs);
      this.#copy(json, idStart, end - idStart);
    }
    if (localTime !== null) writeLocalTime(json, localTime, timestampMs);
  }

  #copy(json: JsonWriter, from: number, count: number): void {
    copyBytes(this.#memory, from, count, json.bytes, json.length);
    json.length += count;
  }
}

/** Within one buffer this is twice as fast; an answer that has outgrown its memory is in another. */
function copyBytes(source: Uint8Array, from: number, count: number, target: Uint8Array, at: number): void {
  if (target === source) target.copyWithin(at, from, from + count);
  else target.set(source.subarray(from, from + count), at);
}

/** Marks where the name of the place belongs that a device is near. */
function mark(marks: PlaceMarks, json: JsonWriter, records: NewestRecords, device: number): void {
  const { numbers } = records.pageOf(device);
  marks.add(json.length, numbers[LATITUDE]!, numbers[LONGITUDE]!);
}

function writeId(json: JsonWriter, records: NewestRecords, device: number, timestampMs: number): void {
  json.text(ID);
  writeRecordIdTime(json.bytes, json.length, timestampMs);
  json.length += RECORD_ID_TIME_CHARACTERS;
  json.text(deviceDigest(records.appId, records.deviceId(device)));
  json.bytes[json.length++] = QUOTE;
}
