import { CLOSE_BRACE, LF, OPEN_BRACE, QUOTE } from "../../lib/text/ascii.ts";
import {
  createFragment,
  type Fragment,
  fragmentRoom,
  JsonWriter,
  NUMBER_BYTES_MAX,
  writeFragment,
  writeNumber,
  writeReading,
} from "../../lib/text/json-writer.ts";
import {
  type LocationField,
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  STATE_FIELDS,
} from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import {
  createLocalTimeFormatter,
  createUtcTimeWriter,
  LOCAL_TIME_BYTES,
  type LocalTimeFormatter,
  type UtcTimeWriter,
} from "../../model/time/local-time.ts";
import type { Zone } from "../../model/time/zone.ts";
import { FragmentCache } from "./fragment-cache.ts";
import { NOTHING, PIECE_BYTES_EXPECTED, type RecordWriter, type WriteOptions } from "./record-writer.ts";

/** Which members are written beside the common ones. */
interface JsonMembersOptions {
  /** Adds `local_time`. */
  readonly zone: Zone | null;
  /** Adds `time`, the timestamp as ISO 8601. */
  readonly hasTime: boolean;
  /** Selects the numbers. */
  shows(field: LocationField): boolean;
}

/** Writes a record as members of a JSON object, with the names of the contract. */
export class JsonMembers {
  readonly #devices = new FragmentCache((deviceId) => `"device_id":${JSON.stringify(deviceId)},"timestamp":`);
  readonly #profiles = new FragmentCache((tuple) => membersOf(PROFILE_FIELDS, tuple));
  readonly #states = new FragmentCache((tuple) => membersOf(STATE_FIELDS, tuple));
  /** The key of each number field; null if it is not written. */
  readonly #numberKeys: readonly (Fragment | null)[];
  readonly #time: UtcTimeWriter | null;
  readonly #localTime: LocalTimeFormatter | null;

  constructor({ zone, hasTime, shows }: JsonMembersOptions) {
    this.#numberKeys = NUMBER_FIELDS.map((field) =>
      shows(field) ? createFragment(`,"${field.name}":`) : null,
    );
    this.#time = hasTime ? createUtcTimeWriter() : null;
    this.#localTime = zone === null ? null : createLocalTimeFormatter(zone);
  }

  /** Writes the members of a record, without braces. */
  write(json: JsonWriter, records: RecordColumns, row: number): void {
    const device = this.#devices.of(records.deviceIds[row]!);
    const profile = this.#profiles.of(records.profiles[row]!);
    const state = this.#states.of(records.states[row]!);
    const timestampMs = records.timestampMs[row]!;
    json.ensure(NUMBERS_ROOM + fragmentRoom(device) + fragmentRoom(profile) + fragmentRoom(state));
    const { bytes, view } = json;
    let at = writeNumber(view, writeFragment(view, json.length, device), timestampMs);
    if (this.#time !== null) {
      at = this.#time.write(timestampMs, bytes, writeFragment(view, at, TIME));
      bytes[at++] = QUOTE;
    }
    const keys = this.#numberKeys;
    const { numbers } = records;
    for (let field = 0; field < keys.length; field++) {
      const key = keys[field]!;
      const value = numbers[field]![row]!;
      if (key !== null && !Number.isNaN(value)) {
        at = writeReading(view, writeFragment(view, at, key), value);
      }
    }
    at = writeFragment(view, writeFragment(view, at, profile), state);
    if (this.#localTime !== null) {
      at = this.#localTime.write(timestampMs, bytes, writeFragment(view, at, LOCAL_TIME));
      bytes[at++] = QUOTE;
    }
    json.length = at;
  }
}

const TIME = createFragment(',"time":"');
const LOCAL_TIME = createFragment(',"local_time":"');

/** Space for the timestamp, all numbers with their keys, and both texts of the time. */
const NUMBERS_ROOM =
  (NUMBER_FIELDS.length + 1) * (NUMBER_BYTES_MAX + 32) +
  2 * (fragmentRoom(LOCAL_TIME) + LOCAL_TIME_BYTES + 8);

/** The present members of a tuple, each after a comma. */
function membersOf(fields: readonly LocationField[], tuple: string): string {
  const texts = JSON.parse(tuple) as readonly (string | null)[];
  let json = "";
  for (const [member, { name, type }] of fields.entries()) {
    const text = texts[member];
    if (typeof text === "string") json += `,"${name}":${type === "boolean" ? text : JSON.stringify(text)}`;
  }
  return json;
}

/** Writes a record per line with all its fields: `import` restores the same records. */
export function createNdjsonWriter({ zone }: WriteOptions): RecordWriter {
  const json = new JsonWriter(PIECE_BYTES_EXPECTED);
  const members = new JsonMembers({ zone, hasTime: false, shows: () => true });
  return {
    begin: () => NOTHING,
    write(records) {
      json.clear();
      for (let row = 0; row < records.count; row++) {
        json.byte(OPEN_BRACE);
        members.write(json, records, row);
        json.byte(CLOSE_BRACE);
        json.byte(LF);
      }
      return json.written();
    },
    end: () => NOTHING,
  };
}
