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
import { ANONYMOUS, type AppId, type DeviceId } from "../../model/ids.ts";
import {
  LOCATION_FIELDS,
  type LocationField,
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  type ResponseKind,
  STATE_FIELDS,
} from "../../model/location-fields.ts";
import { RECORD_ID_TIME_CHARACTERS, writeRecordIdTime } from "../../model/record-id.ts";
import type { RecordDictionary, RecordPage } from "../../model/record-page.ts";
import { LOCAL_TIME_BYTES, type LocalTimeFormatter } from "../../time/local-time.ts";
import { type DeviceFragment, DeviceFragments, NO_DEVICE } from "./device-fragments.ts";

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
 * Parts of a record repeat: its device, its profile and its state are encoded once and copied from then on,
 * which leaves the numbers.
 */
const TUPLES_CACHED = 16_384; // A power of two. About 8 MB with all members of both as they come in practice,
const TUPLE_BYTES_CACHED = 1024; // and 16 MB at most: members as long as they may be are encoded anew each time.

export function createRecordEncoder(kind: ResponseKind): RecordEncoder {
  const shown = (field: LocationField) => field.responses.includes(kind);
  const names = LOCATION_FIELDS.filter(shown).map((field) => field.name);
  const showsId = names.includes("id");
  const appMember = names.includes("app_id") ? "app_id" : "appId";
  const keys = encodeNumberKeys(shown);
  const profileMembers = membersShown(PROFILE_FIELDS, shown);
  const stateMembers = membersShown(STATE_FIELDS, shown);
  const devices = new DeviceFragments(appMember, showsId);
  const tuples = new WeakMap<RecordDictionary, TupleTextCache>();

  function tupleTexts(dictionary: RecordDictionary): TupleTextCache {
    let texts = tuples.get(dictionary);
    if (texts === undefined) {
      texts = new TupleTextCache();
      tuples.set(dictionary, texts);
    }
    return texts;
  }

  /** All members of a profile and a state that are shown, with a comma before each. */
  function encodeTuples(dictionary: RecordDictionary, profile: number, state: number): Uint8Array {
    const json =
      encodeMembers(
        profileMembers,
        (member) => dictionary.profileText(profile, member) ?? UNCLAIMED[member]!,
      ) + encodeMembers(stateMembers, (member) => dictionary.stateText(state, member));
    return new TextEncoder().encode(json);
  }

  const numberCount = NUMBER_FIELDS.length;
  let lastAppId: AppId | null = null;
  let lastDeviceId: DeviceId | null = null;
  let lastDevice = NO_DEVICE;

  /** Neighbours are often of one device. */
  function deviceOf(appId: AppId, deviceId: DeviceId): DeviceFragment {
    if (deviceId !== lastDeviceId || appId !== lastAppId) {
      lastDevice = devices.of(appId, deviceId);
      lastDeviceId = deviceId;
      lastAppId = appId;
    }
    return lastDevice;
  }

  function writeRest(
    json: JsonWriter,
    page: RecordPage,
    row: number,
    localTime: LocalTimeFormatter | null,
  ): void {
    const { dictionary, numbers } = page;
    const timestampMs = page.timestampMs[row]!;
    const texts = tupleTexts(dictionary);
    const profile = page.profile[row]!;
    const state = page.state[row]!;
    const text =
      texts.find(profile, state) ?? texts.put(profile, state, encodeTuples(dictionary, profile, state));

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
      const device = deviceOf(appId, page.deviceIds[row]!);
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

/** What a record shows that carries no such member, as a late report whose archived record can't be read. */
const UNCLAIMED = PROFILE_FIELDS.map(({ name }) => (name === "user_id" ? ANONYMOUS : null));

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

interface TupleMember {
  readonly index: number;
  readonly name: string;
  readonly isBoolean: boolean;
}

function membersShown(
  fields: readonly LocationField[],
  shown: (field: LocationField) => boolean,
): readonly TupleMember[] {
  return fields.flatMap((field, index) =>
    shown(field) ? [{ index, name: field.name, isBoolean: field.type === "boolean" }] : [],
  );
}

function encodeMembers(members: readonly TupleMember[], textOf: (member: number) => string | null): string {
  let json = "";
  for (const { index, name, isBoolean } of members) {
    const text = textOf(index);
    if (text !== null) json += `,"${name}":${isBoolean ? text : JSON.stringify(text)}`;
  }
  return json;
}

/**
 * Texts by profile and state, a newer one taking the place of an older in its slot: bounded without any
 * bookkeeping. The two go together, since one copy of both costs little more than one of either.
 */
class TupleTextCache {
  readonly #profiles = new Int32Array(TUPLES_CACHED).fill(-1);
  readonly #states = new Int32Array(TUPLES_CACHED);
  readonly #texts: Uint8Array[] = [];

  find(profile: number, state: number): Uint8Array | null {
    const slot = slotOf(profile, state);
    return this.#profiles[slot] === profile && this.#states[slot] === state ? this.#texts[slot]! : null;
  }

  put(profile: number, state: number, text: Uint8Array): Uint8Array {
    if (text.length > TUPLE_BYTES_CACHED) return text;
    const slot = slotOf(profile, state);
    this.#profiles[slot] = profile;
    this.#states[slot] = state;
    this.#texts[slot] = text;
    return text;
  }
}

/**
 * Both numbers are handed out one after the other; the odd factor keeps a profile's states apart from its neighbours'.
 */
function slotOf(profile: number, state: number): number {
  return (Math.imul(profile, 0x9e3779b1) + state) & (TUPLES_CACHED - 1);
}

const TIMESTAMP = createFragment(',"timestamp":');
const LOCAL_TIME = createFragment(',"local_time":"');
const QUOTE_AND_BRACE = createFragment('"}');
const BRACE = 0x7d;
