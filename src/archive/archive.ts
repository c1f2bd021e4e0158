import { join } from "node:path";
import { crc32 } from "node:zlib";
import { assert } from "../lib/assert.ts";
import type { Timers } from "../lib/schedule/timers.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import { type Files, ignoreFileError, moveDurably } from "../runtime/files.ts";
import { archivePaths, dayFolder, lostName, partName } from "./archive-files.ts";
import { COLUMNS_MARK } from "./columns.ts";
import { encodeManifest, type Manifest, type Part } from "./manifest.ts";
import { PartChecks } from "./part-checks.ts";
import type { PartReader } from "./read/part-reader.ts";
import { findStrayFiles, listAside } from "./stray-files.ts";
import type { MadePart } from "./write/part-job.ts";

/** The sealed days: what the manifest says, and the files it names. */
export interface Archive extends Pick<PartChecks, "damaged" | "examine" | "recheck" | "verifyChecksums"> {
  /** What is sealed. Replaced as a whole, so that a reader that keeps it can tell whether anything has changed. */
  readonly manifest: Manifest;
  /**
   * Whether the disk is known to have this manifest, and will have it after a power failure. Not after a start, which
   * may have read what the disk never got, or made one anew; nor after a swap that failed, of which the disk may have
   * either side. Until it is known nothing may be removed that any manifest may name.
   */
  readonly isWritten: boolean;
  /**
   * Another text whenever what is read from it may be other than before, as long as the process runs; each time while
   * a part is damaged.
   */
  readonly version: string;
  readonly reader: PartReader;
  /** Writes a file, durably, that is not yet part of the archive. */
  writePart(destination: PartDestination, made: Pick<MadePart, "bytes" | "rows" | "apps">): Promise<Part>;
  /**
   * Removes files that are not, or no longer, part of the archive; what the disk refuses stays. The last goes first:
   * of a seal's parts of a day it says what all of them hold, so that a crash must not leave it alone.
   */
  discard(parts: readonly Part[]): Promise<void>;
  /** Makes this the archive, durably, in one step. If it fails, the archive is what it was, and not `isWritten`. */
  swap(manifest: Manifest): Promise<void>;
  /** Moves the files of parts that are given up to where damaged bytes are kept. */
  setAside(parts: readonly Part[]): Promise<void>;
  /**
   * Moves what a cut-off seal left in the folders of days out of the way, and deletes what was moved so
   * `keepMs` ago.
   */
  tidy(nowMs: number, keepMs: number): Promise<void>;
  close(): void;
}

/** Where a new part goes: the folder of a day, or that of the newest records. */
export interface PartDestination {
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
  readonly timers: Pick<Timers, "nowMs">;
}

export function createArchive(options: ArchiveOptions): Archive {
  const { files, directory, damagedDirectory, reader } = options;
  const paths = archivePaths(directory);
  let { manifest, isWritten } = options;
  let named = namedFiles(manifest);
  let discarded = 0;
  let swaps = 0;
  let looks = 0;
  const pathOf = ({ file }: Part) => join(directory, file);
  const checks = new PartChecks({
    files,
    pathOf,
    isNamed: (file) => named.has(file),
    // What DuckDB remembers of the file is of what it was before.
    onRestored: () => reader.renew(),
    timers: options.timers,
  });

  async function move(from: string, to: string): Promise<void> {
    if (!(await files.exists(from))) return; // Moved before a crash, or lost: `examine` tells.
    await moveDurably(files, from, to);
  }

  return {
    get manifest() {
      return manifest;
    },
    get isWritten() {
      return isWritten;
    },
    get version() {
      if (checks.damaged.size > 0) looks++; // Only reading a part again shows that an operator has put it back.
      return `${swaps}.${checks.changes}.${looks}`;
    },
    reader,
    damaged: checks.damaged,
    examine: (parts, thorough) => checks.examine(parts, thorough),
    recheck: (parts, signal) => checks.recheck(parts, signal),
    verifyChecksums: (parts, signal) => checks.verifyChecksums(parts, signal),
    async writePart({ day, seal, index }, { bytes, rows, apps }) {
      const folder = day === "latest" ? "latest" : dayFolder(day);
      const file = `${folder}/${partName(seal, index)}`;
      await files.makeDirectory(join(directory, folder));
      await files.replace(join(directory, file), bytes);
      return { file, rows, bytes: bytes.length, crc: crc32(bytes), apps, columns: COLUMNS_MARK };
    },
    async discard(parts) {
      for (const part of parts.toReversed()) {
        checks.forget(part);
        await files.remove(pathOf(part)).catch(ignoreFileError);
      }
      discarded += parts.length;
      if (discarded < REMEMBERED_FILES_MAX) return;
      discarded = 0;
      reader.renew();
    },
    async swap(next) {
      isWritten = false;
      await files.replace(paths.manifest, encodeManifest(next));
      manifest = next;
      swaps++;
      named = namedFiles(next);
      checks.forgetUnnamed();
      isWritten = true;
    },
    async setAside(parts) {
      for (const part of parts) {
        checks.forget(part);
        await move(pathOf(part), join(damagedDirectory, lostName(part.file)));
      }
    },
    async tidy(nowMs, keepMs) {
      assert(isWritten, "files are removed only where the disk has the manifest that does not name them");
      const { leftover } = await findStrayFiles(files, directory, manifest);
      for (const file of leftover.toReversed()) // As in `discard`.
        await move(join(directory, file), join(paths.expired, String(nowMs), file));
      for (const { sinceMs, folder, file } of await listAside(files, paths.expired)) {
        if (nowMs - sinceMs >= keepMs) await files.remove(join(folder, file));
      }
    },
    close: () => reader.close(),
  };
}

/**
 * DuckDB remembers some 60 KB of each file it read, also after the file is gone; this bounds it to 15 MB. Forgetting
 * costs the next query some milliseconds.
 */
const REMEMBERED_FILES_MAX = 256;

/** Every file that belongs to the archive. */
function namedFiles({ days, latest, expired }: Manifest): ReadonlySet<string> {
  const parts = [...days.values(), ...expired.values()].flatMap((day) => day.parts);
  return new Set([...parts, ...(latest ?? [])].map(({ file }) => file));
}
