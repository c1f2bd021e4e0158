import { join } from "node:path";
import { listPartFiles } from "../../archive/files/list-part-files.ts";
import type { Manifest, Part } from "../../archive/files/manifest.ts";
import { archivePaths } from "../../archive/files/paths.ts";
import { FileError, type Files } from "../../runtime/files.ts";
import { STREAM_POSITION_FILE } from "../quarantine/replicated/stream-position.ts";

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
  /** Where it may be found there; a running server may move it from one to the other. */
  readonly sources: readonly string[];
  /** What the manifest says of a part; null for files of which nobody says anything. */
  readonly expected: Pick<Part, "bytes" | "crc"> | null;
}

/** Every part that a manifest names, but for those that were given up. */
export function partsOf({ days, latest, expired }: Manifest): WantedFile[] {
  const sealed = [...days.values()].flatMap(({ parts }) => parts);
  const inPlace = [...sealed, ...(latest ?? [])].map((part) => {
    const file = `archive/${part.file}`;
    return { file, sources: [file], expected: part };
  });
  const expiring = [...expired.values()].flatMap(({ parts, sinceMs }) =>
    parts.map((part) => {
      const file = `archive/${part.file}`;
      // Version 0.1 moved them aside, and the next start brings them back, perhaps just now.
      return { file, sources: [file, `archive/expired/${sinceMs}/${part.file}`, file], expected: part };
    }),
  );
  return [...inPlace, ...expiring];
}

/** Every file that may be a part, for an archive whose manifest is lost. */
export async function findParts(files: Files, archiveDirectory: string): Promise<WantedFile[]> {
  const names = (await listPartFiles(files, archiveDirectory)).map(({ file }) => `archive/${file}`);
  return names.map((file) => ({ file, sources: [file], expected: null }));
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
  return { file, sources: [file], expected: null };
}

/** The manifest's bytes; null where there is none. */
export async function readManifestBytes(files: Files, archiveDirectory: string): Promise<Uint8Array | null> {
  const path = archivePaths(archiveDirectory).manifest;
  return (await files.exists(path)) ? files.read(path) : null;
}

/** What is wrong with a file that is nowhere. */
export const MISSING = "it is missing";

/** The first of a file's sources that is there, or what is wrong with them. */
export async function readSource(
  files: Files,
  dataDir: string,
  sources: readonly string[],
): Promise<{ path: string; bytes: Uint8Array } | string> {
  for (const source of sources) {
    const path = join(dataDir, source);
    try {
      return { path, bytes: await files.read(path) };
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (error.code !== "ENOENT") return `it can't be read: ${error.reason}`;
    }
  }
  return MISSING;
}

/** What a glance tells to be wrong with a file's sources; null where the first that is there has the right size. */
export async function findFault(
  files: Files,
  dataDir: string,
  sources: readonly string[],
  wantedBytes: number,
): Promise<string | null> {
  for (const source of sources) {
    try {
      const bytes = await files.size(join(dataDir, source));
      return bytes === wantedBytes ? null : `it has ${bytes} bytes instead of ${wantedBytes}`;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (error.code !== "ENOENT") return `it can't be read: ${error.reason}`;
    }
  }
  return MISSING;
}
