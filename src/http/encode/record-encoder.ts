import { assert } from "../../lib/assert.ts";
import { CLOSE_BRACE, QUOTE } from "../../lib/text/ascii.ts";
import {
  createFragment,
  fragmentRoom,
  type JsonWriter,
  NUMBER_BYTES_MAX,
  writeFragment,
  writeInteger,
  writeReading,
} from "../../lib/text/json-writer.ts";
import type { AppId } from "../../model/ids.ts";
import {
  LOCATION_FIELDS,
  type LocationField,
  NUMBER_FIELDS,
  type ResponseKind,
} from "../../model/location-fields.ts";
import { RECORD_ID_TIME_CHARACTERS, writeRecordIdTime } from "../../model/record-id.ts";
import type { RecordPage } from "../../model/record-page.ts";
import { LOCAL_TIME_BYTES, type LocalTimeFormatter } from "../../model/time/local-time.ts";
import { DeviceFragments, EncodedTuples } from "./record-fragments.ts";

/** Writes records in the form of one kind of response: its fields, its spelling of the app. */
export interface RecordEncoder {
  /** Writes record `row` of the page as a JSON object; `localTime` adds `local_time`. */
  write(
    json: JsonWriter,
    appId: AppId,
    page: RecordPage,
    row: number,
    localTime: LocalTimeFormatter | null,
  ): void;
  /** Writes the time and the numbers of a record, with a comma before each. */
  writeNumbers(json: JsonWriter, page: RecordPage, row: number): void;
  /** Writes its profile and state, with a comma before each. */
  writeTexts(json: JsonWriter, page: RecordPage, row: number): void;
}

/**
 * Much of a record repeats: its device, profile and state are encoded once and then copied, which leaves the numbers.
 */
export function createRecordEncoder(kind: ResponseKind): RecordEncoder {
  const isShown = (field: LocationField) => field.responses.includes(kind);
  const names = LOCATION_FIELDS.filter(isShown).map((field) => field.name);
  const showsId = names.includes("id");
  const appMember = names.includes("app_id") ? "app_id" : "appId";
  const keys = encodeNumberKeys(isShown);
  const devices = new DeviceFragments(appMember, showsId);
  const tuples = new EncodedTuples(isShown);
  const numberCount = NUMBER_FIELDS.length;

  function writeNumbers(json: JsonWriter, page: RecordPage, row: number): void {
    const { numbers } = page;
    json.ensure(NUMBERS_ROOM);
    const { bytes, view } = json;
    let at = writeInteger(bytes, writeFragment(view, json.length, TIMESTAMP), page.timestampMs[row]!);
    const { words, lengths } = keys;
    const start = row * numberCount;
    for (let field = 0; field < numberCount; field++) {
      const value = numbers[start + field]!;
      if (Number.isNaN(value) || lengths[field] === 0) continue;
      const word = field * KEY_WORDS;
      view.setFloat64(at, words[word]!, true);
      view.setFloat64(at + 8, words[word + 1]!, true);
      view.setFloat64(at + 16, words[word + 2]!, true);
      at = writeReading(bytes, view, at + lengths[field]!, value);
    }
    json.length = at;
  }

  function writeTexts(json: JsonWriter, page: RecordPage, row: number): void {
    const text = tuples.of(page.dictionary, page.profile[row]!, page.state[row]!);
    json.ensure(text.length);
    json.bytes.set(text, json.length);
    json.length += text.length;
  }

  return {
    write(json, appId, page, row, localTime) {
      const device = devices.of(appId, page.deviceIds[row]!);
      json.ensure(fragmentRoom(device.head) + fragmentRoom(device.tail) + RECORD_ID_TIME_CHARACTERS);
      const { bytes, view } = json;
      let at = writeFragment(view, json.length, device.head);
      if (showsId) {
        writeRecordIdTime(bytes, at, page.timestampMs[row]!);
        at += RECORD_ID_TIME_CHARACTERS;
      }
      json.length = writeFragment(view, at, device.tail);
      writeNumbers(json, page, row);
      writeTexts(json, page, row);
      if (localTime !== null) writeLocalTime(json, localTime, page.timestampMs[row]!);
      json.byte(CLOSE_BRACE);
    },
    writeNumbers,
    writeTexts,
  };
}

/** Writes the member `local_time`, with a comma before it. */
export function writeLocalTime(json: JsonWriter, localTime: LocalTimeFormatter, timestampMs: number): void {
  json.ensure(LOCAL_TIME_ROOM);
  json.length = localTime.write(timestampMs, json.bytes, writeFragment(json.view, json.length, LOCAL_TIME));
  json.bytes[json.length++] = QUOTE;
}

/** Room for the timestamp and all numbers with their keys. */
const NUMBERS_ROOM = (NUMBER_FIELDS.length + 1) * (NUMBER_BYTES_MAX + 32);

/** The key of each number in `KEY_WORDS` words, and how many of their bytes count; 0 if the field is not shown. */
interface NumberKeys {
  readonly words: Float64Array;
  readonly lengths: Uint8Array;
}

const KEY_WORDS = 3; // `,"horizontal_accuracy":` is the longest, with 23 bytes.

function encodeNumberKeys(isShown: (field: LocationField) => boolean): NumberKeys {
  const keys = {
    words: new Float64Array(NUMBER_FIELDS.length * KEY_WORDS),
    lengths: new Uint8Array(NUMBER_FIELDS.length),
  };
  NUMBER_FIELDS.forEach((field, index) => {
    if (!isShown(field)) return;
    const { words, bytes } = createFragment(`,"${field.name}":`);
    assert(words.length <= KEY_WORDS, "every key fits its words");
    keys.words.set(words, index * KEY_WORDS);
    keys.lengths[index] = bytes;
  });
  return keys;
}

const TIMESTAMP = createFragment(',"timestamp":');
const LOCAL_TIME = createFragment(',"local_time":"');
export const LOCAL_TIME_ROOM = fragmentRoom(LOCAL_TIME) + LOCAL_TIME_BYTES + 1;
