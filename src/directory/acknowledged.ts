import { join } from "node:path";
import type { Files } from "../runtime/files.ts";
import { ACKNOWLEDGED_FILE } from "./set-aside.ts";

/**
 * A file of damaged bytes that somebody has seen, whose name says where the bytes were and what they are; or a
 * part of the archive that somebody has given up, by its path there (`day=2026-11-14/00000012-000.parquet`).
 */
export interface Acknowledged {
  readonly name: string;
  readonly bytes: number;
}

/** Version of the file's format. A file of another one is left alone. */
const FORMAT_VERSION = 1;

/** What was acknowledged. A file that can't be used acknowledges nothing, so that nothing is hidden. */
export async function readAcknowledged(files: Files, directory: string): Promise<readonly Acknowledged[]> {
  const content = await readContent(files, directory);
  if (content?.version !== FORMAT_VERSION || !Array.isArray(content.files)) return [];
  return content.files.filter(isAcknowledged);
}

/** Files of the archive whose loss was acknowledged. */
export async function readAcknowledgedParts(files: Files, directory: string): Promise<ReadonlySet<string>> {
  const acknowledged = await readAcknowledged(files, directory);
  return new Set(acknowledged.filter(({ name }) => name.includes("/")).map(({ name }) => name));
}

/** Replaces what was acknowledged. A file of a newer program stays as it is. */
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
