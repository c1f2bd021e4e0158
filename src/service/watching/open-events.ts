import { join } from "node:path";
import { DAMAGED_SUFFIX, type Damage } from "../../directory/damaged-files.ts";
import { type Files, ignoreFileError, moveDurably } from "../../runtime/files.ts";
import { DamagedDatabaseError, type OpenSqlite } from "../../runtime/sqlite.ts";
import { type ErasuresOf, EventStore } from "./event-store.ts";

/*
 * Opens the database of events. A damaged one is moved to the damaged files, also if only the last process saw the
 * damage: SQLite reads the pages that it needs and checks no others.
 */

export interface OpenEventsOptions {
  readonly files: Files;
  readonly openSqlite: OpenSqlite;
  readonly directory: string;
  readonly damagedDirectory: string;
  readonly nowMs: number;
  readonly erasuresOf: ErasuresOf;
}

export interface OpenedEvents {
  readonly events: EventStore;
  /** The files of a damaged database, which were moved. */
  readonly damage: readonly Damage[];
  /** A sentence about them. */
  readonly notes: readonly string[];
}

export function eventPaths(directory: string) {
  const database = join(directory, "events.sqlite");
  return {
    database,
    /** SQLite adds it: transactions that are not in the database yet. */
    log: `${database}-wal`,
    /** SQLite's index of the log; without a server it only keeps room for one. */
    index: `${database}-shm`,
    /** Has copies for other nodes, while they are sent. */
    copies: join(directory, "copies"),
    /** Exists once a process has met damage in the database. */
    mark: join(directory, "damaged"),
  };
}

export async function openEvents(options: OpenEventsOptions): Promise<OpenedEvents> {
  const { files, openSqlite, directory } = options;
  const { database: path, mark, copies } = eventPaths(directory);
  await files.makeDirectory(directory);
  if (await files.exists(copies)) await files.removeAll(copies);
  const open = () => {
    const database = openSqlite(path, {
      onDamaged: () => void files.replace(mark, new Uint8Array()).catch(ignoreFileError),
    });
    try {
      return EventStore.open(database, path, options.erasuresOf);
    } catch (error) {
      database.close();
      throw error;
    }
  };
  let reason = "an earlier process met damage in it";
  if (!(await files.exists(mark))) {
    try {
      return { events: open(), damage: [], notes: [] };
    } catch (error) {
      if (!(error instanceof DamagedDatabaseError)) throw error;
      reason = error.reason;
    }
  }
  const damage = await moveDamaged(options);
  const note =
    `The database of events is damaged (${reason}) and was moved to the damaged files. Earlier events are lost; ` +
    "from here on events are made as before.";
  return { events: open(), damage, notes: [note] };
}

async function moveDamaged({
  files,
  directory,
  damagedDirectory,
  nowMs,
}: OpenEventsOptions): Promise<Damage[]> {
  const { database, log, index, mark } = eventPaths(directory);
  const damage: Damage[] = [];
  for (const file of [database, log]) {
    if (!(await files.exists(file))) continue;
    const savedAs = join(damagedDirectory, `${file.slice(directory.length + 1)}.${nowMs}${DAMAGED_SUFFIX}`);
    const bytes = await files.size(file);
    await moveDurably(files, file, savedAs);
    damage.push({ file, offset: 0, bytes, savedAs });
  }
  await files.removeAll(index);
  await files.removeAll(mark);
  await files.syncDirectory(directory);
  return damage;
}
