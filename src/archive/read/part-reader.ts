import { assert } from "../../lib/assert.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { Connection, Database } from "../duckdb/database.ts";
import type { Part } from "../manifest.ts";
import { type Masks, NO_MASKS } from "../masks.ts";
import { type ArchiveSession, createArchiveSession } from "./archive-session.ts";
import { createLateTables } from "./late-tables.ts";
import { createChunkIndex, type ReadRange } from "./part-chunks.ts";
import { createPageDictionary } from "./record-rows.ts";
import type { SharedResources } from "./scan-runner.ts";

/** Answers queries from parts, a limited number at a time. */
export interface PartReader {
  /**
   * Runs a query of an app as soon as a slot is free; fails if too many wait already. Rejects with an `AbortError` when
   * the signal aborts, whether the query waits or its statement runs. The session is valid until the promise of `use`
   * settles.
   */
  withSession<Value>(
    appId: AppId,
    signal: AbortSignal,
    use: (session: ArchiveSession) => Promise<Value>,
  ): Promise<Result<Value, ServiceError>>;
  readonly running: number;
  readonly waiting: number;
  /** Drops all caches of files; later queries use a new database. */
  renew(): void;
  /** Interrupts running queries, and closes the database once they have ended. */
  close(): void;
}

export interface PartReaderOptions {
  /** Called for the first query, and for the first one after `renew()`. */
  openDatabase(): Promise<Database>;
  /** Called by `close()`, to close a database that was opened early and never used. */
  closeUnused?(): void;
  /** The path by which DuckDB finds a part. */
  pathOf(part: Part): string;
  readonly readRange: ReadRange;
  /** What is masked now. Defaults to nothing. */
  masks?(): Masks;
  /** Queries that run at the same time, each on a connection of its own. */
  readonly slots: number;
  /** Queries that may wait for a slot. */
  readonly queueMax: number;
  /** How many files may be cached. Defaults to `REMEMBERED_FILES_MAX`. */
  readonly rememberedFilesMax?: number;
}

/** A database, and what is cached of the files that it reads. */
interface DatabaseState {
  database: Promise<Database> | null;
  /** Connections that no query uses. */
  readonly idle: Connection[];
  readonly shared: SharedResources;
  /** Number of running queries. */
  running: number;
  /** Whether it gets no more queries. */
  isLeft: boolean;
}

/**
 * DuckDB caches some 30 to 60 KB of each file that it read. The files of a year fit; ten years, which one export may
 * read, make the reader start over.
 */
const REMEMBERED_FILES_MAX = 1024;

export function createPartReader(options: PartReaderOptions): PartReader {
  const { openDatabase, slots, queueMax, rememberedFilesMax = REMEMBERED_FILES_MAX } = options;
  const queue = createQuerySlots(slots, queueMax);
  let current = createDatabaseState(options);
  /** Connections of running queries. */
  const busy = new Set<Connection>();
  let isClosed = false;

  async function connect(of: DatabaseState): Promise<Connection> {
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
    assert(!isClosed, "a closed reader gets no queries");
    const state = current;
    state.running++;
    let connection: Connection | null = null;
    let isSound = false;
    try {
      connection = state.idle.pop() ?? (await connect(state));
      busy.add(connection);
      if (isClosed) connection.close(); // The reader was closed meanwhile.
      const value = await use(createArchiveSession(connection, signal, state.shared));
      isSound = true;
      return value;
    } finally {
      if (!state.isLeft && state.shared.chunks.count > rememberedFilesMax) renew();
      // After a failure the state of a connection is unknown, and a new one costs little.
      if (connection !== null) busy.delete(connection);
      if (connection !== null && isSound && !state.isLeft) state.idle.push(connection);
      else connection?.close();
      state.running--;
      closeOnceUnused(state);
    }
  }

  function leave(state: DatabaseState): void {
    state.isLeft = true;
    for (const connection of state.idle.splice(0)) connection.close();
    closeOnceUnused(state);
  }

  function renew(): void {
    leave(current);
    current = createDatabaseState(options);
  }

  /** Frees the caches of the database, which would stay until a garbage collection. */
  function closeOnceUnused({ isLeft, running, database }: DatabaseState): void {
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
      leave(current);
      options.closeUnused?.();
    },
  };
}

function createDatabaseState({
  readRange,
  pathOf,
  masks = () => NO_MASKS,
}: PartReaderOptions): DatabaseState {
  return {
    database: null,
    idle: [],
    shared: {
      chunks: createChunkIndex(readRange),
      lateTables: createLateTables(),
      dictionary: createPageDictionary(),
      pathOf,
      masks,
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
 * Lets some queries run and some wait. Apps take turns, and no app gets all slots if there are several. If the queue is
 * full, the app with the most waiting queries gives way to one with fewer.
 */
export function createQuerySlots(runningMax: number, waitingMax: number) {
  const slots = new Semaphore<AppId>(runningMax, {
    runningOfOwnerMax: Math.max(1, runningMax - 1),
    waitingMax,
  });
  return {
    /** Runs `work` once a slot is free; fails if too many wait. Rejects if the signal aborts while it waits. */
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
