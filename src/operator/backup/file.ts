import { crc32 } from "node:zlib";
import { fail, ok, type Result } from "../../lib/result.ts";

/** What a backup says of itself: written last, so that a backup is what it says or is none. */
export interface Backup {
  /** Every record that was acknowledged before this is in it, Unix ms. */
  readonly takenMs: number;
  /** Of the program that took it. */
  readonly program: string;
  /** No entry of the log in it, or covered by its archive, has a greater sequence. */
  readonly lastSequence: number;
  readonly files: readonly BackupFile[];
  /** What was wrong with the data directory when it was taken, a line each. */
  readonly problems: readonly string[];
}

/** A file, with its path in a data directory (`wal/00000000000000000001.wal`). */
export interface BackupFile {
  readonly file: string;
  readonly bytes: number;
  /** CRC-32 of the whole file. */
  readonly crc: number;
}

export const BACKUP_VERSION = 1;

/*
 * {"version": 1, "crc": ..., "backup": {...}}: the checksum is of the JSON text of `backup`, as with the archive's
 * manifest.
 */
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

/** A checksum can be made by anybody: no file may lead out of the directory. */
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
