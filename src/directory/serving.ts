import { isObject } from "../lib/is-object.ts";
import { FileError, type Files, readIfThere } from "../runtime/files.ts";
import type { LockOwner } from "../runtime/lock.ts";
import { directoryPaths } from "./paths.ts";

/*
 * The address of the server that holds a data directory. It is known only after the lock is taken, and the holder can't
 * change what the lock says, so it lies in a file beside the lock. A file that another process has left does not count.
 */

/** Notes the address of this process, which holds the directory. */
export async function noteServing(
  files: Pick<Files, "replace">,
  dataDir: string,
  { pid, atMs, url }: { readonly pid: number; readonly atMs: number; readonly url: string },
): Promise<void> {
  const text = JSON.stringify({ pid, atMs, url });
  await files.replace(directoryPaths(dataDir).serving, new TextEncoder().encode(`${text}\n`));
}

/** The address of the holder of the directory's lock; null if it is no server, or does not listen yet. */
export async function findServingUrl(
  files: Pick<Files, "read">,
  dataDir: string,
  { pid, sinceMs }: LockOwner,
): Promise<string | null> {
  try {
    const bytes = await readIfThere(files, directoryPaths(dataDir).serving);
    const serving: unknown = JSON.parse(new TextDecoder().decode(bytes ?? undefined));
    if (!isObject(serving) || typeof serving.url !== "string") return null;
    const isHolders = serving.pid === pid && typeof serving.atMs === "number" && serving.atMs >= sinceMs;
    return isHolders ? serving.url : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof FileError) return null; // It says nothing then.
    throw error;
  }
}
