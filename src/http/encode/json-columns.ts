import { COMMA, OPEN_BRACKET } from "../../lib/text/ascii.ts";
import { JsonWriter, NUMBER_BYTES_MAX, writeReading } from "../../lib/text/json-writer.ts";

/** Answers in columns: a list for each, written in pieces, since each may have a million values. */

/** Consecutive values of a column; NaN or null if a row has none. */
export type ColumnBlock = Float64Array | readonly (string | boolean | object | null)[];

export interface Column {
  readonly name: string;
  readonly blocks: Iterable<ColumnBlock>;
}

/** Some 0.1 ms of work. */
const PIECE_BYTES = 16 * 1024;
/** Values written between two checks of the piece's length. */
const VALUES_AT_ONCE = 256;

/** The four bytes of `null`, as one number. */
const NULL = 0x6c6c756e;
const NULL_BYTES = 4;

/** A JSON object with these members, of which there is at least one, followed by one for each column. */
export function* jsonColumns(
  members: Readonly<Record<string, unknown>>,
  columns: Iterable<Column>,
): Generator<Uint8Array<ArrayBuffer>, void, void> {
  const json = new JsonWriter(2 * PIECE_BYTES);
  json.text(JSON.stringify(members).slice(0, -1));
  for (const { name, blocks } of columns) {
    json.text(`,${JSON.stringify(name)}:`);
    let before = OPEN_BRACKET;
    for (const block of blocks) {
      for (let from = 0; from < block.length; from += VALUES_AT_ONCE) {
        writeValues(json, block, from, Math.min(from + VALUES_AT_ONCE, block.length), before);
        before = COMMA;
        if (json.length < PIECE_BYTES) continue;
        yield json.written().slice();
        json.clear();
      }
    }
    json.text(before === OPEN_BRACKET ? "[]" : "]");
  }
  json.text("}");
  yield json.written().slice();
}

/** Writes `before` before the first value and a comma before each other. */
function writeValues(json: JsonWriter, block: ColumnBlock, from: number, to: number, before: number): void {
  if (block instanceof Float64Array) {
    writeNumbers(json, block, from, to, before);
    return;
  }
  for (let row = from; row < to; row++) {
    json.byte(row === from ? before : COMMA);
    const value = block[row]!;
    if (typeof value === "string") json.string(value);
    else json.value(value);
  }
}

function writeNumbers(json: JsonWriter, block: Float64Array, from: number, to: number, before: number): void {
  json.ensure((to - from) * (1 + NUMBER_BYTES_MAX));
  const { bytes, view } = json;
  let at = json.length;
  for (let row = from; row < to; row++) {
    bytes[at++] = row === from ? before : COMMA;
    const value = block[row]!;
    if (Number.isNaN(value)) {
      view.setUint32(at, NULL, true);
      at += NULL_BYTES;
    } else at = writeReading(view, at, value);
  }
  json.length = at;
}
