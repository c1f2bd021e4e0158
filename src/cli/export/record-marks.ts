import { Buffer } from "node:buffer";

/*
 * How many records a text has: formats write the same few bytes once for each and for nothing else, since texts of
 * records have them escaped. So what a server sends is counted without being read.
 */

const MARKS: Readonly<Record<string, string>> = {
  ndjson: '{"device_id":',
  csv: "\n",
  geojson: '{"type":"Feature",',
  geojsonseq: '{"type":"Feature",',
  gpx: "<trkpt ",
  kml: "<when>",
  owntracks: '{"_type":"location",',
};

/** Lines that are no records: the header. */
const OTHERS: Readonly<Record<string, number>> = { csv: 1 };

/** Whether the records of a format can be counted by their marks. */
export function isCountable(format: string): boolean {
  return Object.hasOwn(MARKS, format);
}

/** Counts the marks of a text that comes in pieces. */
export class RecordMarks {
  readonly #mark: Buffer | null;
  readonly #others: number;
  /** The last bytes, in which a mark may have begun. */
  #tail = Buffer.alloc(0);
  #found = 0;

  constructor(format: string) {
    const mark = MARKS[format];
    this.#mark = mark === undefined ? null : Buffer.from(mark);
    this.#others = OTHERS[format] ?? 0;
  }

  /** Null where the format has none that could be seen. */
  get records(): number | null {
    return this.#mark === null ? null : Math.max(0, this.#found - this.#others);
  }

  push(piece: Uint8Array): void {
    const mark = this.#mark;
    if (mark === null) return;
    const rest = mark.length - 1;
    this.#found += count(Buffer.concat([this.#tail, piece.subarray(0, rest)]), mark);
    this.#found += count(Buffer.from(piece.buffer, piece.byteOffset, piece.length), mark);
    const end = Buffer.concat([this.#tail, piece.subarray(Math.max(0, piece.length - rest))]);
    this.#tail = end.subarray(Math.max(0, end.length - rest));
  }
}

function count(bytes: Buffer, mark: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) found++;
  return found;
}
