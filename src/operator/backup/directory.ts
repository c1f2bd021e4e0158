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
import { MANIFEST, OTHER_FOLDERS, SINGLE_FILES } from "./source.ts";

/*
 * A backup's directory is a data directory with a `backup.json`, which names every file. New files wait in `next/`
 * until `backup.json` is replaced in one step, and move to their places only then: at any moment each file that it
 * names is in its place or in `next/`.
 */
const BACKUP_FILE = "backup.json";
const NEXT = "next";
const SCRATCH = "scratch";
/** The lock of a data directory; a backup has it too. */
export const LOCK = "lock";

/** The name under which a file waits. It is flat, because folders would have to be created and removed. */
function waitingName(file: string): string {
  return file.replaceAll("/", "+");
}

/** A crash while `backup.json` is replaced leaves such a file. */
function isTemporary(name: string): boolean {
  return name.startsWith(`${BACKUP_FILE}.`) && name.endsWith(".tmp");
}

/** The backup in a directory, null if there is none yet, or a sentence that says why the directory can't have one. */
export async function readBackup(files: Files, directory: string): Promise<Result<Backup | null, string>> {
  const path = join(directory, BACKUP_FILE);
  if (!(await files.exists(path))) return ok(null);
  const parsed = parseBackup(await files.read(path));
  if (parsed.ok) return parsed;
  if (parsed.error.kind === "damaged")
    return fail(`"${path}" is damaged: it is unknown what the backup holds.`);
  throw FormatVersionError.of("backup", path, BACKUP_VERSION, parsed.error.version);
}

/** Whether a directory has nothing except what an interrupted first backup leaves. */
export async function isEmptyForBackup(files: Files, directory: string): Promise<boolean> {
  const names = await files.list(directory);
  return names.every((name) => name === LOCK || name === NEXT || isTemporary(name));
}

export interface StoredFile {
  readonly bytes: Uint8Array;
  /** Whether it is still in `next/`. */
  readonly isWaiting: boolean;
}

export interface FileFault {
  readonly message: string;
  /** Why `next/` can't be read, which may have the file intact; null if it was read. */
  readonly unread: FileError | null;
}

/** A file of a backup that is intact, or what is wrong with it. */
export async function findFile(
  files: Files,
  directory: string,
  wanted: BackupFile,
): Promise<Result<StoredFile, FileFault>> {
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

/** A backup's directory that is being written to. */
export interface BackupDirectory {
  /** Describes the file in this place by its present bytes; null if there is none. */
  describe(file: string): Promise<BackupFile | null>;
  /** Writes a file to `next/`; replaces one that waits there under the same name. */
  write(file: string, bytes: Uint8Array): Promise<void>;
  /** Like `write`, but adds a second name to the file at `source`; false if the file system can't. */
  link(file: string, source: string): Promise<boolean>;
  /** Reads what `write` writes to the path of a file that is removed afterwards. */
  scratch(write: (path: string) => Promise<void>): Promise<Uint8Array>;
  commit(backup: Backup): Promise<void>;
  /** Moves the files of the backup into place, and removes what it does not name. */
  settle(backup: Backup): Promise<void>;
  /**
   * Finishes the former backup if a crash or a disk interrupted it, and removes the files of one that never became
   * valid. Before it resolves, `next/` may have the only copy of a file of the former backup, and no other method may
   * be called.
   */
  resume(former: Backup | null): Promise<void>;
  /** Removes the files that wait. */
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
    async scratch(write) {
      const path = join(next, SCRATCH);
      await makeWay(path);
      await write(path);
      const bytes = await files.read(path);
      await files.remove(path);
      return bytes;
    },
    async commit(backup) {
      if (hasNext) await files.syncDirectory(next);
      await files.replace(join(directory, BACKUP_FILE), encodeBackup(backup));
    },
    async resume(former) {
      if (former !== null && (await files.exists(next))) {
        // After a failed sync this one, too, may last only until a power failure.
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

/** The log moves first and the manifest last, so that the directory is a valid data directory at any moment. */
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
 * Moves a file back to `next/` if its place may last only until a power failure: after a failed sync no later sync
 * reports success or failure reliably, unless the file is renamed again. False if there is no such file.
 */
async function makeWait(
  files: Files,
  directory: string,
  wanted: BackupFile,
  waiting: ReadonlySet<string>,
): Promise<boolean> {
  const path = join(directory, NEXT, waitingName(wanted.file));
  if (waiting.has(waitingName(wanted.file))) {
    const stored = await findFile(files, directory, wanted);
    if (!stored.ok && stored.error.unread !== null) throw stored.error.unread; // The file may be there.
    if (stored.ok && stored.value.isWaiting) return true;
  }
  const inPlace = join(directory, wanted.file);
  if (!(await files.exists(inPlace))) return false;
  await files.rename(inPlace, path);
  return true;
}

/** Removes files that a backup does not name, and folders that are empty afterwards. */
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

/** Folders of a data directory that may have files, by their path in it. */
async function dataFolders(files: Files, directory: string): Promise<string[]> {
  const list = (folder: string) => files.list(join(directory, folder));
  const isDay = (name: string) => parseDayFolder(name) !== null;
  const days = (await list("archive")).filter(isDay).map((day) => `archive/${day}`);
  return ["wal", "quarantine", "events", ...OTHER_FOLDERS, "archive/latest", "archive/standing", ...days];
}
