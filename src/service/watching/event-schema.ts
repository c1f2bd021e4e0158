import { FormatVersionError } from "../../lib/text/versioned-json.ts";
import { DamagedDatabaseError, type SqliteDatabase } from "../../runtime/sqlite.ts";

/*
 * The database of events. It also holds what decides the next ones: the states of devices that are near something, with
 * earlier ones for late records; the devices that are still to be decided (`marks`); and the position, the sequence of
 * the log up to which all is decided or marked. One transaction writes these.
 *
 * An event has one row. A new revision of it replaces the row and gets a new `seq`, so `seq` is the order in which
 * events must be delivered. It is at least the time of storing, so that it also rises from a lost database, or one that
 * a backup replaced, to the next. Ids begin with the time (`geofences/event-id.ts`), so their order is that of times.
 */
const REVISION_COLUMNS = `\
  app_id TEXT NOT NULL,
  id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  kind TEXT NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  device_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  watch_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  visit_id TEXT NOT NULL,
  ending TEXT,
  due_ms INTEGER NOT NULL,
  decided_ms REAL NOT NULL,
  is_withdrawn INTEGER NOT NULL,
  is_late INTEGER NOT NULL,
  made_ms INTEGER NOT NULL`;

const SCHEMA = `
CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
${REVISION_COLUMNS}
) STRICT;
CREATE UNIQUE INDEX events_by_id ON events (app_id, id);
CREATE INDEX events_by_device ON events (app_id, device_id, id);
CREATE INDEX events_by_watch ON events (app_id, watch_id, id);
CREATE INDEX events_by_decision ON events (app_id, device_id, decided_ms) WHERE is_withdrawn = 0;
CREATE INDEX events_by_app ON events (app_id, seq);
CREATE TABLE watched (
  app_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  as_of_ms REAL NOT NULL,
  since_ms REAL NOT NULL,
  number INTEGER NOT NULL,
  record_count INTEGER NOT NULL,
  states TEXT NOT NULL,
  pending TEXT NOT NULL,
  due_ms REAL,
  PRIMARY KEY (app_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX watched_by_due ON watched (due_ms) WHERE due_ms IS NOT NULL;
CREATE TABLE snapshots (
  app_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  as_of_ms REAL NOT NULL,
  since_ms REAL NOT NULL,
  number INTEGER NOT NULL,
  states TEXT NOT NULL,
  PRIMARY KEY (app_id, device_id, as_of_ms)
) STRICT, WITHOUT ROWID;
CREATE TABLE near (
  app_id TEXT NOT NULL,
  watch_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  is_inside INTEGER NOT NULL,
  entered_ms REAL,
  PRIMARY KEY (app_id, watch_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX near_by_device ON near (app_id, device_id);
CREATE TABLE marks (
  app_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  from_ms REAL NOT NULL,
  PRIMARY KEY (app_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE progress (id INTEGER PRIMARY KEY CHECK (id = 1), position INTEGER NOT NULL) STRICT;
INSERT INTO progress VALUES (1, ${Number.MAX_SAFE_INTEGER});
`;

/**
 * Nodes of a cluster need more: what a node has decided otherwise than it is published (`decided-events.ts`), and how
 * far it has stored what nodes share (`shared-entries.ts`).
 */
const NODE_SCHEMA = `
CREATE TABLE IF NOT EXISTS unpublished (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
${REVISION_COLUMNS}
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS unpublished_by_id ON unpublished (app_id, id);
CREATE INDEX IF NOT EXISTS unpublished_by_decision ON unpublished (app_id, device_id, decided_ms)
  WHERE is_withdrawn = 0;
CREATE TABLE IF NOT EXISTS shared_log (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  position INTEGER NOT NULL,
  term INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO shared_log VALUES (1, ${Number.MAX_SAFE_INTEGER}, 0);
`;

/** Marks a database as one of ours, so that the version can be believed: "WHev". */
const APPLICATION_ID = 0x57486576;
const FORMAT_VERSION = 2;

/**
 * Commits are not synced one by one: after a power failure the database is as it was after one of its last
 * transactions. What is deleted is overwritten. Commands may read the file at the same time; nothing waits for them.
 */
const SETTINGS = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
PRAGMA busy_timeout = 0;
`;

/**
 * Prepares an opened database. Throws a `FormatVersionError` or a `DamagedDatabaseError`, and then has changed nothing.
 */
export function prepareEvents(database: SqliteDatabase, path: string): void {
  if (isNew(database)) {
    database.run(SETTINGS);
    database.transact(() => {
      database.run(SCHEMA);
      database.run(NODE_SCHEMA);
      database.run(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT_VERSION}`);
    });
    return;
  }
  expectEvents(database, path);
  database.run(SETTINGS);
  if (!hasTable(database, "shared_log")) database.transact(() => database.run(NODE_SCHEMA));
}

/** Throws a `FormatVersionError` or a `DamagedDatabaseError` if this is no database of events that can be read. */
export function expectEvents(database: SqliteDatabase, path: string): void {
  if (pragma(database, "application_id") !== APPLICATION_ID)
    throw new DamagedDatabaseError(path, "it is not a database of events");
  const version = pragma(database, "user_version");
  if (version !== FORMAT_VERSION) throw FormatVersionError.of("events", path, FORMAT_VERSION, version);
}

/** The first start may have ended before it wrote anything into the file. */
function isNew(database: SqliteDatabase): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").find() === null;
}

/** A database of an earlier program may not have it. */
function hasTable(database: SqliteDatabase, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").find(name) !== null;
}

function pragma(database: SqliteDatabase, name: "application_id" | "user_version"): number {
  return Number(database.prepare(`PRAGMA ${name}`).find()?.[name]);
}
