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
 * What is made in a directory belongs to whom the directory belongs, whoever this process is: a command run as root
 * beside another user's server must leave nothing that the server can't read. Who this process is need not be
 * known, and Deno tells it only with --allow-sys: what was just made says it.
 *
 * Owners are given to open files, never to paths: whoever owns the directory could put a link in the place of the
 * path meanwhile, and get from root what the link points at.
 */

const ROOT_UID = 0;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const PERMISSION_BITS = 0o777;

/**
 * Creates and opens a file (0600) that must not be there. Where it is to take the place of another it gets that
 * one's group and mode too. Throws and leaves no file where it would belong to somebody else than its directory.
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

/** The same without opening it, in one turn of the event loop. */
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

/** Without waiting: files are made seldom, and this asks nothing of the disk that was not just read. */
function giveToOwner(descriptor: number, path: string, former: Stats | null): void {
  const directory = statSync(dirname(path));
  // A container's volume may be root's, and lent to the server's user by its group.
  const { uid } = directory.uid === ROOT_UID && former !== null ? former : directory;
  const made = fstatSync(descriptor);
  if (made.uid !== uid) {
    if (uid === ROOT_UID) return; // Root can read it all the same.
    fchownSync(descriptor, uid, former?.gid ?? directory.gid);
  } else if (former !== null && made.gid !== former.gid) {
    try {
      fchownSync(descriptor, uid, former.gid);
    } catch {
      return; // What the mode allows one group is not meant for another.
    }
  }
  if (former !== null) fchmodSync(descriptor, former.mode & PERMISSION_BITS);
}

/**
 * Makes a directory (0700) with the owner of `model`, or of its parent. Without the right to give it away it stays
 * this process': anybody may begin a directory of their own in a folder that is open to them.
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
