import { MANIFEST } from "../../operator/backup/source.ts";
import { STREAM_POSITION_FILE } from "../quarantine/stream-position.ts";

/*
 * The files of a data directory that nodes copy from each other: the manifest, parts, segments of the quarantine and
 * how far that is in its stream, by their paths in it. Nothing else in a directory has such a path, and none leads out
 * of one.
 */

export type CopyPath = string & { readonly brand: "CopyPath" };

export const MANIFEST_PATH = MANIFEST as CopyPath;
export const POSITION_PATH = `quarantine/${STREAM_POSITION_FILE}` as CopyPath;

const PART = /^archive\/(?:latest|day=\d{4}-\d{2}-\d{2})\/\d{8,15}-\d{3,6}\.parquet$/;
const SEGMENT = /^quarantine\/\d{12}\.entries$/;

/** Which those are, for documents. */
export const COPY_PATH_PATTERN = [
  ...[MANIFEST_PATH, POSITION_PATH].map((path) => `^${escaped(path)}$`),
  PART.source,
  SEGMENT.source,
].join("|");

export function parseCopyPath(text: string): CopyPath | null {
  const isOurs = text === MANIFEST_PATH || isPartPath(text) || isQuarantinePath(text);
  return isOurs ? (text as CopyPath) : null;
}

export function isPartPath(text: string): text is CopyPath {
  return PART.test(text);
}

export function isQuarantinePath(text: string): text is CopyPath {
  return text === POSITION_PATH || SEGMENT.test(text);
}

/** As files are copied: how far the quarantine is in its stream says no more then than the others hold. */
export function positionFirst(files: readonly CopyPath[]): CopyPath[] {
  return [...files].sort((a, b) => Number(b === POSITION_PATH) - Number(a === POSITION_PATH));
}

function escaped(text: string): string {
  return text.replaceAll(".", "\\.").replaceAll("/", "\\/");
}
