import { join } from "node:path";
import { archivePaths, listPartFiles, listStandingFiles } from "../../archive/archive-files.ts";
import type { Manifest, Part, SealedDay } from "../../archive/manifest.ts";
import { FileError, type Files } from "../../runtime/files.ts";

/** The manifest's path in a data directory. */
export const MANIFEST = "archive/manifest.json";

/** The path of the database of events. */
export const EVENTS = "events/events.sqlite";

/**
 * Keys, passphrases, secrets of webhooks, settings, erasures, and the name under which a broker queues messages: a
 * restored directory takes the place of the one that was lost.
 */
export const SINGLE_FILES = [
  "keys.json",
  "pass-phrases.json",
  "webhook-secrets.json",
  "settings.json",
  "erasures.json",
  "directory-id",
] as const;

/** Folders of which every file belongs to a backup: damaged bytes, import state, and reports of erasures. */
export const OTHER_FOLDERS = ["damaged", "imports", "erasures"] as const;

/** A file that a backup should have. */
export interface WantedFile {
  readonly file: string;
  /** Size and checksum of a part, from the manifest; null for files that the manifest does not name. */
  readonly expected: Pick<Part, "bytes" | "crc"> | null;
}

/** Every file that a manifest names, except parts acknowledged as lost. */
export function wantedParts({ days, latest, expired, standing }: Manifest): WantedFile[] {
  const partsIn = (sealed: Iterable<SealedDay>) => [...sealed].flatMap(({ parts }) => parts);
  const all = [
    ...partsIn(days.values()),
    ...(latest ?? []),
    ...partsIn(expired.values()),
    ...(standing === null ? [] : [standing]),
  ];
  return all.map((part) => ({ file: `archive/${part.file}`, expected: part }));
}

/** Every file that may be a part, for an archive whose manifest is lost. */
export async function findParts(files: Files, archiveDirectory: string): Promise<WantedFile[]> {
  const parts = (await listPartFiles(files, archiveDirectory)).map(({ file }) => file);
  const all = [...parts, ...(await listStandingFiles(files, archiveDirectory))];
  return all.map((file) => wanted(`archive/${file}`));
}

/** The messages that could not be used. */
export function findQuarantined(files: Files, dataDir: string): Promise<WantedFile[]> {
  return findFilesOf(files, dataDir, "quarantine");
}

/** Single files, and all files of some other folders of a data directory. */
export async function findOthers(files: Files, dataDir: string): Promise<WantedFile[]> {
  const others: WantedFile[] = [];
  for (const file of SINGLE_FILES) if (await files.exists(join(dataDir, file))) others.push(wanted(file));
  for (const folder of OTHER_FOLDERS) others.push(...(await findFilesOf(files, dataDir, folder)));
  return others;
}

async function findFilesOf(files: Files, dataDir: string, folder: string): Promise<WantedFile[]> {
  const names = await files.list(join(dataDir, folder));
  return names.filter((name) => !name.endsWith(".tmp")).map((name) => wanted(`${folder}/${name}`));
}

function wanted(file: string): WantedFile {
  return { file, expected: null };
}

/** The manifest's bytes; null if there is none. */
export async function readManifestBytes(files: Files, archiveDirectory: string): Promise<Uint8Array | null> {
  const path = archivePaths(archiveDirectory).manifest;
  return (await files.exists(path)) ? files.read(path) : null;
}

export const MISSING = "it is missing";

/** The bytes of a file, or what is wrong with it. */
export async function readSource(files: Files, path: string): Promise<Uint8Array | string> {
  try {
    return await files.read(path);
  } catch (error) {
    return faultOf(error);
  }
}

/** What is wrong with a file, judged by its size alone; null if it has the right size. */
export async function findFault(files: Files, path: string, wantedBytes: number): Promise<string | null> {
  try {
    const bytes = await files.size(path);
    return bytes === wantedBytes ? null : `it has ${bytes} bytes instead of ${wantedBytes}`;
  } catch (error) {
    return faultOf(error);
  }
}

function faultOf(error: unknown): string {
  if (!(error instanceof FileError)) throw error;
  return error.code === "ENOENT" ? MISSING : `it can't be read: ${error.reason}`;
}
