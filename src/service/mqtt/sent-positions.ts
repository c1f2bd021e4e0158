import { type Bucket, StreamError } from "../../cluster/stream/stream.ts";
import { isObject } from "../../lib/is-object.ts";
import { parseVersionedJson } from "../../lib/text/versioned-json.ts";
import type { AppId } from "../../model/ids.ts";
import type { SqliteDatabase } from "../../runtime/sqlite.ts";

/** Positions among the events of apps up to which the broker has them all. */
export type Positions = ReadonlyMap<AppId, number>;

/** Where positions are kept, so that a start continues there. Rejects if they can't be read or written now. */
export interface SentPositions {
  read(): Promise<Positions>;
  write(positions: Positions): Promise<void>;
}

const TABLE =
  "CREATE TABLE IF NOT EXISTS mqtt_positions (app_id TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID";

/** Positions of a single process, in the database of events. They are read before they are written. */
export function createOwnPositions(database: SqliteDatabase): SentPositions {
  return {
    async read() {
      database.run(TABLE);
      const rows = database.prepare("SELECT * FROM mqtt_positions").all();
      return new Map(rows.map(({ app_id, seq }) => [app_id as AppId, seq as number]));
    },
    async write(positions) {
      database.transact(() => {
        for (const [appId, seq] of positions)
          database.prepare("INSERT OR REPLACE INTO mqtt_positions VALUES (?, ?)").run(appId, seq);
      });
    },
  };
}

const NAME = "mqtt-events.json";
const FORMAT_VERSION = 1;

/**
 * Positions of a cluster, whose nodes have the same events in the same order. Whatever a node that has lost its lease
 * writes, the broker had: at worst something is sent again. `own` has those from before there was a cluster.
 */
export function createSharedPositions(
  bucket: Pick<Bucket, "get" | "put">,
  own: SentPositions,
): SentPositions {
  return {
    async read() {
      const entry = await bucket.get(NAME);
      return entry === null ? own.read() : parsePositions(entry.value);
    },
    async write(positions) {
      const value = { version: FORMAT_VERSION, positions: Object.fromEntries(positions) };
      await bucket.put(NAME, new TextEncoder().encode(JSON.stringify(value)));
    },
  };
}

function parsePositions(bytes: Uint8Array): Positions {
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  if (!content.ok)
    throw new StreamError("refused", `"${NAME}" of the cluster can't be used: ${content.error}`);
  const { positions } = content.value;
  const entries = isObject(positions) ? Object.entries(positions) : [];
  return new Map(
    entries.flatMap(([appId, seq]) => (Number.isSafeInteger(seq) ? [[appId as AppId, seq as number]] : [])),
  );
}
