import { assert } from "../../lib/assert.ts";
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
import { LOCAL_TIME_BYTES, type LocalTimeFormatter } from "../../time/local-time.ts";
import { DeviceFragments } from "./device-fragments.ts";
import { EncodedTuples } from "./encoded-tuples.ts";

/** Writes records as one kind of response shows them: its fields, its spelling of the app. */
export interface RecordEncoder {
  /** Writes record `row` of the page as a JSON object; `localTime` adds `local_time`. */
  write(
    json: JsonWriter,
    appId: AppId,
    page: RecordPage,
    row: number,
    localTime: LocalTimeFormatter | null,
  ): void;
  /** Writes the rest of a record of which all members up to its ids are written: a comma, the others, the brace. */
  writeRest(json: JsonWriter, page: RecordPage, row: number, localTime: LocalTimeFormatter | null): void;
}

/**
 * Much of a record repeats: its device, its profile and its state are encoded once and copied from then on, which
 * leaves the numbers.
 */
export function createRecordEncoder(kind: ResponseKind): RecordEncoder {
  const shown = (field: LocationField) => field.responses.includes(kind);
  const names = LOCATION_FIELDS.filter(shown).map((field) => field.name);
  const showsId = names.includes("id");
  const appMember = names.includes("app_id") ? "app_id" : "appId";
  const keys = encodeNumberKeys(shown);
  const devices = new DeviceFragments(appMember, showsId);
  const tuples = new EncodedTuples(shown);
  const numberCount = NUMBER_FIELDS.length;

  function writeRest(
    json: JsonWriter,
    page: RecordPage,
    row: number,
    localTime: LocalTimeFormatter | null,
  ): void {
    const { dictionary, numbers } = page;
    const timestampMs = page.timestampMs[row]!;
    const text = tuples.of(dictionary, page.profile[row]!, page.state[row]!);

    json.ensure(NUMBERS_ROOM + text.length);
    const { bytes, view } = json;
    let at = writeInteger(bytes, writeFragment(view, json.length, TIMESTAMP), timestampMs);
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
    bytes.set(text, at);
    at += text.length;
    if (localTime === null) {
      bytes[at] = BRACE;
      json.length = at + 1;
    } else {
      at = localTime.write(timestampMs, bytes, writeFragment(view, at, LOCAL_TIME));
      json.length = writeFragment(view, at, QUOTE_AND_BRACE);
    }
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
      writeRest(json, page, row, localTime);
    },
    writeRest,
  };
}

/** Room for the timestamp, all numbers with their keys, and the local time. */
const NUMBERS_ROOM = (NUMBER_FIELDS.length + 2) * (NUMBER_BYTES_MAX + 32) + LOCAL_TIME_BYTES;

/** What goes before each number: `KEY_WORDS` words a field, and how many of their bytes count; 0 is not shown. */
interface NumberKeys {
  readonly words: Float64Array;
  readonly lengths: Uint8Array;
}

const KEY_WORDS = 3; // `,"horizontal_accuracy":` is the longest, with 23 bytes.

function encodeNumberKeys(shown: (field: LocationField) => boolean): NumberKeys {
  const keys = {
    words: new Float64Array(NUMBER_FIELDS.length * KEY_WORDS),
    lengths: new Uint8Array(NUMBER_FIELDS.length),
  };
  NUMBER_FIELDS.forEach((field, index) => {
    if (!shown(field)) return;
    const { words, bytes } = createFragment(`,"${field.name}":`);
    assert(words.length <= KEY_WORDS, "every key fits its words");
    keys.words.set(words, index * KEY_WORDS);
    keys.lengths[index] = bytes;
  });
  return keys;
}

const TIMESTAMP = createFragment(',"timestamp":');
const LOCAL_TIME = createFragment(',"local_time":"');
const QUOTE_AND_BRACE = createFragment('"}');
const BRACE = 0x7d;
