import { readAllRecords } from "../../../archive/read/all-records.ts";
import type { RecordWriter } from "../../../formats/write/record-writer.ts";
import { joinBytes } from "../../../lib/bytes/growing-bytes.ts";
import { type RecordColumns, recordColumns, sliceRecords } from "../../../model/record-columns.ts";
import { type Cursor, cursorAt, isBehind } from "../cursor.ts";
import type { RecordSink } from "./record-intake.ts";

/** Sends a piece; resolves once another may follow. */
export type SendPiece = (bytes: Uint8Array<ArrayBuffer>) => Promise<void>;

/** Bytes of a message, because each costs a few microseconds. */
const PIECE_BYTES = 256 * 1024;
/** Records of one write: half a megabyte to two. */
const ROWS_A_WRITE = 2048;

/** Sends text while it is written. Each record is written once, even if it is read again. */
export function createTextSink(
  writer: RecordWriter,
  order: "time" | "device",
  send: SendPiece,
  signal: AbortSignal,
): RecordSink {
  const pieces = createPieces(send);
  let records = 0;
  let last: Cursor | null = null;
  let isBegun = false;

  async function begin(): Promise<void> {
    if (isBegun) return;
    isBegun = true;
    await pieces.add(writer.begin());
  }

  /** A repeated read begins with records that are written already; it is in order, so the rest comes after them. */
  async function write(read: RecordColumns): Promise<void> {
    await begin();
    let from = 0;
    while (last !== null && from < read.count && !isBehind(last, read, from, order)) from++;
    while (from < read.count) {
      const to = Math.min(from + ROWS_A_WRITE, read.count);
      await pieces.add(writer.write(sliceRecords(read, from, to)));
      records += to - from;
      last = cursorAt(read, to - 1);
      from = to;
    }
  }

  return {
    get records() {
      return records;
    },
    add: (batch) => write(recordColumns(batch)),
    flush: async () => undefined,
    async read(connection, request) {
      for await (const read of readAllRecords(connection, request, signal)) await write(read);
    },
    async end() {
      await begin();
      await pieces.add(writer.end());
      await pieces.flush();
      return null;
    },
  };
}

/** Joins texts to larger pieces; the first piece is sent immediately. */
function createPieces(send: SendPiece) {
  let pending: Uint8Array<ArrayBuffer>[] = [];
  let bytesMade = 0;
  let bytesMin = 1;

  async function flush(): Promise<void> {
    if (bytesMade === 0) return;
    const piece = pending.length === 1 ? pending[0]! : joinBytes(pending);
    pending = [];
    bytesMade = 0;
    bytesMin = PIECE_BYTES;
    await send(piece);
  }

  return {
    flush,
    async add(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
      if (bytes.length > 0) pending.push(bytes.slice()); // The writer reuses its bytes.
      bytesMade += bytes.length;
      if (bytesMade >= bytesMin) await flush();
    },
  };
}
