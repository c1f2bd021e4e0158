import { basename, join } from "node:path";
import { crc32 } from "node:zlib";
import type { DamagedRange } from "../lib/frames/frame-scanner.ts";
import type { Files } from "../runtime/files.ts";

/*
 * Bytes of a file that did not check out are kept under `damaged/` before they are taken out of it.
 */

/** Bytes that were no good frame, and where they are kept now. */
export interface Damage extends DamagedRange {
  readonly file: string;
  /** Null where nothing was worth keeping, or could be written. */
  readonly savedAs: string | null;
}

/** Ends the names of bytes that were acknowledged once, and of those that never were: nobody has lost the latter. */
export const DAMAGED_SUFFIX = ".damaged";
export const TORN_SUFFIX = ".torn";
/** Names what an operator has taken note of. */
export const ACKNOWLEDGED_FILE = "acknowledged.json";

/** Whether a file belongs under `damaged/`. */
export function isSetAside(name: string): boolean {
  return name.endsWith(DAMAGED_SUFFIX) || name.endsWith(TORN_SUFFIX) || name === ACKNOWLEDGED_FILE;
}

/** The same bytes always get the same name, and other bytes from the same offset another. */
export async function setAside(
  files: Files,
  damagedDirectory: string,
  path: string,
  offset: number,
  lost: Uint8Array,
  suffix: string,
): Promise<string> {
  const sum = crc32(lost).toString(16).padStart(8, "0");
  const savedAs = join(damagedDirectory, `${basename(path)}.at-${offset}.${sum}${suffix}`);
  await files.makeDirectory(damagedDirectory);
  await files.replace(savedAs, lost);
  return savedAs;
}
