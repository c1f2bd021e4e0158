import { createHash } from "node:crypto";
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
import { compareUtf8 } from "../../lib/text/utf8.ts";
import {
  type LocationField,
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  STATE_FIELDS,
} from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";

/*
 * The canonical form of a record is a line of JSON without blanks, in UTF-8: `device_id` and `timestamp`, then the
 * number fields, the profile and the state that the record has, each group in the order of its column numbers
 * (model/location-fields.ts), texts and numbers as JSON.stringify writes them. A field that is added later does not
 * change the lines of records without it.
 */

/** A hash over records: equal records give equal hashes, wherever they are stored. */
export interface RecordHash {
  /** Adds records that come after all earlier ones, by device (UTF-8 bytes) and time. */
  add(records: RecordColumns): void;
  readonly records: number;
  /** Describes the first record that did not come after its predecessor; null if all did. */
  readonly disorder: string | null;
  /** SHA-256 of all lines, in hex. No records can be added afterwards. */
  digest(): string;
}

/** Text is hashed in blocks of this size. */
const BUFFER_BYTES = 256 * 1024;
/** Cached texts of tuples; a few megabytes. */
const TUPLES_MAX = 16_384;

const CLOSE = createFragment("}\n");
const NUMBER_NAMES = NUMBER_FIELDS.map(({ name }) => createFragment(`,"${name}":`));
const NUMBERS_ROOM = NUMBER_NAMES.reduce((sum, name) => sum + fragmentRoom(name) + NUMBER_BYTES_MAX, 0);

export function createRecordHash(): RecordHash {
  const hash = createHash("sha256");
  const out = new JsonWriter(BUFFER_BYTES * 2);
  const profiles = createTupleTexts(PROFILE_FIELDS);
  const states = createTupleTexts(STATE_FIELDS);
  let records = 0;
  let lastDeviceId: string | null = null;
  let lastMs = Number.NEGATIVE_INFINITY;
  let device = CLOSE;
  let disorder: string | null = null;

  function beginDevice(deviceId: string): void {
    if (lastDeviceId !== null && compareUtf8(deviceId, lastDeviceId) < 0) disorder ??= `device "${deviceId}"`;
    lastDeviceId = deviceId;
    lastMs = Number.NEGATIVE_INFINITY;
    device = createFragment(`{"device_id":${JSON.stringify(deviceId)},"timestamp":`);
  }

  return {
    get records() {
      return records;
    },
    get disorder() {
      return disorder;
    },
    add({ count, deviceIds, timestampMs, numbers, profiles: profileTexts, states: stateTexts }) {
      for (let row = 0; row < count; row++) {
        const deviceId = deviceIds[row]!;
        if (deviceId !== lastDeviceId) beginDevice(deviceId);
        const atMs = timestampMs[row]!;
        if (atMs <= lastMs) disorder ??= `device "${deviceId}" at ${atMs}`;
        lastMs = atMs;
        const profile = profiles.find(profileTexts[row]!);
        const state = states.find(stateTexts[row]!);
        out.ensure(
          NUMBERS_ROOM +
            NUMBER_BYTES_MAX +
            fragmentRoom(device) +
            fragmentRoom(profile) +
            fragmentRoom(state) +
            fragmentRoom(CLOSE),
        );
        const { view } = out;
        let at = writeNumber(view, writeFragment(view, out.length, device), atMs);
        for (let field = 0; field < numbers.length; field++) {
          const value = numbers[field]![row]!;
          if (Number.isNaN(value)) continue;
          at = writeReading(view, writeFragment(view, at, NUMBER_NAMES[field]!), value);
        }
        at = writeFragment(view, writeFragment(view, at, profile), state);
        out.length = writeFragment(view, at, CLOSE);
        if (out.length < BUFFER_BYTES) continue;
        hash.update(out.written());
        out.clear();
      }
      records += count;
    },
    digest: () => hash.update(out.written()).digest("hex"),
  };
}

/** The part of a line that comes from a tuple, cached. */
function createTupleTexts(fields: readonly LocationField[]) {
  const known = new Map<string, Fragment>();
  let lastJson: string | null = null;
  let last = CLOSE;
  return {
    /** Neighbours are mostly equal, and comparing two texts costs less than a lookup. */
    find(json: string): Fragment {
      if (json === lastJson) return last;
      let fragment = known.get(json);
      if (fragment === undefined) {
        if (known.size === TUPLES_MAX) known.clear();
        fragment = createFragment(membersText(fields, JSON.parse(json) as (string | null)[]));
        known.set(json, fragment);
      }
      lastJson = json;
      last = fragment;
      return fragment;
    },
  };
}

function membersText(fields: readonly LocationField[], texts: readonly (string | null)[]): string {
  return fields
    .map(({ name, type }, member) => {
      const text = texts[member] ?? null;
      if (text === null) return "";
      return `,"${name}":${type === "boolean" ? text : JSON.stringify(text)}`;
    })
    .join("");
}
