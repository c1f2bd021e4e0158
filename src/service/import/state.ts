import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { TextPosition } from "../../lib/text/text-position.ts";
import { parseVersionedJson } from "../../lib/text/versioned-json.ts";

/** Rows of a file by what became of them. */
export interface ImportCounts {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
}

export const NO_ROWS: ImportCounts = { accepted: 0, duplicates: 0, rejected: 0 };

/** How far an import of several files got: all that lies before is acknowledged. */
export interface ImportProgress {
  /** The file to go on with; those before it are done. */
  readonly fileIndex: number;
  /** Where to go on in it; null is its start. */
  readonly position: TextPosition | null;
  /** By file. */
  readonly counts: readonly ImportCounts[];
}

/** What has to be known to go on with an interrupted import. */
export interface ImportState {
  readonly startedMs: number;
  /** Names of the files, for people. */
  readonly files: readonly string[];
  /** By file, added to every timestamp, the same to the end. */
  readonly shiftsMs: readonly number[];
  readonly progress: ImportProgress;
}

/** Version of the file's format. A file of a newer one is left alone. */
const FORMAT_VERSION = 1;

export function encodeImportState({ progress, ...state }: ImportState): Uint8Array {
  const { fileIndex, position, counts } = progress;
  const content = { version: FORMAT_VERSION, ...state, progress: { fileIndex, place: position, counts } };
  return new TextEncoder().encode(`${JSON.stringify(content, null, 2)}\n`);
}

/** The state, or what is wrong with it. */
export function parseImportState(bytes: Uint8Array): Result<ImportState, string> {
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  if (!content.ok) return content;
  const { startedMs, files, shiftsMs, progress } = content.value.members;
  if (!isCount(startedMs)) return fail("its start is missing");
  if (!Array.isArray(files) || !files.every((name) => typeof name === "string")) {
    return fail("its files are missing");
  }
  if (!Array.isArray(shiftsMs) || shiftsMs.length !== files.length || !shiftsMs.every(Number.isSafeInteger)) {
    return fail("its shifts are missing");
  }
  const parsed = parseProgress(progress, files.length);
  if (parsed === null) return fail("its progress is missing");
  return ok({ startedMs, files, shiftsMs, progress: parsed });
}

function parseProgress(value: unknown, fileCount: number): ImportProgress | null {
  if (!isObject(value)) return null;
  const { fileIndex, place: position, counts } = value;
  if (!isCount(fileIndex) || fileIndex > fileCount) return null;
  if (!Array.isArray(counts) || counts.length !== fileCount || !counts.every(isCounts)) return null;
  if (position === null) return { fileIndex, position, counts };
  if (!isObject(position) || !isCount(position.offset) || !isCount(position.line)) return null;
  return { fileIndex, position: { offset: position.offset, line: position.line }, counts };
}

function isCounts(value: unknown): value is ImportCounts {
  return isObject(value) && isCount(value.accepted) && isCount(value.duplicates) && isCount(value.rejected);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
