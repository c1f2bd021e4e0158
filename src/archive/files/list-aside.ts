import { join } from "node:path";
import type { Files } from "../../runtime/files.ts";

/** A file that was moved out of the way. */
export interface AsideFile {
  readonly sinceMs: number;
  /** Where it lies: the archive's own folders once more, in one for each time that something was moved. */
  readonly folder: string;
  /** Its path in that folder, which it had in the archive before. */
  readonly file: string;
}

/** Everything in `expired/`, where `tidy` moves what a seal left that was cut off. */
export async function listAside(files: Files, directory: string): Promise<AsideFile[]> {
  const found: AsideFile[] = [];
  for (const since of await files.list(directory)) {
    if (!/^\d+$/.test(since)) continue;
    const folder = join(directory, since);
    for (const inner of await files.list(folder)) {
      for (const name of await files.list(join(folder, inner)))
        found.push({ sinceMs: Number(since), folder, file: `${inner}/${name}` });
    }
  }
  return found;
}
