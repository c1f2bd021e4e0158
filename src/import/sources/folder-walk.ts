import { join } from "node:path";
import type { NotHistory } from "../../formats/read/not-history.ts";
import { FileError } from "../../runtime/files.ts";
import type { InputStat, Inputs } from "../../runtime/inputs.ts";
import { LINK, leftAloneByName, NO_FILE } from "./left-alone.ts";

/** Something in a folder or its subfolders. */
export type FolderItem = { readonly path: string } & (
  | { readonly kind: "file"; readonly stat: InputStat }
  | { readonly kind: "left_alone"; readonly what: NotHistory }
  | { readonly kind: "failed"; readonly reason: string }
);

/**
 * Everything in a folder, sorted by name. Links are not followed: their targets are in the folder too, or out of it.
 */
export async function* walkFolder(inputs: Inputs, folder: string): AsyncGenerator<FolderItem> {
  // No recursion, because folders may be nested as deep as the disk allows.
  const pending = [folder];
  for (;;) {
    const path = pending.pop();
    if (path === undefined) return;
    const item = path === folder ? null : await look(inputs, path);
    if (item !== null) {
      yield item;
      continue;
    }
    try {
      const names = await inputs.list(path);
      for (const name of names.reverse()) pending.push(join(path, name));
    } catch (error) {
      yield failedItem(path, error);
    }
  }
}

/** Null for a folder, which the caller walks. */
async function look(inputs: Inputs, path: string): Promise<FolderItem | null> {
  const what = leftAloneByName(path.slice(path.lastIndexOf("/") + 1), []);
  if (what !== null) return { kind: "left_alone", path, what };
  try {
    const stat = await inputs.lstat(path);
    if (stat.kind === "directory") return null;
    if (stat.kind === "file") return { kind: "file", path, stat };
    return { kind: "left_alone", path, what: stat.kind === "link" ? LINK : NO_FILE };
  } catch (error) {
    return failedItem(path, error);
  }
}

function failedItem(path: string, error: unknown): FolderItem {
  if (!(error instanceof FileError)) throw error;
  return { kind: "failed", path, reason: error.message };
}
