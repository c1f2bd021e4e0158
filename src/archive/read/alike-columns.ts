import {
  CHUNKS_A_GROUP,
  COLUMN_INDEXES,
  DIFFERENT,
  FIRST_TEXT,
  type FileChunks,
  NONE,
} from "./part-footer.ts";
import { mayHold, type ScanKeys } from "./scanned-bytes.ts";

/** Columns that have one value for all that a scan may find, and that value; null for none. */
export type AlikeColumns = ReadonlyMap<string, string | null>;

export const NONE_ALIKE: AlikeColumns = new Map();

/** To look at more row groups takes longer than what it saves. */
const ROW_GROUPS_MAX = 1024;

/**
 * Which of these columns are the same in every row group that may hold what is looked for: their values need not be
 * read. Most of a fleet has one version of an app, and no field that nobody reports.
 */
export function findAlike(
  files: readonly FileChunks[],
  keys: ScanKeys,
  columns: readonly string[],
): AlikeColumns {
  if (files.reduce((count, { rowGroups }) => count + rowGroups.length, 0) > ROW_GROUPS_MAX) return NONE_ALIKE;
  let alike: Map<string, string | null> | null = null;
  for (const { rowGroups, alike: numbers, texts } of files) {
    for (let group = 0; group < rowGroups.length; group++) {
      if (!mayHold(rowGroups[group]!, keys)) continue;
      const isFirst: boolean = alike === null;
      alike ??= new Map();
      for (const name of isFirst ? columns : [...alike.keys()]) {
        const number = numbers[group * CHUNKS_A_GROUP + COLUMN_INDEXES.get(name)!]!;
        const value = number === NONE ? null : texts[number - FIRST_TEXT]!;
        if (number === DIFFERENT || (!isFirst && alike.get(name) !== value)) alike.delete(name);
        else if (isFirst) alike.set(name, value);
      }
    }
  }
  return alike ?? NONE_ALIKE;
}
