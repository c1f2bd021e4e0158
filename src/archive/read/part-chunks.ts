import { forEachAtOnce } from "../../lib/schedule/semaphore.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { DeviceAlias } from "../../model/device-alias.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Part } from "../manifest.ts";
import {
  CHUNKS_A_GROUP,
  COLUMN_INDEXES,
  DIFFERENT,
  FIRST_TEXT,
  type FileChunks,
  footerBytes,
  NONE,
  parseFooter,
  type RowGroup,
} from "./part-footer.ts";

/** What is known of the column chunks of parts: sizes, bounds of row groups, and columns with a single value. */
export interface ChunkIndex {
  /** Reads the footers of parts that are not known yet. Rejects if one can't be read. */
  learn(parts: readonly Part[]): Promise<void>;
  /** How many parts are known. */
  readonly count: number;
  /** The parts that are known, of these. */
  findAll(parts: readonly Part[]): FileChunks[];
}

/** Reads bytes `start` to before `end` of a part. */
export type ReadRange = (part: Part, start: number, end: number) => Promise<Uint8Array>;

/** About 350 bytes each. A year of 10 M records a day has 180,000. */
const ROW_GROUPS_MAX = 200_000;

/** Parts whose footers are read at the same time. */
const AT_ONCE_MAX = 4;

/** As long as most footers, namely of 20 row groups. */
const FOOTER_BYTES = 65_536;

export function createChunkIndex(readRange: ReadRange): ChunkIndex {
  const known = new Map<string, FileChunks>(); // The least recently used part comes first.
  const learning = new Map<string, Promise<void>>();
  let rowGroups = 0;

  function put(file: string, chunks: FileChunks): void {
    known.set(file, chunks);
    rowGroups += chunks.rowGroups.length;
    for (const [oldest, { rowGroups: oldGroups }] of known) {
      if (rowGroups <= ROW_GROUPS_MAX || oldest === file) return;
      known.delete(oldest);
      rowGroups -= oldGroups.length;
    }
  }

  function find({ file }: Part): FileChunks | null {
    const chunks = known.get(file);
    if (chunks === undefined) return null;
    known.delete(file);
    known.set(file, chunks);
    return chunks;
  }

  async function read(part: Part): Promise<void> {
    try {
      put(part.file, await readChunks(part, readRange));
    } finally {
      learning.delete(part.file);
    }
  }

  function learnOne(part: Part): Promise<void> {
    if (known.has(part.file)) return Promise.resolve();
    const result = learning.get(part.file) ?? read(part);
    learning.set(part.file, result);
    return result;
  }

  return {
    async learn(parts) {
      const unknown = parts.filter(({ file }) => !known.has(file));
      if (unknown.length > 0) await forEachAtOnce(unknown, AT_ONCE_MAX, learnOne);
    },
    get count() {
      return known.size;
    },
    findAll: (parts) => parts.map(find).filter((chunks) => chunks !== null),
  };
}

async function readChunks(part: Part, readRange: ReadRange): Promise<FileChunks> {
  const end = await readRange(part, Math.max(0, part.bytes - FOOTER_BYTES), part.bytes);
  const bytes = footerBytes(end);
  const footer =
    bytes <= end.length ? end.subarray(-bytes) : await readRange(part, part.bytes - bytes, part.bytes);
  return parseFooter(footer);
}

/** What a statement searches for, in the columns that files are sorted by. */
export interface ScanKeys {
  readonly appId: AppId;
  readonly deviceId: DeviceId | null;
  readonly range: TimeRange;
  /** Devices that show as this one. */
  readonly aliases?: readonly DeviceAlias[];
}

/** Adds up the bytes that the statements of a session read, each column chunk once. */
export class ScannedBytes {
  #sum = 0;
  readonly #seen = new Map<FileChunks, Uint8Array>();

  get sum(): number {
    return this.#sum;
  }

  add(chunks: FileChunks, keys: ScanKeys, columns: readonly string[]): void {
    const { rowGroups, bytes } = chunks;
    let seen = this.#seen.get(chunks);
    if (seen === undefined) {
      seen = new Uint8Array(bytes.length);
      this.#seen.set(chunks, seen);
    }
    const indexes = columns.map((name) => COLUMN_INDEXES.get(name)!);
    for (let group = 0; group < rowGroups.length; group++) {
      if (!mayHold(rowGroups[group]!, keys)) continue;
      for (const index of indexes) {
        const chunk = group * CHUNKS_A_GROUP + index;
        if (seen[chunk] === 1) continue;
        seen[chunk] = 1;
        this.#sum += bytes[chunk]!;
      }
    }
  }
}

/** Columns with one value in all records that a scan may find, and that value; null if all are null. */
export type ConstantColumns = ReadonlyMap<string, string | null>;

export const NO_CONSTANTS: ConstantColumns = new Map();

/** Checking more row groups takes longer than it saves. */
const CONSTANT_GROUPS_MAX = 1024;

/**
 * Which of these columns have the same value in every row group that may have matching records, so that they need not
 * be read. Most of a fleet has one version of an app, and does not report every field.
 */
export function findConstants(
  files: readonly FileChunks[],
  keys: ScanKeys,
  columns: readonly string[],
): ConstantColumns {
  if (files.reduce((count, { rowGroups }) => count + rowGroups.length, 0) > CONSTANT_GROUPS_MAX)
    return NO_CONSTANTS;
  let constants: Map<string, string | null> | null = null;
  for (const { rowGroups, constants: numbers, texts } of files) {
    for (let group = 0; group < rowGroups.length; group++) {
      if (!mayHold(rowGroups[group]!, keys)) continue;
      const isFirst: boolean = constants === null;
      constants ??= new Map();
      for (const name of isFirst ? columns : [...constants.keys()]) {
        const number = numbers[group * CHUNKS_A_GROUP + COLUMN_INDEXES.get(name)!]!;
        const value = number === NONE ? null : texts[number - FIRST_TEXT]!;
        if (number === DIFFERENT || (!isFirst && constants.get(name) !== value)) constants.delete(name);
        else if (isFirst) constants.set(name, value);
      }
    }
  }
  return constants ?? NO_CONSTANTS;
}

/** Whether a row group may have matching records. A missing bound excludes nothing. */
function mayHold(group: Readonly<RowGroup>, { appId, deviceId, range, aliases = [] }: ScanKeys): boolean {
  if (group.lastMs < range.startMs || group.startMs >= range.endMs) return false;
  if (!mayLieWithin(appId, group.appMin, group.appMax)) return false;
  if (deviceId === null) return true;
  const mayHoldDevice = (id: DeviceId) => mayLieWithin(id, group.deviceMin, group.deviceMax);
  return mayHoldDevice(deviceId) || aliases.some((alias) => mayHoldDevice(alias.deviceId));
}

function mayLieWithin(text: string, min: string | null, max: string | null): boolean {
  if (min !== null && compareUtf8(text, min) < 0) return false;
  return max === null || compareUtf8(text, max) <= 0;
}
