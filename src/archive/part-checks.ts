import { crc32 } from "node:zlib";
import type { Timers } from "../lib/schedule/timers.ts";
import { FileError, type Files, isOutOfDescriptors } from "../runtime/files.ts";
import type { Part } from "./manifest.ts";

/** What is wrong with a part, for an operator. */
export type PartFault = string;

export interface PartChecksOptions {
  readonly files: Files;
  pathOf(part: Part): string;
  /** Whether the manifest names this file now. */
  isNamed(file: string): boolean;
  /** Called when a damaged file was restored. */
  onRestored(): void;
  readonly timers: Pick<Timers, "nowMs">;
}

/** How soon a damaged part is read again: an operator may have restored it. */
export const DAMAGED_AGAIN_MS = 5000;
/** How soon a good part is read again if a query over it fails: most fail for another reason. */
export const GOOD_AGAIN_MS = 60_000;

/** The state of the parts' files: which are damaged, and which were verified to be as they were written. */
export class PartChecks {
  readonly #options: PartChecksOptions;
  readonly #damaged = new Map<string, PartFault>();
  readonly #verified = new Set<string>();
  /** Reads in progress, by file. Further queries wait for the same read. */
  readonly #readings = new Map<string, Promise<void>>();
  /** When parts were read again, or were found to be damaged. */
  readonly #readMs = new Map<string, number>();
  #changes = 0;

  constructor(options: PartChecksOptions) {
    this.#options = options;
  }

  /** Parts that can't be read, by file. */
  get damaged(): ReadonlyMap<string, PartFault> {
    return this.#damaged;
  }

  /** How often a part became damaged or was restored. */
  get changes(): number {
    return this.#changes;
  }

  /** Checks these parts: by existence and size, or if `thorough` by reading every byte. */
  async examine(parts: readonly Part[], thorough = false): Promise<void> {
    for (const part of parts) {
      if (thorough) await this.#read(part);
      else if (!(await this.#glance(part))) this.#note(part, null);
    }
  }

  /**
   * Reads each part once per process. Resolves with whether all are as they were written; DuckDB itself does not notice
   * most flipped bits.
   */
  async verifyChecksums(parts: readonly Part[], signal?: AbortSignal): Promise<boolean> {
    for (const part of parts) {
      signal?.throwIfAborted();
      if (!this.#verified.has(part.file)) await this.#read(part);
    }
    return parts.every(({ file }) => this.#verified.has(file));
  }

  /** Checks parts again that a query can't use, or failed over. Queries soon after each other share one check. */
  async recheck(parts: readonly Part[], signal: AbortSignal): Promise<void> {
    const { timers } = this.#options;
    for (const part of parts) {
      signal.throwIfAborted();
      const againMs = this.#damaged.has(part.file) ? DAMAGED_AGAIN_MS : GOOD_AGAIN_MS;
      const readMs = this.#readMs.get(part.file);
      if (readMs !== undefined && timers.nowMs() < readMs + againMs) await this.#glance(part);
      else {
        await this.#read(part);
        if (!this.#damaged.has(part.file)) this.#readMs.set(part.file, timers.nowMs());
      }
    }
  }

  /** Forgets a part whose file is removed. */
  forget({ file }: Part): void {
    this.#mend(file);
    this.#verified.delete(file);
    this.#readMs.delete(file);
  }

  /** Forgets the damage of files that the manifest does not name. */
  forgetUnnamed(): void {
    const { isNamed } = this.#options;
    for (const file of this.#damaged.keys()) if (!isNamed(file)) this.#mend(file);
    for (const file of this.#readMs.keys()) if (!isNamed(file)) this.#readMs.delete(file);
  }

  #read(part: Part): Promise<void> {
    const underWay = this.#readings.get(part.file);
    if (underWay !== undefined) return underWay;
    const reading = this.#readWhole(part).finally(() => this.#readings.delete(part.file));
    this.#readings.set(part.file, reading);
    return reading;
  }

  async #readWhole(part: Part): Promise<void> {
    if (await this.#glance(part)) return;
    const { files, pathOf, timers } = this.#options;
    const fault = await faultOf(files, pathOf(part), part, true);
    this.#note(part, fault);
    if (fault === null) this.#verified.add(part.file);
    else this.#readMs.set(part.file, timers.nowMs());
  }

  /** Returns whether something is wrong that shows without reading the file. */
  async #glance(part: Part): Promise<boolean> {
    const { files, pathOf } = this.#options;
    const fault = await faultOf(files, pathOf(part), part, false);
    if (fault === null) return false;
    this.#note(part, fault);
    this.#readMs.delete(part.file); // Once it is back, it is read immediately.
    return true;
  }

  #note({ file }: Part, fault: PartFault | null): void {
    const { isNamed, onRestored } = this.#options;
    if (fault === null) {
      if (!this.#mend(file)) return;
      this.#readMs.delete(file);
      onRestored();
    } else if (isNamed(file)) {
      if (!this.#damaged.has(file)) this.#changes++;
      this.#damaged.set(file, fault);
      this.#verified.delete(file);
    } // Else a seal has replaced the file meanwhile.
  }

  /** Returns whether it was damaged. */
  #mend(file: string): boolean {
    const wasDamaged = this.#damaged.delete(file);
    if (wasDamaged) this.#changes++;
    return wasDamaged;
  }
}

/** What differs from the file as written; null if nothing. Running out of file descriptors is thrown. */
export async function faultOf(
  files: Files,
  path: string,
  part: Pick<Part, "bytes" | "crc">,
  thorough: boolean,
): Promise<PartFault | null> {
  try {
    const bytes = await files.size(path);
    if (bytes !== part.bytes) return `it has ${bytes} bytes instead of ${part.bytes}`;
    return thorough && crc32(await files.read(path)) !== part.crc ? "its checksum does not match" : null;
  } catch (error) {
    if (!(error instanceof FileError) || isOutOfDescriptors(error)) throw error;
    return error.code === "ENOENT" ? "it is missing" : error.message;
  }
}
