import { Buffer } from "node:buffer";
import { basename, join } from "node:path";
import { archivePaths } from "../../archive/archive-files.ts";
import { type Manifest, readManifest } from "../../archive/manifest.ts";
import { parseKeyFile } from "../../auth/key-file.ts";
import { parsePassPhraseFile } from "../../auth/pass-phrases.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { parseSettings } from "../../directory/settings.ts";
import { FileError, type Files, isPassing } from "../../runtime/files.ts";
import { misnamedSegments, SEGMENT_HEAD_BYTES, scanSegment, segmentNumbers } from "../../wal/segment.ts";
import { segmentSize } from "../../wal/segment-reader.ts";
import { verifyQuarantine } from "../verify/quarantine.ts";
import type { Backup } from "./file.ts";
import { type BackupFiles, type BackupFilesOptions, createBackupFiles } from "./files.ts";
import {
  findOthers,
  findParts,
  findQuarantined,
  MANIFEST,
  readManifestBytes,
  wantedParts,
} from "./source.ts";

/** What a data directory holds at one moment, each file in its place in the backup or written beside. */
export interface Gathered extends Pick<Backup, "files" | "problems" | "lastSequence"> {
  /** Those that the backup did not have: written, or linked. */
  readonly copied: Backup["files"];
  readonly linked: Backup["files"];
}

export interface GatherOptions extends BackupFilesOptions {
  onProgress(doneBytes: number, totalBytes: number): void;
}

/** A seal takes longer than reading what it changed: this often in a row, something else is wrong. */
export const ATTEMPTS_MAX = 8;

/**
 * Brings all files to a backup's directory; null where the archive changed again and again. The archive is read by a
 * manifest, and the log after it: a seal swaps the manifest before it takes anything from the log, so as long as the
 * manifest is the same, nothing went from the log that it does not cover.
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
    // Before the log: an entry that is tried again goes once its reports are there.
    for (const kept of await findQuarantined(files, dataDir)) await backupFiles.bring(kept);
    problems.push(...(await verifyQuarantine(files, directoryPaths(dataDir).quarantine)).problems);
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

/** The manifest, where there is a good one or no archive; null where the parts have to speak for themselves. */
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

/** Copies the segments as far as they are, the newest too; returns the greatest sequence in them. */
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
    problems.push(`wal/${name}: no segment of the log has such a name, so the backup goes without it`);
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
      // Gone since it was listed: covered by this manifest, or there is another one by now.
      if (error.code === "ENOENT") continue;
      problems.push(`${file}: it can't be read: ${error.reason}`);
      await backupFiles.keep(file);
      continue;
    }
    const { damage, lastSequence } = scanSegment(path, number, bytes, sequence);
    sequence = lastSequence;
    for (const { offset, bytes: count } of damage) {
      const isUnfinished = index === segments.length - 1 && offset >= SEGMENT_HEAD_BYTES;
      const isTail = isUnfinished && offset + count === bytes.length; // A write that is under way, or was cut short.
      if (!isTail) problems.push(`${file}: ${count} damaged bytes at ${offset}`);
    }
    await backupFiles.put(file, bytes);
    progress.add(bytes.length);
  }
  return sequence;
}

async function checkSharedFiles(files: Files, dataDir: string, problems: string[]): Promise<void> {
  const { keys, passPhrases, settings } = directoryPaths(dataDir);
  for (const [path, parse] of [
    [keys, parseKeyFile],
    [passPhrases, parsePassPhraseFile],
    [settings, parseSettings],
  ] as const) {
    if (!(await files.exists(path))) continue;
    const parsed = parse(await files.read(path));
    if (!parsed.ok) problems.push(`${basename(path)} can't be used: ${parsed.error}`);
  }
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
