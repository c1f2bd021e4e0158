import { type Connection, type Database, openDatabase } from "../../../archive/duckdb/database.ts";
import { STAGED_FORMAT } from "../../../archive/write/staged-rows.ts";
import { assert } from "../../../lib/assert.ts";
import { messageOf } from "../../../lib/message-of.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import { systemTimers } from "../../../lib/schedule/timers.ts";
import { parseZone } from "../../../model/time/zone.ts";
import { isOutOfDescriptors } from "../../../runtime/files.ts";
import type { HelperPort } from "../../../runtime/helper/helper.ts";
import { Pulse } from "../../../runtime/helper/pulse.ts";
import { findWriteFormat } from "../export-formats.ts";
import {
  type Command,
  type CommandFault,
  type ExportSettings,
  type FromMaker,
  PIECES_MAX,
  type ToMaker,
} from "./messages.ts";
import { createParquetSink } from "./parquet-sink.ts";
import { RecordIntake, type RecordSink } from "./record-intake.ts";
import { createTextSink } from "./text-sink.ts";

/* The maker of exports: it reads the archive, and writes what it and memory have. */

/** DuckDB reads on two threads, while this thread writes. */
const READ_THREADS = 2;
const MEMORY_BYTES = 256_000_000;
/** How far reading may be ahead of writing; with less, both of DuckDB's threads are rarely busy. */
const READ_AHEAD_BYTES = 16_000_000;

type Send = (message: FromMaker) => void;

/** The connection of a maker to the process that started it. */
export interface MakerPort extends Pick<HelperPort, "send" | "onMessage"> {
  /** Called at a request to end, which a thread must follow by itself. */
  onEnd(finish: () => Promise<void>): void;
  /** Absent in a thread, whose work can't be told from that of others. */
  readonly work?: HelperPort["work"];
}

/** Makes one export after the other for the owner at the other end of the port. */
export function serveExports(port: MakerPort): void {
  const send: Send = (message) => port.send(message);
  let current: OpenExport | null = null;
  const { work } = port;
  const pulse = work === undefined ? null : new Pulse(work, systemTimers, () => send({ kind: "working" }));
  port.onMessage((message) => {
    const request = message as ToMaker;
    pulse?.beginAnew();
    if (request.kind === "open") {
      assert(current === null, "the export before is closed");
      current = new OpenExport(request.settings, send);
      return;
    }
    const open = current;
    assert(open !== null, "an export is open");
    if (request.kind === "taken") open.noteTaken();
    else if (request.kind !== "close") open.perform(request);
    else
      void open.close().then(() => {
        current = null;
        send({ kind: "closed" });
      });
  });
  port.onEnd(async () => current?.close());
  send({ kind: "ready", format: STAGED_FORMAT });
}

interface OpenDatabase {
  readonly database: Database;
  readonly connection: Connection;
}

class OpenExport {
  readonly #settings: ExportSettings;
  readonly #send: Send;
  readonly #stop = new AbortController();
  /** Opened with the first read, because memory needs no database. */
  #opening: Promise<OpenDatabase> | null = null;
  readonly #intake: RecordIntake;
  /** By device. An app's profiles are limited to 64 MiB, so these are, too. */
  readonly #names = new Map<string, string>();
  #commands: Promise<void> = Promise.resolve();
  /** Pieces that may be sent before another is taken, and the resolver of the sink's wait. */
  #room = PIECES_MAX;
  #onRoom: (() => void) | null = null;

  constructor(settings: ExportSettings, send: Send) {
    this.#settings = settings;
    this.#send = send;
    const connect = () => this.#connect();
    this.#intake = new RecordIntake(this.#createSink(connect), settings.order, connect, this.#stop.signal);
  }

  perform(command: Command): void {
    this.#commands = this.#commands.then(() => this.#answer(command));
  }

  noteTaken(): void {
    this.#room++;
    this.#onRoom?.();
  }

  /** Aborts all work. Resolves when no call of DuckDB runs, and its memory is free. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#onRoom?.();
    await this.#commands;
    const reading = await this.#opening?.catch(() => null); // The command that opened it has reported the failure.
    reading?.connection.close();
    reading?.database.close();
  }

  async #connect(): Promise<Connection> {
    this.#opening ??= open(this.#settings);
    return (await this.#opening).connection;
  }

  #createSink(connect: () => Promise<Connection>): RecordSink {
    const { format, options, order, scratchDirectory } = this.#settings;
    const { signal } = this.#stop;
    const writeFormat = findWriteFormat(format);
    if (writeFormat === null)
      return createParquetSink({ connect, scratchDirectory, redacts: options.redact, signal });
    const zone = options.zone === null ? null : parseZone(options.zone);
    const sendPiece = (bytes: Uint8Array<ArrayBuffer>) => this.#sendPiece(bytes);
    const writer = writeFormat.create({ ...options, zone }, (deviceId) => this.#names.get(deviceId) ?? null);
    return createTextSink(writer, order, sendPiece, signal);
  }

  async #sendPiece(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const { signal } = this.#stop;
    while (this.#room === 0) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
    signal.throwIfAborted();
    this.#room--;
    this.#send({ kind: "piece", bytes });
  }

  async #answer(command: Command): Promise<void> {
    let result: Result<null, CommandFault> = ok(null);
    let file: string | null = null;
    try {
      this.#stop.signal.throwIfAborted();
      if (command.kind === "names")
        for (const [deviceId, name] of command.names) this.#names.set(deviceId, name);
      else file = await this.#intake.run(command);
    } catch (error) {
      result = fail({ message: messageOf(error), isOutOfDescriptors: isOutOfDescriptors(error) });
    }
    this.#send({ kind: "outcome", result, records: this.#intake.records, file });
  }
}

async function open({ archiveDirectory, scratchDirectory }: ExportSettings): Promise<OpenDatabase> {
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
