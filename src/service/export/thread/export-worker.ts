import { parentPort, workerData } from "node:worker_threads";
import { type Connection, openDatabase } from "../../../duckdb/database.ts";
import { assert } from "../../../lib/assert.ts";
import { messageOf } from "../../../lib/message-of.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import { isOutOfDescriptors } from "../../../runtime/files.ts";
import { parseZone } from "../../../time/zone.ts";
import { findWriteFormat } from "../export-formats.ts";
import {
  type Close,
  type Closed,
  type Command,
  type CommandFault,
  type Outcome,
  PIECES_MAX,
  type Piece,
  type PieceTaken,
  type ThreadSettings,
} from "./messages.ts";
import { createParquetSink } from "./parquet-sink.ts";
import { RecordIntake, type RecordSink } from "./record-intake.ts";
import { createTextSink } from "./text-sink.ts";

/* The thread of an export: it reads the archive, and writes what it and memory have. */

/** DuckDB reads on two threads beside this one, which is busy with writing what they have read. */
const READ_THREADS = 2;
const MEMORY_BYTES = 256_000_000;
/** What is read ahead of writing; with less, both of DuckDB's threads are rarely busy. */
const READ_AHEAD_BYTES = 16_000_000;

assert(parentPort !== null, "an export's thread was started as one");
const port = parentPort;
const settings = workerData as ThreadSettings;
const stop = new AbortController();
/** Asked for with the first reading: memory alone needs no database. */
let opening: ReturnType<typeof open> | null = null;
const intake = new RecordIntake(createSink(), settings.order, connect);
let queue: Promise<void> = Promise.resolve();

/** Pieces that may leave before another is taken, and who waits for that. */
let room = PIECES_MAX;
let onRoom: (() => void) | null = null;

port.on("message", (message: Command | PieceTaken | Close) => {
  if (message.kind === "close") void close();
  else if (message.kind === "taken") {
    room++;
    onRoom?.();
  } else {
    queue = queue.then(() => answer(message));
  }
});

async function connect(): Promise<Connection> {
  opening ??= open();
  return (await opening).connection;
}

async function open() {
  const { archiveDirectory, scratchDirectory } = settings;
  const database = await openDatabase({
    threads: READ_THREADS,
    memoryBytes: MEMORY_BYTES,
    directories: [archiveDirectory, scratchDirectory],
    spillDirectory: scratchDirectory,
    cachesFiles: false,
    streamBytes: READ_AHEAD_BYTES,
  });
  return { database, connection: await database.connect() };
}

function createSink(): RecordSink {
  const { format, options, order, scratchDirectory } = settings;
  const writeFormat = findWriteFormat(format);
  if (writeFormat === null)
    return createParquetSink({ connect, scratchDirectory, redacts: options.redact, signal: stop.signal });
  const zone = options.zone === null ? null : parseZone(options.zone);
  return createTextSink(writeFormat.create({ ...options, zone }), order, sendPiece, stop.signal);
}

async function sendPiece(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  while (room === 0) {
    stop.signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      onRoom = resolve;
    });
  }
  stop.signal.throwIfAborted();
  room--;
  port.postMessage({ kind: "piece", bytes } satisfies Piece, [bytes.buffer]);
}

async function answer(command: Command): Promise<void> {
  let result: Result<null, CommandFault> = ok(null);
  let file: string | null = null;
  try {
    file = await intake.run(command);
  } catch (error) {
    result = fail({ message: messageOf(error), isOutOfDescriptors: isOutOfDescriptors(error) });
  }
  port.postMessage({ kind: "outcome", result, progress: intake.progress, file } satisfies Outcome);
}

/** Ended without this, a thread would leave what its database holds behind. */
async function close(): Promise<void> {
  stop.abort();
  onRoom?.();
  await queue;
  if (opening !== null) {
    const { database, connection } = await opening;
    connection.close();
    database.close();
  }
  port.postMessage({ kind: "closed" } satisfies Closed);
}
