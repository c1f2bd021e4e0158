import { refuseForeign } from "../../directory/foreign.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { Files } from "../../runtime/files.ts";

/** There is nothing where a command should find its data. */
export class NoDirectoryError extends Error {
  override readonly name = "NoDirectoryError";
}

/** Throws an explained error where there is no data directory, or a folder of something else. */
export async function expectDataDirectory(files: Files, dataDir: string): Promise<void> {
  if (!(await files.exists(dataDir))) throw new NoDirectoryError(`There is no data directory "${dataDir}".`);
  await refuseForeign(files, dataDir);
}

/** For commands that begin a directory where there is none: another one may have been meant. */
export function newDirectoryText(dataDir: string): string {
  const begun = `There was no data directory "${printableLine(dataDir)}", and now there is.`;
  return `${begun} If another was meant, name it with --data-dir.`;
}
