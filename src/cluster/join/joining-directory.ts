import { basename, dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { directoryPaths } from "../../directory/paths.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { FileError, type Files, ignoreFileError, isPassing, moveDurably } from "../../runtime/files.ts";
import { type ClusterFile, readClusterFile, writeClusterFile } from "../cluster-file.ts";
import { type CopyPath, LEDGER_PATH } from "./copy-path.ts";

/*
 * Copied files stay in `joining/` until the copy is complete: `cluster.json` is written last, so a directory belongs to
 * a node completely or not at all. An interrupted copy continues with these files.
 */

const WORK = basename(directoryPaths("").joining);
const FOLDERS = ["quarantine", "events", "archive"] as const;
/** The lock, and what file systems put into the root of a disk. */
const OTHERS = ["lock", "lost+found"];

/** The size and CRC-32 of a file. */
export interface FileSum {
  readonly bytes: number;
  readonly crc: number;
}

/** The node whose archive is to be replaced; null for a new directory. Fails if the directory can't be used. */
export async function findFormerNode(
  files: Files,
  dataDir: string,
  again: boolean,
): Promise<Result<ClusterFile | null, string>> {
  const former = await readClusterFile(files, dataDir);
  if (former !== null) {
    if (again) return ok(former);
    return fail(
      `"${dataDir}" already belongs to a node. If its start said that it must copy again, add --again; otherwise serve it.`,
    );
  }
  const names = (await files.list(dataDir)).filter((name) => !OTHERS.includes(name));
  const isBegun = names.includes(WORK) && (await files.list(directoryPaths(dataDir).log)).length === 0;
  if (names.length === 0 || isBegun) return ok(null);
  return fail(`"${dataDir}" is not empty: a node needs a new directory.`);
}

export interface JoiningDirectory {
  /** The path of a copied file, by its path in a data directory. */
  pathOf(file: CopyPath): string;
  /** Whether an earlier attempt, or the archive to be replaced, has the file intact. Reads all of it. */
  has(file: CopyPath, wanted: FileSum): Promise<boolean>;
  /** Writes a draft of the file, which `accept` renames. Resolves once it is on the disk. */
  write(file: CopyPath, pieces: AsyncIterable<Uint8Array>): Promise<FileSum>;
  accept(file: CopyPath): Promise<void>;
  /** Removes the files that an earlier attempt left in a folder. */
  clear(folder: (typeof FOLDERS)[number]): Promise<void>;
  /** Makes this the directory of `node`, with all copied files except unwanted archive files. */
  commit(node: ClusterFile, wanted: ReadonlySet<CopyPath>): Promise<void>;
}

/** The caller holds the directory's lock. Continues an interrupted attempt. */
export async function openJoiningDirectory(files: Files, dataDir: string): Promise<JoiningDirectory> {
  const { joining: work } = directoryPaths(dataDir);
  const pathOf = (file: CopyPath) => join(work, file);
  const isNode = (await readClusterFile(files, dataDir)) !== null;
  for (const folder of FOLDERS) {
    const inWork = join(work, folder);
    if (await files.exists(inWork)) continue;
    const inPlace = join(dataDir, folder);
    // `commit` was interrupted: it is repeated from the start.
    if (!isNode && (await files.exists(inPlace))) await moveDurably(files, inPlace, inWork);
    else await files.makeDirectory(inWork);
  }

  /** Null if the file has another size or can't be read. */
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
        return false; // The file system has no hard links: copy the file.
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
        // Until the end the directory belongs to no node: the files and `cluster.json` would not match.
        await files.remove(directoryPaths(dataDir).cluster);
        await files.syncDirectory(dataDir);
      }
      for (const folder of FOLDERS) await swap(files, dataDir, folder);
      const ledger = pathOf(LEDGER_PATH);
      if (await files.exists(ledger)) await moveDurably(files, ledger, join(dataDir, LEDGER_PATH));
      await writeClusterFile(files, dataDir, node);
      await files.removeAll(work).catch(ignoreFileError); // A later attempt reuses it.
    },
  };
}

function draftOf(path: string): string {
  return `${path}.tmp`;
}

/** Removes unwanted archive files, and syncs all directories. */
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

/** Replaces a folder by its copy. The old one is removed together with `joining/`. */
async function swap(files: Files, dataDir: string, folder: string): Promise<void> {
  const inPlace = join(dataDir, folder);
  const former = join(dataDir, WORK, `former-${folder}`);
  if (await files.exists(inPlace)) {
    await files.removeAll(former);
    await moveDurably(files, inPlace, former);
  }
  await moveDurably(files, join(dataDir, WORK, folder), inPlace);
}
