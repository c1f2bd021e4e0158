import { basename } from "node:path";
import { directoryPaths } from "../../directory/paths.ts";
import { EVENTS, MANIFEST } from "../../operator/backup/source.ts";

/*
 * Paths of the files that nodes copy from each other: the manifest, its files, messages of the quarantine, the database
 * of events, and the ledger of erasures, which has what is blocked. No other file of a data directory matches, and no
 * path leads out of it.
 */

export type CopyPath = string & { readonly brand: "CopyPath" };

export const MANIFEST_PATH = MANIFEST as CopyPath;
export const EVENTS_PATH = EVENTS as CopyPath;
export const LEDGER_PATH = basename(directoryPaths("").erasures) as CopyPath;

const PART = /^archive\/(?:latest|day=\d{4}-\d{2}-\d{2})\/\d{8,15}-\d{3,6}\.parquet$/;
const STANDING = /^archive\/standing\/\d{8,15}\.entries$/;
const MESSAGE = /^quarantine\/\d{16}-[0-9a-f]{32}\.message$/;

/** A regular expression for the API document. */
export const COPY_PATH_PATTERN = [
  `^${escaped(MANIFEST_PATH)}$`,
  PART.source,
  STANDING.source,
  MESSAGE.source,
  `^${escaped(EVENTS_PATH)}$`,
  `^${escaped(LEDGER_PATH)}$`,
].join("|");

export function parseCopyPath(text: string): CopyPath | null {
  const isSingle = text === MANIFEST_PATH || text === EVENTS_PATH || text === LEDGER_PATH;
  return isSingle || isPartPath(text) || isQuarantinePath(text) ? (text as CopyPath) : null;
}

export function isPartPath(text: string): text is CopyPath {
  return PART.test(text) || STANDING.test(text);
}

export function isQuarantinePath(text: string): text is CopyPath {
  return MESSAGE.test(text);
}

function escaped(text: string): string {
  return text.replaceAll(".", "\\.").replaceAll("/", "\\/");
}
