import { join } from "node:path";
import { isObject } from "../../lib/is-object.ts";
import { type Retention, startOfUtcDayMs } from "../../model/time/retention.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import { type Files, unlessFileError } from "../../runtime/files.ts";
import { EXPIRY_FILE } from "../quarantine/segment.ts";

/*
 * When entries of the quarantine go. A clock that runs ahead must cost nothing if it is set right within a day, so an
 * instant is only noted at first, and what came before it goes a day later.
 */

/** What nobody has looked at for so long, nobody will. A shorter retention counts for entries too. */
const QUARANTINE_DAYS = 90;

/** By the clock as it was at `sinceMs`, entries from before `oldestMs` had expired. */
interface Noted {
  readonly sinceMs: number;
  readonly oldestMs: number;
}

const FORMAT_VERSION = 1;

/**
 * The instant before which entries may go now; negative infinity where nothing may. The note of it lies beside the
 * entries, so that starts don't put it off.
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

/** One that can't be read notes nothing, and is written anew. */
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

/** Where the disk refuses, entries stay a day longer. */
async function writeNote(files: Files, directory: string, path: string, noted: Noted): Promise<void> {
  const note = { version: FORMAT_VERSION, ...noted };
  try {
    await files.makeDirectory(directory);
    await files.replace(path, new TextEncoder().encode(`${JSON.stringify(note)}\n`));
  } catch (error) {
    unlessFileError(error);
  }
}
