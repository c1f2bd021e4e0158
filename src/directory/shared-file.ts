import { Buffer } from "node:buffer";
import { basename, dirname } from "node:path";
import { fail, ok, type Result } from "../lib/result.ts";
import { FileError, type Files, isOutOfDescriptors } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";
import type { Clock } from "../time/clock.ts";

/** Whether a file can be used. Where it can't, it is as if nothing were in it. */
export type SharedFileState = "ok" | "missing" | { readonly damaged: string };

export type SharedFileError =
  /** It can't be read, so writing it would lose what is in it. `reason` says what is wrong with it. */
  | { readonly kind: "file_damaged"; readonly file: string; readonly reason: string }
  /** Another process has been changing it for longer than a change takes. */
  | { readonly kind: "file_busy"; readonly owner: LockOwner | null };

/** How what is in the file is written and read. */
export interface FileFormat<Value> {
  readonly empty: Value;
  encode(value: Value): Uint8Array;
  /** The error says in words what is wrong, and where. */
  parse(bytes: Uint8Array): Result<Value, string>;
}

export interface SharedFileDependencies {
  readonly files: Pick<Files, "read" | "replace" | "makeDirectory">;
  /** Changes are made under the lock of the file beside it, `….lock`. */
  readonly path: string;
  readonly clock: Clock;
  readonly acquireLock: AcquireLock;
  /** Who this process is, for others that wait for the lock. */
  readonly process: { readonly pid: number; readonly command: string };
}

const LOCK_WAIT_MS = 5000;
const LOCK_RETRY_MS = 50;

interface Content<Value> {
  /** The file as it was read; null where it could not be. */
  readonly bytes: Uint8Array | null;
  readonly state: SharedFileState;
  readonly value: Value;
}

/** A small file that the command line and the server share: read whole, and replaced whole under a lock. */
export class SharedFile<Value> {
  readonly #dependencies: SharedFileDependencies;
  readonly #format: FileFormat<Value>;
  #content: Content<Value>;
  #working: Promise<unknown> = Promise.resolve();

  private constructor(dependencies: SharedFileDependencies, format: FileFormat<Value>) {
    this.#dependencies = dependencies;
    this.#format = format;
    this.#content = this.#unusable(null, "missing");
  }

  static async open<Value>(
    dependencies: SharedFileDependencies,
    format: FileFormat<Value>,
  ): Promise<SharedFile<Value>> {
    const file = new SharedFile(dependencies, format);
    await file.reload();
    return file;
  }

  get state(): SharedFileState {
    return this.#content.state;
  }

  /** As it was last read; another one only where the file has changed. */
  get value(): Value {
    return this.#content.value;
  }

  /** Reads the file again. Never fails: what is wrong with the file is its `state`. */
  reload(): Promise<void> {
    return this.#inTurn(() => this.#readAgain());
  }

  /** Reads the file, lets `decide` make another value of what is in it, and writes that: nobody else can in between. */
  change<Answer, Refusal>(
    decide: (value: Value) => Result<{ readonly value: Value; readonly answer: Answer }, Refusal>,
  ): Promise<Result<Answer, Refusal | SharedFileError>> {
    return this.#inTurn(async () => {
      const { files, path } = this.#dependencies;
      await files.makeDirectory(dirname(path));
      const lock = await this.#waitForLock();
      if (!lock.ok) return fail({ kind: "file_busy", owner: lock.owner });
      try {
        await this.#readAgain();
        const { state } = this.#content;
        if (typeof state === "object") {
          return fail({ kind: "file_damaged", file: basename(path), reason: state.damaged });
        }
        const decided = decide(this.#content.value);
        if (!decided.ok) return decided;
        const { value, answer } = decided.value;
        const bytes = this.#format.encode(value);
        await files.replace(path, bytes);
        this.#content = { bytes, state: "ok", value };
        return ok(answer);
      } finally {
        lock.release();
      }
    });
  }

  /** One step after another, so that a slow read can't put an older file in place of a newer one. */
  #inTurn<Answer>(step: () => Promise<Answer>): Promise<Answer> {
    const turn = this.#working.then(step);
    this.#working = turn.catch(() => undefined);
    return turn;
  }

  async #waitForLock() {
    const { path, clock, acquireLock, process } = this.#dependencies;
    const giveUpAt = performance.now() + LOCK_WAIT_MS;
    for (;;) {
      const attempt = await acquireLock(`${path}.lock`, { ...process, sinceMs: clock.nowMs() });
      if (attempt.ok || performance.now() >= giveUpAt) return attempt;
      await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
    }
  }

  /** Keeps what there is where the file has not changed, which is nearly always. */
  async #readAgain(): Promise<void> {
    const { files, path } = this.#dependencies;
    const before = this.#content;
    let bytes: Uint8Array;
    try {
      bytes = await files.read(path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (isOutOfDescriptors(error) && before.bytes !== null) return; // Says nothing about the file.
      this.#content = this.#unusable(null, error.code === "ENOENT" ? "missing" : { damaged: error.message });
      return;
    }
    if (before.bytes !== null && Buffer.compare(bytes, before.bytes) === 0) return;
    const parsed = this.#format.parse(bytes);
    this.#content = parsed.ok
      ? { bytes, state: "ok", value: parsed.value }
      : this.#unusable(bytes, { damaged: parsed.error });
  }

  #unusable(bytes: Uint8Array | null, state: SharedFileState): Content<Value> {
    return { bytes, state, value: this.#format.empty };
  }
}
