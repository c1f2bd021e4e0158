import { basename, dirname } from "node:path";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Clock } from "../model/time/clock.ts";
import { FileError, type Files, isOutOfDescriptors } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";

/** Where the bytes of a small value lie that processes share: a file of a data directory, or a value of a cluster. */
export interface SharedPlace {
  /** How people call it: `keys.json`. */
  readonly name: string;
  read(): Promise<PlaceReading>;
  /** Asks a cluster's servers, if they can be asked, so that the next reading is not older than this call. */
  ask(): Promise<void>;
  /**
   * Reads, lets `decide` say what to put in its place, and writes that: nobody else can in between. Where somebody else
   * could it decides again, so that it must not change anything itself.
   */
  change<Answer>(
    decide: (reading: PlaceReading) => PlaceDecision<Answer>,
  ): Promise<Result<Answer, PlaceError>>;
}

/** The values that the nodes of a cluster share, each under the name of the file that holds it for a single process. */
export interface SharedPlaces {
  place(name: string): SharedPlace;
}

export type PlaceReading =
  /** Null where there is nothing. */
  | { readonly kind: "read"; readonly bytes: Uint8Array | null }
  /** There is something that can't be read. */
  | { readonly kind: "unreadable"; readonly reason: string }
  /** Nobody could look now, which says nothing about what is there. */
  | { readonly kind: "unknown"; readonly reason: string };

export interface PlaceDecision<Answer> {
  /** Null where nothing is to be written. */
  readonly bytes: Uint8Array | null;
  readonly answer: Answer;
  /** It adds to what there is, and leaves room for changes that take away. */
  readonly adds: boolean;
}

export type PlaceError =
  /** Others have been changing it for longer than a change takes. */
  | { readonly kind: "file_busy"; readonly owner: LockOwner | null }
  /** Nothing can be added to it; it can still be made smaller. */
  | { readonly kind: "file_full"; readonly bytesMax: number }
  /** Nobody knows whether it was written where `mayBeWritten`; else it was not. */
  | { readonly kind: "cluster_unreachable"; readonly reason: string; readonly mayBeWritten: boolean };

/** For so long a change waits for others that are at it too. */
export const CHANGE_WAIT_MS = 5000;
export const CHANGE_RETRY_MS = 50;

/** What a shared file needs of the machine. */
export interface FilePlaceDependencies {
  readonly files: Pick<Files, "read" | "replace" | "makeDirectory">;
  /** Changes are made under the lock of the file beside it, `….lock`. */
  readonly path: string;
  readonly clock: Clock;
  readonly acquireLock: AcquireLock;
  /** Who this process is, for others that wait for the lock. */
  readonly process: Pick<LockOwner, "pid" | "command">;
}

/** A file that is replaced whole, under a lock. */
export class FilePlace implements SharedPlace {
  readonly name: string;
  readonly #dependencies: FilePlaceDependencies;

  constructor(dependencies: FilePlaceDependencies) {
    this.name = basename(dependencies.path);
    this.#dependencies = dependencies;
  }

  async read(): Promise<PlaceReading> {
    const { files, path } = this.#dependencies;
    try {
      return { kind: "read", bytes: await files.read(path) };
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (error.code === "ENOENT") return { kind: "read", bytes: null };
      return { kind: isOutOfDescriptors(error) ? "unknown" : "unreadable", reason: error.message };
    }
  }

  async ask(): Promise<void> {} // Each reading is of the file.

  async change<Answer>(
    decide: (reading: PlaceReading) => PlaceDecision<Answer>,
  ): Promise<Result<Answer, PlaceError>> {
    const { files, path } = this.#dependencies;
    await files.makeDirectory(dirname(path));
    const lock = await this.#waitForLock();
    if (!lock.ok) return fail({ kind: "file_busy", owner: lock.owner });
    try {
      const { bytes, answer } = decide(await this.read());
      if (bytes !== null) await files.replace(path, bytes);
      return ok(answer);
    } finally {
      lock.release();
    }
  }

  async #waitForLock() {
    const { path, clock, acquireLock, process } = this.#dependencies;
    const giveUpAt = performance.now() + CHANGE_WAIT_MS;
    for (;;) {
      const attempt = await acquireLock(`${path}.lock`, { ...process, sinceMs: clock.nowMs() });
      if (attempt.ok || performance.now() >= giveUpAt) return attempt;
      await new Promise((resolve) => setTimeout(resolve, CHANGE_RETRY_MS));
    }
  }
}
