import type { DeviceId } from "../../model/ids.ts";
import { NUMBER_FIELDS } from "../../model/location-fields.ts";
import type { RecordDictionary, RecordPage } from "../../model/record-page.ts";
import type { Rows } from "../duckdb/database.ts";

/** Column indexes of `recordsStatement`. */
export const TIME_COLUMN = 0;
export const FIRST_NUMBER_COLUMN = 1;
export const PROFILE_COLUMN = FIRST_NUMBER_COLUMN + NUMBER_FIELDS.length;
export const STATE_COLUMN = PROFILE_COLUMN + 1;
/** If rows name their device. */
export const DEVICE_COLUMN = STATE_COLUMN + 1;

/**
 * A page of the rows of `recordsStatement`, of one statement after another. `deviceId` is null if rows name their
 * device.
 */
export function recordPage(
  results: readonly Rows[],
  deviceId: DeviceId | null,
  dictionary: PageDictionary,
): RecordPage {
  const count = results.reduce((sum, rows) => sum + rows.count, 0);
  const page = {
    count,
    deviceIds: results.flatMap((rows) => deviceIdsOf(rows, DEVICE_COLUMN, deviceId)),
    timestampMs: new Float64Array(count),
    numbers: new Float64Array(count * NUMBER_FIELDS.length),
    profile: new Uint32Array(count),
    state: new Uint32Array(count),
    dictionary,
  };
  let start = 0;
  for (const rows of results) {
    page.timestampMs.set(rows.numbers(TIME_COLUMN), start);
    putNumbers(rows, page.numbers, start);
    putTuples(rows.texts(PROFILE_COLUMN), page.profile, start, dictionary.profileOf);
    putTuples(rows.texts(STATE_COLUMN), page.state, start, dictionary.stateOf);
    start += rows.count;
  }
  return page;
}

/** The device of each row: the given one, or the text of a column. */
export function deviceIdsOf(rows: Rows, column: number, deviceId: DeviceId | null): DeviceId[] {
  if (deviceId !== null) return new Array<DeviceId>(rows.count).fill(deviceId);
  return rows.texts(column) as DeviceId[];
}

function putNumbers(rows: Rows, numbers: Float64Array, start: number): void {
  const width = NUMBER_FIELDS.length;
  for (let field = 0; field < width; field++) {
    const column = rows.numbers(FIRST_NUMBER_COLUMN + field);
    for (let row = 0; row < column.length; row++) numbers[(start + row) * width + field] = column[row]!;
  }
}

/** Neighbours are mostly alike, and comparing two texts costs less than looking one up. */
function putTuples(
  texts: readonly (string | null)[],
  numbers: Uint32Array,
  start: number,
  numberOf: (json: string) => number,
): void {
  let last: string | null = null;
  let number = 0;
  for (let row = 0; row < texts.length; row++) {
    const text = texts[row]!;
    if (text !== last) {
      number = numberOf(text);
      last = text;
    }
    numbers[start + row] = number;
  }
}

/**
 * Profiles and states of archived records, numbered. Statements return each as one JSON array of texts and nulls: that
 * is one text per record to copy out of DuckDB instead of nine, and only new ones are parsed.
 */
export interface PageDictionary extends RecordDictionary {
  profileOf(json: string): number;
  stateOf(json: string): number;
  /** Whether a new dictionary should replace this one, which never forgets a text. */
  readonly isFull: boolean;
}

/**
 * About 8 MB of texts as they occur in practice. Presenters keep a cache per dictionary, so few large dictionaries are
 * better than one per page.
 */
const TUPLES_MAX = 16_384;
/** The limit if texts are as long as they may be. */
const CHARACTERS_MAX = 4_000_000;

export function createPageDictionary(): PageDictionary {
  const profiles = new TupleTexts();
  const states = new TupleTexts();
  return {
    profileOf: (json) => profiles.numberOf(json),
    stateOf: (json) => states.numberOf(json),
    profileText: (profile, member) => profiles.text(profile, member),
    stateText: (state, member) => states.text(state, member),
    get isFull() {
      return (
        profiles.size + states.size >= TUPLES_MAX || profiles.characters + states.characters >= CHARACTERS_MAX
      );
    },
  };
}

class TupleTexts {
  readonly #numbers = new Map<string, number>();
  /** Total length of the JSON texts. */
  characters = 0;
  readonly #tuples: (readonly (string | null)[])[] = [];

  numberOf(json: string): number {
    const known = this.#numbers.get(json);
    if (known !== undefined) return known;
    this.#tuples.push(JSON.parse(json) as (string | null)[]);
    this.characters += json.length;
    this.#numbers.set(json, this.#tuples.length - 1);
    return this.#tuples.length - 1;
  }

  text(number: number, member: number): string | null {
    return this.#tuples[number]![member]!;
  }

  get size(): number {
    return this.#tuples.length;
  }
}
