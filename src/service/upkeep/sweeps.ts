import { isObject } from "../../lib/is-object.ts";
import type { Clock } from "../../model/time/clock.ts";
import { type Retention, startOfUtcDayMs } from "../../model/time/retention.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import { ignoreFileError } from "../../runtime/files.ts";
import { EXPIRY_FILE } from "../quarantine/message-file.ts";
import type { MessageFiles } from "../quarantine/message-files.ts";
import type { Quarantine } from "../quarantine/quarantine.ts";

/**
 * Every hour the quarantine deletes expired entries. A clock that is temporarily ahead must delete nothing, so a sweep
 * first notes which time has expired, and deletes earlier entries a day later.
 */
export interface QuarantineSweeps {
  start(): void;
  /** Waits for the running sweep. */
  stop(): Promise<void>;
}

export interface QuarantineSweepsOptions {
  readonly quarantine: Quarantine;
  readonly files: NoteFiles;
  readonly clock: Clock;
  readonly retention: Retention;
}

/** Access to the directory of the messages. */
type NoteFiles = Pick<MessageFiles, "read" | "replace">;

const INTERVAL_MS = 60 * 60 * 1000;

export function createQuarantineSweeps(options: QuarantineSweepsOptions): QuarantineSweeps {
  let timer: ReturnType<typeof setInterval> | null = null;
  let running: Promise<void> = Promise.resolve();
  const begin = () => {
    running = running.then(() => sweep(options));
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
async function sweep({ quarantine, files, clock, retention }: QuarantineSweepsOptions): Promise<void> {
  if (quarantine.totals.entries === 0) return;
  try {
    await quarantine.sweep(await findExpired(files, clock.nowMs(), retention));
  } catch (error) {
    ignoreFileError(error);
  }
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
