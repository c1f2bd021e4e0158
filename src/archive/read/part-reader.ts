import { assert } from "../../lib/assert.ts";
import type { Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { ResponseKind } from "../../model/location-fields.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Order, TimeRange } from "../../time/range.ts";
import type { Connection, Database } from "../database/duckdb.ts";
import type { Part } from "../files/manifest.ts";
import { createArchiveSession } from "./archive-session.ts";
import type { LateRows } from "./late-table.ts";
import { createPageDictionary } from "./page-dictionary.ts";
import { createQuerySlots } from "./query-slots.ts";
import type { SharedResources } from "./scan-runner.ts";
import { createChunkSizes } from "./scanned-bytes.ts";

/** Which records of the sealed days a question is about. */
export interface ArchiveScan {
  readonly appId: AppId;
  /** One device, or null for all of the app. */
  readonly deviceId: DeviceId | null;
  /** Only records of this user, or null for all. */
  readonly userId: UserId | null;
  readonly range: TimeRange;
  /** Leaves out records whose horizontal accuracy is greater; those without one stay. */
  readonly accuracyMetersMax: number | null;
  /** The files to read; each lies in the folder of its day. */
  readonly parts: readonly Part[];
  /**
   * Rows of memory that lie over the files' records, already those of the app, the device and the range. The user
   * and the accuracy are looked at after they are laid over.
   */
  readonly late: LateRows | null;
  /** The response that shows the records: a page may leave out what it does not show. Without it, all is read. */
  readonly shownIn?: ResponseKind;
}

/** What tells records of an app from each other. */
export interface RecordKeys {
  readonly count: number;
  readonly deviceIds: readonly DeviceId[];
  readonly timestampMs: Float64Array;
}

/** Positions, ordered by device, then time. */
export interface PathPoints {
  readonly count: number;
  readonly deviceIds: readonly DeviceId[];
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
}

/** Answers one question after another; rejects with DuckDB's error where a file can't be read. */
export interface ArchiveSession {
  /** Records ordered by time, then device id as UTF-8; newest first reverses both. */
  page(scan: ArchiveScan, order: Order, offset: number, limit: number): Promise<RecordPage>;
  count(scan: ArchiveScan): Promise<number>;
  /** Devices with a matching record, in order of UTF-8, some thousand at a time. */
  devices(scan: ArchiveScan): AsyncIterable<readonly DeviceId[]>;
  /** Devices and times of all matching records, in no order, some thousand at a time. */
  keys(scan: ArchiveScan): AsyncIterable<RecordKeys>;
  /** All matching positions, some thousand at a time. */
  path(scan: ArchiveScan): AsyncIterable<PathPoints>;
  /** Compressed bytes of the column chunks that the session had to read, each counted once. */
  readonly scannedBytes: number;
}

/** Reads parts for some questions at a time. */
export interface PartReader {
  /**
   * Answers a question of an app as soon as a slot is free; fails where too many wait already. Rejects with an
   * `AbortError` once the signal comes, whether the question waits or its statement runs. The session ends with the
   * promise.
   */
  withSession<Value>(
    appId: AppId,
    signal: AbortSignal,
    use: (session: ArchiveSession) => Promise<Value>,
  ): Promise<Result<Value, ServiceError>>;
  readonly running: number;
  readonly waiting: number;
  /** Forgets what it remembers of files; questions to come are asked of another database. */
  renew(): void;
  /** Closes the database once running questions have ended. */
  close(): void;
}

export interface PartReaderOptions {
  /** Called with the first question, and with the first after `renew`. */
  openDatabase(): Promise<Database>;
  /** Where DuckDB finds the file of a part. */
  pathOf(part: Part): string;
  /** Questions that run at once, each on a connection of its own. */
  readonly slots: number;
  /** Questions that wait for a slot. */
  readonly queueMax: number;
}

/** A database, and what is known of the files it reads. */
interface Reading {
  database: Promise<Database> | null;
  /** Connections that no question uses. */
  readonly idle: Connection[];
  readonly shared: SharedResources;
}

export function createPartReader({ openDatabase, pathOf, slots, queueMax }: PartReaderOptions): PartReader {
  const queue = createQuerySlots(slots, queueMax);
  let reading = createReading();
  let isClosed = false;

  function createReading(): Reading {
    const begun: Reading = {
      database: null,
      idle: [],
      shared: {
        sizes: createChunkSizes(() => connect(begun)),
        dictionary: createPageDictionary(),
        hasOldFiles: false,
        pathOf,
      },
    };
    return begun;
  }

  async function connect(of: Reading): Promise<Connection> {
    of.database ??= openDatabase();
    try {
      return await (await of.database).connect();
    } catch (error) {
      of.database = null; // The next question tries again.
      throw error;
    }
  }

  async function answer<Value>(
    signal: AbortSignal,
    use: (session: ArchiveSession) => Promise<Value>,
  ): Promise<Value> {
    assert(!isClosed, "a closed reader is asked nothing");
    const asked = reading;
    const connection = asked.idle.pop() ?? (await connect(asked));
    let isSound = false;
    try {
      const value = await use(createArchiveSession(connection, signal, asked.shared));
      isSound = true;
      return value;
    } finally {
      // After a failure nobody knows what state a connection is in, and a new one costs little.
      if (isSound && asked === reading && !isClosed) asked.idle.push(connection);
      else connection.close();
    }
  }

  function leave({ idle, shared }: Reading): void {
    for (const connection of idle.splice(0)) connection.close();
    shared.sizes.close();
  }

  function closeOnceUnused(): void {
    if (isClosed && queue.running === 0) void reading.database?.then((database) => database.close());
  }

  return {
    async withSession(appId, signal, use) {
      try {
        return await queue.run(appId, signal, () => answer(signal, use));
      } finally {
        closeOnceUnused();
      }
    },
    get running() {
      return queue.running;
    },
    get waiting() {
      return queue.waiting;
    },
    renew() {
      leave(reading); // Questions under way keep its database alive by their connections.
      reading = createReading();
    },
    close() {
      isClosed = true;
      leave(reading);
      closeOnceUnused();
    },
  };
}
