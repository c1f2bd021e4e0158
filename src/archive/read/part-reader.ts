import { assert } from "../../lib/assert.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { Connection, Database } from "../duckdb/database.ts";
import type { Part } from "../manifest.ts";
import { type ArchiveSession, createArchiveSession } from "./archive-session.ts";
import { createLateTables } from "./late-tables.ts";
import { createChunkIndex, type ReadRange } from "./part-chunks.ts";
import { createPageDictionary } from "./record-rows.ts";
import type { SharedResources } from "./scan-runner.ts";

/** Reads parts for some queries at a time. */
export interface PartReader {
  /**
   * Answers a query of an app as soon as a slot is free; fails if too many wait already. Rejects with an
   * `AbortError` once the signal comes, whether the query waits or its statement runs. The session ends with the
   * promise.
   */
  withSession<Value>(
    appId: AppId,
    signal: AbortSignal,
    use: (session: ArchiveSession) => Promise<Value>,
  ): Promise<Result<Value, ServiceError>>;
  readonly running: number;
  readonly waiting: number;
  /** Forgets what it remembers of files; queries to come are asked of another database. */
  renew(): void;
  /** Breaks off running queries, and closes the database once they have ended. */
  close(): void;
}

export interface PartReaderOptions {
  /** Called with the first query, and with the first after `renew`. */
  openDatabase(): Promise<Database>;
  /** Called when the reader is closed: closes a database that no query has made the reader open. */
  closeUnused?(): void;
  /** Where DuckDB finds the file of a part. */
  pathOf(part: Part): string;
  readonly readRange: ReadRange;
  /** Queries that run at once, each on a connection of its own. */
  readonly slots: number;
  /** Queries that wait for a slot. */
  readonly queueMax: number;
  /** How many files are remembered at a time. Defaults to `REMEMBERED_FILES_MAX`. */
  readonly rememberedFilesMax?: number;
}

/** A database, and what is known of the files it reads. */
interface Reading {
  database: Promise<Database> | null;
  /** Connections that no query uses. */
  readonly idle: Connection[];
  readonly shared: SharedResources;
  /** Queries under way. */
  running: number;
  /** Whether no query will come any more. */
  isLeft: boolean;
}

/**
 * DuckDB remembers some 30 to 60 KB of each file it read. A year's files stay; of ten years, which one export may read,
 * it starts over.
 */
const REMEMBERED_FILES_MAX = 1024;

export function createPartReader(options: PartReaderOptions): PartReader {
  const { openDatabase, slots, queueMax, rememberedFilesMax = REMEMBERED_FILES_MAX } = options;
  const queue = createQuerySlots(slots, queueMax);
  let reading = createReading(options);
  /** Connections of queries under way. */
  const busy = new Set<Connection>();
  let isClosed = false;

  async function connect(of: Reading): Promise<Connection> {
    of.database ??= openDatabase();
    try {
      return await (await of.database).connect();
    } catch (error) {
      of.database = null; // The next query tries again.
      throw error;
    }
  }

  async function answer<Value>(
    signal: AbortSignal,
    use: (session: ArchiveSession) => Promise<Value>,
  ): Promise<Value> {
    assert(!isClosed, "a closed reader is asked nothing");
    const asked = reading;
    asked.running++;
    let connection: Connection | null = null;
    let isSound = false;
    try {
      connection = asked.idle.pop() ?? (await connect(asked));
      busy.add(connection);
      if (isClosed) connection.close(); // It was closed while the connection was made.
      const value = await use(createArchiveSession(connection, signal, asked.shared));
      isSound = true;
      return value;
    } finally {
      if (!asked.isLeft && asked.shared.chunks.count > rememberedFilesMax) renew();
      // After a failure the state of a connection is unknown, and a new one costs little.
      if (connection !== null) busy.delete(connection);
      if (connection !== null && isSound && !asked.isLeft) asked.idle.push(connection);
      else connection?.close();
      asked.running--;
      closeOnceUnused(asked);
    }
  }

  function leave(left: Reading): void {
    left.isLeft = true;
    for (const connection of left.idle.splice(0)) connection.close();
    closeOnceUnused(left);
  }

  function renew(): void {
    leave(reading);
    reading = createReading(options);
  }

  /** Frees what the database remembers, which would stay until a garbage collection. */
  function closeOnceUnused({ isLeft, running, database }: Reading): void {
    if (isLeft && running === 0) database?.then((opened) => opened.close()).catch(() => undefined);
  }

  return {
    withSession: (appId, signal, use) => queue.run(appId, signal, () => answer(signal, use)),
    get running() {
      return queue.running;
    },
    get waiting() {
      return queue.waiting;
    },
    renew,
    close() {
      isClosed = true;
      for (const connection of busy) connection.close();
      leave(reading);
      options.closeUnused?.();
    },
  };
}

function createReading({ readRange, pathOf }: PartReaderOptions): Reading {
  return {
    database: null,
    idle: [],
    shared: {
      chunks: createChunkIndex(readRange),
      lateTables: createLateTables(),
      dictionary: createPageDictionary(),
      pathOf,
    },
    running: 0,
    isLeft: false,
  };
}

const QUEUE_FULL: ServiceError = {
  kind: "unavailable",
  message: "too many questions are waiting for the archive; ask again shortly",
  retryAfterSeconds: 1, // A slot is mostly free again after some milliseconds; a long query takes seconds.
};

/**
 * Lets a number of queries run at once and a number wait. Apps take turns, and no app has all of several slots. If no
 * more can wait, the app with the most waiting queries gives way to one with fewer.
 */
export function createQuerySlots(runningMax: number, waitingMax: number) {
  const slots = new Semaphore<AppId>(runningMax, {
    runningOfOwnerMax: Math.max(1, runningMax - 1),
    waitingMax,
  });
  return {
    /** Runs the work once a slot is free; fails if too many wait. An abort while it waits rejects. */
    async run<Value>(
      appId: AppId,
      signal: AbortSignal,
      work: () => Promise<Value>,
    ): Promise<Result<Value, ServiceError>> {
      signal.throwIfAborted();
      if ((await slots.enter(appId, { signal })) === "refused") return fail(QUEUE_FULL);
      try {
        return ok(await work());
      } finally {
        slots.leave(appId);
      }
    },
    get running() {
      return slots.running;
    },
    get waiting() {
      return slots.waiting;
    },
  };
}
