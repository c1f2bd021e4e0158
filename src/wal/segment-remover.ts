import { join } from "node:path";
import type { CreateSalt } from "../lib/frames/head.ts";
import { FileError, type Files, isDiskFull } from "../runtime/files.ts";
import { encodeSegmentHead, segmentName } from "./segment.ts";

/**
 * Removes segments so that a power failure brings nothing of them back, even if the directory can't be synced and a
 * later process no longer knows of them: a file is emptied before it is removed.
 */
export class SegmentRemover<Segment extends { readonly number: number }> {
  readonly #files: Files;
  readonly #directory: string;
  readonly #createSalt: CreateSalt;
  /** Segments that were removed with all that they had, because the disk was full. */
  #whole: Segment[] = [];
  /** Whether a sync has failed: then a second one may succeed without doing anything. */
  #hasFailed = false;

  constructor(files: Files, directory: string, createSalt: CreateSalt) {
    this.#files = files;
    this.#directory = directory;
    this.#createSalt = createSalt;
  }

  /** Removed segments that may be back, with all that they had, after a power failure. */
  get returning(): readonly Segment[] {
    return this.#whole;
  }

  /** Removes a segment, whose file may be gone already. Resolves with whether the file was emptied before. */
  async remove(segment: Segment): Promise<boolean> {
    const path = join(this.#directory, segmentName(segment.number));
    const isEmptied = (await this.#files.exists(path)) && (await this.#empty(path, segment.number));
    if (!isEmptied) this.#whole.push(segment);
    try {
      await this.#files.remove(path);
    } catch (error) {
      if (!(error instanceof FileError && error.code === "ENOENT")) throw error;
    }
    return isEmptied;
  }

  /** Makes the removals durable. */
  async sync(): Promise<void> {
    const mayDoNothing = this.#hasFailed;
    this.#hasFailed = true;
    await this.#files.syncDirectory(this.#directory);
    this.#hasFailed = mayDoNothing;
    if (!mayDoNothing) this.#whole = [];
  }

  /** False if the disk is full, which must not prevent a removal. */
  async #empty(path: string, number: number): Promise<boolean> {
    try {
      await this.#files.replace(path, encodeSegmentHead(number, this.#createSalt()));
      return true;
    } catch (error) {
      if (isDiskFull(error)) return false;
      throw error;
    }
  }
}
