import type { OpenSqlite, SqliteDatabase, SqliteRow } from "../../runtime/sqlite.ts";
import { DamagedDatabaseError } from "../../runtime/sqlite.ts";
import type { FileTraces, Looking } from "./trace-readers.ts";

/* Searches the database of events: the rows of all tables, and the bytes that belong to none. */

const LATER = "-wal";

/** Whether a file is the database, or has its last transactions. SQLite's index of those has no rows. */
export function isEventsFile(name: string): boolean {
  return name.endsWith(".sqlite") || name.endsWith(LATER);
}

/**
 * Searches the database, or the file beside it that has its last transactions. `hasBytes` tells whether the file has
 * the bytes of the id.
 */
export function searchEvents(
  { subject, search }: Looking,
  openSqlite: OpenSqlite,
  path: string,
  hasBytes: boolean,
): FileTraces {
  const isLater = path.endsWith(LATER);
  let database: SqliteDatabase | null = null;
  try {
    database = openSqlite(isLater ? path.slice(0, -LATER.length) : path, { isForReading: true });
    const traces: string[] = [];
    let hasLike = false;
    for (const { name } of database.prepare(TABLES).all()) {
      const like = rowsLike(database, String(name), subject.id);
      hasLike ||= like.length > 0;
      const ofOther = subject.kind === "device" ? "user_id" : "device_id";
      const count = like.filter(({ app_id, [ofOther]: _, ...rest }) => {
        return (subject.appId === null || app_id === subject.appId) && search.isWithin(rest);
      }).length;
      if (count > 0) traces.push(`${count} row${count === 1 ? "" : "s"} of ${name}`);
    }
    if (isLater) traces.length = 0; // They are those of the database.
    if (hasBytes && !hasLike) traces.push("its id is in what was deleted");
    const isUnclear = isLater && hasBytes && hasLike;
    return { traces, unsearched: isUnclear ? "what was deleted is not told from what is stored" : null };
  } catch (error) {
    if (!(error instanceof DamagedDatabaseError)) throw error;
    return { traces: hasBytes ? ["its id is in the bytes"] : [], unsearched: error.reason };
  } finally {
    database?.close();
  }
}

const TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'";

/** The rows in which any text has the id, as it is or as JSON has it. */
function rowsLike(database: SqliteDatabase, table: string, id: string): readonly SqliteRow[] {
  const columns = database.prepare(`PRAGMA table_info(${table})`).all();
  const texts = columns.filter(({ type }) => type === "TEXT").map(({ name }) => String(name));
  if (texts.length === 0) return [];
  const escaped = JSON.stringify(id).slice(1, -1);
  const condition = texts.map((column) => `instr(${column}, ?1) OR instr(${column}, ?2)`).join(" OR ");
  return database.prepare(`SELECT ${texts.join()} FROM ${table} WHERE ${condition}`).all(id, escaped);
}
