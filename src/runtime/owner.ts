import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { type FileHandle, mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";

/*
 * New files belong to the owner of their directory, whichever user this process runs as: a command run as root beside
 * another user's server must leave no file that the server can't read. The process's own user is read from the new
 * file, since Deno reveals it only with --allow-sys.
 *
 * Owners are set on open files, never on paths: the directory's owner could replace the path by a link in between, and
 * root would hand over the link's target.
 */

const ROOT_UID = 0;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const PERMISSION_BITS = 0o777;

/**
 * Creates and opens a file (0600) that must not exist. If it will replace `former`, it also gets that file's group and
 * mode. Throws and leaves no file if the owner can't be set.
 */
export async function createFile(
  path: string,
  flags: "wx" | "ax" | "wx+",
  former: Stats | null = null,
): Promise<FileHandle> {
  const handle = await open(path, flags, FILE_MODE);
  try {
    giveToOwner(handle.fd, path, former);
    return handle;
  } catch (error) {
    await handle.close();
    unlinkSync(path);
    throw error;
  }
}

/** Like `createFile`, but closes the file, and runs in one turn of the event loop. */
export function createEmptyFile(path: string): void {
  const descriptor = openSync(path, "wx", FILE_MODE);
  try {
    giveToOwner(descriptor, path, null);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Synchronous: files are created rarely, and this reads nothing from the disk that was not just read. */
function giveToOwner(descriptor: number, path: string, former: Stats | null): void {
  const directory = statSync(dirname(path));
  // A container's volume may belong to root and be shared with the server's user by its group.
  const { uid } = directory.uid === ROOT_UID && former !== null ? former : directory;
  const created = fstatSync(descriptor);
  if (created.uid !== uid) {
    if (uid === ROOT_UID) return; // Root can read it anyway.
    fchownSync(descriptor, uid, former?.gid ?? directory.gid);
  } else if (former !== null && created.gid !== former.gid) {
    try {
      fchownSync(descriptor, uid, former.gid);
    } catch {
      return; // The mode's group permissions are meant for the other group only.
    }
  }
  if (former !== null) fchmodSync(descriptor, former.mode & PERMISSION_BITS);
}

/**
 * Creates a directory (0700) with the owner of `model`, or of its parent. If this process may not change the owner, the
 * directory stays its own: any user may create a data directory in an open folder.
 */
export async function createDirectory(path: string, model: Stats | null): Promise<void> {
  await mkdir(path, DIRECTORY_MODE);
  const { uid, gid } = model ?? (await stat(dirname(path)));
  if ((await stat(path)).uid === uid) return;
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await handle.chown(uid, gid).catch(() => undefined);
  } finally {
    await handle.close();
  }
}
