import { Buffer } from "node:buffer";
import { basename, join } from "node:path";
import { archivePaths } from "../../archive/archive-files.ts";
import { type Manifest, readManifest } from "../../archive/manifest.ts";
import { parseKeyFile } from "../../auth/key-file.ts";
import { parsePassPhraseFile } from "../../auth/pass-phrases.ts";
import { parseWebhookSecrets } from "../../auth/webhook-secrets.ts";
import { parseLedger } from "../../directory/erasure-ledger.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { parseSettings } from "../../directory/settings.ts";
import { fail, type Result } from "../../lib/result.ts";
import { FileError, type Files, isPassing } from "../../runtime/files.ts";
import { type CopySqlite, DamagedDatabaseError } from "../../runtime/sqlite.ts";
import { eventPaths } from "../../service/watching/open-events.ts";
import { misnamedSegments, SEGMENT_HEAD_BYTES, scanSegment, segmentNumbers } from "../../wal/segment.ts";
import { segmentSize } from "../../wal/segment-reader.ts";
import { verifyQuarantine } from "../verify/quarantine.ts";
import type { Backup } from "./file.ts";
import { type BackupFiles, type BackupFilesOptions, createBackupFiles } from "./files.ts";
import {
  EVENTS,
  findOthers,
  findParts,
  findQuarantined,
  MANIFEST,
  readManifestBytes,
  wantedParts,
} from "./source.ts";

/** The contents of a data directory at one moment. Each file is in its place in the backup or in `next/`. */
export interface Gathered extends Pick<Backup, "files" | "problems" | "lastSequence"> {
  /** Files that were new to the backup: copied or linked. */
  readonly copied: Backup["files"];
  readonly linked: Backup["files"];
}

export interface GatherOptions extends BackupFilesOptions {
  readonly copySqlite: CopySqlite;
  onProgress(doneBytes: number, totalBytes: number): void;
}

/** A seal takes longer than reading what it changed, so more changes in a row than this have another cause. */
export const ATTEMPTS_MAX = 8;

/**
 * Copies all files to a backup's directory; null if the archive changed again and again. The archive is read by a
 * manifest, and the log after it: a seal swaps the manifest before it removes anything from the log, so an unchanged
 * manifest means that the log lost nothing that this manifest does not cover.
 */
export async function gather(options: GatherOptions): Promise<Gathered | null> {
  const { files, dataDir } = options;
  const archiveDirectory = directoryPaths(dataDir).archive;
  const backupFiles = createBackupFiles(options);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const before = await readManifestBytes(files, archiveDirectory);
    const problems: string[] = [];
    backupFiles.begin(problems);
    const manifest = await describeManifest(files, archiveDirectory, before, problems);
    const parts = manifest === null ? await findParts(files, archiveDirectory) : wantedParts(manifest);
    const partBytes = parts.reduce((sum, { expected }) => sum + (expected?.bytes ?? 0), 0);
    const progress = createProgress(options, partBytes);
    for (const part of parts) progress.add(await backupFiles.bring(part));
    // Quarantine before log: replaying an entry removes it once its reports are in the log.
    for (const file of await findQuarantined(files, dataDir)) await backupFiles.bring(file);
    const { quarantine } = directoryPaths(dataDir);
    const coveredSequence = manifest?.standing?.sequence ?? 0;
    problems.push(...(await verifyQuarantine(files, quarantine, coveredSequence)).problems);
    // Events before log: they may be made of what the log has, and nothing else.
    await bringEvents(options, backupFiles, problems);
    const logSequence = await bringLog(options, backupFiles, progress, problems);
    for (const other of await findOthers(files, dataDir)) await backupFiles.bring(other);
    await checkSharedFiles(files, dataDir, problems);
    if (!isSame(before, await readManifestBytes(files, archiveDirectory))) continue;
    if (before !== null) await backupFiles.put(MANIFEST, before);
    const lastSequence = Math.max(manifest?.lastSequence ?? 0, logSequence);
    return { ...backupFiles.brought(), problems, lastSequence };
  }
  return null;
}

/** The manifest, if it is intact or there is no archive; null if only the parts tell what there is. */
async function describeManifest(
  files: Files,
  archiveDirectory: string,
  bytes: Uint8Array | null,
  problems: string[],
): Promise<Manifest | null> {
  if (bytes === null) {
    const hasParts = (await findParts(files, archiveDirectory)).length > 0;
    if (hasParts) problems.push(`${MANIFEST} is missing`);
    return null;
  }
  const manifest = readManifest(bytes, archivePaths(archiveDirectory).manifest);
  if (manifest === null) problems.push(`${MANIFEST} is damaged`);
  return manifest;
}

async function bringEvents(
  { files, dataDir, target, copySqlite }: GatherOptions,
  backupFiles: BackupFiles,
  problems: string[],
): Promise<void> {
  const { database } = eventPaths(directoryPaths(dataDir).events);
  if (!(await files.exists(database))) return;
  try {
    await backupFiles.put(EVENTS, await target.scratch((path) => copySqlite(database, path)));
  } catch (error) {
    if (!(error instanceof DamagedDatabaseError)) throw error;
    problems.push(`${EVENTS}: it is damaged: ${error.reason}`);
    await backupFiles.keep(EVENTS);
  }
}

/** Copies the segments as far as they are written, including the newest; returns the greatest sequence in them. */
async function bringLog(
  { files, dataDir }: GatherOptions,
  backupFiles: BackupFiles,
  progress: Progress,
  problems: string[],
): Promise<number> {
  const directory = directoryPaths(dataDir).log;
  const names = await files.list(directory);
  const segments = segmentNumbers(names);
  for (const name of misnamedSegments(names))
    problems.push(`wal/${name}: this is not the name of a log segment, so the backup does not include it`);
  for (const { name } of segments) progress.expect(await segmentSize(files, join(directory, name)));
  let sequence = 0;
  for (const [index, { name, number }] of segments.entries()) {
    const file = `wal/${name}`;
    const path = join(directory, name);
    let bytes: Uint8Array;
    try {
      bytes = await files.read(path);
    } catch (error) {
      if (!(error instanceof FileError) || isPassing(error)) throw error;
      // It was removed after it was listed: this manifest covers it, or there is a newer manifest by now.
      if (error.code === "ENOENT") continue;
      problems.push(`${file}: it can't be read: ${error.reason}`);
      await backupFiles.keep(file);
      continue;
    }
    const { damage, lastSequence } = scanSegment(path, number, bytes, sequence);
    sequence = lastSequence;
    for (const { offset, bytes: count } of damage) {
      const isUnfinished = index === segments.length - 1 && offset >= SEGMENT_HEAD_BYTES;
      const isTail = isUnfinished && offset + count === bytes.length; // A write in progress, or one cut short.
      if (!isTail) problems.push(`${file}: ${count} damaged bytes at ${offset}`);
    }
    await backupFiles.put(file, bytes);
    progress.add(bytes.length);
  }
  return sequence;
}

async function checkSharedFiles(files: Files, dataDir: string, problems: string[]): Promise<void> {
  const { keys, passPhrases, webhookSecrets, settings, erasures } = directoryPaths(dataDir);
  for (const [path, parse] of [
    [keys, parseKeyFile],
    [passPhrases, parsePassPhraseFile],
    [webhookSecrets, parseWebhookSecrets],
    [settings, parseSettings],
    [erasures, parseErasures],
  ] as const) {
    if (!(await files.exists(path))) continue;
    const parsed = parse(await files.read(path));
    if (!parsed.ok) problems.push(`${basename(path)} can't be used: ${parsed.error}`);
  }
}

function parseErasures(bytes: Uint8Array): Result<unknown, string> {
  const ledger = parseLedger(bytes);
  return ledger.ok ? ledger : fail(ledger.error.reason);
}

interface Progress {
  expect(bytes: number): void;
  add(bytes: number): void;
}

function createProgress({ onProgress }: GatherOptions, expectedBytes: number): Progress {
  let doneBytes = 0;
  let totalBytes = expectedBytes;
  return {
    expect(bytes) {
      totalBytes += bytes;
    },
    add(bytes) {
      doneBytes += bytes;
      onProgress(doneBytes, Math.max(doneBytes, totalBytes));
    },
  };
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return Buffer.compare(a, b) === 0;
}
