import type { Files } from "../../runtime/files.ts";
import { DamagedDatabaseError, type OpenSqlite, type SqliteDatabase } from "../../runtime/sqlite.ts";
import { expectEvents } from "../../service/watching/event-schema.ts";
import { eventPaths } from "../../service/watching/open-events.ts";

/** The database of events. */
export interface EventsReport {
  /** The last revision of each event counts. */
  readonly events: number;
  readonly withdrawn: number;
  /** What is wrong with the database, a line each. */
  readonly problems: readonly string[];
}

export interface VerifyEventsOptions {
  readonly files: Pick<Files, "exists">;
  readonly openSqlite: OpenSqlite;
  readonly directory: string;
  /** Whether to skip the comparison of tables and indexes. */
  readonly isQuick: boolean;
}

const LINES_MAX = 20;

/** Reads all pages of the database, which may be in use. Throws a `FormatVersionError` if it has another version. */
export async function verifyEvents(options: VerifyEventsOptions): Promise<EventsReport> {
  const { database: path, mark } = eventPaths(options.directory);
  if (!(await options.files.exists(path))) return { events: 0, withdrawn: 0, problems: [] };
  if (await options.files.exists(mark))
    return {
      events: 0,
      withdrawn: 0,
      problems: [`${path}: a process met damage in it; a start sets it aside`],
    };
  let database: SqliteDatabase | null = null;
  try {
    database = options.openSqlite(path, { isForReading: true });
    expectEvents(database, path);
    const problems = faultsOf(database, options.isQuick).map((fault) => `${path}: ${fault}`);
    if (problems.length > 0) return { events: 0, withdrawn: 0, problems };
    const sql = "SELECT count(*) AS events, total(is_withdrawn) AS withdrawn FROM events";
    const { events, withdrawn } = database.prepare(sql).find()!;
    return { events: Number(events), withdrawn: Number(withdrawn), problems: [] };
  } catch (error) {
    if (!(error instanceof DamagedDatabaseError)) throw error;
    return { events: 0, withdrawn: 0, problems: [`${path}: ${error.reason}`] };
  } finally {
    database?.close();
  }
}

function faultsOf(database: SqliteDatabase, isQuick: boolean): string[] {
  const check = isQuick ? "quick_check" : "integrity_check";
  const rows = database.prepare(`PRAGMA ${check}(${LINES_MAX})`).all();
  return rows.map((row) => String(row[check])).filter((line) => line !== "ok");
}
