import { assert } from "../../lib/assert.ts";
import type { Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { Connection, Database } from "../database/duckdb.ts";
import type { Part } from "../files/manifest.ts";
import { type ArchiveSession, createArchiveSession } from "./archive-session.ts";
import { createPageDictionary } from "./page-dictionary.ts";
import { createQuerySlots } from "./query-slots.ts";
import type { SharedResources } from "./scan-runner.ts";
import { createChunkSizes } from "./scanned-bytes.ts";

/** Reads parts for some queries at a time. */
export interface PartReader {
  /**
   * Answers a query of an app as soon as a slot is free; fails where too many wait already. Rejects with an
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
  /** Closes the database once running queries have ended. */
  close(): void;
}

export interface PartReaderOptions {
  /** Called with the first query, and with the first after `renew`. */
  openDatabase(): Promise<Database>;
  /** Where DuckDB finds the file of a part. */
  pathOf(part: Part): string;
  /** Queries that run at once, each on a connection of its own. */
  readonly slots: number;
  /** Queries that wait for a slot. */
  readonly queueMax: number;
}

/** A database, and what is known of the files it reads. */
interface Reading {
  database: Promise<Database> | null;
  /** Connections that no query uses. */
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
      leave(reading); // Queries under way keep its database alive by their connections.
      reading = createReading();
    },
    close() {
      isClosed = true;
      leave(reading);
      closeOnceUnused();
    },
  };
}
