import { join } from "node:path";
import { isObject } from "../../lib/is-object.ts";
import type { Clock } from "../../model/time/clock.ts";
import { type Retention, startOfUtcDayMs } from "../../model/time/retention.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import { type Files, ignoreFileError } from "../../runtime/files.ts";
import type { Quarantine } from "../quarantine/quarantine.ts";
import { EXPIRY_FILE } from "../quarantine/segment.ts";

/**
 * Every hour the quarantine gives up what has expired, and writes down how often the rest came. A clock that runs ahead
 * must cost nothing if it is set right within a day, so a sweep notes an instant at first, and what came before it goes
 * a day later.
 */
export interface QuarantineSweeps {
  start(): void;
  /** Waits for the one under way. */
  stop(): Promise<void>;
}

export interface QuarantineSweepsOptions {
  readonly quarantine: Quarantine;
  readonly files: Files;
  readonly directory: string;
  readonly clock: Clock;
  readonly retention: Retention;
}

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
async function sweep({
  quarantine,
  files,
  directory,
  clock,
  retention,
}: QuarantineSweepsOptions): Promise<void> {
  if (quarantine.totals.entries === 0) return;
  try {
    await quarantine.sweep(await findExpired(files, directory, clock.nowMs(), retention));
  } catch (error) {
    ignoreFileError(error);
  }
}

/** No operator will look at an entry that is older. A shorter retention counts for entries too. */
const QUARANTINE_DAYS = 90;

/** By the clock as it was at `sinceMs`, entries from before `oldestMs` had expired. */
interface Noted {
  readonly sinceMs: number;
  readonly oldestMs: number;
}

const FORMAT_VERSION = 1;

/**
 * The instant before which entries may go now; negative infinity if none may. The note of it lies beside the entries,
 * so that starts don't put it off.
 */
export async function findExpired(
  files: Files,
  directory: string,
  nowMs: number,
  retention: Retention,
): Promise<number> {
  const path = join(directory, EXPIRY_FILE);
  const noted = await readNote(files, path);
  const isRipe = noted !== null && nowMs >= noted.sinceMs + MS_PER_DAY;
  const isWaiting = noted !== null && nowMs >= noted.sinceMs && !isRipe;
  const oldestMs = Math.max(startOfUtcDayMs(nowMs) - QUARANTINE_DAYS * MS_PER_DAY, retention.startMs(nowMs));
  if (!isWaiting) await writeNote(files, directory, path, { sinceMs: nowMs, oldestMs });
  return isRipe ? Math.min(noted.oldestMs, oldestMs) : Number.NEGATIVE_INFINITY;
}

/** Null if there is no note that can be read: the caller writes one anew. */
async function readNote(files: Files, path: string): Promise<Noted | null> {
  if (!(await files.exists(path))) return null;
  try {
    const note: unknown = JSON.parse(new TextDecoder().decode(await files.read(path)));
    if (!isObject(note) || note.version !== FORMAT_VERSION) return null;
    const { sinceMs, oldestMs } = note;
    return typeof sinceMs === "number" && typeof oldestMs === "number" ? { sinceMs, oldestMs } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** If the disk refuses, entries stay a day longer. */
async function writeNote(files: Files, directory: string, path: string, noted: Noted): Promise<void> {
  const note = { version: FORMAT_VERSION, ...noted };
  try {
    await files.makeDirectory(directory);
    await files.replace(path, new TextEncoder().encode(`${JSON.stringify(note)}\n`));
  } catch (error) {
    ignoreFileError(error);
  }
}
