import { join } from "node:path";
import { crc32 } from "node:zlib";
import { removeTemporaryFiles } from "../directory/temporary-files.ts";
import { messageOf } from "../lib/message-of.ts";
import type { Timers } from "../lib/schedule/timers.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import { utcDayName } from "../model/time/utc-day.ts";
import { FileError, type Files, ignoreFileError, isOutOfDescriptors } from "../runtime/files.ts";
import { type Archive, createArchive } from "./archive.ts";
import { archivePaths, isInArchive, listPartFiles } from "./archive-files.ts";
import type { Database, DatabaseOptions } from "./duckdb/database.ts";
import { loadDuckDb } from "./duckdb/database.ts";
import { EMPTY_MANIFEST, type Manifest, type Part, readManifest } from "./manifest.ts";
import { findNewest, readNewest } from "./newest-records.ts";
import { createPartReader } from "./read/part-reader.ts";
import { rebuildManifest } from "./rebuild-manifest.ts";
import { findStrayFiles } from "./stray-files.ts";

/*
 * Opens the archive of a data directory: finds its manifest, puts in order what a crash left, and reads the newest
 * record of every device.
 */

export interface OpenArchiveOptions {
  readonly files: Files;
  readonly directory: string;
  /** Where a manifest goes that can't be used. */
  readonly damagedDirectory: string;
  readonly limits: ArchiveLimits;
  readonly timers: Pick<Timers, "nowMs">;
  /** Where DuckDB finds a file of the archive, and the archive for an empty name. */
  pathOf(file: string): string;
  openDatabase(options: DatabaseOptions): Promise<Database>;
  /** Takes in the newest sealed record of each device; where one comes twice, the later one counts. */
  onNewest(appId: AppId, batch: ReportBatch): void;
}

/** What queries of the archive may use. */
export interface ArchiveLimits {
  readonly threads: number;
  readonly memoryBytes: number;
  /** Queries that run at once, and that wait for their turn. */
  readonly queriesMax: number;
  readonly queueMax: number;
}

/** What was wrong with the archive, and what was done about it; a sentence each. */
export type ArchiveNotes = readonly string[];

export interface OpenedArchive {
  readonly archive: Archive;
  /** More may come while the newest records are handed over. */
  readonly notes: ArchiveNotes;
  /**
   * Hands over the newest sealed record of each device, each time it is called. Resolves with whether it was that of
   * every device: false if the checkpoint and a part can't be read.
   */
  handOverNewest(): Promise<boolean>;
}

/**
 * Opens the archive, whatever state it is in: reads the manifest, or makes one from the files if it is lost. It looks
 * at no other file. Throws a `FormatVersionError` if a program of another version wrote the manifest.
 */
export async function openArchive(options: OpenArchiveOptions): Promise<OpenedArchive> {
  const { files, directory, damagedDirectory, limits, timers, pathOf, openDatabase, onNewest } = options;
  const paths = archivePaths(directory);
  await loadDuckDb(); // Now, when no request waits: it holds the event loop up for 60 to 160 ms.
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
  /** Opened for the start where that needs it, and then taken over by the reader. */
  let first: Promise<Database> | null = null;
  const openFirst = () => {
    first ??= openDatabase(databaseOptions);
    return first;
  };
  const notes: string[] = [];
  // If it can't be opened, the caller that waits for it hears why.
  const closeFirst = () => void first?.then((opened) => opened.close()).catch(() => undefined);
  const { manifest, isWritten } = await readOrRebuildManifest(options, openFirst, notes).catch(
    (error: unknown) => {
      closeFirst();
      throw error;
    },
  );
  const reader = createPartReader({
    openDatabase() {
      const opened = first ?? openDatabase(databaseOptions);
      first = null;
      return opened;
    },
    pathOf: ({ file }: Part) => pathOf(file),
    closeUnused: closeFirst,
    readRange: ({ file }, start, end) => files.readRange(join(directory, file), start, end),
    slots: limits.queriesMax,
    queueMax: limits.queueMax,
  });
  const archive = createArchive({ files, directory, damagedDirectory, manifest, isWritten, reader, timers });
  return {
    archive,
    notes,
    handOverNewest: async () =>
      manifest.days.size + manifest.expired.size === 0 ||
      restoreNewest({
        manifest,
        database: await openFirst(),
        faultOf: async (part) =>
          (await archive.verifyChecksums([part])) ? null : (archive.damaged.get(part.file) ?? ""),
        pathOf,
        onNewest,
        notes,
      }),
  };
}

async function emptyFolder(files: Files, folder: string): Promise<void> {
  for (const name of await files.list(folder))
    await files.removeAll(join(folder, name)).catch(ignoreFileError);
}

/** Reads the manifest. If it is lost, makes one from the files and says so in the notes. */
async function readOrRebuildManifest(
  { files, directory, damagedDirectory, pathOf }: OpenArchiveOptions,
  openReading: () => Promise<Database>,
  notes: string[],
): Promise<Pick<Archive, "manifest" | "isWritten">> {
  const path = archivePaths(directory).manifest;
  if (await files.exists(path)) {
    const bytes = await readOrFault(files, path);
    const manifest = bytes instanceof Uint8Array ? readManifest(bytes, path) : null;
    // That the system shows a file does not mean that the disk has it: an earlier process may not have come to its
    // sync.
    if (manifest !== null) return { manifest, isWritten: false };
    const fate =
      bytes instanceof Uint8Array
        ? `is damaged: it was ${await setAside(files, damagedDirectory, bytes)} and`
        : `can't be read (${bytes.message}): it was`;
    notes.push(`The archive's manifest ${fate} made anew from the files.`);
  } else {
    if ((await listPartFiles(files, directory)).length === 0)
      return { manifest: EMPTY_MANIFEST, isWritten: true };
    notes.push("The archive's manifest is missing: it was made anew from the files.");
  }
  const connection = await (await openReading()).connect();
  try {
    const { manifest, leftOut } = await rebuildManifest(
      { files, directory, damagedDirectory, pathOf },
      connection,
    );
    notes.push(...leftOut.map((file) => `archive/${file} can't be read: the new manifest goes without it.`));
    return { manifest, isWritten: false };
  } finally {
    connection.close();
  }
}

/** The file, or what the disk says instead. Without a file descriptor nothing is known of it: that is thrown. */
async function readOrFault(files: Files, path: string): Promise<Uint8Array | FileError> {
  try {
    return await files.read(path);
  } catch (error) {
    if (!(error instanceof FileError) || isOutOfDescriptors(error)) throw error;
    return error;
  }
}

/** Keeps the bytes of a manifest that is damaged; tells what became of them. A full disk is no reason not to start. */
async function setAside(files: Files, damagedDirectory: string, bytes: Uint8Array): Promise<string> {
  const name = `manifest.json.${crc32(bytes).toString(16).padStart(8, "0")}.damaged`;
  const savedAs = join(damagedDirectory, name);
  try {
    await files.makeDirectory(damagedDirectory);
    await files.replace(savedAs, bytes);
    return `set aside as ${savedAs}`;
  } catch (error) {
    ignoreFileError(error);
    return `not set aside (${messageOf(error)})`;
  }
}

export interface RestoreNewestOptions {
  readonly manifest: Manifest;
  readonly database: Database;
  /** What is wrong with a part, read whole; null if it is as it was written. */
  faultOf(part: Part): Promise<string | null>;
  pathOf(file: string): string;
  onNewest(appId: AppId, batch: ReportBatch): void;
  /** What can't be read is said here. */
  readonly notes: string[];
}

/**
 * Reads the checkpoint; if it is lost, every part says what it knows, the oldest first. Both are read only once
 * their checksum is compared: DuckDB reads over most flipped bits without a word. Resolves with whether all was read.
 */
export async function restoreNewest(options: RestoreNewestOptions): Promise<boolean> {
  const { manifest, database, faultOf, pathOf, onNewest, notes } = options;
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
          "The newest positions are read from all of the archive, since their own file can't be used: " +
            messageOf(error),
        );
      }
    }
    let isWhole = true;
    for (const [day, { parts }] of [...manifest.expired, ...manifest.days].sort(([a], [b]) => a - b)) {
      for (const part of parts) {
        try {
          await expectGood(part);
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

/** Looks at every part, and at what lies beside them; what it says is for people, a sentence each. */
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
    return [`The archive's files could not be looked at: ${messageOf(error)}.`]; // Each is before it is believed.
  }
  return [
    ...[...archive.damaged].map(([file, fault]) => `archive/${file} can't be used: ${fault}.`),
    ...foreign.map((file) => `archive/${file} is none of the archive's files, and is left alone.`),
  ];
}
