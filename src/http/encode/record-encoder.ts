import { assert } from "../../lib/assert.ts";
import { CLOSE_BRACE, COMMA, QUOTE } from "../../lib/text/ascii.ts";
import {
  createFragment,
  fragmentRoom,
  type JsonWriter,
  NUMBER_BYTES_MAX,
  writeFragment,
  writeInteger,
  writeReading,
} from "../../lib/text/json-writer.ts";
import { FieldChoice } from "../../model/field-choice.ts";
import type { AppId } from "../../model/ids.ts";
import { type LocationField, NUMBER_FIELDS, type ResponseKind } from "../../model/location-fields.ts";
import { RECORD_ID_TIME_CHARACTERS, writeRecordIdTime } from "../../model/record-id.ts";
import type { RecordPage } from "../../model/record-page.ts";
import { LOCAL_TIME_BYTES, type LocalTimeFormatter } from "../../model/time/local-time.ts";
import {
  CHOSEN_TUPLES_CACHED,
  DeviceFragments,
  EncodedTuples,
  TUPLES_CACHED,
  type TupleTexts,
} from "./record-fragments.ts";

/** Writes records in the form of one kind of response: its fields or some of them, its spelling of the app. */
export interface RecordEncoder {
  /** Writes the records of a page as JSON objects, with commas between; `localTime` adds `local_time`. */
  writePage(json: JsonWriter, appId: AppId, page: RecordPage, localTime: LocalTimeFormatter | null): void;
  /** Writes the time and the numbers of a record, with a comma before each. */
  writeNumbers(json: JsonWriter, page: RecordPage, row: number): void;
  /** Writes its profile and state, with a comma before each. */
  writeTexts(json: JsonWriter, page: RecordPage, row: number): void;
}

/**
 * Much of a record repeats: its device, profile and state are encoded once and then copied, which leaves the numbers.
 * Encoders of one kind of response may share `devices`.
 */
export function createRecordEncoder(
  fields: FieldChoice,
  devices = new DeviceFragments(fields.kind),
): RecordEncoder {
  const isShown = (field: LocationField) => fields.shows(field);
  const showsId = fields.names.includes("id");
  const showsApp = fields.names.some((name) => name === "app_id" || name === "appId");
  const keys = encodeNumberKeys(isShown);
  const tuples = new EncodedTuples(isShown, fields.isWhole ? TUPLES_CACHED : CHOSEN_TUPLES_CACHED);
  const numberCount = NUMBER_FIELDS.length;

  function writeNumbers(json: JsonWriter, page: RecordPage, row: number): void {
    const { numbers } = page;
    json.ensure(NUMBERS_ROOM);
    const { view } = json;
    let at = writeInteger(view, writeFragment(view, json.length, TIMESTAMP), page.timestampMs[row]!);
    const { words, lengths } = keys;
    const start = row * numberCount;
    for (let field = 0; field < numberCount; field++) {
      const value = numbers[start + field]!;
      if (Number.isNaN(value) || lengths[field] === 0) continue;
      const word = field * KEY_WORDS;
      view.setFloat64(at, words[word]!, true);
      view.setFloat64(at + 8, words[word + 1]!, true);
      view.setFloat64(at + 16, words[word + 2]!, true);
      at = writeReading(view, at + lengths[field]!, value);
    }
    json.length = at;
  }

  function writeTuple(
    json: JsonWriter,
    texts: TupleTexts,
    { profile, state }: RecordPage,
    row: number,
  ): void {
    const text = texts.of(profile[row]!, state[row]!);
    json.ensure(text.length);
    json.bytes.set(text, json.length);
    json.length += text.length;
  }

  function writeDevice(json: JsonWriter, appId: AppId, { deviceIds, timestampMs }: RecordPage, row: number) {
    const device = devices.of(appId, deviceIds[row]!);
    json.ensure(fragmentRoom(device.head) + fragmentRoom(device.idTail) + ID_HEAD_ROOM);
    const { view } = json;
    let at = writeFragment(view, json.length, device.head);
    if (!showsApp) at = json.length + device.bytesBeforeApp; // The next text overwrites the app.
    if (showsId) {
      at = writeFragment(view, at, ID_HEAD);
      writeRecordIdTime(view, at, timestampMs[row]!);
      at = writeFragment(view, at + RECORD_ID_TIME_CHARACTERS, device.idTail);
    }
    json.length = at;
  }

  return {
    writePage(json, appId, page, localTime) {
      const texts = tuples.of(page.dictionary);
      for (let row = 0; row < page.count; row++) {
        if (row > 0) json.byte(COMMA);
        writeDevice(json, appId, page, row);
        writeNumbers(json, page, row);
        writeTuple(json, texts, page, row);
        if (localTime !== null) writeLocalTime(json, localTime, page.timestampMs[row]!);
        json.byte(CLOSE_BRACE);
      }
    },
    writeNumbers,
    writeTexts: (json, page, row) => writeTuple(json, tuples.of(page.dictionary), page, row),
  };
}

/** More choices of fields at once are rare; each has 1 MB of texts at most. */
const CHOICES_MAX = 4;

/** Encoders for one kind of response: of whole records, and of the last few choices of their fields. */
export class RecordEncoders {
  readonly #devices: DeviceFragments;
  readonly #whole: RecordEncoder;
  readonly #chosen = new Map<string, RecordEncoder>();

  constructor(kind: ResponseKind) {
    this.#devices = new DeviceFragments(kind);
    this.#whole = createRecordEncoder(new FieldChoice(kind), this.#devices);
  }

  of(fields: FieldChoice): RecordEncoder {
    return fields.isWhole ? this.#whole : (this.#chosen.get(fields.key) ?? this.#add(fields));
  }

  #add(fields: FieldChoice): RecordEncoder {
    const [oldest] = this.#chosen.keys();
    if (this.#chosen.size === CHOICES_MAX) this.#chosen.delete(oldest!);
    const encoder = createRecordEncoder(fields, this.#devices);
    this.#chosen.set(fields.key, encoder);
    return encoder;
  }
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

const ID_HEAD = createFragment(',"id":"');
const ID_HEAD_ROOM = fragmentRoom(ID_HEAD) + RECORD_ID_TIME_CHARACTERS;
const TIMESTAMP = createFragment(',"timestamp":');
const LOCAL_TIME = createFragment(',"local_time":"');
export const LOCAL_TIME_ROOM = fragmentRoom(LOCAL_TIME) + LOCAL_TIME_BYTES + 1;
