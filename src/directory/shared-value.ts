import { basename, dirname } from "node:path";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Clock } from "../model/time/clock.ts";
import { FileError, type Files, isOutOfDescriptors } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";

/** A small value that processes share: a file of a data directory, or an entry of a cluster's shared bucket. */
export interface SharedValue {
  /** The name shown to people: `keys.json`. */
  readonly name: string;
  read(): Promise<ValueReading>;
  /** Asks a cluster's servers, if they answer, so that the next `read` is not older than this call. */
  ask(): Promise<void>;
  /**
   * Reads the value, lets `decide` compute a new one, and writes that atomically. If another process writes in between,
   * `decide` is called again, so it must have no side effects.
   */
  change<Answer>(
    decide: (reading: ValueReading) => ValueDecision<Answer>,
  ): Promise<Result<Answer, SharedValueError>>;
}

/** The values that the nodes of a cluster share. Each has the name of the file that stores it for a single process. */
export interface SharedValues {
  find(name: string): SharedValue;
}

export type ValueReading =
  /** Null if the value does not exist. */
  | { readonly kind: "read"; readonly bytes: Uint8Array | null }
  /** The value exists but can't be read. */
  | { readonly kind: "unreadable"; readonly reason: string }
  /** The value could not be looked up now, which says nothing about its state. */
  | { readonly kind: "unknown"; readonly reason: string };

export interface ValueDecision<Answer> {
  /** Null to write nothing. */
  readonly bytes: Uint8Array | null;
  readonly answer: Answer;
  /** Whether the change adds data. Such a change must leave room for later changes that remove data. */
  readonly adds: boolean;
}

export type SharedValueError =
  /** Other processes held the value for longer than the caller may wait. */
  | { readonly kind: "file_busy"; readonly owner: LockOwner | null }
  /** Nothing can be added; removing is still possible. */
  | { readonly kind: "file_full"; readonly bytesMax: number }
  /** If `mayBeWritten`, the write may have happened; otherwise it did not. */
  | { readonly kind: "cluster_unreachable"; readonly reason: string; readonly mayBeWritten: boolean };

/** How long a change waits for other writers. */
export const CHANGE_WAIT_MS = 5000;
export const CHANGE_RETRY_MS = 50;

export interface FileValueDependencies {
  readonly files: Pick<Files, "read" | "replace" | "makeDirectory">;
  /** A change holds the lock `PATH.lock`. */
  readonly path: string;
  readonly clock: Clock;
  readonly acquireLock: AcquireLock;
  /** Identifies this process to others that wait for the lock. */
  readonly process: Pick<LockOwner, "pid" | "command">;
}

export class FileValue implements SharedValue {
  readonly name: string;
  readonly #dependencies: FileValueDependencies;

  constructor(dependencies: FileValueDependencies) {
    this.name = basename(dependencies.path);
    this.#dependencies = dependencies;
  }

  async read(): Promise<ValueReading> {
    const { files, path } = this.#dependencies;
    try {
      return { kind: "read", bytes: await files.read(path) };
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (error.code === "ENOENT") return { kind: "read", bytes: null };
      return { kind: isOutOfDescriptors(error) ? "unknown" : "unreadable", reason: error.message };
    }
  }

  async ask(): Promise<void> {} // Every read goes to the file anyway.

  async change<Answer>(
    decide: (reading: ValueReading) => ValueDecision<Answer>,
  ): Promise<Result<Answer, SharedValueError>> {
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
