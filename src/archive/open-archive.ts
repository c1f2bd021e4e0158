import { join } from "node:path";
import { crc32 } from "node:zlib";
import { removeTemporaryFiles } from "../directory/temporary-files.ts";
import { messageOf } from "../lib/message-of.ts";
import { inTurns } from "../lib/schedule/steps.ts";
import type { Timers } from "../lib/schedule/timers.ts";
import type { PendingErasure } from "../model/erasure.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { StandingEntry } from "../model/standing-entry.ts";
import { utcDayName } from "../model/time/utc-day.ts";
import { FileError, type Files, ignoreFileError, isOutOfDescriptors } from "../runtime/files.ts";
import { nativeLibraries } from "../runtime/helper/executable.ts";
import { type Archive, createArchive } from "./archive.ts";
import { archivePaths, hasFiles, isInArchive } from "./archive-files.ts";
import type { Database, DatabaseOptions } from "./duckdb/database.ts";
import { loadDuckDb } from "./duckdb/database.ts";
import { EMPTY_MANIFEST, type Manifest, type Part, readManifest } from "./manifest.ts";
import { createHiddenKeys, findNewest, type HiddenBatch, readNewest } from "./newest-records.ts";
import { createPartReader } from "./read/part-reader.ts";
import { rebuildManifest } from "./rebuild-manifest.ts";
import { decodeStanding } from "./standing-file.ts";
import { findStrayFiles } from "./stray-files.ts";

// Opens the archive of a data directory: reads its manifest, cleans up after a crash, and restores the newest record of
// every device.

export interface OpenArchiveOptions {
  readonly files: Files;
  readonly directory: string;
  /** Where a damaged manifest is saved. */
  readonly damagedDirectory: string;
  readonly limits: ArchiveLimits;
  readonly timers: Pick<Timers, "nowMs">;
  /** The path by which DuckDB finds a file of the archive, or the archive itself for an empty name. */
  pathOf(file: string): string;
  openDatabase(options: DatabaseOptions): Promise<Database>;
  /** Receives the newest archived record of each device. If a device comes twice, the later record counts. */
  onNewest(appId: AppId, batch: ReportBatch): void;
  /** Keys of the records that corrections hide, once these are restored. */
  hidden(): Iterable<HiddenBatch>;
  /** Erasures that are not finished, in order. Reads leave out what they destroy. */
  erasures(): readonly PendingErasure[];
}

/** Limits for queries of the archive. */
export interface ArchiveLimits {
  readonly threads: number;
  readonly memoryBytes: number;
  /** Queries that run at the same time. `queueMax` more may wait for their turn. */
  readonly queriesMax: number;
  readonly queueMax: number;
}

/** Problems of the archive and what was done about them, for operators. One sentence each. */
export type ArchiveNotes = readonly string[];

export interface OpenedArchive {
  readonly archive: Archive;
  /** `restoreNewest()` may add more. */
  readonly notes: ArchiveNotes;
  /**
   * Calls `onNewest` with the newest archived record of each device. Resolves with whether all devices were included:
   * false if the checkpoint and a part can't be read.
   */
  restoreNewest(): Promise<boolean>;
  /**
   * Calls `onEntry` with each standing entry that the archive has. Resolves with the last entry of the log that its
   * file covers, of which it may have later ones; 0 if there is no file. Adds a note if any can't be read.
   */
  restoreStanding(onEntry: (entry: StandingEntry) => void): Promise<number>;
}

/**
 * Opens the archive, whatever its state: reads the manifest, or rebuilds it from the files if it is lost. Reads no
 * other file. Throws a `FormatVersionError` if another version of the program wrote the manifest.
 */
export async function openArchive(options: OpenArchiveOptions): Promise<OpenedArchive> {
  const { files, directory, damagedDirectory, limits, timers, pathOf, openDatabase, onNewest, hidden } =
    options;
  const paths = archivePaths(directory);
  await files.makeDirectory(paths.scratch);
  await emptyFolder(files, paths.scratch);
  await removeTemporaryFiles(files, directory, isInArchive);
  const { threads, memoryBytes } = limits;
  const databaseOptions = {
    threads,
    memoryBytes,
    directories: [pathOf("")],
    spillDirectory: pathOf("scratch"),
    cachesFiles: true,
  };
  /** Opened early if the start needs it; the reader then takes it over. */
  let first: Promise<Database> | null = null;
  const openFirst = () => {
    first ??= openDatabase(databaseOptions);
    return first;
  };
  const notes: string[] = [];
  // If it can't be opened, its caller gets the error.
  const closeFirst = () => void first?.then((opened) => opened.close()).catch(() => undefined);
  const { manifest, isWritten } = await readOrRebuildManifest(options, openFirst, notes).catch(
    (error: unknown) => {
      closeFirst();
      throw error;
    },
  );
  // While no request waits, since it blocks the event loop for 30 to 160 ms; else the first seal does it (`swap()`).
  if (manifest.days.size > 0) await loadDuckDb();
  else await nativeLibraries().check();
  const reader = createPartReader({
    openDatabase() {
      const opened = first ?? openDatabase(databaseOptions);
      first = null;
      return opened;
    },
    pathOf: ({ file }: Part) => pathOf(file),
    closeUnused: closeFirst,
    readRange: ({ file }, start, end) => files.readRange(join(directory, file), start, end),
    masks: () => archive.masks,
    slots: limits.queriesMax,
    queueMax: limits.queueMax,
  });
  const { erasures } = options;
  const storage = { files, directory, damagedDirectory };
  const archive = createArchive({ ...storage, manifest, isWritten, reader, timers, erasures });
  return {
    archive,
    notes,
    async restoreStanding(onEntry) {
      const { standing } = archive.manifest;
      if (standing === null) return 0;
      await archive.examine([standing], true);
      const fault = archive.damaged.get(standing.file);
      if (fault !== undefined) notes.push(standingNote(standing.file, fault));
      return restoreStanding(files, (file) => join(directory, file), archive.manifest, onEntry);
    },
    restoreNewest: async () =>
      manifest.days.size + manifest.expired.size === 0 ||
      restoreNewest({
        manifest,
        database: await openFirst(),
        faultOf: async (part) =>
          (await archive.verifyChecksums([part])) ? null : (archive.damaged.get(part.file) ?? ""),
        pathOf,
        onNewest,
        hidden,
        notes,
      }),
  };
}

function standingNote(file: string, fault: string): string {
  return `archive/${file} is damaged: ${fault}. Profiles of devices, corrections, and how often messages of the quarantine came, are missing.`;
}

/**
 * Calls `onEntry` with the entries of the manifest's file of standing entries that are intact. Resolves with the last
 * entry of the log that it covers; 0 if there is no file.
 */
export async function restoreStanding(
  files: Files,
  pathOf: (file: string) => string,
  { standing }: Manifest,
  onEntry: (entry: StandingEntry) => void,
): Promise<number> {
  if (standing === null) return 0;
  const path = pathOf(standing.file);
  const bytes = await readOrFault(files, path);
  if (bytes instanceof Uint8Array) await inTurns(decodeStanding(bytes, path, onEntry));
  return standing.sequence;
}

async function emptyFolder(files: Files, folder: string): Promise<void> {
  for (const name of await files.list(folder))
    await files.removeAll(join(folder, name)).catch(ignoreFileError);
}

/** Reads the manifest. If it is lost, rebuilds it from the files and adds a note. */
async function readOrRebuildManifest(
  { files, directory, damagedDirectory, pathOf }: OpenArchiveOptions,
  openReading: () => Promise<Database>,
  notes: string[],
): Promise<Pick<Archive, "manifest" | "isWritten">> {
  const path = archivePaths(directory).manifest;
  if (await files.exists(path)) {
    const bytes = await readOrFault(files, path);
    const manifest = bytes instanceof Uint8Array ? readManifest(bytes, path) : null;
    // The file may not be on disk yet: an earlier process may have died before its sync.
    if (manifest !== null) return { manifest, isWritten: false };
    const fate =
      bytes instanceof Uint8Array
        ? `is damaged (${await saveDamaged(files, damagedDirectory, bytes)})`
        : `can't be read (${bytes.message})`;
    notes.push(`The archive's manifest ${fate}. It was rebuilt from the files.`);
  } else {
    if (!(await hasFiles(files, directory))) return { manifest: EMPTY_MANIFEST, isWritten: true };
    notes.push("The archive's manifest is missing. It was rebuilt from the files.");
  }
  const connection = await (await openReading()).connect();
  try {
    const { manifest, unreadable } = await rebuildManifest(
      { files, directory, damagedDirectory, pathOf },
      connection,
    );
    notes.push(
      ...unreadable.map((file) => `archive/${file} can't be read. The new manifest does not include it.`),
    );
    return { manifest, isWritten: false };
  } finally {
    connection.close();
  }
}

/** The file, or the disk's error. Running out of file descriptors says nothing about the file, so that is thrown. */
async function readOrFault(files: Files, path: string): Promise<Uint8Array | FileError> {
  try {
    return await files.read(path);
  } catch (error) {
    if (!(error instanceof FileError) || isOutOfDescriptors(error)) throw error;
    return error;
  }
}

/** Saves the bytes of a damaged manifest and returns a phrase about it. A full disk must not prevent the start. */
async function saveDamaged(files: Files, damagedDirectory: string, bytes: Uint8Array): Promise<string> {
  const name = `manifest.json.${crc32(bytes).toString(16).padStart(8, "0")}.damaged`;
  const savedAs = join(damagedDirectory, name);
  try {
    await files.makeDirectory(damagedDirectory);
    await files.replace(savedAs, bytes);
    return `saved as ${savedAs}`;
  } catch (error) {
    ignoreFileError(error);
    return `not saved: ${messageOf(error)}`;
  }
}

export interface RestoreNewestOptions {
  readonly manifest: Manifest;
  readonly database: Database;
  /** What is wrong with a part, after reading all of it; null if it is as it was written. */
  faultOf(part: Part): Promise<string | null>;
  pathOf(file: string): string;
  onNewest(appId: AppId, batch: ReportBatch): void;
  /** Keys of the records that corrections hide. */
  hidden(): Iterable<HiddenBatch>;
  /** Notes about what can't be read are added here. */
  readonly notes: string[];
}

/**
 * Reads the checkpoint. If it is lost, reads every part, the oldest first. Checksums are compared first, because DuckDB
 * does not notice most flipped bits. Resolves with whether everything was read.
 */
export async function restoreNewest(options: RestoreNewestOptions): Promise<boolean> {
  const { manifest, database, faultOf, pathOf, onNewest, hidden, notes } = options;
  const connection = await database.connect();
  const expectGood = async (part: Part) => {
    const fault = await faultOf(part);
    if (fault !== null) throw new Error(fault);
  };
  try {
    if (manifest.latest !== null) {
      try {
        for (const part of manifest.latest) await expectGood(part);
        for (const { file } of manifest.latest) {
          for await (const { appId, batch } of readNewest(connection, pathOf(file))) onNewest(appId, batch);
        }
        return true;
      } catch (error) {
        if (isOutOfDescriptors(error)) throw error;
        notes.push(
          "The newest positions are restored from the whole archive, because their checkpoint can't be used: " +
            messageOf(error),
        );
      }
    }
    let isWhole = true;
    let hasHiddenKeys = false;
    for (const [day, { parts }] of [...manifest.expired, ...manifest.days].sort(([a], [b]) => a - b)) {
      for (const part of parts) {
        try {
          await expectGood(part);
          if (!hasHiddenKeys) await createHiddenKeys(connection, hidden());
          hasHiddenKeys = true;
          for await (const { appId, batch } of findNewest(connection, pathOf(part.file)))
            onNewest(appId, batch);
        } catch (error) {
          if (isOutOfDescriptors(error)) throw error;
          isWhole = false;
          notes.push(`The newest positions of ${utcDayName(day)} can't be read: ${messageOf(error)}`);
        }
      }
    }
    return isWhole;
  } finally {
    connection.close();
  }
}

/** Checks every part, and looks for files that don't belong to the archive. */
export async function inspectArchive(
  files: Files,
  directory: string,
  archive: Archive,
): Promise<ArchiveNotes> {
  const { manifest } = archive;
  let foreign: readonly string[] = [];
  try {
    await archive.examine([...manifest.days.values()].flatMap(({ parts }) => parts));
    ({ foreign } = await findStrayFiles(files, directory, manifest));
  } catch (error) {
    ignoreFileError(error);
    return [`The archive's files could not be checked: ${messageOf(error)}.`]; // Each is checked before it is used.
  }
  return [
    ...[...archive.damaged].map(([file, fault]) => `archive/${file} can't be used: ${fault}.`),
    ...foreign.map((file) => `archive/${file} does not belong to the archive, and is ignored.`),
  ];
}
