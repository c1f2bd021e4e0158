import { join } from "node:path";
import { crc32 } from "node:zlib";
import { assert } from "../lib/assert.ts";
import type { Timers } from "../lib/schedule/timers.ts";
import type { PendingErasure } from "../model/erasure.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import { type Files, ignoreFileError, moveDurably } from "../runtime/files.ts";
import { archivePaths, dayFolder, lostName, partName, standingName } from "./archive-files.ts";
import { COLUMNS_MARK } from "./columns.ts";
import { loadDuckDb } from "./duckdb/database.ts";
import { encodeManifest, type Manifest, type Part, type StandingPart } from "./manifest.ts";
import { createMasks, type Masks, NO_MASKS } from "./masks.ts";
import { PartChecks } from "./part-checks.ts";
import type { PartReader } from "./read/part-reader.ts";
import type { EncodedStanding } from "./standing-file.ts";
import { findStrayFiles, listAside } from "./stray-files.ts";
import type { NewPart } from "./write/part-job.ts";

/** The archived days: the manifest and the files that it names. */
export interface Archive extends Pick<PartChecks, "damaged" | "examine" | "recheck" | "verifyChecksums"> {
  /** Replaced as a whole, so that a reader that keeps it can tell whether anything has changed. */
  readonly manifest: Manifest;
  /**
   * Whether this manifest is known to be on disk, even after a power failure. False after a start, which may have read
   * a manifest that was never synced, or rebuilt it; and after a failed swap, which may have left either manifest on
   * disk. While it is false, no file may be removed that any of them may name.
   */
  readonly isWritten: boolean;
  /**
   * Differs whenever what is read from the archive may have changed, as long as the process runs. While a part is
   * damaged it differs each time.
   */
  readonly version: string;
  /** What erasures mask now. The same object until the manifest or an erasure changes. */
  readonly masks: Masks;
  readonly reader: PartReader;
  /** Writes a file durably. It becomes part of the archive once a manifest names it. */
  writePart(destination: PartDestination, part: Pick<NewPart, "bytes" | "rows" | "apps">): Promise<Part>;
  /** Like `writePart()`, for the file of standing entries, which covers the log up to `sequence`. */
  writeStanding(seal: number, sequence: number, standing: EncodedStanding): Promise<StandingPart>;
  /**
   * Removes files that are not part of the archive, the last first. The first part of a seal's day lists what all of
   * them contain, so a crash must not leave a later one without it. Files that the disk refuses to remove stay.
   */
  discard(parts: readonly Part[]): Promise<void>;
  /** Replaces the manifest durably, in one step. If that fails, the archive is unchanged, and `isWritten` is false. */
  swap(manifest: Manifest): Promise<void>;
  /** Moves the files of lost parts to the directory of damaged files. */
  moveToDamaged(parts: readonly Part[]): Promise<void>;
  /**
   * Moves files that an interrupted seal left in the folders of days to `expired/`, and deletes those that were moved
   * `keepMs` ago.
   */
  tidy(nowMs: number, keepMs: number): Promise<void>;
  close(): void;
}

/** The folder of a new part: a day's, or that of the checkpoint. */
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
  /** Erasures that are not finished, in order. */
  erasures(): readonly PendingErasure[];
}

export function createArchive(options: ArchiveOptions): Archive {
  const { files, directory, damagedDirectory, reader } = options;
  const paths = archivePaths(directory);
  let { manifest, isWritten } = options;
  let named = namedFiles(manifest);
  let discarded = 0;
  let swaps = 0;
  let looks = 0;
  const masks = new CurrentMasks();
  const pathOf = ({ file }: Part) => join(directory, file);
  const checks = new PartChecks({
    files,
    pathOf,
    isNamed: (file) => named.has(file),
    // DuckDB caches what the file was before.
    onRestored: () => reader.renew(),
    timers: options.timers,
  });

  return {
    get manifest() {
      return manifest;
    },
    get isWritten() {
      return isWritten;
    },
    get version() {
      if (checks.damaged.size > 0) looks++; // Only reading a part again shows that an operator has restored it.
      return `${swaps}.${checks.changes}.${looks}.${lastOf(options.erasures())}`;
    },
    get masks() {
      return masks.at(manifest, options.erasures());
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
    writeStanding: (...standing) => writeStanding(files, directory, ...standing),
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
      if (next.days.size > 0) await loadDuckDb(); // Before any request can need it.
      isWritten = false;
      await files.replace(paths.manifest, encodeManifest(next));
      manifest = next;
      swaps++;
      named = namedFiles(next);
      checks.forgetUnnamed();
      isWritten = true;
    },
    async moveToDamaged(parts) {
      for (const part of parts) {
        checks.forget(part);
        await moveIfThere(files, pathOf(part), join(damagedDirectory, lostName(part.file)));
      }
    },
    async tidy(nowMs, keepMs) {
      assert(isWritten, "files are removed only if the manifest that does not name them is on disk");
      const { leftover } = await findStrayFiles(files, directory, manifest);
      for (const file of leftover.toReversed()) // In the order of `discard()`.
        await moveIfThere(files, join(directory, file), join(paths.expired, String(nowMs), file));
      for (const { sinceMs, folder, file } of await listAside(files, paths.expired)) {
        if (nowMs - sinceMs >= keepMs) await files.remove(join(folder, file));
      }
    },
    close: () => reader.close(),
  };
}

/** Makes masks anew only if they are others. */
class CurrentMasks {
  #manifest: Manifest | null = null;
  #last = 0;
  #masks = NO_MASKS;

  at(manifest: Manifest, erasures: readonly PendingErasure[]): Masks {
    const last = lastOf(erasures);
    if (last === 0) return NO_MASKS;
    if (this.#manifest !== manifest || this.#last !== last) this.#masks = createMasks(manifest, erasures);
    this.#manifest = manifest;
    this.#last = last;
    return this.#masks;
  }
}

/** Tells sets of pending erasures apart: one leaves with a swap of the manifest. 0 if there are none. */
function lastOf(erasures: readonly PendingErasure[]): number {
  return erasures.at(-1)?.sequence ?? 0;
}

async function moveIfThere(files: Files, from: string, to: string): Promise<void> {
  if (!(await files.exists(from))) return; // Moved before a crash, or lost, which `examine()` reports.
  await moveDurably(files, from, to);
}

async function writeStanding(
  files: Files,
  directory: string,
  seal: number,
  sequence: number,
  { bytes, rows, apps }: EncodedStanding,
): Promise<StandingPart> {
  const file = `standing/${standingName(seal)}`;
  await files.makeDirectory(archivePaths(directory).standing);
  await files.replace(join(directory, file), bytes);
  return { file, rows, bytes: bytes.length, crc: crc32(bytes), apps, columns: "", sequence };
}

/**
 * DuckDB caches some 60 KB of each file that it read, even after the file is gone; this limits that to 15 MB. Clearing
 * the cache costs the next query some milliseconds.
 */
const REMEMBERED_FILES_MAX = 256;

/** Every file that belongs to the archive. */
function namedFiles({ days, latest, expired, standing }: Manifest): ReadonlySet<string> {
  const parts = [...days.values(), ...expired.values()].flatMap((day) => day.parts);
  const others = [...(latest ?? []), ...(standing === null ? [] : [standing])];
  return new Set([...parts, ...others].map(({ file }) => file));
}
