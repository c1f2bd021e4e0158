import { basename, join } from "node:path";
import { crc32 } from "node:zlib";
import type { DamagedRange } from "../lib/frames/frame-scanner.ts";
import type { Files } from "../runtime/files.ts";

/*
 * Bytes that fail their checksum are copied to `damaged/` before they are cut out of a file. `acknowledged.json` there
 * lists the damage that an operator has acknowledged.
 */

/** A range of bytes that is not a valid frame, and the file that holds a copy of it. */
export interface Damage extends DamagedRange {
  readonly file: string;
  /** Null if there was nothing worth saving, or the disk refused to save it. */
  readonly savedAs: string | null;
}

/** The suffix of bytes that the server had acknowledged, and of bytes that it never had, which are no loss. */
export const DAMAGED_SUFFIX = ".damaged";
export const TORN_SUFFIX = ".torn";
const ACKNOWLEDGED_FILE = "acknowledged.json";

/** Whether a file under `damaged/` is the list of what an operator acknowledged. */
export function isAcknowledgedList(name: string): boolean {
  return name === ACKNOWLEDGED_FILE;
}

/** Whether a file under `damaged/` is one that this program writes. */
export function isDamageFile(name: string): boolean {
  return name.endsWith(DAMAGED_SUFFIX) || name.endsWith(TORN_SUFFIX) || name === ACKNOWLEDGED_FILE;
}

/** Saves the lost bytes under a name made of their offset and checksum, and returns its path. */
export async function saveDamage(
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

/** Acknowledged damage: a file of saved bytes, or the path of a part in the archive (with its `day=` folder). */
export interface Acknowledged {
  readonly name: string;
  readonly bytes: number;
}

const FORMAT_VERSION = 1;

/** A file that can't be used acknowledges nothing, so no damage is hidden. */
export async function readAcknowledged(files: Files, directory: string): Promise<readonly Acknowledged[]> {
  const content = await readContent(files, directory);
  if (content?.version !== FORMAT_VERSION || !Array.isArray(content.files)) return [];
  return content.files.filter(isAcknowledged);
}

/** The parts of the archive whose loss was acknowledged. */
export async function readAcknowledgedParts(files: Files, directory: string): Promise<ReadonlySet<string>> {
  const acknowledged = await readAcknowledged(files, directory);
  return new Set(acknowledged.filter(({ name }) => name.includes("/")).map(({ name }) => name));
}

/** Replaces the list. A file written by a newer program stays as it is. */
export async function writeAcknowledged(
  files: Files,
  directory: string,
  known: readonly Acknowledged[],
): Promise<void> {
  const { version } = (await readContent(files, directory)) ?? {};
  if (typeof version === "number" && version > FORMAT_VERSION) return;
  if (known.length === 0) return;
  const text = `${JSON.stringify({ version: FORMAT_VERSION, files: known }, null, 2)}\n`;
  await files.makeDirectory(directory);
  await files.replace(join(directory, ACKNOWLEDGED_FILE), new TextEncoder().encode(text));
}

async function readContent(files: Files, directory: string): Promise<Record<string, unknown> | null> {
  const path = join(directory, ACKNOWLEDGED_FILE);
  if (!(await files.exists(path))) return null;
  const bytes = await files.read(path);
  try {
    const content: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof content === "object" ? (content as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

function isAcknowledged(value: unknown): value is Acknowledged {
  const { name, bytes } = (value ?? {}) as Record<string, unknown>;
  return typeof name === "string" && Number.isSafeInteger(bytes) && (bytes as number) >= 0;
}
