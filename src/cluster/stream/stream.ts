import { isObject } from "../../lib/is-object.ts";

/** A replicated log on other machines. Numbers of messages begin at 1 or later, and are never reused. */
export interface Stream {
  readonly name: string;
  /** The creation time, as text from the servers: it tells the stream from another one of the same name. */
  readonly created: string;
  readonly messageBytesMax: number;
  /**
   * Appends a message. Resolves with its number once a majority of the servers has it on disk. A message with an id
   * that was published within the last two minutes is not appended again, and gets the number of the first. Rejects
   * with a `StreamError`: if it is `unreachable`, the message may be stored anyway, or later.
   */
  publish(message: Uint8Array, id: string): Promise<number>;
  /**
   * Delivers every message from this number on, in order, exactly once, each after the promise of the one before has
   * resolved; later messages are read ahead, up to a bound. Survives the loss of servers and connections. Rejects with
   * a `StreamError` of kind `gone` if messages from this number on were purged, or the stream was removed or created
   * anew, and with an error of `onMessage`. Resolves once the signal is aborted.
   */
  follow(
    from: number,
    onMessage: (message: StreamMessage) => Promise<void> | void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Asks the servers. Rejects with a `StreamError`. */
  state(): Promise<StreamState>;
  /** The id of the message with this number; null if there is none. Rejects with a `StreamError`. */
  messageId(number: number): Promise<string | null>;
  /** Removes all messages below this number. Rejects with a `StreamError`. */
  purgeBefore(message: number): Promise<void>;
  /** Opens a bucket of small values that all nodes share, replicated like the stream. Rejects with a `StreamError`. */
  bucket(name: string, options?: BucketOptions): Promise<Bucket>;
  close(): Promise<void>;
}

/** The requests that a start makes before it follows the stream. */
export type StreamProbe = Pick<Stream, "name" | "state" | "messageId">;

export interface StreamMessage {
  readonly number: number;
  /** The id that it was published with. */
  readonly id: string;
  /** Aligned to 8 bytes, in a buffer of its own. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface StreamState {
  /** The oldest message; `lastMessage + 1` if there is none. */
  readonly firstMessage: number;
  /** The newest message ever, or the number before the first one. */
  readonly lastMessage: number;
  readonly bytes: number;
  readonly bytesMax: number;
}

export interface BucketOptions {
  /** Each value expires this long after it was written; without it values stay. */
  readonly ttlMs?: number;
  /** The bucket has the only copy of its values: if it is missing, opening fails with `gone` instead of creating it. */
  readonly mustExist?: boolean;
}

/** A few named values with revisions, shared by all nodes. Every method rejects with a `StreamError`. */
export interface Bucket {
  readonly valueBytesMax: number;
  /** Asks the servers. Null if there is no value. */
  get(key: string): Promise<BucketEntry | null>;
  entries(): Promise<readonly BucketEntry[]>;
  /** Writes the value unconditionally. */
  put(key: string, value: Uint8Array): Promise<number>;
  /** Writes the value if its revision is still this one, or 0 for a new key; else rejects with a `conflict`. */
  update(key: string, value: Uint8Array, revision: number): Promise<number>;
  delete(key: string): Promise<void>;
  /** Reports every value once all are known, then each change, with null for a removed value. */
  watch(onChange: (key: string, entry: BucketEntry | null) => void, signal: AbortSignal): Promise<void>;
}

export interface BucketEntry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
  /** When it was written, by the servers' clock. */
  readonly writtenMs: number;
}

export type StreamErrorKind =
  /** No server answers, or the servers have no majority. A retry may succeed. */
  | "unreachable"
  /** The stream or the servers' disks are full. */
  | "full"
  /** Another process has written in between. */
  | "conflict"
  /** The stream, bucket or message no longer exists, or was created anew under the same name. */
  | "gone"
  /** The servers refuse it, or have unsafe settings; the message says what to change. */
  | "refused";

export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly kind: StreamErrorKind;

  constructor(kind: StreamErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

export interface StreamAddress {
  /** `HOST:PORT`; one reachable server is enough. */
  readonly servers: readonly string[];
  readonly isSecure: boolean;
  readonly stream: string;
  /** Null if the servers need none. */
  readonly credentials: StreamCredentials | null;
  /** Certificates in PEM that the servers' must be signed by; null for those that the runtime trusts. */
  readonly authorities: string | null;
}

export type StreamCredentials =
  | { readonly kind: "user"; readonly user: string; readonly password: string }
  | { readonly kind: "token"; readonly token: string }
  /** The text of a `.creds` file. */
  | { readonly kind: "file"; readonly text: string };

export interface StreamOptions {
  readonly address: StreamAddress;
  /** Settings for creating the stream if it is missing; null if it must exist. */
  readonly create: { readonly firstMessage: number; readonly bytesMax: number } | null;
  /** Reports lost and restored connections, in a sentence. */
  onNote(note: string): void;
}

/** Connects, and creates the stream if allowed. A `StreamError` is `refused` if servers don't sync every write. */
export type OpenStream = (options: StreamOptions) => Promise<Stream>;

/** Identifies an applied message. The id tells it from a later message with the same number. */
export type TakenMessage = Pick<StreamMessage, "number" | "id">;

/** Parses a message of a file or a peer, null for none; undefined if it is neither. */
export function parseTakenMessage(value: unknown): TakenMessage | null | undefined {
  if (value === null) return null;
  if (!isObject(value)) return undefined;
  const { number, id } = value;
  const isNumber = typeof number === "number" && Number.isSafeInteger(number) && number >= 1;
  return isNumber && typeof id === "string" ? { number, id } : undefined;
}
