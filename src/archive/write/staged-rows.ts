import { COMMA, LF } from "../../lib/text/ascii.ts";
import {
  createFragment,
  type Fragment,
  fragmentRoom,
  type JsonWriter,
  NUMBER_BYTES_MAX,
  writeFragment,
  writeNumber,
  writeReading,
} from "../../lib/text/json-writer.ts";
import type { AppId } from "../../model/ids.ts";
import {
  type LocationField,
  NUMBER_FIELDS,
  numberIndex,
  PROFILE_FIELDS,
  STATE_FIELDS,
} from "../../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";
import { ARCHIVE_COLUMNS, KEY_COLUMNS } from "../columns.ts";
import { quoteText } from "../duckdb/quote-text.ts";
import type { CellFinder } from "./h3-cells.ts";

// Rows for DuckDB as lines of CSV, which it reads at 400,000 rows/s; its appender takes 150,000. Texts are always
// quoted, and a field that is not carried is empty, so an empty text differs from it.

/** The order of columns in a line. Fields of one tuple are adjacent, so that whole tuples are copied. */
const STAGED_NAMES = [
  ...KEY_COLUMNS,
  ...namesOf([...NUMBER_FIELDS, ...PROFILE_FIELDS, ...STATE_FIELDS]),
  "h3_cell",
];

/** Programs with the same value write and read the same rows. */
export const STAGED_FORMAT = STAGED_NAMES.join();

/** Reads such files with `read_csv`. */
export function readStagedSql(paths: readonly string[]): string {
  const types = new Map(ARCHIVE_COLUMNS.map(({ name, type }) => [name, type]));
  const columns = STAGED_NAMES.map((name) => `'${name}': '${types.get(name)}'`).join(", ");
  const files = paths.map(quoteText).join(", ");
  return `read_csv([${files}], columns = {${columns}}, auto_detect = false, header = false,
    delim = ',', quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false,
    parallel = false, max_line_size = 65536, buffer_size = 4194304)`;
}

const NOTHING = createFragment("");
const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

/** The space for the numbers of a line and their commas. */
const NUMBERS_ROOM = (1 + NUMBER_FIELDS.length) * (NUMBER_BYTES_MAX + 1);

/** Writes the rows of a batch as lines of CSV. A row without a position, as a checkpoint may have, gets no H3 cell. */
export function encodeRows(appId: AppId, batch: ReportBatch, cells: CellFinder, out: JsonWriter): void {
  const { count, texts, device, timestampMs, numbers, profile, state } = batch;
  const profiles = tupleFragments(batch.profiles, PROFILE_FIELDS, texts);
  const states = tupleFragments(batch.states, STATE_FIELDS, texts);
  const latitudes = numbers[LATITUDE]!;
  const longitudes = numbers[LONGITUDE]!;
  const prefix = `${quoted(appId)},`;
  let keyDevice = NOT_CARRIED;
  let key = NOTHING;
  let cellDigits = "";
  let cell = NOTHING;
  for (let row = 0; row < count; row++) {
    if (device[row] !== keyDevice) {
      keyDevice = device[row]!;
      key = createFragment(`${prefix}${quoted(texts[keyDevice]!)},`);
    }
    const rowProfile = profiles[profile[row]!]!;
    const rowState = states[state[row]!]!;
    const latitude = latitudes[row]!;
    const hasPosition = !Number.isNaN(latitude);
    if (hasPosition) {
      const digits = cells.find(latitude, longitudes[row]!);
      if (digits !== cellDigits) {
        cellDigits = digits;
        cell = createFragment(digits);
      }
    }
    out.ensure(
      NUMBERS_ROOM +
        fragmentRoom(key) +
        fragmentRoom(rowProfile) +
        fragmentRoom(rowState) +
        fragmentRoom(cell) +
        1,
    );
    const { bytes, view } = out;
    let at = writeFragment(view, out.length, key);
    at = writeNumber(view, at, timestampMs[row]!);
    bytes[at++] = COMMA;
    for (let c = 0; c < numbers.length; c++) {
      const value = numbers[c]![row]!;
      if (!Number.isNaN(value)) at = writeReading(view, at, value);
      bytes[at++] = COMMA;
    }
    at = writeFragment(view, at, rowProfile);
    at = writeFragment(view, at, rowState);
    if (hasPosition) at = writeFragment(view, at, cell);
    bytes[at++] = LF;
    out.length = at;
  }
}

/** The text of each tuple, with a comma after each member. */
function tupleFragments(
  tuples: Uint32Array,
  fields: readonly LocationField[],
  texts: readonly string[],
): Fragment[] {
  const width = fields.length;
  return Array.from({ length: tuples.length / width }, (_, tuple) =>
    createFragment(
      fields.map((field, member) => `${memberText(field, tuples[tuple * width + member]!, texts)},`).join(""),
    ),
  );
}

function memberText({ type }: LocationField, index: number, texts: readonly string[]): string {
  if (index === NOT_CARRIED) return "";
  return type === "boolean" ? texts[index]! : quoted(texts[index]!);
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

function namesOf(fields: readonly LocationField[]): string[] {
  return fields.map(({ name }) => name);
}
