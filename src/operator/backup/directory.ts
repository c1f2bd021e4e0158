import { dirname, join } from "node:path";
import { parseDayFolder } from "../../archive/archive-files.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { FormatVersionError } from "../../lib/text/versioned-json.ts";
import { FileError, type Files, readIfThere } from "../../runtime/files.ts";
import {
  BACKUP_VERSION,
  type Backup,
  type BackupFile,
  describeFile,
  encodeBackup,
  parseBackup,
  sameFile,
} from "./file.ts";
import { MANIFEST, SINGLE_FILES } from "./source.ts";

/*
 * A backup's directory is a data directory with a `backup.json` beside, which names every file. New files wait in
 * `next/` until `backup.json` is replaced in one step, and only then take their places: at any moment each
 * file that it names is in its place or in `next/`.
 */
const BACKUP_FILE = "backup.json";
const NEXT = "next";
/** The lock of a data directory, which a backup is too. */
export const LOCK = "lock";

/** The name under which a file waits: folders would have to be made and removed. */
function waitingName(file: string): string {
  return file.replaceAll("/", "+");
}

/** What a crash leaves of a `backup.json` that was being replaced. */
function isTemporary(name: string): boolean {
  return name.startsWith(`${BACKUP_FILE}.`) && name.endsWith(".tmp");
}

/** The backup in a directory; null where there is none yet, or a sentence that says why it is no place for one. */
export async function readBackup(files: Files, directory: string): Promise<Result<Backup | null, string>> {
  const path = join(directory, BACKUP_FILE);
  if (!(await files.exists(path))) return ok(null);
  const parsed = parseBackup(await files.read(path));
  if (parsed.ok) return parsed;
  if (parsed.error.kind === "damaged")
    return fail(`"${path}" is damaged: nobody knows what the backup holds.`);
  throw FormatVersionError.of("backup", path, BACKUP_VERSION, parsed.error.version);
}

/** Whether a directory holds nothing but what a backup leaves that never came to its end. */
export async function isEmptyForBackup(files: Files, directory: string): Promise<boolean> {
  const names = await files.list(directory);
  return names.every((name) => name === LOCK || name === NEXT || isTemporary(name));
}

export interface FoundFile {
  readonly bytes: Uint8Array;
  /** Whether it is in `next/` still. */
  readonly isWaiting: boolean;
}

/** Why a file of a backup can't be used. */
export interface FileFault {
  readonly message: string;
  /** Why nobody knows what waits in `next/`, which may well be whole; null where that is known. */
  readonly unread: FileError | null;
}

/** A file of a backup that is whole, or what is wrong with it. */
export async function findFile(
  files: Files,
  directory: string,
  wanted: BackupFile,
): Promise<Result<FoundFile, FileFault>> {
  let message = "it is missing";
  let unread: FileError | null = null;
  for (const isWaiting of [true, false]) {
    const path = isWaiting ? join(directory, NEXT, waitingName(wanted.file)) : join(directory, wanted.file);
    try {
      const bytes = await files.read(path);
      if (sameFile(describeFile(wanted.file, bytes), wanted)) return ok({ bytes, isWaiting });
      message =
        bytes.length === wanted.bytes
          ? "its bytes are not those written"
          : `it has ${bytes.length} bytes instead of ${wanted.bytes}`;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (error.code === "ENOENT") continue;
      message = error.message;
      if (isWaiting) unread = error;
    }
  }
  return fail({ message, unread });
}

/** A backup's directory that is being written. */
export interface BackupDirectory {
  /** What lies in the place of a file, by its bytes as they are now; null where nothing does. */
  describe(file: string): Promise<BackupFile | null>;
  /** Puts a file into `next/`, over what may wait there under its name. */
  write(file: string, bytes: Uint8Array): Promise<void>;
  /** The same by a second name of the file at `source`; false where the file system can't. */
  link(file: string, source: string): Promise<boolean>;
  /** Makes this the backup, in one step. */
  commit(backup: Backup): Promise<void>;
  /** Puts what was written for the backup in its place, and removes what it does not name. */
  settle(backup: Backup): Promise<void>;
  /**
   * Does what a crash or a disk kept the former backup from, and forgets what one left that was never finished. Until
   * it has resolved, what waits may be the former backup's only copy of a file, and nothing else may be called.
   */
  resume(former: Backup | null): Promise<void>;
  /** Forgets what waits. */
  discard(): Promise<void>;
}

export function createBackupDirectory(files: Files, directory: string): BackupDirectory {
  const next = join(directory, NEXT);
  let hasNext = false;

  async function makeWay(path: string): Promise<void> {
    if (!hasNext) await files.makeDirectory(next);
    hasNext = true;
    if (await files.exists(path)) await files.remove(path);
  }

  async function discard(): Promise<void> {
    const temporary = (await files.list(directory)).filter(isTemporary);
    for (const name of temporary) await files.remove(join(directory, name));
    if (await files.exists(next)) await files.removeAll(next);
    hasNext = false;
  }

  return {
    async describe(file) {
      const bytes = await readIfThere(files, join(directory, file));
      return bytes === null ? null : describeFile(file, bytes);
    },
    async write(file, bytes) {
      const path = join(next, waitingName(file));
      await makeWay(path);
      await writeDurably(files, path, bytes);
    },
    async link(file, source) {
      const path = join(next, waitingName(file));
      await makeWay(path);
      try {
        await files.link(source, path);
        return true;
      } catch (error) {
        if (error instanceof FileError && error.code !== "ENOSPC" && error.code !== "EDQUOT") return false;
        throw error;
      }
    },
    async commit(backup) {
      if (hasNext) await files.syncDirectory(next);
      await files.replace(join(directory, BACKUP_FILE), encodeBackup(backup));
    },
    async resume(former) {
      if (former !== null && (await files.exists(next))) {
        // It may count only until the power fails, too.
        await files.replace(join(directory, BACKUP_FILE), encodeBackup(former));
        const waiting = new Set(await files.list(next));
        await moveIntoPlace(files, directory, former, (wanted) =>
          makeWait(files, directory, wanted, waiting),
        );
      }
      await discard();
    },
    async settle(backup) {
      const waiting = new Set(await files.list(next));
      await moveIntoPlace(files, directory, backup, async ({ file }) => waiting.has(waitingName(file)));
      await discard();
      await removeUnnamed(files, directory, new Set(backup.files.map(({ file }) => file)));
    },
    discard,
  };
}

/** The caller syncs the directory. */
export async function writeDurably(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  const file = await files.openAppend(path);
  try {
    await file.append([bytes]);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The log comes first and the manifest last, so that the directory is a data directory at any moment. */
async function moveIntoPlace(
  files: Files,
  directory: string,
  { files: all }: Backup,
  waits: (file: BackupFile) => Promise<boolean>,
): Promise<void> {
  for (const wanted of inOrder(all)) {
    if (!(await waits(wanted))) continue;
    const to = join(directory, wanted.file);
    await files.makeDirectory(dirname(to));
    await files.rename(join(directory, NEXT, waitingName(wanted.file)), to);
  }
  const folders = new Set(all.map(({ file }) => dirname(join(directory, file))));
  for (const folder of folders) if (await files.exists(folder)) await files.syncDirectory(folder);
}

function inOrder(all: readonly BackupFile[]): BackupFile[] {
  const rank = ({ file }: BackupFile) => (file.startsWith("wal/") ? 0 : file === MANIFEST ? 2 : 1);
  return [...all].sort((a, b) => rank(a) - rank(b));
}

/**
 * Has a file wait again that may be in its place only until the power fails: after a sync that failed no later one
 * tells, unless the file is renamed anew. False where there is none.
 */
async function makeWait(
  files: Files,
  directory: string,
  wanted: BackupFile,
  waiting: ReadonlySet<string>,
): Promise<boolean> {
  const path = join(directory, NEXT, waitingName(wanted.file));
  if (waiting.has(waitingName(wanted.file))) {
    const found = await findFile(files, directory, wanted);
    if (!found.ok && found.error.unread !== null) throw found.error.unread; // Not to be forgotten.
    if (found.ok && found.value.isWaiting) return true;
  }
  const inPlace = join(directory, wanted.file);
  if (!(await files.exists(inPlace))) return false;
  await files.rename(inPlace, path);
  return true;
}

/** Removes what a backup does not name, and the folders that are empty then. */
async function removeUnnamed(files: Files, directory: string, named: ReadonlySet<string>): Promise<void> {
  for (const folder of await dataFolders(files, directory)) {
    const path = join(directory, folder);
    const names = await files.list(path);
    const gone = names.filter((name) => !named.has(`${folder}/${name}`));
    if (gone.length === 0) continue;
    if (gone.length === names.length) await files.removeAll(path);
    else for (const name of gone) await files.remove(join(path, name));
    await files.syncDirectory(gone.length === names.length ? dirname(path) : path);
  }
  for (const file of [...SINGLE_FILES, MANIFEST]) {
    if (!named.has(file)) await files.removeAll(join(directory, file));
  }
}

/** Folders of a data directory that hold files, by their path in it; some may not be there. */
async function dataFolders(files: Files, directory: string): Promise<string[]> {
  const list = (folder: string) => files.list(join(directory, folder));
  const isDay = (name: string) => parseDayFolder(name) !== null;
  const days = (await list("archive")).filter(isDay).map((day) => `archive/${day}`);
  return ["wal", "damaged", "imports", "archive/latest", ...days];
}
