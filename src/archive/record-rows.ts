import type { DeviceId } from "../model/ids.ts";
import { type LocationField, NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import type { RecordPage } from "../model/record-page.ts";
import type { Rows } from "./duckdb.ts";
import type { PageDictionary } from "./page-dictionary.ts";

/*
 * Whole records as statements select them and pages hold them: device, time, numbers, then the members of
 * profile and state as texts.
 */
const TUPLE_FIELDS: readonly LocationField[] = [...PROFILE_FIELDS, ...STATE_FIELDS];

export const RECORD_COLUMNS = [
  "device_id",
  "timestamp::DOUBLE",
  ...NUMBER_FIELDS.map(({ name }) => name),
  ...TUPLE_FIELDS.map(({ name, type }) => (type === "boolean" ? `${name}::VARCHAR` : name)),
].join(", ");

const FIRST_NUMBER = 2;
const FIRST_TEXT = FIRST_NUMBER + NUMBER_FIELDS.length;

export function recordPage(rows: Rows, dictionary: PageDictionary): RecordPage {
  const { count } = rows;
  const width = NUMBER_FIELDS.length;
  const numbers = new Float64Array(count * width);
  for (let field = 0; field < width; field++) {
    const column = rows.numbers(FIRST_NUMBER + field);
    for (let row = 0; row < count; row++) numbers[row * width + field] = column[row]!;
  }
  const texts = TUPLE_FIELDS.map((_, member) => rows.texts(FIRST_TEXT + member));
  const profiles = texts.slice(0, PROFILE_FIELDS.length);
  const states = texts.slice(PROFILE_FIELDS.length);
  return {
    count,
    deviceIds: rows.texts(0) as DeviceId[],
    timestampMs: rows.numbers(1),
    numbers,
    profile: tupleNumbers(count, profiles, (members) => dictionary.profileOf(members)),
    state: tupleNumbers(count, states, (members) => dictionary.stateOf(members)),
    dictionary,
  };
}

/** Neighbours are mostly alike, and then share a number without another look at the dictionary. */
function tupleNumbers(
  count: number,
  columns: readonly (readonly (string | null)[])[],
  numberOf: (members: readonly (string | null)[]) => number,
): Uint32Array {
  const numbers = new Uint32Array(count);
  for (let row = 0; row < count; row++) {
    const isAlike = row > 0 && columns.every((column) => column[row] === column[row - 1]);
    numbers[row] = isAlike ? numbers[row - 1]! : numberOf(columns.map((column) => column[row]!));
  }
  return numbers;
}
