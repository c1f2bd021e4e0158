import { COMMA, CR, LF } from "../../lib/text/ascii.ts";
import {
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
import {
  createLocalTimeFormatter,
  createUtcTimeWriter,
  LOCAL_TIME_BYTES,
} from "../../model/time/local-time.ts";
import { guardedCell } from "../csv-guard.ts";
import { FragmentCache } from "./fragment-cache.ts";
import {
  NOTHING,
  PIECE_BYTES_EXPECTED,
  type RecordWriter,
  textPiece,
  type WriteOptions,
} from "./record-writer.ts";

/** The order of the columns: fields of a stored tuple are adjacent, so that whole tuples are copied. */
const COLUMNS = [
  "device_id",
  "timestamp",
  "time",
  ...[...NUMBER_FIELDS, ...PROFILE_FIELDS, ...STATE_FIELDS].map(({ name }) => name),
];

/** Space for all numbers, both texts of the time, and the line end. */
const NUMBERS_ROOM = (NUMBER_FIELDS.length + 1) * (NUMBER_BYTES_MAX + 1) + 2 * (LOCAL_TIME_BYTES + 1) + 8;

/** RFC 4180 with a header: all fields of a record, and the time as text. */
export function createCsvWriter({ zone }: WriteOptions): RecordWriter {
  const line = new JsonWriter(PIECE_BYTES_EXPECTED);
  const devices = new FragmentCache((deviceId) => `${textCell(deviceId)},`);
  const profiles = new FragmentCache((tuple) => cellsOf(PROFILE_FIELDS, tuple));
  const states = new FragmentCache((tuple) => cellsOf(STATE_FIELDS, tuple));
  const time = createUtcTimeWriter();
  const localTime = zone === null ? null : createLocalTimeFormatter(zone);
  return {
    begin: () => textPiece(`${[...COLUMNS, ...(zone === null ? [] : ["local_time"])].join(",")}\r\n`),
    write({ count, deviceIds, timestampMs, numbers, ...tuples }) {
      line.clear();
      for (let row = 0; row < count; row++) {
        const device = devices.of(deviceIds[row]!);
        const profile = profiles.of(tuples.profiles[row]!);
        const state = states.of(tuples.states[row]!);
        line.ensure(NUMBERS_ROOM + fragmentRoom(device) + fragmentRoom(profile) + fragmentRoom(state));
        const { bytes, view } = line;
        let at = writeNumber(view, writeFragment(view, line.length, device), timestampMs[row]!);
        bytes[at++] = COMMA;
        at = time.write(timestampMs[row]!, bytes, at);
        for (let field = 0; field < NUMBER_FIELDS.length; field++) {
          bytes[at++] = COMMA;
          const value = numbers[field]![row]!;
          if (!Number.isNaN(value)) at = writeReading(view, at, value);
        }
        at = writeFragment(view, writeFragment(view, at, profile), state);
        if (localTime !== null) {
          bytes[at++] = COMMA;
          at = localTime.write(timestampMs[row]!, bytes, at);
        }
        bytes[at++] = CR;
        bytes[at++] = LF;
        line.length = at;
      }
      return line.written();
    },
    end: () => NOTHING,
  };
}

/** The cells of a tuple, each after a comma; a missing value is empty. */
function cellsOf(fields: readonly LocationField[], tuple: string): string {
  const texts = JSON.parse(tuple) as readonly (string | null)[];
  return fields.map((_, member) => `,${textCell(texts[member] ?? null)}`).join("");
}

function textCell(text: string | null): string {
  if (text === null) return "";
  const cell = guardedCell(text);
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
