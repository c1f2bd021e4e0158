import { FRAME_HEADER_BYTES } from "../lib/frames/frame.ts";
import type { DamagedRange, FrameScanner } from "../lib/frames/frame-scanner.ts";
import type { OpenedFrames } from "../lib/frames/head.ts";
import { type Views, viewsOf } from "../lib/frames/views.ts";
import { FileError, type Files } from "../runtime/files.ts";
import { createEntryDecoder, type EntryDecoder, type LogEntry, reportsIn } from "./entry/entry.ts";
import type { TextColumnReader } from "./entry/text-column.ts";
import { openSegment, SEGMENT_HEAD_BYTES, SEGMENT_SEQUENCES_MAX } from "./segment.ts";

/** The contents of a segment, read to its end. */
export interface SegmentContents {
  readonly path: string;
  readonly number: number;
  readonly bytes: number;
  readonly entries: number;
  readonly records: number;
  readonly firstSequence: number | null;
  readonly lastSequence: number | null;
  /** Null if the head is damaged. */
  readonly salt: Uint8Array | null;
  readonly goodHead: boolean;
  /** False if the disk can't read it. Then all of it counts as damage, and the file is not changed. */
  readonly isReadable: boolean;
  readonly damage: readonly DamagedRange[];
  /** The damage after the last good frame of the newest segment, if a write was interrupted there. */
  readonly tornTail: DamagedRange | null;
}

/** A segment's file. */
export interface SegmentSource {
  readonly path: string;
  readonly number: number;
  /** If the disk can't read the file, zeros of the same length. */
  readonly bytes: Uint8Array;
  readonly isReadable: boolean;
  /** Whether a write may have been interrupted at its end. */
  readonly isNewest: boolean;
}

/** The segment's size; 0 if the disk can't tell it. */
export async function segmentSize(files: Files, path: string): Promise<number> {
  try {
    return await files.size(path);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return 0;
  }
}

/** How far a reader of the log has come in its sequences. */
export interface LogPosition {
  /** The sequence of the last good frame; later frames have greater ones. */
  readonly lastSequence: number;
  /** The next unused sequence, above all that were ever used, even by frames that are damaged now. */
  readonly nextSequence: number;
}

export const LOG_START: LogPosition = { lastSequence: 0, nextSequence: 1 };

/** Reads the entries of one segment. */
export class SegmentReader {
  entries = 0;
  records = 0;
  readonly source: SegmentSource;
  readonly #views: Views;
  readonly #decoder: EntryDecoder;
  readonly #opened: OpenedFrames;
  readonly #scanner: FrameScanner;
  /** The last result of `next()`, which is counted unless it is rejected. */
  #newest: LogEntry | null = null;
  #nextSequence: number;
  #firstSequence: number | null = null;
  #lastSequence: number | null = null;

  /** `from` is the end of the segment before. Throws a `FormatVersionError`. */
  constructor(source: SegmentSource, from: LogPosition, texts: TextColumnReader) {
    const { path, number, bytes } = source;
    this.source = source;
    this.#views = viewsOf(bytes);
    this.#opened = openSegment(path, number, this.#views, from.lastSequence);
    this.#scanner = this.#opened.scanner;
    this.#decoder = createEntryDecoder(texts, path);
    this.#nextSequence = Math.max(from.nextSequence, number);
  }

  get readBytes(): number {
    return this.#scanner.payloadEnd;
  }

  /** Final once `next()` has returned null. */
  get position(): LogPosition {
    return { lastSequence: this.#scanner.sequence, nextSequence: this.#nextSequence };
  }

  /** The next entry; null at the end. */
  next(): LogEntry | null {
    this.#countNewest();
    const scanner = this.#scanner;
    while (scanner.next()) {
      const { payloadStart, payloadEnd, sequence } = scanner;
      this.#nextSequence = sequence + 1;
      const entry = this.#decoder.decode(this.#views, payloadStart, payloadEnd, sequence);
      if (entry === null) {
        scanner.reject();
        continue;
      }
      this.#newest = entry;
      return entry;
    }
    this.#nextSequence += this.#lostFramesMax();
    const { isReadable, number } = this.source;
    // Its contents, perhaps even its size, are unknown: its frames may have any sequence that a segment can have.
    if (!isReadable) this.#nextSequence = Math.max(this.#nextSequence, number + SEGMENT_SEQUENCES_MAX);
    return null;
  }

  /** Counts the frame of the last entry as damage. */
  reject(): void {
    this.#newest = null;
    this.#scanner.reject();
  }

  #countNewest(): void {
    if (this.#newest === null) return;
    const entry = this.#newest;
    const { sequence } = entry;
    this.#newest = null;
    this.entries++;
    this.records += reportsIn(entry);
    this.#firstSequence ??= sequence;
    this.#lastSequence = sequence;
  }

  /** Final once `next()` has returned null. */
  contents(): SegmentContents {
    const { path, number, bytes, isReadable } = this.source;
    return {
      path,
      number,
      bytes: bytes.length,
      entries: this.entries,
      records: this.records,
      firstSequence: this.#firstSequence,
      lastSequence: this.#lastSequence,
      salt: this.#opened.salt,
      goodHead: this.#opened.goodHead,
      isReadable,
      damage: this.#scanner.damage,
      tornTail: this.#tornTail(),
    };
  }

  /**
   * How many frames the damage at the end may have been. Their sequences may be known elsewhere, so they stay unused.
   */
  #lostFramesMax(): number {
    const last = this.#scanner.damage.at(-1);
    if (last === undefined || last.offset + last.bytes < this.#views.bytes.length) return 0;
    return Math.ceil(last.bytes / FRAME_HEADER_BYTES);
  }

  #tornTail(): DamagedRange | null {
    const { bytes, isReadable, isNewest } = this.source;
    const last = this.#scanner.damage.at(-1);
    if (!isReadable || !isNewest || last === undefined) return null;
    if (last.offset < SEGMENT_HEAD_BYTES || last.isWritten) return null;
    return last.offset + last.bytes === bytes.length ? last : null;
  }
}
