import { readAllRecords } from "../../../archive/read/all-records.ts";
import type { RecordWriter } from "../../../formats/write/record-writer.ts";
import { joinBytes } from "../../../lib/bytes/growing-bytes.ts";
import { type RecordColumns, recordColumns, sliceRecords } from "../../../model/record-columns.ts";
import { type Cursor, cursorAt, isBehind } from "../cursor.ts";
import type { RecordSink } from "./record-intake.ts";

/** Hands a piece on; resolves once there may be another. */
export type SendPiece = (bytes: Uint8Array<ArrayBuffer>) => Promise<void>;

/** What is sent at once: each piece costs some microseconds. */
const PIECE_BYTES = 256 * 1024;
/** Records that are written at once: half a megabyte to two. */
const ROWS_A_WRITE = 2048;

/** Text, sent on as it is written. Each record is written once, however often it is read. */
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

  /** What is read anew begins with what was written: it is in order, so the rest comes behind it. */
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
    get progress() {
      return { records, last };
    },
    add: (batch) => write(recordColumns(batch)),
    settle: async () => undefined,
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

/** Joins what is written to pieces worth sending; the first leaves at once. */
function createPieces(send: SendPiece) {
  let made: Uint8Array<ArrayBuffer>[] = [];
  let bytesMade = 0;
  let bytesMin = 1;

  async function flush(): Promise<void> {
    if (bytesMade === 0) return;
    const piece = made.length === 1 ? made[0]! : joinBytes(made);
    made = [];
    bytesMade = 0;
    bytesMin = PIECE_BYTES;
    await send(piece);
  }

  return {
    flush,
    async add(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
      if (bytes.length > 0) made.push(bytes.slice()); // The writer uses its bytes again.
      bytesMade += bytes.length;
      if (bytesMade >= bytesMin) await flush();
    },
  };
}
