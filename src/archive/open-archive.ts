import { join } from "node:path";
import { crc32 } from "node:zlib";
import { messageOf } from "../lib/message-of.ts";
import { NewerFormatError } from "../lib/newer-format-error.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import { type Files, unlessFileError } from "../runtime/files.ts";
import { utcDayName } from "../time/utc-day.ts";
import { type Archive, createArchive } from "./archive.ts";
import { type Database, loadDuckDb, openDatabase } from "./duckdb.ts";
import { EMPTY_MANIFEST, type Manifest, type Part, parseManifest } from "./manifest.ts";
import { findNewest, readNewest } from "./newest-records.ts";
import { createPartReader } from "./part-reader.ts";
import { archivePaths, parseDayFolder } from "./paths.ts";
import { rebuildManifest } from "./rebuild-manifest.ts";
import { findStrayFiles } from "./stray-files.ts";

export interface OpenArchiveOptions {
  readonly files: Files;
  readonly directory: string;
  /** Where a manifest goes that can't be used. */
  readonly damagedDirectory: string;
  readonly limits: ArchiveLimits;
  /** Where DuckDB finds a file of the archive, and the archive for an empty name. */
  pathOf(file: string): string;
  /** Takes in the newest sealed record of each device; where one comes twice, the later one counts. */
  onNewest(appId: AppId, batch: ReportBatch): void;
}

/** What questions to the archive may use. */
export interface ArchiveLimits {
  readonly threads: number;
  readonly memoryBytes: number;
  /** Questions that run at once, and that wait for their turn. */
  readonly queriesMax: number;
  readonly queueMax: number;
}

/** What was wrong with the archive, and what was done about it; a sentence each. */
export type ArchiveNotes = readonly string[];

export interface OpenedArchive {
  readonly archive: Archive;
  readonly notes: ArchiveNotes;
}

/**
 * Opens the archive, whatever state it is in: reads the manifest, or makes one from the files where it is lost,
 * and hands over the newest record of every device. It looks at no other file. Throws a `NewerFormatError` where a
 * newer program wrote the manifest.
 */
export async function openArchive(options: OpenArchiveOptions): Promise<OpenedArchive> {
  const { files, directory, damagedDirectory, limits, pathOf, onNewest } = options;
  const paths = archivePaths(directory);
  await loadDuckDb(); // Now, when nobody waits: it holds the event loop up for 60 to 160 ms.
  await files.makeDirectory(paths.scratch);
  await emptyFolder(files, paths.scratch);
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
  const found = await findManifest(files, directory, damagedDirectory, openFirst, notes);
  const reader = createPartReader({
    openDatabase() {
      const opened = first ?? openDatabase(databaseOptions);
      first = null;
      return opened;
    },
    pathOf: ({ file }: Part) => pathOf(file),
    slots: limits.queriesMax,
    queueMax: limits.queueMax,
  });
  const archive = createArchive({ files, directory, damagedDirectory, manifest: found, reader });
  if (found.days.size > 0) await restoreNewest(archive, await openFirst(), pathOf, onNewest, notes);
  return { archive, notes };
}

async function emptyFolder(files: Files, folder: string): Promise<void> {
  for (const name of await files.list(folder)) await files.remove(join(folder, name)).catch(unlessFileError);
}

async function findManifest(
  files: Files,
  directory: string,
  damagedDirectory: string,
  openReading: () => Promise<Database>,
  notes: string[],
): Promise<Manifest> {
  const path = archivePaths(directory).manifest;
  if (await files.exists(path)) {
    const bytes = await files.read(path);
    const parsed = parseManifest(bytes);
    if (parsed.ok) return parsed.value;
    if (parsed.error.kind === "newer") {
      throw new NewerFormatError(
        "the archive's manifest",
        path,
        "format version 1",
        String(parsed.error.version),
      );
    }
    const savedAs = join(
      damagedDirectory,
      `manifest.json.${crc32(bytes).toString(16).padStart(8, "0")}.damaged`,
    );
    await files.makeDirectory(damagedDirectory);
    await files.replace(savedAs, bytes);
    notes.push(
      `The archive's manifest is damaged: it was set aside as ${savedAs} and made anew from the files.`,
    );
  } else {
    const hasDays = (await files.list(directory)).some((name) => parseDayFolder(name) !== null);
    if (!hasDays) return EMPTY_MANIFEST;
    notes.push("The archive's manifest is missing: it was made anew from the files.");
  }
  const connection = await (await openReading()).connect();
  try {
    return await rebuildManifest(files, directory, connection);
  } finally {
    connection.close();
  }
}

/** Reads the checkpoint; where it is lost, every part says what it knows, the oldest first. */
async function restoreNewest(
  { manifest }: Archive,
  database: Database,
  pathOf: (file: string) => string,
  onNewest: OpenArchiveOptions["onNewest"],
  notes: string[],
): Promise<void> {
  const connection = await database.connect();
  try {
    if (manifest.latest !== null) {
      try {
        for (const { file } of manifest.latest) {
          for await (const { appId, batch } of readNewest(connection, pathOf(file))) onNewest(appId, batch);
        }
        return;
      } catch (error) {
        notes.push(
          `The newest positions are read from all of the archive, since their own file can't be used: ${messageOf(error)}`,
        );
      }
    }
    for (const [day, { parts }] of [...manifest.days].sort(([a], [b]) => a - b)) {
      for (const { file } of parts) {
        try {
          for await (const { appId, batch } of findNewest(connection, pathOf(file))) onNewest(appId, batch);
        } catch (error) {
          notes.push(`The newest positions of ${utcDayName(day)} can't be read: ${messageOf(error)}`);
        }
      }
    }
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
  await archive.examine([...manifest.days.values()].flatMap(({ parts }) => parts));
  const { foreign } = await findStrayFiles(files, directory, manifest);
  return [
    ...[...archive.damaged].map(([file, fault]) => `archive/${file} can't be used: ${fault}.`),
    ...foreign.map((file) => `archive/${file} is none of the archive's files, and is left alone.`),
  ];
}
