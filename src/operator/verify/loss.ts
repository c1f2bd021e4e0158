import { join } from "node:path";
import type { Database } from "../../archive/duckdb/database.ts";
import { findManifest } from "../../archive/manifest.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import { utcDayName, utcDayOf } from "../../model/time/utc-day.ts";
import type { Files } from "../../runtime/files.ts";
import { applyAsReported } from "../../service/ingest/apply-entry.ts";
import { inspectLog } from "../../wal/read-log.ts";
import { createMemory } from "./records.ts";

/** What a shorter retention would remove from answers. */
export interface Loss {
  /** UTC days with any record, and the first of them; null if there are none. */
  readonly days: number;
  readonly oldestDay: string | null;
  /** A late report counts as a record even if it replaces an archived one. */
  readonly records: number;
  /** Devices without a newer record. */
  readonly devices: number;
}

export interface LossOptions {
  readonly files: Files;
  readonly paths: { readonly log: string; readonly archive: string };
  /** Opens a database through which DuckDB reads the archive's files. */
  openDatabase(): Promise<Database>;
  /** The present edge and the proposed one. */
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** A seal by a running server swaps the manifest during a read; then both are read again, at most this often. */
const ATTEMPTS_MAX = 5;

/** Reads the directory as a start would, also beside a running server, and changes nothing. */
export async function findLoss(options: LossOptions): Promise<Loss> {
  const { files, paths } = options;
  let database: Promise<Database> | null = null;
  const openDatabase = () => {
    database ??= options.openDatabase();
    return database;
  };
  try {
    for (let attempt = 1; ; attempt++) {
      const { loss, seal } = await readOnce(options, openDatabase);
      if (attempt === ATTEMPTS_MAX || (await findManifest(files, paths.archive)).manifest.seal === seal)
        return loss;
    }
  } finally {
    await (database as Promise<Database> | null)?.then((opened) => opened.close());
  }
}

async function readOnce(
  { files, paths, beforeMs, afterMs }: LossOptions,
  openDatabase: () => Promise<Database>,
): Promise<{ readonly loss: Loss; readonly seal: number }> {
  const { manifest } = await findManifest(files, paths.archive);
  const pathOf = (file: string) => join(paths.archive, file);
  const { hot } = await createMemory(manifest, files, { openDatabase, pathOf });
  await inspectLog(files, paths.log, (entry) => applyAsReported({ hot, messages: null }, entry));

  const [first, firstAfter] = [utcDayOf(beforeMs), utcDayOf(afterMs)];
  const going = new Map<UtcDay, number>();
  const add = (day: UtcDay, records: number) => {
    if (day >= first && day < firstAfter && records > 0) going.set(day, (going.get(day) ?? 0) + records);
  };
  for (const [day, { parts }] of [...manifest.days, ...manifest.expired])
    add(
      day,
      parts.reduce((sum, { rows }) => sum + rows, 0),
    );
  for (const { day, records } of hot.daysInMemory()) add(day, records);
  let devices = 0;
  for (const { newestTimes } of hot.apps())
    devices += newestTimes.countFrom(first) - newestTimes.countFrom(firstAfter);
  const days = [...going.keys()];
  return {
    loss: {
      days: days.length,
      oldestDay: days.length === 0 ? null : utcDayName(Math.min(...days) as UtcDay),
      records: [...going.values()].reduce((sum, records) => sum + records, 0),
      devices,
    },
    seal: manifest.seal,
  };
}
