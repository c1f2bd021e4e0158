import type { Archive } from "../../archive/archive.ts";
import { isObject } from "../../lib/is-object.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Clock } from "../../model/time/clock.ts";
import { type Retention, startOfUtcDayMs } from "../../model/time/retention.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import { type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { ignoreFileError } from "../../runtime/files.ts";
import { EXPIRY_FILE } from "../quarantine/message-file.ts";
import type { MessageFiles } from "../quarantine/message-files.ts";
import type { Quarantine } from "../quarantine/quarantine.ts";
import type { EventStore } from "../watching/event-store.ts";
import { forgetEvents } from "../watching/remove-events.ts";

/**
 * Every hour the quarantine deletes expired entries, and expired events go. A clock that is temporarily ahead must
 * delete nothing. So a sweep first notes which time has expired for entries, and deletes earlier ones a day later;
 * events stay as long as the archive has their day, which it deletes a day late, too.
 */
export interface Sweeps {
  start(): void;
  /** Waits for the running sweep. */
  stop(): Promise<void>;
}

export interface SweepsOptions {
  readonly quarantine: Quarantine;
  readonly files: NoteFiles;
  readonly clock: Clock;
  readonly retention: Retention;
  readonly events: EventStore;
  readonly archive: Pick<Archive, "manifest">;
  readonly scheduler: Pick<Scheduler, "run">;
  readonly onNote: (note: string) => void;
}

/** Access to the directory of the messages. */
type NoteFiles = Pick<MessageFiles, "read" | "replace">;

const INTERVAL_MS = 60 * 60 * 1000;

export function createSweeps(options: SweepsOptions): Sweeps {
  let timer: ReturnType<typeof setInterval> | null = null;
  let running: Promise<void> = Promise.resolve();
  const begin = () => {
    running = running.then(() => sweepMessages(options)).then(() => sweepEvents(options));
  };
  return {
    start() {
      begin();
      timer = setInterval(begin, INTERVAL_MS);
    },
    async stop() {
      if (timer !== null) clearInterval(timer);
      await running;
    },
  };
}

/** If the disk refuses, the next sweep does it. */
async function sweepMessages({ quarantine, files, clock, retention }: SweepsOptions): Promise<void> {
  if (quarantine.totals.entries === 0) return;
  try {
    await quarantine.sweep(await findExpired(files, clock.nowMs(), retention));
  } catch (error) {
    ignoreFileError(error);
  }
}

/** The owner of the work on events of all apps. No app has this name. */
const ALL_APPS = "";

async function sweepEvents({ events, archive, clock, retention, scheduler, onNote }: SweepsOptions) {
  const { days, expired } = archive.manifest;
  const beforeMs = eventsExpiredMs([...days.keys(), ...expired.keys()], retention.startMs(clock.nowMs()));
  try {
    await scheduler.run(ALL_APPS, forgetEvents(events, beforeMs));
  } catch (error) {
    onNote(`Expired events could not be deleted; the next sweep tries again: ${messageOf(error)}`);
  }
}

/** Events from before this time may be deleted: of these days the archive has records. */
export function eventsExpiredMs(archivedDays: readonly UtcDay[], retentionMs: number): number {
  if (archivedDays.length === 0) return Number.NEGATIVE_INFINITY;
  return Math.min(...archivedDays.map(utcDayStartMs), retentionMs);
}

/** Older entries are of no use to an operator. A shorter retention applies to entries too. */
const QUARANTINE_DAYS = 90;

/** By the clock at `sinceMs`, entries from before `oldestMs` had expired. */
interface Noted {
  readonly sinceMs: number;
  readonly oldestMs: number;
}

const FORMAT_VERSION = 1;

/** Entries before this time may be deleted now; negative infinity if none may. The note on disk survives restarts. */
export async function findExpired(files: NoteFiles, nowMs: number, retention: Retention): Promise<number> {
  const noted = await readNote(files);
  const isRipe = noted !== null && nowMs >= noted.sinceMs + MS_PER_DAY;
  const isWaiting = noted !== null && nowMs >= noted.sinceMs && !isRipe;
  const oldestMs = Math.max(startOfUtcDayMs(nowMs) - QUARANTINE_DAYS * MS_PER_DAY, retention.startMs(nowMs));
  if (!isWaiting) await writeNote(files, { sinceMs: nowMs, oldestMs });
  return isRipe ? Math.min(noted.oldestMs, oldestMs) : Number.NEGATIVE_INFINITY;
}

/** Null if there is no readable note: the caller writes a new one. */
async function readNote(files: NoteFiles): Promise<Noted | null> {
  const bytes = await files.read(EXPIRY_FILE);
  if (bytes === null) return null;
  try {
    const note: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (!isObject(note) || note.version !== FORMAT_VERSION) return null;
    const { sinceMs, oldestMs } = note;
    return typeof sinceMs === "number" && typeof oldestMs === "number" ? { sinceMs, oldestMs } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** If the disk refuses, entries stay a day longer. */
async function writeNote(files: NoteFiles, noted: Noted): Promise<void> {
  const note = { version: FORMAT_VERSION, ...noted };
  try {
    await files.replace(EXPIRY_FILE, new TextEncoder().encode(`${JSON.stringify(note)}\n`));
  } catch (error) {
    ignoreFileError(error);
  }
}
