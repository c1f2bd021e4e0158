import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { FileError, type Files, unlessFileError } from "../runtime/files.ts";
import type { UtcDay } from "../time/utc-day.ts";
import { type ExpiredDay, encodeManifest, type Manifest, type Part } from "./manifest.ts";
import type { PartReader } from "./part-reader.ts";
import type { MadePart } from "./part-writer.ts";
import { archivePaths, dayFolder, lostName, partName } from "./paths.ts";
import { findStrayFiles } from "./stray-files.ts";

/** What is wrong with a part, for people. */
export type PartFault = string;

/** The sealed days: what the manifest says, and the files it names. */
export interface Archive {
  /** What is sealed. Replaced as a whole, so that who holds on to it can tell whether anything has changed. */
  readonly manifest: Manifest;
  /** Whether the disk has this manifest: not after a start that had to make one anew, until it is swapped. */
  readonly isWritten: boolean;
  readonly reader: PartReader;
  /** Parts that can't be read, by file. */
  readonly damaged: ReadonlyMap<string, PartFault>;
  /**
   * Looks at these parts again; resolves with whether any is damaged that was not known to be. A glance sees what
   * is missing or of another size; `thorough` reads every byte.
   */
  examine(parts: readonly Part[], thorough?: boolean): Promise<boolean>;
  /**
   * Reads each part once in the life of the process, and resolves with whether all are as they were written: DuckDB
   * itself reads most flipped bits without a word.
   */
  vouch(parts: readonly Part[]): Promise<boolean>;
  /** Writes a file, durably, that is not yet part of the archive. */
  writePart(place: PartPlace, made: Pick<MadePart, "bytes" | "rows" | "apps">): Promise<Part>;
  /**
   * Removes files that are not, or no longer, part of the archive; what the disk refuses stays. The last goes first:
   * of a seal's parts of a day it says what all of them hold, so that a crash must not leave it alone.
   */
  discard(parts: readonly Part[]): Promise<void>;
  /** Makes this the archive, durably, in one step. */
  swap(manifest: Manifest): Promise<void>;
  /** Moves the files of parts that are given up to where damaged bytes are kept. */
  setAside(parts: readonly Part[]): Promise<void>;
  /** Moves an expired day's files out of the way. Repeats what a crash cut short. */
  moveAside(expired: ExpiredDay): Promise<void>;
  /** Moves the files of a day back that are still there. */
  moveBack(expired: ExpiredDay): Promise<void>;
  /** Deletes an expired day's files. */
  deleteExpired(expired: ExpiredDay): Promise<void>;
  /**
   * Moves what a cut-off seal left in the folders of days out of the way, and deletes what was moved so
   * `keepMs` ago.
   */
  tidy(nowMs: number, keepMs: number): Promise<void>;
  close(): void;
}

/** Where a new part goes: the folder of a day, or that of the newest records. */
export interface PartPlace {
  readonly day: UtcDay | "latest";
  readonly seal: number;
  readonly index: number;
}

export interface ArchiveOptions {
  readonly files: Files;
  readonly directory: string;
  readonly damagedDirectory: string;
  readonly manifest: Manifest;
  readonly isWritten: boolean;
  readonly reader: PartReader;
}

export function createArchive(options: ArchiveOptions): Archive {
  const { files, directory, damagedDirectory, reader } = options;
  const paths = archivePaths(directory);
  const damaged = new Map<string, PartFault>();
  const vouched = new Set<string>();
  let { manifest, isWritten } = options;
  let named = namedFiles(manifest);
  let discarded = 0;
  const pathOf = ({ file }: Part) => join(directory, file);
  const asideOf = ({ file }: Part, { sinceMs }: ExpiredDay) => join(paths.expired, String(sinceMs), file);

  async function move(from: string, to: string): Promise<void> {
    if (!(await files.exists(from))) return; // Moved before a crash, or lost: `examine` tells.
    await files.makeDirectory(dirname(to));
    await files.rename(from, to);
    await files.syncDirectory(dirname(to));
    await files.syncDirectory(dirname(from));
  }

  async function examine(parts: readonly Part[], thorough = false): Promise<boolean> {
    let foundNew = false;
    for (const part of parts) {
      const fault = await faultOf(files, pathOf(part), part, thorough);
      if (fault !== null) {
        if (!named.has(part.file)) continue; // A seal has taken its place meanwhile.
        foundNew ||= !damaged.has(part.file);
        damaged.set(part.file, fault);
        vouched.delete(part.file);
        continue;
      }
      if (thorough) vouched.add(part.file);
      // What DuckDB remembers of the file is of what it was before somebody put it back.
      if (damaged.delete(part.file)) reader.renew();
    }
    return foundNew;
  }

  return {
    get manifest() {
      return manifest;
    },
    get isWritten() {
      return isWritten;
    },
    reader,
    damaged,
    examine,
    async vouch(parts) {
      await examine(
        parts.filter(({ file }) => !vouched.has(file)),
        true,
      );
      return parts.every(({ file }) => vouched.has(file));
    },
    async writePart({ day, seal, index }, { bytes, rows, apps }) {
      const folder = day === "latest" ? "latest" : dayFolder(day);
      const file = `${folder}/${partName(seal, index)}`;
      await files.makeDirectory(join(directory, folder));
      await files.replace(join(directory, file), bytes);
      return { file, rows, bytes: bytes.length, crc: crc32(bytes), apps };
    },
    async discard(parts) {
      for (const part of parts.toReversed()) {
        damaged.delete(part.file);
        vouched.delete(part.file);
        await files.remove(pathOf(part)).catch(unlessFileError);
      }
      discarded += parts.length;
      if (discarded < REMEMBERED_FILES_MAX) return;
      discarded = 0;
      reader.renew();
    },
    async swap(next) {
      await files.replace(paths.manifest, encodeManifest(next));
      manifest = next;
      named = namedFiles(next);
      for (const file of damaged.keys()) if (!named.has(file)) damaged.delete(file);
      isWritten = true;
    },
    async setAside(parts) {
      for (const part of parts) {
        damaged.delete(part.file);
        await move(pathOf(part), join(damagedDirectory, lostName(part.file)));
      }
    },
    async moveAside(expired) {
      for (const part of expired.parts) await move(pathOf(part), asideOf(part, expired));
    },
    async moveBack(expired) {
      for (const part of expired.parts) await move(asideOf(part, expired), pathOf(part));
    },
    async deleteExpired(expired) {
      for (const part of expired.parts) {
        for (const path of [asideOf(part, expired), pathOf(part)]) {
          if (await files.exists(path)) await files.remove(path);
        }
      }
    },
    async tidy(nowMs, keepMs) {
      const { leftover } = await findStrayFiles(files, directory, manifest);
      for (const file of leftover.toReversed()) // As in `discard`.
        await move(join(directory, file), join(paths.expired, String(nowMs), file));
      const named = new Set([...manifest.expired.values()].map(({ sinceMs }) => String(sinceMs)));
      for (const since of await files.list(paths.expired)) {
        const isOver = /^\d+$/.test(since) && nowMs - Number(since) >= keepMs;
        if (isOver && !named.has(since)) await removeFiles(files, join(paths.expired, since));
      }
    },
    close: () => reader.close(),
  };
}

/**
 * DuckDB remembers some 60 KB of each file it read, also after the file is gone; this bounds it to 15 MB. Forgetting
 * costs the next question some milliseconds.
 */
const REMEMBERED_FILES_MAX = 256;

/** Every file that belongs to the archive. */
function namedFiles({ days, latest, expired }: Manifest): ReadonlySet<string> {
  const parts = [...days.values(), ...expired.values()].flatMap((day) => day.parts);
  return new Set([...parts, ...(latest ?? [])].map(({ file }) => file));
}

/** Removes the files of the folders in a folder. */
async function removeFiles(files: Files, folder: string): Promise<void> {
  for (const inner of await files.list(folder)) {
    for (const name of await files.list(join(folder, inner))) await files.remove(join(folder, inner, name));
  }
}

/** What tells that a file is not what was written. */
export async function faultOf(
  files: Files,
  path: string,
  part: Part,
  thorough: boolean,
): Promise<PartFault | null> {
  try {
    const bytes = await files.size(path);
    if (bytes !== part.bytes) return `it has ${bytes} bytes instead of ${part.bytes}`;
    return thorough && crc32(await files.read(path)) !== part.crc ? "its bytes are not those written" : null;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return error.code === "ENOENT" ? "it is missing" : error.message;
  }
}
