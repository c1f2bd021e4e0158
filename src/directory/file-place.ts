import { basename, dirname } from "node:path";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Clock } from "../model/time/clock.ts";
import { FileError, type Files, isOutOfDescriptors } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";
import {
  CHANGE_RETRY_MS,
  CHANGE_WAIT_MS,
  type PlaceDecision,
  type PlaceError,
  type PlaceReading,
  type SharedPlace,
} from "./shared-place.ts";

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
