import { MANIFEST } from "../../operator/backup/source.ts";
import { STREAM_POSITION_FILE } from "../quarantine/stream-position.ts";

/*
 * Paths of the files that nodes copy from each other: the manifest, its files, quarantine segments and the quarantine's
 * position in its stream. No other file of a data directory matches, and no path leads out of it.
 */

export type CopyPath = string & { readonly brand: "CopyPath" };

export const MANIFEST_PATH = MANIFEST as CopyPath;
export const POSITION_PATH = `quarantine/${STREAM_POSITION_FILE}` as CopyPath;

const PART = /^archive\/(?:latest|day=\d{4}-\d{2}-\d{2})\/\d{8,15}-\d{3,6}\.parquet$/;
const STANDING = /^archive\/standing\/\d{8,15}\.entries$/;
const SEGMENT = /^quarantine\/\d{12}\.entries$/;

/** A regular expression for the API document. */
export const COPY_PATH_PATTERN = [
  ...[MANIFEST_PATH, POSITION_PATH].map((path) => `^${escaped(path)}$`),
  PART.source,
  STANDING.source,
  SEGMENT.source,
].join("|");

export function parseCopyPath(text: string): CopyPath | null {
  const isOurs = text === MANIFEST_PATH || isPartPath(text) || isQuarantinePath(text);
  return isOurs ? (text as CopyPath) : null;
}

export function isPartPath(text: string): text is CopyPath {
  return PART.test(text) || STANDING.test(text);
}

export function isQuarantinePath(text: string): text is CopyPath {
  return text === POSITION_PATH || SEGMENT.test(text);
}

/** Puts the position first, so that the copied position is never ahead of the copied segments. */
export function positionFirst(files: readonly CopyPath[]): CopyPath[] {
  return [...files].sort((a, b) => Number(b === POSITION_PATH) - Number(a === POSITION_PATH));
}

function escaped(text: string): string {
  return text.replaceAll(".", "\\.").replaceAll("/", "\\/");
}
