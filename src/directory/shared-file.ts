import { Buffer } from "node:buffer";
import { fail, ok, type Result } from "../lib/result.ts";
import { systemTimers } from "../lib/schedule/timers.ts";
import {
  FilePlace,
  type FilePlaceDependencies,
  type PlaceError,
  type PlaceReading,
  type SharedPlace,
  type SharedPlaces,
} from "./shared-place.ts";

/** Whether a file can be used. Where it can't, it is as if nothing were in it. */
export type SharedFileState = "ok" | "missing" | { readonly damaged: string };

export type SharedFileError =
  /** It can't be read, so writing it would lose what is in it. `reason` says what is wrong with it. */
  { readonly kind: "file_damaged"; readonly file: string; readonly reason: string } | PlaceError;

/** How what is in the file is written and read. */
export interface FileFormat<Value> {
  readonly empty: Value;
  encode(value: Value): Uint8Array;
  /** The error says in words what is wrong, and where. */
  parse(bytes: Uint8Array): Result<Value, string>;
}

export interface SharedFileDependencies extends FilePlaceDependencies {
  /** Of a node: it has, under the file's name, what lies in the file where a process is alone. */
  readonly shared?: SharedPlaces | null;
}

interface Content<Value> {
  /** The file as it was read; null where it could not be. */
  readonly bytes: Uint8Array | null;
  readonly state: SharedFileState;
  readonly value: Value;
}

/** What a change comes to once it is written. */
interface Changed<Value, Answer> {
  readonly content: Content<Value>;
  readonly answer: Answer;
}

/** A small file that the command line and the server share, or all nodes of a cluster: read and replaced whole. */
export class SharedFile<Value> {
  readonly #place: SharedPlace;
  readonly #format: FileFormat<Value>;
  #content: Content<Value>;
  #working: Promise<unknown> = Promise.resolve();
  #refreshing: Promise<void> | null = null;

  private constructor(place: SharedPlace, format: FileFormat<Value>) {
    this.#place = place;
    this.#format = format;
    this.#content = this.#unusable(null, "missing");
  }

  /** Rejects with a `StreamError` where it is a cluster's and that can't be asked. */
  static async open<Value>(
    dependencies: SharedFileDependencies,
    format: FileFormat<Value>,
  ): Promise<SharedFile<Value>> {
    const filePlace = new FilePlace(dependencies);
    const file = new SharedFile(dependencies.shared?.place(filePlace.name) ?? filePlace, format);
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
    return this.#inTurn(async () => this.#take(await this.#place.read()));
  }

  /**
   * Like `reload`, but a cluster's servers are asked for what another process may have written a moment ago. Callers
   * meanwhile share the answer; other readers do not wait for it.
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#place
      .ask()
      .finally(() => {
        this.#refreshing = null;
      })
      .then(() => this.reload());
    return this.#refreshing;
  }

  /**
   * Reads the file, lets `decide` make another value of what is in it, and writes that: nobody else can in between. It
   * may have to decide again. What `adds` to it is refused before the file is as long as it may be.
   */
  change<Answer, Refusal>(
    decide: (value: Value) => Result<{ readonly value: Value; readonly answer: Answer }, Refusal>,
    adds = false,
  ): Promise<Result<Answer, Refusal | SharedFileError>> {
    return this.#inTurn(async () => {
      const changed = await this.#place.change<Result<Changed<Value, Answer>, Refusal | SharedFileError>>(
        (reading) => {
          this.#take(reading);
          const { state, value: before } = this.#content;
          if (typeof state === "object") {
            const damaged = { kind: "file_damaged", file: this.#place.name, reason: state.damaged } as const;
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

  /** One step after another, so that a slow read can't put an older file in place of a newer one. */
  #inTurn<Answer>(step: () => Promise<Answer>): Promise<Answer> {
    const turn = this.#working.then(step);
    this.#working = turn.catch(() => undefined);
    return turn;
  }

  /** Keeps what there is where the file has not changed, which is nearly always. */
  #take(reading: PlaceReading): void {
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

export interface FileWatch {
  stop(): void;
}

/**
 * Reads a shared file again and again, so that what the command line changes acts on this process. Reading a small file
 * each second costs less than the surprises of file notifications, which not every file system has. Calls `onState` if
 * the file can no longer be used, or can be used again, and `onRead` each time it was read.
 */
export function watchFile(
  store: Pick<SharedFile<unknown>, "state" | "reload">,
  intervalMs: number,
  onState: (state: SharedFileState) => void,
  onRead: () => void = () => {},
  timers = systemTimers,
): FileWatch {
  let stopped = false;
  let cancel = timers.after(intervalMs, look);
  let told = textOf(store.state);

  async function look(): Promise<void> {
    await store.reload();
    if (stopped) return;
    onRead();
    if (textOf(store.state) !== told) {
      told = textOf(store.state);
      onState(store.state);
    }
    cancel = timers.after(intervalMs, look);
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
