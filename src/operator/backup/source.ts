import { join } from "node:path";
import { archivePaths, listPartFiles } from "../../archive/archive-files.ts";
import type { Manifest, Part, SealedDay } from "../../archive/manifest.ts";
import { STREAM_POSITION_FILE } from "../../cluster/quarantine/stream-position.ts";
import { FileError, type Files } from "../../runtime/files.ts";

/** The manifest's path in a data directory. */
export const MANIFEST = "archive/manifest.json";

/**
 * Who may ask and report, how what they encrypt is opened, how long records are kept, and under which name a broker
 * keeps messages: for a restored directory, which takes the place of the one that was lost.
 */
export const SINGLE_FILES = ["keys.json", "pass-phrases.json", "settings.json", "directory-id"];

/** A file that a backup should have. */
export interface WantedFile {
  /** Its path in a data directory. */
  readonly file: string;
  /** What the manifest says of a part; null for files of which nobody says anything. */
  readonly expected: Pick<Part, "bytes" | "crc"> | null;
}

/** Every part that a manifest names, but for those that were given up. */
export function wantedParts({ days, latest, expired }: Manifest): WantedFile[] {
  const partsIn = (sealed: Iterable<SealedDay>) => [...sealed].flatMap(({ parts }) => parts);
  const all = [...partsIn(days.values()), ...(latest ?? []), ...partsIn(expired.values())];
  return all.map((part) => ({ file: `archive/${part.file}`, expected: part }));
}

/** Every file that may be a part, for an archive whose manifest is lost. */
export async function findParts(files: Files, archiveDirectory: string): Promise<WantedFile[]> {
  const names = (await listPartFiles(files, archiveDirectory)).map(({ file }) => `archive/${file}`);
  return names.map(wanted);
}

/** What clients sent and nobody could use. How far a node has taken that over says nothing of a restored directory. */
export async function findQuarantined(files: Files, dataDir: string): Promise<WantedFile[]> {
  const found = await findFilesOf(files, dataDir, "quarantine");
  return found.filter(({ file }) => file !== `quarantine/${STREAM_POSITION_FILE}`);
}

/** Whatever lies in some other folders of a data directory, and some files of it. */
export async function findOthers(files: Files, dataDir: string): Promise<WantedFile[]> {
  const found: WantedFile[] = [];
  for (const file of SINGLE_FILES) if (await files.exists(join(dataDir, file))) found.push(wanted(file));
  for (const folder of ["damaged", "imports"]) found.push(...(await findFilesOf(files, dataDir, folder)));
  return found;
}

async function findFilesOf(files: Files, dataDir: string, folder: string): Promise<WantedFile[]> {
  const names = await files.list(join(dataDir, folder));
  return names.filter((name) => !name.endsWith(".tmp")).map((name) => wanted(`${folder}/${name}`));
}

function wanted(file: string): WantedFile {
  return { file, expected: null };
}

/** The manifest's bytes; null where there is none. */
export async function readManifestBytes(files: Files, archiveDirectory: string): Promise<Uint8Array | null> {
  const path = archivePaths(archiveDirectory).manifest;
  return (await files.exists(path)) ? files.read(path) : null;
}

/** What is wrong with a file that is not there. */
export const MISSING = "it is missing";

/** The bytes of a file, or what is wrong with it. */
export async function readSource(files: Files, path: string): Promise<Uint8Array | string> {
  try {
    return await files.read(path);
  } catch (error) {
    return faultOf(error);
  }
}

/** What a glance tells to be wrong with a file; null if it has the right size. */
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
