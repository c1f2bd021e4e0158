import { Buffer } from "node:buffer";
import type { Damage } from "../../directory/damaged-files.ts";
import { FRAME_HEADER_BYTES } from "../../lib/frames/frame.ts";
import type { CreateSalt } from "../../lib/frames/head.ts";
import { type AppendFile, type Files, ignoreFileError } from "../../runtime/files.ts";
import type { Arrivals } from "./entry-format.ts";
import { type RewrittenSegment, rewriteSegment } from "./rewrite-segment.ts";
import { createSegment, type Segment, segmentPath } from "./segment.ts";

/*
 * The quarantine's files: entries are appended to one, and any is rewritten when entries of it are deleted. Files with
 * room are appended to again, so there are never many more than their bytes need. Calls must not overlap.
 */

export interface SegmentsOptions {
  readonly files: Files;
  readonly directory: string;
  readonly damagedDirectory: string;
  readonly createSalt: CreateSalt;
  /** The size at which another segment is begun. */
  readonly segmentBytesMax: number;
  /** Called with bytes that failed their checksum when a segment was rewritten. */
  onDamage(damage: readonly Damage[]): void;
}

/** The positions of appended frames. */
export interface Appended {
  readonly segment: Segment;
  readonly firstSequence: number;
}

export class Segments {
  readonly #options: SegmentsOptions;
  readonly #all: Set<Segment>;
  #nextNumber: number;
  #nextSequence: number;
  #current: { readonly segment: Segment; readonly file: AppendFile } | null = null;
  /** After a partial failure, this must succeed before anything else is written. */
  #recovery: (() => Promise<void>) | null = null;

  /** `unsure` is a segment with entries that may not be on the disk; null if there is none. */
  constructor(options: SegmentsOptions, initial: InitialSegments) {
    this.#options = options;
    this.#all = new Set(initial.segments);
    this.#nextNumber = initial.nextNumber;
    this.#nextSequence = initial.nextSequence;
    const { unsure } = initial;
    if (unsure !== null) this.#recovery = () => this.#putAnew(unsure);
  }

  /** Whether the disk may lack what memory has. */
  get isUnsure(): boolean {
    return this.#recovery !== null;
  }

  /** Throws a `FileError` if the state of the disk is still unknown. */
  async recover(): Promise<void> {
    await this.#recovery?.();
    this.#recovery = null;
  }

  /** Resolves once all frames are on the disk. After a `FileError` none of them counts. */
  async append(frames: readonly Uint8Array<ArrayBuffer>[], bytes: number): Promise<Appended> {
    await this.recover();
    if (this.#current !== null && !this.#hasRoom(this.#current.segment, bytes)) await this.leave();
    if (this.#current === null) await this.#begin();
    return this.#write(frames, bytes);
  }

  /**
   * Deletes all entries except the wanted ones from a segment; they are gone for good once it resolves. After a
   * `FileError` they may be gone or not, and a power failure may bring them back; nothing else is written before that
   * is resolved.
   */
  async rewrite(
    segment: Segment,
    wanted: (sequence: number) => Arrivals | undefined,
  ): Promise<RewrittenSegment> {
    await this.recover();
    if (this.#current?.segment === segment) await this.leave();
    try {
      return await this.#put(segment, false, wanted);
    } catch (error) {
      segment.mayAppend = false;
      this.#recovery = () => this.#putAnew(segment);
      throw error;
    }
  }

  /** An entry larger than a segment gets one of its own. */
  #hasRoom({ bytes, head }: Segment, moreBytes: number): boolean {
    return bytes <= head.length + FRAME_HEADER_BYTES || bytes + moreBytes <= this.#options.segmentBytesMax;
  }

  /** Appends the next entries to another segment. */
  async leave(): Promise<void> {
    const file = this.#current?.file;
    this.#current = null;
    await file?.close().catch(ignoreFileError);
  }

  /** Removes what a failed append may have left, or blocks writing until that is done. */
  async #cutBack(): Promise<void> {
    const { segment, file } = this.#current!;
    try {
      await file.truncate(segment.bytes);
      await file.sync();
    } catch (error) {
      ignoreFileError(error);
      this.#recovery = () => this.#putAnew(segment);
    }
    await this.leave();
  }

  async #putAnew(segment: Segment): Promise<void> {
    await this.#put(segment, true, (sequence) => segment.live.get(sequence));
  }

  async #put(segment: Segment, wasLast: boolean, wanted: (sequence: number) => Arrivals | undefined) {
    const { files, damagedDirectory, onDamage } = this.#options;
    const rewritten = await rewriteSegment({ files, damagedDirectory, wasLast }, segment, wanted);
    segment.bytes = rewritten.bytes;
    segment.mayAppend ||= rewritten.isReplaced;
    if (rewritten.damage.length > 0) onDamage(rewritten.damage);
    return rewritten;
  }

  /** Opens a segment with room; one from before the start is rewritten first, since its name may not be durable. */
  async #begin(): Promise<void> {
    const { files } = this.#options;
    const withRoom = [...this.#all].filter((segment) => this.#isHalfEmpty(segment));
    const segment = withRoom.find(({ mayAppend }) => mayAppend) ?? withRoom[0];
    if (segment?.mayAppend === false) await this.#putAnew(segment);
    if (segment?.mayAppend !== true) return this.#create();
    this.#current = { segment, file: await files.openAppend(segment.path) };
    await this.#write([beginning()], FRAME_HEADER_BYTES);
  }

  #isHalfEmpty({ bytes, head }: Segment): boolean {
    return bytes <= (head.length + this.#options.segmentBytesMax) / 2;
  }

  async #create(): Promise<void> {
    const { files, directory, createSalt } = this.#options;
    const segment = createSegment(segmentPath(directory, this.#nextNumber++), createSalt());
    const frame = beginning();
    segment.frames.stamp(frame, this.#nextSequence++);
    await files.makeDirectory(directory);
    await files.replace(segment.path, Buffer.concat([segment.head, frame]));
    segment.bytes += frame.length;
    this.#all.add(segment);
    this.#current = { segment, file: await files.openAppend(segment.path) };
  }

  async #write(frames: readonly Uint8Array<ArrayBuffer>[], bytes: number): Promise<Appended> {
    const { segment, file } = this.#current!;
    const firstSequence = this.#nextSequence;
    frames.forEach((frame, index) => {
      segment.frames.stamp(frame, firstSequence + index);
    });
    this.#nextSequence += frames.length; // Also after a failure, because a removed frame may reappear.
    try {
      await file.append(frames);
      await file.sync();
    } catch (error) {
      ignoreFileError(error);
      await this.#cutBack();
      throw error;
    }
    segment.bytes += bytes;
    return { segment, firstSequence };
  }
}

/** The frame that marks that a process appends to a segment from here on. */
function beginning(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(FRAME_HEADER_BYTES);
}

/** The segments at the start. */
export interface InitialSegments {
  readonly segments: readonly Segment[];
  readonly nextNumber: number;
  readonly nextSequence: number;
  readonly unsure: Segment | null;
}
