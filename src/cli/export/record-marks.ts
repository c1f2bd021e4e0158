import { Buffer } from "node:buffer";

/*
 * Counts the records of a server's export without parsing it: each format has a mark, a few bytes that occur exactly
 * once for each record, since texts inside records escape them.
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

/** Marks that belong to no record: the line end of the header. */
const EXTRA_MARKS: Readonly<Record<string, number>> = { csv: 1 };

export function isCountable(format: string): boolean {
  return Object.hasOwn(MARKS, format);
}

/** Counts the marks of a text that arrives in pieces. */
export class RecordMarks {
  readonly #mark: Buffer | null;
  readonly #extraMarks: number;
  /** The last bytes, in which a mark may have begun. */
  #tail = Buffer.alloc(0);
  #marks = 0;

  constructor(format: string) {
    const mark = MARKS[format];
    this.#mark = mark === undefined ? null : Buffer.from(mark);
    this.#extraMarks = EXTRA_MARKS[format] ?? 0;
  }

  /** Null if the format has no mark. */
  get records(): number | null {
    return this.#mark === null ? null : Math.max(0, this.#marks - this.#extraMarks);
  }

  push(piece: Uint8Array): void {
    const mark = this.#mark;
    if (mark === null) return;
    const rest = mark.length - 1;
    this.#marks += count(Buffer.concat([this.#tail, piece.subarray(0, rest)]), mark);
    this.#marks += count(Buffer.from(piece.buffer, piece.byteOffset, piece.length), mark);
    const end = Buffer.concat([this.#tail, piece.subarray(Math.max(0, piece.length - rest))]);
    this.#tail = end.subarray(Math.max(0, end.length - rest));
  }
}

function count(bytes: Buffer, mark: Buffer): number {
  let marks = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) marks++;
  return marks;
}
