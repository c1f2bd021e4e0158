import { dirname } from "node:path";
import { type Files, unlessFileError } from "./files.ts";

/*
 * A name that was changed lasts once its directory is synced. Where that fails the disk may have either name, and a
 * second sync alone may succeed without writing anything, so the change is made once more. Where that fails too it is
 * thrown, and the caller must not build on either: it puts what it goes by in place again before it removes what the
 * other may need.
 */

/** `put` gives a file its name, and may be repeated. */
export async function putDurably(
  put: () => Promise<void>,
  syncDirectory: () => Promise<void>,
): Promise<void> {
  await put();
  try {
    await syncDirectory();
  } catch (error) {
    unlessFileError(error);
    await put();
    await syncDirectory();
  }
}

/** Renames a file, or a directory to where none is, for good; the new place's directory is made where it is missing. */
export async function moveDurably(files: Files, from: string, to: string): Promise<void> {
  const [source, target] = [dirname(from), dirname(to)];
  await files.makeDirectory(target);
  let isMoved = false;
  await putDurably(
    async () => {
      if (isMoved) await files.rename(to, from);
      await files.rename(from, to);
      isMoved = true;
    },
    async () => {
      await files.syncDirectory(target);
      if (source !== target) await files.syncDirectory(source);
    },
  );
}
