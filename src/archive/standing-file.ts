import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { createSaltedFrames, FRAME_HEADER_BYTES } from "../lib/frames/frame.ts";
import { type CreateSalt, HeadFormat } from "../lib/frames/head.ts";
import { viewsOf } from "../lib/frames/views.ts";
import type { Steps } from "../lib/schedule/steps.ts";
import { FormatVersionError } from "../lib/text/versioned-json.ts";
import type { AppId } from "../model/ids.ts";
import {
  decodeStandingEntry,
  encodeStandingEntry,
  isStandingKind,
  NEWEST_KIND,
  type StandingEntry,
} from "../model/standing-entry.ts";

/*
 * The file of the entries that stand: the head of a file of salted frames (head.ts), whose number is the last entry of
 * the log that the file covers, then a frame for each entry. Frames are numbered from 1.
 */

const HEADS = new HeadFormat("WHERESTA", 1, "file of standing entries");

const NUMBER_AT = 16;
/** Entries in a step, well under a millisecond of work. */
const STEP_ENTRIES = 128;

/** The contents of a file, and what the manifest says of it. */
export interface EncodedStanding {
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly apps: ReadonlyMap<AppId, number>;
}

/** Encodes a file that covers the log up to `sequence`, in steps between which more entries may come. */
export function* encodeStanding(
  entries: Iterable<StandingEntry>,
  sequence: number,
  createSalt: CreateSalt,
): Steps<EncodedStanding> {
  const salt = createSalt();
  const frames = createSaltedFrames(salt);
  const chunks = [HEADS.encode(sequence, salt)];
  const apps = new Map<AppId, number>();
  let rows = 0;
  for (const entry of entries) {
    const frame = encodeStandingEntry(entry, FRAME_HEADER_BYTES);
    frames.stamp(frame, ++rows);
    chunks.push(frame);
    apps.set(entry.appId, (apps.get(entry.appId) ?? 0) + 1);
    if (rows % STEP_ENTRIES === 0 || isLong(entry)) yield;
  }
  return { bytes: Buffer.concat(chunks), rows, apps };
}

/** A file as it was read. */
export interface DecodedStanding {
  /** Whether every byte is as it was written, as far as the file itself shows. */
  readonly isWhole: boolean;
  /** The last entry of the log that the file covers; known if the file is whole. */
  readonly sequence: number;
  readonly rows: number;
  readonly apps: ReadonlyMap<AppId, number>;
}

/**
 * Calls `onEntry` for each entry that is intact, in steps. Throws a `FormatVersionError`, which names `path`, if a
 * newer program wrote the file.
 */
export function* decodeStanding(
  bytes: Uint8Array,
  path: string,
  onEntry: (entry: StandingEntry) => void,
): Steps<DecodedStanding> {
  const views = viewsOf(bytes);
  const hasNumber = bytes.length >= NUMBER_AT + 8;
  const sequence = hasNumber ? Number(views.bytes.readBigUInt64LE(NUMBER_AT)) : 0;
  const { scanner, goodHead } = HEADS.open(views, sequence, path, {
    sequenceBefore: 0,
    sequenceEnd: Number.MAX_SAFE_INTEGER,
  });
  const apps = new Map<AppId, number>();
  let rows = 0;
  while (scanner.next()) {
    const kind = views.bytes[scanner.payloadStart]!;
    if (!isStandingKind(kind))
      throw FormatVersionError.ofKind("file of standing entries", path, NEWEST_KIND, kind);
    const entry = decodeStandingEntry(views, scanner.payloadStart, scanner.payloadEnd, path);
    if (entry === null) scanner.reject();
    else {
      onEntry(entry);
      apps.set(entry.appId, (apps.get(entry.appId) ?? 0) + 1);
      if (++rows % STEP_ENTRIES === 0 || isLong(entry)) yield;
    }
  }
  return { isWhole: goodHead && scanner.damage.length === 0, sequence, rows, apps };
}

/** Whether an entry has as many rows as a step should. */
function isLong(entry: StandingEntry): boolean {
  return entry.kind === "correction" && entry.change.type === "piece" && entry.change.rows !== null;
}

/** The manifest's description of a file that is whole. */
export function describeStanding(file: string, bytes: Uint8Array, { sequence, rows, apps }: DecodedStanding) {
  return { file, rows, bytes: bytes.length, crc: crc32(bytes), apps, columns: "", sequence };
}
