import { Buffer } from "node:buffer";
import { fail, ok, type Result } from "../lib/result.ts";
import { afterInStep, systemTimers } from "../lib/schedule/timers.ts";
import {
  FileValue,
  type FileValueDependencies,
  type SharedValue,
  type SharedValueError,
  type SharedValues,
  type ValueReading,
} from "./shared-value.ts";

/** Whether the file can be used. A file that can't be used counts as empty. */
export type SharedFileState = "ok" | "missing" | { readonly damaged: string };

export type SharedFileError =
  /** The file can't be read, so writing it would lose its content. `reason` says what is wrong with it. */
  { readonly kind: "file_damaged"; readonly file: string; readonly reason: string } | SharedValueError;

export interface FileFormat<Value> {
  readonly empty: Value;
  encode(value: Value): Uint8Array;
  /** The error is a phrase for a person to read. */
  parse(bytes: Uint8Array): Result<Value, string>;
}

export interface SharedFileDependencies extends FileValueDependencies {
  /** Set on a cluster node, which stores the content as a shared value under the file's name. */
  readonly shared?: SharedValues | null;
}

interface Content<Value> {
  /** Null if the file could not be read. */
  readonly bytes: Uint8Array | null;
  readonly state: SharedFileState;
  readonly value: Value;
}

interface Changed<Value, Answer> {
  readonly content: Content<Value>;
  readonly answer: Answer;
}

/** A small file, read and replaced whole, that the command line and the server or all nodes share. */
export class SharedFile<Value> {
  readonly #stored: SharedValue;
  readonly #format: FileFormat<Value>;
  #content: Content<Value>;
  #working: Promise<unknown> = Promise.resolve();
  #refreshing: Promise<void> | null = null;

  private constructor(stored: SharedValue, format: FileFormat<Value>) {
    this.#stored = stored;
    this.#format = format;
    this.#content = this.#unusable(null, "missing");
  }

  /** Rejects with a `StreamError` if the value belongs to a cluster whose servers do not answer. */
  static async open<Value>(
    dependencies: SharedFileDependencies,
    format: FileFormat<Value>,
  ): Promise<SharedFile<Value>> {
    const ownFile = new FileValue(dependencies);
    const file = new SharedFile(dependencies.shared?.find(ownFile.name) ?? ownFile, format);
    await file.reload();
    return file;
  }

  get state(): SharedFileState {
    return this.#content.state;
  }

  /** The value that was last read. It is the same object until the file changes. */
  get value(): Value {
    return this.#content.value;
  }

  /** Never rejects: a problem with the file is reported by `state`. */
  reload(): Promise<void> {
    return this.#inTurn(async () => this.#take(await this.#stored.read()));
  }

  /** Like `reload`, but asks a cluster's servers for the newest value. Concurrent callers share one request. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#stored
      .ask()
      .finally(() => {
        this.#refreshing = null;
      })
      .then(() => this.reload());
    return this.#refreshing;
  }

  /**
   * Reads the file, lets `decide` compute a new value, and writes that atomically. `decide` may be called more than
   * once. If `adds` is true, the change is refused before the file reaches its maximum length.
   */
  change<Answer, Refusal>(
    decide: (value: Value) => Result<{ readonly value: Value; readonly answer: Answer }, Refusal>,
    adds = false,
  ): Promise<Result<Answer, Refusal | SharedFileError>> {
    return this.#inTurn(async () => {
      const changed = await this.#stored.change<Result<Changed<Value, Answer>, Refusal | SharedFileError>>(
        (reading) => {
          this.#take(reading);
          const { state, value: before } = this.#content;
          if (typeof state === "object") {
            const damaged = { kind: "file_damaged", file: this.#stored.name, reason: state.damaged } as const;
            return { bytes: null, answer: fail(damaged), adds };
          }
          const decided = decide(before);
          if (!decided.ok) return { bytes: null, answer: decided, adds };
          const { value, answer } = decided.value;
          const bytes = this.#format.encode(value);
          return { bytes, answer: ok({ content: { bytes, state: "ok", value }, answer }), adds };
        },
      );
      if (!changed.ok) return changed;
      if (!changed.value.ok) return changed.value;
      const { content, answer } = changed.value.value;
      this.#content = content;
      return ok(answer);
    });
  }

  /** Runs steps one after another, so that a slow read can't replace newer content by older content. */
  #inTurn<Answer>(step: () => Promise<Answer>): Promise<Answer> {
    const turn = this.#working.then(step);
    this.#working = turn.catch(() => undefined);
    return turn;
  }

  /** Does nothing if the file has not changed, which is the usual case. */
  #take(reading: ValueReading): void {
    const before = this.#content.bytes;
    if (reading.kind !== "read") {
      if (reading.kind === "unknown" && before !== null) return;
      this.#content = this.#unusable(null, { damaged: reading.reason });
      return;
    }
    const { bytes } = reading;
    if (bytes !== null && before !== null && Buffer.compare(bytes, before) === 0) return;
    this.#content = bytes === null ? this.#unusable(null, "missing") : this.#parsed(bytes);
  }

  #parsed(bytes: Uint8Array): Content<Value> {
    const parsed = this.#format.parse(bytes);
    return parsed.ok
      ? { bytes, state: "ok", value: parsed.value }
      : this.#unusable(bytes, { damaged: parsed.error });
  }

  #unusable(bytes: Uint8Array | null, state: SharedFileState): Content<Value> {
    return { bytes, state, value: this.#format.empty };
  }
}

/** How often a server reloads keys and settings: half of what the contract, help and documents promise. */
export const RELOAD_MS = 1000;

export interface FileWatch {
  stop(): void;
}

/**
 * Reloads a shared file periodically, so that this process follows changes made by the command line. Reading a small
 * file every second is more dependable than file notifications, which some file systems lack. Calls `onState` when the
 * file becomes usable or unusable, and `onRead` after each read.
 */
export function watchFile(
  store: Pick<SharedFile<unknown>, "state" | "reload">,
  intervalMs: number,
  onState: (state: SharedFileState) => void,
  onRead: () => void = () => {},
  timers = systemTimers,
): FileWatch {
  let stopped = false;
  let cancel = afterInStep(timers, intervalMs, look);
  let reported = textOf(store.state);

  async function look(): Promise<void> {
    await store.reload();
    if (stopped) return;
    onRead();
    if (textOf(store.state) !== reported) {
      reported = textOf(store.state);
      onState(store.state);
    }
    cancel = afterInStep(timers, intervalMs, look);
  }

  return {
    stop() {
      stopped = true;
      cancel();
    },
  };
}

function textOf(state: SharedFileState): string {
  return typeof state === "object" ? state.damaged : state;
}
