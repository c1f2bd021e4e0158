import { crc32 } from "node:zlib";
import { fail, ok, type Result } from "../../lib/result.ts";

/** The contents of `backup.json`. It is written last, so a backup is either complete or does not exist. */
export interface Backup {
  /** The backup has every record that was acknowledged before this, Unix ms. */
  readonly takenMs: number;
  /** Version of the program that took it. */
  readonly program: string;
  /** The greatest sequence in its log, or covered by its archive. */
  readonly lastSequence: number;
  readonly files: readonly BackupFile[];
  /** What was wrong with the data directory when it was backed up, a line each. */
  readonly problems: readonly string[];
}

/** A file, with its path in a data directory (`wal/00000000000000000001.wal`). */
export interface BackupFile {
  readonly file: string;
  readonly bytes: number;
  readonly crc: number;
}

export const BACKUP_VERSION = 1;

// {"version": 1, "crc": ..., "backup": {...}}: as in the archive's manifest, the checksum covers the JSON text of
// `backup`.
export function encodeBackup(backup: Backup): Uint8Array {
  const text = JSON.stringify(backup);
  return new TextEncoder().encode(`{"version":${BACKUP_VERSION},"crc":${crc32(text)},"backup":${text}}\n`);
}

/** Why a `backup.json` can't be used. */
export type BackupFault = { readonly kind: "newer"; readonly version: number } | { readonly kind: "damaged" };

export function parseBackup(bytes: Uint8Array): Result<Backup, BackupFault> {
  try {
    const { version, crc, backup } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as {
      version: unknown;
      crc: unknown;
      backup: Backup;
    };
    if (typeof version === "number" && version > BACKUP_VERSION) return fail({ kind: "newer", version });
    const isGood = version === BACKUP_VERSION && crc32(JSON.stringify(backup)) === crc;
    return isGood && backup.files.every(({ file }) => isPathWithin(file))
      ? ok(backup)
      : fail({ kind: "damaged" });
  } catch {
    return fail({ kind: "damaged" });
  }
}

/** The checksum does not prove who wrote the file, so no path may lead out of the directory. */
function isPathWithin(file: string): boolean {
  return file
    .split("/")
    .every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("\\"));
}

export function describeFile(file: string, bytes: Uint8Array): BackupFile {
  return { file, bytes: bytes.length, crc: crc32(bytes) };
}

export function sameFile(a: BackupFile, b: BackupFile): boolean {
  return a.bytes === b.bytes && a.crc === b.crc;
}
