import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { directoryPaths } from "../../directory/paths.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { FileError, type Files, ignoreFileError, isPassing, moveDurably } from "../../runtime/files.ts";
import { type ClusterFile, readClusterFile, writeClusterFile } from "../cluster-file.ts";
import type { CopyPath } from "./copy-path.ts";

/*
 * What is copied lies in `joining/` until all of it is there, so that a directory is a node's as a whole or not at all:
 * `cluster.json` comes last. A copy that was broken off goes on with what lies there.
 */

const WORK = "joining";
/** What is copied, folder by folder. */
const FOLDERS = ["quarantine", "archive"] as const;
/** Not ours: the lock, and what file systems put into the root of a disk. */
const OTHERS = ["lock", "lost+found"];

/** Size and CRC-32 of a file. */
export interface FileSum {
  readonly bytes: number;
  readonly crc: number;
}

/**
 * The node whose directory it is, whose archive is to be replaced; null where it is nobody's yet, or a sentence that
 * says why it can't be one's.
 */
export async function findFormerNode(
  files: Files,
  dataDir: string,
  again: boolean,
): Promise<Result<ClusterFile | null, string>> {
  const former = await readClusterFile(files, dataDir);
  if (former !== null) {
    if (again) return ok(former);
    return fail(
      `"${dataDir}" is a node's already. If its start said that it must copy again, add --again; else serve it.`,
    );
  }
  const names = (await files.list(dataDir)).filter((name) => !OTHERS.includes(name));
  const isBegun = names.includes(WORK) && (await files.list(directoryPaths(dataDir).log)).length === 0;
  if (names.length === 0 || isBegun) return ok(null);
  return fail(`"${dataDir}" is not empty: a node is made in a new directory.`);
}

export interface JoiningDirectory {
  /** Where copied files lie, by their paths in a data directory. */
  pathOf(file: CopyPath): string;
  /** Whether a former try, or the archive that is to be replaced, has the file as it should be. Reads all of it. */
  has(file: CopyPath, wanted: FileSum): Promise<boolean>;
  /** Writes a file beside its place, which `accept` puts it into. Resolves once it is on the disk. */
  write(file: CopyPath, pieces: AsyncIterable<Uint8Array>): Promise<FileSum>;
  accept(file: CopyPath): Promise<void>;
  /** Forgets what a former try left of a folder. */
  clear(folder: (typeof FOLDERS)[number]): Promise<void>;
  /** Makes it the directory of this node, with what was copied but for archived files that are not wanted. */
  commit(node: ClusterFile, wanted: ReadonlySet<CopyPath>): Promise<void>;
}

/** The directory's lock is ours. Goes on where a former try was broken off. */
export async function openJoiningDirectory(files: Files, dataDir: string): Promise<JoiningDirectory> {
  const work = join(dataDir, WORK);
  const pathOf = (file: CopyPath) => join(work, file);
  const isNode = (await readClusterFile(files, dataDir)) !== null;
  for (const folder of FOLDERS) {
    const inWork = join(work, folder);
    if (await files.exists(inWork)) continue;
    const inPlace = join(dataDir, folder);
    // Broken off in the midst of `commit`: it is done once more, as a whole.
    if (!isNode && (await files.exists(inPlace))) await moveDurably(files, inPlace, inWork);
    else await files.makeDirectory(inWork);
  }

  /** The file's sum, or null where it is not of this size, or can't be read. */
  async function sumOf(path: string, bytes: number): Promise<FileSum | null> {
    try {
      if ((await files.size(path)) !== bytes) return null;
      let crc = 0;
      for await (const piece of files.readPieces(path)) crc = crc32(piece, crc);
      return { bytes, crc };
    } catch (error) {
      if (!(error instanceof FileError) || isPassing(error)) throw error;
      return null;
    }
  }

  return {
    pathOf,
    async has(file, { bytes, crc }) {
      if ((await sumOf(pathOf(file), bytes))?.crc === crc) return true;
      const former = join(dataDir, file);
      if (!isNode || (await sumOf(former, bytes))?.crc !== crc) return false;
      await files.makeDirectory(dirname(pathOf(file)));
      await files.removeAll(pathOf(file));
      try {
        await files.link(former, pathOf(file));
        return true;
      } catch (error) {
        ignoreFileError(error);
        return false; // The file system can't: it is copied like any other.
      }
    },
    async write(file, pieces) {
      const path = draftOf(pathOf(file));
      await files.makeDirectory(dirname(path));
      await files.removeAll(path);
      const draft = await files.openAppend(path);
      let [bytes, crc] = [0, 0];
      try {
        for await (const piece of pieces) {
          await draft.append([piece]);
          bytes += piece.length;
          crc = crc32(piece, crc);
        }
        await draft.sync();
      } finally {
        await draft.close();
      }
      return { bytes, crc };
    },
    accept: (file) => files.rename(draftOf(pathOf(file)), pathOf(file)),
    async clear(folder) {
      await files.removeAll(join(work, folder));
      await files.makeDirectory(join(work, folder));
    },
    async commit(node, wanted) {
      await tidy(files, work, wanted);
      if (isNode) {
        // From here on until the end it is no node's: what lies in place and what it says would not belong together.
        await files.remove(directoryPaths(dataDir).cluster);
        await files.syncDirectory(dataDir);
      }
      for (const folder of FOLDERS) await swap(files, dataDir, folder);
      await writeClusterFile(files, dataDir, node);
      await files.removeAll(work).catch(ignoreFileError); // The next try, if any, begins with it.
    },
  };
}

function draftOf(path: string): string {
  return `${path}.tmp`;
}

/** Removes what is not wanted of the archive, and makes the names of all that stays last. */
async function tidy(files: Files, work: string, wanted: ReadonlySet<CopyPath>): Promise<void> {
  const archive = join(work, "archive");
  const isWanted = (file: string) => wanted.has(`archive/${file}` as CopyPath);
  for (const name of await files.list(archive)) {
    const path = join(archive, name);
    if (await files.isFile(path)) {
      if (!isWanted(name)) await files.remove(path);
      continue;
    }
    for (const file of await files.list(path)) {
      if (!isWanted(`${name}/${file}`)) await files.removeAll(join(path, file));
    }
    await files.syncDirectory(path);
  }
  for (const folder of FOLDERS) await files.syncDirectory(join(work, folder));
  await files.syncDirectory(work);
}

/** Puts a copied folder in place of the former one, which goes with `joining/`. */
async function swap(files: Files, dataDir: string, folder: string): Promise<void> {
  const inPlace = join(dataDir, folder);
  const former = join(dataDir, WORK, `former-${folder}`);
  if (await files.exists(inPlace)) {
    await files.removeAll(former);
    await moveDurably(files, inPlace, former);
  }
  await moveDurably(files, join(dataDir, WORK, folder), inPlace);
}
